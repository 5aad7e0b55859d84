"""Privacy spent: the attacker's odds, pictures of the loss, the worst neighbours, an audit, several releases."""

import math
from dataclasses import replace

import numpy as np
import streamlit as st

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.design.privacy_loss import PairLoss, pair_loss, spent_mu
from mvgviz.errors import InputError
from mvgviz.pictures import privacy as words
from mvgviz.pictures.budget import percent
from mvgviz.pictures.sentences import RANGES_READ, thing
from mvgviz.release import audit
from mvgviz.scenario.resolve import Setup, asked_of
from mvgviz.text import in_markdown, mu_words
from mvgviz.ui import session
from mvgviz.ui.cache import cached, of_session
from mvgviz.ui.door import is_demo
from mvgviz.ui.frame import chart, draw_charts, draw_open_tab, open_page, show_table
from mvgviz.ui.menu import PRIVACY
from mvgviz.ui.slices import moving_bar
from mvgviz.validation import FloatArray

RELEASES = (1, 2, 3, 5, 7, 10, 20, 30, 50, 70, 100, 200, 300, 500, 700, 1_000)


@cached(8, session.here, spinner="Looking for the worst neighbours …")
def found_pair(setup: Setup) -> PairLoss:
    return pair_loss(setup.query, setup.design)


def draw_loss(setup: Setup) -> None:
    chart(words.loss_picture(spent.total, epsilon=setup.scenario.epsilon, thing=thing(setup)), key="privacy_loss")


def draw_neighbours(setup: Setup) -> None:
    loss = found_pair(setup)
    records, bars = st.columns([2, 3], gap="large")
    with records:
        st.markdown(f"**Hardest to hide:** {session.promised(in_markdown(loss.pair.words))}. "
                    f"{words.reached_words(setup, loss.attained)}")
        if loss.pair.before is not None and loss.pair.after is not None:
            before, after = (_in_data_units(setup, record) for record in (loss.pair.before, loss.pair.after))
            show_table({"Feature": list(setup.table.features), "Before": before, "After": after},
                       numbers=("Before", "After"), height=min(35 * (len(before) + 1) + 2, 330))
            read = RANGES_READ * (not setup.dataset.ranges_origin.is_covered)
            by_seed = " The clipping radius was found by a known seed: not private." * (
                setup.scenario.bound == "private" and setup.query.bound is not None)
            st.caption(f"In the data's units.{read}{by_seed}")
    with bars:
        if not setup.design.blocks:  # their losses are no squares that add up
            chart(words.shares_picture(loss.shares, setup.design.theta, names=setup.direction_names),
                  key="privacy_shares")


def _in_data_units(setup: Setup, record: FloatArray) -> FloatArray:
    """Return a record of the worst pair in the data's units (tables give offsets inside the range)."""
    data, table = asked_of(setup.scenario.changed(scale="declared"), setup.dataset), setup.table
    offset = record if setup.query.degree == 1 else record - table.lower
    return np.asarray(data.lower + offset / table.widths * data.widths)


@st.fragment
def draw_releases(setup: Setup) -> None:
    picture, choices = st.columns([3, 1], gap="large")
    with choices:
        k = st.select_slider("Releases of the same data", RELEASES, value=10, key="privacy_k",
                             format_func="{:,}".format)
        mu, share = spent.after(k)
        times = f"{k:,} release{'s' if k > 1 else ''}"
        if spent.blocks:
            st.caption("An upper bound for all noise that is pure ε. Fix the families in advance.")
        else:
            st.markdown(f"One release: {mu_words(spent.total)}  \n{times}: **{mu_words(mu)}**")
        if spent.directions:
            st.caption("All releases use the private directions, which are learned once: "
                       f"{percent(share)} of μ² after {times}.")
    with picture:
        chart(words.releases_picture(spent, epsilon=setup.scenario.epsilon, delta=setup.delta, count=k,
                                     mu_is=setup.design.mu_is), key="privacy_releases")


TRIALS, USUAL = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000), 10_000
SIMULATED, HARDENED = "Simulated noise", "The release's own sampler, fewer draws"
_QUICK, _LONG = 3.0, 20.0  # seconds: work done unasked, and work that needs a click
_HARDENED_ENTRY, _HARDENED_RELEASE = 2.7e-5, 1.5e-3  # seconds
_HARDENED_TIME, _HARDENED_MOST = 5.0, 500


@st.fragment
def draw_audit(setup: Setup) -> None:
    pure = setup.design.is_pure
    if len(setup.design.blocks) > 1 and not pure:
        st.info("The audit attacks noise of one family. Choose Gaussian, ellipse, box or Laplace noise.")
        return
    loss = None if pure else found_pair(setup)
    picture, choices = st.columns([3, 1], gap="large")
    with choices:
        hardened = not setup.design.family.trials_only and st.radio(
            "Drawn by", (SIMULATED, HARDENED), key="privacy_sampler") == HARDENED
    if loss is None or setup.design.blocks:
        with picture:
            result = _audit_of_blocks(setup, loss, hardened)
            st.markdown(f"{words.audit_words(setup, None, result)}{' With δ = 0.' * pure}")
        return
    with choices:
        trials, seconds = _trials(loss.design, hardened=hardened)
        broken = st.toggle("Break it: half the noise", key="privacy_broken")
    noise = _drawn(setup, loss, trials, seconds, hardened)
    if noise is None:
        return
    result = audit.judge(loss, noise, delta=setup.delta, noise_factor=0.5 if broken else 1.0)
    with choices:
        st.caption(words.tested_words(loss.design, noise, hardened=hardened))
    with picture:
        chart(words.audit_picture(result, loss.mu, words.audit_words(setup, loss, result, broken)), key="privacy_audit")


@cached(6, of_session, spinner="Simulating releases …", key=lambda setup, loss, hardened: (setup, hardened))
def _audit_of_blocks(setup: Setup, loss: PairLoss | None, hardened: bool) -> audit.Audit:
    rng = np.random.default_rng([setup.scenario.seed, 4])
    if loss is not None:
        return audit.audit_ellipse(loss, trials=USUAL if setup.query.rows * setup.query.cols <= 1_000 else TRIALS[0],
                                   rng=rng)
    return audit.audit_pure(setup.table, setup.query, setup.design, rng=None if hardened else rng,
                            trials=_HARDENED_MOST if hardened else USUAL)


def _trials(design: NoiseDesign, *, hardened: bool) -> tuple[int, float]:
    """Return how many attacks to make on each neighbour, and about how long their releases take."""
    each = audit.attacks_per_release(design)
    if hardened:
        seconds = design.rows * design.cols * _HARDENED_ENTRY + _HARDENED_RELEASE  # for one release
        releases = min(max(int(_HARDENED_TIME / seconds / 2), 2), _HARDENED_MOST)
        return releases * each, 2 * releases * seconds
    seconds = audit.seconds_to_draw(design)

    def taken(trials: int) -> float:
        return 2 * max(math.ceil(trials / each), 2) * seconds

    usual = max((n for n in TRIALS if n <= USUAL and taken(n) <= _QUICK), default=TRIALS[0])
    # Another size of answer is another control: a choice for a small one would take long on a large one.
    key = "privacy_trials" if usual == USUAL else f"privacy_trials_{usual}"
    offered = [n for n in TRIALS if n <= usual or not (is_demo() and taken(n) > _LONG)]
    trials = st.select_slider("Attacks on each neighbour", offered, value=usual, key=key, format_func="{:,}".format)
    return trials, taken(trials)


@cached(6, of_session, final=lambda found: found is not None,
        key=lambda setup, loss, trials, seconds, hardened: (loss.shape(), trials, setup.scenario.seed, hardened))
def _drawn(setup: Setup, loss: PairLoss, trials: int, seconds: float, hardened: bool) -> audit.NoiseScores | None:
    """Return the draws, which epsilon and delta only scale; None while they wait for a click or are refused."""
    wait = f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{seconds:.0f} seconds"
    if seconds > _LONG and not st.button(f"Draw the releases (about {wait})", key="privacy_draw"):
        return None
    text, found = "Simulating releases …", None
    bar = st.progress(0.0, text) if seconds > 0.5 else None
    show = None if bar is None else moving_bar(bar, text)
    if hardened:
        try:
            found = audit.release_scores(loss, setup.query, trials=trials, largest=setup.largest_values, progress=show)
        except InputError as error:
            st.markdown(f"The release's sampler refuses: {in_markdown(str(error))}.")
    else:
        rng = np.random.default_rng([setup.scenario.seed, 4])
        found = audit.simulate_scores(loss, trials=trials, rng=rng, progress=show)
    if bar is not None:
        bar.empty()
    return found


def say_why_not(error: InputError) -> None:
    st.info(f"No neighbours to show: {in_markdown(str(error))}.")


setup = open_page(PRIVACY)
spent = spent_mu(setup.design)
for sentence in words.caveats(setup, spent):
    st.caption(sentence)
asked = {"epsilon": setup.scenario.epsilon, "delta": setup.delta}
tradeoff = words.tradeoff_picture(spent, **asked, mu_is=setup.design.mu_is)
pictures = {"privacy_tradeoff": replace(tradeoff, about=f"{words.odds_words(setup, spent)} {tradeoff.about}"),
            "privacy_curve": words.curve_picture(spent, **asked, mu_is=setup.design.mu_is)}
draw_charts(pictures)
draw_open_tab({"The worst neighbours": draw_neighbours, **({} if spent.blocks else {"The loss": draw_loss}),
               "Audit by simulation": draw_audit, "Several releases": draw_releases}, setup, key="privacy_section",
              refused=say_why_not)
