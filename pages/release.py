"""Release & report: release one noisy answer, keep the ledger, export report, program, notebook and link."""

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from mvgviz.errors import InputError
from mvgviz.pictures import ledger as spent
from mvgviz.pictures import release as words
from mvgviz.pictures.sentences import link_words, open_parts
from mvgviz.release.release import plan
from mvgviz.report.script import notebook, python_script
from mvgviz.scenario.resolve import Setup, usual_delta
from mvgviz.text import as_probability, capitalised, in_html, in_markdown, listed
from mvgviz.trials.results import Results
from mvgviz.trials.simulated import on_simulated_data
from mvgviz.ui import release_controls as controls
from mvgviz.ui import session
from mvgviz.ui.cache import cached
from mvgviz.ui.frame import chart, draw_open_tab, draw_switch, offer_file, show_error, show_table, try_open_page
from mvgviz.ui.menu import RELEASE
from mvgviz.ui.release_desk import hardened_factor, release_desk, release_once, ticket
from mvgviz.ui.slices import begin, problem, show_progress
from mvgviz.ui.study import current_source, current_study
from mvgviz.ui.visitors import choose_file

_off_by = cached(8, session.here)(words.off_by)
_DELTAS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
_DETAILS = ("noise", "neighbours", "ranges", "gaps", "records", "treated as public", "hardened")


def draw_release(setup: Setup) -> None:
    planned, desk, data = plan(setup), release_desk(), setup.scenario.data
    spends, lasts = words.spends(setup, planned), desk.ledger.lasts
    left, right = st.columns([2, 3], gap="large")
    with left:
        try:
            factor = hardened_factor(setup)
        except InputError:
            factor = None  # the button says why
        known = words.facts(setup, planned, desk.totals(data, planned), factor,
                            _off_by(setup, on_data=session.shows_data()), lasts=lasts)
        _draw_facts("What this release will spend", [fact for fact in known if fact[0] not in _DETAILS])
        with st.popover("Details and ranges", icon=":material/straighten:", type="tertiary"):
            _draw_facts("How it is released", [fact for fact in known if fact[0] in _DETAILS])
            if not setup.query.is_graph:
                show_table(words.ranges_table(setup.dataset), numbers=())
    with right:
        named = controls.draw_population(data)
        numbers = spent.budget_numbers(desk.ledger, desk.population(data), planned)
        chart(spent.budget_picture(numbers, spent.budget_words(spends, numbers, lasts=lasts, named=named)),
              key="release_budget")
        with st.container(key="release_conditions"):
            symmetrise = setup.query.symmetric and st.checkbox(
                "Make the noisy answer symmetric (free: after the noise)", value="symmetrise" in setup.scenario.post,
                key="release_symmetric")
            controls.draw_go("Release once", release_once, [setup.scenario], key="release", now=ticket(),
                             planned=planned, spends=spends, named=named, check=lambda: hardened_factor(setup),
                             symmetrise=bool(symmetrise))


def _draw_facts(label: str, facts: Sequence[tuple[str, str]]) -> None:
    lines = "".join(f"<dt>{in_html(name)}</dt><dd>{in_html(text)}</dd>" for name, text in facts)
    st.html(f'<dl class="facts" aria-label="{label}">{lines}</dl>')


def draw_exports(setup: Setup) -> None:
    draw_switch()
    simulated = not session.shows_data()
    shown = _on_simulated(setup) if simulated else setup
    work, results, error = begin("release_report", shown.scenario.to_json(), simulated), None, None
    try:
        results = work.resume([problem(shown)], simulated=simulated)[0]
        work.complete = results is not None and results.complete
    except InputError as refused:
        error = refused
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("#### Report for others")
        _draw_report(shown, results, busy=not (error or work.complete or work.stopped), simulated=simulated)
        if error is not None:
            show_error(error)
            st.caption("The report then gives no error of the answer.")
        work.slot = st.container()
        _draw_programs(setup)
    with right:
        st.markdown("#### The scenario")
        st.code(session.link(), language=None, wrap_lines=True)
        st.caption(link_words(setup.scenario))
        offer_file("Scenario as JSON", "scenario.json", "application/json", setup.scenario.to_json,
                   key="release_scenario_json")
    if error is None:
        show_progress(work)


@cached(2, session.here)
def _on_simulated(setup: Setup) -> Setup:
    return on_simulated_data(setup, uploaded=session.uploaded_directions())


def _draw_report(setup: Setup, results: Results | None, *, busy: bool, simulated: bool) -> None:
    from mvgviz.report.html import report_html

    study, parts = current_study(), open_parts(setup)
    offer_file("Report as HTML", "report.html", "text/html", disabled=busy, key="release_report_html",
               content=lambda: report_html(setup, results, simulated=simulated, study=study))
    source = ("come from simulated records with your ranges and record count" if simulated else
              "are **measured on the data itself: not private**. Check before you share it")
    care = f" **Not private:** {listed(parts)}." if parts else ""
    st.caption(f"One file that works offline and prints. It holds no released answer. Its errors {source}.{care}")


def _draw_programs(setup: Setup) -> None:
    scenario, source = setup.scenario, current_source()
    st.markdown("#### Run it without the app")
    with st.container(horizontal=True):
        offer_file("Python program", "program.py", "text/x-python", partial(python_script, scenario, source=source),
                   key="release_program_py")
        offer_file("Notebook", "notebook.ipynb", "application/x-ipynb+json", partial(notebook, scenario, source=source),
                   key="release_notebook_ipynb")
    st.caption("They hold your choices, ranges and levels, never a record. Those accepted from the data are "
               "**not private**; other ranges are read from your file again.")


def draw_ledger() -> None:
    ledger = release_desk().ledger
    st.markdown("#### Ledger" if ledger.lasts else "#### Ledger of this session")
    if ledger.entries:
        show_table(spent.ledger_rows(ledger), numbers=("μ", "ρ", "ε", "total ε"),
                   key="release_ledger")
        st.caption(spent.totals_words(ledger))
        if unfinished := spent.unfinished_words(ledger.entries):
            st.caption(unfinished)
    else:
        st.caption("Nothing was released yet.")
    cap, files = st.columns([3, 2], gap="large", vertical_alignment="bottom")
    with cap:
        _draw_cap()
    with files, st.container(horizontal=True):
        for kind, mime, content in (("csv", "text/csv", ledger.to_csv), ("json", "application/json", ledger.to_json)):
            offer_file(f"Ledger as {kind.upper()}", f"ledger.{kind}", mime, content, key=f"release_ledger_{kind}",
                       disabled=not ledger.entries)
        if ledger.lasts:
            _draw_import()
    st.caption(spent.LASTS if ledger.lasts else spent.SESSION_ONLY)


def _draw_cap() -> None:
    desk, data, state = release_desk(), session.scenario().data, st.session_state
    people = desk.population(data) if desk.ledger.lasts else None
    if desk.ledger.lasts and people is None:
        st.caption("Name the population first; then you can set a cap.")
        return
    cap, entries, held = desk.cap(data), desk.ledger.entries, session.dataset_here()
    epsilon, delta = cap or (
        3.0, entries[-1].delta if entries else _DELTAS[2] if held is None else usual_delta(held.n_records))
    state.update({"release_capped": cap is not None, "release_cap_epsilon": epsilon, "release_cap_delta": delta,
                  "release_cap_pure": desk.ledger.pure_part(people)})

    def change() -> None:
        new = state.get("release_cap_epsilon", epsilon), state.get("release_cap_delta", delta)
        with desk.refusing():
            capped = state["release_capped"]
            desk.ledger.set_cap(new if capped else None, people,
                                pure=state.get("release_cap_pure", 0.0) if capped else 0.0)

    whom = "these people" if people is None else in_markdown(people)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.toggle(f"Cap the budget of {whom}", key="release_capped", on_change=change)
        if cap is not None:
            st.number_input("ε at most", min_value=0.01, max_value=1000.0, step=0.5, key="release_cap_epsilon",
                            format="%g", on_change=change, width=130)
            st.selectbox("at δ", sorted({*_DELTAS, delta}, reverse=True), key="release_cap_delta",
                         format_func=as_probability, on_change=change, width=130)
            st.number_input("Of this, for box and Laplace noise (ε)", min_value=0.0, max_value=1000.0, step=0.1,
                            format="%g", key="release_cap_pure", on_change=change, width=230,
                            help="With 0, you can release only one of the two kinds. Set it before the first release.")


def _draw_import() -> None:
    desk = release_desk()
    with st.popover("Import a ledger", icon=":material/upload:"):
        file = choose_file("A ledger as JSON", type="json", key="release_ledger_file", help=spent.IMPORT_HELP)
        population = st.session_state.get("_ledger_imported")
        controls.choose_population("Who are its releases about?", "release_ledger_about", population,
                                   lambda name: st.session_state.update(_ledger_imported=name))

        def take() -> None:
            assert file is not None
            try:
                new = desk.ledger.import_json(file.getvalue().decode("utf-8", "replace"), population=population)
                st.toast(f"{new:,} more releases count for {in_markdown(population or '')}.", icon=":material/check:")
            except InputError as error:
                st.toast(in_markdown(capitalised(str(error))), icon=":material/error:")

        st.button("Import its releases", key="release_ledger_import", on_click=take,
                  disabled=file is None or population is None)


def draw_releases(setup: Setup | None) -> None:
    fresh = bool(release_desk().releases)
    if fresh:
        controls.draw_released()
        st.markdown("#### Release again")
    usable = setup is None or worked(lambda: draw_release(setup))
    if not fresh:
        controls.draw_released()
    if usable:
        worked(draw_ledger)


def worked(draw: Callable[[], None]) -> bool:
    """Draw what uses the ledger; return False, after a sentence, where the ledger fails."""
    try:
        draw()
    except InputError as error:
        show_error(error)
        return False
    return True


setup = try_open_page(RELEASE)
controls.draw_done()
if setup is None:
    draw_releases(None)
else:
    draw_open_tab({"Release": draw_releases, "Report, script, link": draw_exports}, setup, key="release_tab")
