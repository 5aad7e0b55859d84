"""Histograms of the features, dates as dates."""

from datetime import date

import pandas as pd

from mvgviz import Dataset
from mvgviz.pictures.data import histograms_picture, record_columns


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
