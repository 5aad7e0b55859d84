"""Tasks and mechanisms of one's own: measured as any other, refused in one sentence that names them."""

import numpy as np
import pytest

import mvgviz as mv
from mvgviz import InputError
from mvgviz.trials.run import TrialCache

DATA, SCENARIO = mv.sample("liver"), mv.Scenario.default_for("liver")


def trace(matrix):
    return matrix.trace()


def gaussian(rng, query, epsilon, delta):
    return query.value + query.sensitivity / mv.gaussian_mu(epsilon, delta) * rng.standard_normal(query.value.shape)


def test_the_error_of_a_number_is_how_far_it_is_off():
    results = mv.run_trials(SCENARIO, DATA, task=trace, mechanisms=["mvg"], trials=400)
    design = mv.build(SCENARIO.changed(task="reconstruction", judged="everything"), DATA).design
    std = np.sqrt(np.square(np.diag(design.noise_std())).sum())
    # |N(0, std)| has mean std sqrt(2/pi) and variance std² (1 - 2/pi)
    off = std * np.sqrt((1 - 2 / np.pi) / 400)
    assert results["mvg"].mean == pytest.approx(std * np.sqrt(2 / np.pi), abs=4 * off)
    assert results.references.non_private == 0
    assert np.isfinite(results.references.trivial)
    assert results.task.label == "trace"


def test_the_matrix_itself_has_the_error_of_the_answer():
    scenario = SCENARIO.changed(judged="everything", post=())
    own = mv.run_trials(scenario, DATA, task=lambda matrix: matrix, trials=5)
    usual = mv.run_trials(scenario, DATA, task="reconstruction", trials=5)
    truth = mv.build(scenario.changed(task="reconstruction"), DATA).query.value
    assert own["mvg"].errors == pytest.approx(usual["mvg"].errors * np.linalg.norm(truth) / truth.shape[0])


class Sign:
    """The sign of one entry; being wrong costs 1."""

    metric = "how often the sign is wrong"

    def __call__(self, matrix):
        return np.sign(matrix[0, 1])

    def error(self, found, true):
        return found != true


def test_a_task_may_bring_its_own_error():
    results = mv.run_trials(SCENARIO, DATA, task=Sign(), trials=20)
    assert set(results["mvg"].errors) <= {0.0, 1.0}
    assert results.metric == "how often the sign is wrong"
    assert results.to_frame().shape[0] == 2
    assert results.plot().data


def test_a_mechanism_of_ones_own_is_measured_beside_the_others():
    results = mv.run_trials(SCENARIO, DATA, mechanisms=["gaussian-analytic", gaussian], trials=50)
    assert results["gaussian"].mean == pytest.approx(results["gaussian-analytic"].mean, rel=0.2)
    assert "nothing checks" in results["gaussian"].caution
    assert results["gaussian"].epsilon_spent is None


def test_a_mechanism_follows_the_epsilon_of_a_sweep():
    little, much = mv.sweep([{"epsilon": 0.5}, {"epsilon": 5.0}], SCENARIO.changed(judged="everything"), DATA,
                            mechanisms=[gaussian], task="reconstruction", trials=20)
    assert little["gaussian"].mean > 3 * much["gaussian"].mean


def test_functions_of_one_name_do_not_share_what_was_measured():
    cache, tasks = TrialCache(), [lambda matrix: matrix[0, 0], lambda matrix: 7 * matrix[0, 0]]
    first, second = (mv.run_trials(SCENARIO, DATA, task=task, trials=5, cache=cache)["mvg"].errors for task in tasks)
    assert second == pytest.approx(7 * first)
    ways = [lambda rng, query: query.value, lambda rng, query: query.value + 1]
    zero, one = (mv.run_trials(SCENARIO, DATA, mechanisms=[way], task=trace, trials=5, cache=cache)["<lambda>"].mean
                 for way in ways)
    assert (zero, one) == (0, pytest.approx(6))
    again = mv.own_task(trace)
    mv.run_trials(SCENARIO, DATA, task=again, trials=5, cache=cache)
    known = len(cache)
    mv.run_trials(SCENARIO, DATA, task=again, trials=5, cache=cache)
    assert len(cache) == known


def changing_shape(matrix):
    return np.zeros(2) if (matrix == matrix.T).all() else np.zeros(3)


def failing(matrix):
    raise RuntimeError(f"secret {matrix[0, 0]}")


@pytest.mark.parametrize(("task", "message"), [
    (changing_shape, r"task 'changing_shape' must give .* \(2,\), got \(3,\)"),
    (failing, r"task 'failing' failed on a matrix of 6 × 6 with RuntimeError$"),
    (lambda matrix: np.nan, "task '<lambda>' must give finite numbers"),
    (lambda matrix: "text", "task '<lambda>' failed"),
    (7, "task must be a key or a function"),
])
def test_a_task_that_goes_wrong_is_named(task, message):
    with pytest.raises(InputError, match=message):
        mv.run_trials(SCENARIO, DATA, task=task, trials=2)


@pytest.mark.parametrize(("mechanism", "message"), [
    (lambda rng, query: query.value[0], r"mechanism '<lambda>' must release a matrix of shape \(6, 6\), got \(6,\)"),
    (lambda rng, query: query.value * np.nan, "must release finite numbers"),
    (lambda rng: 0, "mechanism '<lambda>' failed with TypeError"),
    (7, "a mechanism must be a key or a function"),
    ("mvvg", "mechanism must be one of"),
])
def test_a_mechanism_that_goes_wrong_is_named(mechanism, message):
    with pytest.raises(InputError, match=message):
        mv.run_trials(SCENARIO, DATA, mechanisms=[mechanism], task=trace, trials=2)


def test_two_mechanisms_need_two_names():
    with pytest.raises(InputError, match="'gaussian' twice"):
        mv.run_trials(SCENARIO, DATA, mechanisms=[gaussian, gaussian], trials=2)
    named = mv.own_mechanism(gaussian, name="other")
    assert mv.run_trials(SCENARIO, DATA, mechanisms=[gaussian, named], trials=2)["other"].errors.size == 2
