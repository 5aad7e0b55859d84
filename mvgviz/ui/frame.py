"""Draw what every page shares: sidebar, title, status strip, takeaways and errors."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from mvgviz.errors import InputError
from mvgviz.pictures.sentences import FIELDS, WORDS, Word, words_in
from mvgviz.pictures.strip import strip_html
from mvgviz.pictures.theme import Picture
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_html, capitalised, in_markdown
from mvgviz.ui import session
from mvgviz.ui.assets import asset
from mvgviz.ui.cache import cached
from mvgviz.ui.history import change_words, differing
from mvgviz.ui.menu import DATA, PLAN, PRESENT, RELEASE, Page
from mvgviz.ui.sidebar import LIVE, draw_sidebar
from mvgviz.ui.sidebar_design import Part
from mvgviz.ui.slices import replying
from mvgviz.ui.study import begin, draw_offer, draw_study, keep_study, say_refused, say_restarted, watch_server
from mvgviz.ui.visitors import draw_badge, draw_logout, may_enter

_STYLE = f"<style>{asset('frame.css')}</style>"
_EXPLAINED = {word.term: f"<li>{as_html(word.sentence)}</li>" for word in WORDS}
_RELEASING = (PLAN, RELEASE)
ABOUT_PLACE = ("Off: simulated data with your ranges and record count. Looking is free unless these were read from the "
               "data. On: your file. What you choose afterwards is marked as not private.")
ABOUT_MARKS = "You chose these after looking at the data: **not private**. Remove a mark only if its sentence is true."
_strip = cached(12, session.here)(strip_html)
_SAVING: dict[str, Any] = {"displayModeBar": True, "displaylogo": False, "modeBarButtons": [["toImage"]]}
"""Plotly's camera button, which the frame's style hides and the two buttons press."""
_SAVE = "".join(f'<button type="button" data-chart="{{key}}" data-format="{name.lower()}" title="Save this chart as '
                f'{name}" aria-label="Save this chart as {name}">{name}</button>' for name in ("PNG", "SVG"))
"""Buttons for which `save_chart.js` listens: the browser makes the files, also offline."""


def open_page(page: Page) -> Setup:
    """Draw the frame of a page; end the run, after a sentence, where the scenario does not work out."""
    return try_open_page(page) or st.stop()


def open_plain_page(page: Page) -> None:
    """Draw the frame of a page without a scenario; the page itself writes the link."""
    _begin(page)
    with st.sidebar:
        draw_study()
        keep_study()
        draw_logout()
    _title(page)
    _say()


def open_bare_page(page: Page) -> Setup:
    """Begin a page without menu, sidebar, title and strip; end the run where the scenario does not work out."""
    _begin(page)
    return _setup(page) or st.stop()


def try_open_page(page: Page) -> Setup | None:
    """Draw the frame of a page; None, after a sentence, where the scenario does not work out."""
    setup: Setup | None = _draw(_open(page))
    return setup


def open_live_page(page: Page) -> tuple[Setup, Callable[..., None]]:
    """Draw the frame of a page of which the last part alone follows the sliders; return what draws that part.

    It takes a place, what draws there (given the setup), and what else this is given. Sliders and strip belong to it.
    """
    with st.sidebar:
        here = st.container()  # the first of all: a part has its name from its place, and the browser calls it by that
    parts, whole, data = _open(page), session.scenario(), session.version()
    try:
        setup = session.setup()
    except (InputError, MemoryError):
        _draw(parts)
        st.stop()

    def draw_live(place: DeltaGenerator, draw: Callable[..., None], *given: object) -> None:
        alone = False

        @st.fragment
        def live() -> None:
            nonlocal alone
            with replying():
                session.note_part(alone=alone)
                alone = True
                moved = {*differing(whole, session.scenario())} - {*LIVE} or data != session.version()
                if moved or not may_enter() or (setup := _draw(parts)) is None:
                    st.rerun()
                with place:
                    draw(setup, *given)

        with here:
            live()

    return setup, draw_live


def _draw(parts: Iterable[Part]) -> Any:
    """Draw parts where they stand; return what the last one gives."""
    for place, draw in parts:
        with place:
            drawn = draw()
    return drawn


def _open(page: Page) -> list[Part]:
    """Draw the frame of a page and return the parts that follow the sliders of the sidebar."""
    _begin(page)
    with st.sidebar:
        parts = draw_sidebar()
        draw_study()
        if st.button("Presenter's view", key="w_present", icon=":material/slideshow:", width="stretch",
                     help="Five slides in large type. Arrow keys move on, N shows notes, Esc comes back."):
            st.switch_page(PRESENT.path, query_params=session.scenario().to_query())
        draw_logout()
    return [*parts, (_title(page), _draw_undo), (st.container(), partial(_draw_facts, page))]


def _draw_facts(page: Page) -> Setup | None:
    keep_study()
    _say()
    setup = _setup(page)
    if setup is not None:
        if page.strip:
            st.html(_strip(setup))
        with st.container(horizontal=True, vertical_alignment="center"):
            if page not in _RELEASING:
                draw_switch()
            _draw_marks()
    return setup


def draw_switch() -> None:
    """Draw the switch between results on the person's file and on simulated data, the same on every page."""
    if not session.scenario().is_upload:
        return
    st.toggle("My data (not private; marks later choices)", help=ABOUT_PLACE,
              **session.control("w_my_data", session.shows_data(), session.show_data))
    if not session.shows_data():
        st.badge("Simulated data", icon=":material/science:", color="blue")


def _draw_marks() -> None:
    marked = session.scenario().read_among(session.scenario().from_data)
    if marked:
        with st.popover(f"Marked choices ({len(marked)})", icon=":material/visibility:", type="tertiary"):
            st.caption(ABOUT_MARKS)
            for name in marked:
                st.button(f"{capitalised(FIELDS[name])}: I would choose the same without the data", type="tertiary",
                          key=f"w_own_{name}", on_click=session.would_choose, args=(name,))


def show_error(error: InputError) -> None:
    """Draw an error that the person can mend."""
    text = str(error)
    if "." not in text.split(" ")[0]:  # a file's name keeps its case
        text = capitalised(text)
    st.error(in_markdown(text), icon=":material/error:")  # it may name a column


def chart(picture: Picture, *, key: str) -> None:
    """Draw a picture with its takeaway under it."""
    st.plotly_chart(picture.figure, key=key, alt=session.promised(picture.text_alternative), config=_SAVING)
    draw_takeaway(picture.takeaway, picture.about, key=key)


def draw_charts(pictures: Mapping[str, Picture], widths: Sequence[int] = ()) -> None:
    """Draw pictures by their keys beside each other."""
    columns = st.columns(widths or len(pictures), gap="large" if len(pictures) < 3 else "medium")
    for column, (key, picture) in zip(columns, pictures.items(), strict=True):
        with column:
            chart(picture, key=key)


def draw_takeaway(takeaway: str, about: str = "", *, key: str) -> None:
    """Draw what stands under the picture with this key: the takeaway, what it shows, and buttons to save it."""
    takeaway, about = session.promised(takeaway), session.promised(about)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(takeaway)
        used = words_in(f"{takeaway} {about}")
        if about or used:
            with st.popover("What this shows", type="tertiary", icon=":material/help:"):
                if about:
                    st.markdown(about)
                if used:
                    _explain(used)
        st.html(f'<div class="save">{_SAVE.format(key=key)}</div>', width="content")


def _explain(used: Iterable[Word]) -> None:
    """Draw glossary words, one a line; the list takes the focus, so keys scroll it."""
    lines = "".join(_EXPLAINED[word.term] for word in used)
    st.html(f'<div tabindex="0" role="group" aria-label="What the words mean"><ul>{lines}</ul></div>')


def show_table(columns: Any, *, numbers: Iterable[str], **options: Any) -> None:
    """Draw a table to sort; ``numbers`` names the columns cut to four digits."""
    import pandas as pd

    frame, four_digits = pd.DataFrame(columns), st.column_config.NumberColumn(format="%.4g")
    given = {name: four_digits for name in numbers if pd.api.types.is_numeric_dtype(frame[name])}
    st.dataframe(frame, hide_index=True, column_config=given, **options)


def offer_file(label: str, name: str, mime: str, content: Callable[[], str | bytes], **options: Any) -> None:
    """Draw a button for a file that is made on request."""
    st.download_button(label, data=lambda: text.encode() if isinstance(text := content(), str) else text,
                       file_name=name, mime=mime, icon=":material/download:", on_click="ignore", **options)


def draw_open_tab(panels: Mapping[str, Callable[..., None]], *given: object, key: str,
                  refused: Callable[[InputError], None] = show_error) -> None:
    """Draw tabs by name; only the open one works, on what is ``given``, or says why it is ``refused``."""
    for tab, draw in zip(st.tabs(list(panels), key=key, on_change="rerun"), panels.values(), strict=True):
        if tab.open:
            with tab:
                try:
                    draw(*given)
                except InputError as error:
                    refused(error)


def _begin(page: Page) -> None:
    st.set_page_config(page_title=f"{page.label} · mvgviz")
    st.html(_STYLE)
    session.note_page(page.path, aside=page is PRESENT, releases=page in _RELEASING)
    session.adopt_link()
    watch_server()
    try:  # a session's first run takes the command's file or study on the page of the data
        if begin() and page is not DATA:
            st.switch_page(DATA.path)
    except InputError as error:
        show_error(error)


def _draw_undo() -> None:
    """Draw undo, redo and the last choices in words; one click goes back to any of them."""
    session.write_link()
    kept = session.history()
    last = len(kept.entries) - 1
    for key, icon, words, to in (("w_undo", "undo", "Undo", kept.at - 1), ("w_redo", "redo", "Redo", kept.at + 1)):
        st.button(words, key=key, icon=f":material/{icon}:", type="tertiary", disabled=not 0 <= to <= last,
                  on_click=session.go_back_to, args=(to,))
    if last > 0:
        features = () if (data := session.dataset_here()) is None else data.features
        steps = ["start", *(change_words(*pair, features) for pair in pairwise(kept.entries))]
        labels = [f"{k}. {in_markdown(words)}{' (now)' * (k == kept.at)}" for k, words in enumerate(steps)]
        st.menu_button("History", range(last, -1, -1), key="w_history", icon=":material/history:", type="tertiary",
                       format_func=labels.__getitem__,
                       on_click=lambda: session.go_back_to(st.session_state["w_history"]))


def _setup(page: Page) -> Setup | None:
    try:
        return session.setup()
    except session.FileNotHereError as error:
        if not draw_offer():
            show_error(error)
        if page is not DATA:
            st.page_link(DATA.path, label=f"To {DATA.label}", icon=":material/arrow_forward:")
        return None
    except MemoryError:
        show_error(InputError("the server has too little memory for this query: use fewer records or columns, or ask "
                              "for a mean"))
        return None
    except InputError as error:
        show_error(error)
        if session.scenario().bound != "none" and "bound" in str(error):
            st.button("Do not clip records", key="without_bound", icon=":material/undo:",
                      on_click=session.update, kwargs={"bound": "none"})
        return None


def _title(page: Page) -> DeltaGenerator:
    """Draw a page's title and question; return the place for undo."""
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.subheader(page.label, anchor=False, width="content")
        with st.container(horizontal=True, vertical_alignment="center", width="content", gap="xsmall"):
            draw_badge()
            undo = st.container(horizontal=True, vertical_alignment="center", width="content", gap="xsmall")
            with st.popover("Words", type="tertiary", icon=":material/menu_book:", key="words"):
                _explain(WORDS)
    st.html(f'<p class="question">{session.promised(page.question)}</p>')
    say_restarted()
    return undo


def _say() -> None:
    """Say what has to be said once."""
    say_refused()
    for sentence in st.session_state.pop(session.NOTICES, ()):
        st.info(f"A part of the link was ignored: {in_markdown(sentence)}", icon=":material/link_off:")
