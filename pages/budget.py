"""Precision budget: theta, noise and signal by direction, what each split lets through, and epsilon from noise."""

import math

import numpy as np
import streamlit as st

from mvgviz.design.allocation import WaterFilling
from mvgviz.labels import FORMS, GUARANTEES, SPLITS
from mvgviz.pictures import budget as words
from mvgviz.pictures.sentences import noise_care
from mvgviz.scenario import precision_budget as budget
from mvgviz.scenario.precision_budget import BudgetTable
from mvgviz.scenario.resolve import Setup, fill
from mvgviz.scenario.trade_off import trade_off_refusal
from mvgviz.text import in_markdown, spreadsheet_cell
from mvgviz.ui import session
from mvgviz.ui.cache import cached
from mvgviz.ui.frame import chart, draw_charts, draw_open_tab, offer_file, open_page, show_table
from mvgviz.ui.frontier import draw_frontier
from mvgviz.ui.menu import BUDGET, INFORMATION
from mvgviz.validation import FloatArray

_ASKED, _ROWS = 8, 1_000
_scores = cached(40, session.here, key=lambda setup, *_: (setup,))(budget.compare_splits)


@cached(40, session.here, key=lambda setup, moments, guarantee, form: (setup, guarantee, form))
def _filled(setup: Setup, moments: FloatArray, guarantee: str, form: str) -> tuple[WaterFilling, FloatArray | None]:
    """Return the water filling and, for the exact form, its prices h²."""
    equal = budget.equal_design(setup, guarantee)
    return fill(equal, setup.query, moments, form), equal.reach**2 if form == "exact" else None


def draw_trade_off(setup: Setup, *_: object) -> None:
    if refusal := trade_off_refusal(setup):
        st.info(refusal)
    else:
        draw_frontier(setup, key="budget_trade_off")


def draw_pnr(setup: Setup, table: BudgetTable, _: words.Names) -> None:
    refusal, moments = budget.pnr_refusal(setup), session.moments(setup)
    if refusal is not None or moments is None or not moments.any():
        st.info(f"Nothing to compare: {refusal or 'every value is 0, so there is no signal'}.",
                icon=":material/water_drop:")
        return
    if table.size > 400 and not st.toggle(f"Compare the splits of {table.size} directions (takes a while)",
                                            key="budget_compare"):
        return
    splits, water = st.columns(2, gap="large")
    with water:  # one filling: it is there long before the scores of all
        _draw_water(setup, moments)
    scores = _scores(setup, moments, lambda *of: _filled(setup, moments, *of)[0])
    with splits:
        if "binary" not in {score.split for score in scores} and setup.design.theta.size > 1:
            st.caption("Choose priority columns in the sidebar to compare two more splits.")
        own = setup.scenario.guarantee
        other = next(score.guarantee for score in scores if score.guarantee != own)
        both = st.toggle(f"Compare with: {GUARANTEES[other].in_chart}", key="budget_both")
        shown = scores if both else [score for score in scores if score.guarantee == own]
        chart(words.pnr_picture(setup, shown).adding(session.computed_on()), key="budget_pnr")
    known = {(score.guarantee, score.split): score for score in scores}
    rows = [{"split": SPLITS[split]} | {
        f"{what}, {GUARANTEES[guarantee].in_chart}": getattr(known.get((guarantee, split)), field, None)
        for guarantee in dict.fromkeys(score.guarantee for score in scores)
        for what, field in (("information that survives (log PNR)", "log_pnr"),
                            ("information (nats)", "mutual_information"))}
        for split in dict.fromkeys(score.split for score in scores)]
    show_table(rows, numbers=list(rows[0])[1:], key="budget_pnr_table")
    st.page_link(INFORMATION.path, icon=INFORMATION.icon,
                 label="For a normal answer, the highest PNR gives the most information: see Information")


def _draw_water(setup: Setup, moments: FloatArray) -> None:
    own = "exact" if setup.scenario.guarantee == "exact" else setup.scenario.form
    form = st.segmented_control("Form of the paper's best split (max-PNR)", list(FORMS),
                                format_func=lambda form: FORMS[form][1], default=own, key=f"budget_form_{own}",
                                required=True)
    guarantee = "exact" if form == "exact" else budget.printed_guarantee(setup)
    filled, prices = _filled(setup, moments, guarantee, form)
    water = words.water_picture(setup, filled, prices=prices, form=form, guarantee=guarantee)
    chart(water.adding(session.computed_on()), key="budget_water")


def draw_inverse(setup: Setup, table: BudgetTable, names: words.Names) -> None:
    if refusal := budget.inverse_refusal(setup):
        st.info(f"Epsilon cannot be found from noise here: {refusal}.", icon=":material/undo:")
        return
    scenario, version = setup.scenario, session.data_version().replace(" ", "_")
    context = f"{version}_{scenario.query}_{scenario.scale}_{scenario.directions}_{table.size}"
    priorities = [k for k in scenario.priority_directions if k < table.size][:_ASKED] or [0]
    asking, answer = st.columns(2, gap="large")
    with asking:
        chosen = st.multiselect("Directions to set", range(min(table.size, 2_000)), default=priorities,
                                format_func=names, key=f"budget_asked_{context}", max_selections=_ASKED)
        targets = {k: _wanted_std(f"{context}_{k}", names(k), float(table.std[k] * table.own[k]), table.units[k]
                                  ) / float(table.own[k]) for k in chosen}
    with answer:
        if targets:
            _draw_answer(setup, targets)
        else:
            st.info("Choose at least one direction.")


def _wanted_std(key: str, name: str, now: float, unit: str) -> float:
    """Draw a number that starts at the design's noise and then stays what the person set."""
    first: float = st.session_state.setdefault(f"budget_first_{key}", float(f"{now:.3g}"))
    label = in_markdown(f"{name}, in {unit}" if unit else name)
    return st.number_input(f"Wanted typical error along {label}", min_value=1e-60, max_value=1e60,
                           value=first, step=10.0 ** (math.floor(math.log10(first)) - 1), format="%.6g",
                           key=f"budget_want_{key}")


def _draw_answer(setup: Setup, targets: dict[int, float]) -> None:
    found = budget.wanted_noise(setup, targets)
    st.markdown(words.smallest_words(setup, found, len(targets)))
    if found.priority < budget.LEAST_EPSILON or not found.reachable:
        st.caption(f"The app allows ε from {budget.LEAST_EPSILON:g} to {budget.MOST_EPSILON:g}.")
    with_split = setup.design.theta.size <= 50 and found.reachable  # more would not fit a link
    changes: dict[str, object] = {"epsilon": found.epsilon, "guarantee": "exact"}
    if with_split:
        changes |= {"allocation": "manual", "weights": found.weights}
    st.button(f"Use ε = {found.epsilon:g}", key="budget_take", type="primary", icon=":material/check:",
              on_click=session.take_over, args=(setup,), kwargs=changes)
    session.draw_back_to_mine()
    st.caption("Sets ε, the exact guarantee and the shares that give this noise." if with_split
               else "Sets ε and the exact guarantee. The split stays, so the noise will differ.")
    if setup.scenario.directions == "private":
        st.caption("Another ε draws other directions, so the noise will be close to what you asked, not equal.")


def draw_directions(setup: Setup, table: BudgetTable, names: words.Names) -> None:
    order = np.sort(np.argsort(-table.theta, kind="stable")[:_ROWS])
    columns = {"theta": table.theta, f"precision {table.precision_is}": table.precision, "variance v": table.variance,
               "typical error": table.std * table.own,
               "typical error, equal noise": table.iid_std * table.own, "factor": table.factor}
    if table.signal is not None and table.signal_to_noise is not None:
        columns |= {"signal (not private)": table.signal * table.own,
                    "signal / noise (not private)": table.signal_to_noise}
    show_table({"direction": [spreadsheet_cell(names(int(k))) for k in order],
                "unit": [spreadsheet_cell(table.units[k]) for k in order]}
               | {name: column[order] for name, column in columns.items()}, numbers=columns, key="budget_table",
               height="auto" if len(order) <= 9 else 360)
    divided = "ε" if setup.design.is_pure else f"the sum of {table.precision_is}"
    st.caption(f"Theta divides {divided}. The table has at most {_ROWS:,} directions; the file has all, without the "
               "columns that are not private.")
    offer_file("All numbers as CSV", "precision_budget.csv", "text/csv", key="budget_csv", content=lambda:
               budget.table_csv(table, [names(k) for k in range(table.size)], care=noise_care(setup)))
    left, right = st.columns(2, gap="large")
    with left:
        if (picture := words.signal_picture(setup, table)) is not None:
            chart(picture.adding(session.computed_on()), key="budget_signal")
    with right:
        if not setup.design.directional_side.directions.is_standard:
            care = "" if setup.origins["directions"].is_covered else session.computed_on()
            chart(words.loadings_picture(setup).adding(care), key="budget_loadings")


setup = open_page(BUDGET)
table, names = budget.budget_table(setup, session.moments(setup)), words.Names(setup)
st.markdown(words.promise(setup))
draw_charts({"budget_noise": words.noise_picture(setup, table), "budget_split": words.split_picture(setup, table)})
draw_open_tab({"Priority and other": draw_trade_off, "Direction by direction": draw_directions,
               "What gets through": draw_pnr, "From noise to epsilon": draw_inverse}, setup, table, names,
              key="budget_tab")
