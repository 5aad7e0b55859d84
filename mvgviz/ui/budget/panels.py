"""Parts of the page Precision budget: loadings, what each split lets through, and the inverse question."""

import math

import streamlit as st

from mvgviz.design.allocation import WaterFilling
from mvgviz.errors import InputError
from mvgviz.figures.budget.splits import (
    PnrNumbers,
    plot_pnr,
    plot_survives,
    plot_water,
    pnr_numbers,
    water_numbers,
)
from mvgviz.figures.shared.matrix_map import plot_matrix, top_left
from mvgviz.labels import FORMS, GUARANTEES, SPLITS
from mvgviz.noise.directions import standard_basis
from mvgviz.provenance import weakest
from mvgviz.scenario.names import names_of_directions
from mvgviz.scenario.precision_budget import LEAST_EPSILON, MOST_EPSILON, BudgetTable, inverse_refusal, wanted_noise
from mvgviz.scenario.resolve import Setup
from mvgviz.scenario.splits import compare_splits, equal_design, fill, pnr_refusal, printed_guarantee
from mvgviz.scenario.trade_off import trade_off_refusal
from mvgviz.text import in_markdown
from mvgviz.ui import session
from mvgviz.ui.budget.frontier import draw_frontier
from mvgviz.ui.frame import chart, show_error, show_table
from mvgviz.validation import FloatArray
from mvgviz.words import budget as words
from mvgviz.words.budget import NOT_PRIVATE, Names

_MANY, _SPLIT_IN_LINK, _ASKED = 400, 50, 8
_UNITS = {"exact": "height (part of μ²)", "relaxed": "height (inverse variance)", "unrelaxed": "inverse noise variance"}
_WEIGHED = "inverse noise variance × reach²"
_SURVIVES = "information that survives (log PNR)"
_scores = session.remembered(40)(compare_splits)


@session.remembered(40)
def _filled(setup: Setup, moments: FloatArray, guarantee: str, form: str) -> tuple[WaterFilling, FloatArray | None]:
    """The water filling and, for the exact form, its prices h²."""
    equal = equal_design(setup, guarantee)
    return fill(equal, setup.query, moments, form), equal.reach**2 if form == "exact" else None


def draw_trade_off(setup: Setup, table: BudgetTable, names: Names) -> None:
    """Noise on the needed against noise on the rest: what every other split would give."""
    refusal = trade_off_refusal(setup)
    if refusal is not None:
        st.info(refusal)
    else:
        draw_frontier(setup, key="budget_trade_off")


def draw_loadings(setup: Setup, table: BudgetTable) -> None:
    """Which features each direction is made of, when the directions are not the features themselves."""
    directions = setup.design.directional_side.directions
    if directions.is_standard:
        return
    features = names_of_directions(setup.query, setup.design.mode, standard_basis(table.size))
    drawn = top_left(directions.matrix)
    rows, cols = drawn.shape
    part = f" The first {rows} × {cols} loadings are drawn." if drawn.size < directions.matrix.size else ""
    care = f" {NOT_PRIVATE}" if not setup.origins["directions"].is_covered else ""
    chart(plot_matrix(drawn, row_labels=[words.short_label(name) for name in features[:rows]], row_title="feature",
                      col_labels=[str(k + 1) for k in range(cols)], col_title="direction", value_title="loading"),
          f"{words.loading_words(setup, directions.matrix, features)}{part}{care}", key="budget_loadings")


def draw_pnr(setup: Setup, table: BudgetTable, names: Names) -> None:
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
    try:
        numbers = pnr_numbers(_scores(setup, moments))
        with splits:
            _draw_scores(setup, numbers)
        with water:
            _draw_water(setup, moments, names)
        _draw_score_table(numbers)
    except InputError as error:
        show_error(error)


def _draw_scores(setup: Setup, numbers: PnrNumbers) -> None:
    if "binary" not in numbers.splits and setup.design.theta.size > 1:
        st.caption("Choose in the sidebar which directions matter, to see a share for some and least error here too.")
    own = setup.scenario.guarantee
    other = next(guarantee for guarantee in numbers.scores if guarantee != own)
    both = st.toggle(f"Beside it: {GUARANTEES[other].in_chart}", key="budget_both")
    shown = numbers if both else numbers.under(own)
    chart((plot_pnr if both else plot_survives)(shown, names=SPLITS),
          f"{words.what_gets_through(shown)} {NOT_PRIVATE}", key="budget_pnr",
          about="PNR, the power-to-noise ratio: how much the answer stands out from the noise, over all directions at "
                "once. Half its logarithm is the mutual information between true and noisy answer **for Gaussian "
                "answers only**. Each form of the paper's best split (max-PNR) solves the constraint of its own "
                "guarantee. Relaxed (the paper's) and unrelaxed take a theorem's, and maximise the ratio of a table "
                f"along its eigenvectors: elsewhere another split may come out ahead. {words.exact_words(setup)}")


def _draw_score_table(numbers: PnrNumbers) -> None:
    rows = [{"split": SPLITS[split]} | {
        f"{what}, {GUARANTEES[guarantee].in_chart}": getattr(by_split[split], field) if split in by_split else None
        for guarantee, by_split in numbers.scores.items()
        for what, field in ((_SURVIVES, "log_pnr"), ("information (nats)", "mutual_information"))}
        for split in numbers.splits]
    show_table(rows, numbers=list(rows[0])[1:], key="budget_pnr_table")


def _draw_water(setup: Setup, moments: FloatArray, names: Names) -> None:
    own = "exact" if setup.scenario.guarantee == "exact" else setup.scenario.form
    form = st.segmented_control("Form of the paper's best split (max-PNR)", list(FORMS),
                                format_func=lambda form: FORMS[form][1], default=own, key=f"budget_form_{own}",
                                required=True)
    guarantee = "exact" if form == "exact" else printed_guarantee(setup)
    filled, prices = _filled(setup, moments, guarantee, form)
    numbers = water_numbers(filled, prices=prices)
    chart(plot_water(numbers, names=names.labels(numbers.shown),
                     unit=_WEIGHED if form == "exact" and filled.level is None else _UNITS[form]),
          words.water_words(setup, names, numbers, filled), key="budget_water",
          about="The paper's best split (max-PNR) pours the budget like water over uneven ground. A direction's ground "
                "is high where the data's second moment along it is small (exact form: where the other directions, "
                "noise and all, already tell most of it). Under water, every direction reaches the same level; what "
                "stands above stays dry; ground that leaves the picture is cut. Guarantee: "
                f"{GUARANTEES[guarantee].in_chart}.")


def draw_inverse(setup: Setup, table: BudgetTable, names: Names) -> None:
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
              on_click=session.choose, args=(weakest(setup.looked_at.values()),), kwargs=changes)
    st.caption("Sets ε, the exact guarantee and the split by hand that gives this noise." if with_split
               else "Sets ε and the exact guarantee; the split stays as it is, so the noise will differ.")
    if setup.scenario.directions == "private":
        st.caption("ε includes the share spent on the directions. They are drawn anew for another ε, so the noise "
                   "comes out about as wanted, not exactly.")
