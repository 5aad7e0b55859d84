"""The ledger: every release, the cap, its files, and what comes from another ledger."""

import streamlit as st

from mvgviz.errors import InputError
from mvgviz.scenario.resolve import usual_delta
from mvgviz.text import as_number, as_probability, capitalised, in_markdown, listed, spreadsheet_cell
from mvgviz.ui import session
from mvgviz.ui.frame import offer_file, show_table
from mvgviz.ui.population import choose_population
from mvgviz.ui.session_releases import session_releases
from mvgviz.words import ledger as words

_DELTAS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
_FIRST_CAP = 3.0
_IMPORTED = "_ledger_imported"


def draw_ledger() -> None:
    """Every release in the ledger, the cap and the ledger's files."""
    ledger = session_releases().ledger
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
    ledger = session_releases().ledger
    entries = ledger.entries
    if not entries:
        st.caption(f"Nothing was released {'yet' if ledger.lasts else 'in this session'}.")
        return
    show_table([{
        "time (UTC)": entry.time.replace("T", " ").replace("+00:00", ""),
        **({"about": spreadsheet_cell(entry.population)} if ledger.lasts else {}), "data": entry.data,
        "query": entry.query, "design": spreadsheet_cell(entry.design), "μ": entry.mu, "ε": entry.epsilon,
        "at δ": as_probability(entry.delta), "not covered": listed(list(entry.not_covered)) if entry.caveats else "",
        **({"state": "released" if entry.is_finished else "never finished"} if ledger.lasts else {}),
        "total ε of the same people": entry.total_epsilon} for entry in entries],
        numbers=("μ", "ε", "total ε of the same people"), key="release_ledger")
    st.caption(words.totals_words(ledger))
    if unfinished := words.unfinished_words(entries):
        st.caption(unfinished)


def _draw_cap() -> None:
    """The cap is the ledger's, where it lasts the population's; the controls show it and change it."""
    desk, data = session_releases(), session.scenario().data
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
        try:
            desk.ledger.set_cap(new if state["release_capped"] else None, people)
        except InputError as error:
            desk.refusal = error

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
    entries = session_releases().ledger.entries
    if entries:
        return entries[-1].delta
    try:
        return usual_delta(session.dataset().n_records)
    except InputError:
        return _DELTAS[2]


def _draw_import() -> None:
    """Take in the JSON that an earlier session downloaded."""
    desk = session_releases()
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
