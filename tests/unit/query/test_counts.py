"""Counts, cross-tables and means by group: all neighbours of tiny tables are tried, answers are counted by hand."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import mvgviz as mv
from mvgviz import Dataset, InputError, RecordBound, Scenario
from mvgviz.design.privacy_loss import pair_loss
from mvgviz.noise.directions import random_rotation
from mvgviz.noise.sides import NoiseSide
from mvgviz.provenance import Origin
from mvgviz.query.counts import ReplacedCell
from mvgviz.query.prior import Weighing
from mvgviz.query.queries import QUERIES
from mvgviz.query.worst_pairs import worst_pair
from mvgviz.release.audit import judge, simulate_scores
from tests.oracles import some_side

NAMES = ("age", "sex=f", "sex=m", "score", "eye=blue", "eye=brown", "eye=green")
LOWER, UPPER = (20, 0, 0, -1, 0, 0, 0), (80, 1, 1, 3, 1, 1, 1)
LEVELS = ((1, 2), (4, 5, 6))
KINDS = ("counts", "cross_table", "group_means")
RULES = ("replace", "add-remove")


def record(age, sex, score, eye):
    """One record; a level of None is missing and counts as equal parts."""
    parts = [np.full(size, 1 / size) if level is None else np.eye(size)[level] for size, level in ((2, sex), (3, eye))]
    return np.array([age, *parts[0], score, *parts[1]])


def table(records, per_person=1, **changes):
    return replace(Dataset(matrix=np.array(records).T, features=NAMES, lower=LOWER, upper=UPPER, levels=LEVELS,
                           per_person=per_person), **changes)


DATA = table([record(30, 0, 0, 0), record(50, 0, 1, 2), record(80, 1, 3, 2), record(20, 1, -1, 1), record(65, 0, 2, 2)])


def ask(kind, data, rule="replace"):
    asked = {"counts": lambda: mv.counts(data, "eye", neighbours=rule),
             "cross_table": lambda: mv.cross_table(data, ("sex", "eye"), neighbours=rule),
             "group_means": lambda: mv.group_means(data, "sex", neighbours=rule)}
    return asked[kind]()


def by_definition(kind, records):
    """The answer as a person would count it: loops over records and levels."""
    shape = {"counts": (3, 1), "cross_table": (2, 3), "group_means": (3, 2)}[kind]
    answer = np.zeros(shape)
    for x in records:
        for i, eye in enumerate(x[4:7]):
            if kind == "counts":
                answer[i, 0] += eye
            for j, sex in enumerate(x[1:3]):
                if kind == "cross_table":
                    answer[j, i] += sex * eye
        for j, sex in enumerate(x[1:3]):
            if kind == "group_means":
                answer[:, j] += sex * np.array([x[0] - 50, x[3] - 1, 1.0])
    return answer


def every_record():
    """Every corner of the ranges with every level, with gaps, and some values between."""
    return [record(age, sex, score, eye) for age, sex, score, eye in itertools.product(
        (20, 50, 80), (0, 1, None), (-1, 0.5, 3), (0, 1, 2, None))]


def sides(query, kind, rng):
    if kind == "equal":
        return NoiseSide.identity(query.rows), NoiseSide.identity(query.cols)
    rows, cols = (some_side(size, rng, turned=kind == "turned") for size in (query.rows, query.cols))
    return rows, cols if kind != "rows" else NoiseSide.identity(query.cols)


def furthest(kind, rule, per_person, rows, cols):
    """The largest whitened change over all pairs of neighbours of a table that has them in its first places."""
    answers = np.array([by_definition(kind, [x]) for x in every_record()])
    if per_person == 2:
        answers = np.array([a + b for a, b in itertools.combinations_with_replacement(answers[::3], 2)]
                           + [2 * a for a in answers])
    white = np.array([rows.whitener() @ answer @ cols.whitener().T for answer in answers]).reshape(len(answers), -1)
    if rule == "add-remove":
        return np.linalg.norm(white, axis=1).max()
    squares = np.sum(white**2, axis=1)
    return math.sqrt((squares[:, None] + squares - 2 * white @ white.T).max())


@pytest.mark.parametrize("kind", KINDS)
def test_the_answer_is_the_one_counted_by_hand(kind):
    query = ask(kind, DATA)
    assert query.value == pytest.approx(by_definition(kind, DATA.matrix.T), abs=1e-12)
    gaps = table([record(30, None, 1, None), record(40, 1, 2, 0), record(40, 1, 2, None)])
    assert ask(kind, gaps).value == pytest.approx(by_definition(kind, gaps.matrix.T), abs=1e-12)


def test_names_are_those_of_the_levels_and_counts_are_whole_on_every_scale():
    assert ask("counts", DATA).row_names == ("eye=blue", "eye=brown", "eye=green")
    assert ask("counts", DATA).value.ravel().tolist() == [1.0, 1.0, 3.0]
    crossed = ask("cross_table", DATA)
    assert (crossed.row_names, crossed.col_names) == (("sex=f", "sex=m"), ("eye=blue", "eye=brown", "eye=green"))
    for scale in ("declared", "symmetric", "unit"):
        setup = mv.build(Scenario.for_dataset(DATA, query="cross_table", scale=scale), DATA)
        assert setup.query.value.tolist() == [[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]
    means = ask("group_means", DATA)
    assert (means.row_names, means.col_names) == (("age", "score", "count"), ("sex=f", "sex=m"))
    assert mv.cross_table(DATA, ("eye", "sex")).value == pytest.approx(crossed.value.T)


@pytest.mark.parametrize("noise", ["equal", "rows", "along", "turned"])
@pytest.mark.parametrize("per_person", [1, 2])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_worst_neighbours_are_those_of_a_search_over_all(kind, rule, per_person, noise):
    rng = np.random.default_rng(KINDS.index(kind))
    query = ask(kind, replace(DATA, per_person=per_person), rule)
    for _ in range(4):
        rows, cols = sides(query, noise, rng)
        claimed, exact, _ = query.neighbours.worst(rows, cols)
        found = furthest(kind, rule, per_person, rows, cols)
        assert found <= claimed * (1 + 1e-9)
        attained = worst_pair(query, rows, cols).attained
        assert attained <= 1
        if exact:
            assert found == pytest.approx(claimed)
            assert attained == pytest.approx(1)
        assert exact or noise == "turned"
    unit = NoiseSide.identity(query.rows), NoiseSide.identity(query.cols)
    assert query.sensitivity == pytest.approx(furthest(kind, rule, per_person, *unit))


@pytest.mark.parametrize("seed", range(3))
def test_a_priority_count_may_take_half_of_the_precision_and_the_sums_are_as_precise_as_before(seed):
    data = table(np.random.default_rng(seed).permutation(every_record()))
    equal = mv.build(Scenario.for_dataset(data, query="group_means"), data).design
    ours = mv.build(Scenario.for_dataset(data, query="group_means", allocation="binary", priority_directions=["count"],
                                         share=0.5), data).design
    assert ours.noise_std()[:2] == pytest.approx(equal.noise_std()[:2])
    assert ours.noise_std()[2] == pytest.approx(equal.noise_std()[2] / math.sqrt(2))  # two features


def test_what_directional_noise_gains_on_counts_is_what_is_said():
    equal, one, two = (mv.build(Scenario.for_dataset(DATA, query="counts", category=["eye"], **split), DATA).design
                       for split in ({}, {"allocation": "binary", "priority_directions": ["eye=blue"], "share": 0.99},
                                     {"allocation": "binary", "priority_directions": ["eye=blue", "eye=green"],
                                      "share": 0.9}))
    assert one.noise_std()[0, 0] == pytest.approx(equal.noise_std()[0, 0] / math.sqrt(2), rel=0.01)
    assert one.noise_std()[0, 0] > equal.noise_std()[0, 0] / math.sqrt(2)
    assert two.noise_std()[[0, 2]] == pytest.approx(equal.noise_std()[[0, 2]])
    added = Scenario.for_dataset(DATA, query="counts", category=["eye"], neighbours="add-remove")
    priorities = added.on(DATA, allocation="binary", priority_directions=["eye=blue"], share=0.99)
    designs = [mv.build(each, DATA).design.noise_std() for each in (added, priorities)]
    assert designs[1][0] == pytest.approx(designs[0][0])
    assert (designs[1] >= designs[0] * (1 - 1e-9)).all()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", KINDS)
def test_other_norms_hold_too(kind, rule):
    for per_person in (1, 3):
        query = ask(kind, replace(DATA, per_person=per_person), rule)
        answers = [per_person * by_definition(kind, [x]) for x in every_record()]
        moved = [np.abs(x - y).sum() for x in answers for y in ([0] if rule == "add-remove" else answers)]
        assert max(moved) == pytest.approx(query.absolute_sum())
    most = np.outer(*query.largest_entries(None))
    for x in every_record():
        answer = by_definition(kind, [x] * DATA.n_records)
        assert (np.abs(answer) <= most * (1 + 1e-12)).all()
        assert np.linalg.norm(answer) <= query.gamma * (1 + 1e-12)


def test_many_cells_have_a_bound(monkeypatch):
    rng = np.random.default_rng(1)
    body = ReplacedCell(rows=4, cols=3)
    rows, cols = (NoiseSide.of(random_rotation(size, rng=rng), rng.uniform(0.2, 3, size)) for size in (4, 3))
    tried = body.worst(rows, cols)
    monkeypatch.setattr("mvgviz.query.counts._MOST_CELLS", 0)
    bound = body.worst(rows, cols)
    assert not bound.exact
    assert tried.mu <= bound.mu


def test_a_level_that_was_left_out_is_a_place_to_go(rng):
    """Of the levels that were kept a record may then have none, and no noise may rest on it having one."""
    data = DATA.only([4, 5])
    rows = NoiseSide.of(random_rotation(2, rng=rng), np.array([1e-3, 10.0]))
    cells = np.eye(2)
    longest = max(np.linalg.norm(rows.whitener() @ change) for change in (cells[0], cells[1], cells[0] - cells[1]))
    assert mv.counts(data).neighbours.worst(rows, NoiseSide.identity(1)).mu >= longest * (1 - 1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_guess_is_that_of_records_spread_evenly(kind, rng):
    n, query = DATA.n_records, ask(kind, DATA)
    drawn = [by_definition(kind, [record(rng.uniform(20, 80), rng.integers(2), rng.uniform(-1, 3), rng.integers(3))
                                  for _ in range(n)]) for _ in range(6_000)]
    answers, guess = np.array(drawn), query.guess(DATA)
    assert guess.answer == pytest.approx(answers.mean(axis=0), abs=2.5)
    assert guess.spread(None) == pytest.approx(answers.var(axis=0).sum(), rel=0.06)
    mixed = np.arange(1.0, 1 + query.rows**2).reshape(query.rows, query.rows) if kind != "group_means" else (
        np.diag([1.0, 5.0, 9.0]))
    assert guess.spread(Weighing(rows=mixed, both=False)) == pytest.approx(
        (mixed @ answers).var(axis=0).sum(), rel=0.06)


@pytest.mark.parametrize("kind", KINDS)
def test_an_attack_finds_what_is_claimed_and_no_more(kind):
    query = ask(kind, replace(DATA, per_person=2))
    design = mv.design_noise(query, epsilon=3, delta=1e-5)
    loss = pair_loss(query, design)
    assert loss.mu == pytest.approx(design.mu)
    scores = simulate_scores(loss, trials=8_000, rng=np.random.default_rng(3))
    assert 0.5 < judge(loss, scores, delta=1e-5).epsilon_lower < 3
    assert judge(loss, scores, delta=1e-5, noise_factor=1 / 3).epsilon_lower > 3


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_without_categories_is_not_offered_and_refused_in_a_sentence(kind):
    assert QUERIES[kind].fits(DATA)
    data = DATA.only([0, 3])
    assert not QUERIES[kind].fits(data)
    with pytest.raises(InputError, match="the table has none: declare the levels"):
        mv.build(Scenario.for_dataset(data, query=kind), data)
    with pytest.raises(InputError, match="choose no clipping bound"):
        mv.build(Scenario.for_dataset(DATA, query=kind, bound="even"), DATA)
    with pytest.raises(InputError, match="choose no clipping bound"):
        QUERIES[kind].ask(DATA, bound=RecordBound(radius=1.0))


def test_what_does_not_fit_is_refused_by_name():
    assert not QUERIES["cross_table"].fits(DATA.only([0, 1, 2]))
    with pytest.raises(InputError, match="needs two categories, and the table has 1"):
        mv.cross_table(DATA.only([0, 1, 2]))
    with pytest.raises(InputError, match="category must be one of sex, eye, got 'hair'"):
        mv.counts(DATA, "hair")
    with pytest.raises(InputError, match="category must be a position below 2, got 2"):
        Scenario.for_dataset(DATA, query="counts", category=[2])
    with pytest.raises(InputError, match="no levels"):
        mv.group_means(DATA, "sex", ["eye=blue"])
    assert not QUERIES["group_means"].fits(DATA.only([1, 2]))
    hand = Dataset(matrix=np.eye(2), features=("f", "m"), lower=0, upper=1, levels=[(0, 1)])
    assert mv.counts(hand, "category 1").row_names == ("f", "m")


def test_only_what_is_used_taints_the_answer():
    read = tuple(Origin.READ if name.startswith("eye") else Origin.DECLARED for name in NAMES)
    data = replace(DATA, range_origins=read)
    assert mv.counts(data, "sex").ranges_origin is Origin.DECLARED
    assert mv.cross_table(data).ranges_origin is Origin.READ
    crossed = mv.build(Scenario.for_dataset(data, query="cross_table"), data)
    assert "ranges" in mv.release_setup(crossed, ledger=None, accept=("ranges",)).caveats
