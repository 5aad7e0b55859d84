"""Families of noise: compare them by numbers, releases and promise."""

import streamlit as st

from mvgviz.pictures import families as pictures
from mvgviz.ui import session
from mvgviz.ui.cache import cached, of_server
from mvgviz.ui.frame import draw_charts, open_page, show_table
from mvgviz.ui.menu import FAMILIES
from mvgviz.ui.sidebar_design import draw_family

_split, _map, _curves, _releases = (cached(20, of_server)(draw) for draw in (
    pictures.family_split_picture, pictures.family_map_picture, pictures.family_curves_picture,
    pictures.family_releases_picture))

setup = open_page(FAMILIES)
case, fits = pictures.case_of(setup), pictures.fits_box(setup)
releases = st.slider("Releases that share this promise", 1, pictures.MOST_RELEASES, key="families_releases")
if fits:
    st.markdown(pictures.advice_words(case, releases))
else:
    st.info("Box and Laplace noise need a mean or a table without a clipping bound. This page shows a mean of the same "
            f"{case.size} columns.", icon=":material/info:")
draw_family("families_family")
st.caption("Box, Laplace and Gaussian noise can be released. Ellipse noise is for trials: nobody can draw it exactly.")
split, mapped = {"families_split": _split(case)} if case.is_split else {}, {"families_map": _map(case)}
draw_charts((split or mapped) | {"families_curves": _curves(case)})
draw_charts((mapped if split else {}) | {"families_releases_chart": _releases(case, releases)})
if not split:
    st.caption("Choose priority columns in the sidebar to see what each family gains there.")
rows = list(zip(*pictures.width_rows(case), strict=True))
with st.expander("The numbers, with equal noise", icon=":material/table:"):
    show_table(dict(zip(("Family", "Standard deviation", "95 % within ±", "Attacker right in 100"), map(list, rows),
                        strict=True)), numbers=())
    st.caption(session.promised("Unit: the most that one record can change each number."))
