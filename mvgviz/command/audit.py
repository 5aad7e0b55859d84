"""``mvgviz audit study.json``: simulated releases of a study, attacked; what that proves of its claim."""

import argparse
import sys

import numpy as np

from mvgviz.command import CAUGHT, say_tenths
from mvgviz.command.opening import opened_study
from mvgviz.design.privacy_loss import pair_loss
from mvgviz.release.audit import judge, release_scores, simulate_scores
from mvgviz.scenario.resolve import build
from mvgviz.validation import count


def audit(chosen: argparse.Namespace) -> int:
    """Print what the attack achieved beside the claim; 1 where the noise is not what it claims to be."""
    opened = opened_study(chosen)
    setup = build(opened.scenario, opened.dataset, uploaded=opened.directions)
    loss = pair_loss(setup.query, setup.design)
    attacks, progress = count("attacks", chosen.attacks), say_tenths("{:.0%} of the releases")
    if chosen.released:
        noise = release_scores(loss, setup.query, trials=attacks, largest=setup.largest_values, progress=progress)
    else:
        rng = np.random.default_rng(count("seed", chosen.seed, at_least=0))
        noise = simulate_scores(loss, trials=attacks, rng=rng, progress=progress)
    result = judge(loss, noise, delta=setup.delta)
    above = result.epsilon_lower > setup.epsilon_spent
    at_most = "" if setup.design.mu_is == "exact" else "at most "
    sys.stdout.write(
        f"claimed: epsilon {at_most}{setup.epsilon_spent:.6g} at delta {setup.delta:.6g} "
        f"({setup.design.neighbour_rule})\n"
        f"attacked: {noise.releases:,} releases on each neighbour; accused {result.accused:,} of {result.evaluated:,} "
        f"without the record, caught {result.caught:,} of {result.evaluated:,} with it\n"
        f"shown: epsilon is at least {result.epsilon_lower:.6g} ({result.confidence:.0%} confidence; so many attacks "
        f"can show at most {result.ceiling:.6g})\n"
        f"noise: {'as claimed' if result.check.as_claimed else result.check.words}\n"
        f"{'ABOVE THE CLAIM' if above else 'The claim stands' if result.check.as_claimed else 'NOT AS CLAIMED'}\n")
    return CAUGHT if above or not result.check.as_claimed else 0
