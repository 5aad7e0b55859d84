"""Release a plan, all of it or one question after another: what has to be ticked, then the click."""

from collections.abc import Sequence

import streamlit as st

from mvgviz.errors import InputError
from mvgviz.release.ledger import CAVEATS
from mvgviz.release.release_plan import plan_together
from mvgviz.scenario.resolve import Setup
from mvgviz.text import listed
from mvgviz.ui.frame import show_error
from mvgviz.ui.menu import RELEASE
from mvgviz.ui.population import draw_population
from mvgviz.ui.session_plan import HeldPlan, plan_ticket, release_questions
from mvgviz.ui.session_releases import session_releases
from mvgviz.words import plan as words
from mvgviz.words.release import ACCEPT

_ALL = -1


def draw_plan_release(held: HeldPlan, setups: Sequence[Setup], names: Sequence[str]) -> None:
    """Which questions, what they spend, what has to be accepted, the button."""
    st.markdown("#### Release")
    if held.waiting:
        try:
            _draw_waiting(held, setups, names)
        except InputError as error:  # of the ledger
            show_error(error)
    desk = session_releases()
    if desk.refusal is not None:
        show_error(desk.refusal)
        desk.refusal = None
    if held.released:
        st.caption(f":material/check: {words.released_words([names[k] for k in sorted(held.released)])}")
        st.page_link(RELEASE.path, label="The noisy answers and the ledger", icon=RELEASE.icon)


def _draw_waiting(held: HeldPlan, setups: Sequence[Setup], names: Sequence[str]) -> None:
    options = [_ALL, *held.waiting] if len(held.waiting) > 1 else list(held.waiting)
    all_words = f"{'All that is left' if held.released else 'The whole plan'}, {len(held.waiting)} answers at once"
    one = st.selectbox("What to release now", options, key=f"plan_which_{len(held.plan)}_{len(held.released)}",
                       format_func=lambda k: all_words if k == _ALL else names[k])
    chosen = held.waiting if one == _ALL else (one,)
    planned, n_records = plan_together([setups[k] for k in chosen]), setups[0].dataset.n_records
    desk, now = session_releases(), plan_ticket(held, chosen)
    named = draw_population(held.plan.data)
    so_far = desk.total(held.plan.data, delta=planned.delta)
    st.caption(words.ledger_words(so_far, planned, questions=len(chosen), lasts=desk.ledger.lasts))
    accepted = tuple(caveat for caveat in planned.caveats
                     if st.checkbox(ACCEPT[caveat], key=f"plan_accept_{caveat}_{now}"))
    missing = [CAVEATS[caveat] for caveat in planned.caveats if caveat not in accepted]
    refused = None
    try:
        desk.check(held.plan.data, planned.mu)
    except InputError as error:
        refused = error
    sure = st.checkbox(f"I understand that this spends **{words.spends(planned, n_records)}**, once and for good.",
                       key=f"plan_sure_{now}", disabled=refused is not None)
    st.button("Release once" if len(chosen) == 1 else f"Release all {len(chosen)} at once", key="plan_go",
              type="primary", icon=":material/outbox:", on_click=release_questions, width="stretch",
              args=(now, chosen, accepted, st.empty()),
              disabled=refused is not None or bool(missing) or not sure or not named)
    if refused is not None:
        show_error(refused)
    elif not named:
        st.caption("Not before you say who the records are about.")
    elif missing:
        st.caption(f"Not before you accept: {listed(missing)}.")
    else:
        st.caption("Fresh noise from the operating system, drawn once, an entry in the ledger for each answer: all of "
                   "them or none. A cap can be set on the page Release & report.")
