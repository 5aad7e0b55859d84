"""Intervals of released numbers: against every covariance written out, against what the sampler draws, in the files."""

import csv
import dataclasses
import io
import json
import math

import numpy as np
import pytest
from scipy import stats

import mvgviz as mv
from mvgviz.data import sample
from mvgviz.query.queries import QUERIES
from mvgviz.release import files
from mvgviz.release.files import to_csv, to_intervals_csv, to_metadata_json
from mvgviz.release.intervals import EntryNoise, data_units, planned_noise
from mvgviz.release.release import release, release_setup
from mvgviz.release.secure_noise import hardening_for, noisy_answer
from mvgviz.scenario.resolve import build
from tests.datasets import make_dataset

TURN = mv.random_rotation(3, rng=np.random.default_rng(4))
THETA = mv.manual([1, 2, 7])
BUDGET = {"epsilon": 1, "delta": 1e-5}
SYMMETRIC = mv.covariance(make_dataset(3, 40))
DESIGNS = {
    f"{mode}{', turned' * turned}": mv.design_noise(SYMMETRIC, mode=mode, theta=THETA, **BUDGET,
                                                    **({"directions": TURN} if turned else {}))
    for mode in ("both", "rows", "columns") for turned in (False, True)}


def averaged(design):
    """The covariance of ``(Z + Zᵀ)/2`` from that of all nine entries."""
    whole = np.kron(design.row_covariance(), design.col_covariance())  # row by row
    turn = np.zeros((9, 9))
    for i in range(3):
        for j in range(3):
            turn[3 * i + j, 3 * i + j] += 0.5
            turn[3 * i + j, 3 * j + i] += 0.5
    return turn @ whole @ turn.T


def parsed(text):
    return list(csv.reader(io.StringIO(text)))


@pytest.mark.parametrize("name", DESIGNS)
def test_the_standard_deviation_is_that_of_the_written_out_covariance(name):
    design = DESIGNS[name]
    plain = EntryNoise.of(design.row_side, design.col_side)
    np.testing.assert_allclose(plain.half_widths() / plain.per_std(), design.noise_std(), rtol=1e-12)
    noise = EntryNoise.of(design.row_side, design.col_side, symmetrised=True)
    wanted = np.sqrt(np.diag(averaged(design))).reshape(3, 3)
    np.testing.assert_allclose(noise.half_widths() / noise.per_std(), wanted, rtol=1e-12)
    np.testing.assert_allclose(noise.largest_std(), wanted.max(axis=1), rtol=1e-12)
    np.testing.assert_allclose(plain.largest_std(), design.noise_std().max(axis=1), rtol=1e-12)
    np.testing.assert_allclose(noise.rows * noise.cols, np.diag(wanted), rtol=1e-12)


def test_turned_noise_averages_out_less_than_unturned():
    v, design = DESIGNS["both"].row_side.covariance_diagonal(), DESIGNS["both, turned"]
    unturned = EntryNoise.of(DESIGNS["both"].row_side, DESIGNS["both"].col_side, symmetrised=True)
    assert unturned.std[0, 1] == pytest.approx(math.sqrt(v[0] * v[1] / 2), rel=1e-12)
    turned = EntryNoise.of(design.row_side, design.col_side, symmetrised=True)
    v = design.row_side.covariance_diagonal()
    assert turned.std[0, 1] > 1.01 * math.sqrt(v[0] * v[1] / 2)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "symmetrised"), [("both", True), ("both, turned", True), ("rows, turned", False)])
def test_of_many_releases_95_in_a_hundred_lie_within_it(name, symmetrised):
    """The sampler that releases; no entry leaves a band that chance leaves once in a million."""
    design, draws = DESIGNS[name], 2_000
    plan = hardening_for(SYMMETRIC, design.row_side, design.col_side, design.mu, np.ones(3))
    noise = EntryNoise.of(design.row_side, design.col_side, symmetrised=symmetrised, hardening=plan)
    found = np.array([noisy_answer(SYMMETRIC.value, design.row_side, design.col_side, plan)
                      for _ in range(draws)])
    found = (found + found.transpose(0, 2, 1)) / 2 if symmetrised else found
    inside = (np.abs(found - SYMMETRIC.value) <= noise.half_widths()).sum(axis=0)
    chance = 1e-6 / inside.size
    low, high = stats.binom.ppf([chance / 2, 1 - chance / 2], draws, 0.95)
    assert low > 0.91 * draws  # narrow enough to see a factor sqrt 2
    assert high < 0.98 * draws
    assert ((inside >= low) & (inside <= high)).all()


def test_rounding_is_paid_for_and_next_to_nothing():
    query = mv.covariance(make_dataset(3, 40, lower=1e4, upper=1e4 + 1))
    design = mv.design_noise(query, **BUDGET)
    given = release(query, design)
    noise, how = given.entry_noise, given.hardening
    assert noise.rounding >= how.sensitivity - how.mu + 2 * math.sqrt(9) * 2.0**how.exponent
    assert stats.norm.ppf(0.975) < noise.per_std() < stats.norm.ppf(0.975) + 0.11 * how.mu
    assert (given.half_widths() > design.noise_std() * how.noise_std * stats.norm.ppf(0.975)).all()
    assert (given.half_widths(0.5) < given.half_widths()).all()
    with pytest.raises(mv.InputError, match="level must lie strictly between 0 and 1, got 95"):
        given.half_widths(95)


def test_widths_are_the_same_for_neighbours_and_know_no_answer():
    data = make_dataset(3, 40)
    moved = data.matrix.copy()
    moved[:, 7] = -moved[:, 7]
    other = mv.Dataset(matrix=moved, features=data.features, lower=-1, upper=1)
    first, second = (release(query, mv.design_noise(query, theta=THETA, **BUDGET)).half_widths()
                     for query in map(mv.mean, (data, other)))
    assert np.array_equal(first, second)


def test_a_shape_read_from_the_data_has_no_intervals():
    design = mv.design_noise(SYMMETRIC, directions=mv.eigenvectors(SYMMETRIC), theta=THETA, **BUDGET)
    given = release(SYMMETRIC, design, accept=["directions"])
    assert given.entry_noise is None
    assert json.loads(to_metadata_json(given))["intervals"] is None
    for ask in (given.half_widths, lambda: to_intervals_csv(given)):
        with pytest.raises(mv.InputError, match="this release has no intervals: the shape of its noise was read from"):
            ask()


@pytest.mark.parametrize(("scale", "ends"), [("symmetric", (-1, 1)), ("unit", (0, 1))])
def test_data_units_undo_the_mapping_of_the_ranges(scale, ends):
    data = make_dataset(3, 40, lower=[0, -5, 900], upper=[1e-3, 5, 1000])
    units = data_units(QUERIES["identity"], scale, data.ranges)
    np.testing.assert_allclose(units.of(data.normalised(to=ends).matrix), data.matrix, rtol=1e-12, atol=1e-12)
    factor, moved = data.widths / (ends[1] - ends[0]), data.normalised(to=ends).matrix
    back = data_units(QUERIES["covariance"], scale, data.ranges).of(moved @ moved.T)
    about = data.matrix - (data.lower - ends[0] * factor)[:, None]  # what was mapped onto 0
    np.testing.assert_allclose(back, about @ about.T, rtol=1e-9, atol=1e-12)
    joined = data_units(QUERIES["moments"], scale, data.ranges)
    np.testing.assert_allclose(joined.widths(np.ones((4, 4)))[-1], [*factor, 1.0])
    assert data_units(QUERIES["mean"], "declared", data.ranges) is None


def test_the_second_file_has_a_line_for_each_number_in_the_data_s_units():
    data = sample("liver")
    given = release_setup(build(mv.Scenario.default_for("liver").changed(query="mean", task="reconstruction"), data))
    head, *lines = parsed(to_intervals_csv(given))
    assert head == ["feature", "column", "value", "lower 0.95", "upper 0.95"]
    assert [line[:2] for line in lines] == [[name, "mean"] for name in data.features]
    numbers = np.array([[float(cell) for cell in line[2:]] for line in lines])
    middle = (data.lower + data.upper) / 2
    np.testing.assert_allclose(numbers[:, 0], middle + given.noisy[:, 0] * data.widths / 2, rtol=1e-12)
    np.testing.assert_allclose(numbers[:, 2] - numbers[:, 1],
                               data.widths * given.half_widths()[:, 0], rtol=1e-9)  # [-1, 1] is two wide


def test_the_second_file_agrees_with_the_first():
    given = release(SYMMETRIC, DESIGNS["both, turned"], symmetrise=True)
    first, (head, *lines) = parsed(to_csv(given)), parsed(to_intervals_csv(given, level=0.5))
    assert head == ["feature", "column", "value", "lower 0.5", "upper 0.5"]
    assert {(line[0], line[1]): line[2] for line in lines} == {
        (row[0], name): cell for row in first[1:] for name, cell in zip(first[0][1:], row[1:], strict=True)}


def test_a_large_table_has_one_line_a_feature(monkeypatch):
    monkeypatch.setattr(files, "MOST_INTERVALS", 100)
    data = mv.Dataset(matrix=np.zeros((3, 40)), features=["=1", "b", "c"], lower=-1, upper=1)
    query = mv.identity(data)
    given = release(query, mv.design_noise(query, theta=THETA, **BUDGET))
    head, *lines = parsed(to_intervals_csv(given))
    assert head == ["feature", "half width 0.95"]
    assert [line[0] for line in lines] == ["'=1", "b", "c"]
    assert [float(line[1]) for line in lines] == given.half_widths()[:, 0].tolist()


def from_json(text, noisy):
    """Half widths from the certificate alone."""
    content = json.loads(text)
    known, (rows, cols) = content["intervals"], noisy.shape
    r, c = np.broadcast_to(known["std_rows"], rows), np.broadcast_to(known["std_cols"], cols)
    std = np.outer(r, c)
    if content["noise"]["symmetrised"]:
        shared = 0
        if "R[i][j]" in known["std_of_entry"]:
            w, v = (np.array(content["noise"]["rows"][key]) for key in ("directions", "variances"))
            shared = ((w * v) @ w.T) ** 2
        both = np.sqrt(std**2 + std.T**2 + 2 * shared) / 2
        std = np.where(np.eye(rows, dtype=bool), std, both)
    return known["half_width_in_std"] * std


@pytest.mark.parametrize("symmetrise", [False, True])
@pytest.mark.parametrize("name", DESIGNS)
def test_the_certificate_tells_every_width_from_rows_and_columns(name, symmetrise):
    given = release(SYMMETRIC, DESIGNS[name], symmetrise=symmetrise)
    np.testing.assert_allclose(from_json(to_metadata_json(given), given.noisy), given.half_widths(), rtol=1e-6)


def test_the_certificate_of_a_long_table_does_not_repeat_a_number():
    query = mv.identity(make_dataset(3, 5_000))
    text = to_metadata_json(release(query, mv.design_noise(query, theta=THETA, **BUDGET)))
    known = json.loads(text)["intervals"]
    assert known["std_cols"] == 1
    assert len(known["std_rows"]) == 3
    assert len(text) < 5_000


FILLED = dataclasses.replace(make_dataset(3, 40), gaps="middle")


@pytest.mark.parametrize(("query", "said"), [
    (SYMMETRIC, "records clipped to their ranges; it covers neither the clipping nor how the records were sampled"),
    (mv.mean(FILLED), "neither the clipping, the filled gaps nor how"),
    (mv.laplacian([[0, 1], [1, 0]]), "noise alone"),
    (mv.custom([[1.0]], sensitivity=1, gamma=2), "noise alone"),
    (mv.mean(make_dataset(3, 40), bound=mv.RecordBound(radius=1)), "to their ranges and their bound")])
def test_the_certificate_says_what_an_interval_covers(query, said):
    table = FILLED if "gaps" in said else None
    made = release(query, mv.design_noise(query, **BUDGET), table=table)
    words = json.loads(to_metadata_json(made))["intervals"]["words"]
    assert said in words
    assert "in 95 % of releases" in words
    assert "for each number alone" in words


def test_a_plan_has_the_widths_of_its_release():
    setup = build(mv.Scenario.default_for("liver"), sample("liver"))
    given = release_setup(setup, symmetrise=True)
    np.testing.assert_allclose(planned_noise(setup).half_widths(), given.half_widths(), rtol=1e-6)
