"""Information: what noise leaks, which noise leaks least, how normal sums are, and what the proofs need."""

import streamlit as st

from mvgviz.pictures import information as pictures
from mvgviz.ui.cache import cached, of_server
from mvgviz.ui.frame import chart, open_page
from mvgviz.ui.menu import FAMILIES, INFORMATION

_one_number, _noises, _sums, _lacking, _counter = (cached(20, of_server)(draw) for draw in (
    pictures.one_number_picture, pictures.noises_picture, pictures.sums_picture, pictures.lacking_picture,
    pictures.counter_picture))

setup = open_page(INFORMATION)
promise = setup.scenario.epsilon, setup.delta
st.caption("Information is an average, in bits. It bounds no worst case: ε and δ do.")
left, right = st.columns(2, gap="large")
with left:
    chart(_one_number(*promise), key="information_one")
    st.caption("Paper, *Proof of Minimum Privacy Leakage*: $I(X; f(X)+Z) = I(f(X); f(X)+Z)$. It always holds.")
with right:
    same = st.segmented_control("Compare noise of", list(pictures.SAME), default="covariance", required=True,
                                format_func=pictures.SAME.__getitem__, key="information_same") or "covariance"
    chart(_noises(same, *(promise if same == "promise" else (1.0, 1e-6))), key="information_noises")
    st.caption("Paper, there: of all $Z$ with covariance $K$, Gaussian $Z$ gives the least $I(X; f(X)+Z)$. True for "
               "normal $f(X)$.")
    if same == "promise":
        st.page_link(FAMILIES.path, label=FAMILIES.label, icon=FAMILIES.icon)
left, right = st.columns(2, gap="large")
with left:
    chart(_lacking(), key="information_lacking")
    st.caption(r"Paper, *Optimal Query Function*: the best query is a sum, $f(X)=\sum_i g_i(x_i)$, for it is normal.")
with right:
    records = st.select_slider("Records in each simulated table", pictures.RECORDS, value=50, key="information_records")
    chart(_sums(records), key="information_sums")
st.markdown("**What the proofs need**")
left, right = st.columns([2, 3], gap="large")
with left:
    chart(_counter(), key="information_counter")
    st.caption("Paper, *Proof of Minimum Privacy Leakage*: it \"does not assume anything about the distribution of the "
               "dataset\".")
right.table(pictures.needs_rows())
