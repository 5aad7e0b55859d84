"""Columns that number the records or name people."""

import pytest

from mvgviz.data import read_table, sample
from mvgviz.data.recognise import identifiers
from mvgviz.data.table import Table
from mvgviz.pictures.data import identifier_words


def found(header, *rows):
    return identifiers(read_table("\n".join([header, *rows]).encode()))


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("name", ["Unnamed: 0", "index", "x"])
def test_a_first_column_that_counts_the_records_is_found_whatever_its_name(name, start):
    (one,) = found(f"{name},b", *(f"{start + i},{i * i % 5}.5" for i in range(6)))
    assert (one.name, one.numbers_records, one.most) == (name, True, 1)


def test_an_index_elsewhere_is_found_by_its_name():
    rows = [f"{i * i % 5}.5,{i},{i}" for i in range(6)]
    assert [one.name for one in found("b,index,dose", *rows)] == ["index"]


@pytest.mark.parametrize("name", ["id", "_id", "ID", "patient_id", "patient", "userId", "Person No", "customer-number"])
def test_an_identifier_is_found_by_its_name_and_its_repetitions_counted(name):
    (one,) = found(f"age,{name}", "31,7", "58,9", "44,7", "45,7")
    assert (one.name, one.numbers_records, one.most) == (name, False, 3)
    (words,) = identifier_words([one])
    assert "up to 3 times the μ" in words


@pytest.mark.parametrize("name", ["paid", "humid", "Lipid", "acid", "key", "valid", "membership"])
def test_other_columns_are_left_alone(name):
    assert found(f"age,{name}", "31,7", "58,9", "44,7", "45,7") == ()


def test_numbers_that_are_not_whole_are_no_identifiers():
    assert found("age,patient_id", "31,7.5", "58,9", "44,7", "45,7") == ()


@pytest.mark.parametrize("name", ["two_features", "liver", "cardiotocography", "movement_simulated"])
def test_no_feature_of_a_sample_is_taken_for_one(name):
    data = sample(name)
    assert identifiers(Table(name=name, format="csv", columns=data.features, values=data.matrix.T.copy())) == ()
