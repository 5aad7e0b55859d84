"""Sentences on one needed column among more and more."""

from functools import lru_cache
from typing import Any

import streamlit as st

from mvgviz.design.trade_off import Gain, gain_among
from mvgviz.text import as_number, delta_words
from mvgviz.ui.assets import asset


def gain_words(gain: Gain, epsilon: float) -> str:
    """What directional noise gains at this number of columns, and what equal noise would have to spend."""
    return (f"{gain.columns} columns, one needed: {as_number(gain.needed, 2)} of the noise on it. To be as precise "
            f"there, equal noise would need ε = {as_number(gain.equal_epsilon, 2)} instead of {epsilon:g}.")


FEWEST, MOST = 2, 21
_component = st.components.v2.component(
    "mvgviz_more_columns", css=asset("more_columns.css"),
    js=asset("more_columns.js"),
    html='<div class="columns"><label><span>Columns</span><input type="range"></label>'
         '<div class="bars" role="img"></div><div class="budget" aria-hidden="true"><div class="own"></div>'
         '<div class="equal"></div></div><p aria-live="polite"></p><small></small></div>')


def draw_more_columns(*, key: str, epsilon: float = 1.0, share: float = 0.8, n_records: int = 2126,
                      start: int = MOST) -> None:
    """The picture; ``delta`` is one over the records, as in the paper's largest table. Nothing is sent back."""
    delta = 1 / n_records
    _component(key=key, data={
        "start": start, "epsilon": epsilon, "gains": _gains(share, epsilon, delta),
        "about": f"One column gets {100 * share:.0f} % of the budget; ε = {epsilon:g}, δ = "
                 f"{delta_words(delta, n_records)}; noise in units of each column's range."})


@lru_cache(maxsize=64)
def _gains(share: float, epsilon: float, delta: float) -> tuple[dict[str, Any], ...]:
    """What the browser draws for each number of columns: the same for everybody."""
    gains = (gain_among(columns, share=share, epsilon=epsilon, delta=delta) for columns in range(FEWEST, MOST + 1))
    return tuple({"columns": gain.columns, "needed": gain.needed, "rest": gain.rest, "epsilon": gain.equal_epsilon,
                  "short": as_number(gain.needed, 2), "spent": as_number(gain.equal_epsilon, 2),
                  "words": gain_words(gain, epsilon)} for gain in gains)
