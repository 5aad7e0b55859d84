"""What was learned from the data carries a receipt: a release counts every one, and refuses what has none."""

import json
import math
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mvgviz import (
    Dataset,
    Directions,
    Ledger,
    Origin,
    Range,
    RecordBound,
    Scenario,
    Session,
    Study,
    binary,
    covariance,
    custom,
    design_noise,
    eigenvectors,
    from_matrix,
    gaussian_mu,
    identity,
    manual,
    max_pnr,
    mean,
    moments,
    private_eigenvectors,
    private_radius,
    private_spreads,
    uniform,
)
from mvgviz.errors import InputError
from mvgviz.provenance import receipts_of
from mvgviz.release.release import plan, release, release_setup, release_together
from mvgviz.release.secure_noise import noisy_count, private_directions
from mvgviz.scenario.resolve import build
from mvgviz.scenario.source import DataSource
from tests.datasets import make_dataset

DATA = make_dataset(3, 400)
SEEDED = private_eigenvectors(DATA, mu=0.1, rng=np.random.default_rng(0))
READ = eigenvectors(covariance(DATA))
BUDGET = {"epsilon": 1.0, "delta": 1e-6}
WHOLE = float(gaussian_mu(1.0, 1e-6))
UPLOAD = Scenario(data="upload-000000000000", query="mean", scale="declared", directions="upload", delta=1e-6,
                  allocation="uniform")


def released(query, **choices):
    return release(query, design_noise(query, **BUDGET, **choices), accept=("bound", "directions", "split"))


# Noise from a seed


@pytest.mark.parametrize("bound", ["none", "even", "private"])
@pytest.mark.parametrize("draw", [release_setup, lambda setup: release_together([setup])])
def test_directions_from_a_seed_are_refused_on_every_way_to_a_release(draw, bound):
    setup, ledger = build(UPLOAD.changed(bound=bound), DATA, uploaded=SEEDED), Ledger()
    with pytest.raises(InputError, match="drawn from a seed, for looking"):
        draw(setup)
    assert ledger.entries == ()


def test_a_session_refuses_them_too():
    with Session(DATA, budget=(1.0, 1e-6), population="people", ledger=Ledger()) as session:
        asked = mean(DATA)
        with pytest.raises(InputError, match="drawn from a seed, for looking"):
            session.release(asked, session.design(asked, directions=SEEDED, cover_directions=True))
        assert session.spent.mu == 0


SEEDED_BOUNDS = {
    "directions": lambda: RecordBound(radius=1.0, directions=SEEDED),
    "radius": lambda: private_radius(DATA, 0.5, mu=0.1, rng=np.random.default_rng(0)),
    "a function that is not the system's": lambda: private_radius(DATA, 0.5, mu=0.1, rng=lambda value, std: value),
    "spreads": lambda: RecordBound.from_shares(DATA, uniform(3), spreads=private_spreads(
        DATA, mu=0.1, rng=np.random.default_rng(0))),
    "weights made of spreads": lambda: RecordBound(radius=1.0, weights=1 / private_spreads(
        DATA, mu=0.1, rng=np.random.default_rng(0)) ** 2),
}


@pytest.mark.parametrize("name", SEEDED_BOUNDS)
@pytest.mark.parametrize("ask", [
    lambda bound: released(mean(DATA, bound=bound), directions=from_matrix(np.eye(3))),
    lambda bound: released(mean(DATA, bound=bound), theta=uniform(3)),
    lambda bound: released(covariance(DATA, bound=bound)),
    lambda bound: released(moments(DATA, bound=bound).query),
], ids=["own directions", "own shares", "the bound's shape", "moments"])
def test_a_bound_learned_from_a_seed_is_refused_whatever_noise_it_has(ask, name):
    with pytest.raises(InputError, match="from a seed"):
        ask(SEEDED_BOUNDS[name]())


def test_shares_made_of_private_spreads_are_refused():
    spreads = private_spreads(DATA, mu=0.1, rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="from a seed"):
        released(mean(DATA), theta=spreads / spreads.sum())


SPREADS = private_spreads(DATA, mu=0.1, rng=np.random.default_rng(0))


@pytest.mark.parametrize("use", [
    lambda: manual(SPREADS),
    lambda: max_pnr(SPREADS**2, budget=1.0),
    lambda: binary(3, favoured=[0, 1], share=0.7, importance=SPREADS[:2]),
    lambda: RecordBound(radius=SPREADS.max()),
    lambda: RecordBound(radius=np.linalg.norm(SPREADS)),
    lambda: RecordBound.from_shares(DATA, uniform(3), centre=list(SPREADS)),
    lambda: replace(DATA, lower=-3 * SPREADS, upper=3 * SPREADS),
    lambda: replace(DATA, matrix=DATA.matrix / SPREADS[:, None]),
    lambda: Dataset.from_frame(pd.DataFrame({"a": [1.0, 2.0]}), ranges={"a": (0, SPREADS[0])}),
    lambda: from_matrix(np.linalg.qr(np.outer(SPREADS, SPREADS) + np.eye(3))[0]),
    lambda: moments(DATA, bound=RecordBound(radius=1.0), constant=SPREADS.sum()),
    lambda: from_matrix(SEEDED),
])
def test_what_was_learned_is_refused_where_its_receipts_are_not_counted(use):
    with pytest.raises(InputError, match="learned from the data"):
        use()


@pytest.mark.parametrize("theta", [
    lambda: np.concatenate([SPREADS[:1], SPREADS[1:]]) / SPREADS.sum(),
    lambda: np.array([0.2, 0.3, 0.5]) ** (0 * SPREADS + 1),
    lambda: np.where([True, False, True], SPREADS, 0.1) / np.where([True, False, True], SPREADS, 0.1).sum(),
])
def test_what_numpy_makes_of_private_spreads_is_refused(theta):
    with pytest.raises(InputError, match="from a seed"):
        released(mean(DATA), theta=theta())


def test_numbers_that_lost_their_receipts_are_refused():
    again = pickle.loads(pickle.dumps(SPREADS))
    with pytest.raises(InputError, match="lost their receipts"):
        released(mean(DATA), theta=again / again.sum())


def test_a_product_has_the_receipts_of_both_factors():
    other = private_spreads(DATA, mu=0.2, rng=np.random.default_rng(1))
    assert receipts_of(SPREADS * other) == (*SPREADS.receipts, *other.receipts)


def test_directions_with_a_receipt_are_paid_for_whatever_is_said():
    fresh = private_directions(DATA, mu=0.5)
    assert released(mean(DATA), directions=replace(fresh, origin=Origin.DECLARED)).origins["directions"] is Origin.PAID


# Directions of a bound


@pytest.mark.parametrize("ask", [
    lambda bound: (mean(DATA, bound=bound), {"directions": from_matrix(np.eye(3))}),
    lambda bound: (mean(DATA, bound=bound), {"theta": uniform(3)}),
    lambda bound: (covariance(DATA, bound=bound), {"theta": uniform(3)}),
    lambda bound: (moments(DATA, bound=bound).query, {}),
])
def test_directions_of_a_bound_have_their_origin_and_their_cost(ask):
    query, choices = ask(RecordBound(radius=1.0, directions=READ))
    with pytest.raises(InputError, match="to release all the same, accept: bound"):
        release(query, design_noise(query, **BUDGET, **choices))
    assert release(query, design_noise(query, **BUDGET, **choices), accept=["bound"]).origins["bound"] is Origin.READ
    query, choices = ask(RecordBound(radius=1.0, directions=private_directions(DATA, mu=2.0)))
    given = release(query, design_noise(query, **BUDGET, **choices))
    assert given.mu == pytest.approx(math.hypot(WHOLE, 2.0))
    assert given.origins["bound"] is Origin.PAID


def test_the_same_directions_of_bound_and_noise_are_paid_for_once():
    along = private_directions(DATA, mu=0.1)
    query = mean(DATA, bound=RecordBound(radius=1.0, directions=along))
    for choices in ({}, {"directions": along, "theta": uniform(3)}):
        assert released(query, **choices).mu == pytest.approx(math.hypot(WHOLE, 0.1))
        for covered in ({"cover_bound": True}, {"cover_bound": True, "cover_directions": True}):
            assert released(query, **choices, **covered).mu == pytest.approx(WHOLE)


def test_different_directions_of_bound_and_noise_are_both_paid_for():
    query = mean(DATA, bound=RecordBound(radius=1.0, directions=private_directions(DATA, mu=0.5)))
    assert released(query, directions=private_directions(DATA, mu=0.5)).mu == pytest.approx(
        math.hypot(WHOLE, 0.5, 0.5))


def test_a_bound_counts_beside_directions_that_were_read():
    bound = private_radius(DATA, 0.5, mu=0.5, rng=noisy_count)
    given = released(mean(DATA, bound=bound), directions=READ)
    assert given.mu == pytest.approx(math.hypot(WHOLE, 0.5))
    assert given.caveats == ("directions",)


def test_a_bound_counts_though_the_design_was_made_for_one_that_was_declared():
    learned = private_radius(DATA, 0.5, mu=0.5, rng=noisy_count)
    declared = RecordBound(radius=learned.radius, weights=learned.weights)
    design = design_noise(mean(DATA, bound=declared), **BUDGET)
    assert release(mean(DATA, bound=learned), design).mu == pytest.approx(math.hypot(WHOLE, 0.5))


def test_a_design_without_its_receipts_is_counted_all_the_same():
    query = mean(DATA)
    design = design_noise(query, **BUDGET, directions=private_directions(DATA, mu=0.5))
    assert release(query, replace(design, receipts=())).mu == pytest.approx(math.hypot(WHOLE, 0.5))


@pytest.mark.parametrize("draw", [release_setup, lambda setup: release_together([setup])[0]])
def test_a_scenario_counts_directions_that_were_learned_afresh(draw):
    setup = build(UPLOAD, DATA, uploaded=private_directions(DATA, mu=0.5))
    given = draw(setup)
    assert given.mu == pytest.approx(math.hypot(WHOLE, 0.5)) == pytest.approx(plan(setup).mu)


# Paid for, and no receipt


@pytest.mark.parametrize("claim", [
    lambda: Directions(size=3, origin=Origin.PAID),
    lambda: from_matrix(np.eye(3), origin=Origin.PAID),
    lambda: RecordBound(radius=1.0, origin=Origin.PAID),
    lambda: replace(DATA, range_origins=Origin.PAID),
    lambda: replace(DATA, records_origin=Origin.PAID),
    lambda: Dataset.from_frame(pd.DataFrame({"a": [1.0, 2.0]}), ranges={"a": Range(0, 9, Origin.PAID)}),
    lambda: design_noise(mean(DATA), **BUDGET, theta=uniform(3), theta_origin=Origin.PAID),
    lambda: released(mean(DATA)) and release(mean(DATA), design_noise(mean(DATA), **BUDGET), ranges={
        name: Range(-1, 1, Origin.PAID) for name in DATA.features}),
    lambda: DataSource(name="a.csv", ranges={"a": Range(0, 9, Origin.PAID)}),
    lambda: DataSource(name="a.csv", directions_origin=Origin.PAID),
])
def test_paid_for_without_a_receipt_is_refused(claim):
    with pytest.raises(InputError, match='"paid for" needs a receipt'):
        claim()


@pytest.mark.parametrize("said", [{"ranges": {"a": [0, 9, "paid for"]}}, {"directions_origin": "paid for"},
                                  {"ranges": {"a": ["2020-01-01", "2021-01-01", "paid for"]}}])
def test_a_study_cannot_claim_it_either(said):
    study = Study(scenario=Scenario(data="upload-000000000000"), source=DataSource(name="a.csv"))
    text = json.loads(study.to_json())
    text["data"] |= said
    with pytest.raises(InputError, match='"paid for" needs a receipt'):
        Study.from_json(json.dumps(text))


def test_a_receipt_does_not_pass_to_other_values():
    fresh = private_directions(DATA, mu=0.1)
    for change in (lambda: replace(fresh, rotated=READ.matrix), lambda: replace(fresh, eigenvalues=READ.eigenvalues),
                   lambda: replace(READ, origin=Origin.PAID, receipts=fresh.receipts)):
        with pytest.raises(InputError, match="receipt belongs to other directions"):
            change()


def test_a_receipt_that_was_changed_is_worth_nothing():
    fresh = private_directions(DATA, mu=0.5)
    cheaper = replace(fresh, receipts=(replace(fresh.receipts[0], mu=1e-6),))
    with pytest.raises(InputError, match="from a seed"):
        released(mean(DATA), directions=cheaper)


# Which data it was learned from


@pytest.mark.parametrize(("learn", "said"), [
    (lambda: make_dataset(3, 300), "another number of records"),
    (lambda: replace(DATA, per_person=2), "other neighbours")])
def test_a_receipt_holds_for_its_own_data(learn, said):
    along = private_directions(learn(), mu=0.5)
    with pytest.raises(InputError, match=said):
        released(mean(DATA), directions=along)


def test_ranges_that_directions_were_learned_with_are_told():
    read = replace(DATA, range_origins=Origin.READ)
    along = private_directions(read, mu=0.5)
    design = design_noise(identity(DATA), **BUDGET, directions=along)
    with pytest.raises(InputError, match="accept: ranges"):
        release(identity(DATA), design)


def test_what_was_learned_for_replaced_records_is_not_for_added_ones():
    asked = mean(DATA, bound=private_radius(DATA, 0.5, mu=0.5, rng=noisy_count), neighbours="add-remove")
    with pytest.raises(InputError, match="replaced records"):
        design_noise(asked, **BUDGET)


def test_a_caller_s_own_answer_may_use_what_was_learned():
    asked = custom(np.ones((3, 1)), sensitivity=0.1, gamma=2)
    assert released(asked, directions=private_directions(DATA, mu=0.5)).mu == pytest.approx(math.hypot(WHOLE, 0.5))
