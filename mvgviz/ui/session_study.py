"""The session as a study: saved to a file, opened from one, and kept in the browser's tab for a bad day."""

import os
from dataclasses import replace
from pathlib import Path

import streamlit as st

from mvgviz.errors import InputError
from mvgviz.release.entries import tidy
from mvgviz.scenario.plan import QuestionPlan
from mvgviz.scenario.scenario import Scenario
from mvgviz.scenario.source import DataSource
from mvgviz.scenario.study import Study
from mvgviz.ui import session
from mvgviz.ui.session_releases import session_releases
from mvgviz.validation import parsed_json

NOTES, _WAITING, _BEGUN, _NAMED = "_notes", "_study_waiting", "_study_begun", "_study_named_file"


def session_study() -> Study:
    """What the session knows but the data and the noise."""
    scenario, plan = session.scenario(), session.kept_plan()
    waits = waiting()
    if waits is not None:
        return replace(waits, notes=st.session_state.get(NOTES, ""))
    return Study(scenario=scenario, source=session_source(), notes=st.session_state.get(NOTES, ""), plan=plan,
                 population=session_releases().named(scenario.data))


def session_source() -> DataSource:
    """Where the data comes from, as far as the session knows."""
    own, directions, data = session.upload(), session.uploaded_directions(), session.scenario().data
    source = DataSource(name=data) if own is None or own.data_name != data else own.source
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
    session.put_plan(data_name, plan)
    if population and same_file and not session_releases().is_entered(data_name):
        session_releases().name(data_name, population)
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
        try:
            open_study(Path(os.environ["MVGVIZ_STUDY"]).read_bytes())
        except OSError as error:
            raise InputError(f"the study that mvgviz was started with cannot be read: {error.strerror}") from None
    return waiting() is not None or st.session_state[_NAMED] is not None


def named_file() -> tuple[str, str, bytes] | None:
    """The path, name and content of the file that the command was given, in a session that no link began."""
    path = st.session_state.get(_NAMED)
    if path is None:
        return None
    try:
        return path, Path(path).name, Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"the file that mvgviz was started with cannot be read: {error.strerror}") from None


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
