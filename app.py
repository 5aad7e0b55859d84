"""mvgviz, the app: the Home page."""

import gc

import numpy as np
import streamlit as st

from mvgviz import Dataset, NoiseDesign, binary, design_noise, identity
from mvgviz.figures.noise_ellipse import ellipse_numbers, plot_noise_ellipse

EPSILON, DELTA, RECORDS = 1.0, 1e-5, 100
NAMES = ("the feature you need", "the other feature")


@st.cache_resource
def freeze_imports() -> None:
    """Take the imported modules out of the collections that Streamlit runs after every rerun."""
    gc.collect()
    gc.freeze()


@st.cache_resource
def design(share: float, guarantee: str) -> NoiseDesign:
    """Noise for a table of two features in [-1, 1]; equal shares when ``share`` is a half."""
    table = Dataset(matrix=np.zeros((2, RECORDS)), features=NAMES, lower=-1, upper=1)
    return design_noise(identity(table), epsilon=EPSILON, delta=DELTA, guarantee=guarantee,
                        theta=binary(2, favoured=[0], share=share))


freeze_imports()
st.set_page_config(page_title="mvgviz: directional noise", page_icon="◐", layout="wide")
st.subheader("Where should the noise go?", anchor=False)
words, picture = st.columns([2, 3], gap="large")

with words:
    st.markdown(
        "Privacy needs noise, but not the same noise everywhere. Under one fixed budget it can be **small along the "
        "direction you need** and large along the one you do not: a circle becomes an ellipse. The privacy of both is "
        f"the same, computed exactly: ε = {EPSILON:g} at δ = 10⁻⁵ when one record is replaced."
    )
    percent = st.slider("Share of the precision budget for the feature you need", 50, 95, 80, step=5, format="%d%%",
                        key="share")

ours, iid, printed = design(percent / 100, "exact"), design(0.5, "exact"), design(percent / 100, "theorem1")
numbers = ellipse_numbers(ours, iid, plane=(1, 0), level=0.95,
                          normals=np.random.default_rng(0).standard_normal((2, 250)))
up, down = numbers.factors
takeaway = (
    f"Same privacy, other shape: noise is {down:.2f}× the i.i.d. noise on {NAMES[0]} and {up:.2f}× on {NAMES[1]}."
    if percent > 50 else "Equal shares: directional noise and i.i.d. noise are the same circle."
)
reach = (2.6 * design(0.95, "exact").noise_std()[1, 0], 3.6 * iid.noise_std()[0, 0])

with picture:
    st.plotly_chart(plot_noise_ellipse(numbers, names=NAMES[::-1], reach=reach), key="ellipse",
                    config={"displayModeBar": False}, alt=takeaway)
    st.markdown(f"**{takeaway}**")

with words:
    factor = printed.noise_std()[0, 0] / ours.noise_std()[0, 0]
    st.markdown(
        f"The noise shown is the exact limit. The paper's Theorem 1, as printed, asks for **{factor:,.0f} times** "
        f"as much and then really spends ε = {printed.epsilon_spent(DELTA):.2g} of the {EPSILON:g} allowed."
    )
    st.caption("Matrix-variate Gaussian noise for a table of 2 features in [-1, 1] and "
               f"{RECORDS} records. Points are the same random draws through both shapes.")
