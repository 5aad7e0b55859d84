"""Histograms of the features, dates as dates."""

from datetime import date

import pandas as pd

from mvgviz import Dataset, Scenario
from mvgviz.pictures.data import histograms_picture, record_columns
from mvgviz.pictures.release import ranges_table
from mvgviz.pictures.report import range_rows, width_table
from mvgviz.text import as_text
from tests.unit.report.setups import setup_of


def dated():
    frame = pd.DataFrame({"seen": [date(2024, 1, 1), date(2024, 3, 5)] * 5, "age": [20.0, 60.0] * 5})
    return Dataset.from_frame(frame, ranges={"seen": ("2024-01-01", "2024-12-31"), "age": (0, 100)})


def test_the_ends_and_bars_of_a_date_are_dates():
    figure = histograms_picture(dated(), (0, 1)).figure
    assert figure.layout.xaxis.ticktext == ("2024-01-01", "2024-12-31")
    assert figure.layout.xaxis2.ticktext == ("0", "100")
    assert figure.data[0].customdata[0] == "2024-01-09"
    assert "%{customdata}" in figure.data[0].hovertemplate


def test_the_table_of_records_shows_dates():
    assert record_columns(dated(), 2) == {"seen": ["2024-01-01", "2024-03-05"], "age": [20, 60]}


def test_the_tables_of_a_release_and_a_report_show_dates():
    assert ranges_table(dated())["highest"] == ["2024-12-31", "100"]
    setup = setup_of(Scenario(data="upload-0123456789ab", query="mean", scale="symmetric"), dated())
    assert range_rows(setup)[0][0] == ("seen", "2024-01-01", "2024-12-31")
    seen, age = width_table(setup).rows
    assert seen[1] == "date"
    assert seen[2].endswith(" days")
    assert float(as_text(age[2])) > 0


def test_one_feature_is_named_in_the_singular():
    assert histograms_picture(dated().only([1]), (0,)).takeaway.startswith("**1 feature × 10 records**")
