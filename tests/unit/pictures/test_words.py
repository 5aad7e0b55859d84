"""Numbers as people read them; names from files that cannot act."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mvgviz.pictures.privacy import curve_picture
from mvgviz.text import (
    as_factor,
    as_number,
    as_probability,
    delta_caution,
    epsilon_caution,
    in_html,
    in_markdown,
    listed,
)


@pytest.mark.parametrize(("value", "text"), [
    (0, "0"), (1, "1.00"), (0.7934, "0.793"), (12.75, "12.8"), (777_909, "777,909"), (1.6177e8, "1.62 × 10⁸"),
    (0.00016, "0.000160"), (2.5e-5, "2.50 × 10⁻⁵"), (999.9996, "1,000"), (float("inf"), "∞"), (-3.14159, "-3.14"),
])
def test_numbers_have_three_digits_and_no_e_notation(value, text):
    assert as_number(value) == text


@pytest.mark.parametrize(("said", "text"), [
    (as_probability(1e-6), "10⁻⁶"), (as_probability(2.5e-5), "2.5 × 10⁻⁵"), (as_probability(0.004), "0.004"),
    (as_probability(1e-300), "10⁻³⁰⁰"), (as_probability(1 / 345), "0.0029"), (as_probability(0), "0"),
    (as_factor(0.5), "0.50×"), (as_factor(9.94), "9.9×"), (as_factor(9.96), "10 times"),
    (as_factor(57_144), "57,000 times"), (as_factor(6e-6), "below 0.0001×"),
    (as_factor(0), "0×"), (as_factor(float("inf")), "∞ times"),
    (listed([]), "nothing"), (listed(["a"]), "a"), (listed(["a", "b"]), "a and b"),
    (listed(list("abcdef")), "a, b, c, d and 2 more"),
])
def test_probabilities_factors_and_lists_are_short(said, text):
    assert said == text


def test_a_delta_of_one_over_n_or_more_gets_a_caution_and_a_smaller_one_none():
    for n in (1, 2, 3, 49, 345, 10_176, 10**7):
        assert delta_caution(1 / max(n, 2), n).startswith("δ is 1/n: a mechanism could publish one record")
        more = delta_caution(1.1 / max(n, 2), n, "edge")
        assert more.startswith("δ is more than 1/n: a mechanism could publish one edge")
        assert delta_caution(0.99 / max(n, 2), n) == ""


def test_a_large_epsilon_gets_a_caution_and_a_smaller_one_none():
    assert "one edge changes, a result may become more than 20,000 times" in epsilon_caution(10, "edge")
    assert (math.exp(10) > 20_000, epsilon_caution(9.9)) == (True, "")
    assert "Almost no privacy" in curve_picture(5.0, epsilon=10, delta=1e-6).takeaway


@given(st.text(max_size=30))
def test_no_name_acts_in_html_or_markdown(name):
    assert not set("<>\"'") & set(in_html(name))
    escaped = in_markdown(name)
    for i, character in enumerate(escaped):
        if character in "`*_[]$:<>#":
            assert escaped[i - 1] == "\\"


def test_names_that_try_to_act_are_shown_as_they_are():
    assert in_html("<script>alert(1)</script>") == "&lt;script&gt;alert(1)&lt;/script&gt;"
    assert in_markdown(":red[**x**]") == r"\:red\[\*\*x\*\*\]"
