"""Counts, cross-tables and means by group on every page, of a table with categories."""

import csv
import re
from dataclasses import replace

import numpy as np
import pytest

from mvgviz import Dataset
from mvgviz.release.files import files_of
from mvgviz.text import as_number
from mvgviz.ui.menu import DATA, HOME, RELEASE
from tests.pages.app import adjust, put, walk, with_table
from tests.pages.desk import desk, released
from tests.pages.shown import chart, frame, scenario, strip, text

RNG = np.random.default_rng(0)
VISITS = Dataset(
    matrix=np.vstack([RNG.uniform(20, 80, 200), np.eye(2)[RNG.integers(2, size=200)].T, RNG.uniform(0, 5, 200),
                      np.eye(3)[RNG.integers(3, size=200)].T]),
    features=("height", "sex=f", "sex=m", "dose", "region=north", "region=south", "region=west"),
    units=["cm", "", "", "mg", "", "", ""],
    lower=[20, 0, 0, 0, 0, 0, 0], upper=[80, 1, 1, 5, 1, 1, 1], levels=[(1, 2), (4, 5, 6)], per_person=2)


ASKED = [(query, split) for query in ("counts", "cross_table", "group_means")
         for split in ({}, {"allocation": "binary", "priority_directions": (0,)})]


@pytest.mark.parametrize(("query", "split"), ASKED)
def test_every_page_answers(query, split):
    app = with_table(HOME, VISITS, query=query, trials=2, **split)
    for page in walk(app, turn=ASKED.index((query, split))):
        shown = " ".join([text(app), *(one.value for one in app.subheader)])
        assert not re.search(r"\bone record\b", shown, re.IGNORECASE), page  # several are one person's
    assert scenario(app).query == query


def test_a_category_is_chosen_beside_the_query():
    app = put(with_table(HOME, VISITS, query="counts"), _all=True)
    assert "Counts of a category" in app.selectbox(key="w_query").options
    assert not adjust(app, w_category=[1]).exception
    assert scenario(app).category == (1,)
    app.switch_page(DATA.path).run()
    assert scenario(adjust(app, path_category=[0])).category == (0,)


def test_a_mean_says_whether_it_has_intervals_for_the_population():
    alone = replace(VISITS, per_person=1, by_person=True, gaps="middle")
    assert "describe values as clipped and with gaps filled" in text(released(with_table(RELEASE, alone, query="mean")))
    assert "need one record a person" in text(released(with_table(RELEASE, VISITS, query="mean")))


@pytest.mark.parametrize("query", ["counts", "cross_table"])
def test_released_counts_stand_on_the_page_with_their_intervals(query):
    app = with_table(RELEASE, VISITS, query=query, category=(0, 1))
    assert re.search(r"typical error: </dt><dd class=\"\">\S+ records<", strip(app))
    [made] = desk(released(app)).releases
    shown, half = frame(app, "value"), made.half_widths()
    for head, numbers in (("value", made.noisy), ("lower", made.noisy - half), ("upper", made.noisy + half)):
        assert np.array_equal(shown[head].to_numpy(dtype=float), numbers.ravel())
    assert as_number(made.noisy[0, 0], 4) in str(chart(app, "release_answer")["data"][0]["text"])


def test_means_by_group_are_shown_in_the_data_s_units_and_are_a_file():
    app = with_table(RELEASE, VISITS, query="group_means")
    assert re.search(r"\S+ cm on the sum of height and \S+ mg on the sum of dose", strip(app))
    released(app)
    [made] = desk(app).releases
    assert np.allclose(made.in_units, made.noisy * [[30.0], [2.5], [1.0]])  # half of each range; the count as it is
    means = next(one.value for one in app.dataframe if "mean" in one.value.columns)
    text_of = next(content() for _, key, _, _, content in files_of(1, made) if key == "means")
    rows = list(csv.DictReader(text_of.splitlines()))
    assert [(row["feature"], row["group"]) for row in rows] == [
        (name, f"sex={sex}") for name in ("height", "dose") for sex in "fm"]
    assert list(means["unit"]) == ["cm", "cm", "mg", "mg"]
    assert [float(row["mean"]) for row in rows] == [float(value) for value in means["mean"]]
    assert all(20 <= float(row["mean"]) <= 80 for row in rows if row["feature"] == "height")
