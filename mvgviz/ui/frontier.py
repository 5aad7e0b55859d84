"""Draw the trade-off with a point to move along its curve, which sets the priority columns' share."""

import streamlit as st

from mvgviz.pictures import trade_off as words
from mvgviz.pictures.theme import log_axis
from mvgviz.pictures.trade_off import TradeOffNumbers
from mvgviz.provenance import weakest
from mvgviz.scenario.resolve import Setup
from mvgviz.scenario.trade_off import Curves, NeedsTradeOff, curves_of, trade_off_of
from mvgviz.text import as_text
from mvgviz.ui import session
from mvgviz.ui.assets import asset
from mvgviz.ui.cache import cached
from mvgviz.ui.frame import draw_takeaway

STEP = 0.01  # the point's shares are multiples of it, as the slider's are

_component = st.components.v2.component(
    "mvgviz_frontier", css=asset("frontier.css"), js=asset("frontier.js"),
    html='<div class="frontier"><div class="picture"></div><div class="handle" role="slider" tabindex="0" '
         'aria-label="Share of the budget for priority columns" hidden></div><div class="numbers"></div></div>')


def _same_curves(setup: Setup) -> tuple[object, ...]:
    """Return what the curves depend on, which is not the scenario's own split."""
    scenario = setup.scenario
    by_seed = scenario.bound == "private" or scenario.directions == "random"  # a length, or directions
    plain = scenario.changed(allocation="binary", share=0.5, weights=(), guarantee="exact",
                             **{} if by_seed else {"seed": 0})
    return plain, setup.dataset, session.uploaded_directions()


@cached(12, session.here, key=_same_curves, spinner="Every split of the budget …")
def _curves(setup: Setup) -> Curves:
    return curves_of(setup)


@cached(12, session.here)
def found_trade_off(setup: Setup) -> NeedsTradeOff:
    """Return the trade-off of the session's scenario."""
    return trade_off_of(setup, _curves(setup))


@cached(12, session.here)
def _said(setup: Setup) -> tuple[TradeOffNumbers, str]:
    found = found_trade_off(setup)
    return words.trade_off_numbers(found), words.trade_off_words(setup, found)


def draw_frontier(setup: Setup, *, key: str) -> None:
    """Draw the picture with its takeaway; moving the point changes the share."""
    found = found_trade_off(setup)
    numbers, takeaway = _said(setup)
    across, up = (log_axis(*ends, room=0.06) for ends in (numbers.across, numbers.up))
    design = next(mark for mark in (*numbers.marks, *numbers.far) if mark.kind == "design")
    movable = design in numbers.marks and setup.scenario.guarantee == "exact"

    def moved() -> None:
        origin = weakest([setup.looked_at["directions"], setup.looked_at["split"]])
        session.choose(origin, allocation="binary", priority_directions=found.priority,
                       share=float(st.session_state[key].moved))

    _component(key=key, on_moved_change=moved, data={
        "lines": [line._asdict() for line in numbers.lines], "curve": numbers.own._asdict(), "step": STEP,
        "marks": [mark._asdict() for mark in numbers.marks if mark.kind != "design"],
        "far": [mark._asdict() | {"words": words.far_words(mark)} for mark in numbers.far],
        "walls": [wall._asdict() for wall in numbers.walls],
        "here": design._asdict() | {"drawn": design in numbers.marks, "share": _share_on_curve(setup, found)},
        "movable": movable, "titles": [words.ACROSS, words.UP],
        **{name: [10.0**end for end in axis["range"]] for name, axis in (("across", across), ("up", up))},
        **{name: [tick for tick in axis["tickvals"] if 10 ** axis["range"][0] <= tick <= 10 ** axis["range"][1]]
           for name, axis in (("ticksAcross", across), ("ticksUp", up))},
        "alt": as_text(takeaway)})
    st.caption(words.MOVE if movable else words.STAY)
    draw_takeaway(takeaway, words.ABOUT_CURVE, key=key)


def _share_on_curve(setup: Setup, found: NeedsTradeOff) -> float | None:
    scenario, shares = setup.scenario, found.curves.own.shares
    priorities = tuple(k for k in scenario.priority_directions if k < setup.query.own_features(setup.design.theta.size))
    on = scenario.allocation == "binary" and scenario.guarantee == "exact" and priorities == found.priority
    return scenario.share if on and shares[0] <= scenario.share <= shares[-1] else None
