"""The strip's numbers, against closed forms and drawn noise."""

import math
import re

import numpy as np
import pytest
from scipy.stats import norm

from mvgviz import gaussian_mu, sample_noise
from mvgviz.pictures.strip import attacker, facts
from tests.datasets import setup_of


def found(setup):
    front, behind = facts(setup)
    return {fact.name: fact.text for fact in front}, {fact.name: fact for fact in behind}


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 4.0])
def test_the_attacker_is_as_good_as_the_best_test_of_two_normals(epsilon):
    right, words = attacker(setup_of("two_features", epsilon=epsilon, delta=1e-3))
    assert right == math.ceil(100 * norm.cdf(gaussian_mu(epsilon, 1e-3) / 2))
    assert f"right {right} times in 100" in words


def test_an_attacker_who_is_always_right_is_said_to_be():
    assert attacker(setup_of("two_features", epsilon=100.0))[1].startswith("practically always")


def test_what_directions_spent_counts_for_the_attacker():
    private = setup_of("liver", directions="private", epsilon=3.0)
    assert attacker(private)[0] == attacker(setup_of("liver", epsilon=3.0))[0]


def test_one_needed_feature_is_told_in_its_own_unit():
    setup = setup_of("two_features")
    told = found(setup)[0]["typical error"]
    width, mu = setup.dataset.widths[0], gaussian_mu(1.0, setup.delta)
    expected = width / (setup.dataset.n_records * mu * math.sqrt(0.8))
    assert told == f"{expected:.3g} h on sleep (0.79× equal noise)"


def test_second_moments_are_told_as_a_part_of_full_scale(rng):
    setup = setup_of("cardiotocography", bound="none")
    told = found(setup)[0]["typical error on priority columns"]
    noise = sample_noise(setup.design, rng=rng, trials=4000)
    noise = (noise + noise.transpose(0, 2, 1)) / 2
    block = noise[:, [0, 7, 9]][:, :, [0, 7, 9]]
    assert float(told.split(" %")[0]) == pytest.approx(100 * np.sqrt(np.mean(block**2)), rel=0.03)


def test_what_needs_care_stands_in_front_and_the_rest_behind():
    plain, behind = found(setup_of("liver"))
    assert ("directions" in plain, "directions" in behind) == (False, True)
    read, hidden = found(setup_of("liver", directions="eigenvectors"))
    assert "not private" in read["directions"]
    assert ("directions" in hidden, "neighbours" in hidden) == (False, True)


def test_many_priority_columns_are_told_as_a_part_of_their_ranges():
    told = found(setup_of("liver", query="mean", priority_directions=(0, 1, 2)))[0]["typical error on priority columns"]
    assert re.fullmatch(r"[\d.]+ % of the range \(.* equal noise\)", told)


def test_the_error_of_turned_second_moments_counts_what_both_copies_share(rng):
    setup = setup_of("two_features", query="covariance", directions="rotation", angle=45.0, share=0.98)
    told = found(setup)[0]["typical error on everything"]
    noise = sample_noise(setup.design, rng=rng, trials=4000)
    expected = 100 * np.sqrt(np.mean(((noise + noise.transpose(0, 2, 1)) / 2) ** 2))
    assert float(told.split(" %")[0].replace(",", "")) == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize("choices", [{"query": "mean", "directions": "rotation", "angle": 30.0},
                                     {"query": "identity", "directions": "random", "bound": "none"},
                                     {"query": "mean", "directions": "eigenvectors", "bound": "even"}])
def test_the_noise_along_needed_directions_is_told_as_a_multiple_of_equal_noise(choices, rng):
    setup = setup_of("liver", **choices)
    told = found(setup)[0]
    told = next(text for name, text in told.items() if name.endswith("on everything"))
    w = setup.design.directional_side.directions.matrix[:, list(setup.scenario.needs)]
    unit = setup.query.neighbours.reach(setup.design.directional_side.directions)[list(setup.scenario.needs)]

    def along(design):
        noise = sample_noise(design, rng=rng, trials=4000 if design.cols == 1 else 20)
        return np.sqrt(np.mean((np.einsum("fk,tfc->tkc", w, noise) / unit[:, None]) ** 2))

    factor = float(told.split("equal noise, ")[1].split("×")[0])
    assert factor == pytest.approx(along(setup.design) / along(setup.iid), rel=0.06)


@pytest.mark.parametrize("query", ["mean", "covariance"])
def test_what_matters_more_counts_more_in_the_error(query):
    def error(**needs):
        told = found(setup_of("liver", query=query, allocation="manual", weights=(50, 1, 1, 1, 1, 1), **needs))[0]
        return float(told["typical error on priority columns"].split(" %")[0].replace(",", ""))

    priority = {"priority": (0, 1, 2)}
    assert error(**priority, importance=(100, 1, 1)) < 0.6 * error(**priority)


@pytest.mark.parametrize("changes", [{"directions": "eigenvectors"}, {"allocation": "max-pnr"}])
def test_the_attacker_may_do_better_where_something_was_read_from_the_data(changes):
    assert "from the noise alone" in attacker(setup_of("liver", **changes))[1]
    assert "from the noise alone" not in attacker(setup_of("liver"))[1]
    assert "from the noise alone" not in attacker(setup_of("liver", directions="private"))[1]


def test_a_share_for_other_columns_than_those_that_count_is_said():
    def said(**changes):
        return dict(fact[:2] for fact in facts(setup_of("liver", query="mean", **changes))[0]).get("the share goes to")

    assert said(priority=(0,)) == "sgpt and drinks, but errors count on mcv"
    assert said() is said(priority=(2, 5)) is said(priority=(0,), allocation="uniform") is None
