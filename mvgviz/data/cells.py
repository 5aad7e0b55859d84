"""Cells as text, turned into numbers: one column's block at a time.

A cell is a number, a percentage (``12%`` is read as 12), a truth value (0 or 1),
missing, or text. Thousands may be set apart by a comma (a point where the comma
is the decimal mark), an apostrophe or a space.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from mvgviz.validation import FloatArray

NUMBER, PERCENT, BOOLEAN, TEXT = range(4)
MISSING = 255

Kinds: TypeAlias = npt.NDArray[np.uint8]

_MISSING_WORDS = (
    "", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "-NaN", "-nan", "NULL", "Null", "null",
    "None", "none", "?", ".",
)
_MISSING_VALUES = pa.array(_MISSING_WORDS)
_SPACES = "'’ \u00a0\u202f"
_EXPONENT = "(?:[eE][+-]?[0-9]+)?"


def _patterns(decimal: str) -> dict[str, str]:
    mark, group = re.escape(decimal), "," if decimal == "." else "."
    plain = rf"[+-]?(?:[0-9]+{mark}?[0-9]*|{mark}[0-9]+){_EXPONENT}"
    grouped = rf"[+-]?[1-9][0-9]{{0,2}}(?:[{group}{_SPACES}][0-9]{{3}})+(?:{mark}[0-9]*)?"
    infinite = "[+-]?(?:inf|Inf|INF|infinity|Infinity|INFINITY)"
    return {
        "number": f"^(?:{plain}|{grouped}|{infinite})$",
        "percent": f"^(?:{plain}|{grouped})[ \u00a0\u202f]?%$",
        "grouped": f"^{grouped}[ \u00a0\u202f]?%?$",
        "fraction": rf"^[+-]?(?:[0-9]*|[1-9][0-9]{{0,2}}(?:[{group}{_SPACES}][0-9]{{3}})+){mark}[0-9]+{_EXPONENT}%?$",
    }


_PATTERNS = {decimal: _patterns(decimal) for decimal in ".,"}
_COMPILED = {
    decimal: {what: re.compile(pattern) for what, pattern in patterns.items()}
    for decimal, patterns in _PATTERNS.items()
}
_BOOLEAN = "^(?i:true|false)$"


@dataclass(frozen=True, kw_only=True)
class Block:
    """``values``: NaN for what is no number. ``kinds``: one for each cell, or None if there are only plain numbers.

    ``grouped``: thousands were set apart.
    """

    values: FloatArray
    kinds: Kinds | None = None
    grouped: bool = False


def parse(cells: Any, decimal: str) -> Block:
    """Numbers and kinds of a block of cells: an arrow array of strings, or floats with NaN for missing."""
    if isinstance(cells, np.ndarray):
        return Block(values=cells)
    plain = _cast(cells, decimal)
    if plain is not None:
        return Block(values=plain)
    trimmed = pc.utf8_trim_whitespace(cells)
    present = pc.if_else(pc.is_in(trimmed, value_set=_MISSING_VALUES), pa.scalar(None, pa.string()), trimmed)
    plain = _cast(present, decimal)
    return Block(values=plain) if plain is not None else _mixed(present, decimal)


def is_numeric(cell: str, decimal: str) -> bool:
    """Whether a cell would be read as a number, a percentage or a truth value."""
    text, patterns = cell.strip(), _COMPILED[decimal]
    return bool(patterns["number"].match(text) or patterns["percent"].match(text) or text.lower() in ("true", "false"))


def is_fraction(cell: str, decimal: str) -> bool:
    """Whether a cell is a number written with this decimal mark, and cannot be thousands set apart by it."""
    text, other = cell.strip(), "," if decimal == "." else "."
    return bool(_COMPILED[decimal]["fraction"].match(text)) and not is_grouped(text, other)


def is_grouped(cell: str, decimal: str) -> bool:
    """Whether a cell is a number whose thousands are set apart."""
    return bool(_COMPILED[decimal]["grouped"].match(cell.strip()))


def is_missing(cell: str) -> bool:
    """Whether a cell stands for a missing value."""
    return cell.strip() in _MISSING_WORDS


def _cast(cells: Any, decimal: str) -> FloatArray | None:
    """The whole block as plain numbers, or None if any cell is something else."""
    if decimal == ",":
        if pc.any(pc.match_substring(cells, ".")).as_py():  # 1.234 would be taken for a fraction
            return None
        cells = pc.replace_substring(cells, ",", ".")
    try:
        return _floats(pc.cast(cells, pa.float64()))
    except pa.ArrowInvalid:
        return None


def _mixed(cells: Any, decimal: str) -> Block:
    patterns = _PATTERNS[decimal]
    number = pc.match_substring_regex(cells, patterns["number"])
    percent = pc.match_substring_regex(cells, patterns["percent"])
    boolean = pc.match_substring_regex(cells, _BOOLEAN)
    nothing = pa.scalar(None, pa.string())
    digits = pc.if_else(pc.or_(number, percent), cells, nothing)
    bare = pc.replace_substring_regex(digits, f"[%{_SPACES}{'.' if decimal == ',' else ','}]", "")
    values = _floats(pc.cast(pc.replace_substring(bare, ",", "."), pa.float64()))
    kinds = np.full(len(cells), MISSING, dtype=np.uint8)
    kinds[_mask(pc.is_valid(cells))] = TEXT
    for kind, found in ((NUMBER, number), (PERCENT, percent), (BOOLEAN, boolean)):
        kinds[_mask(found)] = kind
    truths = kinds == BOOLEAN
    if truths.any():
        values = values.copy()
        values[truths] = _mask(pc.equal(pc.utf8_lower(cells), "true"))[truths]
    grouped = bool(pc.any(pc.match_substring_regex(cells, patterns["grouped"])).as_py())
    return Block(values=values, kinds=kinds, grouped=grouped)


def _floats(numbers: Any) -> FloatArray:
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)


def _mask(booleans: Any) -> npt.NDArray[np.bool_]:
    return np.asarray(pc.fill_null(booleans, False).to_numpy(zero_copy_only=False), dtype=np.bool_)
