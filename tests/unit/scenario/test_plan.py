"""A plan never spends more than its budget, its shares always add up, and it survives the trip through a file."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mvgviz import Dataset, InputError, QuestionPlan, Scenario, compose_mu, gaussian_mu
from mvgviz.data import sample
from mvgviz.noise.mixtures import plan_delta
from mvgviz.release.box_noise import pure_epsilon
from mvgviz.release.release import plan_together
from mvgviz.scenario import plan as plans
from mvgviz.scenario.own_units import feature_std
from mvgviz.scenario.resolve import ask
from tests.datasets import make_dataset

DELTA = 1e-5
BASE = Scenario(epsilon=1.0, delta=DELTA, scale="declared")


def asking(query, **changes):
    return BASE.changed(query=query, **changes)


def shifted(setup, dataset, column, record):
    """The answer of a neighbour minus the answer, from the definition of the query, divided by the noise."""
    matrix = dataset.matrix.copy()
    matrix[:, column] = record
    other = ask(setup.scenario, replace(dataset, matrix=matrix), bound=setup.query.bound)
    covariance = np.kron(setup.design.row_covariance(), setup.design.col_covariance())
    move = (other.value - setup.query.value).ravel()
    return float(move @ np.linalg.solve(covariance, move))


@pytest.mark.slow
@pytest.mark.parametrize(("ranges", "questions"), [
    ((-1.0, 1.0), (asking("identity"), asking("mean"))),
    ((-1.0, 1.0), (asking("mean"), asking("covariance"), asking("identity", allocation="uniform"))),
    ((0.0, 2.0), (asking("covariance", share=0.6), asking("mean", directions="rotation"), asking("kernel"))),
    ((-1.0, 1.0), (asking("covariance", bound="even"), asking("mean"), asking("moments", bound="even", share=0.5))),
    ((-3.0, 5.0), (asking("covariance", mode="rows"), asking("mean", allocation="least-error", share=0.9)))])
def test_no_neighbour_moves_all_answers_together_by_more_than_the_plan_s_mu(ranges, questions):
    rng, low_high = np.random.default_rng(3), ranges
    plan = QuestionPlan.of(*questions).moved(0, 0.7)
    corners = [np.array(corner) for corner in itertools.product(low_high, repeat=2)]
    records = [*corners, *rng.uniform(*low_high, (20, 2)), np.zeros(2)]
    allowed, worst = float(gaussian_mu(1.0, DELTA)), 0.0
    for start in records:
        matrix = make_dataset(2, 3, *low_high).matrix.copy()
        matrix[:, 1] = start
        dataset = Dataset(matrix=matrix, features=("a", "b"), lower=low_high[0], upper=low_high[1])
        setups = plans.build_plan(plan, dataset)
        for record in records:
            worst = max(worst, math.sqrt(sum(shifted(setup, dataset, 1, record) for setup in setups)))
    assert worst <= allowed * (1 + 1e-9)
    if {question.query for question in questions} == {"identity", "mean"}:  # corner to corner is worst for both
        assert worst == pytest.approx(allowed, rel=1e-9)


def test_the_questions_spend_their_shares_private_directions_and_bounds_included():
    plan = QuestionPlan.of(asking("covariance"), asking("mean", directions="private", private_share=0.4),
                           asking("identity", directions="random"), asking("mean", bound="private")).moved(1, 0.5)
    setups, mu = plans.build_plan(plan, make_dataset(3, 40)), float(gaussian_mu(1.0, DELTA))
    spent = [setup.design.total_mu for setup in setups]
    assert spent == pytest.approx([mu * math.sqrt(share) for share in plan.shares], rel=1e-12)
    assert compose_mu(spent) == pytest.approx(mu, rel=1e-12)
    assert setups[1].design.mu == pytest.approx(spent[1] * math.sqrt(0.6), rel=1e-12)
    told = plans.plan_noise(plan, setups)
    assert [question.mu for question in told] == pytest.approx(spent, rel=1e-12)
    assert sum(question.epsilon for question in told) > 1.0  # epsilons do not add up


drawn = st.integers(1, 6).map(lambda size: QuestionPlan.of(*[BASE] * size))
steps = st.lists(st.tuples(st.sampled_from(["move", "add", "remove", "share"]), st.integers(0, 7), st.floats(0, 1),
                           st.sets(st.integers(0, 7), max_size=4)), max_size=4)


@given(drawn, steps)
def test_whatever_is_done_the_parts_sum_and_locked_ones_stay(plan, steps):
    for kind, k, share, locked in steps:
        k %= len(plan)
        before = {j: plan.parts[j] for j in range(len(plan)) if j in locked}
        try:
            if kind == "move":
                plan = plan.moved(k, share, locked=locked)
                before.pop(k, None)
            elif kind == "add":
                plan = plan.added(BASE, locked=locked)
            elif kind == "remove":
                plan = plan.removed(k, locked=locked)
                before = {j - (j > k): part for j, part in before.items() if j != k}
            else:
                plan = plan.shared([1 + share * j for j in range(len(plan))], locked=locked)
        except InputError:  # only where nobody is free to give or take
            free = [plan.parts[j] for j in range(len(plan)) if j not in locked and (kind == "add" or j != k)]
            assert (kind == "add" and sum(free) <= len(free)) or (kind == "remove" and not free)
            continue
        assert sum(plan.parts) == plans.PARTS
        assert min(plan.parts) >= 1
        assert {j: plan.parts[j] for j in before} == before


def test_moving_removing_and_adding_do_what_they_say():
    plan = QuestionPlan.of(BASE, asking("mean"), asking("covariance")).moved(0, 0.5, locked={2})
    assert plan.shares == (0.5, pytest.approx(1 / 6, abs=1e-4), pytest.approx(1 / 3, abs=1e-4))
    more = plan.added(asking("kernel", epsilon=7.0), locked={0})
    assert more.shares[0] == 0.5
    assert more.shares[3] == pytest.approx(0.5 / 3, abs=1e-4)  # a mean share of what is not locked
    assert more.scenarios[3].epsilon == 1.0
    less = more.removed(1, locked={2})
    assert [scenario.query for scenario in less.scenarios] == ["identity", "covariance", "kernel"]
    assert less.parts[1] == more.parts[2]
    assert plans.without({0, 1, 3}, 1) == {0, 2}
    for step, words in ((lambda: plan.removed(0, locked={1, 2}), "unlock another question first"),
                        (lambda: plan.added(BASE, locked={0, 1, 2}), "no room for another question; unlock"),
                        (lambda: plan.moved(3, 0.5), "a plan of 3 questions has none at position 3"),
                        (lambda: QuestionPlan.of(BASE).removed(0), "this one's share must go to one of them")):
        with pytest.raises(InputError, match=words):
            step()


def test_another_budget_keeps_the_shares_and_brings_its_origin_along():
    plan = QuestionPlan.of(BASE.chosen_on_data(priority_directions=(1,)), asking("mean")).moved(0, 0.9)
    dearer = plan.with_budget(BASE.chosen_on_data(epsilon=3.0))
    assert (dearer.epsilon, dearer.shares) == (3.0, plan.shares)
    assert [scenario.from_data for scenario in dearer.scenarios] == [("priority_directions", "epsilon"), ("epsilon",)]
    assert dearer.question(1, delta=DELTA).from_data == ("epsilon",)
    assert dearer.with_budget(BASE).scenarios[0].from_data == ("priority_directions",)
    guessed = plan.shared([2, 1], read=True).with_budget(BASE).moved(0, 0.3)
    assert guessed.question(1, delta=DELTA).from_data == ("epsilon",)
    assert not guessed.shared([1, 1]).shares_read
    assert guessed.shared([2, 5]).shares_read  # a mark is sticky; only equal shares tell nothing
    assert guessed.shared([1, 1], locked={0}).shares_read  # the locked share is still what it was
    assert plan.added(asking("mean").chosen_on_data(epsilon=2.0)).scenarios[2].from_data == ()


def test_a_pair_s_curve_is_what_other_shares_would_give():
    plan, data = QuestionPlan.of(asking("covariance"), asking("mean"), asking("identity")), make_dataset(3, 50)
    trade = plans.PairTrade(noise=plans.plan_noise(plan, plans.build_plan(plan, data)), pair=(0, 2))
    alone, room = [trade.noise[k].alone for k in (0, 2)], plan.shares[0] + plan.shares[2]
    for part in (0.1, 0.5, 0.8):
        moved = plan.moved(0, part * room, locked={1})
        built = plans.build_plan(moved, data)
        noise = [plans.typical_noise(built[k]) / whole for k, whole in zip((0, 2), alone, strict=True)]
        assert trade.at(moved.shares[0] / room) == pytest.approx(noise, rel=1e-9)
    for _, first, second in trade.curve:
        assert 1 / first**2 + 1 / second**2 == pytest.approx(room)
    first, second = alone
    assert trade.rule(plans.same_noise) == pytest.approx(first**2 / (first**2 + second**2))
    assert trade.rule(plans.least_noise) == pytest.approx(first / (first + second))


def test_no_other_shares_have_less_noise_than_the_least_and_the_same_is_the_same():
    plan, data = QuestionPlan.of(asking("covariance"), asking("mean"), asking("mean", share=0.3)), make_dataset(3, 9)
    noise = plans.plan_noise(plan, plans.build_plan(plan, data))
    weights = (1.0, 4.0, 0.5)

    def loss(tried):
        return sum(w * q.alone**2 / s for w, q, s in zip(weights, noise, tried.shares, strict=True))

    best = plan.shared(plans.least_noise(noise, weights))
    rng = np.random.default_rng(0)
    others = [plan.shared(best.shares * np.exp(0.3 * rng.standard_normal(3))) for _ in range(200)]
    assert loss(best) <= min(map(loss, others)) * (1 + 1e-7)  # parts are whole
    level = plan.shared(plans.same_noise(noise))
    found = [question.noise for question in plans.plan_noise(level, plans.build_plan(level, data))]
    assert found == pytest.approx([found[0]] * 3, rel=2e-3)


def test_shares_that_are_computed_leave_a_thousandth_to_everyone_and_locked_ones_alone():
    plan = QuestionPlan.of(BASE, BASE, BASE).moved(2, 0.2)
    new = plan.shared([1.0, 1e-9, 5.0], locked={2})
    assert new.shares == (pytest.approx(0.799, abs=2e-4), pytest.approx(0.001, abs=2e-4), 0.2)
    assert plan.shared([1, 1, 1], locked={0, 1, 2}) == plan
    with pytest.raises(InputError, match="one for each of the 3"):
        plan.shared([1, 2])


@pytest.mark.parametrize(("query", "ranges"), [("identity", (0, 8)), ("mean", (2, 5)), ("covariance", (-4, 4)),
                                               ("moments", (-4, 4))])
def test_noise_in_own_units_does_not_depend_on_the_mapping_of_the_ranges(query, ranges):
    data = make_dataset(2, 20, *ranges)
    [own], [mapped] = (plans.build_plan(QuestionPlan.of(asking(query, scale=scale)), data)
                       for scale in ("declared", "symmetric"))
    assert feature_std(mapped, mapped.design) == pytest.approx(feature_std(own, own.design))
    assert plans.typical_noise(mapped) == pytest.approx(plans.typical_noise(own))


@pytest.mark.parametrize(("data", "query"), [("liver", "kernel"), ("karate", "adjacency"), ("karate", "laplacian"),
                                             ("liver", "moments"), ("cardiotocography", "covariance"),
                                             ("cardiotocography", "identity")])
def test_every_question_has_numbers(data, query):
    plan = QuestionPlan.of(Scenario.default_for(data).changed(query=query))
    [found] = plans.plan_noise(plan, plans.build_plan(plan, sample(data)))
    assert 0 < found.least[1] <= found.most[1] < math.inf
    assert found.noise == found.alone > 0


@given(st.lists(st.sampled_from(["identity", "mean", "covariance", "kernel"]), min_size=1, max_size=5), st.floats(0, 1))
def test_every_plan_survives_a_file(queries, share):
    plan = QuestionPlan.of(*(asking(query) for query in queries)).moved(0, share)
    plan = plan.added(BASE.chosen_on_data(share=0.3)).shared([1] * (len(plan) + 1), locked={0}, read=share > 0.5)
    again = QuestionPlan.from_json(plan.to_json())
    assert again == plan
    assert again.scenarios[-1].from_data == ("share",)


def file_with(*questions, version=1):
    return json.dumps({"mvgviz_plan": version, "shares_read": False, "questions": list(questions)})


ONE = {"parts": plans.PARTS, "mvgviz": 1, "scenario": {}}


@pytest.mark.parametrize(("text", "message"), [
    ("", "must be JSON"), (b"\xff\xfe\x00", "must be JSON"), ("[" * 100_000, "must be JSON"), ("[1]", "must hold"),
    ("{}", "must hold"), (json.dumps({"mvgviz_plan": 1, "shares_read": False, "questions": {}}), "must hold"),
    (json.dumps({"mvgviz_plan": 1, "shares_read": 1, "questions": []}), "must hold"),
    (BASE.to_json(), "must hold"), (file_with(ONE, version=2), "version 1"), (file_with(), "1 to 20 questions, got 0"),
    (file_with(*[ONE] * (plans.MOST_QUESTIONS + 1)), "1 to 20 questions, got 21"), (file_with(3), "every question"),
    (file_with({"mvgviz": 1, "scenario": {}}), "every question"), (file_with(ONE, ONE), "sum to 10000"),
    (file_with(ONE | {"parts": "10000"}), "parts must be a number"), (file_with(ONE | {"parts": 0.5}), "whole number"),
    (file_with(ONE | {"parts": float("nan")}), "finite"), (file_with(ONE | {"colour": 1}), "scenario file must hold"),
    (file_with(ONE | {"mvgviz": 7}), "scenario file must have version"),
    (file_with(ONE | {"scenario": {"epsilon": -1}}), "epsilon must be positive"),
    (file_with(ONE | {"scenario": {"guarantee": "theorem1"}}), "does not add up|do not add up"),
    (file_with(ONE | {"parts": 1}, ONE | {"parts": 9999, "scenario": {"epsilon": 2}}), "one epsilon, got several"),
    (file_with(ONE | {"parts": 1}, ONE | {"parts": 9999, "scenario": {"data": "liver"}}), "one data, got several"),
    (file_with(ONE | {"parts": 1}, ONE | {"parts": 9999, "scenario": {"query": "laplacian"}}), "kind of neighbours"),
    (file_with(ONE | {"parts": 1}, ONE | {"parts": 9999, "scenario": {"neighbours": "add-remove"}}),
     "kind of neighbours")])
def test_a_file_of_nonsense_is_refused_with_a_sentence(text, message):
    with pytest.raises(InputError, match=message):
        QuestionPlan.from_json(text)


def test_a_plan_promises_for_one_kind_of_neighbours():
    added = asking("covariance", neighbours="add-remove")
    for mix in (lambda: QuestionPlan.of(asking("mean"), added), lambda: QuestionPlan.of(asking("mean")).added(added)):
        with pytest.raises(InputError, match="one kind of neighbours"):
            mix()
    assert len(QuestionPlan.of(added, asking("mean", neighbours="add-remove"))) == 2
    graph = Scenario.default_for("karate").changed(guarantee="exact")  # where nothing is said of records
    assert len(QuestionPlan.of(graph, graph.changed(neighbours="add-remove"))) == 2


def test_a_share_too_small_for_any_question_is_named():
    plan = QuestionPlan.of(BASE.changed(epsilon=0.01), BASE).moved(1, 0.0)
    with pytest.raises(InputError, match=r"question 2 would get an epsilon below .* give it a larger share"):
        plans.build_plan(plan, make_dataset(2, 10))


PURE = asking("mean", family="box")


def spent_by(setups):
    """The pure epsilons and the mu of the noise that was designed."""
    pure = [pure_epsilon(setup.design.blocks) for setup in setups if setup.design.blocks]
    return pure, compose_mu([0.0, *(setup.design.total_mu for setup in setups if not setup.design.blocks)])


@pytest.mark.parametrize("questions", [
    (PURE, asking("covariance")), (asking("identity", family="laplace"), asking("mean"), asking("covariance")),
    (PURE, asking("identity", family="box"), asking("covariance", directions="random")), (PURE, PURE),
    (PURE, asking("mean", directions="private", private_share=0.4))])
@pytest.mark.parametrize("first", [0.02, 0.5, 0.9])
def test_mixed_questions_never_cost_more_than_the_plan_and_use_it_up(questions, first):
    plan = QuestionPlan.of(*questions).moved(0, first)
    setups = plans.build_plan(plan, make_dataset(3, 40))
    pure, mu = spent_by(setups)
    told = plan_together(setups)
    assert told.epsilon <= 1.0
    assert told.epsilon == pytest.approx(1.0, abs=3e-4)
    if mu and len(pure) == 1:
        assert plan_delta(1.0, pure[0], mu) == pytest.approx(DELTA, rel=1e-4)
        assert plan_delta(1.0, pure[0], mu) <= DELTA
    if not mu:
        assert told.epsilon_pure <= 1.0  # with delta = 0
    factor = plan.division(DELTA).factor(plan.shares)
    assert sum(pure) == pytest.approx(factor * sum(s for s, one in zip(plan.shares, plan.pure, strict=True) if one))


def test_more_for_one_question_leaves_less_for_every_other_whatever_their_noise():
    plan, data = QuestionPlan.of(PURE, asking("covariance"), asking("identity")), make_dataset(3, 40)
    before = None
    for share in (0.01, 0.1, 0.3, 0.6, 0.9, 0.99):
        moved = plan.moved(0, share)
        found = [question.noise for question in plans.plan_noise(moved, plans.build_plan(moved, data))]
        assert before is None or (found[0] < before[0] and found[1] > before[1] and found[2] > before[2])
        before = found


def test_rules_with_two_kinds_of_noise_find_the_same_and_the_least():
    plan, data = QuestionPlan.of(asking("covariance"), PURE, asking("identity")), make_dataset(3, 9)

    def noise_of(tried):
        return plans.plan_noise(tried, plans.build_plan(tried, data))

    noise = noise_of(plan)
    found = [question.noise for question in noise_of(plan.shared(plans.same_noise(noise)))]
    assert found == pytest.approx([found[0]] * 3, rel=2e-2)  # shares are whole parts, and none below a thousandth
    held = noise_of(plan.shared(plans.same_noise(noise, {2}), locked={2}))
    assert held[0].noise == pytest.approx(held[1].noise, rel=2e-2)
    assert held[2].share == plan.shares[2]

    def loss(tried):
        squares = np.array([question.alone for question in noise]) ** 2
        return float(np.sum(squares / np.square(tried.division(DELTA).parts(tried.shares))))

    best, rng = plan.shared(plans.least_noise(noise)), np.random.default_rng(0)
    others = [plan.shared(best.shares * np.exp(0.3 * rng.standard_normal(3))) for _ in range(200)]
    assert loss(best) <= min(map(loss, others)) * (1 + 1e-4)  # by a table of factors, and of whole parts


def test_a_plan_knows_its_families_in_a_file_and_refuses_what_it_cannot_count():
    plan = QuestionPlan.of(asking("covariance"), asking("mean")).with_family(1, "laplace")
    assert plan.scenarios[1].noise_family == "laplace"
    assert QuestionPlan.from_json(plan.to_json()) == plan
    for refused, words in ((lambda: plan.with_family(1, "ellipse"), "family must be"),
                           (lambda: replace(plan, scenarios=(BASE, asking("mean", family="ellipse"))),
                            "need Gaussian, box or Laplace noise, got ellipse")):
        with pytest.raises(InputError, match=words):
            refused()
