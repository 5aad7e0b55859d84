"""Categories, dates and persons of a file: what the same frame gives."""

import io

import numpy as np
import pandas as pd
import pytest

from mvgviz import Category, Dataset, InputError, Origin, load_table, read_table, table_to_dataset
from mvgviz.data.recognise import contents_of, new_key

FRAME = pd.DataFrame({
    "id": ["p1", "p2", "p1", "7", "p1", "p2"], "sex": ["f", "m", "f", "none", "m", "f"],
    "when": pd.to_datetime(["2024-01-05", "2024-02-01", "2024-03-01", "2023-03-02", "2024-12-31", "2024-06-30"]),
    "age": [30.0, 41.0, 31.0, 77.0, 32.0, 42.0], "note": list("uvwxyz")})
USE = {"ranges": {"age": (0, 120), "when": ("2024-01-01", "2024-12-31")}, "levels": {"sex": ["f", "m", "none"]},
       "person": "id", "at_most": 2}
CSV = FRAME.to_csv(index=False).encode()


def as_excel(frame):
    held = io.BytesIO()
    frame.to_excel(held, index=False)
    return held.getvalue()


def same(one, other):
    assert one.features == other.features
    np.testing.assert_array_equal(one.matrix, other.matrix)
    for name in ("levels", "per_person", "range_origins", "records_origin", "units"):
        assert getattr(one, name) == getattr(other, name), name
    assert (one.lower.tolist(), one.upper.tolist()) == (other.lower.tolist(), other.upper.tolist())


EXPECTED = Dataset.from_frame(FRAME.drop(columns="note")[["id", "age", "sex", "when"]], **USE)


@pytest.mark.parametrize("content", [
    CSV, CSV.replace(b",", b";"), CSV.replace(b"2024-01-05", b"2024-01-05 00:00:00"), as_excel(FRAME),
    FRAME.to_parquet(index=False), FRAME.astype({"sex": "category"}).to_parquet(index=False)],
    ids=["csv", "semicolons", "times", "excel", "parquet", "categories"])  # the bytes of an Excel file hold the time
def test_every_format_gives_what_the_frame_gives(content):
    same(load_table(content, **USE), EXPECTED)
    assert EXPECTED.per_person == 2
    assert EXPECTED.n_records == 5  # the third record of p1 is left out


def test_texts_stay_with_their_records_where_rows_are_left_out_and_over_many_blocks():
    lines = CSV.decode().splitlines()
    with_gaps = "\n".join([lines[0], ",,,,", *lines[1:3], "# a comment", "", *lines[3:]])
    np.testing.assert_array_equal(load_table(with_gaps.encode(), **USE).matrix, EXPECTED.matrix)
    size = 90_000  # more than one block of text
    level = np.array(["a", "b", "c"])[np.random.default_rng(0).integers(3, size=size)]
    long = pd.DataFrame({"level": level, "x": np.arange(size) % 97, "filler": ["some more words"] * size})
    found = load_table(long.to_csv(index=False).encode(), ranges={"x": (0, 100)}, levels={"level": list("abc")})
    for position, name in enumerate("abc", start=1):
        np.testing.assert_array_equal(found.matrix[position], level == name)


def test_columns_are_chosen_and_ordered_by_name():
    assert load_table(CSV, **USE, columns=["sex", "age"]).features == ("sex=f", "sex=m", "sex=none", "age")


def test_categories_and_persons_may_be_numbers():
    numbered = b"id,group,x\n7,1,0.5\n7,2,0.6\n8,2,0.7\n7,1,0.8\n"
    data = load_table(numbered, ranges={"x": (0, 1)}, levels={"group": [1, 2]}, person="id", at_most=1)
    assert data.features == ("group=1", "group=2", "x")
    assert data.matrix.tolist() == [[1, 0], [0, 1], [0.5, 0.7]]


def test_a_gap_is_one_unless_it_is_a_level():
    content = b"x,kind\n1,a\n2,\n3,none\n4,b\n"
    data = load_table(content, ranges={"x": (0, 5)}, levels={"kind": ["a", "b", "none"]}, missing="drop")
    assert data.matrix[0].tolist() == [1, 3, 4]
    with pytest.raises(InputError, match="missing values in 2 of 4 records"):
        load_table(content, ranges={"x": (0, 5)}, levels={"kind": ["a", "b"]})


def test_a_table_alone_keeps_no_text_that_was_not_asked_for():
    table = read_table(CSV)
    assert dict(table.texts) == {}
    assert "sex" in table.text_columns
    kept = read_table(CSV, texts=["sex", "absent"])
    assert (list(kept.texts), "sex" in kept.text_columns) == (["sex"], False)
    assert "none" not in repr(kept)
    with pytest.raises(InputError, match=r"read without the text of .sex.: name it in read_table"):
        table_to_dataset(table, ranges={"age": (0, 120)}, levels={"sex": ["f", "m"]}, columns=["age", "sex"])


@pytest.mark.parametrize(("change", "said"), [
    ({"levels": {"sex": ["f", "m"]}}, "missing values in 1 of"), ({"levels": {"sex": "fm"}}, "must be a sequence"),
    ({"levels": {"sex": 3}}, "must be a sequence"), ({"levels": ["sex"]}, "levels must map"),
    ({"levels": {"size": ["a", "b"]}}, "no column named"), ({"at_most": None}, "go together"),
    ({"person": "who"}, "no column named"), ({"orientation": "columns"}, "orientation must be"),
    ({"ranges": {"age": (0, 120), "note": ("2024-01-01", "2024-12-31")}}, r"no date in row 2 of column .note."),
    ({"ranges": {"age": (0, 120), "when": ("2024-01-01", "soon")}}, "must be two dates"),
    ({"columns": ["age", "note"]}, "has text in column .note."),
])
def test_what_does_not_fit_is_refused_in_a_sentence(change, said):
    with pytest.raises(InputError, match=said):
        load_table(CSV, **USE | change)


@pytest.mark.parametrize("content", [CSV, as_excel(FRAME), FRAME.to_parquet(index=False)],
                         ids=["csv", "excel", "parquet"])
def test_all_text_is_kept_where_no_column_is_named(content):
    table = read_table(content, texts=None)
    assert (set(table.texts), table.text_columns) == ({"id", "sex", "when", "note"}, ())
    same(table_to_dataset(table, columns=["age", "sex", "when"], **USE), EXPECTED)


def test_text_that_nobody_named_is_kept_as_long_as_there_is_room():
    content = b"x,long,sex\n" + b"".join(b"%d,%s,f\n" % (i, b"w" * 200) for i in range(100))
    table = read_table(content, texts=None, max_bytes=30_000)
    assert (list(table.texts), table.text_columns) == (["sex"], ("long",))


def test_a_file_of_text_alone_is_no_dead_end():
    table = read_table(b"sex,region\nf,north\nm,south\nf,south\n", texts=None, header=True)
    data = table_to_dataset(table, levels={"sex": ["f", "m"], "region": ["north", "south"]})
    assert data.features == ("sex=f", "sex=m", "region=north", "region=south")
    assert contents_of(table.values, new_key()).features == frozenset()


def test_levels_read_from_the_data_say_so():
    read = Category(["f", "m", "none"], Origin.READ)
    data = load_table(CSV, ranges={"age": (0, 120)}, levels={"sex": read}, columns=["age", "sex"])
    assert data.range_origins == (Origin.DECLARED, *[Origin.READ] * 3)


def test_ordered_levels_are_one_feature():
    grades = b"x,grade\n1,low\n2,high\n3,\n4,middle\n"
    data = load_table(grades, ranges={"x": (0, 5)}, missing="middle", units={"x": "kg"},
                      levels={"grade": Category(["low", "middle", "high"], ordered=True)})
    assert (data.features, data.units, data.upper.tolist()) == (("x", "grade"), ("kg", ""), [5, 2])
    assert data.matrix[1].tolist() == [0, 2, 1, 1]


def test_units_stand_with_numbers_alone():
    assert load_table(b"x,y\n1,2\n2,4\n", units={"y": "mg"}).units == ("", "mg")
