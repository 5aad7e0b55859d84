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
from mvgviz.scenario.scenario import Scenario
from mvgviz.scenario.source import DataSource
from mvgviz.scenario.study import MOST_NOTES, Study
from mvgviz.text import in_markdown
from mvgviz.ui import session
from mvgviz.ui.assets import asset
from mvgviz.ui.door import is_demo
from mvgviz.ui.plans import kept_plan, put_plan
from mvgviz.ui.release_desk import release_desk
from mvgviz.ui.visitors import choose_file
from mvgviz.validation import parsed_json

NOTES, _WAITING, _BEGUN, _NAMED = "_notes", "_study_waiting", "_study_begun", "_study_named_file"
_FILE, _REFUSED, _NOW = "study_file", "_study_refused", "_study_now"
_MINE, _LOST = "_session_token", "_session_lost"
_AWAY = "The server does not answer. Leave this page open: it continues when the server is back."
_browser = st.components.v2.component("mvgviz_study", html="<span></span>", js=asset("study.js"))  # a tab's memory
_watcher = st.components.v2.component("mvgviz_away", html="<span></span>", js=asset("save_chart.js") + asset("away.js"))


def current_study() -> Study:
    """Return all that the session knows except data and noise."""
    scenario, waits, notes = session.scenario(), waiting(), st.session_state.get(NOTES, "")
    if waits is not None:
        return replace(waits, notes=notes)
    return Study(scenario=scenario, source=current_source(), notes=notes, plan=kept_plan(),
                 population=release_desk().named(scenario.data))


def current_source() -> DataSource:
    """Return where the data comes from."""
    own, directions = session.upload(), session.uploaded_directions()
    source = DataSource(name=session.scenario().data) if own is None or not own.is_current else own.source
    return source if directions is None else replace(source, directions_origin=directions.origin)


def open_study(text: str | bytes) -> None:
    """Open a study or a scenario; one about a file waits until that is chosen."""
    held = parsed_json(text, "a study must be JSON, as downloaded from mvgviz, and small")
    if isinstance(held, dict) and "mvgviz_study" not in held and (scenario := Scenario.from_dict(held)).is_upload:
        session.put(session.marked(scenario))
        return
    study = Study.from_dict(held)
    st.session_state[NOTES] = study.notes
    if study.scenario.is_upload:
        st.session_state[_WAITING] = study
        session.put(session.marked(study.scenario))
    else:
        take_over(study, study.scenario.data)


def waiting() -> Study | None:
    """Return the study that waits for its file; drop it when the person turns to other data."""
    study: Study | None = st.session_state.get(_WAITING)
    if study is not None and session.scenario().data != study.scenario.data:
        st.session_state.pop(_WAITING)
        return None
    return study


def take_over(study: Study, data_name: str, *, same_file: bool = True) -> None:
    """Make scenario and plan the session's, for data of this name; another file may be about other people."""
    population, plan = study.population and tidy(study.population), study.plan
    st.session_state.pop(_WAITING, None)
    put_plan(data_name, plan and replace(plan, scenarios=tuple(
        question.changed(data=data_name) for question in plan.scenarios)))
    if population and same_file and not release_desk().is_entered(data_name):
        release_desk().name(data_name, population)
    session.put(session.marked(study.scenario.changed(data=data_name)))


def begin() -> bool:
    """Take what the command was given, in a session's first run; return whether that needs the page of the data."""
    if st.session_state.get(_BEGUN):
        return False
    st.session_state[_BEGUN] = True
    if is_demo() or st.query_params.to_dict().keys() - set(session.PLACES):  # a link says what to show
        return False
    st.session_state[_NAMED] = os.environ.get("MVGVIZ_DATA")
    if "MVGVIZ_STUDY" in os.environ:
        open_study(_content(os.environ["MVGVIZ_STUDY"], "study"))
    return waiting() is not None or st.session_state[_NAMED] is not None


def named_file() -> tuple[str, str, bytes] | None:
    """Return path, name and content of the command's file, in a session that no link began."""
    path = st.session_state.get(_NAMED)
    return None if path is None else (path, Path(path).name, _content(path, "file"))


def _content(path: str, what: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"the {what} that mvgviz was started with cannot be read: {error.strerror}") from None


def draw_study() -> None:
    """Save the session's study, open one, take notes."""
    with st.popover("Study", icon=":material/folder_open:", width="stretch", key="study"):
        st.text_area("Notes", max_chars=MOST_NOTES, height=90, placeholder="Printed in the report",
                     **session.control("w_notes", st.session_state.get(NOTES, ""), _note))
        now = st.session_state.setdefault(_NOW, {})  # by the time the file is asked for the session is out of reach
        st.download_button("Save the study", data=lambda: _settled(now).to_json().encode(), file_name="study.json",
                           mime="application/json", icon=":material/download:", on_click="ignore", key="study_save",
                           width="stretch")
        st.caption("Your choices, ranges, levels, plan and notes; never a record or a released answer.")
        choose_file("Open a study or a scenario (JSON)", type="json", max_upload_size=4, key=_FILE, on_change=_take)


def keep_study() -> None:
    """Let the study's file and the browser's tab hold what the session knows now."""
    now = st.session_state.setdefault(_NOW, {})
    now["study"] = current_study()
    own = session.upload()
    if (own is not None and own.is_current) or st.session_state.get(NOTES) or kept_plan() is not None:
        _browser(key="study_keep", data={"study": now["study"].to_json()})  # what the address does not hold


def _note(text: str) -> None:
    st.session_state[NOTES] = text
    st.session_state[_NOW]["study"] = current_study()


def _settled(now: dict[str, Study]) -> Study:
    time.sleep(0.3)  # the click on the button ends the typing: what was just typed has to arrive
    return now["study"]


def _take(text: str | bytes | None = None) -> None:
    chosen = st.session_state.get(_FILE)
    try:
        if text is None and chosen is not None:
            text = chosen.getvalue()
        if text is not None:
            open_study(text)
    except InputError as error:
        st.session_state[_REFUSED] = error


def say_refused() -> None:
    """Say on the page that a study was not opened: the popover may be closed by now."""
    if (refused := st.session_state.pop(_REFUSED, None)) is not None:
        st.error(f"The study was not opened: {in_markdown(str(refused))}. Nothing was lost.", icon=":material/error:")


def draw_offer() -> bool:
    """Ask for the scenario's file, or offer the study this tab still has; return False where there is neither."""
    study = waiting()
    if study is not None:
        st.info(f"The study is about **{in_markdown(study.source.name)}**. Choose that file on Data & query to "
                "continue.", icon=":material/upload_file:")
        return True
    return _offer_kept("The server restarted or you reloaded the page, so your file is gone. This tab still has the "
                       "study: open it, then choose the file again.")


def _offer_kept(why: str = "") -> bool:
    """Offer the study that the browser kept for this tab; return False unless there is one about these data."""
    kept = _browser(key="study_kept", data={}, width="content", on_kept_change=lambda: None).kept
    try:
        held = json.loads(kept)
        text, time = held["study"], str(held["time"])[:5]
        if json.loads(text)["scenario"]["scenario"]["data"] != session.scenario().data:
            return False
    except (TypeError, ValueError, KeyError, RecursionError):  # nothing, or nothing of ours
        return False
    if why:
        st.warning(why, icon=":material/restore:")
    st.button(f"Open the study of {time}", key="study_restore", type="primary", on_click=_take, args=(text,))
    return True


def watch_server() -> None:
    """Give the page words for a server that is away; notice a session that this page had before."""
    mine, released = st.session_state.setdefault(_MINE, secrets.token_hex(8)), bool(release_desk().releases)
    report = _watcher(key="away", on_lost_change=lambda: None, on_back_change=lambda: None, data={
        "session": mine, "released": released,
        "words": _AWAY + " A released answer stays on the screen until you click: save it first." * released})
    if report.lost:
        st.session_state[_LOST] = bool(report.lost.get("released"))


def say_restarted() -> None:
    """Say what was lost with the page's previous session, until the person has seen it."""
    released, own = st.session_state.get(_LOST), session.scenario().is_upload
    if released is None or (own and not released):  # the page asks for the file, and says why
        return
    counted = ("the ledger counts them" if release_desk().ledger.lasts else
               "this session's ledger is new and does not count them, so add them yourself")
    st.warning("The server restarted. Your settings were restored; trials will run again." * (not own)
               + f" Releases that you did not save are gone and **stay spent**: {counted}." * released,
               icon=":material/restart_alt:")
    with st.container(horizontal=True):
        if not own:
            _offer_kept()
        st.button("All right", key="restarted", on_click=lambda: st.session_state.pop(_LOST, None))
