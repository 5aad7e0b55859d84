"""Precision budget: theta, noise and signal by direction, what each split lets through, and the inverse question."""

import math

import numpy as np
import streamlit as st

from mvgviz.design.allocation import WaterFilling
from mvgviz.labels import FORMS, GUARANTEES, SPLITS
from mvgviz.pictures import budget as words
from mvgviz.pictures.sentences import noise_care
from mvgviz.scenario.precision_budget import (
    LEAST_EPSILON,
    MOST_EPSILON,
    BudgetTable,
    budget_table,
    compare_splits,
    equal_design,
    inverse_refusal,
    pnr_refusal,
    printed_guarantee,
    table_csv,
    wanted_noise,
)
from mvgviz.scenario.resolve import Setup, fill
from mvgviz.scenario.trade_off import trade_off_refusal
from mvgviz.text import in_markdown, spreadsheet_cell
from mvgviz.ui import session
from mvgviz.ui.cache import cached
from mvgviz.ui.frame import chart, draw_open_tab, offer_file, open_page, show_table
from mvgviz.ui.frontier import draw_frontier
from mvgviz.ui.menu import BUDGET
from mvgviz.validation import FloatArray

_MANY, _SPLIT_IN_LINK, _ASKED = 400, 50, 8
_SURVIVES = "information that survives (log PNR)"
_scores = cached(40, session.here, key=lambda setup, moments: (setup,))(compare_splits)


@cached(40, session.here, key=lambda setup, moments, guarantee, form: (setup, guarantee, form))
def _filled(setup: Setup, moments: FloatArray, guarantee: str, form: str) -> tuple[WaterFilling, FloatArray | None]:
    """The water filling and, for the exact form, its prices h²."""
    equal = equal_design(setup, guarantee)
    return fill(equal, setup.query, moments, form), equal.reach**2 if form == "exact" else None


def draw_trade_off(setup: Setup, table: BudgetTable, names: words.Names) -> None:
    """Noise on the needed against noise on the rest: what every other split would give."""
    refusal = trade_off_refusal(setup)
    if refusal is not None:
        st.info(refusal)
    else:
        draw_frontier(setup, key="budget_trade_off")


def draw_loadings(setup: Setup) -> None:
    """Which features each direction is made of, when the directions are not the features themselves."""
    if setup.design.directional_side.directions.is_standard:
        return
    care = "" if setup.origins["directions"].is_covered else session.computed_on()
    chart(words.loadings_picture(setup).adding(care), key="budget_loadings")


def draw_pnr(setup: Setup, table: BudgetTable, names: words.Names) -> None:
    """log PNR of every split, and the water filling behind the three forms of max-PNR."""
    refusal, moments = pnr_refusal(setup), session.moments(setup)
    if refusal is not None or moments is None:
        st.info(f"Nothing to compare: {refusal}.", icon=":material/water_drop:")
        return
    if not moments.any():
        st.info("Every value is 0: there is no signal to get through.", icon=":material/water_drop:")
        return
    if table.size > _MANY and not st.toggle(f"Compare the splits of {table.size} directions (takes a while)",
                                            key="budget_compare"):
        return
    splits, water = st.columns(2, gap="large")
    numbers = words.pnr_numbers(_scores(setup, moments))
    with splits:
        _draw_scores(setup, numbers)
    with water:
        _draw_water(setup, moments)
    _draw_score_table(numbers)


def _draw_scores(setup: Setup, numbers: words.PnrNumbers) -> None:
    if "binary" not in numbers.splits and setup.design.theta.size > 1:
        st.caption("Choose in the sidebar which directions matter, to see a share for some and least error here too.")
    own = setup.scenario.guarantee
    other = next(guarantee for guarantee in numbers.scores if guarantee != own)
    both = st.toggle(f"Beside it: {GUARANTEES[other].in_chart}", key="budget_both")
    shown = numbers if both else numbers.under(own)
    chart(words.pnr_picture(setup, shown).adding(session.computed_on()), key="budget_pnr")


def _draw_score_table(numbers: words.PnrNumbers) -> None:
    rows = [{"split": SPLITS[split]} | {
        f"{what}, {GUARANTEES[guarantee].in_chart}": getattr(by_split[split], field) if split in by_split else None
        for guarantee, by_split in numbers.scores.items()
        for what, field in ((_SURVIVES, "log_pnr"), ("information (nats)", "mutual_information"))}
        for split in numbers.splits]
    show_table(rows, numbers=list(rows[0])[1:], key="budget_pnr_table")


def _draw_water(setup: Setup, moments: FloatArray) -> None:
    own = "exact" if setup.scenario.guarantee == "exact" else setup.scenario.form
    form = st.segmented_control("Form of the paper's best split (max-PNR)", list(FORMS),
                                format_func=lambda form: FORMS[form][1], default=own, key=f"budget_form_{own}",
                                required=True)
    guarantee = "exact" if form == "exact" else printed_guarantee(setup)
    filled, prices = _filled(setup, moments, guarantee, form)
    water = words.water_picture(setup, filled, prices=prices, form=form, guarantee=guarantee)
    chart(water.adding(session.computed_on()), key="budget_water")


def draw_inverse(setup: Setup, table: BudgetTable, names: words.Names) -> None:
    """Wanted standard deviations in, the smallest epsilon out, one click to take it over."""
    refusal = inverse_refusal(setup)
    if refusal is not None:
        st.info(f"The inverse question is not asked here: {refusal}.", icon=":material/undo:")
        return
    scenario, version = setup.scenario, session.data_version().replace(" ", "_")
    context = f"{version}_{scenario.query}_{scenario.scale}_{scenario.directions}_{table.size}"
    favoured = [k for k in scenario.favoured if k < table.size][:_ASKED] or [0]
    asking, answer = st.columns(2, gap="large")
    with asking:
        chosen = st.multiselect("Directions whose noise matters", range(min(table.size, 2_000)), default=favoured,
                                format_func=names, key=f"budget_asked_{context}", max_selections=_ASKED)
        targets = {k: _wanted_std(f"{context}_{k}", names(k), float(table.std[k])) for k in chosen}
    with answer:
        if targets:
            _draw_answer(setup, targets)
        else:
            st.info("Choose at least one direction.")


def _wanted_std(key: str, name: str, now: float) -> float:
    """A number that starts at the design's own and then stays the person's, whatever the design becomes."""
    first: float = st.session_state.setdefault(f"budget_first_{key}", float(f"{now:.3g}"))
    return st.number_input(f"Typical error wanted along {in_markdown(name)} (standard deviation)", min_value=1e-60,
                           max_value=1e60, value=first, step=10.0 ** (math.floor(math.log10(first)) - 1),
                           format="%.6g", key=f"budget_want_{key}")


def _draw_answer(setup: Setup, targets: dict[int, float]) -> None:
    found = wanted_noise(setup, targets)
    st.markdown(words.smallest_words(setup, found))
    if not found.reachable:
        st.warning(f"That is outside what this app holds: at most {MOST_EPSILON:g}. Even that hides hardly anything.")
    elif found.needed < LEAST_EPSILON:
        st.caption(f"That is below {LEAST_EPSILON:g}, the least this app holds; {LEAST_EPSILON:g} is taken over.")
    with_split = setup.design.theta.size <= _SPLIT_IN_LINK and found.reachable
    changes: dict[str, object] = {"epsilon": found.epsilon, "guarantee": "exact"}
    if with_split:
        changes |= {"allocation": "manual", "weights": found.weights}
    st.button(f"Take over ε = {found.epsilon:g}", key="budget_take", type="primary", icon=":material/check:",
              on_click=session.take_over, args=(setup,), kwargs=changes)
    st.caption("Sets ε, the exact guarantee and the split by hand that gives this noise." if with_split
               else "Sets ε and the exact guarantee; the split stays as it is, so the noise will differ.")
    if setup.scenario.directions == "private":
        st.caption("ε includes the share spent on the directions. They are drawn anew for another ε, so the noise "
                   "comes out about as wanted, not exactly.")


ROWS = 1_000


def draw_signal(setup: Setup, table: BudgetTable) -> None:
    """Signal-to-noise, where the signal has a meaning."""
    if (picture := words.signal_picture(setup, table)) is not None:
        chart(picture.adding(session.computed_on()), key="budget_signal")


def draw_directions(setup: Setup, table: BudgetTable, names: words.Names) -> None:
    """Every number, sortable, and what the directions are made of."""
    order = np.sort(np.argsort(-table.theta, kind="stable")[:ROWS])
    columns = {"theta": table.theta, f"precision {table.precision_is}": table.precision, "variance v": table.variance,
               "typical error": table.std, "typical error, equal noise": table.iid_std, "factor": table.factor}
    if table.signal is not None and table.signal_to_noise is not None:
        columns |= {"signal (not private)": table.signal, "signal / noise (not private)": table.signal_to_noise}
    show_table({"direction": [spreadsheet_cell(names(int(k))) for k in order]}
               | {name: column[order] for name, column in columns.items()}, numbers=columns, key="budget_table",
               height="auto" if len(order) <= 9 else 360)
    both = " With noise on both sides it is that of the answer's entry (k, k), which is v." if (
        setup.design.mode == "both") else ""
    part = f" The {ROWS:,} largest shares of {table.size:,}; the file has all." if table.size > ROWS else ""
    st.caption(f"Theta divides the sum of {table.precision_is} under this guarantee (1/v² under a theorem, 1/v under "
               f"the exact limit), so look at the typical errors (standard deviations) beside it.{both}{part}")
    offer_file("All numbers as CSV", "precision_budget.csv", "text/csv", key="budget_csv", content=lambda: table_csv(
        table, [names(k) for k in range(table.size)], care=noise_care(setup)))
    st.caption("What was measured on the data is not in the file.")
    left, right = st.columns(2, gap="large")
    with left:
        draw_signal(setup, table)
    with right:
        draw_loadings(setup)


setup = open_page(BUDGET)
table, names = budget_table(setup, session.moments(setup)), words.Names(setup)
st.markdown(words.promise(setup))
left, right = st.columns(2, gap="large")
with left:
    chart(words.noise_picture(setup, table), key="budget_noise")
with right:
    chart(words.split_picture(setup, table), key="budget_split")
draw_open_tab({"Needed and rest": draw_trade_off, "Direction by direction": draw_directions,
               "What gets through": draw_pnr, "From noise to epsilon": draw_inverse}, setup, table, names,
              key="budget_tab")
