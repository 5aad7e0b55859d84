"""Theorem 1, Theorem 2 and the exact limit on one scale: the experiments' table, and dense matrices as oracle."""

import math
from dataclasses import replace

import numpy as np
import pytest

import mvgviz as mv
from mvgviz.design.limits import (
    AXES,
    LimitInputs,
    bound_curves,
    exact_limit,
    iid_std,
    limit_inputs,
    precision_norm,
    rival,
)
from mvgviz.noise.bounds import TAILS, ratio_limit
from mvgviz.pictures.bounds import Edge, curve_lines, curves_picture, map_picture, place, plot_design_space
from mvgviz.pictures.theme import EXACT, THEOREM1, THEOREM2, decades
from mvgviz.text import as_number
from tests.datasets import make_dataset

ONE = LimitInputs(rows=6, cols=248, epsilon=1, delta=1 / 248, gamma=math.sqrt(248 * 6), sensitivity=math.sqrt(24))
TWO = LimitInputs(rows=4, cols=4, epsilon=1, delta=1 / 10_176, gamma=4e4, sensitivity=8e4 / 10_176, psd=True)
GRAPH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def test_equal_noise_at_the_paper_s_sensitivity_in_experiment_2():
    assert iid_std(TWO, exact_limit(TWO)) == pytest.approx(25.08, abs=0.005)


QUERIES = [
    mv.identity(make_dataset(3, 7)), mv.mean(make_dataset(3, 7, lower=0, upper=[1, 2, 5])),
    mv.covariance(make_dataset(3, 7)), mv.rbf_kernel(make_dataset(2, 5), length=1.0), mv.adjacency(GRAPH),
    mv.laplacian(GRAPH), mv.identity(make_dataset(1, 1))]
MODES = [(query, mode) for query in QUERIES for mode in ("rows", "columns", "both")
         if mode != "both" or query.rows == query.cols]


@pytest.mark.parametrize(("query", "mode"), MODES)
def test_the_exact_limit_is_the_product_of_norms_of_the_exact_iid_design(query, mode):
    reach = query.neighbours.reach(mv.standard_basis(query.rows))
    theta = mv.manual(reach**2) if mode != "columns" else mv.uniform(query.cols)
    design = mv.design_noise(query, epsilon=0.7, delta=1e-4, mode=mode, theta=theta)
    problem = limit_inputs(query, epsilon=0.7, delta=1e-4, sensitivity=query.sensitivity)
    norms = [np.linalg.norm(np.linalg.svd(np.linalg.inv(c), compute_uv=False))
             for c in (design.row_covariance(), design.col_covariance())]
    assert norms[0] * norms[1] == pytest.approx(exact_limit(problem), rel=1e-10)
    assert design.noise_std() == pytest.approx(iid_std(problem, exact_limit(problem)), rel=1e-10)


@pytest.mark.parametrize("guarantee", ["theorem1", "theorem2", "theorem2-any"])
@pytest.mark.parametrize("tail", TAILS)
def test_a_theorem_s_design_lies_on_the_edge_and_its_iid_noise_is_the_curve_s(guarantee, tail, rng):
    query = mv.covariance(make_dataset(4, 50))
    problem = limit_inputs(query, epsilon=2, delta=1e-3, sensitivity=query.printed_sensitivity)
    bound = problem.theorem1(tail) if guarantee == "theorem1" else problem.theorem2(tail)
    tilted = mv.design_noise(query, epsilon=2, delta=1e-3, guarantee=guarantee, tail=tail,
                             directions=mv.random_rotation(4, rng=rng), theta=mv.binary(4, priority=[1], share=0.9))
    assert precision_norm(tilted.row_side) * precision_norm(tilted.col_side) == pytest.approx(bound.limit, rel=1e-12)
    even = mv.design_noise(query, epsilon=2, delta=1e-3, guarantee=guarantee, tail=tail)
    assert even.noise_std() == pytest.approx(iid_std(problem, bound.limit), rel=1e-12)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("problem", [
    ONE, TWO, replace(TWO, epsilon=1e-3, delta=1e-30), replace(TWO, epsilon=1e3, delta=0.9),
    LimitInputs(rows=5, cols=1, epsilon=1, delta=0.1, gamma=3, sensitivity=6),
    LimitInputs(rows=1, cols=1, epsilon=1, delta=0.9, gamma=1, sensitivity=2)])
def test_curves_pass_through_the_scenario_and_no_theorem_passes_the_exact_limit(axis, problem):
    curves = bound_curves(problem, axis)
    at = list(curves.positions).index(curves.here)
    assert curves.exact[at] == pytest.approx(exact_limit(problem), rel=1e-12)
    for tail in TAILS:
        assert curves.theorem1[tail][at] == problem.theorem1(tail).limit
        assert curves.theorem2[tail][at] == problem.theorem2(tail).limit
        assert (curves.theorem1[tail] < curves.exact).all()
        assert (curves.theorem2[tail] < curves.exact).all()
    assert (np.diff(curves.positions) > 0).all()
    assert curves.as_std(curves.exact)[at] == pytest.approx(iid_std(problem, exact_limit(problem)), rel=1e-12)


def test_no_impossible_query_is_on_a_curve():
    problem = LimitInputs(rows=3, cols=3, epsilon=1, delta=0.01, gamma=1, sensitivity=0.5)
    assert bound_curves(problem, "sensitivity").positions[-1] == 2
    assert bound_curves(problem, "gamma").positions[0] == 0.25


def test_size_moves_both_sides_of_a_square_answer_and_the_longer_side_of_another():
    square, wide = bound_curves(TWO, "size"), bound_curves(ONE, "size")
    assert square.entries == pytest.approx(square.positions**2)
    assert wide.entries == pytest.approx(6 * wide.positions)
    tall = bound_curves(LimitInputs(rows=5, cols=1, epsilon=1, delta=0.1, gamma=3, sensitivity=2), "size")
    assert tall.entries == pytest.approx(tall.positions)
    # With s2 held fixed, exact noise does not see the size; the theorems' does.
    assert np.ptp(square.as_std(square.exact)) < 1e-9 * square.as_std(square.exact)[0]
    assert (np.diff(square.as_std(square.theorem2["printed"])) > 0).all()


def test_the_border_of_theorem_3_is_where_theorem2_stops_winning():
    ranks = np.array([1.0, 2, 12, 13, 100, 1000])
    border = ratio_limit(ranks)
    assert border[0] == 1
    for rank, ratio in zip(ranks.tolist(), border.tolist(), strict=True):
        bound = mv.theorem1(int(rank), int(rank), epsilon=1, delta=0.1, gamma=1, sensitivity=ratio)
        assert bound.alpha == pytest.approx(bound.omega, rel=1e-12)
    assert border[2] < math.sqrt(2) < border[3]


def test_a_rival_has_the_same_shares_and_spends_what_it_is_given(rng):
    query = mv.covariance(make_dataset(3, 40))
    design = mv.design_noise(query, epsilon=1, delta=0.01, guarantee="theorem1",
                             directions=mv.random_rotation(3, rng=rng), theta=mv.binary(3, priority=[0], share=0.7))
    other = rival(design, query, guarantee="exact", epsilon=1, delta=0.01, tail="printed")
    assert other.guarantee == "exact"
    assert other.design.theta == pytest.approx(design.theta)
    assert other.design.epsilon_spent(0.01) == pytest.approx(1)
    assert other.factors * design.direction_std() == pytest.approx(other.design.direction_std())
    assert (other.factors < 1).all()


def test_the_picture_has_seven_lines_one_thick_for_each_limit_and_log_axes():
    curves = bound_curves(TWO, "delta")
    lines = curve_lines(curves, second="Theorem 2", tail="exact-chi", all_tails=True, as_noise=True)
    assert len(lines) == 7
    assert [line.colour for line in lines if line.main] == [THEOREM1, THEOREM2, EXACT]
    printed = next(line for line in lines if line.name == "Theorem 2" and line.tail == "printed")
    assert printed.here == pytest.approx(4916, abs=0.5)
    figure = curves_picture(TWO, "delta", tail="exact-chi", as_noise=True, all_tails=True, s2_words="s₂").figure
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    assert {trace.name for trace in figure.data if trace.showlegend is not False} == {
        "Theorem 1", "Theorem 2", "Exact limit", "tail as printed", "tail Laurent–Massart", "tail exact chi"}
    few = curve_lines(curves, second="Theorem 2", tail="printed", all_tails=False, as_noise=False)
    assert len(few) == 3


def test_the_map_marks_the_scenario_and_says_who_wins():
    picture = map_picture(TWO, tail="printed", s2_words="s₂")
    assert picture.takeaway.startswith("**Here Theorem 2 allows more:**")
    assert picture.takeaway.endswith(f"at r = 4 Theorem 2 wins up to {as_number(ratio_limit(np.array([4.0]))[0])}.")
    point = picture.figure.data[-1]
    assert (point.x[0], point.y[0]) == (4, pytest.approx(TWO.sensitivity / TWO.gamma))
    loser = replace(TWO, rows=1, cols=1, sensitivity=1.9 * TWO.gamma)
    assert map_picture(loser, tail="printed", s2_words="s₂").takeaway.startswith("**Here Theorem 1 allows more:**")
    region = map_picture(replace(TWO, rows=5000, cols=5000), tail="printed", s2_words="s₂").figure.data[0]
    assert max(region.x) == 5000


def test_the_design_space_draws_each_limit_where_the_product_of_norms_is_that_limit():
    query = mv.identity(make_dataset(3, 20))
    design = mv.design_noise(query, epsilon=1, delta=0.01, guarantee="theorem1")
    edges = [Edge(name=str(i), colour=THEOREM1, limit=limit)
             for i, limit in enumerate([design.bound.limit, *np.geomspace(1e-9, 1e3, 40)])]
    here = place(design, name="this design", colour=EXACT)
    assert here.rows * here.cols == pytest.approx(design.bound.limit, rel=1e-12)
    assert here.cols == pytest.approx(math.sqrt(20))
    figure = plot_design_space(edges, [here])
    for edge in edges:
        line = next(trace for trace in figure.data if trace.name == edge.name)
        assert np.array(line.x) * np.array(line.y) == pytest.approx(edge.limit, rel=1e-9)
        assert line.fill == "tozeroy"
    (left, right), (bottom, top) = figure.layout.xaxis.range, figure.layout.yaxis.range
    for trace in figure.data:  # each is seen
        x, y = np.log10(np.array(trace.x, dtype=float)), np.log10(np.array(trace.y, dtype=float))
        assert left - 1e-9 <= x.min() <= x.max() <= right + 1e-9
        assert y.min() < top
        assert y.max() > bottom


def test_ticks_are_whole_decades_and_few():
    assert decades(-12, 3)["dtick"] == 2
    assert decades(0, 2)["dtick"] == 1
    assert "dtick" not in decades(0, 1)
