"""What the beginning of a text file tells: encoding, separator, decimal mark, header."""

import codecs
import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, dropwhile, islice
from typing import NamedTuple

from mvgviz.data.cells import is_fraction, is_grouped, is_missing, is_numeric
from mvgviz.data.names import check_width
from mvgviz.errors import InputError

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}

_BOMS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32", codecs.BOM_UTF8: "utf-8-sig",
         codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_MOST_RECORDS, _MOST_LINES = 100, 2_000
_MOST_CHARACTERS = 1 << 16  # of rows looked at, if they are long
_MOST_QUOTED_LINES = 50
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_EXCEL_HINT = re.compile(r'^"?sep=([,;\t|])"?$')


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How a text is to be read. ``names`` is None without a header.

    ``body``: where the records begin (a character of the text); ``first_row``: in
    which row of the file; ``width``: how many fields each has.
    """

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
    """The encoding of a text: by its mark, by the zeros of UTF-16, as UTF-8, else Latin-1."""
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
              header: bool | None) -> Layout:
    """The layout of a text from its beginning; what is given is taken as said."""
    every = records_of(text, complete=complete)
    records = _without_idle(every)
    if separator is None and records and (hint := _EXCEL_HINT.match(records[0].text.strip())):
        separator, records = hint[1], _without_idle(records[1:])
    if not records:
        raise InputError(f"{name} holds no table, only blank space or comments: choose a file with a table.")
    above = every[: len(every) - len(records)]
    comments = [record.text for record in above if record.idle and record.text.strip()]
    lines = _looked_at(records, separator, name)
    separator = separator or _separator(lines, decimal)
    rows = [fields(line, separator) for line in lines]
    decimal = decimal or _told_decimal(rows, separator, name)
    notes = (f"Comment lines above the table were left out: {len(comments)}.",) if comments else ()
    names, (text, body, first_row) = None, records[0]
    if header is None and comments and (names := _commented_names(comments[-1], rows[0], separator, decimal)):
        notes = ("The column names were taken from the comment line above the records.",)
    elif has_header(rows, decimal) if header is None else header:
        names, body, first_row = _fitted(rows[0], rows[1:]), body + len(text), first_row + 1
    return Layout(separator=separator, decimal=decimal, names=names, notes=notes, first_row=first_row, body=body,
                  width=len(names or rows[0]))


def _without_idle(records: Sequence[_Record]) -> list[_Record]:
    """From the first that is neither blank nor a comment."""
    return list(dropwhile(lambda record: record.idle, records))


def _looked_at(records: Sequence[_Record], separator: str | None, name: str) -> list[str]:
    """The lines that decide: a few, if they are long."""
    lines = [record.text for record in records if not record.idle]
    # before anything is split: a line of millions of separators takes its time
    check_width(1 + max(lines[0].count(mark) for mark in (separator or ",;\t|")), name)
    return lines[: max(5, _MOST_CHARACTERS // len(lines[0]))]


def _commented_names(comment: str, row: Sequence[str], separator: str, decimal: str) -> tuple[str, ...] | None:
    """Names for the columns from the comment above a first row of numbers, as NumPy writes them."""
    names = tuple(fields(comment.lstrip("# \t"), separator))
    numeric_row = all(is_numeric(cell, decimal) or is_missing(cell) for cell in row)
    fit = len(names) == len(row) > 1 and not any(is_numeric(cell, decimal) for cell in names)
    return names if numeric_row and fit else None


def records_of(text: str, *, complete: bool) -> list[_Record]:
    """The first records; a line break inside quotes does not end one, nor does the end of a part of a text."""
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
    """The fields of one record; with a space as separator, any run of blanks parts them."""
    line = re.sub(r"[ \t]+", " ", line.strip()) if separator == " " else line.rstrip("\r\n")
    try:
        return next(csv.reader([line], delimiter=separator), [""]) or [""]
    except csv.Error:  # a field longer than the module takes, a stray carriage return
        return line.split(separator)


def has_header(rows: Sequence[Sequence[str]], decimal: str) -> bool:
    """Whether the first row names the columns: mostly text, and above numbers (or nothing but text)."""
    first, rest = rows[0], rows[1:]
    filled = [i for i, cell in enumerate(first) if not is_missing(cell)]
    words = [i for i in filled if not is_numeric(first[i], decimal)]
    if not words or 2 * len(words) < len(filled):
        return False
    columns = ([row[i] for row in rest if i < len(row) and not is_missing(row[i])] for i in words)
    above_numbers = any(2 * sum(is_numeric(cell, decimal) for cell in cells) > len(cells) for cells in columns)
    return above_numbers or len(words) == len(filled)


def _separator(lines: Sequence[str], decimal: str | None) -> str:
    """The separator that gives rows of one length, with as many numbers as can be."""
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
    if commas == points == 0:  # 1,234 may be either: who separates by semicolons writes decimal commas
        return "," if separator == ";" and any(is_grouped(cell, ".") for cell in cells) else "."
    return "," if commas > points else "."


def _told_decimal(rows: Sequence[Sequence[str]], separator: str, name: str) -> str:
    """The decimal mark; refuses to guess what 1.234 is where fewer than two records tell."""
    decimal = _decimal(rows[1:] or rows, separator)
    unclear = any(("." in cell or "," in cell) and is_numeric(cell, ".") and is_numeric(cell, ",")
                  for row in rows for cell in row)
    if unclear and sum(any(is_fraction(cell, decimal) for cell in row) for row in rows) < 2:
        raise InputError(f"{name} holds numbers such as 1.234 or 1,234, and nothing else in it tells whether that is "
                         "one or a thousand: say which decimal mark it has.")
    return decimal


def _fitted(names: list[str], rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The header, where a separator at the end of the header or of all rows makes a column too few or too many."""
    if rows and all(len(row) == len(names) + 1 and not row[-1].strip() for row in rows):
        return (*names, "")
    if rows and not names[-1].strip() and all(len(row) == len(names) - 1 for row in rows):
        return tuple(names[:-1])
    return tuple(names)
