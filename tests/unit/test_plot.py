"""The app's pictures in one call."""

import sys

import numpy as np
import pytest

import mvgviz as mv
from mvgviz import InputError
from mvgviz.plot import equal_noise
from tests.datasets import make_dataset

LIVER = mv.sample("liver")


@pytest.fixture(scope="module")
def setup():
    return mv.build(mv.Scenario.default_for("liver"), LIVER)


def test_the_ellipse_of_a_setup_has_the_names_of_its_features(setup):
    figure = mv.plot.ellipse(setup, plane=("mcv", "drinks"))
    assert figure.layout.xaxis.title.text == "noise on mcv × mcv"
    assert figure.layout.yaxis.title.text == "noise on drinks × drinks"
    by_position = mv.plot.ellipse(setup, plane=(0, 5))
    assert by_position.to_dict() == figure.to_dict()
    assert len(mv.plot.ellipse(setup).data) == 4
    for plane in (("mcv", "age"), 5, (0,), (0, 0), "mc", (0, 1, 2), (0, 6)):
        with pytest.raises(InputError, match="plane must be two different names"):
            mv.plot.ellipse(setup, plane=plane)
    with pytest.raises(InputError, match="level must"):
        mv.plot.ellipse(setup, level=2)


@pytest.mark.parametrize(("query", "mode"), [(mv.mean, "rows"), (mv.identity, "rows"), (mv.identity, "columns"),
                                             (mv.covariance, "both"), (mv.covariance, "rows")])
def test_a_design_is_drawn_against_equal_noise_that_spends_the_same(query, mode):
    design = mv.design_noise(query(make_dataset(3, 8)), epsilon=1, delta=1e-6, mode=mode)
    equal = equal_noise(design)
    spent = equal.neighbours.worst(equal.row_side, equal.row_side if mode == "both" else equal.col_side).mu
    assert spent == pytest.approx(design.mu)
    assert np.ptp(equal.noise_std()) == pytest.approx(0)
    assert len(design.plot().data) == 4
    with pytest.raises(InputError, match="at least two directions"):
        mv.design_noise(mv.mean(make_dataset(1, 8)), epsilon=1, delta=1e-6).plot()


def test_results_are_dots_or_a_ranking():
    scenario = mv.Scenario.default_for("liver")
    dots = mv.run_trials(scenario, LIVER, trials=5).plot()
    assert {trace.name for trace in dots.data} >= {"directional", "equal noise"}
    assert dots.layout.xaxis.title.text.startswith("error of predictions")
    ranked = mv.run_trials(scenario, LIVER, mechanisms=["mvg-exact", "laplace"], trials=5).plot()
    assert any("Laplace" in text for text in ranked.layout.yaxis.ticktext)
    with pytest.raises(InputError, match="no trial"):
        mv.run_trials(scenario, LIVER, mechanisms=["exponential-columns"], trials=5).plot()


def test_the_frontier_comes_from_a_sweep(setup):
    swept = mv.sweep([{"epsilon": 2.0}, {"epsilon": 0.5}, {"epsilon": 1.0}], setup.scenario, LIVER, trials=5)
    figure = mv.plot.frontier(swept)
    curve = next(trace for trace in figure.data if trace.mode == "lines+markers")
    assert list(curve.x) == [0.5, 1.0, 2.0]
    for found, words in ((swept[:1], "two epsilons"), (5, "a list of results"), (None, "a list of results"),
                         ([5], "a list of results"), (["a", "b"], "a list of results")):
        with pytest.raises(InputError, match=words):
            mv.plot.frontier(found)


def test_the_other_pictures_of_a_setup(setup):
    assert "this design" in {trace.name for trace in mv.plot.trade_off(setup).data}
    assert list(mv.plot.factors(setup).layout.yaxis.ticktext) == [f"{name} × {name}" for name in LIVER.features]


def test_without_plotly_a_sentence_says_what_is_needed(monkeypatch, setup):
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(InputError, match="this needs plotly, which is not installed: pip install plotly"):
        setup.design.plot()
    with pytest.raises(InputError, match="this needs plotly"):
        mv.__getattr__("plot")
