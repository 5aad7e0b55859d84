"""The app: who may come in, the menu, and the page that was asked for."""

import streamlit as st

from mvgviz.ui.login import ask_who
from mvgviz.ui.menu import navigate

_ICON = ('<svg viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="#fff" stroke="#17608F" stroke-width="2"/>'
         '<path d="M8 1a7 7 0 0 0 0 14z" fill="#17608F"/></svg>')

# Before the menu: else the browser fetches a page's symbol, for its tab, from elsewhere.
st.set_page_config(page_title="mvgviz", page_icon=_ICON, layout="wide")
ask_who()
navigate()
