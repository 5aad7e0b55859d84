"""The Bounds page: every control, every kind of scenario, and the numbers in its sentences."""

import base64
import json
import math

import numpy as np
import pytest

from mvgviz import Scenario, build
from mvgviz.data import sample, samples
from mvgviz.design.limits import AXES, LimitInputs
from mvgviz.noise.accounting import gaussian_epsilon, gaussian_mu
from mvgviz.pictures.bounds import table_lines
from mvgviz.scenario.scenario import ALLOCATIONS, DIRECTIONS
from mvgviz.text import as_number
from mvgviz.ui.menu import BOUNDS, DATA
from tests.pages.app import clean, link, opened, text

CHARTS = 3


def bounds(**parameters):
    return clean(opened(BOUNDS.path, **parameters))


def spec(app, position):
    return json.loads(app.get("plotly_chart")[position].proto.spec)


def trace(figure, name):
    return next(one for one in figure["data"] if one.get("name") == name)


def values(array):
    """Numbers of a trace; plotly packs long ones."""
    if isinstance(array, dict):
        return np.frombuffer(base64.b64decode(array["bdata"]), array["dtype"])
    return np.asarray(array, dtype=float)


def assert_as_worked_out(app, dataset=None):
    """The point drawn, the edge it is on and the epsilon in the sentence are those of the scenario worked out anew."""
    scenario = Scenario.from_query(link(app))
    setup = build(scenario, sample(scenario.data) if dataset is None else dataset)
    point = trace(spec(app, 2), "this design")
    for at, side in ((point["x"], setup.design.row_side), (point["y"], setup.design.col_side)):
        assert at == pytest.approx([np.linalg.norm(side.precisions)], rel=1e-9)
    spent = gaussian_epsilon(setup.delta, setup.design.mu)
    if scenario.guarantee == "exact":
        share = scenario.private_share if scenario.directions == "private" else 0
        mu = gaussian_mu(scenario.epsilon, setup.delta) * math.sqrt(1 - share)
        assert setup.design.mu == pytest.approx(mu, rel=1e-9)
        assert ("spends exactly the ε it is given" if setup.design.mu_is == "exact" else
                "spends at most the ε it is given") in text(app)
    else:
        assert spent < scenario.epsilon
        assert f"ε = {as_number(spent)}" in text(app) or (spent == 0 and "δ alone covers it" in text(app))
        assert "on the edge of its guarantee" in text(app)


def assert_no_theorem_beats_the_exact_limit(app):
    lines = [one for one in spec(app, 0)["data"] if one["mode"] == "lines" and len(values(one["x"])) > 1]
    limit = values(next(one for one in lines if one["name"] == "Exact limit")["y"])
    theorems = [values(one["y"]) for one in lines if one["name"].startswith("Theorem")]
    assert len(theorems) >= 2
    for theorem in theorems:
        assert np.all((limit > 0) & (theorem >= limit * (1 - 1e-9)))  # noise


def uploaded(columns, rows, query):
    values = np.random.default_rng(0).uniform(-1, 1, (rows, columns)).round(3)
    lines = [",".join(f"f{i}" for i in range(columns)), *(",".join(map(str, row)) for row in values)]
    app = opened(DATA.path)
    app.file_uploader(key="upload_file").set_value(("mine.csv", "\n".join(lines).encode(), "text/csv")).run()
    app.session_state["_all"] = True
    app.switch_page(BOUNDS.path).run()
    app.selectbox(key="w_query").select(query).run()
    assert len(clean(app).get("plotly_chart")) == CHARTS
    return app


def test_experiment_2_in_words_this_noise_spends_a_thousandth_and_is_196_times_too_large():
    app = bounds(data="movement_simulated", guarantee="theorem2", allocation="uniform", delta=str(1 / 10_176),
                 bound="none")
    words = text(app)
    assert "spends ε = 0.00111 of the 1 you allow" in words
    assert "needs noise **277 times smaller**" in words
    assert "the noise is still 196 times too large" in words
    assert "on the edge of its guarantee, Theorem 2" in words
    assert "its own edge (the paper's s₂)" in {one.get("name") for one in spec(app, 2)["data"]}
    app.segmented_control(key="bounds_s2").set_value("paper").run()
    assert "its own edge (the paper's s₂)" not in {one.get("name") for one in spec(clean(app), 2)["data"]}
    assert "all with the paper's s₂ = 0.000786" in text(app)


def test_an_exact_design_is_compared_with_both_theorems():
    words = text(bounds(data="movement_simulated", allocation="uniform", delta=str(1 / 10_176)))
    assert "spends exactly the ε it is given" in words
    assert "**Theorem 1** asks for noise" in words
    assert "**Theorem 2** asks for noise **277 times larger** (196 times with the paper's s₂ for both), which then " \
           "spends ε = 0.00111" in words
    assert "depends on the shape" in words


def test_where_the_query_is_not_psd_theorem_2_is_marked_as_beyond_the_paper():
    app = bounds(data="liver", query="identity")
    names = {one.get("name") for one in spec(app, 0)["data"]}
    assert "Theorem 2's constant (beyond the paper)" in names
    assert "Theorem 2" not in names
    assert "Theorem 2" in {one.get("name") for one in spec(bounds(data="liver"), 0)["data"]}


def test_each_axis_in_both_units():
    app = bounds(data="liver")
    for axis in AXES:
        app.segmented_control(key="bounds_axis").set_value(axis)
        for shown in ("precision", "noise"):
            app.segmented_control(key="bounds_shown").set_value(shown).run()
            figure = spec(clean(app), 0)
            assert figure["layout"]["yaxis"]["type"] == "log"
            assert ("standard deviation" in figure["layout"]["yaxis"]["title"]["text"]) == (shown == "noise")
            assert "Held fixed" in text(app)
            assert ("as the answer grows" in text(app)) == (axis == "size")


def test_the_switch_of_tails_and_the_scenario_s_tail():
    app = bounds(data="liver", tail="exact-chi")
    figure = spec(clean(app), 0)
    assert sum(one.get("name") == "Theorem 1" for one in figure["data"]) == 1
    assert trace(figure, "Theorem 1")["line"]["dash"] == "dot"
    app.toggle(key="bounds_tails").set_value(True).run()
    assert sum(one.get("name") == "Theorem 1" for one in spec(clean(app), 0)["data"]) == 3
    assert "exact chi quantile" in text(app)


def test_one_sensitivity_needs_no_switch():
    app = bounds(data="karate")
    assert [one.key for one in app.segmented_control] == ["bounds_axis", "bounds_shown"]
    assert "the paper's is the same" in text(app)


def test_a_sensitivity_that_is_an_upper_bound_is_called_one():
    many = bounds(data="cardiotocography", bound="none", scale="symmetric")
    assert "(itself an upper bound)" in text(many)
    assert "(itself an upper bound)" not in text(bounds(data="cardiotocography", bound="none", scale="unit"))
    assert "(itself an upper bound)" not in text(bounds(data="liver"))


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
    other = {name: value for name, _, value in table_lines(problem, "laurent-massart")}
    assert other["tail $t$"] == "2.23607"


def test_no_formula_breaks_its_table():
    problem = LimitInputs(rows=2, cols=3, epsilon=1, delta=0.1, gamma=1, sensitivity=1)
    for tail in ("printed", "laurent-massart", "exact-chi"):
        assert not any("|" in name + formula + value for name, formula, value in table_lines(problem, tail))


@pytest.mark.parametrize("data", samples())
@pytest.mark.parametrize("guarantee", ["theorem1", "theorem2-any", "exact"])
def test_every_dataset_under_every_guarantee(data, guarantee):
    assert len(bounds(data=data, guarantee=guarantee).get("plotly_chart")) == CHARTS


@pytest.mark.parametrize("query", ["identity", "covariance", "mean", "kernel"])
@pytest.mark.parametrize("guarantee", ["theorem1", "exact"])
def test_every_query_of_a_table(query, guarantee):
    assert_as_worked_out(bounds(data="liver", query=query, guarantee=guarantee))


@pytest.mark.parametrize("kind", [kind for kind in DIRECTIONS if kind != "upload"])
@pytest.mark.parametrize("guarantee", ["theorem2", "exact"])
def test_every_kind_of_directions(kind, guarantee):
    app = bounds(data="liver", directions=kind, guarantee=guarantee)
    assert ("went to the directions" in text(app)) == (kind == "private")
    assert_as_worked_out(app)


def test_a_design_that_shares_its_budget_with_its_directions_says_why_its_edge_differs():
    app = bounds(data="liver", directions="private", guarantee="theorem2")
    assert "it was built with the paper's s₂ and part of ε and δ" in text(app)
    app.segmented_control(key="bounds_s2").set_value("paper").run()
    assert "it was built with part of ε and δ" in text(clean(app))


@pytest.mark.parametrize("allocation", [kind for kind in ALLOCATIONS if kind != "manual"])
@pytest.mark.parametrize("guarantee", ["theorem2", "exact"])
def test_every_split(allocation, guarantee):
    assert_as_worked_out(bounds(data="liver", allocation=allocation, guarantee=guarantee))


@pytest.mark.parametrize("mode", ["rows", "columns"])
@pytest.mark.parametrize("guarantee", ["theorem1", "exact"])
def test_other_sides_of_a_large_table(mode, guarantee):
    assert_as_worked_out(bounds(data="cardiotocography", query="identity", bound="none", mode=mode,
                                guarantee=guarantee))


@pytest.mark.parametrize("parameters", [{"epsilon": "0.001", "delta": "1e-30"}, {"epsilon": "1000", "delta": "0.9"}])
def test_extreme_budgets(parameters):
    app = bounds(data="karate", query="adjacency", **parameters)
    for axis in AXES:
        app.segmented_control(key="bounds_axis").set_value(axis).run()
        assert_no_theorem_beats_the_exact_limit(clean(app))
    assert_as_worked_out(app)


@pytest.mark.parametrize(("columns", "rows"), [(1, 30), (200, 300)])
@pytest.mark.parametrize("query", ["covariance", "identity"])
def test_the_smallest_and_a_large_answer(columns, rows, query):
    app = uploaded(columns, rows, query)
    for axis in AXES:
        app.segmented_control(key="bounds_axis").set_value(axis).run()
        assert_no_theorem_beats_the_exact_limit(clean(app))


def test_a_bound_on_the_records_is_said_to_shrink_what_the_theorems_use():
    setup = build(Scenario.default_for("cardiotocography"), sample("cardiotocography"))
    said = text(bounds(data="cardiotocography"))
    assert setup.query.gamma < setup.box.gamma
    assert f"γ = {as_number(setup.query.gamma)} ({as_number(setup.box.gamma)} without it)" in said
    assert f"s₂ = {as_number(setup.query.sensitivity)} ({as_number(setup.box.sensitivity)} without it)" in said
    assert "ellipse first" not in text(bounds(data="liver"))


def test_a_bound_on_the_records_makes_the_tight_sensitivity_an_upper_bound_at_once():
    app = opened(BOUNDS.path, everything=True, data="liver")
    assert "(itself an upper bound)" not in text(clean(app))
    app.selectbox(key="w_bound").set_value("even").run()
    assert "(itself an upper bound)" in text(clean(app))
