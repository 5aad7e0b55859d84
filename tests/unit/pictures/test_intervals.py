"""Intervals in words and tables, held against the noise itself; their picture."""

import numpy as np
import pytest

from mvgviz.data import sample
from mvgviz.pictures import release as pictures
from mvgviz.pictures.ledger import budget_numbers, room_words
from mvgviz.release.ledger import Ledger
from mvgviz.release.release import plan, release_setup
from mvgviz.text import as_number
from tests.datasets import setup_of

REACH = 1.959963984540054


def test_a_mean_is_told_in_the_units_of_the_data():
    setup = setup_of("liver", query="mean", task="reconstruction")
    widths, half = pictures.planned_widths(setup), REACH * setup.design.noise_std()[:, 0] * setup.dataset.widths / 2
    columns = pictures.width_columns(widths)
    np.testing.assert_allclose(columns["within ±"], half, rtol=1e-12)
    assert columns["unit"] == list(setup.dataset.units)
    said = pictures.widths_sentence(widths, str.upper)
    assert f"± {as_number(half[0])} on MCV" in said
    assert said.endswith("and 2 more, in the data's units.**")
    assert pictures.off_by(setup, on_data=True).endswith(
        "and 3 more, or less in 95 % of releases (each number by itself)")


def test_second_moments_are_told_for_a_feature_alone_and_with_another():
    setup = setup_of("liver")
    widths, std = pictures.planned_widths(setup), setup.design.noise_std()
    alone, other = list(pictures.width_columns(widths).values())[2:]
    np.testing.assert_allclose(alone, REACH * np.diag(std) * (setup.dataset.widths / 2) ** 2, rtol=1e-12)
    largest, least = REACH * np.diag(std).max(), REACH * np.diag(std)[2]
    np.fill_diagonal(std, 0)
    np.testing.assert_allclose(other, 100 * REACH * std.max(axis=1) / np.sqrt(2), rtol=1e-12)  # made symmetric
    low = 100 * min(least, REACH * std[2, 5] / np.sqrt(2))
    assert pictures.within(widths) == f"± {as_number(low)} to ± {as_number(100 * largest)} % of full scale"
    assert "average of two noisy numbers" in pictures.covers_sentences(widths)
    plain = pictures.planned_widths(setup_of("liver", post=()))
    most = max(pictures.width_columns(plain)["with another feature, at most ± % of full scale"])
    assert most == pytest.approx(np.sqrt(2) * max(other))
    assert "average" not in pictures.covers_sentences(plain)


def test_mean_and_second_moments_together_are_told_without_the_constant():
    setup = setup_of("liver", query="moments", post=())
    std, columns = setup.design.noise_std(), pictures.width_columns(pictures.planned_widths(setup))
    assert columns["feature"] == list(setup.dataset.features)
    half = setup.dataset.widths / 2
    np.testing.assert_allclose(columns["on its mean ±"], REACH * std[:6, 6] * half, rtol=1e-12)
    np.testing.assert_allclose(columns["on its own second moment (unit²) ±"], REACH * np.diag(std)[:6] * half**2,
                               rtol=1e-12)
    np.fill_diagonal(std, 0)
    np.testing.assert_allclose(columns["with another feature, at most ± % of full scale"],
                               100 * REACH * std[:6, :6].max(axis=1), rtol=1e-12)


def test_records_pulled_inside_a_bound_are_spoken_of():
    said = pictures.covers_sentences(pictures.planned_widths(setup_of("liver", query="covariance", bound="even")))
    assert "clipped to their ranges and their bound; it covers neither the clipping" in said


def test_a_graph_is_told_without_units_ranges_or_a_table():
    widths = pictures.planned_widths(setup_of("karate"))
    assert pictures.width_columns(widths) == {}
    assert "a released number differs from the answer by at most" in pictures.widths_sentence(widths, str)
    assert pictures.covers_sentences(widths).endswith("This covers the noise alone.")


def test_what_was_released_is_told_as_drawn_and_not_where_the_shape_is_read():
    given = release_setup(setup_of("liver", query="mean", scale="unit", task="reconstruction"))
    columns, data = pictures.mean_columns(given), sample("liver")
    np.testing.assert_allclose(columns["released"], data.lower + data.widths * given.noisy[:, 0], rtol=1e-12)
    np.testing.assert_allclose(np.subtract(columns["upper"], columns["lower"]),
                               2 * data.widths * given.half_widths()[:, 0], rtol=1e-9)
    assert pictures.released_widths(given).noise is given.entry_noise
    read = release_setup(setup_of("liver", directions="eigenvectors"), accept=["directions"])
    assert pictures.released_widths(read) is None


def test_the_picture_places_numbers_in_their_ranges():
    size = pictures.MOST_LINES + 3
    columns = {"feature": ["<b>"] * size, "released": [6.0] * size, "lower": [5.0] * size, "upper": [8.0] * size}
    figure = pictures.plot_intervals(columns, np.ones(size), np.full(size, 0.1), title="of the range", lines=(0, 100))
    dots = figure.data[0]
    assert (dots.x[0], dots.error_x.arrayminus[0], dots.error_x.array[0]) == (50, 10, 20)
    assert len(dots.x) == pictures.MOST_LINES
    assert figure.data[0].customdata[0][0] == figure.layout.yaxis.ticktext[0] == "&lt;b&gt;"
    assert "5.00 to 8.00" in figure.data[0].customdata[0][1]
    assert [shape.x0 for shape in figure.layout.shapes] == [0, 100]


def test_dates_are_shown_as_dates_and_their_widths_in_days():
    columns = {"feature": ["seen", "age"], "unit": ["days since 1970-01-01", "years"], "released": [19358.4, 51.234567],
               "noise ±": [12.25, 1.5]}
    assert pictures.with_dates(columns) == {
        "feature": ["seen", "age"], "unit": ["date", "years"], "released": ["2023-01-01", "51.23"],
        "noise ±": ["12.2 days", "1.500"]}
    assert pictures.with_dates({"feature": ["age"], "released": [1.0]}) == {"feature": ["age"], "released": [1.0]}


@pytest.mark.parametrize("scale", ["symmetric", "declared"])
def test_no_width_of_second_moments_of_a_date_is_shown_as_a_date(scale):
    heads = list(pictures.width_columns(pictures.planned_widths(setup_of("liver", scale=scale))))[2:]
    shown = pictures.with_dates({"feature": ["born"], "unit": ["days since 1970-01-01"],
                                  **{head: [58] for head in heads}})
    assert [shown[head] for head in heads] == [["58.0 days²"], ["58.0"]]


def test_pure_noise_is_reported_with_delta_zero_before_and_after():
    setup = setup_of("liver", query="mean", family="laplace", task="reconstruction")
    ledger = Ledger()
    planned, made, total = plan(setup), release_setup(setup, ledger=ledger), ledger.total(delta=setup.delta)
    assert pictures.spends(setup, planned) == "ε = 1.00 with δ = 0"
    assert "spent ε = 1.00 with δ = 0." in pictures.released_picture(made).takeaway
    assert "ε = 1.00 with δ = 0 is spent" in room_words(budget_numbers(ledger, ledger.entries[0].population, made))
    told = dict(pictures.facts(setup, planned, (total, total), 1.0, "", lasts=False))
    assert told["total for this data, in this session"] == "ε = 1.00 before, 1.00 after, with δ = 0"
