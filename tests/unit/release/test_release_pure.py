"""Releases with box and Laplace noise: what is entered, promised, kept and refused."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import mvgviz as mv
from mvgviz.noise.mixtures import plan_epsilon
from mvgviz.release import release as module
from mvgviz.release.files import to_intervals_csv, to_metadata_json
from mvgviz.release.fitted import population_means
from mvgviz.release.intervals import planned_noise
from mvgviz.release.release import plan, plan_together, release, release_together
from tests.datasets import make_dataset

DATA = make_dataset(3, 40)
THETA = [0.6, 0.2, 0.2]


def made(query, family="box", **choice):
    return mv.design_noise(query, **({"epsilon": 1.0, "delta": 1e-6, "theta": THETA, "family": family} | choice))


def released(query=None, family="box", **choice):
    query = mv.mean(DATA) if query is None else query
    return release(query, made(query, family), **({"table": DATA, "ranges": DATA.ranges, "data": "a"} | choice))


@pytest.mark.parametrize("family", ["box", "laplace"])
@pytest.mark.parametrize("ask", [mv.mean, mv.identity])
def test_a_pure_release_is_entered_with_its_epsilon_and_no_mu(ask, family):
    ledger = mv.Ledger(cap=(1.0, 1e-6))
    given = released(ask(DATA), family, ledger=ledger)
    [entry] = ledger.entries
    assert (entry.family, entry.mu, entry.epsilon, entry.total_mu) == (family, 0.0, 1.0, 0.0)
    assert (entry.epsilon_pure, sum(entry.parameters)) == (1.0, pytest.approx(1.0))
    assert (given.mu, given.epsilon, given.epsilon_pure, given.family) == (0.0, 1.0, 1.0, family)
    assert given.guarantee == "epsilon 1 with delta = 0 (one record replaced)"
    assert ledger.total("a", delta=1e-6).epsilon == 1.0
    with pytest.raises(mv.InputError, match="would exceed the cap"):
        released(ledger=ledger)


def test_the_certificate_names_family_lattice_and_promise():
    told = json.loads(to_metadata_json(released()))
    assert (told["noise"]["family"], told["guarantee"]["epsilon_pure"], told["guarantee"]["mu"]) == ("box", 1.0, 0.0)
    assert told["guarantee"]["words"] == "epsilon 1 with delta = 0 (one record replaced)"
    assert told["noise"]["design"].startswith("exact, box noise over")
    lattice = told["hardening"]
    assert (lattice["steps"], lattice["blocks"], lattice["families"]) == (2**30, [[0], [1, 2]], ["box", "box"])
    assert lattice["epsilons"] == pytest.approx([0.6, 0.4])
    assert told["versions"]["opendp"] == ""


def test_a_kept_release_comes_back_with_its_intervals(tmp_path):
    ledger = mv.Ledger(tmp_path / "ledger.sqlite")
    given = released(ledger=ledger, population="people")
    [kept] = mv.Ledger(tmp_path / "ledger.sqlite").releases("people")
    assert np.array_equal(kept.noisy, given.noisy)
    assert (kept.family, kept.epsilon_pure, kept.hardening) == ("box", 1.0, given.hardening)
    assert kept.half_widths() == pytest.approx(given.half_widths(), rel=1e-15)
    assert to_metadata_json(kept) == to_metadata_json(given)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_intervals_hold_as_often_as_they_say_and_are_not_the_normal_ones(level):
    data, query = DATA, mv.mean(DATA)
    design = made(query)
    inside = []
    for _ in range(300):
        given = release(query, design, table=data, ranges=data.ranges)
        inside.append(np.abs(given.noisy - query.value) <= given.half_widths(level))
    counts = np.sum(inside, axis=0).ravel()
    assert all(stats.binomtest(int(k), 300, level).pvalue > 1e-4 for k in counts)
    ratio = given.half_widths(level).ravel() / np.sqrt(design.row_side.variances)
    one, two = (design.blocks[k].half_width(level) for k in (0, 1))
    assert ratio == pytest.approx([one, two, two], rel=1e-6)
    assert one != pytest.approx(stats.norm.ppf((1 + level) / 2), rel=0.02)


def test_the_file_of_intervals_has_the_same_widths():
    given = released()
    told = json.loads(to_metadata_json(given))["intervals"]
    assert np.array(told["half_width_in_std"]) * told["std_rows"] == pytest.approx(given.half_widths().ravel())
    assert len(to_intervals_csv(given).splitlines()) == 4


def test_noise_that_cannot_be_released_is_refused_before_anything_is_entered():
    ledger, query = mv.Ledger(), mv.mean(DATA)
    with pytest.raises(mv.InputError, match="give the query's data with table="):
        released(table=None, ledger=ledger)
    for family in ("ellipse", "box-ellipse"):
        design = made(query, family, epsilon=1, theta=[0.5, 0.25, 0.25])
        if all(block.family.is_pure for block in design.blocks):
            continue
        with pytest.raises(mv.InputError, match="ellipse noise cannot be drawn exactly"):
            release(query, design, table=DATA, ranges=DATA.ranges, data="a", ledger=ledger)
    with pytest.raises(mv.InputError, match="same features, ranges, records and people"):
        released(table=make_dataset(3, 41), ledger=ledger)
    assert ledger.entries == ()


def test_what_rests_on_normal_noise_is_refused():
    first, second = released(), released()
    with pytest.raises(mv.InputError, match="only releases with Gaussian noise can be combined"):
        mv.combine(first, second)
    with pytest.raises(mv.InputError, match="exist for Gaussian noise only"):
        population_means(first)


def test_a_release_that_fails_counts_as_spent(monkeypatch):
    def broken(*given, **choice):
        raise MemoryError

    monkeypatch.setattr(module, "noisy_values", broken)
    ledger = mv.Ledger()
    with pytest.raises(MemoryError):
        released(ledger=ledger)
    assert [(entry.state, entry.epsilon_pure) for entry in ledger.entries] == [("reserved", 1.0)]


def setups(*families):
    scenario = mv.Scenario.default_for("liver").changed(query="mean", epsilon=0.5, delta=1e-6)
    setup = mv.build(scenario, mv.sample("liver"))
    return [replace(setup, design=mv.design_noise(setup.query, epsilon=0.5, delta=1e-6, family=family))
            for family in families]


def test_a_plan_of_mixed_families_costs_what_is_exact_and_the_ledger_counts_two_pots():
    both = setups("box", "gaussian")
    planned, mu, block = plan_together(both), plan(both[1]).mu, both[0].design.blocks[0]
    assert len(block.rows) == both[0].query.rows
    assert planned_noise(both[0]).per_std() == pytest.approx(block.half_width(0.95))
    assert planned.epsilon == plan_epsilon(1e-6, [planned.epsilon_pure], mu) == pytest.approx(0.9805, abs=1e-4)
    assert (planned.mu, planned.epsilon_pure) == (mu, pytest.approx(0.5, rel=1e-15))
    assert (plan(both[0]).mu, plan(both[0]).epsilon) == (0.0, planned.epsilon_pure)
    ledger = mv.Ledger()
    ledger.set_cap((1.0, 1e-6), "people", pure=0.5)
    box, gaussian = release_together(both, ledger=ledger, population="people", accept=plan_together(both).caveats)
    assert (box.family, gaussian.family) == ("box", "gaussian")
    assert ledger.total("people", delta=1e-6).epsilon == pytest.approx(1.0, rel=1e-9)


def session(**choice):
    return mv.Session(DATA, **({"budget": (1.0, 1e-6), "population": "people", "ledger": mv.Ledger()} | choice))


def test_a_session_spends_pure_noise_alone_to_the_end_in_tenths():
    query = mv.mean(DATA)
    with session() as held:
        for k in range(10):
            assert held.left_pure == pytest.approx(1 - k / 10)
            held.release(query, held.design(query, share=0.1, family="box"))
        assert held.spent.epsilon == pytest.approx(1.0, rel=1e-12)
        assert held.left == 0
        with pytest.raises(mv.InputError, match=r"nothing is left|is left of the session's 1 for box"):
            held.design(query, share=0.01, family="box")
        with pytest.raises(mv.InputError, match="is left of the session's 1"):
            held.release(query, mv.design_noise(query, epsilon=0.01, delta=1e-6))


def test_a_session_mixes_families_within_the_part_it_was_given():
    query = mv.mean(DATA)
    with session(pure=0.3) as held:
        held.release(query, held.design(query))
        assert held.releases[0].epsilon == pytest.approx(0.7, rel=1e-6)
        with pytest.raises(mv.InputError, match=r"spend epsilon 0\.4 and 0\.3 is left of the session's 1 for box"):
            held.design(query, share=0.4, family="laplace")
        held.release(query, held.design(query, family="laplace"))
        assert held.spent.epsilon == pytest.approx(1.0, rel=1e-6)
    with session() as held:
        held.release(query, held.design(query, share=0.1))
        with pytest.raises(mv.InputError, match="nothing is left"):
            held.design(query, family="box")


@pytest.mark.parametrize("part", [-0.1, 1.0, "x"])
def test_the_pure_part_of_a_session_is_less_than_its_epsilon(part):
    with pytest.raises(mv.InputError, match="pure"):
        session(pure=part)
