"""The audit of box and Laplace noise: sound noise passes, whatever draws it, and sabotaged noise is caught."""

import numpy as np
import pytest

import mvgviz as mv
from mvgviz.design import sampling
from mvgviz.release import box_noise as module
from mvgviz.release.pure_audit import audit_pure
from tests.datasets import make_dataset

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


def test_half_the_noise_is_above_the_claim(monkeypatch):
    monkeypatch.setattr(module, "box_noise", halved)
    found = audited(trials=6_000)
    assert found.epsilon_lower > 1
    assert "times what is claimed" in found.check.words or "size of block" in found.check.words


def test_noise_that_is_used_again_is_called_so(monkeypatch):
    monkeypatch.setattr(module, "box_noise", cycled)
    assert "the same noise occurs again" in audited(trials=2_000).check.words


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
