"""What was learned from the data carries a receipt: a release counts every one, and refuses what has none."""

import json
import math
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import mvgviz as mv
from mvgviz.errors import InputError
from mvgviz.provenance import receipts_of
from mvgviz.release.release import plan, release, release_setup, release_together
from mvgviz.release.secure_noise import noisy_count, private_directions
from mvgviz.scenario.resolve import build
from mvgviz.scenario.source import DataSource
from tests.datasets import make_dataset

DATA = make_dataset(3, 400)
SEEDED = mv.private_eigenvectors(DATA, mu=0.1, rng=np.random.default_rng(0))
READ = mv.eigenvectors(mv.covariance(DATA))
BUDGET = {"epsilon": 1.0, "delta": 1e-6}
WHOLE = float(mv.gaussian_mu(1.0, 1e-6))
UPLOAD = mv.Scenario(data="upload-000000000000", query="mean", scale="declared", directions="upload", delta=1e-6,
                     allocation="uniform")


def released(query, **choices):
    return release(query, mv.design_noise(query, **BUDGET, **choices), accept=("bound", "directions", "split"))


# Noise from a seed


@pytest.mark.parametrize("bound", ["none", "even", "private"])
@pytest.mark.parametrize("draw", [lambda setup, ledger: release_setup(setup, ledger=ledger),
                                  lambda setup, ledger: release_together([setup], ledger=ledger)])
def test_directions_from_a_seed_are_refused_on_every_way_to_a_release(draw, bound):
    setup, ledger = build(UPLOAD.changed(bound=bound), DATA, uploaded=SEEDED), mv.Ledger()
    with pytest.raises(InputError, match="drawn from a seed, only for trials"):
        draw(setup, ledger)
    assert ledger.entries == ()


def test_a_session_refuses_them_too():
    with mv.Session(DATA, budget=(1.0, 1e-6), population="people", ledger=mv.Ledger()) as session:
        asked = mv.mean(DATA)
        with pytest.raises(InputError, match="drawn from a seed, only for trials"):
            session.release(asked, session.design(asked, directions=SEEDED, cover_directions=True))
        assert session.spent.mu == 0


SEEDED_BOUNDS = {
    "directions": lambda: mv.RecordBound(radius=1.0, directions=SEEDED),
    "radius": lambda: mv.private_radius(DATA, 0.5, mu=0.1, rng=np.random.default_rng(0)),
    "a function that is not the system's": lambda: mv.private_radius(DATA, 0.5, mu=0.1, rng=lambda value, std: value),
    "spreads": lambda: mv.RecordBound.from_shares(DATA, mv.uniform(3), spreads=mv.private_spreads(
        DATA, mu=0.1, rng=np.random.default_rng(0))),
    "weights made of spreads": lambda: mv.RecordBound(radius=1.0, weights=1 / mv.private_spreads(
        DATA, mu=0.1, rng=np.random.default_rng(0)) ** 2),
}


@pytest.mark.parametrize("name", SEEDED_BOUNDS)
@pytest.mark.parametrize("ask", [
    lambda bound: released(mv.mean(DATA, bound=bound), directions=mv.from_matrix(np.eye(3))),
    lambda bound: released(mv.mean(DATA, bound=bound), theta=mv.uniform(3)),
    lambda bound: released(mv.covariance(DATA, bound=bound)),
    lambda bound: released(mv.moments(DATA, bound=bound).query),
], ids=["own directions", "own shares", "the bound's shape", "moments"])
def test_a_bound_learned_from_a_seed_is_refused_whatever_noise_it_has(ask, name):
    with pytest.raises(InputError, match="from a seed"):
        ask(SEEDED_BOUNDS[name]())


SPREADS = mv.private_spreads(DATA, mu=0.1, rng=np.random.default_rng(0))


@pytest.mark.parametrize("use", [
    lambda: mv.manual(SPREADS),
    lambda: mv.water_filling(SPREADS**2, budget=1.0),
    lambda: mv.binary(3, priority=[0, 1], share=0.7, importance=SPREADS[:2]),
    lambda: mv.RecordBound(radius=SPREADS.max()),
    lambda: mv.RecordBound(radius=np.linalg.norm(SPREADS)),
    lambda: mv.RecordBound.from_shares(DATA, mv.uniform(3), centre=list(SPREADS)),
    lambda: replace(DATA, lower=-3 * SPREADS, upper=3 * SPREADS),
    lambda: replace(DATA, matrix=DATA.matrix / SPREADS[:, None]),
    lambda: mv.Dataset.from_frame(pd.DataFrame({"a": [1.0, 2.0]}), ranges={"a": (0, SPREADS[0])}),
    lambda: mv.from_matrix(np.linalg.qr(np.outer(SPREADS, SPREADS) + np.eye(3))[0]),
    lambda: mv.moments(DATA, bound=mv.RecordBound(radius=1.0), constant=SPREADS.sum()),
    lambda: mv.from_matrix(SEEDED),
])
def test_what_was_learned_is_refused_where_its_receipts_are_not_counted(use):
    with pytest.raises(InputError, match="learned from the data"):
        use()


@pytest.mark.parametrize("theta", [
    lambda: SPREADS / SPREADS.sum(),
    lambda: np.concatenate([SPREADS[:1], SPREADS[1:]]) / SPREADS.sum(),
    lambda: np.array([0.2, 0.3, 0.5]) ** (0 * SPREADS + 1),
    lambda: mv.max_pnr(SPREADS**2, budget=1.0),
    lambda: mv.max_pnr(SEEDED.eigenvalues, budget=1.0),
    lambda: (SEEDED.eigenvalues + 1) / (SEEDED.eigenvalues + 1).sum(),
    lambda: np.where([True, False, True], SPREADS, 0.1) / np.where([True, False, True], SPREADS, 0.1).sum(),
])
def test_what_numpy_makes_of_private_spreads_is_refused(theta):
    with pytest.raises(InputError, match="from a seed"):
        released(mv.mean(DATA), theta=theta())


def test_numbers_that_lost_their_receipts_are_refused():
    again = pickle.loads(pickle.dumps(SPREADS))
    with pytest.raises(InputError, match="lost their receipts"):
        released(mv.mean(DATA), theta=again / again.sum())


def test_a_product_has_the_receipts_of_both_factors():
    other = mv.private_spreads(DATA, mu=0.2, rng=np.random.default_rng(1))
    assert receipts_of(SPREADS * other) == (*SPREADS.receipts, *other.receipts)


def test_a_product_has_the_receipts_of_both_factors_however_it_is_written():
    other = mv.private_spreads(DATA, mu=0.2, rng=np.random.default_rng(1))
    put = SPREADS.copy()
    put[:1] = other[0]
    for made in (SPREADS.dot(other), put):
        assert receipts_of(made) == (*SPREADS.receipts, *other.receipts)
    for made in (np.eye(3).dot(SPREADS), np.outer(SPREADS, np.ones(3)).trace()):
        assert receipts_of(made) == SPREADS.receipts


def test_shares_made_of_private_eigenvalues_cost_what_these_did():
    fresh = private_directions(DATA, mu=0.5)
    given = released(mv.mean(DATA), theta=mv.max_pnr(fresh.eigenvalues, budget=1.0))
    assert given.mu == pytest.approx(math.hypot(0.5, mv.design_noise(mv.mean(DATA), **BUDGET).mu))
    assert given.origins["split"] is mv.Origin.PAID
    along = mv.design_noise(mv.mean(DATA), **BUDGET, directions=fresh)
    assert mv.log_pnr(fresh.eigenvalues, along) > 0


def test_directions_with_a_receipt_are_paid_for_whatever_is_said():
    said = replace(private_directions(DATA, mu=0.5), origin=mv.Origin.DECLARED)
    assert released(mv.mean(DATA), directions=said).origins["directions"] is mv.Origin.PAID


# Directions of a bound


@pytest.mark.parametrize("ask", [
    lambda bound: (mv.mean(DATA, bound=bound), {"directions": mv.from_matrix(np.eye(3))}),
    lambda bound: (mv.mean(DATA, bound=bound), {"theta": mv.uniform(3)}),
    lambda bound: (mv.covariance(DATA, bound=bound), {"theta": mv.uniform(3)}),
    lambda bound: (mv.moments(DATA, bound=bound).query, {}),
])
def test_directions_of_a_bound_have_their_origin_and_their_cost(ask):
    query, choices = ask(mv.RecordBound(radius=1.0, directions=READ))
    design = mv.design_noise(query, **BUDGET, **choices)
    with pytest.raises(InputError, match="to release anyway, accept: bound"):
        release(query, design)
    assert release(query, design, accept=["bound"]).origins["bound"] is mv.Origin.READ
    query, choices = ask(mv.RecordBound(radius=1.0, directions=private_directions(DATA, mu=2.0)))
    given = release(query, mv.design_noise(query, **BUDGET, **choices))
    assert given.mu == pytest.approx(math.hypot(WHOLE, 2.0))
    assert given.origins["bound"] is mv.Origin.PAID


def test_the_same_directions_of_bound_and_noise_are_paid_for_once():
    along = private_directions(DATA, mu=0.1)
    query = mv.mean(DATA, bound=mv.RecordBound(radius=1.0, directions=along))
    for choices in ({}, {"directions": along, "theta": mv.uniform(3)}):
        assert released(query, **choices).mu == pytest.approx(math.hypot(WHOLE, 0.1))
        for covered in ({"cover_bound": True}, {"cover_bound": True, "cover_directions": True}):
            assert released(query, **choices, **covered).mu == pytest.approx(WHOLE)


def test_different_directions_of_bound_and_noise_are_both_paid_for():
    query = mv.mean(DATA, bound=mv.RecordBound(radius=1.0, directions=private_directions(DATA, mu=0.5)))
    assert released(query, directions=private_directions(DATA, mu=0.5)).mu == pytest.approx(
        math.hypot(WHOLE, 0.5, 0.5))


def test_a_bound_counts_beside_directions_that_were_read():
    bound = mv.private_radius(DATA, 0.5, mu=0.5, rng=noisy_count)
    given = released(mv.mean(DATA, bound=bound), directions=READ)
    assert given.mu == pytest.approx(math.hypot(WHOLE, 0.5))
    assert given.caveats == ("directions",)


def test_a_bound_counts_though_the_design_was_made_for_one_that_was_declared():
    learned = mv.private_radius(DATA, 0.5, mu=0.5, rng=noisy_count)
    declared = mv.RecordBound(radius=learned.radius, weights=learned.weights)
    design = mv.design_noise(mv.mean(DATA, bound=declared), **BUDGET)
    assert release(mv.mean(DATA, bound=learned), design).mu == pytest.approx(math.hypot(WHOLE, 0.5))


def test_a_design_without_its_receipts_is_counted_all_the_same():
    query = mv.mean(DATA)
    design = mv.design_noise(query, **BUDGET, directions=private_directions(DATA, mu=0.5))
    assert release(query, replace(design, receipts=())).mu == pytest.approx(math.hypot(WHOLE, 0.5))


@pytest.mark.parametrize("draw", [release_setup, lambda setup: release_together([setup])[0]])
def test_a_scenario_counts_directions_that_were_learned_afresh(draw):
    setup = build(UPLOAD, DATA, uploaded=private_directions(DATA, mu=0.5))
    given = draw(setup)
    assert given.mu == pytest.approx(math.hypot(WHOLE, 0.5)) == pytest.approx(plan(setup).mu)


# Paid for, and no receipt


@pytest.mark.parametrize("claim", [
    lambda: mv.Directions(size=3, origin=mv.Origin.PAID),
    lambda: mv.from_matrix(np.eye(3), origin=mv.Origin.PAID),
    lambda: mv.RecordBound(radius=1.0, origin=mv.Origin.PAID),
    lambda: replace(DATA, range_origins=mv.Origin.PAID),
    lambda: replace(DATA, records_origin=mv.Origin.PAID),
    lambda: replace(mv.mean(DATA), ranges_origin=mv.Origin.PAID),
    lambda: replace(mv.mean(DATA), records_origin=mv.Origin.PAID),
    lambda: mv.Dataset.from_frame(pd.DataFrame({"a": [1.0, 2.0]}), ranges={"a": mv.Range(0, 9, mv.Origin.PAID)}),
    lambda: mv.design_noise(mv.mean(DATA), **BUDGET, theta=mv.uniform(3), theta_origin=mv.Origin.PAID),
    lambda: released(mv.mean(DATA)) and release(mv.mean(DATA), mv.design_noise(mv.mean(DATA), **BUDGET), ranges={
        name: mv.Range(-1, 1, mv.Origin.PAID) for name in DATA.features}),
    lambda: DataSource(name="a.csv", ranges={"a": mv.Range(0, 9, mv.Origin.PAID)}),
    lambda: DataSource(name="a.csv", directions_origin=mv.Origin.PAID),
])
def test_paid_for_without_a_receipt_is_refused(claim):
    with pytest.raises(InputError, match='"paid for" needs a receipt'):
        claim()


@pytest.mark.parametrize("said", [{"ranges": {"a": [0, 9, "paid for"]}}, {"directions_origin": "paid for"},
                                  {"ranges": {"a": ["2020-01-01", "2021-01-01", "paid for"]}}])
def test_a_study_cannot_claim_it_either(said):
    study = mv.Study(scenario=mv.Scenario(data="upload-000000000000"), source=DataSource(name="a.csv"))
    text = json.loads(study.to_json())
    text["data"] |= said
    with pytest.raises(InputError, match='"paid for" needs a receipt'):
        mv.Study.from_json(json.dumps(text))


def test_a_receipt_does_not_pass_to_other_values():
    fresh = private_directions(DATA, mu=0.1)
    for change in (lambda: replace(fresh, rotated=READ.matrix), lambda: replace(fresh, eigenvalues=READ.eigenvalues),
                   lambda: replace(READ, origin=mv.Origin.PAID, receipts=fresh.receipts)):
        with pytest.raises(InputError, match="receipt belongs to other directions"):
            change()


def test_a_receipt_that_was_changed_is_worth_nothing():
    fresh = private_directions(DATA, mu=0.5)
    cheaper = replace(fresh, receipts=(replace(fresh.receipts[0], mu=1e-6),))
    with pytest.raises(InputError, match="from a seed"):
        released(mv.mean(DATA), directions=cheaper)


# Which data it was learned from


@pytest.mark.parametrize(("learn", "said"), [
    (lambda: make_dataset(3, 300), "another number of records"),
    (lambda: replace(DATA, per_person=2), "other neighbours")])
def test_a_receipt_holds_for_its_own_data(learn, said):
    along = private_directions(learn(), mu=0.5)
    with pytest.raises(InputError, match=said):
        released(mv.mean(DATA), directions=along)


def test_ranges_that_directions_were_learned_with_are_told():
    read = replace(DATA, range_origins=mv.Origin.READ)
    along = private_directions(read, mu=0.5)
    design = mv.design_noise(mv.identity(DATA), **BUDGET, directions=along)
    with pytest.raises(InputError, match="accept: ranges"):
        release(mv.identity(DATA), design)


@pytest.mark.parametrize("learned", [
    lambda: (mv.mean(DATA, bound=mv.private_radius(DATA, 0.5, mu=0.5, rng=noisy_count), neighbours="add-remove"), {}),
    lambda: (mv.covariance(DATA, neighbours="add-remove"), {"directions": SEEDED})])
def test_what_was_learned_for_replaced_records_is_not_for_added_ones(learned):
    asked, choices = learned()
    with pytest.raises(InputError, match="replaced records"):
        mv.design_noise(asked, **BUDGET, **choices)


def test_a_caller_s_own_answer_may_use_what_was_learned():
    asked = mv.custom(np.ones((3, 1)), sensitivity=0.1, gamma=2)
    assert released(asked, directions=private_directions(DATA, mu=0.5)).mu == pytest.approx(math.hypot(WHOLE, 0.5))
