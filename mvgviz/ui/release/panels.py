"""Release: what will be spent, what has to be accepted, the one click; what was released."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from mvgviz.errors import InputError
from mvgviz.figures.release.budget import budget_numbers, plot_budget
from mvgviz.figures.shared.matrix_map import plot_matrix, top_left
from mvgviz.release.files import to_csv, to_intervals_csv, to_metadata_json, to_npy
from mvgviz.release.ledger import CAVEATS
from mvgviz.release.release import Plan, Release, plan
from mvgviz.scenario.resolve import Setup
from mvgviz.text import in_html, in_markdown, listed
from mvgviz.ui import session
from mvgviz.ui.frame import chart, offer_file, show_error, show_table
from mvgviz.ui.population import draw_population
from mvgviz.ui.release.intervals import draw_intervals, off_by
from mvgviz.ui.session_releases import hardened_factor, release_once, session_releases, ticket
from mvgviz.words import release as words
from mvgviz.words.provenance import chosen_on_data

_FACTS = """<style>
.facts {display: grid; grid-template-columns: minmax(5rem, max-content) 1fr; gap: .15rem .9rem; margin: 0;
        padding: 0 !important; font-size: .92rem;}
.facts dt {opacity: .75; font-weight: 400;}
.facts dd {margin: 0; overflow-wrap: anywhere;}
.st-key-release_conditions label * {white-space: normal; text-overflow: clip; overflow: visible;}
</style>"""
_FILES: tuple[tuple[str, str, str, str, Callable[..., str | bytes]], ...] = (
    ("Noisy answer as CSV", "csv", ".csv", "text/csv", to_csv),
    ("An interval for each number, as CSV", "intervals", "_intervals.csv", "text/csv", to_intervals_csv),
    ("Noisy answer as NPY", "npy", ".npy", "application/octet-stream", to_npy),
    ("What is to be known about it, as JSON", "json", ".json", "application/json", to_metadata_json))
"""Label, key, end of the name, type and content."""


def draw_release(setup: Setup) -> None:
    """What will be spent, in words and as a bar; then what has to be ticked, and the button."""
    planned = plan(setup)
    left, right = st.columns([2, 3], gap="large")
    with left:
        _draw_summary(setup, planned)
    with right:
        named = draw_population(setup.scenario.data)
        _draw_budget(setup, planned, named=named)
        with st.container(key="release_conditions"):
            _draw_button(setup, planned, named=named)


def _draw_budget(setup: Setup, planned: Plan, *, named: bool) -> None:
    desk, data = session_releases(), setup.scenario.data
    before = [entry.mu for entry in desk.entries_about(data)]
    numbers = budget_numbers(before, planned.mu, delta=planned.delta, cap=desk.cap(data))
    chart(plot_budget(numbers), words.budget_words(setup, numbers, planned, lasts=desk.ledger.lasts, named=named),
          key="release_budget")


def _draw_summary(setup: Setup, planned: Plan) -> None:
    desk = session_releases()
    so_far = desk.total(setup.scenario.data, delta=planned.delta)
    try:
        factor = hardened_factor(setup)
    except InputError:
        factor = None  # the button says why
    lines = "".join(f"<dt>{in_html(name)}</dt><dd>{in_html(text)}</dd>"
                    for name, text in words.facts(setup, planned, so_far, factor, off_by(setup),
                                                  lasts=desk.ledger.lasts))
    st.html(f'{_FACTS}<dl class="facts" aria-label="What this release will spend">{lines}</dl>')
    if not setup.query.is_graph:
        with st.popover("Every range", icon=":material/straighten:", type="tertiary"):
            show_table(words.ranges_table(setup.dataset), numbers=())
            st.caption("In the data's own units.")


def _draw_button(setup: Setup, planned: Plan, *, named: bool) -> None:
    """Everything that has to be ticked, then the click; ``named``: whether it is known who the records are about."""
    held, now = session_releases(), ticket()
    accepted = tuple(caveat for caveat in planned.caveats
                     if st.checkbox(words.ACCEPT[caveat], key=f"release_accept_{caveat}_{now}"))
    symmetrise = setup.query.symmetric and st.checkbox(
        "Make the noisy answer symmetric (free: after the noise)", value="symmetrise" in setup.scenario.post,
        key="release_symmetric")
    _draw_own_choices(setup)
    refused = _refusal(setup, planned)
    missing = [CAVEATS[caveat] for caveat in planned.caveats if caveat not in accepted]
    certain = st.checkbox(f"I understand that this spends **{words.spends(setup, planned)}**, once and for good.",
                          key=f"release_sure_{now}", disabled=refused is not None)
    st.button("Release once", key="release_go", type="primary", icon=":material/outbox:", on_click=release_once,
              args=(now, accepted, bool(symmetrise), st.empty()), width="stretch",
              disabled=refused is not None or bool(missing) or not certain or not named)
    if refused is not None:
        show_error(refused)
    elif not named:
        st.caption("Not before you say who the records are about.")
    elif missing:
        st.caption(f"Not before you accept: {listed(missing)}.")
    elif not certain:
        st.caption("Not before the box above is ticked. Fresh noise from the operating system, drawn once; a release "
                   "cannot be taken back.")
    else:
        st.caption(f"Draws fresh noise once and spends {words.spends(setup, planned)}.")
    if held.releases:
        st.caption(f":material/check: {len(held.releases):,} released in this session: see below.")
    if held.refusal is not None and refused is None:  # else it is said above
        show_error(held.refusal)
    held.refusal = None


def _draw_own_choices(setup: Setup) -> None:
    """Choices made on the data, by name; a person may state them as their own."""
    chosen = chosen_on_data(setup.scenario)
    if chosen:
        st.caption(f":material/visibility: Chosen by looking at the data: {listed(chosen)}.")
        st.button("I would have chosen these without the data", key="release_own_choices", icon=":material/edit_note:",
                  help="Only if it is true: with the domain's knowledge, or on other data. The certificate then calls "
                       "them declared.", on_click=session.update, kwargs={"from_data": ()})


def _refusal(setup: Setup, planned: Plan) -> InputError | None:
    """Why no release can be made, before any noise is drawn."""
    try:
        session_releases().check(setup.scenario.data, planned.mu)
        hardened_factor(setup)
    except InputError as error:
        return error
    return None


def draw_released() -> None:
    """The noisy answers of this session and their files; nothing true is in them."""
    releases = session_releases().releases
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
        _draw_noisy(shown)
    with files:
        st.markdown(f"**{in_markdown(_title(shown))}**")
        stem = f"release_{number}_{shown.data}_{shown.query.replace(' ', '_')}"
        for label, key, end, mime, content in _FILES:
            if content is not to_intervals_csv or shown.entry_noise is not None:
                offer_file(label, f"{stem}{end}", mime, partial(content, shown), key=f"release_{key}", width="stretch")
        st.caption(f"{words.KEPT} Keep the JSON beside the numbers: it says what was promised, for which neighbours "
                   "and ranges, and what is not covered. The true answer is in none of them.")
    draw_intervals(shown)


def _title(release: Release) -> str:
    return f"{release.query} of {release.data}, {release.time.replace('T', ' ').replace('+00:00', ' UTC')}"


def _draw_noisy(release: Release) -> None:
    shown = top_left(release.noisy)
    rows = [in_html(name) for name in (release.row_names or ())[: shown.shape[0]]]
    square = release.noisy.shape[0] == release.noisy.shape[1] and release.query != "identity"
    part = f" The first {shown.shape[0]} × {shown.shape[1]} shown." if shown.size < release.noisy.size else ""
    across = "record" if release.query == "identity" else "feature" if rows and square else "column"
    cols = rows if square else ["mean"] if release.query == "mean" else []
    chart(plot_matrix(shown, row_labels=rows, col_labels=cols, height=300,
                      row_title="feature" if rows else "row", col_title=across, value_title="noisy answer"),
          f"{words.released_words(release, release.n_records or 0)}{part}", key="release_answer")
