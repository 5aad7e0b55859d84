"""Reading user files: the same numbers from every format, a sentence for everything else."""

import datetime
import gc
import io
import math
import threading
import tracemalloc
import weakref
import zipfile
from contextlib import suppress

import numpy as np
import openpyxl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mvgviz import InputError
from mvgviz.data import load_table, propose_ranges, read_table, table_to_dataset
from mvgviz.data.delimited import HeaderUnclearError, _end_of_records
from mvgviz.provenance import Origin
from tests.calls import calls_of
from tests.unit.data import bad_files as bad

VALUES = np.array([[1.5, -2.0, 1e-7], [3.25, 4.0, 5e6], [np.nan, 0.0, -1.0], [0.1, 7.0, 123456.789]])
NAMES = ["dose", "age", "rate"]
RECORDS = [[float(cell) for cell in row] for row in VALUES]
SMALL = b"x,y\n1,2\n3,5\n"
SECRET = f"{bad.SECRET}x".encode()


def _formats():
    columns = dict(zip(NAMES, VALUES.T, strict=True))
    yield "npy", bad.as_npy(VALUES)
    yield "npy", bad.as_npy(np.asfortranarray(VALUES))
    yield "npy", bad.as_npy(VALUES.astype(">f8"))
    yield "npz", bad.as_npz(x=VALUES)
    yield "xlsx", bad.as_xlsx([NAMES, *RECORDS])
    yield "parquet", bad.as_parquet(columns)
    for separator in bad.SEPARATORS:
        for decimal in ".,":
            for encoding in bad.ENCODINGS:
                yield "csv", bad.as_text(VALUES, NAMES, separator=separator, decimal=decimal, encoding=encoding)


def test_every_format_gives_the_same_numbers():
    for expected, content in _formats():
        table = read_table(content)
        assert table.format == expected
        np.testing.assert_array_equal(table.values, VALUES)
        assert table.columns in (tuple(NAMES), ("column 1", "column 2", "column 3"))
        assert table.missing == {table.columns[0]: 1}
        assert table.rows_with_missing == 1
        assert table.n_rows == 4
        assert not table.values.flags.writeable


@pytest.mark.parametrize("separator", bad.SEPARATORS)
@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("encoding", bad.ENCODINGS)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_what_a_text_looks_like_is_detected(separator, decimal, encoding, newline):
    names = [*NAMES[:2], "größe" if encoding == "latin-1" else "rate"]
    table = read_table(bad.as_text(VALUES, names, separator=separator, decimal=decimal, encoding=encoding,
                                   newline=newline))
    assert (table.separator, table.decimal, table.header, table.encoding) == (separator, decimal, True, encoding)
    assert table.columns == tuple(names)
    assert any("header in row 1" in note for note in table.notes)


def test_what_was_detected_can_be_corrected():
    assert read_table(b"2001,2002\n1,2\n3,4\n", header=True).columns == ("2001", "2002")
    assert read_table(SMALL.replace(b"x,y\n", b""), header=False).n_rows == 2
    assert read_table(b"a;b\n1,234;5\n2,345;6\n", decimal=".").values[0, 0] == 1234
    assert read_table(b"a;b\n1,234;5\n2,345;6\n", decimal=",").values[0, 0] == 1.234
    assert read_table(b"a:b\n1:2\n3:4\n", separator=":").columns == ("a", "b")
    assert read_table("é,b\n1,2\n3,4\n".encode(), encoding="latin-1").columns == ("Ã©", "b")


def test_a_path_bytes_and_an_open_file_are_read_alike(tmp_path):
    path = tmp_path / "small.csv"
    path.write_bytes(SMALL)
    with path.open("rb") as file:
        file.read(3)  # wherever it stands
        tables = [read_table(path), read_table(str(path)), read_table(SMALL), read_table(file)]
        assert not file.closed
    tables += [read_table(bytearray(SMALL)), read_table(memoryview(SMALL)), read_table(_Pipe(SMALL))]
    assert tables[0].name == tables[3].name == "small.csv"
    assert all((table.values == tables[0].values).all() for table in tables)


class _Pipe(io.BytesIO):
    def seekable(self):
        return False


def test_the_content_decides_and_not_the_name():
    assert read_table(bad.as_npy(VALUES), name="table.csv").format == "npy"
    assert read_table(SMALL, name="table.parquet").format == "csv"


def test_progress_goes_from_little_to_one():
    seen = []
    read_table(bad.as_text(np.ones((60_000, 6)), list("abcdef")), progress=seen.append)
    assert seen == sorted(seen)
    assert len(seen) > 2
    assert seen[-1] == 1


def test_a_table_is_not_read_cell_by_cell():
    contents = [bad.as_text(np.random.default_rng(0).normal(size=(n, 22)), [f"f{i}" for i in range(22)])
                for n in (200, 2200)]
    read_table(contents[0])
    few, many = (calls_of(lambda: read_table(content)) for content in contents)  # noqa: B023
    assert many - few < 2000 * 22 / 10


@pytest.mark.slow
def test_a_long_file_is_read_in_blocks_to_the_last_digit():
    values = np.random.default_rng(1).normal(size=(40_000, 7))
    content = bad.as_text(values, list("abcdefg"))
    assert len(content) > 4 * 2**20  # several blocks
    np.testing.assert_array_equal(read_table(content).values, values)
    spoiled = content.splitlines(keepends=True)
    spoiled[39_000] = b"1,2,3,4,5,x,7\n"
    with pytest.raises(InputError, match=r"no number in row 39001 of column 'f'"):
        read_table(b"".join(spoiled))
    spoiled[39_000] = b"1,2,3,4,5,6\n"
    with pytest.raises(InputError, match=r"6 values in row 39001 where the header has 7"):
        read_table(b"".join(spoiled))


@pytest.mark.slow
def test_reading_holds_little_more_than_its_array():
    content = bad.as_text(np.random.default_rng(2).normal(size=(20_000, 20)).round(3), [f"f{i}" for i in range(20)])
    read_table(SMALL)
    pool, before = pa.default_memory_pool(), pa.total_allocated_bytes()
    tracemalloc.start()
    table = read_table(content)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert pool.bytes_allocated() <= before + 2**20
    assert peak < 3 * table.values.nbytes


class _Watched(io.BytesIO):
    """Notes in which threads it is read."""

    def read(self, count=-1):
        self.threads = {*getattr(self, "threads", ()), threading.get_ident()}
        return super().read(count)


@pytest.mark.parametrize("content", [
    SMALL, b"a,b\n" + b"1,2\n" * 600_000, b"a,b\n1,2,3\n" + b"1,2\n" * 600_000,
    b"a,b\n" + b"1,2\n" * 600_000 + b"1,2,3\n",
    b"a,b\n" + b"1,2\n" * 600_000 + b"\0", b'a,b\n1,"' + b"x" * 4_000_000,
    bad.as_parquet({"a": np.arange(200_000), "b": ["x", "y"] * 100_000}),
    bad.as_parquet({"a": np.arange(200_000)})[:-9],
], ids=["small", "long", "ragged", "ragged late", "zero", "open", "parquet", "cut parquet"])
def test_a_file_is_read_in_the_calling_thread_alone_and_let_go(content):
    """A thread of Arrow that still holds it after a refusal hangs or crashes the process."""
    stream = _Watched(content)
    with suppress(InputError):
        read_table(stream, texts=None)
    assert stream.threads == {threading.get_ident()}
    held = weakref.ref(stream)
    del stream
    gc.collect()
    assert held() is None


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
def test_a_block_ends_where_a_record_ends(newline):
    records = [record + newline for record in (
        b"1,2", b'"a,""b",2', b'"a%bb","%b"' % (newline, newline), b'5",1', b'"c"d","""%b"' % newline, b"",
        b'x""y,"z%b"' % newline, b'""""')]
    text, ends = b"".join(records), np.cumsum([len(record) for record in records])
    for size in range(len(text) + 1):
        whole = ends[ends <= size - (newline == b"\r")]  # a line feed may follow
        assert _end_of_records(text[:size], b",") == (whole[-1] if whole.size else 0)


def test_rows_are_counted_through_all_blocks():
    block = b"1,2\n" * 300_000 + b"# a remark\n"
    table = read_table(b"a,b\n" + 2 * block + b"3,4\n")
    assert (table.n_rows, table.left_out.tolist()) == (600_001, [300_002, 600_003])
    with pytest.raises(InputError, match="3 values in row 600004"):
        read_table(b"a,b\n" + 2 * block + b"1,2,3\n")


# what is set aside, cleaned or read with a remark


def test_text_dates_and_empty_columns_are_set_aside_by_name():
    table = read_table(b"who,when,dose,nothing,\nann,2020-01-02,1,,\nbob,2020-01-03,2,,\n")
    assert table.columns == ("dose",)
    assert table.text_columns == ("who", "when")
    assert table.empty_columns == ("nothing", "column 5")
    assert "Set aside because they hold text: 'who', 'when'." in table.notes
    assert "Set aside because they are empty: 'nothing'." in table.notes


@pytest.mark.parametrize(("content", "expected"), [
    (b'a,b\n"1,234",2\n"5,678.5",3\n"5,678.5",4\n', [[1234, 2], [5678.5, 3], [5678.5, 4]]),
    (b"a;b\n1.234,5;2\n5.678;3\n1,5;4\n", [[1234.5, 2], [5678, 3], [1.5, 4]]),
    ("a;b\n1 234,5;2\n5\u00a0678;3\n".encode(), [[1234.5, 2], [5678, 3]]),
    (b"a;b\n1,5;1.234\n2,5;5.678\n", [[1.5, 1234], [2.5, 5678]]),
    (b"a,b\n12%,2\n3.5 %,3\n", [[12, 2], [3.5, 3]]),
    (b'"a","b"\n"1","2"\n"3","4"\n', [[1, 2], [3, 4]]),
    (b"a,b\nTRUE,2\nfalse,3\n", [[1, 2], [0, 3]]),
    (b"a,b,\n1,2,\n3,4,\n", [[1, 2], [3, 4]]),
    (b"a,b\n1,2,\n3,4,\n", [[1, 2], [3, 4]]),
    (b"a,b,\n1,2\n3,4\n", [[1, 2], [3, 4]]),
    (b"# made by hand\n\na,b\n1,2\n# a remark\n3,4\n", [[1, 2], [3, 4]]),
    (b"sep=;\na;b\n1;2\n3;4\n", [[1, 2], [3, 4]]),
    (b"sep=;\n\na;b\n1;2\n3;4\n", [[1, 2], [3, 4]]),
    (b" a , b \n 1 , 2 \n 3 , 4 \n", [[1, 2], [3, 4]]),
    (b"  1.5   2\n 10.25  33\n", [[1.5, 2], [10.25, 33]]),
    (b"  1.5   2 \r 10.25  33\r", [[1.5, 2], [10.25, 33]]),
    (b"a,b\n9007199254740993,2\n-18446744073709551616,4\n", [[9007199254740992, 2], [-18446744073709551616, 4]]),
    (b"a,b\n+1,.5\n1.,1e3\n", [[1, 0.5], [1, 1000]]),
    (b"x\n1\n2\n", [[1], [2]]),
    (b"x\n1,5\n2,5\n", [[1.5], [2.5]]),
    (b"1\n2\n", [[1], [2]]),
    (b"a,b\n1,2\n\n3,4\n,\n   \n", [[1, 2], [3, 4]]),
    (b"a,b\r1,2\r3,4", [[1, 2], [3, 4]]),
])
def test_numbers_come_in_many_dresses(content, expected):
    np.testing.assert_array_equal(read_table(content).values, expected)


@pytest.mark.parametrize("content", [
    b"a;b\n1.100;2.200\n1.101;2.201\n1.102;2.202\n", b"a;b\n1.100;2.200\n1.101;2.201\n1,5;2,5\n",
    b'a,b\n"1,234",2\n"5,678",3\n', b"a;b\n1,234;5\n2,345;6\n"])
def test_one_record_does_not_decide_how_all_others_are_read(content):
    with pytest.raises(InputError, match="choose its decimal mark"):
        read_table(content)
    if b"1,5" not in content:
        assert read_table(content, decimal=".").n_rows == content.count(b"\n") - 1


@pytest.mark.parametrize("content", [
    b"Smith,unknown,45\nJones,12,50\nBrown,30,61\n",  # text and numbers, as in the rows below
    b"f,unknown\nm,3\nf,4\n",  # its text is found again below
    b"refused,n/a\n12,3\n13,4\n",  # a gap is no name
    b"refused,-\n12,3\n13,4\n",  # nor is a dash
    b"refused,,\n12,3,5\n13,4,6\n",  # most columns have a name
    b"hiv,ja\n" + b"flu,no\n" * 150 + b"hiv,ja\n",  # nothing below is a number, and only the first rows are searched
    b"hiv,anna@x.org\nflu,bert@x.org\ncold,cleo@x.org\n",
    b"Smith,f,smoker,unknown\nJones,m,never,7\nBrown,f,never,8\n"])
@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_a_record_that_may_be_taken_for_names_is_asked_about(content, kind):
    """One record's text would decide, and its values would be published as names."""
    if kind == "xlsx":
        rows = [[float(cell) if cell.isdigit() else cell for cell in line.split(",")]
                for line in content.decode().splitlines()]
        content = bad.as_xlsx(rows)
    with pytest.raises(HeaderUnclearError, match="Say header=True or header=False") as refused:
        read_table(content, texts=None)
    assert not any(word in str(refused.value) for word in ("Smith", "London", "unknown"))
    assert len(refused.value.rows) >= 2
    assert load_table(b"f,unknown\nm,3\nf,4\n", header=True).features == ("unknown",)


def test_numpys_commented_header_names_the_columns():
    stream = io.BytesIO()
    np.savetxt(stream, VALUES[:2], header="dose age rate")
    assert read_table(stream.getvalue()).columns == tuple(NAMES)


@pytest.mark.parametrize("word", ["", "NA", "n/a", "NaN", "nan", "null", "None", "?", ".", "#N/A", " NA "])
def test_missing_values_have_many_names(word):
    assert read_table(f"a,b\n1,2\n{word},3\n4,5\n".encode()).missing == {"a": 1}


def test_a_row_of_missing_values_is_a_record_and_a_blank_row_is_none():
    table = read_table(b"a,b\n1,2\n,\nNA,NA\n3,4\n")
    assert table.n_rows == 3
    assert table.left_out.tolist() == [3]
    assert "Rows with nothing in them were left out: 1." in table.notes
    with pytest.raises(InputError, match="missing values in 1 record, the first in row 4, column 'a'"):
        table_to_dataset(table)


def test_column_names_are_kept_but_for_blanks_and_length():
    table = read_table(('"<b>a</b>\n  **b**",' + "long" * 40 + ',,"`x`"\n1,2,3,4\n5,6,7,8\n').encode())
    assert table.columns == ("<b>a</b> **b**", ("long" * 40)[:80], "column 3", "`x`")
    assert table.values.tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]


def test_the_header_may_stand_a_few_lines_below_the_one_that_names_the_separator():
    table = read_table(b"sep=;\n\n# by hand\na;b\n1;2\n3;4\n")
    assert table.columns == ("a", "b")
    assert (table.first_row, table.header) == (5, True)
    assert "Comment lines above the table were left out: 1." in table.notes


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_missing_byte_order_mark_is_told_in_a_sentence(encoding):
    with pytest.raises(InputError, match=f"is not {encoding.upper()} text from about line 1 on"):
        read_table("a,b\n1,2\n3,4\n".encode(f"{encoding}-le"), encoding=encoding)


def test_the_signs_of_windows_are_read_as_such():
    table = read_table("price €,“b”\n1,2\n3,4\n".encode("cp1252"))
    assert (table.columns, table.encoding) == (("price €", "“b”"), "cp1252")
    for name, encoding in (("müller", "latin-1"), ("“müller”", "cp1252")):  # the first letters do not tell
        late = read_table(("name,x\n" + "smith,1\n" * 20_000 + f"{name},2\n").encode(encoding))
        assert (late.encoding, late.n_rows) == (encoding, 20_001)
    assert read_table(b"a\x81\xe9,b\n1,2\n3,4\n").columns == ("aé", "b")  # cp1252 has nothing there
    assert read_table(b"a\x80,b\n1,2\n3,4\n", encoding="latin-1").columns == ("a", "b")


def test_a_graph_is_recognised():
    ring = np.roll(np.eye(5), 1, axis=1) + np.roll(np.eye(5), -1, axis=1)
    assert read_table(bad.as_npy(ring)).is_graph
    assert read_table(bad.as_text(ring, list("abcde"))).is_graph
    for spoil in (ring + np.eye(5), 2 * ring, np.roll(np.eye(5), 1, axis=1), ring[:4]):
        assert not read_table(bad.as_npy(spoil)).is_graph
    assert load_table(bad.as_npy(np.zeros((3, 3)))).n_features == 3  # nodes without neighbours are no mistake


# Excel


@pytest.mark.parametrize("place", [0, 1])
def test_chart_sheets_are_passed_over_and_merged_cells_leave_gaps(place):
    book = openpyxl.Workbook()
    for row in (["a", "b"], [1, 2], [3, 4]):
        book.active.append(row)
    book.create_chartsheet("Chart", place)
    book["Sheet"].merge_cells("A2:A3")
    table = read_table(bad.saved(book))
    assert table.members == ("Sheet",)
    np.testing.assert_array_equal(table.values, [[1, 2], [np.nan, 4]])
    assert table.missing == {"a": 1}


def test_a_workbook_with_several_sheets_lets_one_choose():
    book = bad.as_xlsx([], [["a", "b"], [1, 2], [3, 4]], [["c", "d"], [5, 6], [7, 8]])
    table = read_table(book)
    assert table.members == ("Sheet", "Sheet1", "Sheet2")
    assert table.member == "Sheet1"
    assert read_table(book, member="Sheet2").columns == ("c", "d")
    with pytest.raises(InputError, match="no sheet of that name"):
        read_table(book, member="Sheet9")


def test_excels_own_kinds_of_cells():
    day = datetime.datetime(2020, 1, 2)
    table = read_table(bad.as_xlsx(
        [["who", "day", "flag", "n", "mark"], ["a", day, True, 1, "1.5"], ["b", day, False, 2.5, "3"]]))
    assert table.columns == ("flag", "n", "mark")
    assert table.values.tolist() == [[1, 1, 1.5], [0, 2.5, 3]]
    assert table.text_columns == ("who", "day")


def test_a_formula_without_a_saved_result_is_missing_and_said_to_be():
    table = read_table(bad.as_xlsx([["a", "b"], [1, 2], [3, "=A3*2"], [5, 6]]))
    assert table.missing == {"b": 1}
    assert any("formulas" in note for note in table.notes)


@pytest.mark.slow
@pytest.mark.parametrize("last", ["A999999999", "XFD1048576"])
def test_a_cell_far_away_from_the_rest_costs_nothing(last):
    number = last.lstrip("AXFD")
    sheet = f'<row r="1"><c r="XFD1"><v>1</v></c></row><row r="{number}"><c r="{last}"><v>2</v></c></row>'
    book = bad.with_texts(sheet.encode(), b"</sst>")
    if last == "XFD1048576":
        table = read_table(book)
        assert table.values.tolist() == [[1], [2]]
        assert table.file_row(1) == 1_048_576
    else:
        with pytest.raises(InputError, match="rows beyond Excel's limit"):
            read_table(book)


def test_a_long_sheet_need_not_tell_its_size_nor_where_its_cells_are():
    row = b'<row spans="1:2"><c t="s"><v>0</v></c><c><v>1.25</v></c></row>'
    assert read_table(bad.with_texts(row * 40_000, b"<si><t>7</t></si></sst>")).values.shape == (40_000, 2)


# NumPy and Parquet


def test_an_npz_with_several_arrays_lets_one_choose():
    content = bad.as_npz(labels=np.arange(4), x=VALUES, y=2 * VALUES)
    table = read_table(content)
    assert (table.member, table.members) == ("x", ("labels", "x", "y"))
    np.testing.assert_array_equal(read_table(content, member="y").values, 2 * VALUES)
    with pytest.raises(InputError, match="no array of that name"):
        read_table(content, member="z")
    with pytest.raises(InputError, match="holds 3 arrays: choose one"):
        load_table(content)


class _Tripwire:
    def __reduce__(self):
        return exec, ("raise SystemExit('unpickled')",)


@pytest.mark.parametrize(("array", "sentence"), [
    (np.array([_Tripwire()], dtype=object), "never opened"),
    (np.array([{"a": 1}, None], dtype=object), "Python objects, which are never opened"),
    (np.zeros(3, dtype=[("a", "f8"), ("b", "f8")]), "records of several fields"),
    (np.zeros((2, 2), dtype=complex), "complex numbers"),
    (np.array(["a", "b"]), "holds text"),
    (np.array(["2020-01-01"], dtype="M8[D]"), "holds dates"),
    (np.zeros((2, 2, 2)), "an array of 3 dimensions"),
    (np.float64(3), "an array of 0 dimensions"),
    (np.zeros((0, 3)), "without numbers"),
])
def test_arrays_that_are_no_table_are_refused(array, sentence):
    for content in (bad.as_npy(array), bad.as_npz(x=array)):
        with pytest.raises(InputError, match=sentence):
            read_table(content)


@pytest.mark.parametrize("kind", ["b1", "i1", "u8", "f2", "f4", "g"])
def test_every_kind_of_plain_number_becomes_a_float(kind):
    values = np.array([[0, 1], [1, 0], [1, 1]])
    assert read_table(bad.as_npy(values.astype(kind))).values.tolist() == values.tolist()
    assert read_table(bad.as_npy(values[:, 0].astype(kind))).values.shape == (3, 1)


def test_parquet_columns_that_are_no_plain_numbers_are_set_aside():
    table = read_table(bad.as_parquet({
        "n": pa.array([1, None, 3], pa.int64()), "flag": pa.array([True, False, None]),
        "big": pa.array([2**63, 1, 2], pa.uint64()), "price": pa.array([1, 2, 3], pa.decimal128(10, 2)),
        "half": np.array([1, 2, 3], dtype=np.float16), "code": pa.array(["a", "b", "a"]).dictionary_encode(),
        "who": ["a", "b", "c"], "list": [[1], [2], [3]], "pair": [{"x": 1}, {"x": 2}, {"x": 3}],
        "day": [datetime.date(2020, 1, 1)] * 3, "none": pa.nulls(3), "gone": pa.array([None] * 3, pa.float64()),
    }))
    assert table.columns == ("n", "flag", "big", "price", "half")
    assert table.text_columns == ("code", "who", "list", "pair", "day")
    assert table.empty_columns == ("none", "gone")
    np.testing.assert_array_equal(table.values, [[1, 1, 2.0**63, 1, 1], [np.nan, 0, 1, 2, 2], [3, np.nan, 2, 3, 3]])


def test_a_parquet_file_that_repeats_one_value_without_end_is_refused():
    content = bad.as_parquet({"x": np.zeros(3_000_000)})
    assert len(content) < 20_000
    with pytest.raises(InputError, match=r"too large|expands"):
        read_table(content, max_bytes=2**20)


# what is wrong, where, and what to do


@pytest.mark.parametrize(("content", "sentence"), [
    (b"", "is empty"),
    (b" \n\t\n  ", "only blank space"),
    (b"# nothing\n#\n", "only blank space or comments"),
    (b"a,b\n", "a header and no records below it"),
    (b"a,b\n\n\n", "no records"),
    (b"a,b\n1,2\n3\n", "1 value in row 3 where the header has 2"),
    (b"a,b\n1,2\n\n3,4,5\n", "3 values in row 4 where the header has 2"),
    (b"1,2\n3,4,5\n", "3 values in row 2 where the first row has 2"),
    (b"# top\na,b\n1,2\n# middle\n3,4\n5\n", "1 value in row 6"),
    (b"My report\na,b\n1,2\n3,4\n", "2 values in row 2 .* a title above the table"),
    (b"a b\n1 2 3\n4 5 6\n", "3 values in row 2 .* a column without a name"),
    (b"a,b\n1,2\n3,inf\n", "infinite value in row 3, column 'b'"),
    (b"a,b\n1,2\n3,-1e999\n", "infinite value in row 3, column 'b'"),
    (b"a,b\n1,2\n3,x\n5,6\n7,8\n", "no number in row 3 of column 'b'"),
    (b"a;b\n1,5;2\n1.5;3\n2,5;4\n", "no number in row 3 of column 'a'"),
    (b"a,b\n1,2\n3,x\n5,y\n7,8\n7,8\n", r"no number in row 3 \(and in 1 more\) of column 'b'"),
    (b"a,b\n1,2%\n3,4%\n5,6\n", "mixes percentages and plain numbers in column 'b', first in row 4"),
    (b"a,b\n1,2\n3,true\n5,6\n", "mixes plain numbers and true/false in column 'b', first in row 3"),
    (b"a,b\nx,y\nz,w\n", "no column of numbers, only text"),
    (b"a,b,a\n1,2,3\n4,5,6\n", "more than one column named 'a'"),
    (b"a,b\n1,\x002\n", "zero byte in line 2"),
    (b'a,b\n1,2\n3,"4\n5,6\n7,8\n', "never closed and swallows the rows from about row 3"),
    (b"a,b\n1,2\n" + b"x" * 20_000_000, "too long after row|1 value in row 3"),
    (b"\x01\x02\x03\x04\x05" * 50, "does not look like a table"),
    (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG image"),
    (b"%PDF-1.7\n1 0 obj", "a PDF document"),
    (b"MZ\x90\0\x03\0\0\0", "a program"),
    (b"\x7fELF\x02\x01", "a program"),
    (b"\x1f\x8b\x08\0", "compressed with gzip"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "with a password"),
    (b"\x80\x04\x95\x10\0\0\0", "a Python pickle"),
    (b"<!DOCTYPE html><html></html>", "a web page"),
    (b'[{"a": 1}, {"a": 2}]', "a JSON file"),
    *[(content, "holds no table") for content in (b"sep=;\n\n", b"sep=;\n", b"sep=;\n# nothing\n\n")],
    ("a,b\n1,2\n3,4\n".encode("utf-16")[:-1], "cut short, damaged or in another encoding"),
    # a header that may be a first record is not repeated
    (b"%s,%s\n1,2\n3,4\n" % (SECRET, SECRET), "more than one column named number 1:"),
    (b"a,%s\n1,2\n3,b\n4,5\n6,7\n" % SECRET, "no number in row 3 of column number 2,"),
    # archives of other kinds
    (bad.as_zip({"notes.txt": b"x"}), "a ZIP archive"),
    (bad.as_zip({"word/document.xml": b"x"}), "a Word document"),
    (bad.as_zip({"content.xml": b"x"}), "an OpenDocument file"),
    (bad.as_zip({"xl/workbook.bin": b"x"}), "a binary Excel"),
    # workbooks and Parquet files that hold no table
    (bad.as_xlsx([]), "nothing in its sheets"),
    (bad.as_xlsx([["a", "b"]]), "a header and no records"),
    (bad.as_xlsx([["a", "b"], ["x", "y"], ["z", "w"]]), "no column of numbers"),
    (bad.as_xlsx([["a", "b"], [1, 2], *[[3, 4]] * 200, [5, 6, 7]]), "3 values in row 203 where the rows above have 2"),
    (bad.as_xlsx([["a", "a"], [1, 2], [3, 4]]), "more than one column named 'a'"),
    (bad.as_xlsx([[], [], *([None, *row] for row in (["a", "b"], [1, 2], [3, "x"], [5, 6], [7, 8]))]),
     "no number in row 5 of column 'b'"),
    (bad.repacked(bad.as_xlsx([["a", "b"], [1, 2], [3, 4]]), {"xl/sharedStrings.xml":
     b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa">]><sst>&a;</sst>'}), "defines entities"),
    (bad.with_texts(b"".join(b'<row r="%d"><c><v>1</v></c></row>' % k for k in (1, 2, 2)), b"</sst>"), "damaged"),
    (bad.as_parquet({"list": [[1], [2]]}), "no column of numbers"),
    (bad.as_parquet({"x": pa.array([], pa.float64())}), "no records"),
    (bad.as_parquet({"x": pa.array([None, None], pa.float64())}), "only empty columns"),
], ids=lambda part: part if isinstance(part, str) else "")
def test_bad_content_gets_a_sentence(content, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        read_table(content, name="table.csv")
    assert str(caught.value).startswith("table.csv ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("content", "guess"), [
    (b"a\tb\n1\t2,3\n4\t5\n", "is it separated by tabs"), (b"a;b\n1,5;2\n4;5\n", "separated by semicolons")])
def test_a_wrong_separator_is_answered_with_a_guess(content, guess):
    with pytest.raises(InputError, match=guess):
        read_table(content, separator=",")


@pytest.mark.parametrize("arguments", [
    {"separator": "ab"}, {"separator": ""}, {"separator": "\n"}, {"separator": '"'}, {"separator": "1"},
    {"separator": 3}, {"decimal": ";"}, {"separator": ",", "decimal": ","}, {"encoding": "zip"},
    {"encoding": "utf-7"}, {"header": "yes"}, {"member": 3}, {"max_bytes": 0}, {"max_bytes": "much"},
])
def test_settings_are_checked(arguments):
    with pytest.raises(InputError, match=next(iter(arguments))):
        read_table(SMALL, **arguments)


def test_what_is_no_file_is_refused(tmp_path):
    for file, sentence in ((3, "a path, bytes or an open binary file"), (None, "a path, bytes"),
                           (io.StringIO("a,b"), "binary mode"), (tmp_path / "none.csv", "cannot be opened"),
                           (tmp_path, "cannot be opened"), ("a\0b", "cannot be opened")):
        with pytest.raises(InputError, match=sentence):
            read_table(file)
    closed = io.BytesIO(SMALL)
    closed.close()
    with pytest.raises(InputError, match="cannot be read"):
        read_table(closed)


def test_a_file_over_the_limit_is_refused_by_its_real_size(tmp_path):
    path = tmp_path / "big.csv"
    path.write_bytes(SMALL * 100)
    for file in (path, SMALL * 100, io.BytesIO(SMALL * 100), _Pipe(SMALL * 100)):
        with pytest.raises(InputError, match="larger than the limit of 1000 bytes"):
            read_table(file, max_bytes=1000)


def test_a_table_of_more_numbers_than_memory_should_hold_is_refused():
    with pytest.raises(InputError, match="too large"):
        read_table(b"," * 999 + b"\n" + (b"," * 999 + b"\n") * 90, max_bytes=100_000)


@pytest.mark.parametrize("bomb", [bad.npz_bomb, bad.xlsx_bomb])
def test_a_bomb_is_refused_before_it_expands_and_not_opened_at_all_where_it_says_what_it_is(bomb, monkeypatch):
    content = bomb(32 * 2**20)
    assert len(content) < 100_000
    read_table(SMALL)
    tracemalloc.start()
    with pytest.raises(InputError, match=r"damaged|expands"):
        read_table(bad.lying(content), max_bytes=2**20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 2**20
    monkeypatch.setattr(zipfile.ZipFile, "open", None)  # to call it would fail
    with pytest.raises(InputError, match="expands to more than the limit of 1 MB"):
        read_table(content, max_bytes=2**20)


def test_encrypted_and_oddly_packed_archives_are_refused():
    locked = bytearray(bad.as_npz(x=VALUES))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[locked.find(signature) + offset] |= 1
    with pytest.raises(InputError, match="password"):
        read_table(bytes(locked))
    with pytest.raises(InputError, match="unusual compression"):
        read_table(bad.as_zip({"x.npy": bad.as_npy(VALUES)}, zipfile.ZIP_LZMA))


@pytest.mark.parametrize("whole", [bad.as_npy(VALUES), bad.as_npz(x=VALUES), bad.as_xlsx([NAMES, *RECORDS]),
                                   bad.as_parquet({"a": [1.0, 2.0], "b": [3.0, 4.0]})])
def test_a_file_cut_short_is_called_damaged(whole):
    for share in (0.2, 0.5, 0.9):
        with pytest.raises(InputError, match=r"damaged or cut short"):
            read_table(whole[: int(len(whole) * share)])
    with pytest.raises(InputError, match=r"damaged or cut short"):
        read_table(whole[:-1])


# ranges


@pytest.mark.parametrize(("ends", "expected"), [
    ((0.3, 97.2), (0, 100)), ((106, 159), (100, 160)), ((0, 1), (0, 1)), ((-0.7, 0.68), (-0.8, 0.8)),
    ((0.0021, 0.0189), (0.002, 0.02)), ((1e6, 1.2e6), (1e6, 1.2e6)), ((7, 7), (0, 7)),
    ((-3, -3), (-3, 0)), ((0, 0), (0, 1)), ((0, 0.1), (0, 0.1)), ((0, 0.02), (0, 0.02)),
])
def test_proposed_ranges_are_plain_numbers(ends, expected):
    table = read_table(bad.as_text([[ends[0], 0], [ends[1], 1]], ["a", "b"]))
    assert propose_ranges(table, ["a"]) == {"a": expected}


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=2))
@example([0.02, -5.26e-210])
def test_a_proposed_range_contains_its_data_and_is_never_empty(ends):
    ((low, high),) = propose_ranges(read_table(bad.as_npy(np.array(ends)))).values()
    assert low < high
    assert low <= min(ends)
    assert max(ends) <= high
    width = max(ends) - min(ends)
    if math.isfinite(width) and width > 1e-3 * max(map(abs, ends)) > 1e-300:
        assert high - low <= 1.5 * width * (1 + 1e-12)  # less than that, but for rounding


# datasets


def test_a_dataset_has_features_in_rows_and_says_where_its_ranges_come_from():
    data = load_table(b"dose,age\n0.27,23\n4.81,67\n1,30\n")
    assert data.features == ("dose", "age")
    assert data.matrix.tolist() == [[0.27, 4.81, 1], [23, 67, 30]]
    assert data.lower.tolist() == [0, 20]
    assert data.upper.tolist() == [5, 70]
    assert data.ranges_origin.words == "read from the data: not private"
    chosen = load_table(b"a,b,c\n1,2,3\n4,5,6\n", columns=["c", "a"])
    assert (chosen.features, chosen.matrix.tolist()) == (("c", "a"), [[3, 6], [1, 4]])


def test_declared_ranges_clip_and_are_called_declared():
    content = b"dose,age\n0.27,23\n4.81,67\n1,30\n"
    data = load_table(content, ranges={"dose": (0, 4), "age": (25, 100)})
    assert data.matrix.tolist() == [[0.27, 4, 1], [25, 67, 30]]
    assert data.ranges_origin is Origin.DECLARED
    partly = load_table(content, ranges={"dose": (0, 4)})
    assert partly.range_origins == (Origin.DECLARED, Origin.READ)
    assert partly.matrix.max() == 67
    one = load_table(content, columns=["dose"], ranges={"dose": (0, 4), "age": (0, 9)})
    assert one.ranges_origin is Origin.DECLARED
    assert load_table(b"a,b\n1,2\n1,3\n", ranges={"a": (0, 5)}).upper[0] == 5  # the same in every record


def test_records_may_be_columns():
    data = load_table(b"what,ann,bob,cy\ndose,1,2,4\nage,20,40,30\n", orientation="columns")
    assert data.features == ("dose", "age")
    assert data.matrix.tolist() == [[1, 2, 4], [20, 40, 30]]
    plain = load_table(b"1,2,4\n20,40,30\n", orientation="columns", columns=["row 2"])
    assert plain.features == ("row 2",)
    assert plain.n_records == 3
    table = read_table(b"1,2,4\n20,40,30\n")
    assert propose_ranges(table, orientation="columns") == {"row 1": (1, 4), "row 2": (20, 40)}


def test_missing_values_are_refused_or_their_records_dropped():
    content = b"a,b\n1,2\n,3\n4,5\n6,\n7,9\n"
    with pytest.raises(InputError, match="missing values in 2 records, the first in row 3, column 'a'"):
        load_table(content)
    assert load_table(content, missing="drop").matrix.tolist() == [[1, 4, 7], [2, 5, 9]]
    assert load_table(content, missing="drop", columns=["a"]).n_records == 4
    turned = load_table(b"1,,4\n20,40,30\n", orientation="columns", missing="drop")
    assert turned.matrix.tolist() == [[1, 4], [20, 30]]
    with pytest.raises(InputError, match="the first in row 1, column 2"):
        load_table(b"1,,4\n20,40,30\n", orientation="columns")


@pytest.mark.parametrize(("content", "arguments", "sentence"), [
    (b"a,b\n1,2\n", {}, "has 1 record, and at least 2 are needed"),
    (b"a,b,c\n1,2,3\n", {"ranges": dict.fromkeys("abc", (0, 9))}, "are the records in columns"),
    (b"a,b\n1,2\n,3\n", {"missing": "drop", "ranges": {"a": (0, 5), "b": (0, 5)}}, "1 record without missing values"),
    (b"a,b\n1,2\n1,3\n", {}, "same value in every record of 'a': leave this feature out or declare"),
    (SMALL, {"columns": ["z"]}, "no column named 'z'"),
    (SMALL, {"columns": "x"}, "columns must be a sequence"),
    (SMALL, {"columns": []}, "at least one feature"),
    (SMALL, {"columns": ["x", "x"]}, "different from each other"),
    (SMALL, {"columns": [3]}, "columns must be names"),
    (b"a,b\nx,2\ny,3\n", {"columns": ["a"]}, "has text in column 'a'"),
    (b"a,b\n,2\n,3\n", {"columns": ["a"]}, "has nothing in column 'a'"),
    (SMALL, {"orientation": "diagonal"}, "orientation must be one of"),
    (SMALL, {"missing": "fill"}, "missing must be one of"),
    (SMALL, {"ranges": {"z": (0, 1)}}, "ranges names a column"),
    (SMALL, {"ranges": [(0, 1)]}, "ranges must map"),
    (SMALL, {"ranges": {"x": 3}}, "must be a pair"),
    (SMALL, {"ranges": {"x": (0, math.nan)}}, "must be finite"),
    (SMALL, {"ranges": {"x": (5, 5), "y": (0, 1)}}, "lower must be below upper"),
    (b"a,b\n1e70,2\n2e70,3\n", {}, "too large or too close together"),
])
def test_what_makes_no_dataset_is_refused(content, arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        load_table(content, **arguments)


@pytest.mark.slow
def test_ten_thousand_columns_are_read_and_refused_as_features():
    table = read_table(bad.as_npy(np.random.default_rng(0).normal(size=(3, 10_000))))
    with pytest.raises(InputError, match=r"10000 features and at most 2000 .* If its records are columns, say so"):
        table_to_dataset(table)
    assert table_to_dataset(table, orientation="columns").n_records == 10_000
    wide = bad.as_text(np.random.default_rng(0).normal(size=(3, 10_000)), [f"f{i}" for i in range(10_000)])
    assert read_table(wide).values.shape == (3, 10_000)
    with pytest.raises(InputError, match="60000 columns and at most 50000"):
        read_table(bad.as_npy(np.zeros((2, 60_000))))
    with pytest.raises(InputError, match="columns and at most 50000"):
        read_table(b"1," * 2_000_000)
