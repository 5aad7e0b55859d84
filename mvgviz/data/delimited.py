"""Text tables of any encoding: comma, semicolon, tab, bar or blanks between the fields.

The parser is Arrow's: it tells both rows that are too long and rows that are too short, with their numbers. It is
given UTF-8, in one pass, and hands over text, block by block; what is a number is decided by :mod:`mvgviz.data.cells`.
"""

import codecs
import io
import re
import threading
from collections.abc import Generator, Iterable
from contextlib import closing
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
from pyarrow import csv

from mvgviz.data.columns import Columns
from mvgviz.data.names import clean_names, plain_names
from mvgviz.data.sniff import SEPARATORS, Layout, encoding_of, layout_of, records_of
from mvgviz.data.source import SAMPLE, Source
from mvgviz.data.table import IntArray, Table, file_rows
from mvgviz.errors import InputError

_CHUNK, _END, _LONGEST_ROW = 1 << 20, 4_096, 1 << 23
_MOST_ODD = 200_000  # blank lines and comments among the records
_WINDOWS = re.compile("[\x80\x82-\x8c\x8e\x91-\x9c\x9e\x9f]")  # controls in Latin-1, signs in cp1252
_CONTROLS = re.compile(r"[\x01-\x08\x0b\x0e-\x19\x1b-\x1f]")  # but for those that a text may have


class TextStream(io.RawIOBase):
    """A text as UTF-8, readable like a binary file, once :meth:`start` has said where the records begin.

    On the way the bytes are counted, zero bytes refused, and what seemed to be ASCII and turns out not to be UTF-8 is
    read as Latin-1, or as cp1252 where it has what only that defines (€ and curly quotes).
    ``ended``: the file has been read to its end; ``quotes``: how many quotation marks the parser was given.
    """

    def __init__(self, source: Source, encoding: str, *, guessed: bool) -> None:
        super().__init__()
        self.encoding, self.ended, self.quotes = encoding, False, 0
        self._source, self._guessed = source, guessed
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._consumed = self._lines = 0
        self._ascii, self._collapse = True, False
        self._end = self._carry = ""
        self._ready = b""
        self._lock = threading.Lock()

    @property
    def share(self) -> float:
        """The part of the file read so far."""
        return self._consumed / self._source.size

    @property
    def is_over(self) -> bool:
        """Whether nothing is left for the parser."""
        return self.ended and not self._ready

    @property
    def empty_end(self) -> int:
        """How many lines at the end of what was read have nothing in them, not even a separator."""
        tail = self._end[len(self._end.rstrip()) :]
        return max(tail.count("\n"), tail.count("\r"), 1) - 1

    def text(self, count: int) -> str:
        """About ``count`` more bytes as text; empty at the end."""
        chunk = self._source.stream.read(count)
        self._consumed += len(chunk)
        self.ended = self._consumed >= self._source.size or not chunk  # it may become shorter while it is read
        decoded = self._decoded(chunk)
        before, zero, _ = decoded.partition("\0")
        if zero:
            line = self._lines + before.count("\n") + 1
            raise InputError(f"{self._source.name} holds a zero byte in line {line}: "
                             "it is a binary file or damaged; save it as CSV.")
        self._lines += decoded.count("\n")
        self._end = (self._end + decoded)[-_END:]
        return decoded

    def start(self, rest: str, *, collapse: bool) -> None:
        """Begin with ``rest``; with ``collapse`` any run of blanks is one space."""
        self._collapse = collapse
        self._ready = self._passed(rest)

    def read(self, count: int = -1) -> bytes:
        """The next UTF-8 bytes; the parser asks from a thread of its own."""
        with self._lock:
            while len(self._ready) < count and not self.ended and not self.closed:
                self._ready += self._passed(self.text(_CHUNK))
            found, self._ready = self._ready[:count], self._ready[count:]
        return found

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        """Touch the file no more; closing it is its owner's part."""
        with self._lock:
            super().close()

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

    def _passed(self, text: str) -> bytes:
        if self._collapse:
            text = self._carry + text
            cut = len(text) if self.ended else text.rfind("\n") + 1  # a run of blanks may go on
            text, self._carry = text[:cut], text[cut:]
            text = re.sub(r"(?m)^ +| +(?=\r?$)", "", re.sub(r"[ \t]+", " ", text))
        self.quotes += text.count('"')
        return text.encode()


def read_delimited(source: Source, *, separator: str | None, decimal: str | None, header: bool | None,
                   encoding: str | None, texts: Iterable[str] = ()) -> Table:
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
    columns = Columns(names, decimal=layout.decimal, source=source, texts=texts)
    odd = _parse(stream, layout, columns, source)
    skipped = np.array(odd.left_out, dtype=np.int64) + layout.first_row - 1

    def rows_of(indices: Any) -> IntArray:
        return file_rows(indices, first_row=layout.first_row, left_out=skipped)

    found, notes = columns.finish(lambda index: int(rows_of(index)))
    return Table(name=source.name, format="csv", **found, separator=layout.separator, decimal=layout.decimal,
                 header=layout.names is not None, encoding=stream.encoding,
                 notes=(_detected(layout, stream.encoding), *layout.notes, *notes), first_row=layout.first_row,
                 left_out=np.sort(np.append(skipped, rows_of(columns.blank))),
                 empty_rows=max(columns.blank.size - stream.empty_end, 0) + odd.comments)


def _sample(stream: TextStream, source: Source) -> str:
    """The beginning of the text: 64 KB, or more until it holds a few whole rows."""
    text = stream.text(SAMPLE)
    if len(_CONTROLS.findall(text)) > 0.02 * len(text):
        raise InputError(f"{source.name} does not look like a table of text: it is a binary file or damaged.")
    while not stream.ended and len(text) < _LONGEST_ROW:
        if sum(not record.idle for record in records_of(text, complete=False)) > 3:
            break
        text += stream.text(len(text))
    return text


class _OddRows:
    """Lines that have not the table's width: blank ones and comments are left out, any other ends the reading."""

    def __init__(self) -> None:
        self.left_out: list[int] = []  # counted from 1
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
        self.left_out.append(row.number)
        self.comments += bool(text)
        return "skip"


def _parse(stream: TextStream, layout: Layout, columns: Columns, source: Source) -> _OddRows:
    """Fill ``columns``; returns what was left out."""
    odd, last = _OddRows(), None
    try:
        with closing(_batches(stream, layout, odd)) as batches:
            for batch in batches:
                if batch.num_rows:
                    columns.add(batch.columns, stream.share)
                    last = batch
                source.report(stream.share)
    except pa.ArrowException:
        raise _unparsed(odd, layout, columns, source) from None
    finally:
        stream.close()
    if last is None:
        header, below = ("a header and ", " below it") if layout.names is not None else ("", "")
        raise InputError(f"{source.name} has {header}no records{below}: choose a file with at least two records.")
    if stream.quotes % 2 and any("\n" in column[-1].as_py() for column in last.columns):
        raise InputError(
            f"{source.name} opens a quotation mark that is never closed and swallows the rows from about row "
            f"{layout.first_row + columns.n_added - 1 + len(odd.left_out)} on: remove or close it.")
    return odd


def _batches(stream: TextStream, layout: Layout, odd: _OddRows) -> Generator[Any]:
    """Blocks of whole rows as text: enough of them to be worth a call for each column."""
    if stream.is_over:
        return
    keys = [str(position) for position in range(layout.width)]
    block_size = min(max(1 << 20, layout.width * 8_000), _LONGEST_ROW)
    reading = csv.ReadOptions(use_threads=False, block_size=block_size, column_names=keys)
    parsing = csv.ParseOptions(delimiter=layout.separator, newlines_in_values=True, ignore_empty_lines=False,
                               invalid_row_handler=odd)
    texts = csv.ConvertOptions(column_types=dict.fromkeys(keys, pa.string()), strings_can_be_null=False)
    with csv.open_csv(stream, reading, parsing, texts) as batches:
        yield from batches


def _unparsed(odd: _OddRows, layout: Layout, columns: Columns, source: Source) -> InputError:
    bad = odd.ragged
    if odd.too_many:
        return InputError(f"{source.name} has more than {_MOST_ODD:,} blank lines or comments: remove them.")
    if bad is None:
        return InputError(f"{source.name} has a row that is too long after row {layout.first_row + columns.n_added - 1}"
                          ": is a line break or a closing quotation mark missing?")
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
    return InputError(f"{source.name} has {bad.actual_columns} value{'s' * (bad.actual_columns != 1)} in row "
                      f"{bad.number + layout.first_row - 1} where {where} has {bad.expected_columns}: {question}")


def _detected(layout: Layout, encoding: str) -> str:
    separator = SEPARATORS.get(layout.separator, repr(layout.separator))
    header = f"header in row {layout.first_row - 1}" if layout.names is not None else "no header"
    mark = "comma" if layout.decimal == "," else "point"
    return f"Read as text separated by {separator}, decimal {mark}, {header}, {encoding.upper()}."
