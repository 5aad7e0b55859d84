"""Datasets: shapes, declared ranges, clipping, normalising, refusals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mvgviz import Dataset, InputError, identity
from mvgviz.provenance import Origin

GOOD = {"matrix": [[1.0, 2.0, 3.0], [4.0, 5.0, 60.0]], "features": ("a", "b"), "lower": [0, 0], "upper": [3, 50]}


def test_shape_and_ranges_are_features_by_records():
    data = Dataset(**GOOD)
    assert (data.n_features, data.n_records) == (2, 3)
    assert data.widths.tolist() == [3, 50]
    assert Dataset(**GOOD | {"lower": [-9, 0]}).largest_values.tolist() == [9, 50]
    assert data.ranges_origin is Origin.DECLARED


def test_one_number_serves_as_the_range_of_all_features():
    assert Dataset(**GOOD | {"lower": -1, "upper": 99}).upper.tolist() == [99, 99]


def test_clipping_moves_only_what_is_outside():
    data = Dataset(**GOOD)
    assert data.count_outside() == 1
    assert data.clipped().matrix.tolist() == [[1, 2, 3], [4, 5, 50]]
    assert data.clipped().count_outside() == 0


def test_queries_refuse_data_outside_its_ranges_and_say_how_much_and_what_to_do():
    with pytest.raises(InputError, match=r"1 of 6 entries lie outside.*clipped\(\)") as caught:
        identity(Dataset(**GOOD))
    assert "60" not in str(caught.value)


@given(low=st.floats(-1e6, 1e6), width=st.floats(1e-3, 1e6), share=st.lists(st.floats(0, 1), min_size=1, max_size=20),
       to=st.sampled_from([(-1, 1), (0, 1), (-100, 100), (0.1, 0.3)]))
def test_normalising_keeps_values_inside_and_undoes_itself(low, width, share, to):
    high = low + width
    matrix = np.clip(low + np.array([share]) * width, low, high)
    data = Dataset(matrix=matrix, features=("a",), lower=low, upper=high)
    scaled = data.normalised(to=to)
    assert scaled.count_outside() == 0
    assert (scaled.lower[0], scaled.upper[0]) == to
    back = scaled.normalised(to=(low, high))
    assert back.matrix == pytest.approx(matrix, rel=1e-9, abs=1e-9 * (abs(low) + width))


def test_normalising_leaves_values_outside_outside():
    assert Dataset(**GOOD).normalised().count_outside() == 1


def test_the_caller_s_array_and_the_dataset_s_are_strangers():
    matrix = np.ones((1, 2))
    data = Dataset(matrix=matrix, features=("a",), lower=0, upper=2)
    matrix[0, 0] = 7
    assert data.matrix[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        data.matrix[0, 0] = 5


@pytest.mark.parametrize(("change", "message"), [
    ({"matrix": [1.0, 2.0]}, "matrix must be a matrix, got 1 dimension"),
    ({"matrix": np.empty((2, 0))}, r"matrix must not be empty, got shape \(2, 0\)"),
    ({"matrix": [[1.0, 2.0, 3.0], [4.0, math.nan, 60.0]]}, r"NaN or infinite entries: 1, the first at \(1, 1\)"),
    ({"matrix": [[math.inf, 2.0, -math.inf], [4.0, 5, 60.0]]}, r"NaN or infinite entries: 2, the first at \(0, 0\)"),
    ({"matrix": [["x", "y"], ["z", "w"]]}, "matrix must hold numbers only"),
    ({"matrix": [[1, 2], [3]]}, "matrix must hold numbers only, in rows of one length"),
    ({"matrix": [[1 + 2j]]}, "matrix must hold numbers only"),
    ({"matrix": np.ma.masked_array(np.ones((2, 2)), [[0, 1], [0, 0]])}, "matrix must have no masked entries"),
    ({"features": ("a",)}, "features must name each of the 2 rows of the matrix, got 1"),
    ({"features": ("a", "a")}, "features must be different from each other, got 'a' twice"),
    ({"features": ("a", "")}, "features must be non-empty strings"),
    ({"features": "ab"}, "features must be a sequence of names"),
    ({"lower": [0, 50]}, "lower must be below upper for each feature, got 50 and 50 for 'b'"),
    ({"upper": [3, math.nan]}, "upper must be finite"),
    ({"upper": [3, 4, 5]}, "upper must have one entry for each of the 2 features, got 3"),
    ({"units": ["h"]}, "units must have one entry for each of the 2 features, got 1"),
    ({"units": ["h", None]}, "units must be texts"),
    ({"units": "hh"}, "units must be texts"),
    ({"units": None}, "units must be texts"),
    ({"lower": -1e308, "upper": 1e308}, "the range of 'a' must stay below 1e\\+60"),
])
def test_bad_datasets_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        Dataset(**GOOD | change)


@pytest.mark.parametrize("to", [None, 1, (), (1, 2, 3), ("a", "b"), (1, 1)])
def test_normalising_to_no_increasing_pair_is_refused(to):
    with pytest.raises(InputError, match=r"to must be (a number|a pair|an increasing pair, got \(1, 1\))"):
        Dataset(**GOOD).normalised(to=to)
