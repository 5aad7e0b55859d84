"""A table is known again by its numbers, in any format and order; columns that number records or name people."""

import io
from datetime import date

import numpy as np
import pandas as pd
import pytest

from mvgviz.data import Table, read_table, sample, table_to_dataset
from mvgviz.data.recognise import contents_of, holds_dates, identifiers, levels_of, new_key
from mvgviz.pictures.data import identifier_words
from mvgviz.query.frames import as_date

KEY = new_key()
RNG = np.random.default_rng(5)
FRAME = pd.DataFrame({"age": RNG.integers(18, 90, 60), "dose": RNG.uniform(0, 5, 60).round(2),
                      "smoker": RNG.integers(0, 2, 60)})


def csv(frame, **options):
    return frame.to_csv(index=False, **options).encode()


def binary(frame, kind):
    file = io.BytesIO()
    if kind == "npy":
        np.save(file, frame.to_numpy(dtype=float))
    else:
        getattr(frame, f"to_{kind}")(file, **({"index": False}))
    return file.getvalue()


def known(content, other=None, key=KEY):
    first = contents_of(read_table(csv(FRAME) if other is None else other).values, KEY)
    return first.matches(contents_of(read_table(content).values, key))


@pytest.mark.parametrize("content", [
    csv(FRAME), csv(FRAME) + b"\n\n", csv(FRAME, sep=";", decimal=","), csv(FRAME).replace(b"\n", b"\r\n"),
    csv(FRAME.rename(columns=str.upper)), csv(FRAME[["dose"]]), csv(FRAME[["smoker", "age"]]),
    csv(FRAME.assign(extra=1.5)), csv(FRAME.sample(frac=1, random_state=1)), csv(FRAME[["smoker"]]),
    binary(FRAME, "excel"), binary(FRAME, "parquet"), binary(FRAME, "npy"),
    binary(FRAME.astype(np.float32), "parquet"), csv(FRAME.T), csv(FRAME.astype(float)),
], ids=["itself", "newlines", "semicolons", "windows", "names", "one column", "two columns", "one more column",
        "shuffled", "two values only", "excel", "parquet", "npy", "half precision", "turned", "as floats"])
def test_the_same_records_are_known_again(content):
    assert known(content)


@pytest.mark.parametrize("content", [
    csv(FRAME.assign(age=FRAME.age + 1, dose=FRAME.dose + 1, smoker=1 - FRAME.smoker)),
    csv(pd.DataFrame({"id": np.arange(60), "height": RNG.uniform(150, 200, 60)})),
    csv(FRAME.iloc[:-1]),
], ids=["others", "others of the same number", "one record less"])
def test_other_records_are_other_records(content):
    assert not known(content)


def test_record_numbers_and_constants_make_no_two_tables_the_same():
    one = pd.DataFrame({"id": np.arange(1, 41), "year": 2024, "x": RNG.uniform(size=40)})
    assert not known(csv(one.assign(x=RNG.uniform(size=40))), csv(one))


def test_tables_with_two_values_need_the_same_order():
    one = pd.DataFrame({"a": [0, 1, 1, 0, 1, 0, 0, 1], "b": [1, 1, 0, 0, 1, 0, 1, 0]})
    assert known(csv(one[["b"]]), csv(one))
    assert not known(csv(pd.DataFrame({"c": [1, 1, 1, 1, 0, 0, 0, 0]})), csv(one))


def test_gaps_are_part_of_the_numbers():
    gaps = csv(FRAME).replace(b",0.", b",", 1)
    assert known(gaps, gaps)


def test_what_is_kept_means_nothing_to_another_session():
    assert not known(csv(FRAME), key=new_key())
    assert repr(contents_of(read_table(csv(FRAME)).values, KEY)) == "Contents()"


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
    assert "up to 3 times weaker (in μ)" in words


@pytest.mark.parametrize("name", ["paid", "humid", "Lipid", "acid", "key", "valid", "membership"])
def test_other_columns_are_left_alone(name):
    assert found(f"age,{name}", "31,7", "58,9", "44,7", "45,7") == ()


def test_numbers_that_are_not_whole_are_no_identifiers():
    assert found("age,patient_id", "31,7.5", "58,9", "44,7", "45,7") == ()


@pytest.mark.parametrize("name", ["two_features", "liver", "cardiotocography", "movement_simulated"])
def test_no_feature_of_a_sample_is_taken_for_one(name):
    data = sample(name)
    assert identifiers(Table(name=name, format="csv", columns=data.features, values=data.matrix.T.copy())) == ()


def test_repeated_text_is_found_like_repeated_numbers():
    rows = [f"p{i % 60},{'mf'[i % 2]},2024-01-{1 + i % 28:02}" for i in range(150)]
    table = read_table("\n".join(["patient_id,sex,day", *rows]).encode(), texts=None)
    [one] = identifiers(table)
    assert (one.name, one.most) == ("patient_id", 3)
    assert levels_of(table.texts["sex"].tolist()) == ("f", "m")
    assert levels_of(table.texts["patient_id"].tolist()) is None
    assert [name for name in table.texts if holds_dates(table, name)] == ["day"]


def test_dates_may_be_written_in_two_ways_and_are_no_identifier():
    days = "".join(f"{1 + k // 28:02}.{1 + k % 12:02}.2023,{2023 + k % 2}-{1 + k % 12:02}-0{1 + k % 9}\n"
                   for k in range(200))
    table = read_table(f"sent,seen\n{days}".encode(), texts=None)
    assert [name for name in table.texts if holds_dates(table, name)] == ["sent", "seen"]
    assert identifiers(table) == ()
    data = table_to_dataset(table, columns=["sent"], ranges={"sent": ("01.01.2023", "2023-12-31")})
    assert data.matrix[0, 0] == (date(2023, 1, 1) - date(1970, 1, 1)).days
    assert data.matrix[0, 29] == (date(2023, 6, 2) - date(1970, 1, 1)).days  # 02.06.2023: the day stands first


@pytest.mark.parametrize("text", ["5/3/2024", "31.2.2024", "1.2.24", "5.3", ""])
def test_what_would_have_to_be_guessed_is_no_date(text):
    with pytest.raises(ValueError, match=r"isoformat|out of range|must be in range"):
        as_date(text)


def test_a_table_is_known_again_by_its_text_alone():
    key, rng = new_key(), np.random.default_rng(4)
    sex, region = rng.choice(["f", "m"], 40), rng.choice(["north", "south", "west"], 40)
    known = contents_of(rng.uniform(size=(40, 1)), key, [sex, region])
    assert known.matches(contents_of(np.empty((40, 0)), key, [region]))
    assert not known.matches(contents_of(np.empty((40, 0)), key, [region[::-1], ["f"] * 40]))
    names = [f"person {k}" for k in range(60)]
    assert contents_of(np.empty((60, 0)), key, [names]).matches(contents_of(np.empty((60, 0)), key, [names[::-1]]))
