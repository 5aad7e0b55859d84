"""Why a sensitivity is what it is, whoever the neighbours are."""

from dataclasses import replace

import pytest

from mvgviz import covariance, identity, mean
from mvgviz.pictures.data import derivation
from tests.datasets import make_dataset


@pytest.mark.parametrize("query", [mean, identity, covariance])
def test_the_derivation_follows_the_neighbours(query):
    data = make_dataset(2, 10)
    lines, words = derivation(query(data, neighbours="add-remove"))
    assert "largest number of records is public" in words
    assert lines != derivation(query(data))[0]


def test_several_records_of_a_person_are_told():
    words = derivation(mean(replace(make_dataset(2, 10), per_person=3)))[1]
    assert "up to 3 records of one person replaced" in words
    assert "The number of records of each person is not hidden" in words
