"""The lesson on a wall and on phones: a view for the projector, and a link with its QR code for the class."""

from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import segno
import streamlit as st

_BIG, MOVED = "_lesson_big", "_lesson_moved"


def adopt_screen() -> bool:
    """Whether the view is the projector's: as a control asked, else as the address says."""
    moved, asked = st.session_state.get(MOVED, False), st.query_params.to_dict()
    if asked and not moved:
        st.session_state[_BIG] = asked.get("big") == "1"
    if big := is_big():
        st.html(Path(__file__).with_name("big.css"))
    return big


def is_big() -> bool:
    """Whether the view is the projector's."""
    return bool(st.session_state.get(_BIG, False))


def screen_place() -> dict[str, str]:
    """What an address holds of the view."""
    return {"big": "1"} if is_big() else {}


def draw_screen_switch() -> None:
    """Into the projector's view, or out of it; Esc comes back."""
    if is_big():
        st.button("Leave", key="lesson_big", icon=":material/close:", shortcut="Esc", on_click=moved,
                  kwargs={_BIG: False})
    else:
        st.button("Big screen", key="lesson_big", icon=":material/slideshow:", on_click=moved, kwargs={_BIG: True},
                  help="For a projector: no menus, the picture at full height; arrow keys go on, Esc comes back")


def draw_class_link(**place: str) -> None:
    """The address of what is seen, to be typed or photographed."""
    address = class_link(**place)
    with st.popover("Class link", icon=":material/qr_code_2:"):
        st.html(f'<img alt="QR code of the link" width="280" src="{qr_code(address)}">')
        st.code(address, language=None, wrap_lines=True)


def class_link(**place: str) -> str:
    """The address of this page with a place on it, without the scenario."""
    base = (st.context.url or "").split("?")[0]
    return f"{base}?{urlencode(place)}" if place else base


@lru_cache(maxsize=64)
def qr_code(address: str) -> str:
    """The address as a picture, inside a link of its own: dark on white in either theme."""
    return segno.make(address, micro=False, error="m").svg_data_uri(scale=7, border=3, light="#fff")


def moved(**changes: Any) -> None:
    """Change the session's state from a control: for this run the address is the one before."""
    st.session_state.update({**changes, MOVED: True})
