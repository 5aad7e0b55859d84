"""The presenter's view: no menus, large type, one picture a screen on white; arrow keys go on."""

from __future__ import annotations

import re

import streamlit as st

from mvgviz.errors import InputError
from mvgviz.report.slides import Slide, design_slides, utility_slide
from mvgviz.scenario.resolve import Setup
from mvgviz.trials.resumable import Point
from mvgviz.ui import session, slices
from mvgviz.ui.frame import show_error
from mvgviz.ui.menu import SHAPE

_STYLE = """<style>
[data-testid=stSidebar], [data-testid=stHeader], [data-testid=stExpandSidebarButton] {display: none;}
.stApp {background: #fff; color: #1a1a1a; color-scheme: light;}
.stApp [data-testid=stMarkdownContainer], .stApp [data-testid=stCaptionContainer] {color: #1a1a1a;}
.stMainBlockContainer {padding: 1.2rem 3rem 1rem; max-width: 100rem;}
.st-key-slide h1 {font-size: clamp(1.5rem, 3.2vw, 2.5rem); line-height: 1.2; padding: 0; margin: 0; color: #1a1a1a;}
.st-key-slide p {font-size: clamp(1.05rem, 1.7vw, 1.4rem); margin: .4rem 0 0; color: #333;}
.stApp button {background: #fff; color: #1a1a1a; border: 1px solid #767676;}
.stApp button:hover {background: #eee; color: #1a1a1a;}
.stApp button:disabled {color: #757575; border-color: #bbb;}
.stApp button * {color: inherit !important;}
@media (max-width: 640px) {.stMainBlockContainer {padding: .8rem 1rem;}}
</style>"""
_AT = "_slide"
_TITLE = 110  # letters, at most


def draw_deck(setup: Setup) -> None:
    """The slide one is at, and the way on."""
    st.html(_STYLE)
    deck: list[Slide | None] = [*design_slides(setup), None]  # None: the trials, run when one comes to them
    at = _place(len(deck))
    session.write_link(slide=str(at + 1))
    slide, unfinished = deck[at], None
    if slide is None:
        slide, unfinished = _trials(setup)
    if slide is not None:
        _draw(slide)
    _draw_ways(at, len(deck))
    if unfinished is not None:
        slices.show_progress_and_rerun(unfinished, complete=False)


def headline(takeaway: str) -> tuple[str, str]:
    """A takeaway as a title and the rest: the whole of it where it is short, else its bold beginning."""
    found = re.match(r"\*\*(.+?)\*\*\s*(.*)", takeaway, re.DOTALL)
    if found is None or len(takeaway) <= _TITLE:
        return takeaway.replace("**", ""), ""
    return found[1].rstrip(":"), found[2][:1].upper() + found[2][1:]


def _trials(setup: Setup) -> tuple[Slide | None, slices.Slice | None]:
    work = slices.begin("present", setup.scenario.to_json())
    try:
        results = work.resume([Point(slices.problem(setup), ("mvg", "iid"))])[0]
    except InputError as error:
        show_error(error)
        return None, None
    if results is None:
        return None, work
    return utility_slide(results), None if results.complete else work


def _draw(slide: Slide) -> None:
    title, rest = headline(slide.takeaway)
    with st.container(key="slide"):
        st.title(title, anchor=False)
        if rest:
            st.markdown(rest)
    margin = max(slide.figure.layout.margin.t or 0, 60)
    figure = slide.figure.update_layout(template="plotly_white", height=600, font={"size": 18, "color": "#1a1a1a"},
                                        legend={"font": {"size": 18}}, margin={"t": margin})
    figure.update_xaxes(title_font_size=20, tickfont_size=16).update_yaxes(title_font_size=20, tickfont_size=16)
    figure.update_annotations(font_size=16, font_color="#1a1a1a")
    st.plotly_chart(figure, key=f"present_{slide.key}", theme=None, alt=slide.takeaway.replace("**", ""),
                    config={"displayModeBar": False})


def _draw_ways(at: int, size: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="center"):
        st.button("Back", key="present_back", icon=":material/arrow_back:", shortcut="Left", disabled=at == 0,
                  on_click=_go, args=(at - 1,))
        st.markdown(f"{at + 1} of {size}")
        st.button("Next", key="present_next", icon=":material/arrow_forward:", shortcut="Right",
                  disabled=at == size - 1, on_click=_go, args=(at + 1,))
        if st.button("Leave", key="present_leave", icon=":material/close:", shortcut="Esc"):
            st.switch_page(st.session_state.pop("_present_from", SHAPE.path),
                           query_params=session.scenario().to_query())


def _place(size: int) -> int:
    """The slide that was gone to, else the one of the address."""
    asked = st.session_state.get(_AT)
    if asked is None:
        text = st.query_params.get("slide", "1")
        asked = int(text) - 1 if text.isdecimal() and len(text) < 4 else 0
    at = min(max(asked, 0), size - 1)
    st.session_state[_AT] = at
    return at


def _go(to: int) -> None:
    st.session_state[_AT] = to
