"""The tab "Choice of directions" of the page Utility: sets that a person names, held against each other."""

from itertools import cycle

import streamlit as st

from mvgviz.errors import InputError
from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, IID
from mvgviz.figures.utility.errors import SetRow, error_curve, plot_sets, plot_sweep, ranked_sets
from mvgviz.provenance import Origin
from mvgviz.scenario.resolve import Setup
from mvgviz.text import capitalised, in_markdown
from mvgviz.trials import favoured_sets
from mvgviz.trials.favoured_sets import Favoured, set_change
from mvgviz.trials.outcomes import Outcome, Results
from mvgviz.trials.resumable import Point, coarse_first
from mvgviz.ui import session
from mvgviz.ui.frame import chart
from mvgviz.ui.slices import problem
from mvgviz.ui.utility.panels import Pending, work_in_tab
from mvgviz.words.budget import Names, short_label
from mvgviz.words.utility import SetNames, best_set_words, sets_words

_LISTED = 2_000
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star", "hexagon", "triangle-down", "pentagon")


def draw_sets(setup: Setup) -> Pending | None:
    """Which directions to favour: each set at the scenario's epsilon, and over all epsilons."""
    size = setup.design.theta.size
    names = SetNames(Names(setup), size)
    if size < 2:
        st.info("With one direction there is nothing to choose.", icon=":material/block:")
        return None
    sets = _draw_chooser(setup, names, size)
    posed, scenario = problem(setup), setup.scenario
    grid = favoured_sets.epsilon_grid(scenario.epsilon)
    tried = [*((scenario.changed(**set_change(scenario, favoured)), "mvg") for favoured in sets), (scenario, "iid")]
    known, pending = work_in_tab(setup, "sets", [
        Point(posed.with_scenario(changed.changed(epsilon=epsilon)), (key,))
        for epsilon in coarse_first(grid, scenario.epsilon) for changed, key in tried], sets)
    _draw_set_charts(setup, names, sets, grid, known)
    return pending


def _draw_set_charts(setup: Setup, names: SetNames, sets: list[Favoured], grid: list[float],
                     found: list[Results]) -> None:
    scenario = setup.scenario
    here = [results for results in found if results.scenario.epsilon == scenario.epsilon]
    if not here:
        return
    choices: list[Favoured | None] = [*sets, None]
    own = scenario.favoured if scenario.allocation in ("binary", "least-error") else None
    styles = {choice: (DIRECTIONAL if choice == own else DATA, symbol)
              for choice, symbol in zip(sets, cycle(_SYMBOLS), strict=False)} | {None: (IID, "circle")}
    rows = ranked_sets(SetRow(choice=choice, outcome=outcome, colour=styles[choice][0], symbol=styles[choice][1])
                       for choice in choices if (outcome := _outcome(here, choice)) is not None)
    left, right = st.columns(2, gap="large")
    with left:
        labels = [short_label(names(row.choice)) for row in rows]
        chart(plot_sets(rows, here[0].references, names=labels, title=here[0].metric),
              best_set_words(names, rows), key="utility_sets")
        _draw_take_over(setup, names, rows)
    with right:
        curves = []
        for choice in choices:
            colour, symbol = styles[choice]
            outcomes = [(epsilon, outcome) for epsilon in grid if (outcome := _outcome(
                [results for results in found if results.scenario.epsilon == epsilon], choice)) is not None]
            curves.append(error_curve(outcomes, name=short_label(names(choice)), colour=colour, symbol=symbol,
                                      band=colour != DATA))
        chart(plot_sweep(curves, here[0].references, own=scenario.epsilon, span=(grid[0], grid[-1]),
                         title=here[0].metric, legend=False), sets_words(curves, own=scenario.epsilon),
              key="utility_set_sweep")


def _outcome(found: list[Results], choice: Favoured | None) -> Outcome | None:
    for results in found:
        keys = [outcome.mechanism.key for outcome in results.outcomes]
        if (choice is None and keys == ["iid"]) or (keys == ["mvg"] and results.scenario.favoured == choice):
            return results.outcomes[0]
    return None


def _draw_take_over(setup: Setup, names: SetNames, rows: list[SetRow]) -> None:
    scenario = setup.scenario
    best = rows[0].choice if rows else None
    if best is None:
        st.caption("No set of these beats equal noise here.")
        return
    change = set_change(scenario, best)
    if scenario.changed(**change) != scenario:
        st.button(f"Take over the best set: {in_markdown(names(best))}", key="utility_take",
                  icon=":material/check:", on_click=session.choose, args=(Origin.READ,), kwargs=change)
        st.caption("Chosen by looking at private data: that choice is itself **not private**, and stays marked as such "
                   "until you change it or state it as your own.")


def _draw_chooser(setup: Setup, names: SetNames, size: int) -> list[Favoured]:
    """The sets compared: the person's own, kept while data and directions stay."""
    scenario = setup.scenario
    key = f"_utility_sets {session.data_version()} {scenario.query} {setup.design.mode} {scenario.directions} {size}"
    own = scenario.favoured if scenario.allocation in ("binary", "least-error") else ()
    if key not in st.session_state:
        st.session_state[key] = favoured_sets.starting_sets(own, size)
    sets: list[Favoured] = st.session_state[key]
    usable = tuple(k for k in own if k < size)
    if 0 < len(usable) < size and usable not in sets and st.session_state.get(f"{key} own") != usable:
        sets = st.session_state[key] = [usable, *sets[: favoured_sets.MOST_SETS - 1]]
    st.session_state[f"{key} own"] = usable
    compared, new, add = st.columns([3, 2, 1], vertical_alignment="bottom", gap="medium")
    with compared:
        st.session_state["utility_compared"] = sets
        st.multiselect("Sets compared, besides equal noise", sets, key="utility_compared",
                       format_func=lambda choice: _told_apart(names, sets, choice),
                       on_change=lambda: st.session_state.update({key: list(st.session_state["utility_compared"])}))
    with new:
        chosen = st.multiselect("A new set", range(min(size, _LISTED)), key=f"utility_new {size}",
                                format_func=names.name)
    add.button("Add this set", key="utility_add", icon=":material/add:", on_click=_add, args=(key, size),
               disabled=not chosen)
    refused = st.session_state.pop("_utility_refused", None)
    if refused:
        st.info(in_markdown(refused), icon=":material/block:")
    if scenario.allocation not in ("binary", "least-error"):
        st.caption(f"Here each set gets {scenario.share:.0%} of the precision budget; the scenario divides it another "
                   "way.")
    return sets


def _told_apart(names: SetNames, sets: list[Favoured], choice: Favoured) -> str:
    """A name that no other set has."""
    twins = [other for other in sets if names(other) == names(choice)]
    return names(choice) if len(twins) < 2 else f"{names(choice)} ({twins.index(choice) + 1})"


def _add(key: str, size: int) -> None:
    state, new = st.session_state, f"utility_new {size}"
    try:
        state[key] = favoured_sets.with_set(state[key], state[new], size)
        state[new] = []
    except InputError as error:
        state["_utility_refused"] = f"{capitalised(str(error))}."
