"""Present: the scenario in a few pictures, one a screen."""


import plotly.graph_objects as go
import streamlit as st

from mvgviz.errors import InputError
from mvgviz.pictures.picture import Picture
from mvgviz.pictures.theme import INK
from mvgviz.report.slides import design_slides, headline, utility_slide
from mvgviz.scenario.resolve import Setup
from mvgviz.ui import session, slices
from mvgviz.ui.assets import asset
from mvgviz.ui.cache import cached
from mvgviz.ui.frame import draw_switch, open_bare_page, show_error
from mvgviz.ui.menu import PRESENT, SHAPE

_ROOM = 10  # pixels above the labels, which are larger here
_slides = cached(2, session.here)(design_slides)


def draw_deck(setup: Setup) -> None:
    """The slide one is at, and the way on."""
    st.html(f"<style>{asset('presenter.css')}</style>")
    slides = _slides(setup)
    deck = [*slides, "utility"]  # the trials, run when one comes to them
    at = _place(len(deck))
    session.write_link(slide=str(at + 1))
    picture, unfinished = (slides[deck[at]], None) if deck[at] in slides else _trials(setup)
    if picture is not None:
        _draw(picture, deck[at])
    _draw_ways(at, len(deck))
    if unfinished is not None:
        slices.show_progress(unfinished)


def _trials(setup: Setup) -> tuple[Picture | None, slices.Slice | None]:
    work = slices.begin("present", setup.scenario.to_json())
    try:
        results = work.resume([slices.problem(setup)])[0]
    except InputError as error:
        show_error(error)
        return None, None
    if results is None:
        return None, work
    return utility_slide(setup, results, simulated=session.is_simulated()), None if results.complete else work


def _draw(picture: Picture, name: str) -> None:
    title, rest = headline(picture.takeaway)
    with st.container(key="slide"):
        st.title(title, anchor=False)
        if rest:
            st.markdown(rest)
    margin = max(picture.figure.layout.margin.t or 0, 60) + _ROOM
    figure = go.Figure(picture.figure)  # a copy: the picture is kept, for every session
    figure.update_layout(template="plotly_white", height=None, font={"size": 18, "color": INK},
                         legend={"font": {"size": 18}}, margin={"t": margin})
    axis = {"title_font_size": 20, "tickfont_size": 16, "constrain": "domain"}  # a circle grows with the screen
    figure.update_xaxes(axis).update_yaxes(axis)
    figure.update_annotations(font_size=16, font_color=INK)
    with st.container(key="slide_picture"):
        st.plotly_chart(figure, key=f"present_{name}", theme=None, alt=picture.text_alternative,
                        height="stretch", config={"displayModeBar": False})


def _draw_ways(at: int, size: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="center"):
        st.button("Back", key="present_back", icon=":material/arrow_back:", shortcut="Left", disabled=at == 0,
                  on_click=st.session_state.update, args=({session.SLIDE: at - 1},))
        st.markdown(f"{at + 1} of {size}")
        st.button("Next", key="present_next", icon=":material/arrow_forward:", shortcut="Right",
                  disabled=at == size - 1, on_click=st.session_state.update, args=({session.SLIDE: at + 1},))
        if st.button("Leave", key="present_leave", icon=":material/close:", shortcut="Esc"):
            session.come_back(SHAPE.path)
        draw_switch()


def _place(size: int) -> int:
    """The slide that was gone to, else the one of the address."""
    asked = st.session_state.get(session.SLIDE)
    if asked is None:
        text = st.query_params.get("slide", "1")
        asked = int(text) - 1 if text.isdecimal() and len(text) < 4 else 0
    at = st.session_state[session.SLIDE] = min(max(asked, 0), size - 1)
    return at


draw_deck(open_bare_page(PRESENT))
