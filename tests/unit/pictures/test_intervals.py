"""Intervals in words and tables, held against the noise itself; their picture."""

import numpy as np
import pytest

from mvgviz import Scenario
from mvgviz.data import sample
from mvgviz.pictures.release import (
    MOST_LINES,
    covers_sentences,
    mean_columns,
    off_by,
    planned_widths,
    plot_intervals,
    released_widths,
    width_columns,
    widths_sentence,
    within,
)
from mvgviz.release.release import release_setup
from mvgviz.scenario.resolve import build
from mvgviz.text import as_number

REACH = 1.959963984540054


def setup_of(data, **changes):
    return build(Scenario.default_for(data).changed(**changes), sample(data))


def test_a_mean_is_told_in_the_units_of_the_data():
    setup = setup_of("liver", query="mean", task="reconstruction")
    widths, half = planned_widths(setup), REACH * setup.design.noise_std()[:, 0]
    columns = width_columns(widths)
    np.testing.assert_allclose(columns["within ±"], half, rtol=1e-12)
    np.testing.assert_allclose(columns["within ± (data's units)"], half * setup.dataset.widths / 2, rtol=1e-12)
    said = widths_sentence(widths, str.upper)
    assert f"± {as_number(half[0] * setup.dataset.widths[0] / 2)} on MCV" in said
    assert said.endswith("and 2 more, in the data's own units.**")
    assert off_by(setup, on_data=True).endswith("and 3 more, in 95 % of releases")


def test_second_moments_are_told_for_a_feature_alone_and_with_another():
    setup = setup_of("liver")
    widths, std = planned_widths(setup), setup.design.noise_std()
    alone, other = list(width_columns(widths).values())[1:]
    np.testing.assert_allclose(alone, REACH * np.diag(std), rtol=1e-12)
    np.fill_diagonal(std, 0)
    np.testing.assert_allclose(other, REACH * std.max(axis=1) / np.sqrt(2), rtol=1e-12)  # made symmetric
    low, high = REACH * min(alone[2] / REACH, std[2, 5] / np.sqrt(2)), max(alone)
    assert within(widths) == f"± {as_number(low)} to ± {as_number(high)}"
    assert "features mapped onto [-1, 1]" in widths_sentence(widths, str)
    assert "average of two noisy numbers" in covers_sentences(widths)
    plain = planned_widths(setup_of("liver", post=()))
    assert max(width_columns(plain)["with another feature, at most ±"]) == pytest.approx(np.sqrt(2) * max(other))
    assert "average" not in covers_sentences(plain)


def test_mean_and_second_moments_together_are_told_without_the_constant():
    setup = setup_of("liver", query="moments", post=())
    std, columns = setup.design.noise_std(), width_columns(planned_widths(setup))
    assert columns["feature"] == list(setup.dataset.features)
    np.testing.assert_allclose(columns["on its mean ±"], REACH * std[:6, 6], rtol=1e-12)
    np.testing.assert_allclose(columns["on its own second moment ±"], REACH * np.diag(std)[:6], rtol=1e-12)
    np.fill_diagonal(std, 0)
    np.testing.assert_allclose(columns["with another feature, at most ±"], REACH * std[:6, :6].max(axis=1), rtol=1e-12)


def test_records_pulled_inside_a_bound_are_spoken_of():
    said = covers_sentences(planned_widths(setup_of("liver", query="covariance", bound="even")))
    assert "clipped to their ranges and pulled inside their bound: not what that changed" in said


def test_a_graph_is_told_without_units_ranges_or_a_table():
    widths = planned_widths(setup_of("karate"))
    assert width_columns(widths) == {}
    assert widths_sentence(widths, str).startswith("**In 95 % of releases a released number is at most this far")
    assert covers_sentences(widths).endswith("This covers the noise alone.")


def test_what_was_released_is_told_as_drawn_and_not_where_the_shape_is_read():
    given = release_setup(setup_of("liver", query="mean", scale="unit", task="reconstruction"))
    columns, data = mean_columns(given), sample("liver")
    np.testing.assert_allclose(columns["released"], data.lower + data.widths * given.noisy[:, 0], rtol=1e-12)
    np.testing.assert_allclose(np.subtract(columns["upper"], columns["lower"]),
                               2 * data.widths * given.half_widths()[:, 0], rtol=1e-9)
    assert released_widths(given).noise is given.entry_noise
    read = release_setup(setup_of("liver", directions="eigenvectors"), accept=["directions"])
    assert released_widths(read) is None


def test_the_picture_places_numbers_in_their_ranges():
    size = MOST_LINES + 3
    columns = {"feature": ["<b>"] * size, "released": [6.0] * size, "lower": [5.0] * size, "upper": [8.0] * size}
    figure = plot_intervals(columns, np.ones(size), np.full(size, 0.1), title="of the range", lines=(0, 100))
    dots = figure.data[0]
    assert (dots.x[0], dots.error_x.arrayminus[0], dots.error_x.array[0], len(dots.x)) == (50, 10, 20, MOST_LINES)
    assert figure.data[0].customdata[0][0] == figure.layout.yaxis.ticktext[0] == "&lt;b&gt;"
    assert "5.00 to 8.00" in figure.data[0].customdata[0][1]
    assert [shape.x0 for shape in figure.layout.shapes] == [0, 100]
