"""Text tables of any encoding: comma, semicolon, tab, bar or blanks between the fields.

The beginning of a file shows its encoding, separator, decimal mark and header. Arrow parses blocks of UTF-8.
"""

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, dropwhile, islice
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
from pyarrow import csv as arrow_csv

from mvgviz.data.columns import Columns, is_fraction, is_grouped, is_numeric
from mvgviz.data.readers import SAMPLE, Source
from mvgviz.data.recognise import are_dates
from mvgviz.data.table import IntArray, Table, check_width, clean_names, file_rows, is_missing, plain_names
from mvgviz.errors import InputError, refuse

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}

_BOMS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32", codecs.BOM_UTF8: "utf-8-sig",
         codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_MOST_RECORDS, _MOST_LINES = 100, 2_000
_MOST_CHARACTERS = 1 << 16  # of rows looked at, if they are long
_MOST_QUOTED_LINES = 50
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_CHUNK, _END, _LONGEST_ROW = 1 << 20, 4_096, 1 << 23
_MOST_ODD = 200_000  # blank lines and comments among the records
_WINDOWS = re.compile("[\x80\x82-\x8c\x8e\x91-\x9c\x9e\x9f]")  # controls in Latin-1, signs in cp1252
_CONTROLS = re.compile(r"[\x01-\x08\x0b\x0e-\x19\x1b-\x1f]")  # but for those that a text may have
_QUOTED = rb'"(?<![^%b\r\n]")[^"]*+(?:""[^"]*+)*(?:"(?!")|\Z)'
_EXCEL_HINT = re.compile(r'^"?sep=([,;\t|])"?$')


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How to read a text. ``body``: the character where the records begin; ``first_row``: its row of the file."""

    separator: str
    decimal: str
    names: tuple[str, ...] | None
    body: int
    first_row: int
    width: int
    notes: tuple[str, ...] = ()


class _Record(NamedTuple):
    """A record with its line break; ``start``: at which character of the text; ``row`` counts from 1."""

    text: str
    start: int
    row: int

    @property
    def idle(self) -> bool:
        return not self.text.strip() or self.text.lstrip().startswith("#")


def encoding_of(head: bytes) -> str:
    """Return a text's encoding: by its mark, the zeros of UTF-16, as UTF-8, else Latin-1; libraries guess wrong."""
    for mark, encoding in _BOMS.items():
        if head.startswith(mark):
            return encoding
    zeros = [head[start::2].count(0) / max(len(head[start::2]), 1) for start in (0, 1)]
    if max(zeros) > 0.3 and min(zeros) < 0.05:
        return "utf-16-le" if zeros[1] > zeros[0] else "utf-16-be"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def layout_of(text: str, *, name: str, complete: bool, separator: str | None, decimal: str | None,
              header: bool | None, any_text: bool = False) -> Layout:
    """Detect the layout from the beginning of a text, except for given parts; ``any_text`` as in `has_header`."""
    every = records_of(text, complete=complete)
    records = _without_idle(every)
    if separator is None and records and (hint := _EXCEL_HINT.match(records[0].text.strip())):
        separator, records = hint[1], _without_idle(records[1:])
    refuse(not records, f"{name} holds no table, only blank space or comments: choose a file with a table.")
    comments = [record.text for record in every[: len(every) - len(records)] if record.idle and record.text.strip()]
    lines = [record.text for record in records if not record.idle]
    # before splitting: a line of millions of separators is slow
    check_width(1 + max(lines[0].count(mark) for mark in (separator or ",;\t|")), name)
    lines = lines[: max(5, _MOST_CHARACTERS // len(lines[0]))]
    separator = separator or _separator(lines, decimal)
    rows = [fields(line, separator) for line in lines]
    decimal = decimal or _told_decimal(rows, separator, name)
    notes = (f"Comment lines above the table were left out: {len(comments)}.",) if comments else ()
    names, (text, body, first_row) = None, records[0]
    if header is None and comments and (names := _commented_names(comments[-1], rows[0], separator, decimal)):
        notes = ("The column names were taken from the comment line above the records.",)
    elif has_header(rows, decimal, name, any_text=any_text) if header is None else header:
        names, body, first_row = _fitted(rows[0], rows[1:]), body + len(text), first_row + 1
    return Layout(separator=separator, decimal=decimal, names=names, notes=notes, first_row=first_row, body=body,
                  width=len(names or rows[0]))


def _without_idle(records: Sequence[_Record]) -> list[_Record]:
    return list(dropwhile(lambda record: record.idle, records))


def _commented_names(comment: str, row: Sequence[str], separator: str, decimal: str) -> tuple[str, ...] | None:
    """Return column names from the comment above a first row of numbers, as NumPy writes them."""
    names = tuple(fields(comment.lstrip("# \t"), separator))
    numeric_row = all(is_numeric(cell, decimal) or is_missing(cell) for cell in row)
    fit = len(names) == len(row) > 1 and not any(is_numeric(cell, decimal) for cell in names)
    return names if numeric_row and fit else None


def records_of(text: str, *, complete: bool) -> list[_Record]:
    """Return the first records; a line break inside quotes, or the end of a part of a text, does not end one."""
    lines = [line[0] for line in islice(_LINE.finditer(text), _MOST_LINES)]
    if lines and not complete and sum(map(len, lines)) == len(text) and len(lines) > 1:
        lines.pop()  # may go on
    records: list[_Record] = []
    start = position = busy = 0
    while position < len(lines) and busy < _MOST_RECORDS:
        taken = 1
        if lines[position].count('"') % 2:
            quotes = accumulate(line.count('"') for line in lines[position : position + _MOST_QUOTED_LINES])
            taken = next((i for i, count in enumerate(quotes, start=1) if count % 2 == 0), 1)
        record = "".join(lines[position : position + taken])
        records.append(_Record(record, start, len(records) + 1))
        busy += not records[-1].idle
        start += len(record)
        position += taken
    return records


def fields(line: str, separator: str) -> list[str]:
    """Return the fields of one record; with a space as separator, any run of blanks separates."""
    line = re.sub(r"[ \t]+", " ", line.strip()) if separator == " " else line.rstrip("\r\n")
    try:
        return next(csv.reader([line], delimiter=separator), [""]) or [""]
    except csv.Error:  # a field longer than the module takes, a stray carriage return
        return line.split(separator)


class HeaderUnclearError(InputError):
    """The first of the ``rows`` may hold names or a record: a person must decide."""

    def __init__(self, name: str, rows: Sequence[Sequence[str]]) -> None:
        super().__init__(f"{name}: the first row may hold names or a record. Say header=True or header=False.")
        self.rows = tuple(tuple(row) for row in rows[:3])


def has_header(rows: Sequence[Sequence[str]], decimal: str, name: str, *, any_text: bool = False) -> bool:
    """Return whether the first row names the columns: text without gaps, each once.

    Raise `HeaderUnclearError` if it may be a record; ``any_text``: text alone is unclear.
    """
    first, rest = rows[0], rows[1:]
    filled = [i for i, cell in enumerate(first) if not is_missing(cell)]
    words = [i for i in filled if not is_numeric(first[i], decimal)]
    if not words or 2 * len(words) < len(filled):
        return False
    below = {i: [row[i].strip() for row in rest if i < len(row) and not is_missing(row[i])] for i in words}
    above_numbers = any(2 * sum(is_numeric(cell, decimal) for cell in cells) > len(cells) for cells in below.values())
    if len(words) < len(filled) and not above_numbers:
        return False
    nameless = 2 * len(words) < len(first) or any(
        cell.strip() and (is_missing(cell) or not any(map(str.isalpha, cell))) for cell in first)
    unlike = above_numbers or any(cells and are_dates(cells) for cells in below.values())
    if nameless or (any_text and rest and not unlike) or any(first[i].strip() in cells for i, cells in below.items()):
        raise HeaderUnclearError(name, rows)
    return True


def _separator(lines: Sequence[str], decimal: str | None) -> str:
    """Return the separator that gives rows of one length with the most numbers."""
    best, best_score = ",", 0.0
    for separator in SEPARATORS:
        rows = [fields(line, separator) for line in lines]
        width, times = Counter(len(row) for row in rows).most_common(1)[0]
        if width < 2:
            continue
        body = [row for row in rows[1:] or rows if len(row) == width]
        mark = decimal or _decimal(body, separator)
        cells = [cell for row in body for cell in row if not is_missing(cell)]
        numeric = sum(is_numeric(cell, mark) for cell in cells) / max(len(cells), 1)
        score = times / len(rows) * (0.2 + numeric)
        if score > best_score:
            best, best_score = separator, score
    fractions = len(lines) > 1 and all(is_fraction(line, ",") for line in lines[1:])
    return ";" if best == "," and "," not in lines[0] and fractions else best  # one column, decimal comma


def _decimal(rows: Sequence[Sequence[str]], separator: str) -> str:
    cells = [cell for row in rows for cell in row]
    commas, points = (sum(is_fraction(cell, mark) for cell in cells) for mark in ",.")
    if commas == points == 0:  # 1,234 may be either; semicolons suggest decimal commas
        return "," if separator == ";" and any(is_grouped(cell, ".") for cell in cells) else "."
    return "," if commas > points else "."


def _told_decimal(rows: Sequence[Sequence[str]], separator: str, name: str) -> str:
    """Return the decimal mark; raise `InputError` if fewer than two records show what 1.234 means."""
    decimal = _decimal(rows[1:] or rows, separator)
    unclear = any(("." in cell or "," in cell) and is_numeric(cell, ".") and is_numeric(cell, ",")
                  for row in rows for cell in row)
    refuse(unclear and sum(any(is_fraction(cell, decimal) for cell in row) for row in rows) < 2, f"{name} holds "
           "numbers such as 1.234 or 1,234, which may be about one or about a thousand: choose its decimal mark.")
    return decimal


def _fitted(names: list[str], rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the header without the extra column that a separator at the end of a line makes."""
    if rows and all(len(row) == len(names) + 1 and not row[-1].strip() for row in rows):
        return (*names, "")
    if rows and not names[-1].strip() and all(len(row) == len(names) - 1 for row in rows):
        return tuple(names[:-1])
    return tuple(names)


class TextStream:
    """A text, from which :meth:`blocks` makes UTF-8; it refuses zero bytes. ``ended``: the file was read to its end.

    What seemed ASCII and is not UTF-8 is read as Latin-1, or as cp1252 if it has characters that only cp1252 defines.
    """

    def __init__(self, source: Source, encoding: str, *, guessed: bool) -> None:
        self.encoding, self.ended = encoding, False
        self._source, self._guessed = source, guessed
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._consumed = self._lines = 0
        self._ascii = True
        self._end = ""

    @property
    def share(self) -> float:
        return self._consumed / self._source.size

    @property
    def empty_end(self) -> int:
        tail = self._end[len(self._end.rstrip()) :]
        return max(tail.count("\n"), tail.count("\r"), 1) - 1

    def text(self, count: int) -> str:
        """Return about ``count`` more bytes as text; empty at the end."""
        chunk = self._source.stream.read(count)
        self._consumed += len(chunk)
        self.ended = self._consumed >= self._source.size or not chunk  # the file may shrink meanwhile
        decoded = self._decoded(chunk)
        before, zero, _ = decoded.partition("\0")
        if zero:
            line = self._lines + before.count("\n") + 1
            raise InputError(f"{self._source.name} holds a zero byte in line {line}: "
                             "it is binary or damaged; save it as CSV.")
        self._lines += decoded.count("\n")
        self._end = (self._end + decoded[-_END:])[-_END:]
        return decoded

    def blocks(self, rest: bytes, separator: str, size: int) -> Iterator[bytes]:
        """Yield ``rest`` and what follows in blocks of about ``size`` bytes, whole records each.

        If a space separates, any run of blanks becomes one. Raise `pa.ArrowInvalid` for a row longer than a block.
        """
        separators = b" \t" if separator == " " else separator.encode()
        while rest or not self.ended:
            most = len(rest) + size
            while len(rest) < most and not self.ended:
                rest += self.text(_CHUNK).encode()
            end = len(rest) if self.ended else _end_of_records(rest, separators)
            if not (end or self.ended):
                raise pa.ArrowInvalid("a row does not end")
            block, rest = rest[:end], rest[end:]
            if separator == " ":
                block = re.sub(rb" (?:(?<![^\r\n] )|(?![^\r\n]))", b"", re.sub(rb"[ \t]+", b" ", block))
            if block:
                yield block

    def _decoded(self, chunk: bytes) -> str:
        try:
            decoded = self._decoder.decode(chunk, self.ended)
        except UnicodeError as error:  # not a UnicodeDecodeError where a byte-order mark is missing
            if not (self._guessed and self._ascii and self.encoding == "utf-8"):
                line = self._lines + chunk[: getattr(error, "start", 0)].count(b"\n") + 1
                raise InputError(f"{self._source.name} is not {self.encoding.upper()} text from about line {line} on: "
                                 "it is cut short, damaged or in another encoding (save it as UTF-8).") from None
            self.encoding = "latin-1"
            self._decoder = codecs.getincrementaldecoder("latin-1")()
            decoded = self._decoder.decode(chunk, self.ended)
        self._ascii = self._ascii and chunk.isascii()
        if self._guessed and self.encoding in ("latin-1", "cp1252"):
            decoded, signs = _WINDOWS.subn(lambda found: found[0].encode("latin-1").decode("cp1252"), decoded)
            self.encoding = "cp1252" if signs else self.encoding
        return decoded


def _end_of_records(text: bytes, separators: bytes) -> int:
    """Return where the last line break outside quotations ends; 0 without one. A doubled mark does not close one."""
    codes = np.frombuffer(text.removesuffix(b"\r"), dtype=np.uint8)  # a line feed may follow
    marks = np.flatnonzero(codes == ord('"'))
    known = np.isin(codes[marks[::2] - 1], list(separators + b'\r\n"'))
    known[:1] |= marks[:1] == 0
    if not known.all():  # not every other mark opens, or is the second of a doubled one
        spans = re.finditer(_QUOTED % re.escape(separators), text)
        marks = np.array([place for span in spans for place in (span.start(), span.end() - 1)], dtype=np.int64)
    breaks = np.flatnonzero((codes == ord("\n")) | (codes == ord("\r")))
    for last in (breaks[-1:], breaks):  # mostly the very last
        outside = last[np.searchsorted(marks, last) % 2 == 0]
        if outside.size:
            return int(outside[-1]) + 1
    return 0


def read_delimited(source: Source, *, separator: str | None, decimal: str | None, header: bool | None,
                   encoding: str | None, texts: Iterable[str] | None = ()) -> Table:
    """Read a CSV file or a similar one as a table."""
    refuse(separator is not None and separator == decimal, "separator and decimal must be different characters")
    stream = TextStream(source, encoding or encoding_of(source.head(SAMPLE)), guessed=encoding is None)
    text = _sample(stream, source)
    layout = layout_of(text, name=source.name, complete=stream.ended, separator=separator, decimal=decimal,
                       header=header, any_text=texts is None)
    names = plain_names(layout.width, source.name) if layout.names is None else clean_names(layout.names, source.name)
    columns = Columns(names, decimal=layout.decimal, source=source, texts=texts)
    odd = _parse(stream, text[layout.body :], layout, columns, source)
    skipped = np.array(odd.left_out, dtype=np.int64) + layout.first_row - 1

    def rows_of(indices: Any) -> IntArray:
        return file_rows(indices, first_row=layout.first_row, left_out=skipped)

    found, notes = columns.finish(lambda index: int(rows_of(index)))
    said = f"header in row {layout.first_row - 1}" if layout.names is not None else "no header"
    detected = (f"Read as text separated by {SEPARATORS.get(layout.separator, repr(layout.separator))}, decimal "
                f"{'comma' if layout.decimal == ',' else 'point'}, {said}, {stream.encoding.upper()}.")
    return Table(name=source.name, format="csv", **found, separator=layout.separator, decimal=layout.decimal,
                 header=layout.names is not None, encoding=stream.encoding,
                 notes=(detected, *layout.notes, *notes), first_row=layout.first_row,
                 left_out=np.sort(np.append(skipped, rows_of(columns.blank))),
                 empty_rows=max(columns.blank.size - stream.empty_end, 0) + odd.comments)


def _sample(stream: TextStream, source: Source) -> str:
    """Return the beginning of the text: 64 KB, or more until it holds a few whole rows."""
    text = stream.text(SAMPLE)
    if len(_CONTROLS.findall(text)) > 0.02 * len(text):
        raise InputError(f"{source.name} does not look like a table of text: it is binary or damaged; save it as CSV.")
    while not stream.ended and len(text) < _LONGEST_ROW:
        if sum(not record.idle for record in records_of(text, complete=False)) > 3:
            break
        text += stream.text(len(text))
    return text


class _OddRows:
    """Lines without the table's width: leave out blank lines and comments, stop at any other."""

    def __init__(self) -> None:
        self.left_out: list[int] = []  # counted from 1
        self.before = 0  # rows of earlier blocks
        self.comments = 0
        self.ragged: Any = None
        self.too_many = False

    def __call__(self, row: Any) -> str:
        text = row.text.strip()
        if text and not text.startswith("#"):
            self.ragged = self.ragged or row
            return "error"
        if len(self.left_out) == _MOST_ODD:
            self.too_many = True
            return "error"
        self.left_out.append(self.before + row.number)
        self.comments += bool(text)
        return "skip"


def _parse(stream: TextStream, rest: str, layout: Layout, columns: Columns, source: Source) -> _OddRows:
    odd, last, quotes = _OddRows(), None, 0
    keys = [str(position) for position in range(layout.width)]
    size = min(max(1 << 20, layout.width * 8_000), _LONGEST_ROW)  # enough rows for a call per column
    parsing = arrow_csv.ParseOptions(delimiter=layout.separator, newlines_in_values=True, ignore_empty_lines=False,
                                     invalid_row_handler=odd)
    texts = arrow_csv.ConvertOptions(column_types=dict.fromkeys(keys, pa.string()), strings_can_be_null=False)
    try:
        for block in stream.blocks(rest.encode(), layout.separator, size):
            quotes += block.count(b'"')
            odd.before = columns.n_added + len(odd.left_out)
            copy = pa.BufferOutputStream()  # in Arrow's memory: its threads must not hold objects of Python
            copy.write(codecs.BOM_UTF8 * bool(odd.before))  # Arrow drops one
            copy.write(block)
            reading = arrow_csv.ReadOptions(use_threads=False, block_size=copy.tell() + 1, column_names=keys)
            for batch in arrow_csv.read_csv(pa.BufferReader(copy.getvalue()), reading, parsing, texts).to_batches():
                columns.add(batch.columns, stream.share)
                last = batch
            source.report(stream.share)
    except pa.ArrowException:
        raise _unparsed(odd, layout, columns, source) from None
    if last is None:
        header, below = ("a header and ", " below it") if layout.names is not None else ("", "")
        raise InputError(f"{source.name} has {header}no records{below}: choose a file with at least two records.")
    if quotes % 2 and any("\n" in column[-1].as_py() for column in last.columns):
        raise InputError(
            f"{source.name} has a quotation mark that is never closed and swallows the rows from about row "
            f"{layout.first_row + columns.n_added - 1 + len(odd.left_out)} on: remove or close it.")
    return odd


def _unparsed(odd: _OddRows, layout: Layout, columns: Columns, source: Source) -> InputError:
    bad = odd.ragged
    if odd.too_many:
        return InputError(f"{source.name} has more than {_MOST_ODD:,} blank lines or comments: remove them.")
    if bad is None:
        return InputError(f"{source.name} has a row that is too long after row {layout.first_row + columns.n_added - 1}"
                          ": is a line break or a closing quotation mark missing?")
    number, where = odd.before + bad.number, "the header" if layout.names is not None else "the first row"
    separator = SEPARATORS.get(layout.separator, layout.separator)
    question = f"is the separator a {separator}, and is every text that contains one in quotation marks?"
    if "\t" in bad.text and layout.separator != "\t":
        question = "is it separated by tabs?"
    elif ";" in bad.text and layout.separator == ",":
        question = "is it separated by semicolons?"
    elif bad.expected_columns == 1:
        question = "is there a title above the table? Remove it."
    elif number == 1 and bad.actual_columns == bad.expected_columns + 1:
        question = "is there a column without a name? Give it one."
    return InputError(f"{source.name} has {bad.actual_columns} value{'s' * (bad.actual_columns != 1)} in row "
                      f"{number + layout.first_row - 1} where {where} has {bad.expected_columns}: {question}")
