"""``mvgviz releases``, the answers that a ledger keeps, and ``mvgviz audit``, an attack on a study's releases."""

import argparse
import sys

import numpy as np

from mvgviz.command import CAUGHT, say, say_tenths, write_bytes
from mvgviz.command.opening import opened_study
from mvgviz.design.privacy_loss import pair_loss
from mvgviz.errors import InputError, refuse
from mvgviz.release.audit import Audit, audit_ellipse, audit_pure, judge, release_scores, simulate_scores
from mvgviz.release.files import files_of
from mvgviz.release.ledger import Ledger, ledger_from_environment
from mvgviz.release.ledger_file import usual_place
from mvgviz.scenario.resolve import Setup, build
from mvgviz.text import at_most as at_most_words
from mvgviz.validation import count


def releases(chosen: argparse.Namespace) -> int:
    """Print a line for each kept answer; with ``--out`` write its files."""
    ledger = Ledger(chosen.ledger) if chosen.ledger is not None else ledger_from_environment()
    ledger = ledger if ledger.lasts else Ledger(usual_place())
    refuse(ledger.path is None or not ledger.path.is_file(), f"{ledger.path} does not exist; give the ledger's file: "
           "mvgviz releases FILE")
    names = ledger.populations if chosen.population is None else (chosen.population,)
    kept = sorted({one.number: (name, one) for name in names for one in ledger.releases(name)}.items())
    if not kept:
        say("mvgviz releases: this ledger keeps no released answers"
            + f" about {chosen.population}" * (chosen.population is not None))
    for number, (name, one) in kept:
        rows, cols = one.noisy.shape
        sys.stdout.write(f"{number}\t{one.time}\t{name}\t{one.title or one.data}\t{one.query}\t{rows} x {cols}\t"
                         f"{one.guarantee}\n")
        if chosen.out is not None:
            for _, _, file, _, content in files_of(number or 0, one):
                write_bytes(chosen.out / file, content())
    return 0


def audit(chosen: argparse.Namespace) -> int:
    """Print what the attack achieved beside the claim; return 1 when the noise is not as claimed."""
    opened = opened_study(chosen)
    setup = build(opened.study.scenario, opened.dataset, uploaded=opened.directions)
    rng = None if chosen.released else np.random.default_rng(count("seed", chosen.seed, at_least=0))
    result = _attacked(setup, count("attacks", chosen.attacks), rng)
    claim = setup.epsilon_spent if result.delta else setup.design.pure_epsilon
    above, at_most = result.epsilon_lower > claim, at_most_words(setup.design.mu_is) if result.delta else ""
    sys.stdout.write(
        f"claimed: epsilon {at_most}{claim:.6g} at delta {result.delta:.6g} ({setup.neighbour_rule})\n"
        f"attacked: {result.absent.size:,} times on each neighbour; accused {result.accused:,} of "
        f"{result.evaluated:,} without the record, caught {result.caught:,} of {result.evaluated:,} with it\n"
        f"shown: epsilon is at least {result.epsilon_lower:.6g} ({result.confidence:.0%} confidence; so many attacks "
        f"can show at most {result.ceiling:.6g})\n"
        f"noise: {'as claimed' if result.check.as_claimed else result.check.words}\n"
        f"{'ABOVE THE CLAIM' if above else 'No violation found' if result.check.as_claimed else 'NOT AS CLAIMED'}\n")
    return CAUGHT if above or not result.check.as_claimed else 0


def _attacked(setup: Setup, attacks: int, rng: np.random.Generator | None) -> Audit:
    """Attack the noise that ``rng`` draws; the hardened noise of releases without it."""
    design, progress = setup.design, say_tenths("{:.0%} of the releases")
    if design.is_pure:
        return audit_pure(setup.table, setup.query, design, trials=attacks, rng=rng, progress=progress)
    refuse(len(design.blocks) > 1, "the audit attacks noise of one family, this study has two; choose another family")
    loss = pair_loss(setup.query, design)
    if design.blocks:
        if rng is None:
            raise InputError("ellipse noise is only for trials; audit simulated noise, or choose another family")
        return audit_ellipse(loss, trials=attacks, rng=rng, progress=progress)
    noise = (release_scores(loss, setup.query, trials=attacks, largest=setup.largest_values, progress=progress)
             if rng is None else simulate_scores(loss, trials=attacks, rng=rng, progress=progress))
    return judge(loss, noise, delta=setup.delta)
