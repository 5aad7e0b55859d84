"""Every kind of query by its word, and the functions that ask them. A new kind is a module and a line here."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mvgviz.errors import InputError, refuse
from mvgviz.query.base import AS_DECLARED, Query
from mvgviz.query.counts import Counts, CrossTable, counts, cross_table
from mvgviz.query.cross_moments import CrossMoments, cross_moments
from mvgviz.query.dataset import ADDED_RECORD, FLIPPED_EDGE, NEIGHBOURS, REPLACED_RECORD, of_person, of_record, rule_of
from mvgviz.query.group_means import GroupMeans, group_means
from mvgviz.query.neighbours import AnyChange
from mvgviz.query.pairs import Adjacency, Kernel, Laplacian, adjacency, laplacian, rbf_kernel
from mvgviz.query.second_moments import CONSTANT, Covariance, JointMoments, covariance, joint_moments, with_constant
from mvgviz.query.tables import Mean, Table, identity, mean
from mvgviz.validation import array, positive, square


@dataclass(frozen=True, kw_only=True, eq=False)
class Custom(Query):
    """A matrix that was computed elsewhere."""

    name = "custom"
    rows_are, cols_are = "row", "column"


QUERIES: dict[str, type[Query]] = {
    kind.name: kind for kind in (
        Table, Covariance, JointMoments, Mean, Counts, CrossTable, GroupMeans, CrossMoments, Kernel, Adjacency,
        Laplacian)}
"""The kinds that a scenario can choose, in the order that a control offers them."""


def kind_of(name: str) -> type[Query]:
    """Return the kind with this name; what is not known was computed elsewhere."""
    return QUERIES.get(name, Custom)


def custom(matrix: Any, *, sensitivity: float, gamma: float, psd: bool = False) -> Query:
    """Any answer whose sensitivity, largest norm and structure (``psd``: for *every* dataset) the caller declares."""
    value = array("matrix", matrix, ndim=2)
    s2, largest = positive("sensitivity", sensitivity), positive("gamma", gamma)
    refuse(not isinstance(psd, bool | np.bool_), "psd must be True or False")
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


__all__ = [
    "ADDED_RECORD", "AS_DECLARED", "CONSTANT", "FLIPPED_EDGE", "NEIGHBOURS", "QUERIES", "REPLACED_RECORD", "Query",
    "adjacency", "counts", "covariance", "cross_moments", "cross_table", "custom", "group_means", "identity",
    "joint_moments", "kind_of", "laplacian", "mean", "of_person", "of_record",
    "rbf_kernel", "rule_of", "with_constant",
]
