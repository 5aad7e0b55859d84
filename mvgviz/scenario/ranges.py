"""Ranges in and out: a table of features, or JSON."""

import csv
import io
import json
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any

from mvgviz.errors import InputError, refuse
from mvgviz.provenance import Origin, Range
from mvgviz.query.dataset import checked_range, is_dated, pair_of
from mvgviz.text import csv_text, spreadsheet_cell
from mvgviz.validation import MOST_JSON, number, one_of, parsed_json

_HEADER = ("feature", "lowest", "highest", "known")
_WORDS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False, "": False}
_MOST = 20_000  # ranges in one file


def range_of(name: str, ends: Any) -> Range:
    """The range of a column from a pair, which declares it, or with the word for its origin; dates become text."""
    if isinstance(ends, tuple | list) and len(ends) == 3:
        ends = Range(ends[0], ends[1], origin_called(ends[2]))
    low, high, origin = pair_of(ends, repr(name))
    if is_dated([low, high]):
        return Range(_date(low), _date(high), origin)
    span = checked_range(Range(low, high, origin), repr(name))
    refuse(not span.low < span.high, f"the range of {name!r} must have its low end below its high end")
    return span


def _date(end: Any) -> Any:
    try:
        return (end if isinstance(end, date) else datetime.fromisoformat(end)).isoformat().removesuffix("T00:00:00")
    except (TypeError, ValueError):
        raise InputError("the range of a column of dates must be two dates, such as 2020-01-01") from None


def range_to_list(span: Range) -> list[Any]:
    """``[low, high]`` where it is declared, else with its origin."""
    return [span.low, span.high] if span.origin is Origin.DECLARED else [span.low, span.high, span.origin.value]


def origin_called(word: Any) -> Origin:
    """Return an origin by the word for it in a file."""
    return Origin(one_of("where something comes from", word, tuple(origin.value for origin in Origin)))


def ranges_to_csv(ranges: Mapping[str, Range]) -> str:
    """Return a line for each feature; ``known``: whether the range is known without looking at the data."""
    return csv_text([_HEADER, *([_cell(name), repr(float(low)), repr(float(high)),
                                 "yes" if origin is Origin.DECLARED else "no"]
                                for name, (low, high, origin) in ranges.items())])


def _cell(name: str) -> str:
    """A name after an apostrophe, where it could be taken for a formula or not be read as it is."""
    return f"'{name}" if name.startswith("'") or name != name.strip() else spreadsheet_cell(name)


def ranges_to_json(ranges: Mapping[str, Range]) -> str:
    """``{"feature": [low, high]}``, with a third word where the range is not declared."""
    return json.dumps({name: range_to_list(span) for name, span in ranges.items()}, indent=2, ensure_ascii=False)


def ranges_from_text(text: str | bytes) -> dict[str, Range]:
    """Ranges from JSON, or a table with commas, semicolons or tabs; what is not ``known`` was read from the data."""
    refuse(not len(text) <= MOST_JSON, f"a file of ranges must have 1 to {_MOST:,} of them")
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InputError("a file of ranges must be text in UTF-8") from None
    if not text.lstrip().startswith("{"):
        return _from_table(text)
    held = parsed_json(text, 'ranges in JSON must stand as {"feature": [low, high], ...}')
    refuse(not 0 < len(held) <= _MOST, f"a file of ranges must have 1 to {_MOST:,} of them")
    return {name: range_of(name, ends) for name, ends in held.items()}


def _from_table(text: str) -> dict[str, Range]:
    separator = max(",;\t", key=text.lstrip().partition("\n")[0].count)
    try:
        lines = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if "".join(row).strip()]
    except csv.Error:
        raise InputError("a table of ranges must have short lines: feature, lowest, highest, known") from None
    refuse(not 1 < len(lines) <= _MOST + 1, f"a table of ranges must have a header and 1 to {_MOST:,} lines: feature, "
           "lowest, highest, known")
    header, *rows = lines
    named = [name.strip().lower() for name in header]
    refuse(not {*_HEADER[:3]} <= {*named}, f"a table of ranges must have the columns {', '.join(_HEADER)}; the first "
           f"line is {', '.join(named)[:80]}")
    for name in _HEADER:
        refuse(named.count(name) > 1, f'a table of ranges must have one column "{name}", and this one has it twice')
    ranges = dict[str, Range]()
    for row in (dict(zip(named, cells, strict=False)) for cells in rows):
        cell = row.get("feature", "")
        name = cell[1:] if cell.startswith("'") else cell.strip()
        ends = [_number(name, row.get(end, ""), "," if separator == ";" else ".") for end in _HEADER[1:3]]
        known = _WORDS.get(row.get("known", "").strip().lower())
        refuse(known is None, f"\"known\" of {name!r} must be yes or no")
        refuse(name in ranges, f"the range of {name!r} stands twice")
        ranges[name] = range_of(name, [*ends, (Origin.DECLARED if known else Origin.READ).value])
    return ranges


def _number(name: str, text: str, decimal: str) -> float:
    try:
        end = float(text.strip().replace(decimal, "."))
    except ValueError:
        raise InputError(f"the range of {name!r} needs two numbers, got {text.strip()[:20]!r}") from None
    return number(f"an end of the range of {name!r}", end)


def fitting(ranges: Mapping[str, Range], features: Iterable[str]) -> tuple[dict[str, Range], list[str]]:
    """Return those that are about the features, and the names of the others."""
    known = set(features)
    return ({name: span for name, span in ranges.items() if name in known},
            [name for name in ranges if name not in known])
