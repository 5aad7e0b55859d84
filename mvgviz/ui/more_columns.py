"""One needed column among more and more, as bars that a slider in the browser adds to."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import streamlit as st

from mvgviz.design.more_columns import gain_among
from mvgviz.text import as_number, delta_words
from mvgviz.words.more_columns import gain_words

FEWEST, MOST = 2, 21
_HERE = Path(__file__).parent
_component = st.components.v2.component(
    "mvgviz_more_columns", css=(_HERE / "picture.css").read_text(encoding="utf-8"),
    js=(_HERE / "picture.js").read_text(encoding="utf-8"),
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
