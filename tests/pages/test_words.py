"""The words of the pages: plain ones only, all of them in one glossary one click away."""

import json

import pytest

from mvgviz.pictures.glossary import WORDS
from mvgviz.text import as_html
from mvgviz.ui.menu import BUDGET, PAGES, PRIVACY
from tests.pages.app import clean, opened, text

OLD = ("i.i.d. noise", "noise of one size", "trivial answer", "least asked for")


def everything(app):
    """Texts, labels of controls, and whatever the charts hold."""
    labels = [element.label for kind in ("multiselect", "selectbox", "slider", "toggle", "checkbox", "number_input")
              for element in app.get(kind)]
    charts = [json.dumps(json.loads(chart.proto.spec), ensure_ascii=False) for chart in app.get("plotly_chart")]
    return " ".join([text(app), explained(app), *labels, *charts]).lower()


def explained(app):
    """The glossary's entries wherever they stand."""
    return " ".join(block.proto.body for block in app.get("html"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.label)
def test_a_page_opens_cold_with_a_chart_plain_words_and_the_glossary(page):
    app = clean(opened(page.path))
    assert app.get("plotly_chart") or app.get("bidi_component")
    assert [old for old in OLD if old in everything(app)] == []
    assert all(as_html(word.sentence) in explained(app) for word in WORDS)


def test_the_words_of_a_chart_stand_under_it():
    app = clean(opened(PRIVACY.path))
    said = text(app)
    assert "With 5 false alarms in 100 the best attack finds" in said
    limit = next(word.sentence for word in WORDS if word.term == "promised limit")
    assert explained(app).count(as_html(limit)) == 2  # beside the title, and under the attacker's curve


@pytest.mark.parametrize("tab", ["What gets through", "From noise to epsilon"])
def test_tabs_have_plain_words_too(tab):
    app = clean(opened(BUDGET.path, state={"budget_tab": tab}, data="liver"))
    assert [old for old in OLD if old in everything(app)] == []
