"""Column names: how a file's are cleaned, and how a message quotes them. Whoever draws them escapes them."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from mvgviz.errors import InputError
from mvgviz.text import one_line

LONGEST_NAME = 80
_MOST_COLUMNS = 50_000  # in a file, where records may be columns; a dataset takes far fewer features
_SHOWN_NAME = 40
_LONG_NUMBER = re.compile(r"\d(?:[.,]?\d){4}")


def clean_name(name: str, position: int) -> str:
    """A name on one line, at most 80 characters; "column 3" for the third if there is none."""
    return one_line(name)[:LONGEST_NAME].rstrip() or f"column {position}"


def clean_names(names: Iterable[str], file_name: str) -> tuple[str, ...]:
    """Every column's name, all different."""
    cleaned = tuple(clean_name(name, position) for position, name in enumerate(names, start=1))
    check_width(len(cleaned), file_name)
    twice = [name for name, times in Counter(cleaned).items() if times > 1]
    if twice:
        quoted = listed(twice, [cleaned.index(name) + 1 for name in twice[:3]], most=3)
        raise InputError(f"{file_name} has more than one column named {quoted}: give each column a name of its own, "
                         "or say that there is no header.")
    return cleaned


def plain_names(count: int, file_name: str) -> tuple[str, ...]:
    """Names for columns that have none."""
    check_width(count, file_name)
    return tuple(f"column {position}" for position in range(1, count + 1))


def check_width(count: int, file_name: str) -> None:
    """Whether a file has no more columns than can be handled."""
    if not count <= _MOST_COLUMNS:
        raise InputError(f"{file_name} has {count} columns and at most {_MOST_COLUMNS} can be read: "
                         "keep the columns you need, or turn the table so that records are rows.")


def shown(name: str, position: int) -> str:
    """A name as a message quotes it.

    A header that was guessed may be a first row of data: what carries a long
    number is called by its position, like a column without a name.
    """
    if _LONG_NUMBER.search(name) or name == f"column {position}":
        return f"number {position}"
    return f"'{name}'" if len(name) <= _SHOWN_NAME else f"'{name[: _SHOWN_NAME - 3]}...'"


def listed(names: Sequence[str], positions: Sequence[int], most: int = 5) -> str:
    """A few names for a sentence, with the positions of their columns."""
    quoted = ", ".join(shown(name, position) for name, position in zip(names[:most], positions, strict=False))
    return quoted + (f" and {len(names) - most} more" if len(names) > most else "")
