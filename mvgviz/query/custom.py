"""Any answer whose sensitivity the caller declares: nothing else is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mvgviz.errors import InputError, refuse
from mvgviz.query.base import AS_DECLARED, Query
from mvgviz.query.neighbours import AnyChange
from mvgviz.validation import array, positive, square


@dataclass(frozen=True, kw_only=True, eq=False)
class Custom(Query):
    """A matrix that was computed elsewhere."""

    name = "custom"
    rows_are, cols_are = "row", "column"


def custom(matrix: Any, *, sensitivity: float, gamma: float, psd: bool = False) -> Query:
    """Any answer whose sensitivity, largest norm and structure the caller declares.

    ``psd`` means symmetric positive semi-definite for *every* dataset.
    """
    value = array("matrix", matrix, ndim=2)
    s2, largest = positive("sensitivity", sensitivity), positive("gamma", gamma)
    if not isinstance(psd, bool | np.bool_):
        raise InputError("psd must be True or False")
    with np.errstate(over="ignore"):
        norm = float(np.linalg.norm(value))
    if not norm <= largest * (1 + 1e-12):
        raise InputError(f"gamma must be at least the Frobenius norm of the matrix, got {largest:g}")
    if psd:
        square("matrix", value)
        size = float(np.abs(value).max())
        refuse(not np.abs(value - value.T).max() <= 1e-8 * size, "matrix must be symmetric when psd is True")
        if not np.linalg.eigvalsh(value)[0] >= -1e-8 * size * value.shape[0]:
            raise InputError("matrix must be positive semi-definite when psd is True")
    return Custom(value=value, sensitivity=s2, printed_sensitivity=s2, gamma=largest, psd=bool(psd),
                  symmetric=bool(psd), neighbours=AnyChange(sensitivity=s2, fills_ball=True),
                  neighbour_rule=AS_DECLARED)
