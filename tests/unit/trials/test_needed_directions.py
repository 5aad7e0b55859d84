"""Directions that are needed instead of features: errors along them, the noise on them, and the least possible."""

import itertools
import math

import numpy as np
import pytest
from scipy import optimize

from mvgviz import InputError, Scenario, build, identity, mean, random_rotation
from mvgviz.design.least_possible import least_possible
from mvgviz.design.needs import noise_on
from mvgviz.noise.directions import standard_basis
from mvgviz.scenario.trade_off import against_least
from mvgviz.trials.candidates import SEARCHED, candidates, forgets_directions
from mvgviz.trials.mechanisms import mechanism
from mvgviz.trials.mechanisms.base import Draws
from mvgviz.trials.mechanisms.reduced import sensitivity_along
from mvgviz.trials.problem import PERCENT, weighing_of
from mvgviz.trials.run import part_errors, part_problems, resume
from mvgviz.trials.tasks import measure_for
from tests.datasets import make_dataset
from tests.oracles import mu_for
from tests.unit.trials.problems import many, posed

DATA = make_dataset(4, 50, [-1, 0, -2, 0], [1, 3, 2, 5])
TURNED = {"directions": "random", "priority_directions": (1, 2), "importance": (4, 1), "share": 0.7, "post": ()}


def turned(query, **changes):
    problem = posed(query, DATA, **TURNED | changes)
    return problem, problem.setup("exact").design.directional_side.directions.matrix


def test_what_is_favoured_is_needed_along_its_own_directions():
    scenario = Scenario(query="mean", priority_directions=(1,))
    assert (scenario.needs, scenario.needs_along, scenario.priority_features) == ((1,), "features", (1,))
    scenario = scenario.changed(directions="random")
    assert (scenario.needs, scenario.needs_along, scenario.priority_features) == ((1,), "directions", ())
    assert (scenario.changed(priority=(0,)).needs, scenario.changed(priority=(0,)).needs_along) == ((0,), "features")
    assert scenario.changed(allocation="uniform").needs == ()
    assert scenario.changed(query="kernel").needs == ()


@pytest.mark.parametrize(("judged", "rows", "weights"), [("priority", [1, 2], [1, 1 / 4]), ("other", [0, 3], [1, 1])])
@pytest.mark.parametrize("query", ["identity", "mean"])
def test_errors_of_tables_and_means_are_in_percent_of_the_range_of_each_direction(query, judged, rows, weights):
    problem, w = turned(query, judged=judged)
    measure = measure_for(problem)
    assert (measure.level, measure.references.unit) == ("square", PERCENT)
    wide = DATA.widths @ np.abs(w[:, rows])
    released = mechanism("mvg").prepare(problem, "answer").draw(Draws(0, 0, 4_000 if query == "mean" else 400))
    off = w[:, rows].T @ (released - problem.query.value) * (100 / wide)[:, None]
    squares = np.einsum("k,tkj->t", weights, off**2) / (sum(weights) * problem.query.cols)
    found = measure.errors(many(mechanism("mvg").prepare(problem, "square"), len(squares))) ** 2
    assert found.mean() == pytest.approx(squares.mean(), abs=9 * squares.std() / math.sqrt(len(squares)))
    clipped, _ = turned(query, judged=judged, post=("clip",))  # to the ranges of the features, before it is turned
    inside = np.clip(released, DATA.lower[:, None], DATA.upper[:, None]) - problem.query.value
    off = w[:, rows].T @ inside * (100 / wide)[:, None]
    assert measure_for(clipped).errors(released) == pytest.approx(np.sqrt(
        np.einsum("k,tkj->t", weights, off**2) / (sum(weights) * problem.query.cols)))


@pytest.mark.parametrize("query", ["covariance", "identity"])
@pytest.mark.parametrize("bound", ["none", "even"])
def test_components_are_those_of_the_block_along_the_needed(query, bound):
    problem, w = turned(query, judged="priority", task="covariance-estimation", bound=bound)
    block = w[:, [1, 2]] * [1, 0.5]
    released = mechanism("mvg").prepare(problem, "moments").draw(Draws(0, 0, 3))
    true = block.T @ (DATA.matrix @ DATA.matrix.T / 50) @ block
    values = np.linalg.eigvalsh(true)[::-1]
    expected = []
    for noisy in released:
        vectors = np.linalg.svd(block.T @ noisy @ block)[0]
        expected.append(np.square(values - np.diag(vectors.T @ true @ vectors)).sum())
    assert measure_for(problem).errors(released) == pytest.approx(expected)


def test_the_constant_stays_where_directions_are_turned():
    problem, w = turned("moments", directions="rotation", judged="priority", task="covariance-estimation")
    released = mechanism("mvg").prepare(problem, "moments").draw(Draws(0, 0, 3))
    block = np.column_stack([w[:, 1], w[:, 2] / 2])[:-1]
    true = block.T @ np.cov(DATA.matrix, bias=True) @ block
    assert measure_for(problem).errors(np.repeat(problem.query.value[None], 2, axis=0)) == pytest.approx(0, abs=1e-20)
    assert measure_for(problem).references.random_guess == pytest.approx(
        np.square(np.linalg.eigvalsh(true) - np.trace(true) / 2).sum() * 3 / 2)  # E of (l - v'Sv)² for two directions
    assert (measure_for(problem).errors(released) > 0).all()


@pytest.mark.parametrize("task", ["covariance-estimation", "first-component", "subspace"])
@pytest.mark.parametrize("post", [("symmetrise", "aware"), ("symmetrise",)])
def test_the_known_noise_is_turned_with_what_is_judged(task, post):
    problem, _ = turned("covariance", task=task, priority_directions=(0, 1, 2), importance=(), post=post,
                        judged="priority")
    sampler = mechanism("mvg").prepare(problem, "moments")
    released = sampler.draw(Draws(0, 0, 3))
    assert np.isfinite(measure_for(problem).errors(released, sampler.moment_noise(released))).all()


def test_where_needed_directions_cannot_be_judged_by_errors_are_on_everything():
    problem = posed("covariance", DATA, directions="private", priority_directions=(0,), importance=(3,),
                    judged="priority")
    assert problem.judged_on == "everything"
    assert measure_for(problem) is measure_for(problem.whole)
    with pytest.raises(InputError, match="every trial finds its own private directions"):
        measure_for(posed("covariance", DATA, directions="private", priority_directions=(0,), judged="other"))
    points, reasons = part_problems(problem)
    assert list(points) == ["everything"]
    assert set(reasons) == {"priority", "other"}
    regression = posed("covariance", DATA, directions="random", priority_directions=(0,), task="linear-ridge", label=1,
                       judged="priority")
    assert measure_for(regression) is measure_for(regression.whole)
    assert "regression learns from columns" in part_problems(regression)[1]["priority"]


@pytest.mark.parametrize("query", ["mean", "covariance"])
def test_the_noise_along_directions_is_that_of_draws(query):
    problem, w = turned(query)
    design = problem.setup("exact").design
    noise = mechanism("mvg").prepare(problem, "answer").draw(Draws(0, 0, 20_000)) - problem.query.value
    reach = design.neighbours.reach(design.directional_side.directions)
    if query == "mean":
        along = w.T @ noise / reach[:, None]
        expected = math.sqrt((along[:, 1] ** 2 + along[:, 2] ** 2 / 4).mean() / (1 + 1 / 4))
        features = noise / design.neighbours.reach(standard_basis(4))[:, None]
    else:
        noise = (noise + noise.transpose(0, 2, 1)) / 2
        along = w.T @ noise @ w / np.outer(reach, reach)
        weights = np.outer([0, 1, 1 / 4, 0], [0, 1, 1 / 4, 0])
        expected = math.sqrt((along**2 * weights).sum(axis=(1, 2)).mean() / weights.sum())
        unit = design.neighbours.reach(standard_basis(4))
        features = noise / np.outer(unit, unit)
    found = noise_on(design, [0, 1, 1 / 4, 0], directions=design.directional_side.directions)
    assert found.priority == pytest.approx(expected, rel=0.03)
    assert noise_on(design, np.ones(4)).everything == pytest.approx(math.sqrt((features**2).mean()), rel=0.03)


@pytest.mark.parametrize("query", [identity, mean])
@pytest.mark.parametrize("weights", [[1, 0, 0], [1, 0.5, 0], [1, 1, 0.2]])
def test_no_noise_of_any_shape_is_below_the_least_possible_along_directions(query, weights):
    """A search over covariances of every shape, each as small as the corners of the ranges allow."""
    data, mu = make_dataset(3, 20, 0, [1, 2, 5]), 0.7
    asked, directions = query(data), random_rotation(3, rng=np.random.default_rng(3))
    reach = asked.neighbours.reach(directions)
    least = least_possible(asked, weights, mu, directions=directions)
    corners = data.widths * np.array([[1, a, b] for a in (-1, 1) for b in (-1, 1)]) / (1 if query is identity else 20)
    w, share = directions.matrix / reach, np.array(weights) / sum(weights)

    def noise(packed):
        root = np.zeros((3, 3))
        root[np.tril_indices(3)] = packed
        root += 1e-6 * np.eye(3)
        covariance = root @ root.T
        longest = max(corner @ np.linalg.solve(covariance, corner) for corner in corners)
        return math.sqrt(share @ np.diag(w.T @ covariance @ w) * longest) / mu

    rng = np.random.default_rng(0)
    best = min(optimize.minimize(noise, rng.standard_normal(6), method="Nelder-Mead", options={"maxiter": 1500}).fun
               for _ in range(4))
    assert least.noise <= best * (1 + 1e-6)
    assert best <= 1.08 * least.noise  # and it is near
    assert least.exact == (sum(weights) == 1)


def test_along_the_features_and_inside_an_ellipse_it_is_the_known_one():
    asked = mean(make_dataset(3, 20, 0, [1, 2, 5]))
    alone = least_possible(asked, [1, 0, 0], 0.5, directions=random_rotation(3, rng=np.random.default_rng(0)))
    assert alone.noise == pytest.approx(1 / (20 * 0.5))
    setup = build(Scenario(query="mean", directions="random", priority_directions=(1,), bound="own", radius=0.1), DATA)
    found = against_least(setup)
    assert found is not None
    assert found.ratio == pytest.approx(1)  # an ellipse's noise is the least in every direction at once
    assert against_least(build(Scenario(query="covariance", directions="random", priority_directions=(1,)),
                               DATA)) is None


@pytest.mark.parametrize("query", ["mean", "covariance"])
def test_where_every_direction_is_needed_each_still_counts_as_much_as_it_matters(query):
    problem = posed(query, make_dataset(2, 40), directions="rotation", angle=45.0, priority_directions=(0, 1),
                    importance=(4, 1),
                    judged="priority", post=())
    w = problem.setup("exact").design.directional_side.directions.matrix
    found, expected = weighing_of(problem).matrix, np.diag([1.0, 0.5]) @ w.T
    assert found / found[0, 0] == pytest.approx(expected / expected[0, 0])


@pytest.mark.parametrize("bounds", [([-1, 0, -2, 0], [1, 3, 2, 5]), ([1, 2, -3, 1], [2, 3, -1, 4]), (-1, 1)])
@pytest.mark.parametrize("query", ["identity", "mean", "covariance"])
def test_only_the_needed_directions_are_released_with_the_sensitivity_of_that_smaller_answer(query, bounds):
    data = make_dataset(4, 30, *bounds)
    problem = posed(query, data, **TURNED | {"importance": ()})
    w = problem.setup("exact").design.directional_side.directions.matrix[:, [1, 2]]
    only = mechanism("reduced-gaussian").prepare(problem, "answer")
    noise = many(only, 4_000) - problem.query.value
    frame = problem.guess.answer
    rest = np.eye(4) - w @ w.T
    assert np.allclose(rest @ (noise + problem.query.value - frame), 0, atol=1e-12)  # as of someone who saw nothing
    ends = np.array(list(itertools.product(*zip(data.lower, data.upper, strict=True)))) @ w
    inside = np.random.default_rng(0).uniform(data.lower, data.upper, (300, 4)) @ w
    records = np.vstack([ends, inside])
    if query == "covariance":
        records = np.einsum("ri,rj->rij", records, records).reshape(len(records), -1)
    furthest = math.sqrt(max(np.square(records - one).sum(axis=1).max() for one in records))
    furthest /= 1 if query == "identity" else data.n_records
    released = w.T @ noise @ w if query == "covariance" else w.T @ noise
    std = math.sqrt(np.square(released).mean())
    assert furthest / std <= mu_for(1, 1e-3) * 1.03  # no pair is further apart than the noise allows
    assert only.mu == pytest.approx(mu_for(1, 1e-3))
    along = sensitivity_along(problem.query.neighbours, problem.setup("exact").need_directions, [1, 2],
                              symmetric=query == "covariance")
    assert furthest <= along * (1 + 1e-12)
    assert furthest == pytest.approx(along, rel=1e-9 if query != "covariance" else 0.1)
    assert std == pytest.approx(along / mu_for(1, 1e-3), rel=0.02)


def test_only_the_needed_errs_less_on_them_than_equal_noise_and_is_a_part_of_every_comparison():
    points, _ = part_problems(turned("mean")[0])
    priority, rest, _ = part_errors(resume(list(points.values())))
    assert priority["reduced-gaussian"].mean < priority["iid"].mean
    assert rest["reduced-gaussian"].mean > 0


@pytest.mark.parametrize("query", ["identity", "covariance", "moments"])
def test_what_is_known_of_the_noise_on_the_needed_directions_is_that_of_draws(query):
    problem, _ = turned(query, directions="rotation", priority_directions=(0,), importance=(),
                        task="covariance-estimation",
                        post=("subtract", "symmetrise"))
    sampler = mechanism("reduced-gaussian").prepare(problem, "moments")
    drawn = many(sampler, 4_000)
    w = problem.setup("exact").need_directions.matrix[:, 0]
    true = w @ (problem.query.value @ problem.query.value.T / 50 if query == "identity" else problem.query.value) @ w
    along = np.einsum("i,tij,j->t", w, drawn, w)
    assert along.mean() == pytest.approx(true, abs=6 * along.std() / math.sqrt(len(along)))
    known = sampler.moment_noise(drawn[:5])
    assert known is not None
    root = np.broadcast_to(known.root, (5, *drawn.shape[1:]))[0]
    assert np.linalg.norm(w @ root) ** 2 == pytest.approx(along.std(), rel=0.15)  # v_i of the entry (i, i)


def test_where_directions_cannot_be_released_alone_one_sentence_says_so():
    for key, words, choices in (("reduced-johnson-lindenstrauss", "a sketch keeps columns", {}),
                                ("reduced-gaussian", "to find private directions", {"directions": "private"}),
                                ("reduced-gaussian", "not all, not none", {"priority_directions": (0, 1, 2, 3)}),
                                ("reduced-gaussian", "regression learns from columns", {"task": "linear-ridge",
                                                                                        "label": 1})):
        problem = posed("covariance", DATA, **TURNED | {"importance": ()} | choices)
        assert words in mechanism(key).unsuitable(problem, "moments")


@pytest.mark.parametrize("directions", ["random", "rotation"])
def test_a_design_that_is_loaded_needs_the_same_directions_or_says_that_it_does_not(directions):
    scenario = Scenario(query="mean", directions=directions, priority_directions=(1, 2), judged="priority", share=0.7)
    kept = [loaded for tried in candidates(scenario, DATA) if not forgets_directions(tried, scenario)
            for loaded in [scenario.changed(**{name: getattr(tried.scenario, name) for name in SEARCHED})]]
    assert len(kept) > 4
    wanted = build(scenario, DATA).need_directions.matrix
    for loaded in kept:
        assert loaded.needs == (1, 2)
        assert np.array_equal(build(loaded, DATA).need_directions.matrix, wanted)
    forgetful = [tried for tried in candidates(scenario, DATA) if forgets_directions(tried, scenario)]
    assert {tried.scenario.directions for tried in forgetful} == {"standard", "private", directions}  # equal shares
    features = scenario.changed(priority=(0,))
    assert not any(forgets_directions(tried, features) for tried in candidates(features, DATA))
