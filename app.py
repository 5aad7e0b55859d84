"""The launcher: ``mvgviz`` and ``streamlit run app.py`` start it; a visitor's session runs mvgviz/ui/entry.py."""

import streamlit as st
from starlette.middleware import Middleware

from mvgviz.ui.door import Door
from mvgviz.ui.server import ENTRY, ROUTES, lifespan
from mvgviz.ui.visitors import KeepsPlace

app = st.App(ENTRY, lifespan=lifespan, routes=ROUTES, middleware=[Middleware(Door), Middleware(KeepsPlace)])
