"""Excel workbooks (.xlsx), checked before openpyxl opens them.

calamine (0.9) is faster, but kills the process when a gigabyte is too little, and ignores duplicate rows.
"""

import io
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date
from itertools import chain, islice
from typing import Any, TypeAlias
from xml.etree.ElementTree import ParseError  # the error alone; documents with entities are refused
from xml.parsers import expat

import numpy as np
import openpyxl  # type: ignore[import-untyped]
import pyarrow as pa  # type: ignore[import-untyped]
from openpyxl.reader.excel import ExcelReader  # type: ignore[import-untyped]
from openpyxl.styles.stylesheet import apply_stylesheet  # type: ignore[import-untyped]
from openpyxl.worksheet._reader import WorkSheetParser  # type: ignore[import-untyped]

from mvgviz.data.columns import Columns
from mvgviz.data.delimited import has_header
from mvgviz.data.readers import ZIP_ERRORS, Source, check_declared, check_expanded, damaged, pieces
from mvgviz.data.table import Table, clean_names, plain_names
from mvgviz.errors import InputError, refuse

_Row: TypeAlias = tuple[int, tuple[Any, ...]]

_MOST_BLOCK, _CELLS = 4_096, 1 << 20  # rows taken together; fewer of wide ones
_WHOLE = 2**53  # whole numbers below are written as such
_MOST_ROWS = 1_048_576  # Excel's own
_MOST_BETWEEN, _DEEPEST = 1 << 21, 100  # bytes from row to row; elements within elements outside the sheets
_CODES = ("utf-8", "utf-16-le", "utf-16-be")
_ENTITIES = tuple(word.encode(code) for word in ("<!DOCTYPE", "<!ENTITY") for code in _CODES)
# openpyxl documents no errors of its own: these come out of workbooks that are well packed but wrong inside.
_WORKBOOK_ERRORS = (*ZIP_ERRORS, OSError, ParseError, TypeError, AttributeError, IndexError,
                    openpyxl.utils.exceptions.InvalidFileException)


def read_xlsx(source: Source, opened: zipfile.ZipFile, *, member: str | None, header: bool | None,
              decimal: str | None, texts: Iterable[str] | None = ()) -> Table:
    """Read one sheet of a workbook: the named one, else the first with content."""
    formulas, sheets = _look_through(source, opened), dict[str, str]()
    source.stream.seek(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions that do not matter here
            reader = ExcelReader(source.stream, read_only=True, keep_links=False)
            reader.read_manifest()
            reader.read_strings()
            reader.read_workbook()
            apply_stylesheet(reader.archive, reader.wb)
            sheets |= {sheet.name: rel.target for sheet, rel in reader.parser.find_sheets()
                       if rel.target in reader.valid_files and "chartsheet" not in rel.Type}
            refuse(member is not None and member not in sheets,
                   f"{source.name} has no sheet of that name: choose one of the {len(sheets)} it holds.")
            return _read(source, reader, sheets, member, header, decimal or ".", formulas, texts)
    except InputError as error:
        error.members = tuple(sheets)
        raise
    except _WORKBOOK_ERRORS:
        raise damaged(source.name) from None


def _look_through(source: Source, opened: zipfile.ZipFile) -> bool:
    """Expand and count everything once; return whether a sheet has formulas."""
    members = opened.infolist()
    check_declared(members, source)
    formulas = False
    for member in members:
        is_sheet = member.filename.startswith("xl/worksheets/")
        is_short = not is_sheet and member.filename.endswith((".xml", ".rels"))
        parser = _depth_parser(source.name) if is_short else None
        before = b""
        for piece in pieces(opened, member, source):
            seam = before[-20:] + piece[:20]
            before = piece
            if any(word in piece or word in seam for word in _ENTITIES):
                raise InputError(f"{source.name} defines entities, which no workbook needs: save it again as .xlsx.")
            if parser is not None:
                with suppress(expat.ExpatError):  # openpyxl reports what is no XML
                    parser.Parse(piece)
            formulas = formulas or (is_sheet and (b"<f>" in piece or b"<f " in piece))
    return formulas


def _depth_parser(name: str) -> expat.XMLParserType:
    """Return a parser that raises at too deep nesting, which makes openpyxl slow."""
    depth = 0

    def enter(*_: object) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise damaged(name)

    def leave(_: object) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = enter, leave
    return parser


class _Sheet(io.RawIOBase):
    """A sheet for openpyxl's parser alone, with a limit on what comes between rows, which could fill the memory."""

    def __init__(self, reader: ExcelReader, path: str, source: Source) -> None:
        super().__init__()
        self._reader, self._source = reader, source
        self._stream, self._size = reader.archive.open(path), reader.archive.getinfo(path).file_size
        self._read = self._since_row = 0

    @property
    def share(self) -> float:
        return float(self._read / max(self._size, 1))

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes; raise `InputError` after too many without a row."""
        piece: bytes = self._stream.read(size)
        self._read += len(piece)
        self._since_row += len(piece)
        refuse(not self._since_row <= _MOST_BETWEEN,
               f"{self._source.name} has too much between its rows: save the table as CSV.")
        return piece

    def rows(self) -> Iterator[_Row]:
        """Yield the rows with content by number, without empty cells at the end."""
        book, last = self._reader.wb, 0
        parser = WorkSheetParser(self, self._reader.shared_strings, data_only=True, epoch=book.epoch,
                                 date_formats=book._date_formats, timedelta_formats=book._timedelta_formats)
        for number, cells in parser.parse():
            self._since_row = 0
            refuse(number > _MOST_ROWS, f"{self._source.name} has rows beyond Excel's limit of {_MOST_ROWS}: save it "
                   "again, or as CSV.")
            if number <= last:
                raise damaged(self._source.name)
            last = number
            filled = {cell["column"]: cell["value"] for cell in cells if cell["value"] is not None}
            if filled:
                yield number, tuple(map(filled.get, range(1, max(filled) + 1)))


def _read(source: Source, reader: ExcelReader, sheets: dict[str, str], member: str | None, header: bool | None,
          decimal: str, formulas: bool, kept: Iterable[str] | None) -> Table:
    """Read the sheet that is named, else the first with content."""
    for title in sheets if member is None else [member]:
        sheet = _Sheet(reader, sheets[title], source)
        rows = sheet.rows()
        if top := list(islice(rows, 100)):
            break
    else:
        raise InputError(f"{source.name} has nothing in its sheets: choose a workbook with a table.")
    width = max(len(cells) for _, cells in top)
    texts = [[_text(cell, decimal) for cell in cells] + [""] * (width - len(cells)) for _, cells in top]
    has_names = has_header(texts, decimal, source.name, any_text=kept is None) if header is None else header
    names = clean_names(texts[0], source.name) if has_names else plain_names(width, source.name)
    columns = Columns(names, decimal=decimal, source=source, texts=kept)
    numbers: list[int] = []
    rows = chain(top[has_names:], rows)
    while block := list(islice(rows, max(1, min(_MOST_BLOCK, _CELLS // width)))):
        numbers += [number for number, _ in block]
        columns.add(_padded(block, width, decimal, source), sheet.share)
        source.report(sheet.share)
    refuse(not numbers, f"{source.name} has a header and no records below it: choose a sheet with two or more.")
    found, remarks = columns.finish(numbers.__getitem__)
    taken = np.delete(numbers, columns.blank)
    left_out = np.setdiff1d(np.arange(taken[0], taken[-1]), taken)
    above = int(taken[0]) - top[0][0] - 1 if has_names else 0  # between the header and the first record
    notes = {
        f"Read from an Excel sheet, {f'header in row {top[0][0]}' if has_names else 'no header'}.": True,
        f"Empty rows were left out: {left_out.size}.": left_out.size > 0,
        f"The workbook holds {len(sheets)} sheets: one was read, another can be chosen.": len(sheets) > 1,
        "The workbook has formulas: their saved results were read; a formula without one counts as missing.": formulas,
    }
    return Table(name=source.name, format="xlsx", **found, header=has_names, decimal=decimal, member=title,
                 members=tuple(sheets), notes=(*(note for note, holds in notes.items() if holds), *remarks),
                 first_row=int(taken[0]), left_out=left_out, empty_rows=int(left_out.size) + above)


def _padded(block: list[_Row], width: int, decimal: str, source: Source) -> list[Any]:
    """Return the columns of some rows, all of the same length."""
    for number, cells in block:
        refuse(len(cells) > width, f"{source.name} has {len(cells)} values in row {number} where the rows above have "
               f"{width}: remove what stands beside the table.")
    # one text of the workbook may stand in many cells
    check_expanded(sum(len(cell) for _, cells in block for cell in cells if isinstance(cell, str)), source)
    return [_cells(column, decimal) for column in zip(*((*cells, *[None] * (width - len(cells))) for _, cells in block),
                                                      strict=True)]


def _cells(column: tuple[Any, ...], decimal: str) -> Any:
    if {*map(type, column)} <= {int, float, type(None)}:
        return np.array([np.nan if cell is None else _float(cell) for cell in column])
    return pa.array([_text(cell, decimal) for cell in column], pa.string())


def _float(cell: float) -> float:
    try:
        return float(cell)
    except OverflowError:
        return np.inf


def _text(cell: Any, decimal: str) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool | str):
        return str(cell)
    if isinstance(cell, int) and abs(cell) < _WHOLE:
        return str(cell)
    if isinstance(cell, int | float):
        return repr(_float(cell)).replace(".", decimal)
    return cell.isoformat() if isinstance(cell, date) else "time"  # set aside like text, unless it is to be kept
