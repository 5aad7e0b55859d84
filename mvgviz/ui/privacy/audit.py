"""Privacy spent: the audit by simulation and its controls."""

import math
from collections.abc import Callable

import numpy as np
import streamlit as st

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.design.privacy_loss import PairLoss
from mvgviz.errors import InputError
from mvgviz.figures.privacy.attack import plot_scores
from mvgviz.release.audit import NoiseScores, attacks_per_release, judge, release_scores, simulate_scores
from mvgviz.scenario.resolve import Setup
from mvgviz.text import in_markdown
from mvgviz.ui.frame import chart
from mvgviz.ui.privacy.panels import found_pair
from mvgviz.ui.progress import show_progress
from mvgviz.words.privacy import audit_words, tested_words

TRIALS, USUAL = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000), 10_000
SIMULATED, HARDENED = "Simulated noise", "The release's own sampler, fewer draws"
_QUICK, _LONG = 3.0, 20.0  # seconds: what is done unasked, and what needs a click
_HARDENED_ENTRY, _HARDENED_RELEASE = 2.7e-5, 1.5e-3  # seconds
_HARDENED_TIME, _HARDENED_MOST = 5.0, 500
_KEPT, _MOST_KEPT = "_privacy_draws", 6


@st.fragment
def draw_audit(setup: Setup) -> None:
    """Simulated releases on both neighbours, attacked."""
    loss = found_pair(setup)
    if loss is None:
        return
    picture, choices = st.columns([3, 1], gap="large")
    with choices:
        hardened = st.radio("Drawn by", (SIMULATED, HARDENED), key="privacy_sampler") == HARDENED
        trials, seconds = _trials(loss.design, hardened=hardened)
        broken = st.toggle("Break it: half the noise", key="privacy_broken")
    noise = _drawn(setup, loss, trials, seconds, hardened)
    if noise is None:
        return
    result = judge(loss, noise, delta=setup.delta, noise_factor=0.5 if broken else 1.0)
    with choices:
        st.caption(tested_words(loss.design, noise, hardened=hardened))
    with picture:
        chart(plot_scores(result, loss.mu), audit_words(setup, loss, result, broken), key="privacy_audit")


def _trials(design: NoiseDesign, *, hardened: bool) -> tuple[int, float]:
    """How many attacks on each neighbour, and about how long their releases take to draw."""
    each = attacks_per_release(design)
    if hardened:
        seconds = design.rows * design.cols * _HARDENED_ENTRY + _HARDENED_RELEASE  # for one release
        releases = min(max(int(_HARDENED_TIME / seconds / 2), 2), _HARDENED_MOST)
        return releases * each, 2 * releases * seconds
    seconds = _seconds(design)

    def taken(trials: int) -> float:
        return 2 * max(math.ceil(trials / each), 2) * seconds

    usual = max((n for n in TRIALS if n <= USUAL and taken(n) <= _QUICK), default=TRIALS[0])
    # Another size of answer is another control: a choice made for a small one would take long on a large one.
    key = "privacy_trials" if usual == USUAL else f"privacy_trials_{usual}"
    trials = st.select_slider("Attacks on each neighbour", TRIALS, value=usual, key=key, format_func="{:,}".format)
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
        wait = f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{seconds:.0f} seconds"
        if seconds > _LONG and not st.button(f"Draw the releases (about {wait})", key="privacy_draw"):
            return None
        text = "Simulating releases …"
        bar = st.progress(0.0, text) if seconds > 0.5 else None
        found = _draw(setup, loss, trials, hardened, None if bar is None else show_progress(bar, text))
        if bar is not None:
            bar.empty()
        if found is None:
            return None
        while len(kept) >= _MOST_KEPT:
            kept.pop(next(iter(kept)))
        kept[key] = found
    return kept[key]


def _draw(setup: Setup, loss: PairLoss, trials: int, hardened: bool,
          show: Callable[[float], None] | None) -> NoiseScores | None:
    """The scores from one of the two samplers, or None and a sentence."""
    if not hardened:
        return simulate_scores(loss, trials=trials, rng=np.random.default_rng([setup.scenario.seed, 4]), progress=show)
    try:
        return release_scores(loss, setup.query, trials=trials, largest=setup.largest_values, progress=show)
    except InputError as error:
        st.markdown(f"The release's own sampler refuses: {in_markdown(str(error))}.")
        return None
