"""Ranges in and out."""

import pytest

from mvgviz import InputError, Origin, Range
from mvgviz.scenario.ranges import fitting, ranges_from_text, ranges_to_csv, ranges_to_json

RANGES = {"age": Range(0.0, 120.0, Origin.DECLARED), "=dose, mg": Range(-0.1, 1e-7, Origin.READ),
          "ä;b": Range(1.0, 2.0, Origin.DECLARED)}
ODD = {name: Range(0.0, 1.0, Origin.DECLARED) for name in (
    "'t", "''t", "t'", " t", "t ", "\t-t", "'=t", " =t", "t", '"t"', "a\nb", "a\u2028b", "'")}


@pytest.mark.parametrize("ranges", [RANGES, ODD], ids=["ranges", "odd names"])
def test_ranges_and_names_come_back_as_they_were(ranges):
    for told in (ranges_to_csv(ranges), ranges_to_json(ranges), b"\xef\xbb\xbf" + ranges_to_csv(ranges).encode()):
        assert ranges_from_text(told) == ranges


def test_what_is_not_said_to_be_known_is_not():
    assert ranges_from_text("Feature;Lowest;Highest\nage;0,5;9\n") == {"age": Range(0.5, 9.0, Origin.READ)}
    assert ranges_from_text("feature\tlowest\thighest\tknown\nage\t0\t9\tNo\n")["age"].origin is Origin.READ
    assert ranges_from_text('{"age": [0, 9]}')["age"].origin is Origin.DECLARED  # a statement


def test_only_those_of_the_table_are_taken():
    assert fitting(RANGES, ["age", "x"]) == ({"age": RANGES["age"]}, ["=dose, mg", "ä;b"])


@pytest.mark.parametrize(("text", "words"), [
    ("", "header"), ("age,0,120\n", "header"), ("a,b,c\n1,2,3\n", "columns"),
    ("feature,lowest,highest\nage,,9\n", "two numbers"), ("feature,lowest,highest\nage,9,1\n", "below"),
    ("feature,lowest,highest\nage,0,inf\n", "finite"), ("feature,lowest,highest,known\nage,0,1,maybe\n", "yes or no"),
    ("feature,lowest,highest\nage,0,1\nage,0,2\n", "twice"), ("{", "JSON"), ("{}", "1 to"),
    ("feature,lowest,highest,known,known\nage,0,1,no,yes\n", 'one column "known", and this one has it twice'),
    ('{"a": 3}', "low, high"), (b"\xff\xfe", "UTF-8"), ('{"a": [0, 1, "sure"]}', "where"),
])
def test_nonsense_is_one_sentence(text, words):
    with pytest.raises(InputError, match=words):
        ranges_from_text(text)
