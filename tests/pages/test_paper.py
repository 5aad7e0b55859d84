"""Paper: three experiments, each with its chart, table and Figure 4; the numbers shown are the engine's."""

import math
import threading

import pytest

from mvgviz import Scenario, paper
from mvgviz.data import sample
from mvgviz.paper import EPSILONS, EXPERIMENTS, run, runs
from mvgviz.paper.words import SLIPS, cell_text, sentence
from mvgviz.pictures.paper import (
    AS_PRINTED,
    EXACTLY,
    FARTHEST,
    PRINTED,
    Dot,
    directions_picture,
    measured,
    row_dots,
    rows_picture,
)
from mvgviz.ui import slices
from mvgviz.ui.cache import SERVER
from mvgviz.ui.menu import PAPER
from tests.pages.app import opened, press
from tests.pages.shown import charts, clean, link, text

TABLE, FIGURE = "The table, row by row", "Effect of the directions (Figure 4)"


def turned_to(key, *, tab=TABLE, **parameters):
    return clean(opened(PAPER.path, state={"paper_experiment": key, "paper_tab": tab}, **parameters))


@pytest.mark.parametrize("key", EXPERIMENTS)
def test_every_experiment_has_its_chart_table_and_sentences(key):
    app = turned_to(key)
    report = run(EXPERIMENTS[key], sample(EXPERIMENTS[key].scenario.data), trials=4)
    (chart,) = charts(app)
    series = {trace["name"] for trace in chart["data"]}
    assert {PRINTED, AS_PRINTED, EXACTLY, "random guess", "no-data baseline"} == series
    figures = app.dataframe[0].value
    shown = {str(row.iloc[0]).removeprefix("Beyond the paper: "): row for _, row in figures.iterrows()}
    for row in report.rows:  # the page shows the engine's numbers and its sentences
        assert shown[row.label].iloc[2].replace("\u00a0", " ") == cell_text(row.as_printed)
        assert shown[row.label].iloc[3].replace("\u00a0", " ") == cell_text(row.exact)
        assert sentence(report, row) in text(app)
    assert "not private" in text(app)
    assert all(slip in text(app) for slip in SLIPS)


@pytest.mark.parametrize("key", ["II", "III"])
def test_figure_4_is_drawn_for_both_guarantees(key):
    app = turned_to(key, tab=FIGURE)
    figure = charts(app)[1]
    names = {trace["name"] for trace in figure["data"]}
    for name, _ in EXPERIMENTS[key].sets:
        assert {f"{name}: exact", f"{name}: Theorem 1"} <= names
    assert "Under Theorem 1 as printed the lines" in text(app)


def test_the_chart_is_the_same_whatever_the_sidebar_holds():
    first, second = turned_to("II", data="karate"), turned_to("II", data="liver", epsilon="0.1")
    assert charts(first) == charts(second)


def test_a_scenario_that_does_not_work_out_leaves_the_page_standing():
    app = opened(PAPER.path, state={"paper_experiment": "II"}, data="upload-0123456789ab")
    assert not app.exception
    assert len(app.error) == 1
    assert charts(app)


@pytest.mark.parametrize("key", EXPERIMENTS)
def test_the_button_opens_the_experiment_in_the_app(key):
    assert Scenario.from_query(link(press(turned_to(key), "paper_open"))) == EXPERIMENTS[key].scenario


def test_work_can_be_stopped_and_goes_on(monkeypatch):
    def stopped(work):
        slices._stopped().add(work.key)
        return work

    SERVER.clear()
    begin = slices.begin
    monkeypatch.setattr(runs, "TRIALS", 100_000)
    monkeypatch.setattr(slices, "begin", lambda *given: stopped(begin(*given)))
    app = turned_to("II")
    assert "Go on" in [button.label for button in app.button]
    assert "Not measured yet" in text(app)
    assert [len(trace["x"]) for trace in charts(app)[0]["data"] if trace["name"] == EXACTLY] == [0]


def test_dots_lie_between_no_privacy_and_a_random_guess_on_one_axis():
    one = EXPERIMENTS["II"]
    report = run(one, sample(one.scenario.data), trials=30)
    dots = row_dots(report)
    ways = {(dot.row, dot.series): dot for dot in dots}
    assert ways["MVG, Theorem 2", PRINTED].way == pytest.approx(0.1434 / 0.4370)
    assert ways["MVG, Theorem 2", PRINTED].half_width == pytest.approx(0.0192 / 0.4370)
    exact = report["theorem2"].exact
    assert ways["MVG, Theorem 2", EXACTLY].way == pytest.approx(exact.mean / report.references.random_guess)
    picture = rows_picture(report, dots)
    assert picture.figure.layout.xaxis.type == "log"
    assert all(value > 0 for trace in picture.figure.data for value in trace.x)
    assert "\u00a0%" in picture.takeaway


def test_what_is_far_beyond_a_random_guess_is_an_arrow_at_the_edge_with_its_number():
    report = run(EXPERIMENTS["I"], sample("liver"), trials=2)
    row = report.rows[0].label
    near, far = (Dot(row=row, series=EXACTLY, way=way, half_width=0.5) for way in (0.8, 47.0))
    trace = next(trace for trace in rows_picture(report, [near, far]).figure.data if trace.name == EXACTLY)
    assert list(trace.x) == [0.8, FARTHEST]
    assert list(trace.marker.symbol) == ["square", "triangle-right"]
    assert list(trace.text) == ["", "4700 %"]
    assert list(trace.error_x.array) == [0.5, 0.0]
    assert rows_picture(report, [near, far]).figure.layout.xaxis.range[1] < FARTHEST + 0.1


def test_an_unfinished_figure_4_is_drawn_as_far_as_it_is():
    one = EXPERIMENTS["II"]
    table = sample(one.scenario.data)
    curves, references, complete = paper.direction_curves(one, table, trials=2, cancelled=lambda: True)
    assert not complete
    picture = directions_picture(curves, references, symbol=one.symbol)
    assert picture.takeaway == "The curves appear as their trials come in."
    assert picture.figure.layout.xaxis.title.text == "ε (log scale)"
    curves, references, _ = paper.direction_curves(one, table, trials=2)
    assert all([epsilon for epsilon, _ in measured(curve)] == list(EPSILONS) for curve in curves)
    assert not any(math.isnan(outcome.mean) for curve in curves for _, outcome in measured(curve))


def test_trials_of_the_paper_do_not_make_way_for_the_page_that_waits_for_them(monkeypatch):
    waited, honest = [], paper.run

    def run(*given, **options):
        waited.append(threading.get_ident() in options["executor"]._waiting)
        return honest(*given, **options)

    SERVER.clear()
    monkeypatch.setattr(paper, "run", run)
    clean(opened(PAPER.path))
    assert waited
    assert all(waited)
