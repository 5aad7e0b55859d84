"""A server that is away, and one that has begun anew under an open page: what the person reads."""

import secrets
from pathlib import Path

import streamlit as st

from mvgviz.ui import session
from mvgviz.ui.session_releases import session_releases
from mvgviz.ui.study.panel import draw_restore

_MINE, _LOST = "_session_token", "_session_lost"
_AWAY = ("The server does not answer: it was stopped, it is being restarted, or this computer has no connection. Leave "
         "this page open: it goes on by itself when the server is back, and this tab keeps your choices.")
_RELEASED_AWAY = " A released answer on the screen stays until you click: save or note it first."
_ANEW = ("The server was restarted, or was without this page for minutes, and began anew. The choices are those of "
         "before; what was measured is measured again.")
_component = st.components.v2.component(
    "mvgviz_away", html="<span></span>", js=(Path(__file__).parent / "away.js").read_text(encoding="utf-8"))
"""The page's eye on its connection; it knows which session the page was drawn by."""


def watch_server() -> None:
    """On every page: words for a server that is away, and word of a session that this page had before."""
    mine, released = st.session_state.setdefault(_MINE, secrets.token_hex(8)), bool(session_releases().releases)
    told = _component(key="away", data={"session": mine, "released": released,
                                        "words": _AWAY + (_RELEASED_AWAY if released else "")},
                      on_lost_change=lambda: None, on_back_change=lambda: None)
    if told.lost:
        st.session_state[_LOST] = bool(told.lost.get("released"))


def say_begun_anew() -> None:
    """What is gone with the session that the page had before, until the person has seen it."""
    released = st.session_state.get(_LOST)
    if released is None:
        return
    own = session.scenario().is_upload  # then the page asks for the file, and says why
    if own and not released:
        return
    st.warning(f"{'' if own else _ANEW}{_released_words() if released else ''}", icon=":material/restart_alt:")
    with st.container(horizontal=True):
        if not own:
            draw_restore()
        st.button("All right", key="begun_anew", on_click=lambda: st.session_state.pop(_LOST, None))


def _released_words() -> str:
    counted = ("the ledger has it" if session_releases().ledger.lasts else
               "the ledger of this session began anew and does not have it, so add it yourself")
    return f" What you released and did not save is gone, and **stays spent**: {counted}."
