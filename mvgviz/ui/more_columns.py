"""One needed column among more and more, as a picture: what directional noise gains on it."""

from typing import Any

import streamlit as st

from mvgviz.design.trade_off import gain_among
from mvgviz.text import as_number, delta_words
from mvgviz.ui.assets import asset
from mvgviz.ui.cache import cached, of_server

_FEWEST, _MOST = 2, 21
_SHARE, _RECORDS = 0.8, 2126  # the records of the paper's largest table; delta is one over them
_component = st.components.v2.component(
    "mvgviz_more_columns", css=asset("more_columns.css"), js=asset("more_columns.js"),
    html='<div class="columns"><label><span>Columns</span><input type="range"></label>'
         '<div class="bars" role="img"></div><div class="budget" aria-hidden="true"><div class="own"></div>'
         '<div class="equal"></div></div><p aria-live="polite"></p><small></small></div>')


def draw_more_columns(*, key: str, epsilon: float = 1.0) -> None:
    """Draw the picture; nothing is sent back."""
    _component(key=key, data={
        "start": _MOST, "epsilon": epsilon, "gains": _gains(epsilon),
        "about": f"One column gets {100 * _SHARE:.0f} % of the budget; ε = {epsilon:g}, δ = "
                 f"{delta_words(1 / _RECORDS, _RECORDS)}; noise in units of each column's range."})


@cached(16, of_server)
def _gains(epsilon: float) -> tuple[dict[str, Any], ...]:
    """What the browser draws for each number of columns: the same for everybody."""
    drawn = []
    for columns in range(_FEWEST, _MOST + 1):
        gain = gain_among(columns, share=_SHARE, epsilon=epsilon, delta=1 / _RECORDS)
        needed, equal = as_number(gain.needed, 2), as_number(gain.equal_epsilon, 2)
        drawn.append({
            "columns": columns, "needed": gain.needed, "rest": gain.rest, "epsilon": gain.equal_epsilon,
            "short": needed, "spent": equal,
            "words": f"{columns} columns, one needed: {needed} of the noise on it. To be as precise there, equal noise "
                     f"would need ε = {equal} instead of {epsilon:g}."})
    return tuple(drawn)
