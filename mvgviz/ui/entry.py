"""What a visitor's session runs: the menu, who may come in, and the page that was asked for."""

import streamlit as st

from mvgviz.pictures.theme import PAPER, PRIMARY
from mvgviz.ui.menu import navigation
from mvgviz.ui.slices import replying
from mvgviz.ui.visitors import ask_who, draw_full, has_room, may_enter

_ICON = (f'<svg viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="{PAPER}" stroke="{PRIMARY}" stroke-width="2"/>'
         f'<path d="M8 1a7 7 0 0 0 0 14z" fill="{PRIMARY}"/></svg>')


def _open() -> None:
    # Before the menu: else the browser fetches a page's symbol, for its tab, from elsewhere.
    st.set_page_config(page_title="mvgviz", page_icon=_ICON, layout="wide")
    page = navigation(hidden=not may_enter())
    if not may_enter():  # after the menu has read the address, so that a link is kept
        ask_who()
    elif has_room():
        page.run()
    else:
        draw_full()


if __name__ == "__main__":  # Streamlit runs it so; what only imports it draws nothing
    with replying():
        _open()
