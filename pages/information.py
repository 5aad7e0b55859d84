"""Information: what noise leaks, which noise leaks least, how normal sums are, and what the proofs need."""

import streamlit as st

from mvgviz.pictures import information as pictures
from mvgviz.scenario.resolve import Setup
from mvgviz.ui.cache import cached, of_server
from mvgviz.ui.frame import chart, draw_open_tab, open_page
from mvgviz.ui.menu import FAMILIES, INFORMATION

_one_number, _noises, _sums, _lacking, _counter = (cached(20, of_server)(draw) for draw in (
    pictures.one_number_picture, pictures.noises_picture, pictures.sums_picture, pictures.lacking_picture,
    pictures.counter_picture))


def draw_one_number(setup: Setup) -> None:
    chart(_one_number(setup.scenario.epsilon, setup.delta), key="information_one")
    st.caption("Paper, *Proof of Minimum Privacy Leakage*: $I(X; f(X)+Z) = I(f(X); f(X)+Z)$. It always holds.")


def draw_noises(setup: Setup) -> None:
    picture, choices = st.columns([2, 1], gap="large")
    with choices:
        same = st.segmented_control("Compare noise of", pictures.SAME, default="covariance", required=True, wrap=True,
                                    format_func=pictures.SAME.__getitem__, key="information_same") or "covariance"
        st.caption("Paper, *Proof of Minimum Privacy Leakage*: of all noise $Z$ with one covariance, Gaussian $Z$ "
                   "gives the least $I(X; f(X)+Z)$. This is true for a normal $f(X)$.")
        if same == "promise":
            st.page_link(FAMILIES.path, label=FAMILIES.label, icon=FAMILIES.icon)
    with picture:
        promise = (setup.scenario.epsilon, setup.delta) if same == "promise" else (1.0, 1e-6)
        chart(_noises(same, *promise), key="information_noises")


def draw_sums(setup: Setup) -> None:
    st.caption(r"Paper, *Optimal Query Function*: a sum, $f(X)=\sum_i g_i(x_i)$, is the best query, as it is normal.")
    left, right = st.columns(2, gap="large")
    with left:
        chart(_lacking(), key="information_lacking")
    with right:
        records = st.select_slider("Records in each simulated table", pictures.RECORDS, value=50,
                                   key="information_records")
        chart(_sums(records), key="information_sums")


def draw_needs(setup: Setup) -> None:
    left, right = st.columns([2, 3], gap="large")
    with left:
        chart(_counter(), key="information_counter")
        st.caption("Paper, *Proof of Minimum Privacy Leakage*: it \"does not assume anything about the distribution of "
                   "the dataset\".")
    right.table(pictures.needs_rows())


setup = open_page(INFORMATION)
st.caption("Information is an average, in bits. It bounds no worst case: ε and δ do.")
draw_open_tab({"One number": draw_one_number, "Least leakage": draw_noises, "Sums are normal": draw_sums,
               "What the proofs need": draw_needs}, setup, key="information_tab")
