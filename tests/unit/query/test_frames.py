"""Data frames in and out: the same dataset as from arrays, nothing guessed silently."""

import datetime
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import mvgviz as mv
from mvgviz import Dataset, InputError, Origin
from mvgviz.trials.simulated import simulated_data
from tests.datasets import make_dataset

FRAME = pd.DataFrame({"age": [31, 58, 44], "dose": [0.5, 2.5, 9.0]})
RANGES = {"age": (0, 120), "dose": (0, 5)}


def test_a_frame_is_the_dataset_that_its_arrays_make():
    data = Dataset.from_frame(FRAME, ranges=RANGES, label="dose")
    assert data.features == ("age", "dose")
    assert data.label == "dose"
    assert data.matrix.tolist() == [[31, 58, 44], [0.5, 2.5, 5.0]]  # clipped
    assert data.ranges_origin is data.records_origin is Origin.DECLARED
    undeclared = Dataset.from_frame(FRAME, ranges={"age": (0, 120)})
    assert undeclared.range_origins == (Origin.DECLARED, Origin.READ)


def test_columns_are_chosen_in_order_and_by_names_that_are_no_text():
    frame = pd.DataFrame([[1, 2], [3, 5]])
    data = Dataset.from_frame(frame, columns=[1, 0], ranges={0: (0, 9), "1": (0, 9)})
    assert data.features == ("1", "0")
    assert data.matrix.tolist() == [[2, 5], [1, 3]]


@pytest.mark.parametrize("values", [
    pd.array([1, None, 3], dtype="Int64"), pd.array([1.0, None, 3.0], dtype="Float64"), [1, None, 3.0],
    pd.Series([1, None, 3], dtype=object), pd.Series([1, pd.NA, 3], dtype=object)])
def test_gaps_of_every_kind_are_refused_filled_or_dropped(values):
    frame = pd.DataFrame({"a": values, "b": [1, 2, 3]})
    ranges = {"a": (0, 10), "b": (0, 10)}
    with pytest.raises(InputError, match="missing values in 1 of 3 records, in 'a'"):
        Dataset.from_frame(frame, ranges=ranges)
    assert Dataset.from_frame(frame, ranges=ranges, missing="middle").matrix[0].tolist() == [1, 5, 3]
    dropped = Dataset.from_frame(frame, ranges=ranges, missing="drop")
    assert dropped.matrix.tolist() == [[1, 3], [1, 3]]
    assert dropped.records_origin is Origin.READ


@pytest.mark.parametrize("days", [
    pd.to_datetime(["1970-01-02 00:00", "1970-01-03 12:00"]),
    pd.to_datetime(["1970-01-02 00:00", "1970-01-03 12:00"]).tz_localize("UTC").tz_convert("Asia/Tokyo"),
    pd.Series([datetime.datetime(1970, 1, 2), datetime.datetime(1970, 1, 3, 12)], dtype=object)])
def test_dates_become_days_in_a_declared_range(days):
    frame = pd.DataFrame({"seen": days})
    data = Dataset.from_frame(frame, ranges={"seen": ("1970-01-01", datetime.date(1970, 1, 3))})
    assert data.matrix.tolist() == [[1, 2]]  # the second is clipped
    assert data.units == ("days since 1970-01-01",)
    with pytest.raises(InputError, match="'seen' holds dates: declare their range"):
        Dataset.from_frame(frame)
    with pytest.raises(InputError, match="two dates"):
        Dataset.from_frame(frame, ranges={"seen": ("soon", "later")})


@pytest.mark.parametrize(("frame", "options", "message"), [
    (pd.DataFrame({"a": ["x", "y"], "b": ["1", "2"], "c": [1, 2]}), {}, "Not numbers.*in 'a', 'b'"),
    (pd.DataFrame({"a": [1, 1], "b": [2, 2], "c": [1, 2]}), {}, "every record of 'a', 'b': declare"),
    (pd.DataFrame({"a": [1, np.inf]}), {}, "'a' holds values that are infinite or too large"),
    (pd.DataFrame({"a": [1, 10**400]}, dtype=object), {}, "'a' holds values that are infinite or too large"),
    (FRAME, {"columns": 5}, "columns must be a sequence"),
    (pd.DataFrame({"a": [1, 2]}), {"ranges": {"b": (0, 1)}}, "ranges must name columns.*'b' is none"),
    (pd.DataFrame({"a": [1, 2]}), {"label": "b"}, "label must name columns"),
    (pd.DataFrame({"a": [1, 2]}), {"columns": []}, "at least one column"),
    (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), {}, "two columns of one name"),
    (pd.DataFrame({"a": [1]}), {"ranges": {"a": (0, 1)}}, "1 complete record"),
    ([[1, 2]], {}, "must be a data frame"),
    (pd.DataFrame({"a": pd.to_timedelta([1, 2], unit="D")}), {}, "Not numbers"),
    (pd.DataFrame({"a": [1, 2]}), {"levels": {"a": [1, 1.0, 2]}}, "all different"),
])
def test_what_cannot_be_used_is_refused_in_one_sentence(frame, options, message):
    with pytest.raises(InputError, match=message):
        Dataset.from_frame(frame, **options)


def test_errors_never_tell_the_values():
    frame = pd.DataFrame({"a": ["secret-4711", "other"]})
    with pytest.raises(InputError) as refused:
        Dataset.from_frame(frame)
    assert "4711" not in str(refused.value)


class OtherSeries:
    """A column as polars has it: no pandas anywhere."""

    def __init__(self, values):
        self.values = np.array(values)

    def to_numpy(self):
        return self.values


class OtherFrame:
    columns, shape = ["a", "b"], (2, 2)

    def __getitem__(self, name):
        return OtherSeries({"a": [1, 2], "b": [True, False]}[name])


def test_any_frame_with_columns_will_do():
    data = Dataset.from_frame(OtherFrame(), ranges={"a": (0, 4), "b": (0, 1)})
    assert data.matrix.tolist() == [[1, 2], [1, 0]]


def test_a_polars_frame_is_the_dataset_that_a_pandas_frame_makes():
    polars = pytest.importorskip("polars")
    held = {"who": ["a", "b", "a", "c", "d"], "age": [31, None, 44, 60, 52], "sex": ["f", "m", "m", None, "f"],
            "ill": [True, False, None, True, True], "grade": [1, 2, 2, None, 1],
            "seen": [datetime.date(2020, 1, day) for day in (1, 3, 5, 7, 9)]}
    said = {"ranges": {"age": (0, 120), "ill": (0, 1), "seen": ("2020-01-01", "2021-01-01")}, "missing": "middle",
            "levels": {"sex": ["f", "m"], "grade": [1, 2]}, "person": "who", "at_most": 1}
    frame = polars.DataFrame(held)
    wanted = Dataset.from_frame(pd.DataFrame(held), **said)
    for other in (frame, frame.with_columns(polars.col("sex").cast(polars.Categorical),
                                            polars.col("seen").cast(polars.Datetime(time_zone="UTC")))):
        data = Dataset.from_frame(other, **said)
        assert data.features == wanted.features
        assert data.matrix.tolist() == wanted.matrix.tolist()
        assert (data.levels, data.per_person, data.units) == (wanted.levels, wanted.per_person, wanted.units)
    with pytest.raises(InputError, match="Not numbers, dates or true/false in 'who', 'sex', 'pair'"):
        Dataset.from_frame(frame.with_columns(polars.struct("age", "grade").alias("pair")))


def test_the_doors_for_data_load_no_library_that_reads_files():
    code = ("import sys, mvgviz, mvgviz.data; mvgviz.load_table; mvgviz.data.read_table; "
            "print(sorted({'pandas', 'pyarrow', 'openpyxl'} & set(sys.modules)))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_ways_in_for_files_take_frames_too():
    for way in (mv.load_table, mv.table_to_dataset):
        assert np.array_equal(way(FRAME, ranges=RANGES).matrix, Dataset.from_frame(FRAME, ranges=RANGES).matrix)
        with pytest.raises(InputError, match=r"frame\.T"):
            way(FRAME, orientation="columns")
    with pytest.raises(InputError, match="table must be a Table, got a list"):
        mv.table_to_dataset([[1, 2]])


def test_constant_columns_of_a_file_are_named_all_at_once():
    with pytest.raises(InputError, match="every record of 'a', 'c': leave them out or declare their ranges"):
        mv.load_table(b"a,b,c\n1,2,7\n1,3,7\n")


def test_answers_come_out_with_their_names():
    data = make_dataset(2, 4)
    table, mean, moments = (query(data).to_frame() for query in (mv.identity, mv.mean, mv.covariance))
    assert table.shape == (4, 2)
    assert list(table.columns) == list(data.features)
    assert np.array_equal(table.to_numpy(), data.matrix.T)
    assert list(mean.index) == list(data.features)
    assert list(mean.columns) == ["mean"]
    assert list(moments.columns) == list(moments.index) == list(data.features)
    assert mv.adjacency([[0, 1], [1, 0]]).to_frame().index.tolist() == ["vertex 1", "vertex 2"]


def test_features_are_found_by_name_wherever_a_program_names_them():
    data = Dataset.from_frame(FRAME, ranges=RANGES, label="dose")
    scenario = mv.Scenario.for_dataset(data, priority=["dose", "age"], importance={"age": 1, "dose": 3},
                                       priority_directions=["age"])
    assert (scenario.label, scenario.priority, scenario.priority_directions, scenario.importance) == (1, (0, 1), (0,),
                                                                                                      (1, 3))
    assert scenario.on(data, label="age").label == scenario.on(data, label=0).label == 0
    query = mv.mean(data)
    by_name = mv.frontier(query, ["dose"], epsilon=1, delta=1e-6, shares=(0.8,))
    assert by_name == mv.frontier(query, [1], epsilon=1, delta=1e-6, shares=(0.8,))
    with pytest.raises(InputError, match="label must be one of age, dose"):
        scenario.on(data, label="weight")
    with pytest.raises(InputError, match="no row named 'weight'"):
        mv.frontier(query, ["weight"], epsilon=1, delta=1e-6)


def test_a_release_comes_out_with_names_and_intervals():
    data = make_dataset(2, 50)
    scenario = mv.Scenario.for_dataset(data, query="mean", scale="symmetric")
    released = mv.release_setup(mv.build(scenario, data))
    frame = released.to_frame()
    assert frame["feature"].tolist() == list(data.features)
    assert np.allclose(frame["upper"] - frame["lower"], released.half_widths()[:, 0] * data.widths)
    middle = (data.lower + data.upper) / 2
    assert np.allclose(frame["value"], middle + released.noisy[:, 0] * data.widths / 2)


def test_results_come_out_a_line_for_each_mechanism():
    data = mv.sample("liver")
    results = mv.run_trials(mv.Scenario.default_for("liver"), data, mechanisms=["mvg", "exponential-columns"], trials=5)
    frame = results.to_frame()
    assert frame["mechanism"].tolist() == ["mvg", "exponential-columns"]
    assert frame["error"][0] == results["mvg"].mean
    assert "tables" in frame["reason"][1]


def test_without_pandas_a_sentence_says_what_is_needed(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match="this needs pandas"):
        mv.mean(make_dataset(2, 4)).to_frame()


PEOPLE = pd.DataFrame({"who": ["a", "b", "a", "a", "c"], "sex": ["f", "m", "f", "f", None], "age": [1, 2, 3, 4, 5]})


def test_categories_become_a_feature_for_each_declared_level():
    data = Dataset.from_frame(PEOPLE, columns=["sex", "age"], levels={"sex": ["f", "m", "x"]}, missing="middle",
                              ranges={"age": (0, 10)})
    assert data.features == ("sex=f", "sex=m", "sex=x", "age")
    assert data.levels == ((0, 1, 2),)
    assert data.matrix[:3].T.tolist() == [[1, 0, 0], [0, 1, 0], [1, 0, 0], [1, 0, 0], [1 / 3] * 3]
    assert data.ranges_origin is Origin.DECLARED
    scenario = mv.Scenario.for_dataset(data, scale="symmetric")
    assert mv.build(scenario, data).query.neighbours.levels == data.levels


def test_a_level_that_nobody_declared_is_refused_or_counts_as_other():
    frame = pd.DataFrame({"grade": [1.0, 2.0, 7.0, 2.0]})
    with pytest.raises(InputError, match="'grade' has undeclared levels in 1 of 4 records") as refused:
        Dataset.from_frame(frame, levels={"grade": [1, 2]})
    assert "7" not in str(refused.value)
    data = Dataset.from_frame(frame, levels={"grade": [1, 2, "other"]})
    assert data.matrix.T.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]]


def test_of_each_person_the_first_few_records_are_kept():
    data = Dataset.from_frame(PEOPLE, columns=["who", "age"], ranges={"age": (0, 10)}, person="who", at_most=2)
    assert data.features == ("age",)
    assert data.matrix.tolist() == [[1, 2, 3, 5]]
    assert data.per_person == 2
    assert data.records_origin is Origin.READ
    assert mv.mean(data).sensitivity == 2 * 10 / 4
    assert mv.mean(data).neighbour_rule == "up to 2 records of one person replaced"


@pytest.mark.parametrize(("options", "message"), [
    ({"person": "who"}, "person and at_most go together"),
    ({"person": "whom", "at_most": 1}, "person must name columns"),
    ({"person": "who", "at_most": 0, "columns": ["age"]}, "at_most must be a whole number"),
    ({"person": "sex", "at_most": 1, "columns": ["age"]}, "filled in for every record"),
    ({"levels": {"sex": "fm"}, "columns": ["sex"]}, "must be a sequence"),
    ({"levels": {"sex": ["f", "f"]}, "columns": ["sex"]}, "all different"),
    ({"levels": {"gender": ["f", "m"]}}, "levels must name columns"),
    ({"columns": ["who"], "person": "who", "at_most": 1}, "besides the person's"),
])
def test_what_cannot_be_said_of_people_and_categories(options, message):
    with pytest.raises(InputError, match=message):
        Dataset.from_frame(PEOPLE, **options)


@pytest.mark.parametrize("changes", [{"label": "dose"}, {"priority": ("dose",)}, {"priority_directions": ["dose"]}])
def test_a_scenario_says_where_names_are_taken(changes):
    with pytest.raises(InputError, match=r"scenario\.on\(dataset"):
        mv.Scenario().changed(**changes)


def test_one_person_is_one_whether_the_id_is_a_number_or_a_text():
    frame = pd.DataFrame({"p": [1, "1", 2, 1.0, Decimal("1.00"), np.longdouble(1)], "x": [0.0, 1.0, 2.0, 3.0, 3.0, 3]})
    data = Dataset.from_frame(frame, ranges={"x": (0, 3)}, person="p", at_most=1)
    assert data.matrix.tolist() == [[0.0, 2.0]]
    frame["p"] = [b"1", "1.0", "a", " 01", b"a ", "9e9999999"]
    data = Dataset.from_frame(frame, ranges={"x": (0, 3)}, person="p", at_most=1)
    assert data.matrix.tolist() == [[0.0, 2.0, 3.0]]


@pytest.mark.parametrize("option", ["person", "label", "columns"])
def test_a_column_in_place_of_its_name_is_refused_without_telling_its_values(option):
    frame = pd.DataFrame({"p": [12345, 2, 3], "x": [0.0, 1.0, 2.0]})
    given = [frame["p"]] if option == "columns" else frame["p"]
    with pytest.raises(InputError, match=f"{option} must name columns .* a Series is no name") as refused:
        Dataset.from_frame(frame, **{option: given}, **{"at_most": 1} if option == "person" else {})
    assert "12345" not in str(refused.value)


def test_an_id_that_may_be_written_in_two_ways_is_refused():
    frame = pd.DataFrame({"p": [{"a": 1, "b": 2}, {"b": 2, "a": 1}], "x": [0.0, 1.0]})
    with pytest.raises(InputError, match="whose record it is must hold texts or numbers"):
        Dataset.from_frame(frame, ranges={"x": (0, 3)}, person="p", at_most=1)


@pytest.mark.parametrize("levels", [[1.0, 2.0], [1, 2], ["1", "2"], np.array([1, 2], dtype=np.float32)])
@pytest.mark.parametrize("values", [[1, 2, 2], [1.0, 2.0, 2.0]])
def test_levels_may_be_numbers_however_they_are_written(levels, values):
    data = Dataset.from_frame(pd.DataFrame({"grade": values}), levels={"grade": levels})
    assert data.matrix.tolist() == [[1, 0, 0], [0, 1, 1]]


@pytest.mark.parametrize("ends", [(18_000, 19_000), (np.int64(0), np.int64(9)), (True, 5), ("0", "5"),
                                  ("2020-01-01", 5), ("today", "now"), (None, pd.NaT)])
def test_a_range_of_dates_is_not_numbers(ends):
    frame = pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2021-01-01"])})
    with pytest.raises(InputError, match=r"'day' holds dates, and its range must be two dates, such as \("):
        Dataset.from_frame(frame, ranges={"day": ends})


def test_a_moment_elsewhere_is_the_same_moment():
    east = datetime.timezone(datetime.timedelta(hours=2))
    moments = [datetime.datetime(2020, 1, day, 2, tzinfo=east) for day in (1, 3)]
    frame = pd.DataFrame({"day": pd.Series(moments, dtype=object)})
    data = Dataset.from_frame(frame, ranges={"day": (moments[0], "2020-02")})
    assert data.matrix.tolist() == [[18262, 18264]]
    assert (data.lower.tolist(), data.upper.tolist()) == ([18262], [18293])


def test_simulated_data_has_one_level_of_each_category():
    frame = pd.DataFrame({"sex": ["f", "m"] * 20, "x": [0.0, 1.0] * 20})
    data = Dataset.from_frame(frame, ranges={"x": (0, 3)}, levels={"sex": ["f", "m", "other"]})
    simulated = simulated_data(data, rng=np.random.default_rng(0))
    (group,) = data.levels
    assert (simulated.matrix[list(group)].sum(axis=0) == 1).all()
