"""The Home page without a browser."""

import json
import pathlib

import pytest
from streamlit.testing.v1 import AppTest

ROOT = pathlib.Path(__file__).parent.parent


@pytest.fixture
def home():
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=30).run()


def outlines(page):
    traces = json.loads(page.get("plotly_chart")[0].proto.spec)["data"]
    return [trace for trace in traces if trace["mode"] == "lines"]


def test_home_opens_on_a_drawn_ellipse(home):
    assert not home.exception
    assert [trace["name"] for trace in outlines(home)] == [
        "i.i.d. noise, 95% of draws", "directional noise, 95% of draws"]


def test_the_sentence_follows_the_slider(home):
    text = " ".join(block.value for block in home.markdown)
    assert "0.79× the i.i.d. noise on the feature you need and 1.58× on the other" in text
    home.slider(key="share").set_value(50).run()
    text = " ".join(block.value for block in home.markdown)
    assert "the same circle" in text
    assert not home.exception


def test_printed_and_exact_stand_side_by_side(home):
    text = " ".join(block.value for block in home.markdown)
    assert "Theorem 1, as printed" in text
    assert "2,040 times" in text
