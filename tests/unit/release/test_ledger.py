"""The ledger adds up what releases spent, exactly, and holds its cap."""

import csv
import io
import json
import math
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mvgviz import InputError, compose_mu, covariance, design_noise, gaussian_epsilon, gaussian_mu, identity, mean
from mvgviz.query.queries import joint_moments
from mvgviz.release.ledger import CAVEATS, MIXED_RULES, Ledger
from tests.datasets import make_dataset

RECORD, ADDED, EDGE = "one record replaced", "one record added or removed", "one edge added or removed"


def enter(ledger, mu, *, data="liver", rule=RECORD, delta=1e-5, caveats=(), query="mean"):
    return ledger.enter(time="2030-01-02T03:04:05+00:00", data=data, query=query, neighbour_rule=rule,
                        design="exact, noise over rows", mu=mu, delta=delta, caveats=caveats)


@given(mus=st.lists(st.floats(1e-6, 5), min_size=1, max_size=6), delta=st.floats(1e-9, 0.1))
@settings(max_examples=40, deadline=None)
def test_totals_are_the_exact_composition(mus, delta):
    ledger = Ledger()
    for i, mu in enumerate(mus):
        entry = enter(ledger, mu, delta=delta)
        assert entry.mu == mu
        assert entry.epsilon == gaussian_epsilon(delta, mu)
        assert entry.total_mu == compose_mu(mus[: i + 1])
        assert entry.total_epsilon == gaussian_epsilon(delta, compose_mu(mus[: i + 1]))
    total = ledger.total("liver", delta=delta)
    assert (total.mu, total.epsilon) == (entry.total_mu, entry.total_epsilon)
    assert total.not_covered == ()


def test_nothing_released_has_spent_nothing():
    total = Ledger().total("liver", delta=1e-5)
    assert (total.mu, total.epsilon, total.words) == (0, 0, "epsilon 0 at delta 1e-05")


def test_different_data_add_up_apart_and_everything_can_be_asked_for():
    ledger, mus = Ledger(), {"liver": 0.3, "heart": 0.4, "lung": 1.2, "eye": 8.4}
    for data, mu in mus.items():
        assert enter(ledger, mu, data=data).total_mu == mu
    assert {data: ledger.total(data, delta=1e-5).mu for data in mus} == mus
    assert ledger.total(delta=1e-5).mu == pytest.approx(8.5, rel=1e-9)  # by hand: 0.09 + 0.16 + 1.44 + 70.56 = 72.25


def test_the_cap_is_exactly_what_it_says():
    cap = (1.0, 1e-5)
    ledger, whole = Ledger(cap=cap), gaussian_mu(1.0, 1e-5)
    assert not ledger.would_exceed("liver", whole)
    assert ledger.would_exceed("liver", whole * (1 + 1e-9))
    for share in (0.36, 0.64):
        enter(ledger, whole * share**0.5)
    assert ledger.would_exceed("liver", whole * 1e-3)
    assert not ledger.would_exceed("karate", whole)
    before = ledger.entries
    with pytest.raises(InputError, match=(r"would exceed the cap: the releases of liver have spent epsilon 1 of 1 at "
                                          r"delta 10⁻⁵ and would reach 1.0\d*; ask for a smaller epsilon")):
        enter(ledger, whole / 3)
    assert ledger.entries == before
    ledger.set_cap(None)
    enter(ledger, whole / 3)
    assert not ledger.would_exceed("liver", 100.0)
    ledger.set_cap((1.0, 1e-5))  # below what is spent: nothing more
    assert ledger.would_exceed("liver", 1e-9)


def test_releases_at_another_delta_count_towards_the_cap():
    ledger = Ledger(cap=(1.0, 1e-6))
    enter(ledger, gaussian_mu(1.0, 1e-6) * 0.9, delta=1e-2)
    assert ledger.would_exceed("liver", gaussian_mu(1.0, 1e-6) * 0.5)


def test_what_is_not_covered_is_said_and_stays_said():
    ledger = Ledger()
    first = enter(ledger, 0.3, caveats=("directions",))
    assert first.not_covered == first.total_not_covered == ("directions read from the data",)
    second = enter(ledger, 0.4)
    assert second.not_covered == ()
    assert second.total_not_covered == ("directions read from the data",)
    enter(ledger, 0.1, caveats=("ranges",))
    total = ledger.total("liver", delta=1e-5)
    assert total.not_covered == (CAVEATS["ranges"], CAVEATS["directions"])
    assert total.words.endswith("; not covered: ranges read from the data, directions read from the data")
    assert ledger.total("karate", delta=1e-5).not_covered == ()


@pytest.mark.parametrize("query", [identity, mean, covariance, joint_moments])
@pytest.mark.parametrize("lower", [-1.0, [0.0, 0.9, -3.0]])
def test_replacing_a_record_costs_at_most_twice_what_removing_one_does(query, lower):
    data = make_dataset(3, 40, lower=lower)
    design = design_noise(query(data, neighbours="add-remove"), epsilon=1, delta=1e-5)
    replaced = query(data).neighbours.worst(design.row_side, design.col_side).mu
    assert replaced <= 2 * design.mu * (1 + 1e-9)


@pytest.mark.parametrize("rules", [(RECORD, ADDED), ("up to 3 records of one person replaced",
                                                     "up to 3 records of one person added or removed")])
def test_replaced_and_removed_records_are_counted_as_replaced(rules):
    replaced, added = rules
    ledger = Ledger()
    enter(ledger, 0.3, rule=added)
    assert enter(ledger, 0.4, rule=added).total_mu == pytest.approx(0.5)  # of one kind: as they are
    mixed = enter(ledger, 0.6, rule=replaced)
    assert mixed.total_mu == pytest.approx(math.hypot(0.6, 0.8, 0.6))
    assert mixed.total_not_covered == ()
    assert ledger.total("liver", delta=1e-5).mu == mixed.total_mu


@pytest.mark.parametrize("first", [RECORD, ADDED])
def test_a_cap_counts_a_removed_record_twice_beside_a_replaced_one(first):
    whole, other = gaussian_mu(1.0, 1e-5), ADDED if first == RECORD else RECORD
    ledger = Ledger(cap=(1.0, 1e-5))
    spends = {RECORD: 0.6 * whole, ADDED: 0.41 * whole}  # 0.36 + 4 * 0.1681 > 1
    enter(ledger, spends[first], rule=first)
    ledger.check("liver", spends[first], rule=first)
    assert ledger.would_exceed("liver", spends[other], rule=other)
    with pytest.raises(InputError, match="would exceed the cap"):
        enter(ledger, spends[other], rule=other)
    assert enter(ledger, 0.39 / 0.41 * spends[other] if other == ADDED else 0.5 * whole, rule=other)


def test_no_sum_and_no_cap_hold_for_records_and_edges_together():
    ledger = Ledger()
    enter(ledger, 0.3, rule=RECORD)
    assert enter(ledger, 0.3, rule=EDGE, query="laplacian").total_not_covered == (MIXED_RULES,)
    ledger = Ledger(cap=(9.0, 1e-5))
    enter(ledger, 0.1, rule=RECORD)
    with pytest.raises(InputError, match=r"one record replaced.*one edge added or removed.*another population"):
        enter(ledger, 0.1, rule=EDGE)
    assert ledger.would_exceed("liver", 0.1, rule=EDGE)
    assert enter(ledger, 0.1, rule="as declared with the sensitivity").total_not_covered == (MIXED_RULES,)


def test_entries_cannot_be_changed():
    ledger = Ledger()
    entry = enter(ledger, 0.3)
    with pytest.raises(FrozenInstanceError):
        entry.mu = 0.1
    assert isinstance(ledger.entries, tuple)
    with pytest.raises(AttributeError):
        ledger.entries = ()
    with pytest.raises(AttributeError):
        ledger.cap = (9, 0.1)


def test_csv_and_json_hold_every_release_and_no_formulas():
    ledger = Ledger(cap=(3.0, 1e-5))
    enter(ledger, 0.25, data="=cmd()", query="+mean")
    enter(ledger, 0.5, data="=cmd()", caveats=("ranges", "split"))
    header, *lines = csv.reader(io.StringIO(ledger.to_csv()))
    rows = [dict(zip(header, line, strict=True)) for line in lines]
    assert [row["data"] for row in rows] == ["'=cmd()", "'=cmd()"]
    assert rows[0]["query"] == "'+mean"
    assert [float(row["total mu"]) for row in rows] == [entry.total_mu for entry in ledger.entries]
    assert [float(row["total rho"]) for row in rows] == pytest.approx([0.25**2 / 2, (0.25**2 + 0.5**2) / 2])
    assert rows[1]["caveats"] == "not covered: ranges read from the data, shares of the budget read from the data"
    assert rows[0]["caveats"] == ""
    assert not any(cell.startswith(("=", "+", "-", "@")) for line in lines for cell in line)
    content = json.loads(ledger.to_json())
    assert content["cap"] == {"epsilon": 3.0, "delta": 1e-5}
    assert [one["mu"] for one in content["releases"]] == [0.25, 0.5]
    assert content["releases"][1]["not_covered"] == [CAVEATS["ranges"], CAVEATS["split"]]
    assert json.loads(Ledger().to_json()) == {"cap": None, "caps": {}, "same_people": [], "releases": []}


@pytest.mark.parametrize(("call", "message"), [
    (lambda: Ledger(cap=3), r"cap must be a pair \(epsilon, delta\)"),
    (lambda: Ledger(cap=(0, 0.1)), "the cap's epsilon must be positive, got 0"),
    (lambda: Ledger(cap=(1, 1)), "the cap's delta must lie strictly between 0 and 1"),
    (lambda: Ledger(cap=(1, 0.1)).would_exceed("x", float("inf")), "mu must be a positive, finite number"),
    (lambda: enter(Ledger(), 0.0), "mu must be a positive, finite number"),
    (lambda: enter(Ledger(), 0.1, caveats=("other",)),
     "caveats must be among ranges, bound, records, directions, split, choices, got 'other'"),
    (lambda: enter(Ledger(), 0.1, delta=0), "delta must lie strictly between 0 and 1"),
    *((lambda path=path: Ledger(path), "the path of a ledger must name its file")
      for path in (5, b"ledger", "", ".", "/", "a\0b", "a\nb.sqlite", ["ledger"])),
    (lambda: Ledger().total("x", delta=2), "delta must lie strictly between 0 and 1"),
])
def test_nonsense_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_a_ledger_says_its_cap_and_shows_its_file_or_how_much_it_holds(tmp_path):
    assert Ledger().cap is None
    ledger = Ledger(cap=(1, 1e-5))
    assert ledger.cap == (1.0, 1e-5)
    assert repr(ledger) == "Ledger(0 releases, cap=(1.0, 1e-05))"
    assert repr(Ledger(tmp_path / "kept.sqlite", cap=(1, 1e-5))) == "Ledger('kept.sqlite', cap=(1.0, 1e-05))"


def test_of_entries_told_twice_in_a_file_each_counts_and_the_same_file_again_does_not():
    ledger = Ledger()
    enter(ledger, 0.25)
    told = json.loads(ledger.to_json())
    told["releases"] *= 2  # in doubt it counts twice
    assert ledger.import_json(json.dumps(told)) == 1
    assert [entry.mu for entry in ledger.entries] == [0.25, 0.25]
    with pytest.raises(InputError, match="the ledger already holds everything in this file"):
        ledger.import_json(json.dumps(told))
