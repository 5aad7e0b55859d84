"""What the directions and the coordinates of an answer are called."""

import math

import numpy as np

from mvgviz.noise.directions import Directions
from mvgviz.noise.ties import largest_first
from mvgviz.query.queries import Query
from mvgviz.validation import FloatArray

_LABELS = 10_000
_SEEN = 0.05  # of a direction's entries, rounded to one digit


def names_of_directions(query: Query, mode: str, directions: Directions) -> tuple[str, ...]:
    """Features, records or vertices for the standard basis; a turned direction by its number and largest parts."""
    names = names_of_coordinates(query, mode, directions.size)
    if directions.is_standard:
        return names
    if mode == "columns" or query.row_names is None:
        return numbered("direction", directions.size)
    return tuple(f"{k + 1}: {_largest_parts(directions.matrix[:, k], names)}" for k in range(len(names)))


def _largest_parts(direction: FloatArray, names: tuple[str, ...]) -> str:
    """"0.9 sleep + 0.4 score": the two largest entries, the largest above 0; dots where there are more."""
    order = largest_first(np.abs(direction))[:2]
    parts = direction * math.copysign(1.0, direction[order[0]])
    seen = [k for k in order if abs(parts[k]) >= _SEEN]
    if len(seen) == 1:
        return str(names[seen[0]])
    told = " ".join(f"{'+' if parts[k] > 0 else '-'} {abs(parts[k]):.1f} {names[k]}" for k in seen).removeprefix("+ ")
    return f"{told} …" if np.count_nonzero(np.abs(parts) >= _SEEN) > len(seen) else told


def names_of_coordinates(query: Query, mode: str, size: int) -> tuple[str, ...]:
    """What the rows (columns, in mode "columns") of the answer are called."""
    if mode != "columns" and query.row_names is not None:
        return query.row_names[:_LABELS]
    return numbered("vertex" if query.is_graph else "record", size)


def numbered(kind: str, size: int) -> tuple[str, ...]:
    """"record 1", "record 2", …; sizes beyond 10 000 are not named one by one."""
    return tuple(f"{kind} {i + 1}" for i in range(min(size, _LABELS)))
