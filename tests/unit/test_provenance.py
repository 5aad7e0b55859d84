"""Where a choice comes from: carried by every value, never lost, never better than it is."""

import dataclasses

import numpy as np
import pytest

from mvgviz import Dataset, InputError, Scenario, covariance, design_noise, from_matrix, identity, mean
from mvgviz.provenance import Origin, Range, weakest
from mvgviz.release.release import plan
from mvgviz.scenario.resolve import build
from mvgviz.scenario.scenario import DIRECTION_FIELDS, OTHER_FIELDS, SPLIT_FIELDS
from tests.datasets import make_dataset


def test_the_weakest_origin_is_that_of_the_whole():
    assert weakest([]) is Origin.DECLARED
    assert weakest([Origin.PAID, Origin.DECLARED]) is Origin.PAID
    assert weakest([Origin.READ, Origin.PAID, Origin.DECLARED]) is Origin.READ
    assert [origin.is_covered for origin in Origin] == [True, True, False, False]


def test_ranges_have_their_origin_one_by_one_and_queries_inherit_the_weakest():
    data = dataclasses.replace(make_dataset(3, 20), range_origins=(Origin.DECLARED, Origin.READ, Origin.DECLARED))
    assert data.ranges["f1"] == Range(-1, 1, Origin.READ)
    for made in (data.clipped(), data.normalised(to=(0, 1))):
        assert made.range_origins == data.range_origins
    for ask in (identity, mean, covariance):
        assert ask(data).ranges_origin is Origin.READ
        assert ask(make_dataset(3, 20)).ranges_origin is Origin.DECLARED


@pytest.mark.parametrize(("change", "message"), [
    ({"range_origins": (Origin.READ,)}, "one entry for each of the 2 features, got 1"),
    ({"range_origins": "declared"}, "must be an Origin"), ({"records_origin": "declared"}, "must be an Origin")])
def test_an_origin_is_no_text(change, message):
    with pytest.raises(InputError, match=message):
        Dataset(matrix=np.zeros((2, 3)), features=("a", "b"), lower=0, upper=1, **change)


def test_a_mark_stays_whatever_the_value_becomes_until_it_is_the_default_again():
    one = Scenario.default_for("liver").chosen_on_data(query="mean", share=0.6, allocation="binary")
    assert one.from_data == ("allocation", "share", "query")
    assert one.changed(epsilon=2).from_data == one.from_data
    assert one.changed(share=0.7).from_data == one.from_data
    assert one.changed(share=0.8).from_data == ("allocation", "query")
    assert one.changed(share=0.8).changed(share=0.6).from_data == ("allocation", "query")
    assert one.changed(share=0.6).from_data == one.from_data  # the same value again is no other choice
    assert one.changed(from_data=()).from_data == ()
    assert one.chosen_on_data(epsilon=3.0).from_data == ("allocation", "share", "query", "epsilon")
    longer = Scenario.default_for("liver").chosen_on_data(bound="own", radius=1.5).changed(radius=1.5 * 1.2)
    assert longer.from_data == ("bound", "radius")  # still the radius that was seen


def test_a_mark_travels_in_links_and_files_but_makes_no_other_scenario():
    one = Scenario.default_for("liver").chosen_on_data(query="mean", priority_directions=(1,))
    assert Scenario.from_query(one.to_query()).from_data == one.from_data
    assert Scenario.from_json(one.to_json()).from_data == one.from_data
    assert one == one.changed(from_data=())
    with pytest.raises(InputError, match="from_data must be one of"):
        Scenario(from_data=("trials",))


@pytest.mark.parametrize("field", [*DIRECTION_FIELDS, *SPLIT_FIELDS, *OTHER_FIELDS])
def test_every_marked_field_that_matters_is_a_caveat_and_one_that_does_not_is_none(field):
    data = make_dataset(3, 40)
    if field == "category":
        data = Dataset(matrix=np.eye(3)[:, np.arange(40) % 3], features=list("abc"), lower=0, upper=1,
                       levels=[(0, 1, 2)])
    busy = {"directions": "rotation", "allocation": "binary", "priority_directions": (0,)} | {
        "weights": {"allocation": "manual", "weights": (1, 2, 3)},
        "form": {"allocation": "max-pnr", "guarantee": "theorem1"}, "tail": {"guarantee": "theorem1"},
        "private_share": {"directions": "private", "query": "mean"}, "length": {"query": "kernel"},
        "group": {"query": "cross", "group": (0, 2), "directions": "standard"},
        "category": {"query": "counts", "category": (0,), "directions": "standard"},
        "radius": {"bound": "own"}, "priority": {"priority": (1,)}, "seed": {"directions": "random"},
        "label": {"query": "moments", "bound": "even", "label": 1}, "task": {"query": "moments", "bound": "even"},
        "importance": {"allocation": "least-error", "priority_directions": (0, 1), "importance": (2, 1)}}.get(field, {})
    one = Scenario(**busy | {"from_data": (field,)})
    part = "directions" if field in DIRECTION_FIELDS else "split" if field in SPLIT_FIELDS else "choices"
    assert build(one, data).origins[part] is Origin.READ
    assert part in plan(build(one, data)).caveats
    idle = Scenario(directions="standard", allocation="uniform", query="mean", from_data=(field,))
    matters = field in ("directions", "allocation", "query", "scale", "epsilon", "delta", "guarantee", "mode", "bound",
                         "neighbours", "family")
    assert (plan(build(idle, data)).caveats == ()) != matters


@pytest.mark.parametrize(("marked", "derived"), [("priority_directions", "priority"),
                                                 ("priority", "priority_directions")])
def test_who_matters_keeps_its_mark_in_whichever_field_it_travels(marked, derived):
    """The advisor carries a marked set in the other field, and shares it out anew."""
    one = Scenario.default_for(f"upload-{0:012x}").chosen_on_data(**{marked: (1, 2)})
    carried = one.changed(**{derived: (1, 2)})
    assert {marked, derived} <= set(carried.from_data)
    assert derived in carried.changed(**{marked: ()}).from_data
    assert one.changed(radius=2.0).from_data == (marked,)


def test_directions_from_a_file_have_the_origin_they_are_given():
    data, turned = make_dataset(2, 30), np.eye(2)[::-1]
    for origin in (Origin.DECLARED, Origin.READ):
        setup = build(Scenario(directions="upload"), data, uploaded=from_matrix(turned, origin=origin))
        assert setup.origins["directions"] is origin
        assert plan(setup).caveats == (() if origin.is_covered else ("directions",))
    made = design_noise(mean(data), epsilon=1, delta=1e-6, theta=[0.3, 0.7], theta_origin=Origin.READ)
    assert made.theta_origin is Origin.READ  # of a split


