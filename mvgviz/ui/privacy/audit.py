"""Privacy spent: the audit by simulation, its controls and its sentences."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import streamlit as st

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.design.privacy_loss import PairLoss
from mvgviz.errors import InputError
from mvgviz.figures.privacy.audit import plot_scores
from mvgviz.noise.accounting import gaussian_epsilon
from mvgviz.release.audit import Audit, NoiseScores, attacks_per_release, judge, release_scores, simulate_scores
from mvgviz.release.noise_check import FALSE_ALARMS, MIXTURES
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_number, in_markdown
from mvgviz.ui.frame import chart
from mvgviz.ui.privacy.panels import found_pair

TRIALS = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
USUAL = 10_000
SIMULATED, HARDENED = "Simulated noise", "The release's own sampler, fewer draws"
_QUICK, _LONG = 3.0, 20.0  # seconds: what is done unasked, and what needs a click
_HARDENED_ENTRY, _HARDENED_RELEASE = 2.7e-5, 1.5e-3  # seconds
_HARDENED_TIME, _HARDENED_MOST = 5.0, 500
_KEPT = "_privacy_draws"
_MOST_KEPT = 6


@st.fragment
def draw_audit(setup: Setup) -> None:
    """Simulated releases on both neighbours, attacked."""
    loss = found_pair(setup)
    if loss is None:
        return
    picture, choices = st.columns([3, 1], gap="large")
    with choices:
        sampler = st.radio("Drawn by", (SIMULATED, HARDENED), key="privacy_sampler")
        trials, seconds = _trials(loss.design, hardened=sampler == HARDENED)
        broken = st.toggle("Break it: half the noise", key="privacy_broken")
    noise = _drawn(setup, loss, trials, seconds, sampler == HARDENED)
    if noise is None:
        return
    result = judge(loss, noise, delta=setup.delta, noise_factor=0.5 if broken else 1.0)
    with choices:
        st.caption(_tested_words(loss.design, noise, hardened=sampler == HARDENED))
    with picture:
        chart(plot_scores(result, loss.mu), _audit_words(setup, loss, result, broken),
              key="privacy_audit",
              about="The best attack scores each release by its likelihood ratio and accuses above a threshold. The "
                    "threshold is chosen on one half of the releases, its hits and false alarms are counted on the "
                    "other; Clopper–Pearson limits turn them into an ε that is really spent at least, with 95 % "
                    "confidence. Below the claim it proves nothing wrong; above it, the claim is false.")


def _trials(design: NoiseDesign, *, hardened: bool) -> tuple[int, float]:
    """How many attacks on each neighbour, and about how long their releases take to draw."""
    each, entries = attacks_per_release(design), design.rows * design.cols
    if hardened:
        one = entries * _HARDENED_ENTRY + _HARDENED_RELEASE
        releases = min(max(int(_HARDENED_TIME / one / 2), 2), _HARDENED_MOST)
        return releases * each, 2 * releases * one
    one = _seconds(design)

    def taken(trials: int) -> float:
        return 2 * max(math.ceil(trials / each), 2) * one

    usual = max((n for n in TRIALS if n <= USUAL and taken(n) <= _QUICK), default=TRIALS[0])
    # Another size of answer is another control: a choice made for a small one would take long on a large one.
    key = "privacy_trials" if usual == USUAL else f"privacy_trials_{usual}"
    trials = st.select_slider("Attacks on each neighbour", TRIALS, value=usual, key=key,
                              format_func=lambda n: f"{n:,}")
    return trials, taken(trials)


def _seconds(design: NoiseDesign) -> float:
    """About how long one release takes to draw and to check."""
    products = sum(side.size for side in (design.row_side, design.col_side) if not side.is_diagonal)
    return design.rows * design.cols * (3e-8 + 3e-10 * products)


def _drawn(setup: Setup, loss: PairLoss, trials: int, seconds: float, hardened: bool) -> NoiseScores | None:
    """The draws, kept for the session: epsilon and delta only scale them. None where they wait for a click."""
    kept: dict[object, NoiseScores] = st.session_state.setdefault(_KEPT, {})
    key = (loss.shape(), trials, setup.scenario.seed, hardened)
    if key not in kept:
        if seconds > _LONG and not st.button(f"Draw the releases (about {_long_words(seconds)})", key="privacy_draw"):
            return None
        bar = st.progress(0.0, "Simulating releases …") if seconds > 0.5 else None
        told = [0.0]

        def show(done: float) -> None:
            if bar is not None and done >= told[0] + 0.02:
                told[0] = done
                bar.progress(done, "Simulating releases …")

        found = _draw(setup, loss, trials, hardened, show)
        if bar is not None:
            bar.empty()
        if found is None:
            return None
        while len(kept) >= _MOST_KEPT:
            kept.pop(next(iter(kept)))
        kept[key] = found
    return kept[key]


def _draw(setup: Setup, loss: PairLoss, trials: int, hardened: bool, show: Callable[[float], None]
          ) -> NoiseScores | None:
    """The scores from one of the two samplers, or None and a sentence."""
    if not hardened:
        return simulate_scores(loss, trials=trials, rng=np.random.default_rng([setup.scenario.seed, 4]), progress=show)
    try:
        return release_scores(loss, setup.query, trials=trials, largest=setup.largest_values, progress=show)
    except InputError as error:
        st.markdown(f"The release's own sampler refuses: {in_markdown(str(error))}.")
        return None


def _long_words(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{seconds:.0f} seconds"


def _tested_words(design: NoiseDesign, noise: NoiseScores, *, hardened: bool) -> str:
    """What was drawn and what was tested on it."""
    each = (f", each attacked at every one of its {design.cols:,} records" if attacks_per_release(design) > 1 else "")
    source = ("by the hardened sampler of a release, fresh each time" if hardened else
              "by the app's simulator, from the scenario's seed")
    drawn = (f"{noise.releases:,} whole {design.rows:,} × {design.cols:,} answers on each neighbour{each}, "
             f"drawn {source}.")
    kinds = " or ".join(noise.tally.pairs)
    together = f"whether {kinds} move together; " if kinds else ""
    return (f"{drawn} Tested on them: the attack; the size of the noise along each direction of rows and columns, in "
            f"their sums and in {MIXTURES} mixtures of all entries; {together}whether any of it repeats. Sound noise "
            f"fails these tests in at most {FALSE_ALARMS * 1000:g} of 1,000 audits. Directions and ranges are not "
            "audited.")


def _audit_words(setup: Setup, loss: PairLoss, result: Audit, broken: bool) -> str:
    """What the audit proves, and what it cannot."""
    found, claim = result.epsilon_lower, setup.epsilon_spent
    counts = (f"accusing {result.accused:,} of {result.evaluated:,} absent, it catches {result.caught:,} of "
              f"{result.evaluated:,} present: ε is at least **{as_number(found)}** (95 % confidence)")
    claimed = f"{'' if setup.design.mu_is == 'exact' else 'at most '}{as_number(claim)}"
    if not broken:
        if found > claim:
            return (f"**Above the claim:** {counts}, claimed is {claimed}. By chance this happens in at most 5 of 100 "
                    f"audits: try more releases or another seed.{_odd_words(result)}")
        if not result.check.as_claimed:
            return f"**The noise is not as claimed:** {result.check.words}. The attack alone: {counts}."
        part = f" The pair attacked reaches only {loss.attained:.0%} of the bound μ." if loss.attained < 0.99 else ""
        few = f" So few releases can show at most {as_number(result.ceiling)}." if claim > result.ceiling else ""
        return f"**The claim stands:** {counts}, claimed is {claimed}.{part}{few}"
    truth = float(gaussian_epsilon(setup.delta, 2 * loss.mu))
    if found > claim:
        return f"**Caught:** {counts}, above the {claimed} claimed. Half the noise really spends {as_number(truth)}."
    if truth <= setup.scenario.epsilon:
        why = (f"Half the noise would spend {as_number(truth)} on this pair, still within the "
               f"ε = {setup.scenario.epsilon:g} asked.")
    elif claim > result.ceiling:
        why = f"So few releases can show at most {as_number(result.ceiling)}; a smaller ε can be audited."
    else:
        why = f"Half the noise spends {as_number(truth)}; more releases would show it."
    if not result.check.as_claimed:
        return (f"**Caught, though not by the attack:** the noise itself is not as claimed: {result.check.words}. The "
                f"attack: {counts}, claimed is {claimed}. {why}")
    return f"**Not caught by the attack:** {counts}, claimed is {claimed}. {why}"


def _odd_words(result: Audit) -> str:
    """What the check of the noise itself says, where it says something."""
    return "" if result.check.as_claimed else f" The noise itself is not as claimed: {result.check.words}."
