"""The session as a study: saved to a file, opened from one, and kept in the browser's tab while the server is away."""

import json
import os
import secrets
import time
from dataclasses import replace
from pathlib import Path

import streamlit as st

from mvgviz.errors import InputError
from mvgviz.release.entries import tidy
from mvgviz.scenario.plan import QuestionPlan
from mvgviz.scenario.scenario import Scenario
from mvgviz.scenario.source import DataSource
from mvgviz.scenario.study import MOST_NOTES, Study
from mvgviz.text import in_markdown
from mvgviz.ui import session
from mvgviz.ui.assets import asset
from mvgviz.ui.plans import kept_plan, put_plan
from mvgviz.ui.release_desk import release_desk
from mvgviz.validation import parsed_json

NOTES, _WAITING, _BEGUN, _NAMED = "_notes", "_study_waiting", "_study_begun", "_study_named_file"
_FILE, _REFUSED, _NOW = "study_file", "_study_refused", "_study_now"
_MINE, _LOST = "_session_token", "_session_lost"
_TYPED = 0.3  # seconds
_AWAY = ("The server does not answer: it was stopped, it is being restarted, or this computer has no connection. Leave "
         "this page open: it goes on by itself when the server is back, and this tab keeps your choices.")
_RELEASED_AWAY = " A released answer on the screen stays until you click: save or note it first."
_ANEW = ("The server was restarted, or was without this page for minutes, and began anew. The choices are those of "
         "before; what was measured is measured again.")
_browser = st.components.v2.component("mvgviz_study", html="<span></span>", js=asset("study.js"))
"""What the browser keeps for this tab."""
_watcher = st.components.v2.component("mvgviz_away", html="<span></span>", js=asset("away.js"))
"""The page's eye on its connection; it knows which session the page was drawn by."""


def current_study() -> Study:
    """What the session knows but the data and the noise."""
    scenario, waits, notes = session.scenario(), waiting(), st.session_state.get(NOTES, "")
    if waits is not None:
        return replace(waits, notes=notes)
    return Study(scenario=scenario, source=current_source(), notes=notes, plan=kept_plan(),
                 population=release_desk().named(scenario.data))


def current_source() -> DataSource:
    """Where the data comes from, as far as the session knows."""
    own, directions = session.upload(), session.uploaded_directions()
    source = DataSource(name=session.scenario().data) if own is None or not own.is_current else own.source
    return source if directions is None else replace(source, directions_origin=directions.origin)


def open_study(text: str | bytes) -> None:
    """Take a study, or a scenario, over; one of a file waits until that is chosen."""
    scenario = _scenario_of_a_file(text)
    if scenario is not None:
        session.put(scenario)
        return
    study = Study.from_json(text)
    if study.source.texts:
        raise InputError("the study has categories, dates or several records a person, which the app does not know: "
                         "open it in Python (mv.Study.from_json) or with mvgviz run")
    st.session_state[NOTES] = study.notes
    if study.needs_file:
        st.session_state[_WAITING] = study
        session.put(study.scenario)
    else:
        take_over(study, study.scenario.data)


def waiting() -> Study | None:
    """The study whose file is still to be chosen; forgotten when the person turns to other data."""
    study: Study | None = st.session_state.get(_WAITING)
    if study is not None and session.scenario().data != study.scenario.data:
        st.session_state.pop(_WAITING)
        return None
    return study


def take_over(study: Study, data_name: str, *, same_file: bool = True) -> None:
    """The study's scenario and plan become the session's, for data that goes by this name here.

    Whom another file of the same columns is about has to be said anew.
    """
    population = tidy(study.population) if study.population else ""
    st.session_state.pop(_WAITING, None)
    plan = study.plan
    if plan is not None:
        asked = tuple(question.changed(data=data_name) for question in plan.scenarios)
        plan = QuestionPlan(scenarios=asked, parts=plan.parts, shares_read=plan.shares_read)
    put_plan(data_name, plan)
    if population and same_file and not release_desk().is_entered(data_name):
        release_desk().name(data_name, population)
    session.put(study.scenario.changed(data=data_name))


def begin() -> bool:
    """In a session's first run: what the command was given; whether that needs the page of the data."""
    if st.session_state.get(_BEGUN):
        return False
    st.session_state[_BEGUN] = True
    if session.came_by_link():
        return False
    st.session_state[_NAMED] = os.environ.get("MVGVIZ_DATA")
    if "MVGVIZ_STUDY" in os.environ:
        open_study(_content(os.environ["MVGVIZ_STUDY"], "study"))
    return waiting() is not None or st.session_state[_NAMED] is not None


def named_file() -> tuple[str, str, bytes] | None:
    """The path, name and content of the file that the command was given, in a session that no link began."""
    path = st.session_state.get(_NAMED)
    return None if path is None else (path, Path(path).name, _content(path, "file"))


def _content(path: str, what: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"the {what} that mvgviz was started with cannot be read: {error.strerror}") from None


def _scenario_of_a_file(text: str | bytes) -> Scenario | None:
    """A scenario that was made with an upload, which is no study; None for everything else."""
    try:
        held = parsed_json(text, "")
    except InputError:
        return None
    if not isinstance(held, dict) or "mvgviz_study" in held:
        return None
    scenario = Scenario.from_json(text)
    return scenario if scenario.is_upload else None


def draw_study() -> None:
    """The study of this session: to a file, from a file, with notes of one's own."""
    with st.popover("Study", icon=":material/folder_open:", width="stretch", key="study",
                    help="Everything but the data in one file: what was chosen, ranges, plan, notes"):
        st.session_state["w_notes"] = st.session_state.get(NOTES, "")
        st.text_area("Notes", key="w_notes", max_chars=MOST_NOTES, height=90, on_change=_note,
                     placeholder="What this is for; printed in the report")
        now = st.session_state.setdefault(_NOW, {})  # by the time the file is asked for the session is out of reach
        now["study"] = current_study()
        st.download_button("Save the study", data=lambda: _settled(now).to_json().encode(), file_name="study.json",
                           mime="application/json", icon=":material/download:", on_click="ignore", key="study_save",
                           width="stretch")
        st.caption("Your choices, ranges, plan and notes: never your data, never a released answer.")
        st.file_uploader("Open a study or a scenario (JSON)", type="json", max_upload_size=4, key=_FILE,
                         on_change=_open)
    own = session.upload()
    if (own is not None and own.is_current) or st.session_state.get(NOTES) or kept_plan() is not None:
        _browser(key="study_keep", data={"study": now["study"].to_json()})  # what the address does not hold


def _note() -> None:
    st.session_state[NOTES] = st.session_state["w_notes"]
    st.session_state[_NOW]["study"] = current_study()


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


def _restore_button(text: str, label: str) -> None:
    st.button(label, key="study_restore", type="primary", on_click=_take, args=(text,))


def _kept_study() -> tuple[str, str] | None:
    """What the browser kept for this tab, if it is about the scenario's data; and when."""
    kept = _browser(key="study_kept", data={}, width="content", on_kept_change=lambda: None).kept
    try:
        held = json.loads(kept)
        text, time = held["study"], held["time"]
        name = json.loads(text)["scenario"]["scenario"]["data"]
    except (TypeError, ValueError, KeyError, RecursionError):  # nothing, or nothing of ours
        return None
    return (text, str(time)[:5]) if name == session.scenario().data else None


def watch_server() -> None:
    """On every page: words for a server that is away, and word of a session that this page had before."""
    mine, released = st.session_state.setdefault(_MINE, secrets.token_hex(8)), bool(release_desk().releases)
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
    counted = ("the ledger has it" if release_desk().ledger.lasts else
               "the ledger of this session began anew and does not have it, so add it yourself")
    st.warning(("" if own else _ANEW)
               + (f" What you released and did not save is gone, and **stays spent**: {counted}." if released else ""),
               icon=":material/restart_alt:")
    with st.container(horizontal=True):
        if not own and (found := _kept_study()) is not None:
            text, time = found
            _restore_button(text, f"Open the last study, as of {time}")
        st.button("All right", key="begun_anew", on_click=lambda: st.session_state.pop(_LOST, None))
