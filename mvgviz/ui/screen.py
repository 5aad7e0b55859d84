"""The lesson and its game on a wall and on phones: a view for the projector, a link with its QR code, a handout."""

from typing import Any
from urllib.parse import urlencode

import plotly.graph_objects as go
import segno
import streamlit as st

from mvgviz.lesson import steps
from mvgviz.pictures.glossary import DELTA_IS
from mvgviz.pictures.picture import Picture
from mvgviz.pictures.scenes import SCENES
from mvgviz.pictures.sentences import neighbour_words
from mvgviz.query.queries import REPLACED_RECORD
from mvgviz.text import in_html
from mvgviz.ui import session
from mvgviz.ui.assets import asset
from mvgviz.ui.cache import cached, of_server

_BIG, _MOVED = "_lesson_big", "_lesson_moved"


def adopt_place() -> dict[str, str]:
    """What the address asks for, the projector's view with it; nothing after a control, when it is the one before."""
    asked = {} if st.session_state.pop(_MOVED, False) else st.query_params.to_dict()
    if asked:
        st.session_state[_BIG] = asked.get("big") == "1"
    if is_big():
        st.html(f"<style>{asset('big.css')}</style>")
    return asked


def write_place(**place: str) -> None:
    """Mirror where one is, and the view, in the address bar."""
    session.write_link(**place, **({"big": "1"} if is_big() else {}))


def moved(**changes: Any) -> None:
    """Change the session's state from a control: for this run the address is the one before."""
    st.session_state.update({**changes, _MOVED: True})


def say_ignored(allowed: str) -> None:
    """Say what a link may hold, where it holds something else."""
    st.info(f"A part of the link was ignored: {allowed}.", icon=":material/link_off:")


def is_big() -> bool:
    """Whether the view is the projector's."""
    return bool(st.session_state.get(_BIG, False))


def draw_screen_switch() -> None:
    """Into the projector's view, or out of it; Esc comes back."""
    if is_big():
        st.button("Leave", key="lesson_big", icon=":material/close:", shortcut="Esc", on_click=moved,
                  kwargs={_BIG: False})
    else:
        st.button("Big screen", key="lesson_big", icon=":material/slideshow:", on_click=moved, kwargs={_BIG: True},
                  help="For a projector: no menus, the picture at full height; arrow keys go on, Esc comes back")


def enlarge(figure: go.Figure) -> None:
    """Make a figure fit for a projector."""
    figure.update_layout(height=None, autosize=True, font={"size": 22}, legend={"font": {"size": 22}})


def draw_on_screen(picture: Picture, *, key: str) -> None:
    """A picture without buttons, at full height on a projector."""
    st.plotly_chart(picture.figure, key=key, alt=picture.text_alternative, height="stretch" if is_big() else "content",
                    config={"displayModeBar": False, "scrollZoom": False})


def draw_class_link(**place: str) -> None:
    """The address of what is seen, to be typed or photographed."""
    address = class_link(**place)
    with st.popover("Class link", icon=":material/qr_code_2:"):
        st.html(f'<img alt="QR code of the link" width="280" src="{_qr_code(address)}">')
        st.code(address, language=None, wrap_lines=True)


def class_link(**place: str) -> str:
    """The address of this page with a place on it, without the scenario."""
    base = (st.context.url or "").split("?")[0]
    return f"{base}?{urlencode(place)}" if place else base


@cached(16, of_server)
def _qr_code(address: str) -> str:
    """The address as a picture, inside a link of its own: dark on white in either theme."""
    return segno.make(address, micro=False, error="m").svg_data_uri(scale=7, border=3, light="#fff")


def handout(address: str) -> str:
    """The page as HTML with everything inside it; ``address``: where the lesson is, as a QR code too."""
    items = "".join(f'<li><h2>{in_html(scene.title)}</h2><p>{in_html(scene.question(scene.step.start))} '
                    f'<span class="line"></span></p><p class="takeaway">{in_html(scene.takeaway)}</p></li>'
                    for scene in SCENES)
    code = (f'<div class="code"><img alt="" src="{_qr_code(address)}"><small>{in_html(address)}</small></div>'
            if address else "")
    return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>How can noise have a direction?</title>'
            f"<style>{asset('handout.css')}</style></head><body><header><div><h1>How can noise have a direction?</h1>"
            f"<p>Seven steps "
            f"on privacy and noise. A made-up class of {steps.PUPILS} pupils publishes averages; no pupil may be found "
            f"out. ε says how much may be learned about any one of them, δ (one in a million) is {DELTA_IS}. "
            f"{neighbour_words(REPLACED_RECORD, 'pupil')}</p></div>"
            f"{_shapes()}{code}</header><ol>{items}</ol></body></html>")


def _shapes() -> str:
    """Circle and ellipse of the same privacy around the box of what one pupil can change, at the scale of privacy."""
    wide, high = steps.against_circle(steps.ellipse(steps.FAVOURED_SHARE))
    radius = 2**0.5  # the corners of the box, 1 × 1, lie on every private outline
    return (f'<svg viewBox="-2.6 -2.6 5.2 5.2" width="150" height="150" role="img" aria-label="A circle and an ellipse '
            f'through the corners of the same box: all that one pupil can change">'
            f'<rect x="-1" y="-1" width="2" height="2" fill="#bbb"/><circle r="{radius:.4f}" class="circle"/>'
            f'<ellipse rx="{radius * wide:.4f}" ry="{radius * high:.4f}" class="ellipse"/></svg>')
