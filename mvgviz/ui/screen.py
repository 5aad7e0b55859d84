"""Show the lesson and its game on a wall and on phones: a projector's view, a link with its QR code, a handout."""

from functools import partial
from typing import Any
from urllib.parse import urlencode

import plotly.graph_objects as go
import streamlit as st

from mvgviz.pictures.theme import Picture
from mvgviz.report.lesson import handout_html, lesson_html, qr_code
from mvgviz.ui import door, session
from mvgviz.ui.assets import asset
from mvgviz.ui.cache import cached, of_server
from mvgviz.ui.frame import offer_file
from mvgviz.ui.menu import LESSON

_lesson_file = cached(1, of_server)(lesson_html)
_MOVED = "_lesson_moved"
_VIEWS = {"big": "_lesson_big", "pupil": "_lesson_pupil"}
"""The projector's and a pupil's, each a parameter of a link, a key of the session and a style."""


def adopt_place() -> dict[str, str]:
    """Return the address's parameters and take its view; nothing after a control, when the address is old."""
    asked = {} if st.session_state.pop(_MOVED, False) else st.query_params.to_dict()
    if asked:
        st.session_state.update({key: asked.get(view) == "1" for view, key in _VIEWS.items()})
    for style in ("lesson", *shown_views()):
        st.html(f"<style>{asset(f'{style}.css')}</style>")
    return asked


def shown_views() -> dict[str, str]:
    """Return the view as parameters of a link."""
    return {view: "1" for view, key in _VIEWS.items() if st.session_state.get(key, False)}


def write_place(**place: str) -> None:
    """Mirror the place and the view in the address bar."""
    session.write_link(**place, **shown_views())


def moved(**changes: Any) -> None:
    """Change the session's state from a control; this run ignores the address, which is old."""
    st.session_state.update({**changes, _MOVED: True})


def say_ignored(allowed: str) -> None:
    """Say what a link may hold."""
    st.info(f"A part of the link was ignored: {allowed}.", icon=":material/link_off:")


def is_big() -> bool:
    """Return whether the view is the projector's."""
    return "big" in shown_views()


def draw_screen_switch() -> None:
    """Draw the button into or out of the projector's view; pupils have none."""
    if "pupil" in shown_views():
        return
    label, icon, shortcut = ("Leave", "close", "Esc") if is_big() else ("Big screen", "slideshow", None)
    st.button(label, key="lesson_big", icon=f":material/{icon}:", shortcut=shortcut, on_click=moved,
              kwargs={_VIEWS["big"]: not is_big()},
              help="Arrow keys move on, Esc comes back.")


def enlarge(figure: go.Figure) -> None:
    """Make a figure fit for a projector."""
    figure.update_layout(height=None, autosize=True, font={"size": 22}, legend={"font": {"size": 22}})
    for turn in (figure.update_xaxes, figure.update_yaxes):
        turn(title_font_size=24, tickfont_size=20)


def draw_on_screen(picture: Picture, *, key: str) -> None:
    """Draw a picture without buttons, at full height on a projector."""
    st.plotly_chart(picture.figure, key=key, alt=picture.text_alternative, height="stretch" if is_big() else "content",
                    config={"displayModeBar": False, "scrollZoom": False})


def draw_class_link(**place: str) -> None:
    """Draw this page's address as text and QR code; pupils have none."""
    if "pupil" in shown_views():
        return
    address = class_link(**place)
    with st.popover("Class link", icon=":material/qr_code_2:"):
        if not address:
            st.markdown("To open the page on phones, start `mvgviz --host 0.0.0.0` in the class's network or set "
                        f"`{door.PUBLIC_URL}`.")
            return
        st.html(f'<img alt="QR code of the link" width="280" src="{qr_code(address)}">')
        st.code(address, language=None, wrap_lines=True)


def class_link(page: str = "", **place: str) -> str:
    """Return a pupil's address of this or another page; empty where no phone can open it."""
    here = (st.context.url or "").split("?")[0]
    there = f"{here.rpartition('/')[0]}/{page}" if page and here else here
    base = door.for_others(there, str(st.get_option("server.address") or ""))
    return f"{base}?{urlencode({**place, 'pupil': '1'})}" if base else ""


def offer_handout() -> None:
    """Offer the handout, with the class link where phones can open it; pupils have none."""
    if "pupil" not in shown_views():
        offer_file("Handout to print", "mvgviz-handout.html", "text/html",
                   partial(handout_html, class_link(LESSON.name)), key="lesson_handout")


def offer_lesson() -> None:
    """Offer the lesson and the game as one file without a server."""
    offer_file("Lesson as one file", "mvgviz-lesson.html", "text/html", _lesson_file, key="lesson_file")
