"""A study as a file, and what to do when the server was away."""

import json
import secrets
import time

import streamlit as st

from mvgviz.errors import InputError
from mvgviz.scenario.study import MOST_NOTES, Study
from mvgviz.text import in_markdown
from mvgviz.ui import session
from mvgviz.ui.assets import asset
from mvgviz.ui.session_releases import session_releases
from mvgviz.ui.session_study import NOTES, open_study, session_study, waiting

_FILE, _REFUSED, _NOW = "study_file", "_study_refused", "_study_now"
_TYPED = 0.3  # seconds
_component = st.components.v2.component(
    "mvgviz_study", html="<span></span>", js=asset("study.js"))
"""What the browser keeps for this tab."""


def draw_study() -> None:
    """The study of this session: to a file, from a file, with notes of one's own."""
    with st.popover("Study", icon=":material/folder_open:", width="stretch", key="study",
                    help="Everything but the data in one file: what was chosen, ranges, plan, notes"):
        st.session_state["w_notes"] = st.session_state.get(NOTES, "")
        st.text_area("Notes", key="w_notes", max_chars=MOST_NOTES, height=90, on_change=_note,
                     placeholder="What this is for; printed in the report")
        now = st.session_state.setdefault(_NOW, {})  # by the time the file is asked for the session is out of reach
        now["study"] = session_study()
        st.download_button("Save the study", data=lambda: _settled(now).to_json().encode(), file_name="study.json",
                           mime="application/json", icon=":material/download:", on_click="ignore", key="study_save",
                           width="stretch")
        st.caption("Your choices, ranges, plan and notes: never your data, never a released answer.")
        st.file_uploader("Open a study or a scenario (JSON)", type="json", max_upload_size=4, key=_FILE,
                         on_change=_open)
    _keep()


def say_refused() -> None:
    """On the page: the popover may be closed by now."""
    refused = st.session_state.pop(_REFUSED, None)
    if refused is not None:
        st.error(f"The study was not opened: {in_markdown(str(refused))}. Nothing was lost.", icon=":material/error:")


def draw_offer() -> bool:
    """Where the scenario's file is not here: what is asked for, or what this tab still knows; False where neither."""
    study = waiting()
    if study is not None:
        st.info(f"The study is about **{in_markdown(study.source.name)}**: choose that file on Data & query, and it "
                "goes on as it was saved.", icon=":material/upload_file:")
        return True
    found = _kept_study()
    if found is None:
        return False
    text, time = found
    st.warning(f"The server was restarted or this page was loaded anew, and your file is gone with it. This tab still "
               f"has the study, as of {time}: open it, then choose the file again.", icon=":material/restore:")
    _restore_button(text, "Open the last study")
    return True


def draw_restore() -> None:
    """What this tab still knows of the session before: notes, a plan."""
    found = _kept_study()
    if found is not None:
        text, time = found
        _restore_button(text, f"Open the last study, as of {time}")


def _restore_button(text: str, label: str) -> None:
    st.button(label, key="study_restore", type="primary", on_click=_take, args=(text,))


def _kept_study() -> tuple[str, str] | None:
    """What the browser kept for this tab, if it is about the scenario's data; and when."""
    kept = _component(key="study_kept", data={}, width="content", on_kept_change=lambda: None).kept
    try:
        held = json.loads(kept)
        text, time = held["study"], held["time"]
        name = json.loads(text)["scenario"]["scenario"]["data"]
    except (TypeError, ValueError, KeyError, RecursionError):  # nothing, or nothing of ours
        return None
    return (text, str(time)[:5]) if name == session.scenario().data else None


def _keep() -> None:
    """Tell the browser what is worth keeping: what the address does not hold."""
    own = session.upload()
    here = own is not None and own.data_name == session.scenario().data
    if here or st.session_state.get(NOTES) or session.kept_plan() is not None:
        _component(key="study_keep", data={"study": session_study().to_json()})


def _note() -> None:
    st.session_state[NOTES] = st.session_state["w_notes"]
    st.session_state[_NOW]["study"] = session_study()


def _settled(now: dict[str, Study]) -> Study:
    """The study when what was just typed has arrived: a click on the button is what ends the typing."""
    time.sleep(_TYPED)
    return now["study"]


def _open() -> None:
    """Only when a file was chosen: what stays in the box is not taken again."""
    chosen = st.session_state.get(_FILE)
    if chosen is not None:
        _take(chosen.getvalue())


def _take(text: str | bytes) -> None:
    try:
        open_study(text)
    except InputError as error:
        st.session_state[_REFUSED] = error


_MINE, _LOST = "_session_token", "_session_lost"
_AWAY = ("The server does not answer: it was stopped, it is being restarted, or this computer has no connection. Leave "
         "this page open: it goes on by itself when the server is back, and this tab keeps your choices.")
_RELEASED_AWAY = " A released answer on the screen stays until you click: save or note it first."
_ANEW = ("The server was restarted, or was without this page for minutes, and began anew. The choices are those of "
         "before; what was measured is measured again.")
_watcher = st.components.v2.component(
    "mvgviz_away", html="<span></span>", js=asset("away.js"))
"""The page's eye on its connection; it knows which session the page was drawn by."""


def watch_server() -> None:
    """On every page: words for a server that is away, and word of a session that this page had before."""
    mine, released = st.session_state.setdefault(_MINE, secrets.token_hex(8)), bool(session_releases().releases)
    told = _watcher(key="away", data={"session": mine, "released": released,
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
