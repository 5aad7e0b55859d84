"""Text tables: comma, semicolon, tab, bar or blanks between the fields.

The parser is Arrow's: it tells both rows that are too long and rows that are too
short, with their numbers. It hands over text, block by block; what is a number
is decided by :mod:`mvgviz.data.cells`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
from pyarrow import csv

from mvgviz.data.columns import Columns
from mvgviz.data.names import clean_names, plain_names
from mvgviz.data.sniff import SEPARATORS, Layout, encoding_of, layout_of, records_of
from mvgviz.data.source import Source
from mvgviz.data.table import Table, file_rows
from mvgviz.data.textstream import TextStream
from mvgviz.errors import InputError

SAMPLE = 1 << 16
_LONGEST_ROW = 1 << 23
_CONTROL = frozenset(range(32)) - {9, 10, 12, 13, 26, 0}


def read_delimited(source: Source, *, separator: str | None, decimal: str | None, header: bool | None,
                   encoding: str | None) -> Table:
    """A CSV file or one of its kin as a table."""
    if separator is not None and separator == decimal:
        raise InputError("separator and decimal must be different characters")
    head = source.head(SAMPLE)
    stream = TextStream(source, encoding or encoding_of(head), guessed=encoding is None)
    text = _sample(stream, source)
    layout = layout_of(text, name=source.name, complete=stream.ended, separator=separator, decimal=decimal,
                       header=header)
    names = plain_names(layout.width, source.name) if layout.names is None else clean_names(layout.names, source.name)
    stream.start(text[layout.body :], collapse=layout.separator == " ")
    columns = Columns(names, decimal=layout.decimal, source=source)
    skipped, comments = _parse(stream, layout, columns, source)
    left_out = np.array(skipped, dtype=np.int64) + layout.first_row - 1

    def row_of(index: int) -> int:
        return int(file_rows(np.array([index]), first_row=layout.first_row, left_out=left_out)[0])

    found = columns.finish(row_of)
    if found.blank.size:
        blank = file_rows(found.blank, first_row=layout.first_row, left_out=left_out)
        left_out = np.sort(np.concatenate([left_out, blank]))
    return Table(
        name=source.name, format="csv", columns=found.columns, values=found.values,
        text_columns=found.text_columns, empty_columns=found.empty_columns, separator=layout.separator,
        decimal=layout.decimal, header=layout.names is not None, encoding=stream.encoding,
        notes=(_detected(layout, stream.encoding), *layout.notes, *found.notes), first_row=layout.first_row,
        empty_rows=max(found.blank.size - stream.empty_end, 0) + comments,
        left_out=left_out, row_names=found.row_names,
    )


def _sample(stream: TextStream, source: Source) -> str:
    """The beginning of the text: 64 KB, or more until it holds a few whole rows."""
    text = stream.text(SAMPLE)
    controls = sum(ord(character) in _CONTROL for character in text)
    if controls > 0.02 * len(text):
        raise InputError(f"{source.name} does not look like a table of text: it is a binary file or damaged.")
    while not stream.ended and len(text) < _LONGEST_ROW:
        if sum(not record.idle for record in records_of(text, complete=False)) > 3:
            break
        text += stream.text(len(text))
    return text


def _parse(stream: TextStream, layout: Layout, columns: Columns, source: Source) -> tuple[list[int], int]:
    """Fill ``columns``; returns the numbers (from 1) of blank and comment lines, and how many are comments."""
    skipped: list[int] = []
    comments: list[int] = []
    ragged: list[Any] = []

    def on_invalid_row(row: Any) -> str:
        if not row.text.strip() or row.text.lstrip().startswith("#"):
            skipped.append(row.number)
            comments.extend([row.number] * bool(row.text.strip()))
            return "skip"
        ragged.append(row)
        return "error"

    keys = [str(position) for position in range(layout.width)]
    # a block holds whole rows: enough of them to be worth a call for each column
    block_size = min(max(1 << 20, layout.width * 8_000), _LONGEST_ROW)
    last = None
    no_records = InputError(
        f"{source.name} has {'a header and ' * (layout.names is not None)}no records"
        f"{' below it' * (layout.names is not None)}: choose a file with at least two records."
    )
    if stream.is_over:
        raise no_records
    try:
        with csv.open_csv(
            stream,
            read_options=csv.ReadOptions(use_threads=False, block_size=block_size, column_names=keys),
            parse_options=csv.ParseOptions(delimiter=layout.separator, newlines_in_values=True,
                                           ignore_empty_lines=False, invalid_row_handler=on_invalid_row),
            convert_options=csv.ConvertOptions(column_types=dict.fromkeys(keys, pa.string()),
                                               strings_can_be_null=False),
        ) as batches:
            for batch in batches:
                if batch.num_rows:
                    columns.add(batch.columns, stream.share)
                    last = batch
                source.report(stream.share)
    except pa.ArrowException:
        raise _unparsed(ragged, layout, columns, source) from None
    finally:
        stream.close()
    if last is None:
        raise no_records
    ends = [cell.as_py() for cell in last.slice(last.num_rows - 1).columns for cell in cell]
    if stream.quotes % 2 and any("\n" in cell for cell in ends):
        raise InputError(
            f"{source.name} opens a quotation mark that is never closed and swallows the rows from about row "
            f"{layout.first_row + columns.n_added - 1 + len(skipped)} on: remove or close it."
        )
    return skipped, len(comments)


def _unparsed(ragged: list[Any], layout: Layout, columns: Columns, source: Source) -> InputError:
    if not ragged:
        return InputError(
            f"{source.name} has a row that is too long after row {layout.first_row + columns.n_added - 1}: "
            "is a line break or a closing quotation mark missing?"
        )
    bad = ragged[0]
    where = "the header" if layout.names is not None else "the first row"
    separator = SEPARATORS.get(layout.separator, layout.separator)
    question = f"is the separator a {separator}, and is every text that contains one in quotation marks?"
    if "\t" in bad.text and layout.separator != "\t":
        question = "is this a TSV?"
    elif ";" in bad.text and layout.separator == ",":
        question = "is this separated by semicolons?"
    elif bad.expected_columns == 1:
        question = "is there a title above the table? Remove it."
    elif bad.number == 1 and bad.actual_columns == bad.expected_columns + 1:
        question = "is there a column without a name? Give it one."
    return InputError(
        f"{source.name} has {bad.actual_columns} value{'s' * (bad.actual_columns != 1)} in row "
        f"{bad.number + layout.first_row - 1} where {where} has {bad.expected_columns}: {question}"
    )


def _detected(layout: Layout, encoding: str) -> str:
    separator = SEPARATORS.get(layout.separator, repr(layout.separator))
    header = f"header in row {layout.first_row - 1}" if layout.names is not None else "no header"
    mark = "comma" if layout.decimal == "," else "point"
    return f"Read as text separated by {separator}, decimal {mark}, {header}, {encoding.upper()}."


