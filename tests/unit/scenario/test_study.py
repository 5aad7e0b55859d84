"""A study in one file."""

import json
import math
from contextlib import nullcontext
from dataclasses import replace

import pytest

from mvgviz import Category, DataSource, InputError, Ledger, Origin, QuestionPlan, Range, Scenario, Study, build
from mvgviz.validation import MOST_POPULATION

OWN = Scenario.default_for("upload-0123456789ab").changed(priority=(1,), judged="priority", bound="even", label=0)
SOURCE = DataSource(name="Köln; 2024.csv", columns=("age", "dose"), orientation="rows", missing="middle",
                    ranges={"age": Range(0, 120, Origin.DECLARED), "dose": Range(0.5, 7, Origin.READ)},
                    separator=";", decimal=",", header=True, directions="w.csv", directions_origin=Origin.READ)
CSV = "dose;age;name\n1,5;30;x\n2,5;;y\n6,5;41;z\n0,5;55;x\n"


def whole():
    plan = QuestionPlan.of(OWN, OWN.changed(query="mean")).moved(0, 0.7)
    return Study(scenario=OWN, source=SOURCE, plan=plan, population="patients of 2024", notes="first line\nsecond ε")


def test_a_study_comes_back_as_it_was():
    study = whole()
    assert Study.from_json(study.to_json()) == study
    assert Study.from_json(study.to_json().encode()) == study
    for name in ("liver", "karate"):
        sample = Study.of_sample(Scenario.default_for(name))
        assert Study.from_json(sample.to_json()) == sample


def test_the_file_is_read_and_used_as_before_and_none_of_it_is_in_the_study():
    study = whole()
    data = study.data(CSV.encode())
    assert data.features == ("age", "dose")
    assert data.matrix.tolist() == [[30, 60, 41, 55], [1.5, 2.5, 6.5, 0.5]]  # a gap is the middle of 0 to 120
    assert [origin.value for origin in data.range_origins] == ["declared", "read from the data"]
    assert build(study.scenario, data).design.epsilon_spent(1e-6) <= 1 + 1e-9
    assert "41" not in study.to_json()


def test_a_scenario_of_a_sample_is_a_study_and_one_of_a_file_is_not():
    scenario = Scenario.default_for("liver").changed(epsilon=0.5)
    assert Study.from_json(scenario.to_json()).scenario == scenario
    with pytest.raises(InputError, match="save a study"):
        Study.from_json(OWN.to_json())


def test_another_file_is_refused_by_name():
    with pytest.raises(InputError, match=r"it lacks age.* and has dose and size"):
        whole().data(b"dose;size\n1,5;30\n2,5;2\n")
    with pytest.raises(InputError, match="name that file"):
        whole().data()


@pytest.mark.parametrize("change", [
    {"mvgviz_study": 2}, {"extra": 1}, {"scenario": None}, {"scenario": []}, {"plan": []}, {"notes": 3},
    {"notes": "x" * 20_001}, {"population": None}, {"data": {}}, {"data": []}, {"data": {"name": 3}},
    {"data": {"name": "a", "colour": 1}}, {"data": {"name": "a", "columns": "ab"}},
    {"data": {"name": "a", "columns": [1]}}, {"data": {"name": "a", "ranges": {"x": [1]}}},
    {"data": {"name": "a", "ranges": {"x": [2, 1]}}}, {"data": {"name": "a", "ranges": {"x": [0, 1, "sure"]}}},
    {"data": {"name": "a", "ranges": {"x": [0, "1e999"]}}}, {"data": {"name": "a", "ranges": [1]}},
    {"data": {"name": "a", "levels": []}}, {"data": {"name": "a", "levels": {"sex": None}}},
    {"data": {"name": "a", "ranges": {"when": ["2024-01-01", "soon"]}}},
    {"data": {"name": "a", "directions_origin": 5}}, {"data": {"name": "a", "missing": "guess"}},
    {"data": {"name": "a", "orientation": "up"}}, {"data": {"name": "a", "header": "yes"}},
    {"data": {"name": "a", "separator": 1}}, {"data": {"name": "a", "ranges": {"x": [0, math.inf]}}},
    {"scenario": {"mvgviz": 1, "scenario": {"data": "nobody"}}},
    {"scenario": json.loads(Scenario.default_for("liver").to_json())},
], ids=lambda change: json.dumps(change)[:40])
def test_nonsense_is_one_sentence(change):
    held = json.loads(whole().to_json()) | change
    with pytest.raises(InputError) as refused:
        Study.from_json(json.dumps(held))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("text", ["", "[]", "3", "{", "\x00", "[" * 100_000, b"\xff\xfe"])
def test_what_is_no_json_object_is_one_sentence(text):
    with pytest.raises(InputError, match="JSON"):
        Study.from_json(text)


PEOPLE = DataSource(name="p.csv", ranges={"age": (0, 120), "when": ("2024-01-01", "2024-12-31")}, at_most=2,
                    person="id", levels={"sex": ["f", "m"]})
VISITS = b"id,sex,when,age\na,f,2024-01-05,30\nb,m,2024-02-01,41\na,f,2024-03-01,31\na,m,2024-03-02,32\n"


def test_categories_dates_and_persons_are_part_of_a_study():
    study = Study(scenario=OWN.changed(priority=(), label=None), source=PEOPLE)
    again = Study.from_json(study.to_json())
    assert again == study
    data = again.data(VISITS)
    assert data.features == ("age", "sex=f", "sex=m", "when")
    assert (data.n_records, data.per_person) == (3, 2)
    with pytest.raises(InputError, match="it lacks sex"):
        study.data(VISITS.replace(b"sex", b"gender"))


@pytest.mark.parametrize("wrong", [
    {"levels": {"sex": "fm"}}, {"levels": {"sex": 3}}, {"levels": {3: ["a", "b"]}}, {"person": "id"}, {"at_most": 2},
    {"person": "id", "at_most": 0}, {"person": 3, "at_most": 1}, {"ranges": {"when": ("2024-01-01", "soon")}},
    {"ranges": {"when": ("2024-01-01", 3)}}])
def test_what_is_declared_of_people_is_checked(wrong):
    with pytest.raises(InputError):
        DataSource(name="p.csv", **wrong)


def test_directions_from_a_file_are_not_declared_by_saving_them():
    study = Study.of_sample(Scenario.default_for("liver").changed(directions="upload"))
    assert study.source.directions_origin is Origin.READ
    assert Study.from_json(study.to_json()).source.directions_origin is Origin.READ
    stated = Study(scenario=OWN, source=DataSource(name="a.csv", directions_origin=Origin.DECLARED))
    assert Study.from_json(stated.to_json()).source.directions_origin is Origin.DECLARED


@pytest.mark.parametrize(("length", "fits"), [(MOST_POPULATION, True), (MOST_POPULATION + 1, False)])
def test_a_study_s_population_is_one_that_a_ledger_takes(length, fits):
    people, scenario = "x" * length, Scenario.default_for("liver")
    for take in (lambda: Study.of_sample(scenario, population=people), lambda: Ledger().same_people(people)):
        with nullcontext() if fits else pytest.raises(InputError, match=f"at most {MOST_POPULATION} characters"):
            take()


def test_categories_units_and_a_title_are_saved_with_the_source():
    source = DataSource(name="p.csv", levels={"sex": Category(["f", "m"], Origin.READ), "grade": Category(
        ["low", "high"], ordered=True), "site": ["a", "b"]}, units={"age": "years"}, title="Visits 2024")
    assert DataSource.from_dict(json.loads(json.dumps(source.to_dict()))) == source
    assert source.levels["site"] == ("a", "b")
    assert source.texts == ("sex", "grade", "site")
    with pytest.raises(InputError, match="at most 80"):
        replace(source, title="x" * 81)
