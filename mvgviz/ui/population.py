"""Who the records are about: asked wherever something is released into a ledger that lasts."""

from collections.abc import Callable

import streamlit as st

from mvgviz.errors import InputError
from mvgviz.pictures.release import JOIN_HELP, POPULATION_HELP
from mvgviz.release.entries import tidy
from mvgviz.text import in_markdown
from mvgviz.ui.session_releases import session_releases


def draw_population(data: str) -> bool:
    """Have the population named; whether it is. A ledger in memory needs none."""
    desk = session_releases()
    if not desk.ledger.lasts:
        return True
    population = desk.population(data)
    if population is None or not desk.is_entered(data):
        choose_population("Who are the records about?", f"population_{data}", population,
                          lambda name: desk.name(data, name))
        return population is not None
    also = sorted(desk.ledger.same_people(population) - {population})
    names = " and ".join(f"**{in_markdown(name)}**" for name in (population, *also))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f":material/group: Counts for {names}.")
        _draw_join(population)
    return True


def choose_population(label: str, key: str, current: str | None, take: Callable[[str | None], object]) -> None:
    """A field that offers the populations there are and takes a new one."""
    desk = session_releases()
    st.session_state[key] = current

    def change() -> None:
        name = st.session_state[key]
        _refusing(lambda: take(tidy(name) if name else None))

    st.selectbox(label, list(dict.fromkeys([*([current] if current else []), *desk.ledger.populations])), index=None,
                 key=key, accept_new_options=True, placeholder="A name, such as: patients of 2024", on_change=change,
                 help=POPULATION_HELP)


def _draw_join(population: str) -> None:
    """Two names for the same people, found out too late."""
    ledger = session_releases().ledger
    others = [name for name in ledger.populations if name not in ledger.same_people(population)]
    if others:
        with st.popover("They have another name", type="tertiary", icon=":material/group_add:"):
            other = st.selectbox("Also called", others, key="population_other")
            st.button("Count them together", key="population_join", help=JOIN_HELP,
                      on_click=_refusing, args=(lambda: ledger.join(population, other),))


def _refusing(change: Callable[[], object]) -> None:
    """Make a change; a refusal is kept as a sentence."""
    desk = session_releases()
    try:
        change()
    except InputError as error:
        desk.refusal = error
