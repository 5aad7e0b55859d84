"""Release & report: one noisy answer and its ledger; report, script, notebook, link."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from mvgviz.errors import InputError
from mvgviz.pictures import release as words
from mvgviz.pictures.release import budget_numbers
from mvgviz.pictures.sentences import link_words, open_parts, released_clipping
from mvgviz.release.entries import Sum
from mvgviz.release.files import files_of, zipped
from mvgviz.release.fitted import fitted_coefficients, labels, refusal
from mvgviz.release.release import Plan, Release, plan
from mvgviz.report.script import notebook, python_script
from mvgviz.scenario.resolve import Setup, usual_delta
from mvgviz.text import as_number, as_probability, capitalised, in_html, in_markdown, listed, spreadsheet_cell
from mvgviz.trials.problem import Problem, pose
from mvgviz.trials.results import Results
from mvgviz.trials.stand_in import on_stand_in
from mvgviz.ui import session
from mvgviz.ui.cache import cached
from mvgviz.ui.frame import chart, draw_open_tab, draw_switch, offer_file, show_error, show_table, try_open_page
from mvgviz.ui.menu import RELEASE
from mvgviz.ui.release_controls import choose_population, draw_accepts, draw_go, draw_population
from mvgviz.ui.release_desk import hardened_factor, release_desk, release_once, ticket
from mvgviz.ui.slices import Slice, begin, problem, show_progress
from mvgviz.ui.study import current_source, current_study

_off_by = cached(8, session.here)(words.off_by)


def draw_intervals(release: Release) -> None:
    """Of what was released; why there are none where the shape of the noise may not be told."""
    widths = words.released_widths(release)
    if widths is None:
        st.caption(f":material/visibility: {words.NOT_TOLD}")
        return
    st.markdown("#### How far from the answer?")
    if release.kind.is_mean and release.ranges is not None:
        picture, table = st.columns([3, 2], gap="large")
        with picture:
            chart(words.mean_picture(release, widths), key="release_mean")
        with table:
            _draw_table(words.mean_columns(release))
    else:
        st.markdown(words.widths_sentence(widths, in_markdown))
        _draw_table(words.width_columns(widths))
    st.caption(" ".join([released_clipping(release, in_markdown), words.covers_sentences(widths)]))
    if refusal(release) is None:
        _draw_fit(release)


def _draw_fit(release: Release) -> None:
    """A regression from what was released, for the label that is chosen."""
    names = labels(release)
    usual = None if release.scenario is None else release.scenario.label
    st.markdown("#### What would a regression say?")
    label: str | None = st.selectbox(
        "Feature to predict from the others", names, placeholder="Choose a feature", width=320,
        index=usual if usual is not None and usual < len(names) else None, key=f"release_label_{release.time}")
    if label is None:
        return
    fit = fitted_coefficients(release, label)
    picture, table = st.columns([3, 2], gap="large")
    with picture:
        chart(words.fit_picture(fit), key="release_fit")
    with table:
        _draw_table(words.coefficient_columns(fit), key="release_coefficients")
    st.caption(words.ABOUT_FIT)


def _draw_table(columns: Mapping[str, Sequence[Any]], *, key: str = "release_widths") -> None:
    if columns:
        harmless = {"feature": [spreadsheet_cell(name) for name in columns["feature"]]}
        show_table({**columns, **harmless}, numbers=[head for head in columns if head != "feature"],
                   key=key)


_FACTS = """<style>
.facts {display: grid; grid-template-columns: minmax(5rem, max-content) 1fr; gap: .15rem .9rem; margin: 0;
        padding: 0 !important; font-size: .92rem;}
.facts dt {opacity: .75; font-weight: 400;}
.facts dd {margin: 0; overflow-wrap: anywhere;}
.st-key-release_conditions label * {white-space: normal; text-overflow: clip; overflow: visible;}
</style>"""


def draw_release(setup: Setup) -> None:
    """What will be spent, in words and as a bar; then what has to be ticked, and the button."""
    planned, desk, data = plan(setup), release_desk(), setup.scenario.data
    left, right = st.columns([2, 3], gap="large")
    with left:
        _draw_summary(setup, planned)
    with right:
        named, made = draw_population(data), desk.entries_about(data)
        *before, this = Sum([*made, planned]).counted(*made, planned)
        numbers = budget_numbers(before, this, delta=planned.delta, cap=desk.cap(data))
        takeaway = words.budget_words(setup, numbers, planned, lasts=desk.ledger.lasts, named=named)
        chart(words.budget_picture(numbers, takeaway), key="release_budget")
        with st.container(key="release_conditions"):
            _draw_button(setup, planned, named=named)


def _draw_summary(setup: Setup, planned: Plan) -> None:
    desk = release_desk()
    totals = desk.totals(setup.scenario.data, planned)
    try:
        factor = hardened_factor(setup)
    except InputError:
        factor = None  # the button says why
    known = words.facts(setup, planned, totals, factor, _off_by(setup, on_data=session.shows_data()),
                        lasts=desk.ledger.lasts)
    lines = "".join(f"<dt>{in_html(name)}</dt><dd>{in_html(text)}</dd>" for name, text in known)
    st.html(f'{_FACTS}<dl class="facts" aria-label="What this release will spend">{lines}</dl>')
    if not setup.query.is_graph:
        with st.popover("Every range", icon=":material/straighten:", type="tertiary"):
            show_table(words.ranges_table(setup.dataset), numbers=())
            st.caption("In the data's own units.")


def _draw_button(setup: Setup, planned: Plan, *, named: bool) -> None:
    """Everything that has to be ticked, then the click; ``named``: whether it is known who the records are about."""
    held, now, spends = release_desk(), ticket(), words.spends(setup, planned)
    accepted = draw_accepts(planned, key="release", now=now)
    symmetrise = setup.query.symmetric and st.checkbox(
        "Make the noisy answer symmetric (free: after the noise)", value="symmetrise" in setup.scenario.post,
        key="release_symmetric")
    refused = _refusal(setup, planned)
    sure = draw_go("Release once", release_once, now, accepted, bool(symmetrise), key="release", now=now,
                   planned=planned, accepted=accepted, refused=refused, spends=spends, named=named)
    if sure is False:
        st.caption("Not before the box above is ticked. Fresh noise from the operating system, drawn once; a release "
                   "cannot be taken back.")
    elif sure:
        st.caption(f"Draws fresh noise once and spends {spends}.")
    if held.releases:
        st.caption(f":material/check: {len(held.releases):,} released in this session: see below.")
    if held.refusal is not None and refused is None:  # else it is said above
        show_error(held.refusal)
    held.refusal = None


def _refusal(setup: Setup, planned: Plan) -> InputError | None:
    """Why no release can be made, before any noise is drawn."""
    try:
        release_desk().check(setup.scenario.data, planned)
        hardened_factor(setup)
    except InputError as error:
        return error
    return None


def draw_keep() -> None:
    """One file with all that was released in this session: it is kept nowhere else."""
    if releases := release_desk().releases:
        with st.container(horizontal=True, vertical_alignment="center"):
            offer_file("Download everything released", "released.zip", "application/zip", partial(zipped, releases),
                       key="release_everything", type="primary")
            st.markdown(":material/warning: **Not kept: download now.** A reload loses these numbers; the budget stays "
                        "spent.", width="content")


def draw_released() -> None:
    """The noisy answers of this session and their files; nothing true is in them."""
    releases = release_desk().releases
    if not releases:
        return
    st.divider()
    number = len(releases)
    if number > 1:
        number = st.selectbox("Released in this session", range(number, 0, -1), key=f"release_shown_{number}",
                              format_func=lambda k: f"{k}: {_title(releases[k - 1])}")
    shown = releases[number - 1]
    picture, files = st.columns([3, 2], gap="large")
    with picture:
        chart(words.released_picture(shown), key="release_answer")
    with files:
        st.markdown(f"**{in_markdown(_title(shown))}**")
        for label, key, name, mime, content in files_of(number, shown):
            offer_file(label, name, mime, content, key=f"release_{key}", width="stretch")
        st.caption(f"{words.KEPT} Keep the JSON beside the numbers: it says what was promised, for which neighbours "
                   "and ranges, and what is not covered. The true answer is in none of them.")
    draw_intervals(shown)


def _title(release: Release) -> str:
    return f"{release.query} of {release.data}, {release.time.replace('T', ' ').replace('+00:00', ' UTC')}"


def draw_exports(setup: Setup) -> None:
    """Downloads on the left, the scenario as link and file on the right; works off trials for the report."""
    draw_switch()
    simulated = not session.shows_data()
    told = _stand_in(setup) if simulated else setup
    work, results, error = _trials(told, simulated)
    work.complete = results is not None and results.complete
    left, right = st.columns(2, gap="large")
    with left:
        _draw_report(told, results, error, busy=not (error or work.complete or work.stopped), simulated=simulated)
        work.slot = st.container()
        _draw_programs(setup)
    with right:
        _draw_scenario(setup)
    if error is None:
        show_progress(work)


def _trials(setup: Setup, simulated: bool) -> tuple[Slice, Results | None, InputError | None]:
    """Directional and equal noise on the scenario's task: a slice of the work, or why there is none."""
    work = begin("release_report", setup.scenario.to_json(), simulated)
    try:
        posed = _posed(setup) if simulated else problem(setup)
        return work, work.resume([posed], simulated=simulated)[0], None
    except InputError as error:
        return work, None, error


@cached(2, session.here)
def _stand_in(setup: Setup) -> Setup:
    return on_stand_in(setup, uploaded=session.uploaded_directions())


@cached(2, session.here)
def _posed(told: Setup) -> Problem:
    return pose(told.scenario, told.dataset, uploaded=session.uploaded_directions())


def _draw_report(setup: Setup, results: Results | None, error: InputError | None, *, busy: bool, simulated: bool
                 ) -> None:
    from mvgviz.report.html import report_html

    study = current_study()
    st.markdown("#### Report for others")
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
    scenario, source = setup.scenario, current_source()
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


_DELTAS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
_FIRST_CAP = 3.0
_IMPORTED = "_ledger_imported"


def draw_ledger() -> None:
    """Every release in the ledger, the cap and the ledger's files."""
    ledger = release_desk().ledger
    st.markdown("#### Ledger" if ledger.lasts else "#### Ledger of this session")
    _draw_entries()
    cap, files = st.columns([3, 2], gap="large", vertical_alignment="bottom")
    with cap:
        _draw_cap()
    with files, st.container(horizontal=True):
        for kind, mime, content in (("csv", "text/csv", ledger.to_csv), ("json", "application/json", ledger.to_json)):
            offer_file(f"Ledger as {kind.upper()}", f"ledger.{kind}", mime, content, key=f"release_ledger_{kind}",
                       disabled=not ledger.entries)
        if ledger.lasts:
            _draw_import()
    st.caption(words.LASTS if ledger.lasts else words.SESSION_ONLY)


def _draw_entries() -> None:
    ledger = release_desk().ledger
    entries = ledger.entries
    if not entries:
        st.caption(f"Nothing was released {'yet' if ledger.lasts else 'in this session'}.")
        return
    show_table(words.ledger_rows(ledger), numbers=("μ", "ε", "total ε of the same people"), key="release_ledger")
    st.caption(words.totals_words(ledger))
    if unfinished := words.unfinished_words(entries):
        st.caption(unfinished)


def _draw_cap() -> None:
    """The cap is the ledger's, where it lasts the population's; the controls show it and change it."""
    desk, data = release_desk(), session.scenario().data
    people = desk.population(data) if desk.ledger.lasts else None
    if desk.ledger.lasts and people is None:
        st.caption("A cap can be set when it is said who the records are about.")
        return
    cap = desk.cap(data)
    epsilon, delta = cap or (_FIRST_CAP, _usual_delta())
    st.session_state.update({"release_capped": cap is not None, "release_cap_epsilon": epsilon,
                             "release_cap_delta": delta})

    def change() -> None:
        state = st.session_state
        new = state.get("release_cap_epsilon", epsilon), state.get("release_cap_delta", delta)
        with desk.refusing():
            desk.ledger.set_cap(new if state["release_capped"] else None, people)

    whom = "the same people" if people is None else in_markdown(people)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.toggle(f"Cap what may be spent on {whom}", key="release_capped", on_change=change)
        if cap is not None:
            st.number_input("ε at most", min_value=0.01, max_value=1000.0, step=0.5, key="release_cap_epsilon",
                            format="%g", on_change=change, width=130)
            st.selectbox("at δ", sorted({*_DELTAS, delta}, reverse=True), key="release_cap_delta",
                         format_func=as_probability, on_change=change, width=130)
    if cap is not None:
        st.caption(f"Over ε = {as_number(epsilon)} at δ = {as_probability(delta)} a release is refused before any "
                   "noise is drawn.")


def _usual_delta() -> float:
    entries = release_desk().ledger.entries
    if entries:
        return entries[-1].delta
    try:
        return usual_delta(session.dataset().n_records)
    except InputError:
        return _DELTAS[2]


def _draw_import() -> None:
    """Take in the JSON that an earlier session downloaded."""
    desk = release_desk()
    with st.popover("Bring a downloaded ledger", icon=":material/upload:"):
        file = st.file_uploader("A ledger as JSON", type="json", key="release_ledger_file", help=words.IMPORT_HELP)
        choose_population("Who are its releases about?", "release_ledger_about",
                          st.session_state.get(_IMPORTED), lambda name: st.session_state.update({_IMPORTED: name}))
        population = st.session_state.get(_IMPORTED)

        def take() -> None:
            assert file is not None
            try:
                new = desk.ledger.import_json(file.getvalue().decode("utf-8", "replace"), population=population)
                st.toast(words.imported_words(new, population or ""), icon=":material/check:")
            except InputError as error:
                st.toast(in_markdown(capitalised(str(error))), icon=":material/error:")

        st.button("Count what is in it", key="release_ledger_import", on_click=take,
                  disabled=file is None or population is None)


def draw_releases(setup: Setup | None) -> None:
    """What can be released of a scenario that works out; what was released, and the ledger."""
    usable = setup is None or worked(lambda: draw_release(setup))
    draw_released()
    if usable:
        worked(draw_ledger)


def worked(draw: Callable[[], None]) -> bool:
    """Draw what asks the ledger; a sentence where that cannot be used, and nothing can be released."""
    try:
        draw()
    except InputError as error:
        show_error(error)
        return False
    return True


setup = try_open_page(RELEASE)
draw_keep()
if setup is None:
    draw_releases(None)
else:
    draw_open_tab({"Release": draw_releases, "Report, script, link": draw_exports}, setup, key="release_tab")
