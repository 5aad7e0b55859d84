"""Who is a neighbour: replaced, added or removed, several records a person, categories. Held against brute force."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import mvgviz as mv
from mvgviz import Dataset, InputError, RecordBound, Scenario
from mvgviz.design.privacy_loss import pair_loss
from mvgviz.noise.sides import NoiseSide
from mvgviz.query.queries import covariance, identity, joint_moments, mean
from mvgviz.query.worst_pairs import worst_pair
from mvgviz.release.audit import judge, simulate_scores
from tests.oracles import some_side

RULES = ("replace", "add-remove")
PLACES = 5


def table(lower, upper, levels=(), per_person=1):
    """All records in the middle; nothing below looks at them."""
    lower, upper = np.array(lower, dtype=float), np.array(upper, dtype=float)
    middle = (lower + upper) / 2
    for group in map(list, levels):
        middle[group] = lower[group] + (upper - lower)[group] / len(group)
    return Dataset(matrix=np.tile(middle[:, None], PLACES), features=[f"f{i}" for i in range(lower.size)],
                   lower=lower, upper=upper, levels=levels, per_person=per_person)


TABLES = {
    "around 0": ((-1, -1, -1), (1, 1, 1), ()), "one-sided": ((0, 0, 0), (1, 2, 3), ()),
    "far from 0": ((9, -1, 5), (10, 3, 5.5), ()), "one category": ((0, 0, 0, 0), (2, 1, 1, 1), ((1, 2, 3),)),
    "two categories, scaled": ((-1,) * 5, (1,) * 5, ((0, 1, 2), (3, 4))),
    "only some of the levels": ((0, 0, 0), (1, 1, 1), ((0, 2),)),
}


def records(data):
    """Every corner that a record can be at, and a few points between."""
    free = [i for i in range(data.n_features) if not any(i in group for group in data.levels)]
    ends = [[(i, end) for end in (data.lower[i], data.upper[i])] for i in free]
    choices = [[[(i, data.upper[i] if i == chosen else data.lower[i]) for i in group] for chosen in group]
               for group in data.levels]
    found = []
    for parts in itertools.product(*ends, *choices):
        record = np.zeros(data.n_features)
        for part in parts:
            for i, value in (part if isinstance(part, list) else [part]):
                record[i] = value
        found.append(record)
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.full(len(found), 0.3), size=12)
    return np.array([*found, *(weights @ np.array(found))])


def empty(data):
    """What an empty place counts as in a table or mean."""
    return data.matrix[:, 0]


def answer(name, people, data):
    """The query by its definition: ``people`` are records or None; all other places hold the same ever."""
    if name in ("identity", "mean"):
        columns = np.array([empty(data) if record is None else record for record in people]).T
        whole = np.tile(empty(data)[:, None], PLACES)
        whole[:, : columns.shape[1]] = columns
        return whole if name == "identity" else whole.mean(axis=1, keepdims=True)
    joined = [record if name == "covariance" else np.append(record, 1.0) for record in people if record is not None]
    size = data.n_features + (name == "moments")
    return sum((np.outer(record, record) for record in joined), np.zeros((size, size))) / PLACES


QUERIES = {"identity": identity, "mean": mean, "covariance": covariance, "moments": joint_moments}


def sides(query, kind, rng):
    """(rows, cols) of noise that favours some directions."""
    if kind == "equal":
        unit = NoiseSide.identity(query.rows)
        return unit, unit if query.symmetric else NoiseSide.identity(query.cols)
    rows, cols = (some_side(size, rng, turned=kind == "turned") for size in (query.rows, query.cols))
    if query.symmetric and rng.random() < 0.6:
        return rows, rows
    return rows, cols if rng.random() < 0.5 else NoiseSide.identity(query.cols)


def furthest(name, data, rule, rows, cols):
    """The largest distance over pairs of neighbours that are tried: all corners, all of a person's records alike."""
    k, found = data.per_person, 0.0
    left, right = rows.whitener(), cols.whitener()
    points = records(data)
    others = [None] if rule == "add-remove" else points
    rng = np.random.default_rng(1)
    pairs = [([x] * k, [y] * k) for x in points for y in others]
    if k > 1:
        for _ in range(60):
            xs, ys = (points[rng.integers(len(points), size=k)] for _ in range(2))
            pairs.append((list(xs), [None] * k if rule == "add-remove" else list(ys)))
    for before, after in pairs:
        change = answer(name, before, data) - answer(name, after, data)
        for _ in range(1 if name != "identity" else 3):  # a table: whose columns they are matters
            moved = change if name != "identity" else change[:, rng.permutation(PLACES)]
            found = max(found, float(np.linalg.norm(left @ moved @ right.T)))
    return found


@pytest.mark.parametrize("per_person", [1, 2])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("kind", TABLES)
def test_no_pair_of_neighbours_is_further_apart_than_claimed(kind, name, rule, per_person):
    data, rng = table(*TABLES[kind], per_person=per_person), np.random.default_rng(7)
    query = QUERIES[name](data, neighbours=rule)
    for noise in ("equal", "along", "turned"):
        rows, cols = sides(query, noise, rng)
        claimed, exact, _ = query.neighbours.worst(rows, cols)
        found = furthest(name, data, rule, rows, cols)
        assert found <= claimed * (1 + 1e-9)
        attained = worst_pair(query, rows, cols).attained
        assert attained <= 1
        if exact:
            assert attained == pytest.approx(1)
            if not (rule == "replace" and query.symmetric) and cols.is_isotropic:  # there corners attain it
                assert found == pytest.approx(claimed)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("kind", ["around 0", "far from 0"])
def test_other_norms_hold_too(kind, name, rule):
    for per_person in (1, 2):
        data = table(*TABLES[kind], per_person=per_person)
        query = QUERIES[name](data, neighbours=rule)
        for x in records(data):
            for y in [None] if rule == "add-remove" else records(data):
                change = answer(name, [x] * per_person, data) - answer(name, [y] * per_person, data)
                assert np.abs(change).sum() <= query.absolute_sum() * (1 + 1e-9)
                assert np.linalg.norm(change) <= query.sensitivity * (1 + 1e-9)
                assert np.linalg.norm(change) <= query.printed_sensitivity * (1 + 1e-9)
                if query.symmetric:
                    assert np.square(np.diag(change)).sum() <= query.diagonal_square() * (1 + 1e-9)


def test_an_added_record_moves_a_table_half_as_far_and_second_moments_once():
    data = table((-1, -2), (1, 2))
    assert mean(data).sensitivity == pytest.approx(2 * mean(data, neighbours="add-remove").sensitivity)
    assert covariance(data, neighbours="add-remove").sensitivity == pytest.approx(5 / PLACES)
    far = table((100, 100), (101, 101))
    assert covariance(far, neighbours="add-remove").sensitivity > 50 * covariance(far).sensitivity


def test_a_category_counts_two_levels_however_many_it_has():
    data = table((0,) * 12, (1,) * 12, levels=(tuple(range(12)),))
    assert identity(data).sensitivity == pytest.approx(np.sqrt(2))
    assert identity(data, neighbours="add-remove").sensitivity == pytest.approx(np.sqrt(1 - 1 / 12))
    assert covariance(data).sensitivity <= np.sqrt(2) / PLACES * (1 + 1e-9)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", ["identity", "mean", "covariance"])
@pytest.mark.parametrize("kind", ["around 0", "one category"])
@pytest.mark.parametrize("per_person", [1, 3])
def test_records_inside_a_bound_are_no_further_apart_than_claimed(name, rule, kind, per_person, rng):
    data = table(*TABLES[kind], per_person=per_person)
    centre = np.zeros(data.n_features) if name == "covariance" else (data.lower + data.upper) / 2
    bound = RecordBound(radius=0.5, weights=np.linspace(0.7, 1.3, data.n_features), centre=centre)
    query = QUERIES[name](data, bound=bound, neighbours=rule)
    ellipse = bound.ellipse(data.n_features)
    for noise in ("equal", "along", "turned"):
        rows, cols = sides(query, noise, rng)
        claimed, exact, _ = query.neighbours.worst(rows, cols)
        assert not (exact and data.levels)  # no record is where the ranges alone would let one be
        left, right = rows.whitener(), cols.whitener()
        points = records(data).T
        if not data.levels:  # and along the ellipse's own longest axis, seen through the noise
            shape = np.linalg.svd(left / bound.weights)[2][0] / bound.weights
            axis = shape / np.abs(shape / (data.upper - centre)).max()
            points = np.column_stack([points, centre + axis, centre - axis])
        pulled = (centre[:, None] + ellipse.parts(points) * (points - centre[:, None])).T
        for x in pulled:
            for y in [None] if rule == "add-remove" else pulled:
                if name == "covariance":
                    change = per_person * (np.outer(x, x) - (0 if y is None else np.outer(y, y))) / PLACES
                else:
                    move = x - (centre if y is None else y)
                    change = np.zeros((move.size, query.cols))
                    change[:, : per_person if name == "identity" else 1] = move[:, None]
                    change = change if name == "identity" else change * per_person / PLACES
                assert np.linalg.norm(left @ change @ right.T) <= claimed * (1 + 1e-9)
        if exact:
            assert worst_pair(query, rows, cols).attained == pytest.approx(1)


def test_joined_moments_of_an_added_record():
    data = replace(table((-1, -1), (1, 1)), per_person=2)
    bound = RecordBound(radius=1.0)
    query = mv.moments(data, bound=bound, neighbours="add-remove").query
    y = np.array([1 / np.sqrt(2), 1.0, 0.0])
    assert query.sensitivity == pytest.approx(2 * np.linalg.norm(np.outer(y, y)) / PLACES)
    assert query.neighbour_rule == "up to 2 records of one person added or removed"


def test_the_rule_is_named_from_the_scenario_to_the_certificate():
    data = mv.sample("liver")
    scenario = Scenario.default_for("liver").changed(neighbours="add-remove", query="mean", task="reconstruction")
    setup = mv.build(scenario, data)
    assert setup.design.neighbour_rule == "one record added or removed"
    replaced = mv.build(scenario.changed(neighbours="replace"), data)
    assert setup.design.noise_std() == pytest.approx(replaced.design.noise_std() / 2)
    ledger = mv.Ledger()
    released = mv.release_setup(setup, ledger=ledger)
    assert "one record added or removed" in released.guarantee
    assert "one record added or removed" in mv.to_metadata_json(released)
    assert ledger.entries[0].neighbour_rule == "one record added or removed"


def test_a_query_that_was_asked_for_other_neighbours_is_refused():
    data, scenario = mv.sample("liver"), Scenario.default_for("liver")
    with pytest.raises(InputError, match="has other neighbours"):
        mv.build(scenario.changed(neighbours="add-remove"), data, query=mv.build(scenario, data).query)


@pytest.mark.parametrize(("changes", "message"), [
    ({"query": "kernel"}, "none can be added or removed"),
    ({"directions": "private"}, "private directions support only replaced"),
    ({"bound": "private"}, "a private radius supports only replaced"),
    ({"neighbours": "other"}, "neighbours must be one of replace, add-remove"),
])
def test_what_is_not_worked_out_is_refused(changes, message):
    with pytest.raises(InputError, match=message):
        mv.build(Scenario.default_for("liver").changed(**{"neighbours": "add-remove"} | changes), mv.sample("liver"))


def test_mechanisms_that_are_proved_for_replaced_records_alone_say_so():
    scenario = Scenario.default_for("liver").changed(neighbours="add-remove", task="first-component")
    results = mv.run_trials(scenario, mv.sample("liver"), trials=3,
                            mechanisms=["mvg", "laplace", "johnson-lindenstrauss", "exponential-component"])
    assert [outcome.reason is None for outcome in results.outcomes] == [True, True, False, False]
    assert "not for one record added or removed" in results["johnson-lindenstrauss"].reason


@pytest.mark.parametrize("levels", [[[0]], [[0, 0]], [[0, 9]], [[0, 1], [1, 2]]])
def test_levels_must_be_sets_of_features(levels):
    with pytest.raises(InputError, match="levels must be sets"):
        Dataset(matrix=np.zeros((3, 2)), features=["a", "b", "c"], lower=0, upper=1, levels=levels)


def test_a_record_with_two_levels_is_refused():
    with pytest.raises(InputError, match="must have one level"):
        Dataset(matrix=np.ones((2, 3)), features=["a", "b"], lower=0, upper=1, levels=[[0, 1]])


def test_some_of_the_features_keep_their_categories():
    data = table((0,) * 5, (1,) * 5, levels=((0, 1, 2), (3, 4)))
    assert data.only([4, 2, 1]).levels == ((2, 1),)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", ["identity", "mean", "covariance"])
def test_an_attack_on_all_records_of_a_person_finds_what_is_claimed_and_no_more(name, rule):
    data = table((0, -1), (1, 3), per_person=3)
    query = QUERIES[name](data, neighbours=rule)
    design = mv.design_noise(query, epsilon=3, delta=1e-5)
    loss = pair_loss(query, design)
    assert loss.mu == pytest.approx(design.mu)
    scores = simulate_scores(loss, trials=8_000, rng=np.random.default_rng(3))
    assert 0.5 < judge(loss, scores, delta=1e-5).epsilon_lower < 3
    broken = judge(loss, scores, delta=1e-5, noise_factor=1 / 3)
    assert broken.epsilon_lower > 3  # as if one record alone had been counted


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", ["identity", "mean", "covariance", "moments"])
@pytest.mark.parametrize("bound", ["none", "even"])
def test_categories_and_people_can_be_released(name, rule, bound):
    data = replace(table(*TABLES["one category"]), per_person=2)
    scenario = Scenario.for_dataset(data, query=name, neighbours=rule, bound=bound)
    released = mv.release_setup(mv.build(scenario, data))
    changed = "added or removed" if rule == "add-remove" else "replaced"
    assert released.neighbour_rule == f"up to 2 records of one person {changed}"
