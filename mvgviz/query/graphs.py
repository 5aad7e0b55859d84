"""Matrices of a simple graph: no ranges, no records, an edge instead of a record."""

from __future__ import annotations

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

    name: ClassVar[str] = "adjacency"
    title: ClassVar[str] = "adjacency matrix"
    choice: ClassVar[str] = "Adjacency matrix of the graph"
    question: ClassVar[str] = "who is tied to whom (adjacency matrix of the graph)"
    rows_are: ClassVar = "vertex"
    cols_are: ClassVar = "vertex"
    has_moments: ClassVar = True
    is_graph: ClassVar = True
    derivations: ClassVar[dict[str, Derivation]] = {
        "plain": Derivation((r"A-A'=\pm(e_ie_j^{\mathsf T}+e_je_i^{\mathsf T})",
                             r"s_2=\sqrt2,\quad \gamma=\sqrt{N(N-1)}"),
                            "One edge changes two entries by 1; γ is that of the complete graph.")}
    symmetric: bool = True
    neighbours: FlippedEdge

    @classmethod
    def ask(cls, table: Dataset, *, bound: RecordBound | None = None, neighbours: str = "replace",
            **parameters: Any) -> Query:
        return adjacency(table.matrix)

    def answer(self, records: FloatArray) -> FloatArray:
        return records

    def guess(self, table: Dataset | None) -> Guess:
        return guessed_edges(self.answer(np.ones((self.rows, self.rows)) - np.eye(self.rows)), 0.0)

    def largest_entries(self, largest: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        ends = np.ones(self.rows)
        return ends, ends

    def absolute_sum(self, *, triangle: bool = False) -> float:
        return 1.0 if triangle else 2.0

    def diagonal_square(self) -> float:
        return 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Laplacian(Adjacency):
    """``D - A``: degrees on the diagonal."""

    name: ClassVar[str] = "laplacian"
    title: ClassVar[str] = "Laplacian"
    choice: ClassVar[str] = "Laplacian of the graph"
    question: ClassVar[str] = "ties and degrees of the graph (its Laplacian)"
    derivations: ClassVar[dict[str, Derivation]] = {
        "plain": Derivation((r"L-L'=\pm(e_i-e_j)(e_i-e_j)^{\mathsf T}", r"s_2=2,\quad \gamma=N\sqrt{N-1}"),
                            "One edge changes four entries by 1; γ is that of the complete graph.")}
    psd: bool = True

    @classmethod
    def ask(cls, table: Dataset, *, bound: RecordBound | None = None, neighbours: str = "replace",
            **parameters: Any) -> Query:
        return laplacian(table.matrix)

    def answer(self, records: FloatArray) -> FloatArray:
        return np.asarray(np.diag(records.sum(axis=1)) - records)

    def guess(self, table: Dataset | None) -> Guess:
        return guessed_edges(self.answer(np.ones((self.rows, self.rows)) - np.eye(self.rows)), (self.rows - 1) / 4)

    def largest_entries(self, largest: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        ends = np.full(self.rows, math.sqrt(self.rows - 1))
        return ends, ends

    def absolute_sum(self, *, triangle: bool = False) -> float:
        return 3.0 if triangle else 4.0

    def diagonal_square(self) -> float:
        return 2.0


def adjacency(matrix: Any) -> Query:
    """The adjacency matrix of a simple graph: symmetric, 0/1, no loops."""
    graph = _graph(matrix)
    n = graph.shape[0]
    return Adjacency(value=graph, sensitivity=math.sqrt(2), printed_sensitivity=math.sqrt(2),
                     gamma=math.sqrt(n * (n - 1)), neighbours=FlippedEdge(laplacian=False),
                     neighbour_rule=FLIPPED_EDGE)


def laplacian(matrix: Any) -> Query:
    """The Laplacian ``D - A`` of the simple graph with adjacency ``matrix``."""
    graph = _graph(matrix)
    n = graph.shape[0]
    return Laplacian(value=frozen(np.diag(graph.sum(axis=1)) - graph), sensitivity=2.0, printed_sensitivity=2.0,
                     gamma=n * math.sqrt(n - 1), neighbours=FlippedEdge(laplacian=True), neighbour_rule=FLIPPED_EDGE)


def _graph(matrix: Any) -> FloatArray:
    graph = square("adjacency matrix", matrix)
    if graph.shape[0] < 2:
        raise InputError(f"adjacency matrix must have at least 2 vertices, got {graph.shape[0]}")
    if not ((graph == 0) | (graph == 1)).all():
        row, col = (int(i) for i in np.argwhere((graph != 0) & (graph != 1))[0])
        raise InputError(f"adjacency matrix must hold only 0 and 1, which fails first at ({row}, {col})")
    if not (graph == graph.T).all():
        row, col = (int(i) for i in np.argwhere(graph != graph.T)[0])
        raise InputError(f"adjacency matrix must be symmetric, which fails first at ({row}, {col})")
    if np.diag(graph).any():
        raise InputError(f"adjacency matrix must have a zero diagonal, got a loop at {int(np.argmax(np.diag(graph)))}")
    return graph
