"""The audit never proves more than is true, and catches noise that is too small, whatever draws it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest, kstest

import mvgviz as mv
from mvgviz.design import sampling
from mvgviz.design.privacy_loss import pair_loss
from mvgviz.pictures.privacy import audit_picture
from mvgviz.release import box_noise as module
from mvgviz.release.audit import audit_ellipse, audit_pure, epsilon_lower, judge, simulate_scores
from tests.datasets import make_dataset

DELTA = 1e-2


def loss_of(epsilon, *, size=3, records=40, delta=DELTA, query=mv.covariance):
    asked = query(make_dataset(size, records))
    return pair_loss(asked, mv.design_noise(asked, epsilon=epsilon, delta=delta,
                                            theta=mv.binary(size, priority=[0], share=0.8),
                                            directions=mv.random_rotation(size, rng=np.random.default_rng(5))))


def audit(loss, *, trials=100, seed=0, rng=None, **how):
    rng = np.random.default_rng(seed) if rng is None else rng
    return judge(loss, simulate_scores(loss, trials=trials, rng=rng), **{"delta": DELTA} | how)


@pytest.mark.parametrize(("caught", "accused"), [(40, 10), (100, 0), (3, 0), (60, 59), (100, 100), (0, 0), (0, 100)])
def test_the_bound_uses_clopper_pearson_limits(caught, accused):
    low = binomtest(caught, 100).proportion_ci(0.95, method="exact").low
    high = binomtest(accused, 100).proportion_ci(0.95, method="exact").high
    expected = max(np.log(max(low - DELTA, 1e-300) / high), 0)
    assert epsilon_lower(caught, accused, 100, DELTA, 0.95) == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_over_many_seeds_the_bound_passes_the_truth_in_at_most_one_of_twenty(epsilon):
    loss = loss_of(epsilon)
    bounds = np.array([audit(loss, trials=1_000, seed=k).epsilon_lower for k in range(400)])
    truth = mv.gaussian_epsilon(DELTA, loss.mu)
    assert np.count_nonzero(bounds > truth) <= 20
    assert np.count_nonzero(bounds > 0.25 * truth) >= 200 * (epsilon >= 1)  # and it is not idle


@pytest.mark.parametrize("epsilon", [1.0, 2.0, 3.0])
def test_half_the_noise_is_caught(epsilon):
    loss = loss_of(epsilon)
    honest = audit(loss, trials=20_000, seed=1)
    broken = audit(loss, trials=20_000, seed=1, noise_factor=0.5)
    assert honest.epsilon_lower < epsilon < broken.epsilon_lower
    assert broken.epsilon_lower < mv.gaussian_epsilon(DELTA, 2 * loss.mu)


@pytest.mark.slow
@pytest.mark.parametrize(("query", "size", "records"), [
    (mv.identity, 3, 40), (mv.identity, 3, 1_000), (mv.identity, 21, 2_126), (mv.covariance, 4, 40),
    (mv.covariance, 51, 60)])
def test_scores_are_normal_at_every_size(query, size, records):
    loss = loss_of(1.0, size=size, records=records, query=query)
    result = simulate_scores(loss, trials=4_000, rng=np.random.default_rng(2))
    assert result.releases == (math.ceil(4_000 / records) if query is mv.identity else 4_000)
    assert result.tally.draws == 2 * result.releases
    assert result.absent.size == (records if query is mv.identity else 1) * result.releases
    assert min(kstest(scores, "norm").pvalue for scores in (result.absent, result.present)) > 1e-3
    assert abs(np.corrcoef(result.absent, result.present)[0, 1]) < 4 / np.sqrt(4_000)
    assert judge(loss, result, delta=DELTA).check.as_claimed


@pytest.mark.parametrize("mode", ["rows", "columns"])
def test_the_scores_are_those_of_the_definition(mode):
    asked = mv.identity(make_dataset(3, 5))
    theta = mv.manual(np.arange(1.0, 4 if mode == "rows" else 6))
    design = mv.design_noise(asked, epsilon=1, delta=DELTA, mode=mode, theta=theta)
    loss = pair_loss(asked, design)
    scores = simulate_scores(loss, trials=100, rng=np.random.default_rng(3)).absent
    noise = mv.sample_noise(design, rng=np.random.default_rng(3), trials=20 if mode == "rows" else 100)
    inverse_sigma, inverse_psi = np.linalg.inv(design.row_covariance()), np.linalg.inv(design.col_covariance())
    if mode == "columns":
        attack = inverse_sigma @ loss.pair.left @ loss.pair.right.T @ inverse_psi
        expected = [np.sum(attack * one) / loss.mu for one in noise]
    else:  # the same attack on each of the five records
        expected = (loss.pair.left[:, 0] @ inverse_sigma @ noise / loss.mu).ravel()
    assert scores == pytest.approx(np.array(expected))


def test_the_threshold_is_counted_on_the_other_half():
    result = audit(loss_of(1.0), trials=1_001, seed=3)
    assert result.evaluated == 501
    assert result.accused == np.count_nonzero(result.absent[500:] > result.threshold)
    assert result.caught == np.count_nonzero(result.present[500:] > result.threshold)


def test_the_same_seed_gives_the_same_audit_and_the_break_keeps_the_draws():
    loss = loss_of(1.0)
    one, two = (audit(loss, trials=500, seed=4) for _ in range(2))
    half = audit(loss, trials=500, seed=4, noise_factor=0.5)
    assert one.epsilon_lower == two.epsilon_lower
    assert half.absent == pytest.approx(one.absent / 2)


def test_noise_of_one_shape_and_another_size_has_the_same_scores():
    one, other = (simulate_scores(loss_of(epsilon), trials=500, rng=np.random.default_rng(4)).absent
                  for epsilon in (0.5, 2.0))
    assert one == pytest.approx(other)


def test_a_large_epsilon_is_beyond_so_few_trials():
    result = audit(loss_of(50.0), trials=1_000, seed=5)
    assert result.epsilon_lower == pytest.approx(result.ceiling)
    assert result.ceiling < 5.5


def test_noise_that_hides_everything_shows_nothing():
    asked = mv.covariance(make_dataset(3, 40))
    loss = pair_loss(asked, mv.design_noise(asked, epsilon=1, delta=1e-6, guarantee="theorem1"))
    assert loss.mu < 0.01
    assert audit(loss, trials=1_000, delta=1e-6, seed=6).epsilon_lower < 0.5


def test_progress_rises_to_one():
    seen = []
    simulate_scores(loss_of(1.0, size=51), trials=200, rng=np.random.default_rng(7), progress=seen.append)
    assert len(seen) > 3
    assert seen == sorted(seen)
    assert seen[-1] == 1


@pytest.mark.parametrize(("wrong", "message"), [
    ({"trials": 10}, "trials must be a whole number of at least 100"), ({"delta": 0.0}, "delta must lie strictly"),
    ({"noise_factor": 0.0}, "noise_factor must be positive"), ({"confidence": 1.0}, "confidence must lie strictly"),
    ({"rng": 3}, "rng must be a numpy.random.Generator")])
def test_wrong_arguments_are_named(wrong, message):
    with pytest.raises(mv.InputError, match=message):
        audit(loss_of(1.0), **wrong)


def test_the_picture_has_both_histograms_and_their_claims():
    loss = loss_of(1.0)
    figure = audit_picture(audit(loss, trials=5_000, seed=8), loss.mu, "").figure
    for trace in figure.data:
        assert trace.y.sum() * (trace.x[1] - trace.x[0]) == pytest.approx(1, abs=0.01)
    assert [trace.name for trace in figure.data] == [
        "without it, simulated", "without it, claimed", "with it, simulated", "with it, claimed"]


# Ellipse noise


def ellipse_audited(query=None, trials=4_000, **choice):
    query = mv.mean(make_dataset(3, 40)) if query is None else query
    design = mv.design_noise(query, epsilon=1.0, delta=1e-2, family="ellipse", **choice)
    return audit_ellipse(pair_loss(query, design), trials=trials, confidence=1 - 1e-6, rng=np.random.default_rng(5))


@pytest.mark.parametrize("query", [
    mv.mean(make_dataset(3, 40)), mv.mean(make_dataset(1, 40)), mv.identity(make_dataset(3, 6)),
    mv.covariance(make_dataset(3, 40)), mv.mean(make_dataset(3, 40), neighbours="add-remove"),
    mv.identity(mv.Dataset(matrix=np.zeros((2, 9)), features=("a", "b"), lower=-1, upper=1, per_person=3))],
    ids=lambda query: query.name)
def test_sound_ellipse_noise_keeps_its_claim_and_much_of_it_is_shown(query):
    found = ellipse_audited(query)
    assert 0.2 < found.epsilon_lower <= 1.0
    assert found.check.p_value > 1e-5, found.check.words


@pytest.mark.parametrize(("sabotage", "words"), [
    (lambda noise: noise / 2, "length"), (lambda noise: 0.9 * noise, "length"), (np.abs, "direction"),
    (lambda noise: np.sign(noise.sum()) * np.ones_like(noise) * np.abs(noise).max(), "direction"),
    (lambda noise: noise * [[0.3], [1], [1]], "not as claimed")])
def test_sabotaged_ellipse_noise_is_caught(monkeypatch, sabotage, words):
    sound = sampling.sample_noise
    monkeypatch.setattr(sampling, "sample_noise", lambda design, rng: sabotage(sound(design, rng=rng)))
    found = ellipse_audited()
    assert not found.check.as_claimed
    assert words in found.check.words or "not as claimed" in found.check.words


def test_gaussian_noise_is_not_taken_for_ellipse_noise_nor_the_other_way_round(monkeypatch):
    query = mv.mean(make_dataset(3, 40))
    gaussian = mv.design_noise(query, epsilon=1.0, delta=1e-2)
    with pytest.raises(mv.InputError, match="this audit is for ellipse noise, got Gaussian noise"):
        audit_ellipse(pair_loss(query, gaussian), trials=100, rng=np.random.default_rng(0))
    sound, ellipse = sampling.sample_noise, mv.design_noise(query, epsilon=1.0, delta=1e-2, family="ellipse")
    bare = replace(ellipse, blocks=())
    monkeypatch.setattr(sampling, "sample_noise", lambda design, rng: sound(bare, rng=rng))
    assert "length" in ellipse_audited().check.words


def test_noise_that_repeats_is_not_ellipse_noise(monkeypatch):
    sound, known = sampling.sample_noise, []

    def cycling(design, rng):
        known.append(known[-200] if len(known) >= 200 else sound(design, rng=rng))
        return known[-1]

    monkeypatch.setattr(sampling, "sample_noise", cycling)
    assert "the same noise occurs again" in ellipse_audited().check.words


# Box and Laplace noise

DATA = make_dataset(3, 40)
CATEGORY = mv.Dataset(matrix=np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [0.2, 0.5, 0.9]]), features=list("abcd"),
                      lower=0, upper=1, levels=[(0, 1, 2)])
PERSONS = mv.Dataset(matrix=np.zeros((2, 9)), features=("a", "b"), lower=-1, upper=1, per_person=3)
honest = module.box_noise


def audited(data=DATA, ask=mv.mean, family="box", trials=2_000, seed=None, **choice):
    query = ask(data, **choice)
    theta = mv.binary(query.rows, priority=[0], share=0.5)
    design = mv.design_noise(query, epsilon=1.0, delta=1e-6, theta=theta, family=family)
    return audit_pure(data, query, design, trials=trials, confidence=1 - 1e-6,
                      rng=None if seed is None else np.random.default_rng(seed))


@pytest.mark.parametrize("seed", [None, 1])
@pytest.mark.parametrize("family", ["box", "laplace"])
@pytest.mark.parametrize(("data", "ask", "rule"), [
    (DATA, mv.mean, "replace"), (DATA, mv.identity, "replace"), (DATA, mv.mean, "add-remove"),
    (CATEGORY, mv.mean, "replace"), (CATEGORY, mv.identity, "add-remove"), (PERSONS, mv.identity, "replace"),
    (PERSONS, mv.mean, "replace")])
def test_sound_noise_keeps_its_claim(data, ask, rule, family, seed):
    found = audited(data, ask, family, seed=seed, neighbours=rule)
    assert found.epsilon_lower <= 1.0
    assert found.check.p_value > 1e-5, found.check.words
    assert found.evaluated >= 1_000


def test_the_attack_is_the_best_one():
    """Against one box the loss is epsilon with probability 1/2: nearly all of it is shown."""
    data = make_dataset(4, 40)
    query = mv.mean(data)
    design = mv.design_noise(query, epsilon=1.0, delta=1e-6, family="box")
    found = audit_pure(data, query, design, trials=20_000, rng=np.random.default_rng(0))
    assert 0.9 < found.epsilon_lower <= 1
    assert np.mean(found.present >= 1 - 1e-9) == pytest.approx(0.5, abs=0.02)
    assert np.mean(found.absent >= 1 - 1e-9) == pytest.approx(0.5 / np.e, abs=0.02)


def halved(size, epsilon, steps):
    return [value // 2 for value in honest(size, epsilon, steps)]


def kept(size, epsilon, steps, known={}):  # noqa: B006
    return known.setdefault((size, epsilon, steps), honest(size, epsilon, steps))


def cycled(size, epsilon, steps, known={}):  # noqa: B006
    draws, turn = known.setdefault(size, ([], [0]))
    if len(draws) < 400:
        draws.append(honest(size, epsilon, steps))
    turn[0] += 1
    return draws[turn[0] % len(draws)]


def one_quiet(size, epsilon, steps):
    return [value // 2 if k == 0 else value for k, value in enumerate(honest(size, epsilon, steps))]


def one_for_all(size, epsilon, steps):
    return honest(1, epsilon, steps) * size


def of_one_sign(size, epsilon, steps):
    return [abs(value) for value in honest(size, epsilon, steps)]


def none(size, epsilon, steps):
    return [0] * size


@pytest.mark.parametrize("sabotage", [halved, kept, cycled, one_quiet, one_for_all, of_one_sign, none])
@pytest.mark.parametrize("ask", [mv.mean, mv.identity])
def test_sabotaged_noise_of_a_release_is_caught(monkeypatch, ask, sabotage):
    monkeypatch.setattr(module, "box_noise", sabotage)
    assert not audited(ask=ask, trials=4_000).check.as_claimed


@pytest.mark.parametrize(("sabotage", "epsilon", "words"), [
    (halved, 1.0, ("times what is claimed", "size of block")), (cycled, -1.0, ("the same noise occurs again",))])
def test_sabotaged_noise_is_called_what_it_is(monkeypatch, sabotage, epsilon, words):
    monkeypatch.setattr(module, "box_noise", sabotage)
    found = audited(trials=6_000)
    assert found.epsilon_lower > epsilon
    assert any(each in found.check.words for each in words)


def test_sabotaged_noise_of_trials_is_caught(monkeypatch):
    sound = sampling.sample_noise
    monkeypatch.setattr(sampling, "sample_noise", lambda design, rng: sound(design, rng=rng) / 2)
    found = audited(seed=2, trials=6_000)
    assert found.epsilon_lower > 1
    assert not found.check.as_claimed


def test_what_is_audited_is_told(monkeypatch):
    told = []
    query = mv.mean(DATA)
    design = mv.design_noise(query, epsilon=1.0, delta=1e-6, family="laplace")
    audit_pure(DATA, query, design, trials=100, rng=np.random.default_rng(0), progress=told.append)
    assert told[-1] == 1
    assert told == sorted(told)
    with pytest.raises(mv.InputError, match="trials"):
        audit_pure(DATA, query, design, trials=10)
