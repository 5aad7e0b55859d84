"""What the pages that release share: who the records are about, what has to be ticked, the button."""

from collections.abc import Callable

import streamlit as st

from mvgviz.errors import InputError
from mvgviz.pictures.release import ACCEPT, JOIN_HELP, POPULATION_HELP
from mvgviz.release.entries import tidy
from mvgviz.release.ledger import CAVEATS
from mvgviz.release.release import Plan
from mvgviz.text import in_markdown, listed
from mvgviz.ui.frame import show_error
from mvgviz.ui.release_desk import Desk, release_desk


def draw_population(data: str) -> bool:
    """Have the population named; whether it is. A ledger in memory needs none."""
    desk = release_desk()
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
        _draw_join(desk, population)
    return True


def choose_population(label: str, key: str, current: str | None, take: Callable[[str | None], object]) -> None:
    """A field that offers the populations there are and takes a new one."""
    desk = release_desk()
    st.session_state[key] = current

    def change() -> None:
        name = st.session_state[key]
        with desk.refusing():
            take(tidy(name) if name else None)

    st.selectbox(label, list(dict.fromkeys([*([current] if current else []), *desk.ledger.populations])), index=None,
                 key=key, accept_new_options=True, placeholder="A name, such as: patients of 2024", on_change=change,
                 help=POPULATION_HELP)


def _draw_join(desk: Desk, population: str) -> None:
    """Two names for the same people, found out too late."""
    others = [name for name in desk.ledger.populations if name not in desk.ledger.same_people(population)]
    if not others:
        return

    def join() -> None:
        with desk.refusing():
            desk.ledger.join(population, other)

    with st.popover("They have another name", type="tertiary", icon=":material/group_add:"):
        other = st.selectbox("Also called", others, key="population_other")
        st.button("Count them together", key="population_join", help=JOIN_HELP, on_click=join)


def draw_accepts(planned: Plan, *, key: str, now: str) -> tuple[str, ...]:
    """A box for each thing that is not private; those that are ticked."""
    return tuple(caveat for caveat in planned.caveats
                 if st.checkbox(ACCEPT[caveat], key=f"{key}_accept_{caveat}_{now}"))


def draw_go(label: str, release: Callable[..., None], *given: object, key: str, now: str, planned: Plan,
            accepted: tuple[str, ...], spends: str, refused: InputError | None, named: bool) -> bool | None:
    """The last box and the button; whether the box is ticked, None where something else is missing, which is said.

    ``release`` gets what is ``given`` and a spot to draw on; ``named``: whether it is known who the records are about.
    """
    missing = [CAVEATS[caveat] for caveat in planned.caveats if caveat not in accepted]
    sure = st.checkbox(f"I understand that this spends **{spends}**, once and for good.", key=f"{key}_sure_{now}",
                       disabled=refused is not None)
    st.button(label, key=f"{key}_go", type="primary", icon=":material/outbox:", on_click=release, width="stretch",
              args=(*given, st.empty()), disabled=refused is not None or bool(missing) or not sure or not named)
    if refused is not None:
        show_error(refused)
    elif not named:
        st.caption("Not before you say who the records are about.")
    elif missing:
        st.caption(f"Not before you accept: {listed(missing)}.")
    else:
        return sure
    return None
