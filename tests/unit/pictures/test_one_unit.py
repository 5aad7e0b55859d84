"""The data's own unit on every picture, one name for shares, one way to write delta."""

import re
from dataclasses import replace

import numpy as np
import pytest

from mvgviz.data import sample
from mvgviz.pictures.report import promise_sentences, spent_words
from mvgviz.pictures.shape import ellipsoid_picture, std_picture
from mvgviz.pictures.strip import facts
from mvgviz.pictures.theme import plot_matrix
from mvgviz.provenance import Origin
from mvgviz.query.frames import DAYS
from mvgviz.scenario.own_units import along_directions, feature_std, own_units, product_unit
from mvgviz.scenario.precision_budget import budget_table, table_csv
from mvgviz.scenario.resolve import build
from mvgviz.scenario.scenario import Scenario
from mvgviz.text import as_number, as_probability
from tests.datasets import setup_of


def with_units(name, *, unit="kg", **changes):
    data = sample(name)
    data = replace(data, units=(unit,) + ("",) * (data.n_features - 1))
    return build(Scenario.default_for(name).changed(**changes), data)


def test_noise_on_a_date_is_in_days():
    setup = with_units("two_features", unit=DAYS, query="mean", priority_directions=(0,), allocation="binary")
    assert own_units(setup)[0].unit == "days"
    assert re.search(r"[\d.]+ days on sleep \(", str(facts(setup)))
    assert along_directions(setup)[1][0] == "days"


@pytest.mark.parametrize("query", ["mean", "covariance"])
def test_the_budget_tells_the_noise_that_the_feature_has_in_its_own_unit(query):
    setup = with_units("liver", query=query, directions="standard", guarantee="exact")
    table, width = budget_table(setup), float(setup.dataset.widths[0])
    assert np.allclose(table.std * table.own, feature_std(setup, setup.design))
    scaled = width / float(setup.table.widths[0])  # by hand
    assert table.own[0] == pytest.approx(scaled if query == "mean" else scaled**2)
    assert table.units[0] == ("kg" if query == "mean" else "kg²")
    assert "data units" in table.units[1]
    line = table_csv(table, ["a"] * table.size).splitlines()[1].split(",")
    assert line[-1] == table.units[0]
    assert float(line[4]) == float(table.std[0] * table.own[0])


def test_directions_that_mix_features_are_told_in_percent_of_the_range():
    setup = setup_of("two_features", query="mean", directions="rotation", angle=30.0)
    own, units = along_directions(setup)
    assert set(units) == {"% of the range"}
    assert np.allclose(own, 100 / setup.table.widths[0])


def test_products_of_units():
    assert [product_unit(*pair) for pair in (("kg", "kg"), ("mg", "years"), ("kg", ""))] == ["kg²", "mg·years", "kg"]


def test_axes_in_space_and_the_matrix_of_entries_name_their_units():
    setup = with_units("liver", query="mean", directions="standard")
    picture = ellipsoid_picture(setup, [0, 1, 2], setup.dataset.features)
    assert picture.figure.layout.scene.xaxis.title.text.endswith("(kg)")
    [noise] = [row.ours for row in own_units(setup) if row.name == setup.dataset.features[0]]
    assert f"{as_number(noise)} kg" in picture.takeaway
    assert "% of the range" in std_picture(setup).takeaway


def test_delta_is_written_one_way():
    setup = setup_of("liver")
    said = [fact.text for fact in facts(setup)[0]] + [spent_words(setup), *promise_sentences(setup)]
    told = re.findall(r"δ = ([^.;,]*?)(?=[.;,*]| |$)", " ".join(said))
    assert told
    assert set(told) == {"10⁻⁶"}
    assert as_probability(1 / 345) == "0.0029"


def test_a_mean_of_dates_is_a_date_in_its_picture():
    table = plot_matrix(np.array([[0.5], [0.2]]), row_labels=["seen", "n"], col_labels=[], row_title="", col_title="",
                        value_title="", in_units=np.array([[19_290.3], [204.6]]), days=[True, False])
    assert [line[0] for line in table.data[0].text] == ["2022-10-25", "204.6"]


def test_accepted_ranges_are_not_said_to_be_found_by_a_seed():
    data = sample("liver")
    setup = build(Scenario.default_for("liver"), replace(data, range_origins=(Origin.ACCEPTED,) * data.n_features))
    [ranges] = [fact.text for fact in facts(setup)[0] if fact.name == "ranges"]
    assert ranges == "proposed from the data, accepted: not private"
