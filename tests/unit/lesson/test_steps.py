"""The lesson's numbers and right answers, against independent computations."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from mvgviz import InputError
from mvgviz.data import sample
from mvgviz.lesson.steps import (
    DELTA,
    EPSILON,
    FAVOURITES,
    REACH,
    STEPS,
    TABLES,
    Answer,
    against_circle,
    against_circle_along,
    asking_less,
    attack,
    circle,
    edge_sizes,
    ellipse,
    guess_rate,
    liver_pay,
    pay,
    promised,
    radius,
    table_noise,
    turned,
)

EVERY = [(step, value) for step in STEPS for value in step.values]
WIDTH = 10 / 100  # what one of 100 pupils moves an average of 0 to 10 points by


def balle_wang(epsilon, mu):
    """The delta of Gaussian noise as printed (Balle & Wang 2018, Theorem 8)."""
    return stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)


def allowed_mu(epsilon):
    return optimize.brentq(lambda mu: balle_wang(epsilon, mu) - DELTA, 1e-3, 20, xtol=1e-14)


def test_seven_steps_take_twenty_minutes():
    assert [step.number for step in STEPS] == list(range(1, 8))
    assert sum(step.minutes for step in STEPS) == 20
    assert all(step.start in step.values and len(set(step.values)) >= 2 for step in STEPS)


@pytest.mark.parametrize("noise", STEPS[0].values)
def test_the_attacker_guesses_as_often_as_the_two_densities_allow(noise):
    first, second = stats.norm(-WIDTH / 2, noise), stats.norm(WIDTH / 2, noise)
    best = integrate.quad(lambda x: max(first.pdf(x), second.pdf(x)) / 2, -8 * noise - 0.1, 8 * noise + 0.1,
                          points=[0.0], epsabs=1e-10, limit=200)[0]
    assert attack(noise).success == pytest.approx(best, abs=1e-7)
    answer = STEPS[0].answer(noise)
    assert answer.value == pytest.approx(100 * stats.norm.cdf(WIDTH / noise / 2))
    assert min(answer.options, key=lambda option: abs(float(option) - 100 * best)) == answer.right


@pytest.mark.parametrize("epsilon", STEPS[1].values)
def test_the_circle_holds_95_of_100_releases_at_the_exact_budget(epsilon):
    std = math.hypot(WIDTH, WIDTH) / allowed_mu(epsilon)
    expected = std * math.sqrt(stats.chi2.ppf(0.95, 2))
    assert radius(circle(epsilon)) == pytest.approx(expected, rel=1e-9)
    assert STEPS[1].answer(epsilon).value == pytest.approx(expected, rel=1e-9)


def test_the_circle_holds_what_it_says():
    draws = np.random.default_rng(5).standard_normal((2, 200_000))
    inside = np.mean(np.hypot(*draws) <= REACH)
    assert inside == pytest.approx(0.95, abs=5 * math.sqrt(0.95 * 0.05 / 200_000))  # luck: below 1e-6


@pytest.mark.parametrize("share", STEPS[2].values)
def test_every_ellipse_spends_the_same_budget(share):
    variances = ellipse(share).row_variances
    assert np.sum(WIDTH**2 / variances) == pytest.approx(allowed_mu(EPSILON) ** 2, rel=1e-9)
    down, up = against_circle(ellipse(share))
    assert (down, up) == pytest.approx((math.sqrt(0.5 / share), math.sqrt(0.5 / (1 - share))))
    assert STEPS[2].answer(share).value == pytest.approx(math.sqrt(0.5 / (1 - share)))
    assert down * up >= 1 - 1e-12  # mood pays at least what sleep gains


@pytest.mark.parametrize("angle", STEPS[3].values)
def test_the_turned_ellipse_spends_the_same_budget_on_every_change(angle):
    design = turned(angle)
    precision = np.linalg.inv(design.row_covariance())
    steps = np.linspace(-WIDTH, WIDTH, 41)
    worst = max(np.array(d) @ precision @ np.array(d) for d in itertools.product(steps, steps))
    assert worst == pytest.approx(allowed_mu(EPSILON) ** 2, rel=1e-9)
    sleep_and_mood = np.sqrt(np.diag(design.row_covariance())) / (math.hypot(WIDTH, WIDTH) / allowed_mu(EPSILON))
    answer = STEPS[3].answer(angle)
    assert answer.value == pytest.approx(sleep_and_mood[1], rel=1e-9)
    assert answer.right == ("same" if 0.98 <= answer.value <= 1.02 else "larger" if answer.value > 1 else "smaller")


def test_turning_matters_all_three_answers_occur():
    assert {STEPS[3].answer(angle).right for angle in STEPS[3].values} == {"smaller", "same", "larger"}
    assert STEPS[3].answer(90).right == "smaller"


def test_along_the_sum_of_both_no_shape_beats_the_circle():
    shapes = [turned(angle) for angle in range(0, 180, 5)] + [ellipse(share) for share in (0.3, 0.5, 0.7, 0.9)]
    assert min(against_circle_along(shape, (1, 1)) for shape in shapes) == pytest.approx(1, abs=1e-9)
    assert against_circle_along(turned(45), (1, 1)) == pytest.approx(1)
    assert against_circle_along(turned(45), (1, -1)) == pytest.approx(2)


@pytest.mark.parametrize("table", TABLES)
def test_the_noise_of_a_cell_is_that_of_the_kronecker_covariance(table):
    design = table_noise(table)
    whole = np.kron(design.col_covariance(), design.row_covariance())
    std = np.sqrt(np.diag(whole)).reshape(design.cols, design.rows).T
    answer = STEPS[4].answer(table)
    assert answer.value == pytest.approx(std[TABLES[table]])
    rows, cols = edge_sizes(design)
    np.testing.assert_allclose(np.outer(rows, cols), std)
    # What a class computes from the printed edges is right too.
    i, j = TABLES[table]
    assert answer.accepts(float(f"{rows[i]:.3g}") * float(f"{cols[j]:.3g}"))
    assert design.epsilon_spent(DELTA) == pytest.approx(EPSILON)


@pytest.mark.parametrize(("guarantee", "right"), [("exact", "all"), ("theorem2", "nothing"), ("theorem1", "nothing")])
def test_theorems_really_spend_next_to_nothing(guarantee, right):
    design = promised(guarantee)
    # Two points in [0, 10]²: the largest ||xxᵀ - yyᵀ||_F is at (10, 10) and (0, 0), 200, over 100 pupils.
    mu = 2.0 / float(design.direction_std()[0])
    assert design.mu == pytest.approx(mu)
    spent = optimize.brentq(lambda epsilon: balle_wang(epsilon, mu) - DELTA, 0, 5, xtol=1e-12)
    answer = STEPS[5].answer(guarantee)
    assert answer.value == pytest.approx(spent, rel=1e-5)
    assert answer.right == right
    assert guess_rate(mu) == pytest.approx(stats.norm.cdf(mu / 2))
    if guarantee != "exact":
        assert spent < 0.01
        assert 0.5 < guess_rate(mu) < 0.502


@pytest.mark.slow
@pytest.mark.parametrize("favourite", FAVOURITES)
def test_whether_it_pays_follows_from_a_paired_test(favourite):
    found = liver_pay(favourite)
    one_size, directional = (7.5 * found.results[key].errors for key in ("iid", "mvg"))
    test = stats.ttest_rel(one_size, directional)
    low, high = test.confidence_interval(0.95)
    assert (found.gain - found.margin, found.gain + found.margin) == pytest.approx((low, high))
    assert STEPS[6].answer(favourite).right == ("yes" if low > 0 else "no" if high < 0 else "unclear")
    assert found.gain == pytest.approx(found.one_size - found.directional)
    assert found.no_noise < min(found.directional, found.one_size)


def test_the_lesson_shows_that_directional_noise_does_not_always_pay():
    assert STEPS[6].answer("drinks").right == "yes"
    assert STEPS[6].answer("mcv, alkphos").right == "no"


def test_favourites_are_the_columns_they_are_called():
    names = sample("liver").features
    assert [[names[k] for k in FAVOURITES[key]] for key in ("drinks", "sgpt, drinks", "mcv, alkphos")] == [
        ["drinks"], ["sgpt", "drinks"], ["mcv", "alkphos"]]
    assert set(names) - {names[k] for k in FAVOURITES["all but mcv"]} == {"mcv"}


def test_asking_for_less_helps_more_than_any_shape():
    assert asking_less().one_size < min(liver_pay(favourite).directional for favourite in FAVOURITES)


@pytest.mark.parametrize(("step", "value"), EVERY, ids=lambda one: str(getattr(one, "number", one)))
def test_questions_accept_the_right_answer_alone(step, value):
    answer = step.answer(value)
    if answer.options:
        assert [option for option in answer.options if answer.accepts(option)] == [answer.right]
        assert not answer.accepts(answer.value)
    else:
        inside, outside = 1 + 0.9 * answer.tolerance, 1 + 1.1 * answer.tolerance
        assert answer.accepts(answer.value * inside)
        assert answer.accepts(answer.value / inside)
        assert not answer.accepts(answer.value * outside)
        assert not answer.accepts(answer.value * (2 - outside))
        assert not answer.accepts("")


@pytest.mark.parametrize("step", STEPS, ids=lambda step: str(step.number))
def test_answers_follow_the_control(step):
    assert len({(step.answer(value).right, round(step.answer(value).value, 6)) for value in step.values}) > 1


@pytest.mark.parametrize(("step", "value"), [pair for pair in EVERY if pair[0].number in (1, 2)],
                         ids=lambda one: str(getattr(one, "number", one)))
def test_no_second_option_is_nearly_as_close(step, value):
    answer = step.answer(value)
    nearest, second = sorted(abs(float(option) - answer.value) for option in answer.options)[:2]
    assert nearest < second / 2


def test_what_is_not_there_is_refused():
    with pytest.raises(InputError, match="table must be"):
        table_noise("graph")
    with pytest.raises(InputError, match="favourite must be"):
        pay("gammagt", sample("liver"))
    with pytest.raises(InputError, match="trials must be at least 2"):
        pay("drinks", sample("liver"), trials=1)


def test_a_number_without_tolerance_is_itself():
    assert Answer(value=2.0).accepts(2.0)
    assert not Answer(value=2.0).accepts(2.1)
