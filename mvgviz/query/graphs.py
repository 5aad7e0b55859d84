"""Matrices of a simple graph: no ranges, no records, an edge instead of a record."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mvgviz.errors import InputError
from mvgviz.query.base import FLIPPED_EDGE, Derivation, Query
from mvgviz.query.dataset import Dataset
from mvgviz.query.neighbours import FlippedEdge
from mvgviz.query.prior import Guess, guessed_edges
from mvgviz.query.record_bound import RecordBound
from mvgviz.validation import FloatArray, frozen, square


@dataclass(frozen=True, kw_only=True, eq=False)
class Adjacency(Query):
    """Symmetric, 0 or 1, no loops."""

    name, title = "adjacency", "adjacency matrix"
    choice = "Adjacency matrix of the graph"
    question = "who is tied to whom (adjacency matrix of the graph)"
    rows_are, cols_are, has_moments, is_graph = "vertex", "vertex", True, True
    derivations: ClassVar = {
        "plain": Derivation((r"A-A'=\pm(e_ie_j^{\mathsf T}+e_je_i^{\mathsf T})",
                             r"s_2=\sqrt2,\quad \gamma=\sqrt{N(N-1)}"),
                            "One edge changes two entries by 1; γ is that of the complete graph.")}
    symmetric: bool = True
    neighbours: FlippedEdge

    @classmethod
    def ask(cls, table: Dataset, *, bound: RecordBound | None = None, neighbours: str = "replace",
            **parameters: Any) -> Query:
        return cls.of(table.matrix)

    @classmethod
    def of(cls, matrix: Any) -> Query:
        graph = _graph(matrix)
        n, body = graph.shape[0], FlippedEdge(laplacian=cls.psd)
        s2, gamma = (2.0, n * math.sqrt(n - 1)) if cls.psd else (math.sqrt(2), math.sqrt(n * (n - 1)))
        value = frozen(np.diag(graph.sum(axis=1)) - graph) if cls.psd else graph
        return cls(value=value, sensitivity=s2, printed_sensitivity=s2, gamma=gamma, neighbours=body,
                   neighbour_rule=FLIPPED_EDGE)

    def answer(self, records: FloatArray) -> FloatArray:
        return records

    def guess(self, table: Dataset | None) -> Guess:
        degree = (self.rows - 1) / 4 if self.psd else 0.0
        return guessed_edges(self.answer(np.ones((self.rows, self.rows)) - np.eye(self.rows)), degree)

    def largest_entries(self, largest: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        ends = np.full(self.rows, math.sqrt(self.rows - 1) if self.psd else 1.0)
        return ends, ends

    def absolute_sum(self, *, triangle: bool = False) -> float:
        return (1.0 if triangle else 2.0) + 2.0 * self.psd

    def diagonal_square(self) -> float:
        return 2.0 * self.psd


@dataclass(frozen=True, kw_only=True, eq=False)
class Laplacian(Adjacency):
    """``D - A``: degrees on the diagonal."""

    name, title = "laplacian", "Laplacian"
    choice = "Laplacian of the graph"
    question = "ties and degrees of the graph (its Laplacian)"
    derivations: ClassVar = {
        "plain": Derivation((r"L-L'=\pm(e_i-e_j)(e_i-e_j)^{\mathsf T}", r"s_2=2,\quad \gamma=N\sqrt{N-1}"),
                            "One edge changes four entries by 1; γ is that of the complete graph.")}
    psd: bool = True

    def answer(self, records: FloatArray) -> FloatArray:
        return np.asarray(np.diag(records.sum(axis=1)) - records)


def adjacency(matrix: Any) -> Query:
    """Ask for the adjacency matrix of a simple graph: symmetric, 0 or 1, no loops."""
    return Adjacency.of(matrix)


def laplacian(matrix: Any) -> Query:
    """Ask for the Laplacian ``D - A`` of the simple graph with adjacency ``matrix``."""
    return Laplacian.of(matrix)


def _graph(matrix: Any) -> FloatArray:
    graph = square("adjacency matrix", matrix)
    if graph.shape[0] < 2:
        raise InputError(f"adjacency matrix must have at least 2 vertices, got {graph.shape[0]}")
    for wrong, rule in (((graph != 0) & (graph != 1), "hold only 0 and 1"), (graph != graph.T, "be symmetric")):
        if wrong.any():
            row, col = np.argwhere(wrong)[0].tolist()
            raise InputError(f"adjacency matrix must {rule}, which fails first at ({row}, {col})")
    if np.diag(graph).any():
        raise InputError(f"adjacency matrix must have a zero diagonal, got a loop at {int(np.argmax(np.diag(graph)))}")
    return graph
