"""The tab "Choice of directions" of the page Utility: sets that a person names, held against each other."""

from __future__ import annotations

import streamlit as st

from mvgviz.errors import InputError
from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, IID
from mvgviz.figures.utility.sets import SetNumbers, SetRow, plot_sets, set_numbers
from mvgviz.figures.utility.sweep import error_curve, plot_sweep, sweep_numbers
from mvgviz.provenance import Origin
from mvgviz.scenario.resolve import Setup
from mvgviz.text import in_markdown
from mvgviz.trials.favoured_sets import (
    MOST_SETS,
    Favoured,
    coarse_first,
    epsilon_grid,
    set_change,
    starting_sets,
    with_set,
)
from mvgviz.trials.run import Outcome, Results
from mvgviz.ui import session
from mvgviz.ui.frame import chart
from mvgviz.ui.utility.work import Pending, Point, begin_tab, complete, gather
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
    one = setup.scenario
    grid = epsilon_grid(one.epsilon)
    order = coarse_first(grid, one.epsilon)
    points = [Point({"epsilon": epsilon} | change, mechanisms) for epsilon in order
              for change, mechanisms in [*((set_change(one, favoured), ("mvg",)) for favoured in sets), ({}, ("iid",))]]
    work = begin_tab(setup, "sets", points, sets)
    found = gather(setup, work, points)
    slot = st.container()
    _draw_set_charts(setup, names, sets, grid, [one for one in found if one is not None])
    return Pending(work, complete(found), slot)


def _draw_set_charts(setup: Setup, names: SetNames, sets: list[Favoured], grid: list[float],
                     found: list[Results]) -> None:
    one = setup.scenario
    here = [results for results in found if results.scenario.epsilon == one.epsilon]
    if not here:
        return
    choices: list[Favoured | None] = [*sets, None]
    styles = {choice: _style(one.favoured if one.allocation in ("binary", "least-error") else None, choice, place)
              for place, choice in enumerate(choices)}
    rows = [SetRow(choice=choice, outcome=outcome, colour=styles[choice][0], symbol=styles[choice][1])
            for choice in choices if (outcome := _outcome(here, choice)) is not None]
    numbers = set_numbers(rows, here[0].references)
    left, right = st.columns(2, gap="large")
    with left:
        labels = [short_label(names(row.choice)) for row in numbers.rows]
        chart(plot_sets(numbers, names=labels, title=here[0].task.metric), best_set_words(names, numbers),
              key="utility_sets",
              about="Each set gets the scenario's share of the precision budget, the rest of the directions the "
                    "remainder; everything else stays. Blue: the scenario's own set. Orange: noise of one size. The "
                    "paper's Figure 4 asks the same of its three experiments.")
        _draw_take_over(setup, names, numbers)
    with right:
        curves = []
        for choice in choices:
            colour, symbol = styles[choice]
            outcomes = [(epsilon, outcome) for epsilon in grid if (outcome := _outcome(
                [results for results in found if results.scenario.epsilon == epsilon], choice)) is not None]
            curves.append(error_curve(outcomes, name=short_label(names(choice)), colour=colour,
                                      symbol=symbol, band=colour != DATA))
        drawn = sweep_numbers(curves, here[0].references, own=one.epsilon, span=(grid[0], grid[-1]))
        chart(plot_sweep(drawn, title=here[0].task.metric, legend=False), sets_words(curves, own=one.epsilon),
              key="utility_set_sweep",
              about="The same sets at other budgets; sets and lines look the same in both charts.")


def _style(own: Favoured | None, choice: Favoured | None, place: int) -> tuple[str, str]:
    """Colour and mark: blue for the scenario's own set, orange for noise of one size, grey for others."""
    if choice is None:
        return IID, "circle"
    return DIRECTIONAL if choice == own else DATA, _SYMBOLS[place % len(_SYMBOLS)]


def _outcome(found: list[Results], choice: Favoured | None) -> Outcome | None:
    for results in found:
        keys = [outcome.mechanism.key for outcome in results.outcomes]
        if (choice is None and keys == ["iid"]) or (keys == ["mvg"] and results.scenario.favoured == choice):
            return results.outcomes[0]
    return None


def _draw_take_over(setup: Setup, names: SetNames, numbers: SetNumbers) -> None:
    one = setup.scenario
    best = numbers.rows[0].choice if numbers.rows else None
    if best is None:
        st.caption("No set of these beats noise of one size here.")
        return
    change = set_change(one, best)
    if one.changed(**change) != one:
        st.button(f"Take over the best set: {in_markdown(names(best))}", key="utility_take",
                  icon=":material/check:", on_click=session.choose, args=(Origin.READ,), kwargs=change)
        st.caption("Chosen by looking at private data: that choice is itself **not private**, and stays marked as such "
                   "until you change it or state it as your own.")


def _draw_chooser(setup: Setup, names: SetNames, size: int) -> list[Favoured]:
    """The sets compared: the person's own, kept while data and directions stay."""
    one = setup.scenario
    key = f"_utility_sets {session.data_version()} {one.query} {setup.design.mode} {one.directions} {size}"
    own = one.favoured if one.allocation in ("binary", "least-error") else ()
    if key not in st.session_state:
        st.session_state[key] = starting_sets(own, size)
    sets: list[Favoured] = st.session_state[key]
    usable = tuple(k for k in own if k < size)
    if 0 < len(usable) < size and usable not in sets and st.session_state.get(f"{key} own") != usable:
        sets = st.session_state[key] = [usable, *sets[: MOST_SETS - 1]]
    st.session_state[f"{key} own"] = usable
    compared, new, add = st.columns([3, 2, 1], vertical_alignment="bottom", gap="medium")
    with compared:
        st.session_state["utility_compared"] = sets
        st.multiselect("Sets compared, besides noise of one size", sets, key="utility_compared",
                       format_func=lambda choice: _told_apart(names, sets, choice),
                       on_change=lambda: st.session_state.update({key: list(st.session_state["utility_compared"])}))
    with new:
        chosen = st.multiselect("A new set", range(min(size, _LISTED)), key=f"utility_new {size}",
                                format_func=names.name)
    with add:
        st.button("Add this set", key="utility_add", icon=":material/add:", on_click=_add, args=(key, size),
                  disabled=not chosen)
    refused = st.session_state.pop("_utility_refused", None)
    if refused:
        st.info(in_markdown(refused), icon=":material/block:")
    if one.allocation not in ("binary", "least-error"):
        st.caption(f"Here each set gets {one.share:.0%} of the precision budget; the scenario divides it another way.")
    return sets


def _told_apart(names: SetNames, sets: list[Favoured], choice: Favoured) -> str:
    """A name that no other set has."""
    twins = [other for other in sets if names(other) == names(choice)]
    return names(choice) if len(twins) < 2 else f"{names(choice)} ({twins.index(choice) + 1})"


def _add(key: str, size: int) -> None:
    try:
        st.session_state[key] = with_set(st.session_state[key], st.session_state[f"utility_new {size}"], size)
        st.session_state[f"utility_new {size}"] = []
    except InputError as error:
        text = str(error)
        st.session_state["_utility_refused"] = f"{text[:1].upper()}{text[1:]}."
