"""Families of noise: compare them by numbers, releases and promise."""

import streamlit as st

from mvgviz.pictures import families as pictures
from mvgviz.pictures.families import Case
from mvgviz.ui import session
from mvgviz.ui.cache import cached, of_server
from mvgviz.ui.frame import chart, draw_charts, draw_open_tab, open_page, show_table
from mvgviz.ui.menu import FAMILIES
from mvgviz.ui.sidebar_design import draw_family

_split, _map, _curves, _releases = (cached(20, of_server)(draw) for draw in (
    pictures.family_split_picture, pictures.family_map_picture, pictures.family_curves_picture,
    pictures.family_releases_picture))


def draw_promises(case: Case) -> None:
    draw_charts(({"families_split": _split(case)} if case.is_split else {}) | {"families_curves": _curves(case)})
    if not case.is_split:
        st.caption("Choose priority columns in the sidebar to see what each family gains there.")


def draw_numbers(case: Case) -> None:
    rows = list(zip(*pictures.width_rows(case), strict=True))
    show_table(dict(zip(("Family", "Standard deviation", "95 % within ±", "Attacker right in 100"), map(list, rows),
                        strict=True)), numbers=())
    st.caption(session.promised("With equal noise. Unit: the most that one record can change each number."))


setup = open_page(FAMILIES)
case, fits = pictures.case_of(setup), pictures.fits_box(setup)
left, right = st.columns(2, gap="large")
releases = left.slider("Number of releases within this budget", 1, pictures.MOST_RELEASES, key="families_releases")
with right:
    draw_family("families_family")
if fits:
    st.markdown(pictures.advice_words(case, releases))
else:
    st.info("Box and Laplace noise need a mean or a table without a clipping bound. This page shows a mean of the same "
            f"{case.size} columns.", icon=":material/info:")
st.caption("Box, Laplace and Gaussian noise can be released. Ellipse noise cannot: no exact sampler is known.")
draw_open_tab({"Same promise, same attacker": draw_promises,
               "Which family wins": lambda case: chart(_map(case), key="families_map"),
               "Several releases": lambda case: chart(_releases(case, releases), key="families_releases_chart"),
               "The numbers": draw_numbers}, case, key="families_tab")
