"""Wherever noise is told as an error, what clipping adds is told too: at most, and to the holder on the data."""

import re

import numpy as np
import pytest

from mvgviz import Dataset, Scenario, build, release_setup
from mvgviz.pictures import strip
from mvgviz.pictures.release import off_by
from mvgviz.pictures.report import width_table
from mvgviz.pictures.sentences import clipping_words, released_clipping
from mvgviz.pictures.trade_off import others_sentence, trade_off_words
from mvgviz.pictures.utility import own_units_words
from mvgviz.release.files import to_intervals_csv, to_metadata_json
from mvgviz.report.html import design_slides
from mvgviz.scenario.own_units import own_units
from mvgviz.scenario.trade_off import trade_off_of
from mvgviz.text import as_number

RNG = np.random.default_rng(5)
DATA = Dataset(matrix=np.array([[70.0], [8.0]]) + RNG.uniform(0, 1, (2, 400)), features=["weight", "sleep"],
               lower=[0, 0], upper=[80, 10], units=["kg", "h"])
"""Everybody is far from the middle of the ranges."""
CLIPPED = Scenario(query="mean", bound="own", radius=0.2, priority_directions=(0,), epsilon=5.0)


def setup_of(**changes):
    return build(CLIPPED.changed(**changes), DATA)


def numbers_in(text, pattern):
    found = re.search(pattern, text)
    assert found is not None, text
    return [float(number.replace(",", "")) for number in found.groups()]


def test_noise_and_bias_as_told_cover_the_mean_of_records_that_are_all_clipped():
    setup = setup_of()
    assert setup.query.bound.count_outside(setup.table) == 400
    factor = (DATA.widths / setup.table.widths)[0]
    released = setup.query.value[0, 0] + setup.design.noise_std()[0, 0] * RNG.standard_normal(4000)
    off = np.abs(released - setup.box.value[0, 0]) * factor
    said = off_by(setup, on_data=True)
    noise, most, here = numbers_in(
        said, r"± ([\d.]+) on weight.*at most ([\d.]+) kg on weight \(on this data ([\d.]+) kg")
    assert "Noise alone" in said
    assert "not private" in said
    assert np.mean(off <= noise) < 0.01  # the interval by itself is untrue
    assert np.mean(off <= noise + here) >= 0.95
    assert here == pytest.approx(np.abs(setup.query.value - setup.box.value)[0, 0] * factor, rel=5e-3)
    assert here <= most <= 40  # half the range


@pytest.mark.parametrize("query", ["identity", "mean", "covariance", "moments"])
def test_every_sentence_on_noise_as_an_error_says_noise_alone_and_the_most_that_clipping_adds(query):
    setup = setup_of(query=query)
    public = clipping_words(setup)
    assert public.startswith("Noise alone: clipping adds a bias of at most ")
    assert "this data" not in public
    for said in [trade_off_words(setup, trade_off_of(setup)), " ".join(width_table(setup).said),
                 *(design_slides(setup)[key].takeaway for key in ("shape", "gains", "trade_off"))]:
        assert public in said
        assert "Nobody pays" not in said
        assert "this data" not in said
    front = {fact.name: fact.text for fact in strip.facts(setup)[0]}
    assert f"clipping adds a bias of {front['clipping adds']}" in public
    assert any("noise alone" in name for name in front)
    assert clipping_words(setup, on_data=True) in off_by(setup, on_data=True)
    assert "on this data" not in off_by(setup, on_data=False)
    assert re.search(r"equal noise; clipping adds a bias of at most [\d.]+ %", others_sentence(setup))
    if query in ("identity", "mean"):
        assert clipping_words(setup, on_data=True) in own_units_words(setup, own_units(setup), on_data=True)


@pytest.mark.parametrize("changes", [{"bound": "none"}, {"bound": "own", "radius": 9.0}])
def test_where_nothing_is_clipped_nothing_is_said(changes):
    setup = setup_of(**changes)
    assert clipping_words(setup, on_data=True) == ""
    assert "Noise alone" not in off_by(setup, on_data=True) + " ".join(width_table(setup).said)
    assert "clipping adds" not in {fact.name for fact in strip.facts(setup)[0]}


@pytest.mark.filterwarnings("ignore:no ledger")
def test_a_release_tells_the_most_from_what_is_public():
    release = release_setup(setup_of())
    assert released_clipping(release) == clipping_words(setup_of()).replace(" kg", "")
    assert "clipping_adds_at_most" in to_metadata_json(release)
    head, first, *_ = to_intervals_csv(release).splitlines()
    assert head.endswith("upper 0.95,clipping adds at most")
    assert as_number(float(first.rpartition(",")[2])) in released_clipping(release)
    assert released_clipping(release_setup(setup_of(bound="none"))) == ""
