"""What every page shares: menu, sidebar, status strip, one style for errors and takeaways."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import streamlit as st

from mvgviz.errors import InputError
from mvgviz.pictures.glossary import WORDS, Word, words_in
from mvgviz.pictures.picture import Picture
from mvgviz.pictures.sentences import FIELDS
from mvgviz.pictures.strip import strip_html
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_html, capitalised, in_markdown
from mvgviz.ui import session
from mvgviz.ui.assets import asset
from mvgviz.ui.cache import cached
from mvgviz.ui.login import draw_logout
from mvgviz.ui.menu import DATA, PLAN, PRESENT, RELEASE, Page
from mvgviz.ui.sidebar import draw_sidebar
from mvgviz.ui.study import begin, draw_offer, draw_study, say_begun_anew, say_refused, watch_server

_STYLE = f"<style>{asset('frame.css')}</style>"
_EXPLAINED = {word.term: f"<li>{as_html(word.sentence)}</li>" for word in WORDS}
_RELEASING = (PLAN, RELEASE)
ABOUT_PLACE = ("Off: results use simulated data with your ranges and number of records. Looking is free. On: they use "
               "your file. What you choose afterwards may tell about it, so the certificate marks it.")
ABOUT_MARKS = ("Chosen after looking at results on the data: **not private**. A mark stays until the setting has its "
               "default again, or until you say, truthfully:")
_strip = cached(12, session.here)(strip_html)
_SAVING: dict[str, Any] = {"displayModeBar": True, "displaylogo": False, "modeBarButtons": [["toImage"]]}
"""Plotly's own camera button; the frame's style hides it and the two buttons press it."""
_save_chart = st.components.v2.component(
    "mvgviz_save_chart", html='<div class="save"></div>', css=asset("save_chart.css"), js=asset("save_chart.js"))
"""A chart as a picture: PNG and SVG, made by the browser itself, so that it works offline."""


def open_page(page: Page) -> Setup:
    """Draw the frame of a page; the run ends here, with a sentence, where the scenario does not work out."""
    return try_open_page(page) or st.stop()


def open_plain_page(page: Page) -> None:
    """Draw the frame of a page that the scenario has no part in; the page itself writes the link."""
    _begin(page)
    with st.sidebar:
        draw_study()
        draw_logout()
    _title(page)


def open_bare_page(page: Page) -> Setup:
    """A page without menu, sidebar, title and strip; the run ends here where the scenario does not work out."""
    _begin(page)
    return _setup(page) or st.stop()


def try_open_page(page: Page) -> Setup | None:
    """Draw the frame of a page; None, and a sentence, where the scenario does not work out."""
    _begin(page)
    with st.sidebar:
        draw_sidebar()
        draw_study()
        _presenter_switch()
        draw_logout()
    session.write_link()
    _title(page)
    setup = _setup(page)
    if setup is not None:
        st.html(_strip(setup))
        with st.container(horizontal=True, vertical_alignment="center"):
            if page not in _RELEASING:
                draw_switch()
            _draw_marks()
    return setup


def draw_switch() -> None:
    """Whether results are about the person's file or about simulated data: the same on every page."""
    if not session.scenario().is_upload:
        return
    st.session_state["w_my_data"] = session.shows_data()
    st.toggle("My data (not private: later choices are marked)", key="w_my_data", help=ABOUT_PLACE,
              on_change=lambda: session.show_data(st.session_state["w_my_data"]))
    if not session.shows_data():
        st.badge("Simulated data", icon=":material/science:", color="blue")


def _draw_marks() -> None:
    """The marked choices, each with a way to state it as one's own."""
    marked = session.scenario().read_among(session.scenario().from_data)
    if marked:
        with st.popover(f"Marked choices ({len(marked)})", icon=":material/visibility:", type="tertiary"):
            st.caption(ABOUT_MARKS)
            for name in marked:
                st.button(f"{capitalised(FIELDS[name])}: I would have chosen this without the data", type="tertiary",
                          key=f"w_own_{name}", on_click=session.would_choose, args=(name,))


def show_error(error: InputError) -> None:
    """The one style for what a person can mend."""
    text = str(error)
    if "." not in text.split(" ")[0]:  # a file's name keeps its case
        text = capitalised(text)
    st.error(in_markdown(text), icon=":material/error:")  # it may name a column


def chart(picture: Picture, *, key: str) -> None:
    """Draw a picture with its takeaway under it."""
    st.plotly_chart(picture.figure, key=key, alt=picture.text_alternative, config=_SAVING)
    draw_takeaway(picture.takeaway, picture.about, key=key)


def draw_takeaway(takeaway: str, about: str = "", *, key: str) -> None:
    """Draw what stands under the picture with this key: the takeaway, what it shows, and buttons to save it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(takeaway)
        used = words_in(f"{takeaway} {about}")
        if about or used:
            with st.popover("What this shows", type="tertiary", icon=":material/help:"):
                st.markdown(about)
                if used:
                    _explain(used)
        draw_save(key)


def _explain(used: Iterable[Word]) -> None:
    """Words of the glossary, one a line; it takes the focus, so that keys scroll a long list."""
    lines = "".join(_EXPLAINED[word.term] for word in used)
    st.html(f'<div tabindex="0" role="group" aria-label="What the words mean"><ul>{lines}</ul></div>')


def draw_save(key: str) -> None:
    """Buttons that save the chart with this key as it looks on the screen."""
    _save_chart(key=f"{key}_save", data={"key": key}, width="content")


def show_table(columns: Any, *, numbers: Iterable[str], **options: Any) -> None:
    """A table that can be sorted; ``numbers`` names the columns that are cut to four digits."""
    import pandas as pd

    four_digits = st.column_config.NumberColumn(format="%.4g")
    st.dataframe(pd.DataFrame(columns), hide_index=True, column_config=dict.fromkeys(numbers, four_digits), **options)


def offer_file(label: str, name: str, mime: str, content: Callable[[], str | bytes], **options: Any) -> None:
    """A button for a file that is made when it is asked for."""
    st.download_button(label, data=lambda: text.encode() if isinstance(text := content(), str) else text,
                       file_name=name, mime=mime, icon=":material/download:", on_click="ignore", **options)


def draw_open_tab(panels: Mapping[str, Callable[..., None]], *given: object, key: str,
                  refused: Callable[[InputError], None] = show_error) -> None:
    """Tabs by their names, of which only the open one is worked out, from what is given, or says why it is ``refused``.
    """
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
    _begin_study(page)


def _begin_study(page: Page) -> None:
    """What the command was given is taken in a session's first run, where the data is."""
    try:
        if begin() and page is not DATA:
            st.switch_page(DATA.path)
    except InputError as error:
        show_error(error)


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
        show_error(InputError("the server has too little memory for this question: ask it of fewer records or columns, "
                              "ask for a mean or second moments, or try again later"))
        return None
    except InputError as error:
        show_error(error)
        if str(error).startswith("a record bound"):
            st.button("Leave the records as they are", key="without_bound", icon=":material/undo:",
                      on_click=session.update, kwargs={"bound": "none"})
        return None


def _title(page: Page) -> None:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.subheader(page.question, anchor=False, width="content")
        with st.popover("Words", type="tertiary", icon=":material/menu_book:", key="words"):
            _explain(WORDS)
    say_refused()
    say_begun_anew()
    for sentence in session.notices():
        st.info(f"A part of the link was ignored: {in_markdown(sentence)}", icon=":material/link_off:")


def _presenter_switch() -> None:
    """Menus away, one picture a screen; leaving comes back to this page."""
    if st.button("Presenter's view", key="w_present", icon=":material/slideshow:", width="stretch",
                 help="One picture a screen, large type, light background; arrow keys go on, Esc comes back"):
        st.switch_page(PRESENT.path, query_params=session.scenario().to_query())
