"""The picture of the records' lengths counts what is clipped."""

import numpy as np
import pytest

from mvgviz import RecordBound
from mvgviz.pictures.data import length_numbers, lengths_picture
from tests.datasets import make_dataset

DATA = make_dataset(3, 500)


@pytest.mark.parametrize("radius", [0.05, 0.7, 1.0, 5.0])
def test_the_bars_beyond_the_line_are_the_clipped_records(radius):
    numbers = length_numbers(DATA, RecordBound(radius=radius))
    assert numbers.clipped == (np.linalg.norm(DATA.matrix, axis=0) > radius).sum()
    assert numbers.longest == pytest.approx(3**0.5)
    assert numbers.counts.sum() == 500
    picture = lengths_picture(numbers, 500, chosen=True)
    inside, clipped = picture.figure.data
    assert picture.takeaway.startswith(f"**{numbers.clipped} of 500 records are clipped.**")
    assert (sum(inside.y), sum(clipped.y)) == (500 - numbers.clipped, numbers.clipped)


def test_a_record_at_the_furthest_corner_is_counted():
    data = make_dataset(2, 4)
    numbers = length_numbers(type(data)(matrix=np.ones((2, 4)), features=data.features, lower=-1, upper=1),
                             RecordBound(radius=1.0))
    assert (numbers.counts.sum(), numbers.clipped) == (4, 4)
