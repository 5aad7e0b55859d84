"""The budget by direction against dense matrices; splits, water and the inverse question against the design."""

import csv
import io
import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from mvgviz import InputError, Scenario, design_noise, gaussian_mu, log_pnr, manual
from mvgviz.data import sample
from mvgviz.noise.families import FAMILIES
from mvgviz.pictures import budget as pictures
from mvgviz.scenario import precision_budget as budgets
from mvgviz.scenario.resolve import build, fill, second_moments
from tests.datasets import make_dataset

DATA = make_dataset(4, 30, lower=[-1, 0, -2, 1], upper=[1, 3, 1, 4])


def setup_of(**choices):
    return build(Scenario(**{"scale": "declared", "priority_directions": (1,), "share": 0.7} | choices), DATA)


CASES = [
    {"query": query, "guarantee": guarantee, "directions": directions}
    for query in ("identity", "mean", "covariance") for guarantee in ("theorem1", "exact")
    for directions in ("standard", "random", "eigenvectors")]


@pytest.mark.parametrize("choices", CASES)
def test_the_table_agrees_with_dense_covariances(choices):
    setup = setup_of(**choices)
    table = budgets.budget_table(setup, second_moments(setup))
    w = setup.design.row_directions.matrix
    both = choices["query"] == "covariance"

    def along(design):
        """Standard deviation of the noise along each direction, from the whole covariance of vec(Z)."""
        psi, sigma = design.col_covariance(), design.row_covariance()
        last = [np.kron(w[:, k] if both else np.eye(design.cols)[0], w[:, k]) for k in range(4)]
        return np.array([math.sqrt(u @ np.kron(psi, sigma) @ u) for u in last])

    assert table.std == pytest.approx(along(setup.design), rel=1e-9)
    assert table.iid_std == pytest.approx(along(setup.iid), rel=1e-9)
    assert table.factor == pytest.approx(table.std / table.iid_std)
    x = DATA.matrix
    power = np.array([np.mean((w[:, k] @ x) ** 2) for k in range(4)])
    assert table.signal == pytest.approx(power if both else np.sqrt(power), rel=1e-9)
    assert table.signal_to_noise == pytest.approx(table.signal / table.std)


@pytest.mark.parametrize("choices", CASES)
def test_theta_divides_what_is_called_precision(choices):
    setup = setup_of(**choices)
    table = budgets.budget_table(setup)
    if choices["guarantee"] == "exact":
        assert table.precision_is == "1/v"
        spent = setup.query.neighbours.reach(setup.design.row_directions)**2 * table.precision
    else:
        assert table.precision_is == "1/v²"
        spent = table.precision
        assert spent.sum() == pytest.approx(setup.design.precision_budget)
    assert spent / spent.sum() == pytest.approx(table.theta)
    assert table.signal is None


@pytest.mark.parametrize("choices", [{"mode": "columns"}, {"query": "covariance", "mode": "rows"},
                                     {"query": "kernel", "priority_directions": (0,)}])
def test_signal_is_left_out_where_it_has_no_meaning(choices):
    setup = setup_of(**choices)
    moments = second_moments(setup)
    assert budgets.budget_table(setup, moments).signal is None
    assert pictures.signal_picture(setup, budgets.budget_table(setup, moments)) is None
    assert second_moments(build(Scenario.default_for("karate"), sample("karate"))) is None


def test_the_file_holds_the_table_and_no_formulas():
    table = budgets.budget_table(setup_of(), None)
    rows = list(csv.reader(io.StringIO(budgets.table_csv(table, ["=1+1", "a,b", '"q"', " @x"]))))
    assert [row[0] for row in rows] == ["direction", "'=1+1", "a,b", '"q"', "' @x"]
    assert [float(row[1]) for row in rows[1:]] == table.theta.tolist()
    assert [float(row[4]) for row in rows[1:]] == (table.std * table.own).tolist()
    assert "1/v" in rows[0][2]
    signal = budgets.budget_table(setup_of(), second_moments(setup_of()))
    assert "signal" not in budgets.table_csv(signal, list("abcd"))  # measured on the data, which a file must not tell
    assert budgets.table_csv(signal, list("abcd"), care=" (!)").splitlines()[0].count(" (!)") == 6


def scores_of(setup):
    return {(score.guarantee, score.split): score for score in budgets.compare_splits(setup, second_moments(setup))}


@pytest.mark.parametrize("directions", ["standard", "random", "private"])
def test_log_pnr_of_each_split_is_that_of_its_design(directions):
    data = make_dataset(3, 4)
    setup = build(Scenario(scale="declared", directions=directions), data)
    scores = scores_of(setup)
    assert {split for _, split in scores} == {"uniform", "binary", "least-error", "max-pnr relaxed",
                                              "max-pnr unrelaxed", "max-pnr exact"}
    for (guarantee, split), score in scores.items():
        allocation, _, form = split.partition(" ")
        form = form if form in ("relaxed", "unrelaxed") else "relaxed"
        design = build(setup.scenario.changed(guarantee=guarantee, allocation=allocation, form=form), data).design
        assert score.log_pnr == pytest.approx(log_pnr(data.matrix @ data.matrix.T / 4, design), rel=1e-9)
        assert score.mutual_information == score.log_pnr / 2


def test_each_form_of_max_pnr_wins_under_its_own_guarantee():
    signs = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1]])  # orthogonal rows: the features are eigenvectors
    data = replace(make_dataset(3, 4), matrix=signs * [[1.0], [0.5], [0.1]])
    scores = scores_of(build(Scenario(scale="declared", epsilon=5.0), data))
    for guarantee, best in (("exact", "max-pnr exact"), ("theorem1", "max-pnr unrelaxed")):
        others = [score.log_pnr for (under, split), score in scores.items() if under == guarantee and split != best]
        assert scores[guarantee, best].log_pnr > max(others)


def test_the_current_split_is_marked_once_and_under_its_guarantee():
    for choices, expected in (({}, ("exact", "binary")), ({"allocation": "max-pnr"}, ("exact", "max-pnr exact")),
                              ({"priority_directions": ()}, ("exact", "uniform")),
                              ({"guarantee": "theorem2-any", "allocation": "max-pnr", "form": "unrelaxed"},
                               ("theorem2-any", "max-pnr unrelaxed")),
                              ({"allocation": "manual", "weights": (1, 2, 3, 4)}, ("exact", "manual"))):
        scores = scores_of(setup_of(**choices))
        assert [key for key, score in scores.items() if score.is_current] == [expected]


def test_nobody_favoured_leaves_binary_and_least_error_out():
    assert {split for _, split in scores_of(setup_of(priority_directions=()))} == {
        "uniform", "max-pnr relaxed", "max-pnr unrelaxed", "max-pnr exact"}


@pytest.mark.parametrize("query", ["identity", "mean", "covariance"])
@pytest.mark.parametrize("directions", ["standard", "random", "private"])
@pytest.mark.parametrize(("guarantee", "form"), [("theorem1", "relaxed"), ("theorem1", "unrelaxed"),
                                                 ("exact", "exact")])
def test_the_water_shown_is_the_split_that_is_built(query, directions, guarantee, form):
    setup = setup_of(query=query, directions=directions)
    filled = fill(budgets.equal_design(setup, guarantee), setup.query, second_moments(setup), form)
    shape = {} if form == "exact" else {"form": form}
    built = build(setup.scenario.changed(guarantee=guarantee, allocation="max-pnr", **shape), DATA)
    assert filled.theta == pytest.approx(built.design.theta, rel=1e-9)


def test_a_form_without_its_guarantee_is_refused():
    with pytest.raises(InputError, match="the relaxed form does not belong to the guarantee exact"):
        fill(setup_of().design, setup_of().query, np.eye(4), "relaxed")


def test_the_printed_guarantee_beside_the_exact_one():
    assert budgets.printed_guarantee(setup_of()) == "theorem1"
    assert budgets.printed_guarantee(setup_of(query="covariance")) == "theorem2"
    assert budgets.printed_guarantee(setup_of(query="covariance", mode="rows")) == "theorem1"
    assert budgets.printed_guarantee(setup_of(guarantee="theorem2-any")) == "theorem2-any"


@pytest.mark.parametrize(("choices", "pnr", "inverse"), [
    ({}, None, None), ({"query": "mean"}, None, None), ({"query": "covariance"}, None, None),
    ({"mode": "columns"}, "over records", "over records"),
    ({"query": "covariance", "mode": "rows"}, "both sides", "both sides"),
    ({"query": "covariance", "mode": "columns"}, "over records", "both sides"),
    ({"query": "kernel"}, "not for the kernel", None)])
def test_what_cannot_be_asked_says_why(choices, pnr, inverse):
    setup = setup_of(**choices)
    for expected, refusal in ((pnr, budgets.pnr_refusal(setup)), (inverse, budgets.inverse_refusal(setup))):
        assert (refusal is None) if expected is None else (expected in refusal)


@pytest.mark.parametrize("query", ["identity", "mean", "covariance"])
@pytest.mark.parametrize("directions", ["standard", "random", "rotation"])
@pytest.mark.parametrize("guarantee", ["exact", "theorem1"])
def test_taking_the_answer_over_gives_the_wanted_noise_at_that_epsilon(query, directions, guarantee):
    setup = setup_of(query=query, directions=directions, guarantee=guarantee)
    exact = setup_of(query=query, directions=directions)
    targets = {0: 0.7 * float(exact.design.direction_std()[0]), 2: 1.3 * float(exact.design.direction_std()[2])}
    found = budgets.wanted_noise(setup, targets)
    assert found.reachable
    assert found.priority <= found.epsilon <= found.priority * 1.001
    taken = build(setup.scenario.changed(epsilon=found.epsilon, guarantee="exact", allocation="manual",
                                         weights=found.weights), DATA)
    for k, target in targets.items():
        assert taken.design.direction_std()[k] == pytest.approx(target, rel=2e-3)
        assert taken.design.direction_std()[k] <= target * (1 + 1e-5)


@pytest.mark.parametrize("query", ["mean", "covariance"])
@pytest.mark.parametrize("family", ["gaussian", "box", "laplace"])
@pytest.mark.parametrize("factors", [{0: 0.01, 2: 8.2}, {0: 2 / 3, 1: 1 / 7, 2: 1.0, 3: 10.0}, {0: 10.0, 2: 0.1}])
def test_whole_weights_give_no_direction_more_than_the_wanted_noise(query, family, factors):
    setup = setup_of(query=query, family=family)
    targets = {k: factor * float(setup.design.direction_std()[k]) for k, factor in factors.items()}
    found = budgets.wanted_noise(setup, targets)
    taken = build(setup.scenario.changed(epsilon=found.epsilon, allocation="manual", weights=found.weights), DATA)
    for k, target in targets.items():
        assert taken.design.direction_std()[k] <= target * (1 + 1e-8)


def partitions(rows):
    if not rows:
        yield []
        return
    first, *rest = rows
    for size in range(len(rest) + 1):
        for mates in itertools.combinations(rest, size):
            for others in partitions([k for k in rest if k not in mates]):
                yield [[first, *mates], *others]


@pytest.mark.parametrize("query", ["identity", "mean"])
@pytest.mark.parametrize("family", ["box", "laplace"])
@pytest.mark.parametrize("factors", [{0: 0.7, 2: 1.3}, {1: 1.0}, dict(enumerate([1.0, 1.02, 3.0, 50.0])),
                                     dict(enumerate([1.0] * 4)), {0: 1e-2, 3: 1.0}])
def test_pure_noise_has_the_wanted_noise_at_the_least_epsilon_of_all_blocks(query, family, factors):
    setup = setup_of(query=query, family=family)
    now = setup.design.direction_std()
    targets = {k: factor * float(now[k]) for k, factor in factors.items()}
    found = budgets.wanted_noise(setup, targets)
    taken = build(setup.scenario.changed(epsilon=found.epsilon, allocation="manual", weights=found.weights), DATA)
    for k, target in targets.items():
        assert taken.design.direction_std()[k] <= target * (1 + 1e-5)
    change = now / np.array([next(block.std for block in setup.design.blocks if k in block.rows) for k in range(4)])
    blocks = partitions(list(targets)) if family == "box" else [[[k] for k in targets]]
    least = min(sum(FAMILIES["box"].std(len(rows), 1.0, 0.0) * max(change[k] / targets[k] for k in rows)
                    for rows in split) for split in blocks)
    assert least <= found.priority <= least * (1 + 1e-4)


def test_the_noise_of_a_design_with_an_ellipse_has_no_epsilon_to_find():
    assert "here the noise is ellipse noise" in budgets.inverse_refusal(setup_of(family="ellipse"))
    assert budgets.inverse_refusal(setup_of(family="box")) is None


def test_private_directions_are_paid_for_on_top():
    setup = setup_of(directions="private", private_share=0.36)
    found = budgets.wanted_noise(setup, {0: 3.0, 1: 4.0})
    drawn = setup.design.row_directions
    spent = math.sqrt(0.36) * float(gaussian_mu(found.priority, setup.delta))
    receipt = replace(drawn.receipts[0], mu=spent)
    design = design_noise(setup.query, epsilon=found.priority, delta=setup.delta, theta=manual(found.weights),
                          directions=replace(drawn, receipts=(receipt,)), cover_directions=True)
    assert design.direction_std()[:2] == pytest.approx([3.0, 4.0], rel=1e-4)


def test_an_epsilon_outside_the_range_is_brought_inside_and_said():
    huge, tiny = budgets.wanted_noise(setup_of(), {0: 1e-6}), budgets.wanted_noise(setup_of(), {0: 1e6})
    assert (huge.epsilon, huge.reachable) == (1000, False)
    assert (tiny.epsilon, tiny.priority, tiny.reachable) == (0.001, 0, True)
    extreme = budgets.wanted_noise(setup_of(), {0: 1e-60, 3: 1e60})
    assert extreme.epsilon == 1000
    assert min(extreme.weights) >= 1
