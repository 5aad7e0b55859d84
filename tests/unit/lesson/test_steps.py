"""The lesson's numbers and right answers, against independent computations."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from mvgviz import InputError
from mvgviz.data import sample
from mvgviz.design.noise_design import design_noise
from mvgviz.lesson import steps as lesson
from mvgviz.lesson.steps import STEPS
from mvgviz.noise.families import FAMILIES
from mvgviz.pictures.scenes import SCENES, _corners
from mvgviz.query.dataset import Dataset
from mvgviz.query.queries import mean
from mvgviz.scenario.resolve import build
from mvgviz.scenario.scenario import Scenario
from tests.oracles import delta_at, mu_for

EVERY = [(step, value) for step in STEPS for value in step.values]
WIDTH, POINTS = 12 / 120, 100 / 120  # what one of 120 pupils moves the average sleep and the average score by


def test_five_steps_take_fifteen_minutes():
    assert [step.number for step in STEPS] == list(range(1, 10))
    assert sum(step.minutes for step in STEPS[:lesson.MAIN]) == 15
    assert all(step.start in step.values and len(set(step.values)) >= 2 for step in STEPS)


@pytest.mark.parametrize("noise", STEPS[0].values)
def test_the_attacker_guesses_as_often_as_the_two_densities_allow(noise):
    first, second = stats.norm(-WIDTH / 2, noise), stats.norm(WIDTH / 2, noise)
    best = integrate.quad(lambda x: max(first.pdf(x), second.pdf(x)) / 2, -8 * noise - 0.1, 8 * noise + 0.1,
                          points=[0.0], epsabs=1e-10, limit=200)[0]
    assert lesson.attack(noise) == pytest.approx(best, abs=1e-7)
    answer = STEPS[0].answer(noise)
    assert answer.value == pytest.approx(100 * stats.norm.cdf(WIDTH / noise / 2))
    assert not answer.accepts(50)  # a coin


def test_the_class_is_the_bundled_one_and_its_budget_the_apps_own():
    data = sample("two_features")
    np.testing.assert_array_equal(lesson.classroom(2).matrix, data.matrix)
    assert (lesson.classroom(2).features, lesson.CLASS.n_records) == (data.features, 120)
    setup = build(Scenario.default_for("two_features"), data)
    assert (setup.scenario.epsilon, setup.delta) == (lesson.EPSILON, lesson.DELTA)
    # The app maps the ranges onto [-1, 1]: 6 hours and 50 points are 1.
    ours = lesson.noise_in_units(lesson.ellipse(setup.scenario.share))
    np.testing.assert_allclose(setup.design.noise_std()[:, 0] * [6, 50], ours)


def test_the_five_columns_are_the_same_made_up_class_every_time():
    whole = lesson.classroom(len(lesson.COLUMNS))
    assert whole.features == lesson.COLUMNS
    assert whole.count_outside() == 0
    np.testing.assert_array_equal(whole.matrix[:2], lesson.CLASS.matrix)


def test_the_first_step_starts_where_the_budget_of_the_second_leads():
    mu = mu_for(lesson.EPSILON, lesson.DELTA)
    assert STEPS[0].start == lesson.BUDGET_NOISE == pytest.approx(WIDTH / mu, rel=1e-6)
    assert float(lesson.promised("exact").noise_std()[0, 0]) == pytest.approx(lesson.BUDGET_NOISE, rel=1e-6)
    hours, points = lesson.noise_in_units(lesson.circle())
    assert (hours, hours / WIDTH) == pytest.approx((math.sqrt(2) * lesson.BUDGET_NOISE, points / POINTS), rel=1e-6)


def test_the_circle_holds_what_it_says():
    inside = np.mean(np.hypot(*np.random.default_rng(5).standard_normal((2, 200_000))) <= lesson.REACH)
    assert inside == pytest.approx(0.95, abs=5 * math.sqrt(0.95 * 0.05 / 200_000))  # luck: below 1e-6


@pytest.mark.parametrize("share", STEPS[1].values)
def test_every_ellipse_spends_the_same_budget(share):
    hours, points = lesson.noise_in_units(lesson.ellipse(share))
    assert math.hypot(WIDTH / hours, POINTS / points) == pytest.approx(mu_for(lesson.EPSILON, lesson.DELTA), rel=1e-6)
    down, up = lesson.against_circle(lesson.ellipse(share))
    assert (down, up) == pytest.approx((math.sqrt(0.5 / share), math.sqrt(0.5 / (1 - share))))
    assert STEPS[1].answer(share).value == pytest.approx(math.sqrt(0.5 / (1 - share)))
    assert down * up >= 1 - 1e-12  # the score pays at least what sleep gains


@pytest.mark.parametrize("angle", STEPS[3].values)
def test_the_turned_ellipse_spends_the_same_budget_on_every_change(angle):
    precision = np.linalg.inv(lesson.in_units(lesson.turned(angle)))
    steps = np.linspace(-1, 1, 41)
    changes = (np.array([a * WIDTH, b * POINTS]) for a, b in itertools.product(steps, steps))
    assert max(d @ precision @ d for d in changes) == pytest.approx(mu_for(lesson.EPSILON, lesson.DELTA) ** 2, rel=1e-6)


@pytest.mark.parametrize("angle", STEPS[2].values)
def test_the_corner_that_touches_first_decides_how_large_the_turned_ellipse_is(angle):
    """An ellipse twice as long as wide, its narrow side at the angle: its size is the length of the worst corner."""
    def size(turn):
        narrow, long = np.array([math.cos(turn), math.sin(turn)]), np.array([-math.sin(turn), math.cos(turn)])
        return max(math.hypot(narrow @ corner, long @ corner / 2) for corner in itertools.product((-1, 1), repeat=2))

    assert STEPS[2].answer(angle).value == pytest.approx(size(math.radians(angle)) / size(0))
    touched = _corners(angle)
    assert touched.shape == (2, 4 if angle in (0, 90) else 2)
    assert set(np.abs(touched[0]).round(9)) == {WIDTH}


@pytest.mark.parametrize("angle", STEPS[3].values)
def test_along_the_line_nothing_beats_the_least_possible(angle):
    use, answer = lesson.along(angle), STEPS[3].answer(angle)
    assert answer.value == pytest.approx(lesson.against_circle_along(lesson.turned(angle), use))
    shapes = [*map(lesson.turned, range(0, 180, 5)), *map(lesson.ellipse, (0.01, 0.3, 0.9, 0.99))]
    assert lesson.least_along(use) <= min(lesson.against_circle_along(shape, use) for shape in shapes) + 1e-9


def test_the_least_possible_is_reached_along_an_axis_and_along_the_mixture():
    for shape, angle in ((lesson.ellipse(1 - 1e-6), 0), (lesson.circle(), 45)):
        use = lesson.along(angle)
        assert lesson.against_circle_along(shape, use) == pytest.approx(lesson.least_along(use), rel=1e-5)


@pytest.mark.parametrize("columns", STEPS[4].values)
def test_one_column_among_many_has_the_noise_of_the_engine_s_own_design(columns):
    reaches = Dataset(matrix=np.zeros((columns, 120)), features=tuple(map(str, range(columns))), lower=0, upper=12)
    shares = [lesson.PRIORITY_SHARE, *[(1 - lesson.PRIORITY_SHARE) / (columns - 1)] * (columns - 1)]
    ours, equal = (design_noise(mean(reaches), epsilon=lesson.EPSILON, delta=lesson.DELTA, theta=theta)
                   for theta in (shares, [1 / columns] * columns))
    ratio = ours.noise_std()[:, 0] / equal.noise_std()[:, 0]
    assert STEPS[4].answer(columns).value == pytest.approx(ratio[0])
    assert lesson.among(columns).other == pytest.approx(ratio[1])
    assert lesson.equal_among(columns) == pytest.approx(equal.noise_std()[0, 0], rel=1e-6)


@pytest.mark.parametrize("family", STEPS[8].values)
def test_the_attacker_of_a_family_is_right_as_often_as_its_draws_say(family):
    """Ann changes both averages by one step: the best guess compares the two densities."""
    draws, size = np.empty((2, 200_000)), lesson.family_noise(family)
    FAMILIES[family].fill(np.random.default_rng(11), draws)
    norm = {"gaussian": lambda z: np.sum(z**2, axis=0), "ellipse": lambda z: np.sum(z**2, axis=0),
            "box": lambda z: np.abs(z).max(axis=0)}[family]
    near, far = norm(size * draws), norm(size * draws + 1)
    right = np.mean((near < far) + (near == far) / 2)
    assert lesson.family_attack(family) == pytest.approx(right, abs=5 * math.sqrt(0.25 / 200_000))  # luck: below 1e-6


@pytest.mark.parametrize("table", lesson.TABLES)
def test_the_noise_of_a_cell_is_that_of_the_kronecker_covariance(table):
    def std(design):
        whole = np.kron(design.col_covariance(), design.row_covariance())
        return np.sqrt(np.diag(whole)).reshape(design.cols, design.rows).T

    ours, equal = lesson.table_noise(table), lesson.table_noise(table, 0.2)
    answer, (rows, cols) = STEPS[7].answer(table), lesson.edge_sizes(table)
    np.testing.assert_allclose(lesson.cell_sizes(table), std(ours) / std(equal))
    np.testing.assert_allclose(np.outer(rows, cols), lesson.cell_sizes(table))
    assert answer.value == pytest.approx(rows[lesson.TABLES[table][0]] * cols[lesson.TABLES[table][1]])
    assert all(design.epsilon_spent(lesson.DELTA) == pytest.approx(lesson.EPSILON) for design in (ours, equal))
    np.testing.assert_allclose(rows, [0.5, 2, 2, 2, 2])  # 1/sqrt(0.8 · 5) and sqrt(4/(0.2 · 5))


@pytest.mark.parametrize(("guarantee", "most"), [("exact", 1.001), ("theorem2-any", 0.1), ("theorem1", 0.05)])
def test_theorems_really_spend_next_to_nothing(guarantee, most):
    design = lesson.promised(guarantee)
    mu = WIDTH / float(design.noise_std()[0, 0])
    assert design.mu == pytest.approx(mu)
    spent = optimize.brentq(lambda epsilon: delta_at(epsilon, mu) - lesson.DELTA, 0, 5, xtol=1e-12)
    assert STEPS[5].answer(guarantee).value == pytest.approx(spent, rel=1e-4)
    assert spent < most
    assert lesson.guess_rate(mu) == pytest.approx(stats.norm.cdf(mu / 2))


@pytest.mark.slow
@pytest.mark.parametrize("priority", lesson.PRIORITIES)
def test_whether_it_pays_follows_from_a_paired_test(priority):
    found = lesson.liver_pay(priority)
    one_size, directional = (7.5 * found.results[key].errors for key in ("iid", "mvg"))
    low, high = stats.ttest_rel(one_size, directional).confidence_interval(0.95)
    assert (found.gain - found.margin, found.gain + found.margin) == pytest.approx((low, high))
    answer = STEPS[6].answer(priority)
    assert answer.accepts(found.directional)
    assert low <= 0 or not answer.accepts(found.one_size + 0.01)  # it pays
    assert high >= 0 or not answer.accepts(found.one_size - 0.01)
    assert found.gain == pytest.approx(found.one_size - found.directional)
    assert found.no_noise < min(found.directional, found.one_size)


def test_favourites_are_the_columns_they_are_called():
    names = sample("liver").features
    assert [[names[k] for k in lesson.PRIORITIES[key]] for key in ("drinks", "sgpt-drinks", "mcv-alkphos")] == [
        ["drinks"], ["sgpt", "drinks"], ["mcv", "alkphos"]]
    assert set(names) - {names[k] for k in lesson.PRIORITIES["all-but-mcv"]} == {"mcv"}


def test_directional_noise_does_not_always_pay_and_asking_for_less_helps_more_than_any_shape():
    assert lesson.liver_pay("drinks").gain > 0 > lesson.liver_pay("mcv-alkphos").gain
    assert lesson.asking_less().one_size < min(lesson.liver_pay(one).directional for one in lesson.PRIORITIES)


@pytest.mark.parametrize(("step", "value"), EVERY, ids=lambda one: str(getattr(one, "number", one)))
def test_questions_accept_the_right_answer_alone_and_a_ghost_starts_with_a_wrong_one(step, value):
    answer, ghost = step.answer(value), SCENES[step.number - 1].ghost(value)
    assert answer.accepts(answer.value)
    steps = round((answer.value - ghost.least) / ghost.step)
    assert answer.accepts(min(ghost.least + steps * ghost.step, ghost.most))  # it can be dragged to
    assert not any(map(answer.accepts, (ghost.start, answer.low - 0.01, answer.high + 0.01, math.nan)))


def test_what_is_not_there_is_refused():
    for call, given in ((lesson.table_noise, "table"), (lesson.liver_pay, "priority")):
        with pytest.raises(InputError, match=f"{given} must be"):
            call("gammagt")


@pytest.mark.parametrize(("step", "value"), EVERY, ids=lambda one: str(getattr(one, "number", one)))
def test_a_link_holds_every_value_and_no_other(step, value):
    assert step.value_of(lesson.token_of(value)) == value
    assert lesson.token_of(value).isascii()
    assert step.value_of("nothing") is None
