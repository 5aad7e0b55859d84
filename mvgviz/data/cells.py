"""Cells as text, turned into numbers: one column's block at a time.

A cell is a number, a percentage (``12%`` is read as 12), a truth value (0 or 1), missing, or text. Thousands may be set
apart by a comma (a point where the comma is the decimal mark), an apostrophe or a space.
"""

import re
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from mvgviz.validation import FloatArray

NUMBER, PERCENT, BOOLEAN, TEXT, MISSING = range(5)

Kinds: TypeAlias = npt.NDArray[np.uint8]

_MISSING_WORDS = (
    "", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "-NaN", "-nan", "NULL", "Null", "null", "None",
    "none", "?", ".")
_NOTHING = pa.scalar(None, pa.string())
_SPACES = "'’ \u00a0\u202f"
_EXPONENT = "(?:[eE][+-]?[0-9]+)?"


def _patterns(decimal: str) -> dict[str, re.Pattern[str]]:
    mark, group = re.escape(decimal), "," if decimal == "." else "."
    plain = rf"[+-]?(?:[0-9]+{mark}?[0-9]*|{mark}[0-9]+){_EXPONENT}"
    grouped = rf"[+-]?[1-9][0-9]{{0,2}}(?:[{group}{_SPACES}][0-9]{{3}})+(?:{mark}[0-9]*)?"
    infinite = "[+-]?(?:inf|Inf|INF|infinity|Infinity|INFINITY)"
    patterns = {
        "number": f"^(?:{plain}|{grouped}|{infinite})$",
        "percent": f"^(?:{plain}|{grouped})[ \u00a0\u202f]?%$",
        "grouped": f"^{grouped}[ \u00a0\u202f]?%?$",
        "fraction": rf"^[+-]?(?:[0-9]*|[1-9][0-9]{{0,2}}(?:[{group}{_SPACES}][0-9]{{3}})+){mark}[0-9]+{_EXPONENT}%?$",
    }
    return {what: re.compile(pattern) for what, pattern in patterns.items()}


_PATTERNS = {decimal: _patterns(decimal) for decimal in ".,"}


def parse(cells: Any, decimal: str) -> tuple[FloatArray, Kinds, bool]:
    """A block of cells, an arrow array of strings or floats with NaN for missing.

    Its numbers, NaN for what is none; the kind of each cell; whether thousands were set apart.
    """
    values = cells if isinstance(cells, np.ndarray) else _cast(cells, decimal)
    if values is None:
        trimmed = pc.utf8_trim_whitespace(cells)
        cells = pc.if_else(pc.is_in(trimmed, value_set=pa.array(_MISSING_WORDS)), _NOTHING, trimmed)
        values = _cast(cells, decimal)
    if values is None:
        return _mixed(cells, decimal)
    return values, np.where(np.isnan(values), MISSING, NUMBER).astype(np.uint8), False


def is_numeric(cell: str, decimal: str) -> bool:
    """Whether a cell would be read as a number, a percentage or a truth value."""
    text, patterns = cell.strip(), _PATTERNS[decimal]
    return bool(patterns["number"].match(text) or patterns["percent"].match(text) or text.lower() in ("true", "false"))


def is_fraction(cell: str, decimal: str) -> bool:
    """Whether a cell is a number written with this decimal mark, and cannot be thousands set apart by it."""
    text, other = cell.strip(), "," if decimal == "." else "."
    return bool(_PATTERNS[decimal]["fraction"].match(text)) and not is_grouped(text, other)


def is_grouped(cell: str, decimal: str) -> bool:
    """Whether a cell is a number whose thousands are set apart."""
    return bool(_PATTERNS[decimal]["grouped"].match(cell.strip()))


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
        return floats(pc.cast(cells, pa.float64()))
    except pa.ArrowInvalid:
        return None


def _mixed(cells: Any, decimal: str) -> tuple[FloatArray, Kinds, bool]:
    number, percent, grouped = (pc.match_substring_regex(cells, _PATTERNS[decimal][what].pattern)
                                for what in ("number", "percent", "grouped"))
    lower = pc.utf8_lower(cells)
    true, false = (_mask(pc.equal(lower, word)) for word in ("true", "false"))
    digits = pc.if_else(pc.or_(number, percent), cells, _NOTHING)
    bare = pc.replace_substring_regex(digits, f"[%{_SPACES}{'.' if decimal == ',' else ','}]", "")
    values = floats(pc.cast(pc.replace_substring(bare, ",", "."), pa.float64()))
    kinds = np.select([_mask(number), _mask(percent), true | false, _mask(pc.is_valid(cells))],
                      [NUMBER, PERCENT, BOOLEAN, TEXT], MISSING).astype(np.uint8)
    return np.where(true | false, true, values), kinds, bool(_mask(grouped).any())


def floats(numbers: Any) -> FloatArray:
    """An arrow array of floats, NaN for null."""
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)


def _mask(booleans: Any) -> npt.NDArray[np.bool_]:
    return np.asarray(pc.fill_null(booleans, False).to_numpy(zero_copy_only=False), dtype=np.bool_)
