"""What pages that release share: who the records are about, what has to be ticked, the button, what was released."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from mvgviz.errors import InputError
from mvgviz.pictures import ledger as spent
from mvgviz.pictures import release as words
from mvgviz.pictures.sentences import released_clipping
from mvgviz.pictures.theme import Picture
from mvgviz.release.answer import Release
from mvgviz.release.combine import combine, means_by_group, same_question
from mvgviz.release.entries import tidy
from mvgviz.release.files import files_of, zipped
from mvgviz.release.fitted import fitted_coefficients, labels, population_coefficients, population_means, refusal
from mvgviz.release.fitted import population_refusal as about_population
from mvgviz.release.release import Plan
from mvgviz.scenario.scenario import Scenario
from mvgviz.text import capitalised, epsilon_caution, in_markdown, spreadsheet_cell
from mvgviz.ui import session
from mvgviz.ui.frame import chart, offer_file, show_error, show_table
from mvgviz.ui.release_desk import release_desk


def draw_population(data: str) -> bool:
    """Ask for the population's name; return whether it is known. A ledger in memory needs none."""
    desk = release_desk()
    if not desk.ledger.lasts:
        return True
    population = desk.population(data)
    if population is None or not desk.is_entered(data):
        choose_population("Who are the records about?", f"population_{data}", population,
                          lambda name: desk.name(data, name))
        return population is not None
    also = sorted(desk.ledger.same_people(population) - {population})
    names = " and ".join(f"**{in_markdown(name)}**" for name in (population, *also))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f":material/group: Counts for {names}.")
        if others := [name for name in desk.ledger.populations if name not in desk.ledger.same_people(population)]:
            with st.popover("Same people, other name", type="tertiary", icon=":material/group_add:"):
                other = st.selectbox("Also called", others, key="population_other")
                st.button("Count them together", key="population_join", help=spent.JOIN_HELP, on_click=desk.attempt,
                          args=(desk.ledger.join, population, other))
    return True


def choose_population(label: str, key: str, current: str | None, take: Callable[[str | None], object]) -> None:
    """Draw a field that offers the known populations and takes a new one."""
    desk = release_desk()
    st.selectbox(label, list(dict.fromkeys([*([current] if current else []), *desk.ledger.populations])), index=None,
                 accept_new_options=True, placeholder="A name, such as: patients of 2024", help=spent.POPULATION_HELP,
                 **session.control(key, current, lambda name: desk.attempt(lambda: take(tidy(name) if name else None))))


def draw_go(label: str, release: Callable[..., None], scenarios: Sequence[Scenario], *, key: str, now: str,
            planned: Plan, spends: str, named: bool, check: Callable[[], object] = bool, **chosen: object) -> None:
    """Draw a box for each part that is not private, the last box and the button; say why the last click was refused.

    ``release`` gets the ticket ``now``, what is ``chosen`` and accepted, and a spot to draw on. ``named``: whether the
    population is known.
    """
    desk, refused, data = release_desk(), None, session.dataset()
    try:
        desk.check(session.scenario().data, planned)
        check()
    except InputError as error:
        refused = error
    accepted = tuple(caveat for caveat in planned.caveats if st.checkbox(
        words.accept_words(caveat, data, scenarios), key=f"{key}_accept_{caveat}_{now}"))
    called = f" It is published under the name **{in_markdown(data.title)}**." if data.title else ""
    if caution := epsilon_caution(planned.epsilon, "edge" if session.scenario().is_graph else "record"):
        st.warning(session.promised(caution), icon=":material/warning:")
    sure = st.checkbox(f"I understand that this spends **{spends}** of the privacy budget and cannot be undone."
                       f"{called}", key=f"{key}_sure_{now}", disabled=refused is not None)
    boxes = len(planned.caveats) - len(accepted) + (not sure)
    st.button(label, key=f"{key}_go", type="primary", icon=":material/outbox:", on_click=release, width="stretch",
              args=(now,), kwargs={**chosen, "accept": accepted, "spot": st.empty()},
              disabled=refused is not None or boxes > 0 or not named)
    shown, desk.refusal = refused or desk.refusal, None
    if shown is not None:
        show_error(shown)
    if refused is None and (boxes or not named):
        st.caption(f"Tick the {'box' if boxes == 1 else f'{boxes} boxes'} above to continue." if named else
                   "Name the people above to continue.")


def draw_done() -> None:
    """Say above everything what became of this session's releases; offer one file with all."""
    desk, room = release_desk(), ""
    if not desk.releases:
        return
    last = desk.releases[-1]
    with contextlib.suppress(InputError):  # the page says below why the ledger cannot be read
        room = spent.room_words(spent.budget_numbers(desk.ledger, desk.population(last.data or ""), last))
    kept = desk.ledger.lasts and all(made.number is not None for made in desk.releases)
    fate = (":material/check_circle: **Released**, and kept in the ledger." if kept else
            ":material/warning: **Released. Not kept: download now.** A reload loses these numbers; their budget "
            "stays spent.")
    with st.container(horizontal=True, vertical_alignment="center"):
        offer_file("Download everything released", "released.zip", "application/zip", partial(zipped, desk.releases),
                   key="release_everything", type="primary")
        st.markdown(f"{fate} {room}", width="content")


def draw_released() -> None:
    """Draw the noisy answers of this session, and those that the ledger keeps of its people; never a true one."""
    desk, data = release_desk(), session.scenario().data
    with contextlib.suppress(InputError):  # a name that the ledger proposes: one press makes it this session's
        if (population := desk.proposed(data)) is not None:
            st.button(f"Show past releases of {in_markdown(population)}", key="release_past", icon=":material/history:",
                      on_click=desk.name, args=(data, population))
    releases = desk.shown(data)
    if not releases:
        return
    if not desk.releases:
        st.divider()
    number = len(releases)
    if number > 1:
        number = st.selectbox("Released about these people" if desk.ledger.lasts else "Released in this session",
                              range(number, 0, -1), key=f"release_shown_{number}",
                              format_func=lambda k: f"{k}: {_title(releases[k - 1])}")
    shown = releases[number - 1]
    picture, files = st.columns([3, 2], gap="large")
    with picture:
        chart(words.released_picture(shown), key="release_answer")
    with files:
        st.markdown(f"**{in_markdown(_title(shown))}**")
        place = shown.number or number
        offer_file("This release as ZIP", f"release_{place}.zip", "application/zip", partial(zipped, [shown]),
                   key="release_zip", width="stretch", type="primary")
        for label, key, name, mime, content in files_of(place, shown):
            offer_file(label, name, mime, content, key=f"release_{key}", width="stretch")
        st.caption("Keep the certificate with the CSV: it says what was promised and what is not covered. No file "
                   "contains the true answer.")
    if len(same := same_question(shown, releases)) > 1:
        both = combine(*same)
        with st.container(horizontal=True, vertical_alignment="center"):
            offer_file("Average as CSV", "average.csv", "text/csv", both.to_csv, key="release_average")
            st.markdown(words.average_words(both, shown), width="content")
    if shown.kind.by_group and shown.entry_noise is not None:
        st.markdown("#### Means by group")
        _draw_table(words.group_columns(means_by_group(shown), shown.units), key="release_means")
        st.caption(words.ABOUT_GROUPS)
    else:
        draw_intervals(shown)
    reason = about_population(shown)
    if reason is None:
        st.markdown("#### Error beyond these records")
        found = population_means(shown, releases)
        _draw_table(words.population_columns(found, shown.units), key="release_population")
        st.caption(words.population_words(found, shown.gaps))
    elif shown.kind.is_mean:
        st.caption(f"{capitalised(in_markdown(reason))}.")
    if refusal(shown) is None:
        _draw_fit(shown)


def _title(release: Release) -> str:
    called = release.title or release.data
    return f"{release.kind.title} of {called}, {release.time.replace('T', ' ').replace('+00:00', ' UTC')}"


def draw_intervals(release: Release) -> None:
    """Draw the intervals of a release, or say why it has none."""
    widths = words.released_widths(release)
    if widths is None:
        st.caption(f":material/visibility: {words.NO_INTERVALS}")
        return
    st.markdown("#### Error from the noise")
    if release.kind.is_mean and release.ranges is not None:
        _draw_beside(words.mean_picture(release, widths), words.mean_columns(release), key="release_mean")
    else:
        st.markdown(words.widths_sentence(widths, in_markdown))
        _draw_table(words.number_columns(release) or words.width_columns(widths))
    st.caption(" ".join([released_clipping(release, in_markdown), words.covers_sentences(widths)]))


def _draw_fit(release: Release) -> None:
    names = labels(release)
    usual = None if release.scenario is None else release.scenario.label
    st.markdown("#### What would a regression say?")
    label: str | None = st.selectbox(
        "Feature to predict from the others", names, placeholder="Choose a feature", width=320,
        index=usual if usual is not None and usual < len(names) else None, key=f"release_label_{release.time}")
    if label is None:
        return
    fit = fitted_coefficients(release, label)
    _draw_beside(words.fit_picture(fit), words.coefficient_columns(fit), key="release_fit")
    st.caption(words.ABOUT_FIT)
    try:
        found = population_coefficients(release, label)
    except InputError as error:
        st.caption(f"For the population: {in_markdown(str(error))}.")
        return
    with st.expander("Coefficients of the population (least squares, nothing shrunk)"):
        _draw_table(words.population_columns(found, {}), key="release_population_fit")
        st.caption(words.population_words(found, release.gaps))


def _draw_beside(shown: Picture, columns: Mapping[str, Sequence[Any]], *, key: str) -> None:
    picture, table = st.columns([3, 2], gap="large")
    with picture:
        chart(shown, key=key)
    with table:
        _draw_table(columns, key=f"{key}_table")


def _draw_table(columns: Mapping[str, Sequence[Any]], *, key: str = "release_widths") -> None:
    if columns:
        texts = [head for head in ("feature", "unit", "group", "column") if head in columns]
        harmless = {head: [spreadsheet_cell(name) for name in columns[head]] for head in texts}
        show_table(words.with_dates({**columns, **harmless}), numbers=[head for head in columns if head not in texts],
                   key=key)
