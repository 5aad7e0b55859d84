"""Every kind of query by its word, and the functions that ask them. A new kind is a module and a line here."""

from mvgviz.query.base import (
    ADDED_RECORD,
    AS_DECLARED,
    FLIPPED_EDGE,
    NEIGHBOURS,
    REPLACED_RECORD,
    Query,
    origins,
    rule_of,
)
from mvgviz.query.counts import Counts, CrossTable, counts, cross_table
from mvgviz.query.cross_moments import CrossMoments, cross_moments
from mvgviz.query.custom import Custom, custom
from mvgviz.query.graphs import Adjacency, Laplacian, adjacency, laplacian
from mvgviz.query.group_means import GroupMeans, group_means
from mvgviz.query.kernel import Kernel, rbf_kernel
from mvgviz.query.second_moments import CONSTANT, Covariance, JointMoments, covariance, joint_moments, with_constant
from mvgviz.query.tables import Mean, Table, identity, mean

QUERIES: dict[str, type[Query]] = {
    kind.name: kind for kind in (
        Table, Covariance, JointMoments, Mean, Counts, CrossTable, GroupMeans, CrossMoments, Kernel, Adjacency,
        Laplacian)}
"""The kinds that a scenario can choose, in the order that a control offers them."""


def kind_of(name: str) -> type[Query]:
    """Return the kind with this name; what is not known was computed elsewhere."""
    return QUERIES.get(name, Custom)


__all__ = [
    "ADDED_RECORD", "AS_DECLARED", "CONSTANT", "FLIPPED_EDGE", "NEIGHBOURS", "QUERIES", "REPLACED_RECORD", "Query",
    "adjacency", "counts", "covariance", "cross_moments", "cross_table", "custom", "group_means", "identity",
    "joint_moments", "kind_of", "laplacian", "mean", "origins", "rbf_kernel", "rule_of", "with_constant",
]
