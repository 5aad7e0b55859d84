"""Noise shape: the ellipse that can be dragged, three dimensions, covariances, possible outcomes."""

import streamlit as st

from mvgviz.ui.frame import open_page
from mvgviz.ui.menu import SHAPE
from mvgviz.ui.shape.panels import draw_matrices, draw_outcomes, draw_plane, draw_space

PANELS = {"Ellipse": draw_plane, "Three features": draw_space, "Covariances": draw_matrices,
          "Possible outcomes": draw_outcomes}

setup = open_page(SHAPE)
chosen = st.segmented_control("Show", list(PANELS), default="Ellipse", key="shape_panel",
                              label_visibility="collapsed") or "Ellipse"
PANELS[chosen](setup)
