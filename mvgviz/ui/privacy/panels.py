"""Privacy spent: the panels under the three pictures."""

import numpy as np
import streamlit as st

from mvgviz.design.privacy_loss import PairLoss, pair_loss, spent_mu
from mvgviz.errors import InputError
from mvgviz.figures.privacy.loss import largest_shares, plot_composition, plot_shares
from mvgviz.scenario.resolve import Setup, asked_of
from mvgviz.text import as_number, in_html, in_markdown
from mvgviz.ui import session
from mvgviz.ui.frame import chart, show_table
from mvgviz.validation import FloatArray
from mvgviz.words.privacy import percent_words, reached_words, releases_words, shares_words

RELEASES = (1, 2, 3, 5, 7, 10, 20, 30, 50, 70, 100, 200, 300, 500, 700, 1_000)


@session.remembered(8, spinner="Looking for the worst neighbours …")
def _pair_loss(setup: Setup) -> PairLoss:
    return pair_loss(setup.query, setup.design)


def found_pair(setup: Setup) -> PairLoss | None:
    """The worst neighbours, or None and a sentence."""
    try:
        return _pair_loss(setup)
    except InputError as error:
        st.markdown(f"No neighbours to show: {in_markdown(str(error))}.")
        return None


def draw_neighbours(setup: Setup) -> None:
    """Which record is replaced by which, and which directions carry the loss."""
    loss = found_pair(setup)
    if loss is None:
        return
    words = f"**Hardest to hide:** {in_markdown(loss.pair.words)}. {reached_words(setup, loss.attained)}"
    if loss.pair.before is None or loss.pair.after is None:
        st.markdown(words)
        _draw_shares(setup, loss)
        return
    table, bars = st.columns([2, 3], gap="large")
    with table:
        st.markdown(words)
        before, after = (_own_units(setup, record) for record in (loss.pair.before, loss.pair.after))
        show_table({"Feature": list(setup.table.features), "Before": before, "After": after},
                   numbers=("Before", "After"), height=min(36 * (len(before) + 1) + 2, 330))
        inside = "" if setup.query.bound is None else ", the ellipse that both are inside"
        if setup.scenario.bound == "private" and inside:
            inside += " (its length was found by a known seed: not private)"
        st.caption(f"In the data's own units. Nobody's records: only the declared ranges{inside} and the noise enter.")
    with bars:
        _draw_shares(setup, loss)


def _own_units(setup: Setup, record: FloatArray) -> FloatArray:
    """A record of the worst pair on the dataset's declared scale (tables give offsets inside the range)."""
    data, table = asked_of(setup.scenario.changed(scale="declared"), setup.dataset), setup.table
    offset = record if setup.query.name in ("identity", "mean") else record - table.lower
    return np.asarray(data.lower + offset / table.widths * data.widths)


def _draw_shares(setup: Setup, loss: PairLoss) -> None:
    names, shares, theta = setup.direction_names, loss.shares, setup.design.theta
    labels = [names[k] if k < len(names) else f"number {k + 1}" for k in largest_shares(shares)]
    chart(plot_shares(shares, theta, labels=[in_html(label) for label in labels]), shares_words(shares, theta, labels),
          key="privacy_shares")


@st.fragment
def draw_releases(setup: Setup) -> None:
    """What k releases spend together."""
    picture, choices = st.columns([3, 1], gap="large")
    with choices:
        k = st.select_slider("Releases of the same data", RELEASES, value=10, key="privacy_k",
                             format_func="{:,}".format)
    spent = spent_mu(setup.design)
    with picture:
        chart(plot_composition(spent, epsilon=setup.scenario.epsilon, delta=setup.delta, chosen=k),
              releases_words(setup, spent, k), key="privacy_releases")
    with choices:
        mu, share = spent.after(k)
        times = f"{k:,} release{'s' if k > 1 else ''}"
        st.markdown(f"One release: μ = {as_number(spent.total)}  \n{times}: μ = **{as_number(mu)}**")
        if spent.directions:
            st.caption(f"The private directions are learned once and used in all: {percent_words(share)} of μ² after "
                       f"{times}.")
