"""Report, script, notebook, JSON in and out, link: what a person takes along."""

from functools import partial

import streamlit as st

from mvgviz.errors import InputError
from mvgviz.labels import TRIED_ON
from mvgviz.report.script import notebook, python_script
from mvgviz.scenario.resolve import Setup
from mvgviz.text import listed
from mvgviz.trials.question import Problem, pose
from mvgviz.trials.resumable import Point
from mvgviz.trials.run import Results
from mvgviz.trials.stand_in import on_stand_in
from mvgviz.ui import session
from mvgviz.ui.frame import offer_file, show_error
from mvgviz.ui.session_study import session_source, session_study
from mvgviz.ui.slices import Slice, begin, problem, show_progress
from mvgviz.words.provenance import open_parts
from mvgviz.words.study import link_words

_PLACE = "release_report_on"


def draw_exports(setup: Setup) -> None:
    """Downloads on the left, the scenario as link and file on the right; works off trials for the report."""
    simulated = st.session_state.get(_PLACE, "stand-in") != "data"
    told = _stand_in(setup) if simulated else setup
    work, results, error = _trials(told, simulated)
    complete = results is not None and results.complete
    left, right = st.columns(2, gap="large")
    with left:
        _draw_report(told, results, error, busy=not (error or complete or work.stopped), simulated=simulated)
        progress = st.container()
        _draw_programs(setup)
    with right:
        _draw_scenario(setup)
    if error is None:
        with progress:
            show_progress(work, complete=complete)


def _trials(setup: Setup, simulated: bool) -> tuple[Slice, Results | None, InputError | None]:
    """Directional and equal noise on the scenario's task: a slice of the work, or why there is none."""
    work = begin("release_report", setup.scenario.to_json(), simulated)
    try:
        posed = _posed(setup) if simulated else problem(setup)
        return work, work.resume([Point(posed, ("mvg", "iid"))], simulated=simulated)[0], None
    except InputError as error:
        return work, None, error


@session.remembered(2)
def _stand_in(setup: Setup) -> Setup:
    return on_stand_in(setup, uploaded=session.uploaded_directions())


@session.remembered(2)
def _posed(told: Setup) -> Problem:
    return pose(told.scenario, told.dataset, uploaded=session.uploaded_directions())


def _draw_report(setup: Setup, results: Results | None, error: InputError | None, *, busy: bool, simulated: bool
                 ) -> None:
    from mvgviz.report.html import report_html

    study = session_study()
    st.markdown("#### Report for others")
    st.segmented_control("Its pictures and errors are measured on", list(TRIED_ON), default="stand-in", required=True,
                         format_func=TRIED_ON.__getitem__, key=_PLACE)
    offer_file("Report as HTML", "report.html", "text/html", lambda: report_html(setup, results, simulated=simulated,
                                                                                 study=study),
               disabled=busy, key="release_report_html")
    if error is not None:
        show_error(error)
        st.caption("The report can be had without trials: it then says nothing about the error of the answer.")
        return
    st.caption("One file with the guarantee in plain words and odds, the pictures, the expected error and what was "
               "assumed; works offline and prints well.")
    parts = open_parts(setup)
    told = f" But for this, which it names at its top: {listed(parts)}." if parts else ""
    st.caption("Measured on simulated records with the same ranges and number: nothing in it is computed from the "
               f"data. No released answer is in it.{told}" if simulated else
               ":material/visibility: The error in it is **measured on the data itself and is not private**: look "
               "before you pass it on. No released answer is in it.")


def _draw_programs(setup: Setup) -> None:
    scenario, source = setup.scenario, session_source()
    st.markdown("#### The same without the app")
    with st.container(horizontal=True):
        offer_file("Python program", "program.py", "text/x-python", partial(python_script, scenario, source=source),
                   key="release_program_py")
        offer_file("Notebook", "notebook.ipynb", "application/x-ipynb+json", partial(notebook, scenario, source=source),
                   key="release_notebook_ipynb")
    st.caption("Rebuild the design, the trials and, only if asked, one release. They hold your choices, never your "
               "data.")
    if scenario.is_upload:
        st.caption("They read your file as you had it read, with its columns, gaps and the ranges you gave; ranges "
                   "that you left to the data are read from it again.")


def _draw_scenario(setup: Setup) -> None:
    st.markdown("#### The scenario")
    st.code(session.link(), language=None, wrap_lines=True)
    st.caption(link_words(setup.scenario))
    offer_file("Scenario as JSON", "scenario.json", "application/json", setup.scenario.to_json,
               key="release_scenario_json")
    st.caption("**Study**, in the sidebar, saves all of it in one file, with ranges, plan and notes, and opens it "
               "again.")
