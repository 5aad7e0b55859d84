"""The app: who may come in, the menu, and the page that was asked for."""

import streamlit as st

from mvgviz.ui.login import ask_who
from mvgviz.ui.menu import navigate

# Before the menu: else the browser fetches a page's symbol, for its tab, from elsewhere.
st.set_page_config(page_title="mvgviz", page_icon="◐", layout="wide")
ask_who()
navigate()
