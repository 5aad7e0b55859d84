"""The Bounds page: every control, every kind of scenario, and the numbers in its sentences."""

import math

import numpy as np
import pytest

from mvgviz import Scenario, build
from mvgviz.data import sample
from mvgviz.design.limits import AXES, LimitInputs
from mvgviz.noise.accounting import gaussian_epsilon, gaussian_mu
from mvgviz.pictures.bounds import table_lines
from mvgviz.text import as_number
from mvgviz.ui.menu import BOUNDS
from tests.datasets import make_dataset
from tests.pages.app import adjust, opened, put, with_table
from tests.pages.shown import assert_says, clean, link, said, spec, text

DESIGNS = "Every design"


def bounds(tab="Curves", **parameters):
    return clean(opened(BOUNDS.path, state={"bounds_tab": tab}, **parameters))


def trace(figure, name):
    return next(one for one in figure["data"] if one.get("name") == name)


def names(app, position=0):
    return [one.get("name") for one in spec(app, position)["data"]]


def assert_as_worked_out(app):
    """The point drawn, the edge it is on and the epsilon in the sentence are those of the scenario worked out anew."""
    scenario, told = Scenario.from_query(link(app)), text(app)
    app = clean(put(app, bounds_tab=DESIGNS))
    setup = build(scenario, sample(scenario.data))
    point = trace(spec(app, 1), "this design")
    for at, side in ((point["x"], setup.design.row_side), (point["y"], setup.design.col_side)):
        assert at == pytest.approx([np.linalg.norm(side.precisions)], rel=1e-9)
    spent = gaussian_epsilon(setup.delta, setup.design.mu)
    if scenario.guarantee == "exact":
        share = scenario.private_share if scenario.directions == "private" else 0
        mu = gaussian_mu(scenario.epsilon, setup.delta) * math.sqrt(1 - share)
        assert setup.design.mu == pytest.approx(mu, rel=1e-9)
        assert ("spends exactly the ε it is given" if setup.design.mu_is == "exact" else
                "spends at most the ε it is given") in told
    else:
        assert spent < scenario.epsilon
        assert f"ε = {as_number(spent)}" in told or (spent == 0 and "δ alone covers it" in told)
        assert "on the edge of its guarantee" in text(app)


def test_experiment_2_in_words_this_noise_spends_a_thousandth_and_is_196_times_too_large():
    app = bounds(data="movement_simulated", guarantee="theorem2", allocation="uniform", delta=str(1 / 10_176),
                 bound="none")
    assert_says(app, ["spends ε = 0.00111 of the 1 you allow", "needs noise **277 times smaller**",
                      "(196 times with the paper's s₂ for both)"])
    assert "on the edge of its guarantee, Theorem 2" in text(put(app, bounds_tab=DESIGNS))
    assert "its own edge (the paper's s₂)" in names(app, 1)
    assert "its own edge (the paper's s₂)" not in names(adjust(app, bounds_s2="printed"), 1)
    assert "all with the paper's sensitivity s₂ = 0.000786" in text(put(app, bounds_tab="Curves"))


UPPER = "(itself an upper bound)"
SAID = {
    "an exact design is compared with both theorems": (
        {"data": "movement_simulated", "allocation": "uniform", "delta": str(1 / 10_176)},
        ["spends exactly the ε it is given", "**Theorem 1** asks for **",
         "**Theorem 2** asks for **277 times this noise** (196 times with the paper's s₂ for both), which then "
         "spends ε = 0.00111"], []),
    "its privacy does not hang on the norms alone": (
        {"tab": DESIGNS, "data": "movement_simulated", "allocation": "uniform", "delta": str(1 / 10_176)},
        ["depends on the shape"], []),
    "the sensitivity of many features is an upper bound": (
        {"data": "cardiotocography", "bound": "none", "scale": "symmetric"}, [UPPER], []),
    "on the unit scale it is exact": ({"data": "cardiotocography", "bound": "none", "scale": "unit"}, [], [UPPER]),
    "of a few features it is exact, without an ellipse": ({"data": "liver"}, [], [UPPER, "ellipse first"])}


@pytest.mark.parametrize(("parameters", "parts", "absent"), SAID.values(), ids=SAID)
def test_the_page_says(parameters, parts, absent):
    assert_says(bounds(**parameters), parts, absent)


def test_where_the_query_is_not_psd_theorem_2_is_marked_as_beyond_the_paper():
    beyond = "Theorem 2's constant (beyond the paper)"
    for query, known in (("identity", {beyond}), ("covariance", {"Theorem 2"})):
        assert {"Theorem 2", beyond} & set(names(bounds(data="liver", query=query))) == known


def test_each_axis_in_both_units_and_the_scenario_s_tail():
    app = bounds(data="liver", tail="exact-chi")
    assert names(app).count("Theorem 1") == 1
    assert trace(spec(app), "Theorem 1")["line"]["dash"] == "dot"
    for axis in AXES:
        for shown in ("precision", "noise"):
            layout = spec(adjust(app, bounds_axis=axis, bounds_shown=shown))["layout"]["yaxis"]
            assert layout["type"] == "log"
            assert ("standard deviation" in layout["title"]["text"]) == (shown == "noise")
            assert "Held fixed" in text(app)
            assert ("the size 6 × 6" in text(app)) == (axis != "size")
    assert names(adjust(app, bounds_tails=True)).count("Theorem 1") == 3
    assert "exact chi quantile" in text(put(app, bounds_tab="By hand"))
    one = bounds(data="karate").segmented_control  # one sensitivity needs no switch
    assert [control.key for control in one] == ["bounds_axis", "bounds_shown"]


def test_the_table_has_every_quantity_of_a_case_worked_by_hand():
    # k = r = 1, delta = 1/e: zeta = 5; gamma = s2 = 1: alpha = omega = 4, beta = 10.
    # With epsilon = 11: phi = (sqrt(452) - 10)/8.
    problem = LimitInputs(rows=1, cols=1, epsilon=11, delta=float(np.exp(-1)), gamma=1, sensitivity=1, psd=True)
    values = {name: value for name, _, value in table_lines(problem, "printed")}
    assert values["rank bound r"] == "1"
    assert values["$H_r$"] == values["$H_{r,1/2}$"] == "1.00000"
    assert values[r"$\zeta$"] == values["tail $t$"] == "5.00000"
    assert values[r"$\alpha$, Theorem 1"] == values[r"$\omega$, Theorem 2"] == "4.00000"
    assert values[r"$\beta$"] == "10.0000"
    assert values[r"$\phi$, Theorem 1"] == values[r"$\phi$, Theorem 2"] == "1.40754"
    assert values[r"$\phi^2$, Theorem 1"] == "1.98116"
    for tail in ("printed", "laurent-massart", "exact-chi"):  # no formula breaks its table
        assert not any("|" in name + formula + value for name, formula, value in table_lines(problem, tail))
    other = {name: value for name, _, value in table_lines(problem, "laurent-massart")}
    assert other["tail $t$"] == "2.23607"


@pytest.mark.parametrize("guarantee", ["theorem1", "theorem2", "exact"])
@pytest.mark.parametrize("parameters", [
    {"data": "liver"}, {"data": "liver", "query": "identity"}, {"data": "liver", "query": "mean"},
    {"data": "liver", "query": "kernel"}, {"data": "liver", "directions": "rotation", "allocation": "least-error"},
    {"data": "liver", "directions": "eigenvectors", "allocation": "max-pnr"},
    {"data": "liver", "directions": "random", "allocation": "uniform"}, {"data": "liver", "directions": "private"},
    {"data": "cardiotocography", "query": "identity", "bound": "none", "mode": "rows"},
    {"data": "cardiotocography", "query": "identity", "bound": "none", "mode": "columns"}],
    ids=lambda parameters: "-".join(parameters.values()))
def test_every_kind_of_design_stands_where_it_is_worked_out(parameters, guarantee):
    if guarantee == "theorem2" and parameters.get("query") in ("identity", "mean"):
        guarantee = "theorem2-any"
    app = bounds(guarantee=guarantee, **parameters)
    assert ("Private directions took" in text(app)) == (parameters.get("directions") == "private")
    assert_as_worked_out(app)


def test_a_design_that_shares_its_budget_with_its_directions_says_why_its_edge_differs():
    app = bounds(DESIGNS, data="liver", directions="private", guarantee="theorem2")
    assert "it was built with the paper's s₂ and part of ε and δ" in text(app)
    assert "it was built with part of ε and δ" in said(adjust(app, bounds_s2="printed"))


@pytest.mark.parametrize("parameters", [{"epsilon": "0.001", "delta": "1e-30"}, {"epsilon": "1000", "delta": "0.9"}])
def test_extreme_budgets(parameters):
    assert_as_worked_out(bounds(data="karate", query="adjacency", **parameters))


@pytest.mark.parametrize("size", [(1, 30), (80, 120)])
@pytest.mark.parametrize("query", ["covariance", "identity"])
def test_the_smallest_and_a_large_answer(size, query):
    app = with_table(BOUNDS, make_dataset(*size), query=query)
    assert len(clean(put(app, bounds_tab=DESIGNS)).get("plotly_chart")) == 2


def test_a_bound_on_the_records_shrinks_what_the_theorems_use_and_makes_the_tight_sensitivity_an_upper_bound():
    setup = build(Scenario.default_for("cardiotocography"), sample("cardiotocography"))
    words = text(bounds(data="cardiotocography"))
    assert setup.query.gamma < setup.box.gamma
    assert f"γ = {as_number(setup.query.gamma)} ({as_number(setup.box.gamma)} without it)" in words
    assert f"s₂ = {as_number(setup.query.sensitivity)} ({as_number(setup.box.sensitivity)} without it)" in words
    app = opened(BOUNDS.path, everything=True, data="liver")
    assert UPPER in said(adjust(app, w_bound="even"))  # at once
