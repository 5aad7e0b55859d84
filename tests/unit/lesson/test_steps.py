"""The lesson's numbers and right answers, against independent computations."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from mvgviz import InputError
from mvgviz.data import sample
from mvgviz.lesson.steps import (
    BUDGET_NOISE,
    CLASS,
    COLUMNS,
    DELTA,
    EPSILON,
    FAVOURITES,
    REACH,
    STEPS,
    TABLES,
    Answer,
    against_circle,
    against_circle_along,
    along,
    asking_less,
    attack,
    cell_sizes,
    circle,
    classroom,
    edge_sizes,
    ellipse,
    guess_rate,
    in_units,
    least_along,
    liver_pay,
    noise_in_units,
    pay,
    promised,
    table_noise,
    token_of,
    turned,
)
from mvgviz.scenario.resolve import build
from mvgviz.scenario.scenario import Scenario

EVERY = [(step, value) for step in STEPS for value in step.values]
WIDTH, POINTS = 12 / 120, 100 / 120  # what one of 120 pupils moves the average sleep and the average score by


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
    assert attack(noise) == pytest.approx(best, abs=1e-7)
    answer = STEPS[0].answer(noise)
    assert answer.value == pytest.approx(100 * stats.norm.cdf(WIDTH / noise / 2))
    assert min(answer.options, key=lambda option: abs(float(option) - 100 * best)) == answer.right


def test_the_class_is_the_bundled_one_and_its_budget_the_apps_own():
    data = sample("two_features")
    np.testing.assert_array_equal(classroom(2).matrix, data.matrix)
    assert (classroom(2).features, CLASS.n_records) == (data.features, 120)
    setup = build(Scenario.default_for("two_features"), data)
    assert (setup.scenario.epsilon, setup.delta) == (EPSILON, DELTA)
    # The app maps the ranges onto [-1, 1]: 6 hours and 50 points are 1.
    np.testing.assert_allclose(setup.design.noise_std()[:, 0] * [6, 50], noise_in_units(ellipse(setup.scenario.share)))


def test_the_five_columns_are_the_same_made_up_class_every_time():
    whole = classroom(len(COLUMNS))
    assert whole.features == COLUMNS
    assert whole.count_outside() == 0
    np.testing.assert_array_equal(whole.matrix[:2], CLASS.matrix)


def test_the_first_step_starts_where_the_budget_of_the_second_leads():
    assert STEPS[0].start == BUDGET_NOISE == pytest.approx(WIDTH / allowed_mu(EPSILON), rel=1e-6)
    assert float(promised("exact").noise_std()[0, 0]) == pytest.approx(BUDGET_NOISE, rel=1e-6)
    assert noise_in_units(circle())[0] == pytest.approx(math.sqrt(2) * BUDGET_NOISE, rel=1e-6)


@pytest.mark.parametrize("epsilon", STEPS[1].values)
def test_equal_noise_on_two_averages_spends_the_exact_budget(epsilon):
    hours, points = noise_in_units(circle(epsilon))
    assert math.hypot(WIDTH / hours, POINTS / points) == pytest.approx(allowed_mu(epsilon), rel=1e-6)
    assert hours / WIDTH == pytest.approx(points / POINTS)
    assert STEPS[1].answer(epsilon).value == pytest.approx(60 * hours)


def test_the_circle_holds_what_it_says():
    draws = np.random.default_rng(5).standard_normal((2, 200_000))
    inside = np.mean(np.hypot(*draws) <= REACH)
    assert inside == pytest.approx(0.95, abs=5 * math.sqrt(0.95 * 0.05 / 200_000))  # luck: below 1e-6


@pytest.mark.parametrize("share", STEPS[2].values)
def test_every_ellipse_spends_the_same_budget(share):
    hours, points = noise_in_units(ellipse(share))
    assert math.hypot(WIDTH / hours, POINTS / points) == pytest.approx(allowed_mu(EPSILON), rel=1e-6)
    down, up = against_circle(ellipse(share))
    assert (down, up) == pytest.approx((math.sqrt(0.5 / share), math.sqrt(0.5 / (1 - share))))
    assert STEPS[2].answer(share).value == pytest.approx(math.sqrt(0.5 / (1 - share)))
    assert down * up >= 1 - 1e-12  # the score pays at least what sleep gains


@pytest.mark.parametrize("angle", STEPS[3].values)
def test_the_turned_ellipse_spends_the_same_budget_on_every_change(angle):
    precision = np.linalg.inv(in_units(turned(angle)))
    steps = np.linspace(-1, 1, 41)
    changes = (np.array([a * WIDTH, b * POINTS]) for a, b in itertools.product(steps, steps))
    assert max(d @ precision @ d for d in changes) == pytest.approx(allowed_mu(EPSILON) ** 2, rel=1e-6)


@pytest.mark.parametrize("angle", STEPS[3].values)
def test_along_the_line_nothing_beats_the_least_possible(angle):
    use, answer = along(angle), STEPS[3].answer(angle)
    assert answer.value == pytest.approx(against_circle_along(turned(angle), use))
    shapes = [turned(other) for other in range(0, 180, 5)] + [ellipse(share) for share in (0.01, 0.3, 0.9, 0.99)]
    best = min(against_circle_along(shape, use) for shape in shapes)
    assert least_along(use) <= best + 1e-9
    assert answer.right == ("none" if answer.value > 0.95 else "tenth" if answer.value > 0.85 else "fifth")


def test_the_least_possible_is_reached_along_an_axis_and_along_the_mixture():
    assert against_circle_along(ellipse(1 - 1e-6), along(0)) == pytest.approx(least_along(along(0)), rel=1e-5)
    assert against_circle_along(circle(), along(45)) == pytest.approx(least_along(along(45)))


def test_only_an_axis_gains():
    assert [STEPS[3].answer(angle).right for angle in STEPS[3].values] == [
        "fifth", "tenth", "none", "none", "none", "tenth", "fifth"]
    assert STEPS[3].answer(45).value == pytest.approx(1)


@pytest.mark.parametrize("table", TABLES)
def test_the_noise_of_a_cell_is_that_of_the_kronecker_covariance(table):
    def std(design):
        whole = np.kron(design.col_covariance(), design.row_covariance())
        return np.sqrt(np.diag(whole)).reshape(design.cols, design.rows).T

    ours, equal = table_noise(table), table_noise(table, 0.2)
    answer, (rows, cols) = STEPS[4].answer(table), edge_sizes(table)
    np.testing.assert_allclose(cell_sizes(table), std(ours) / std(equal))
    np.testing.assert_allclose(np.outer(rows, cols), cell_sizes(table))
    assert answer.value == pytest.approx(rows[TABLES[table][0]] * cols[TABLES[table][1]])
    assert all(design.epsilon_spent(DELTA) == pytest.approx(EPSILON) for design in (ours, equal))
    np.testing.assert_allclose(rows, [0.5, 2, 2, 2, 2])  # 1/sqrt(0.8 · 5) and sqrt(4/(0.2 · 5))


@pytest.mark.parametrize(("guarantee", "right"), [("exact", "all"), ("theorem2-any", "tenth"), ("theorem1", "little")])
def test_theorems_really_spend_next_to_nothing(guarantee, right):
    design = promised(guarantee)
    mu = WIDTH / float(design.noise_std()[0, 0])
    assert design.mu == pytest.approx(mu)
    spent = optimize.brentq(lambda epsilon: balle_wang(epsilon, mu) - DELTA, 0, 5, xtol=1e-12)
    answer = STEPS[5].answer(guarantee)
    assert answer.value == pytest.approx(spent, rel=1e-4)
    assert answer.right == right
    assert guess_rate(mu) == pytest.approx(stats.norm.cdf(mu / 2))


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
    assert STEPS[6].answer("mcv-alkphos").right == "no"


def test_favourites_are_the_columns_they_are_called():
    names = sample("liver").features
    assert [[names[k] for k in FAVOURITES[key]] for key in ("drinks", "sgpt-drinks", "mcv-alkphos")] == [
        ["drinks"], ["sgpt", "drinks"], ["mcv", "alkphos"]]
    assert set(names) - {names[k] for k in FAVOURITES["all-but-mcv"]} == {"mcv"}


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


@pytest.mark.parametrize(("step", "value"), EVERY, ids=lambda one: str(getattr(one, "number", one)))
def test_a_link_holds_every_value_and_no_other(step, value):
    assert step.value_of(token_of(value)) == value
    assert token_of(value).isascii()
    assert step.value_of("nothing") is None
