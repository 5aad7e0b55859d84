"""Matrices of pairs: how alike every two records are, and who is tied to whom in a simple graph."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from mvgviz.errors import InputError, refuse
from mvgviz.noise.sides import NoiseSide
from mvgviz.query.base import UNIT, Derivation, Facts, Query, sum_error
from mvgviz.query.dataset import FLIPPED_EDGE, Dataset
from mvgviz.query.neighbours import AnyChange, FlippedEdge
from mvgviz.query.prior import Guess, expected_similarity, of_entries
from mvgviz.query.record_bound import RecordBound
from mvgviz.query.tables import INSIDE, column_body
from mvgviz.validation import FloatArray, frozen, positive, square

_LARGEST = 5_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Kernel(Query):
    """``exp(-||x_i - x_j||²/(2 length²))``, records × records."""

    name, title, in_sentence = "kernel", "kernel matrix", "a kernel matrix"
    choice = "Kernel matrix of the records"
    question = "how similar every two records are (Gaussian kernel matrix)"
    rows_are, cols_are, is_kernel = "record", "record", True
    parameters = ("length",)
    derivations: ClassVar = {
        "plain": Derivation((r"|k-k'|\le\kappa:=1-e^{-\sum r_i^2/2\ell^2}",
                             r"s_2=\kappa\sqrt{2(n-1)},\quad \gamma=n"),
                            "One row and one column change; ℓ is the kernel length. The paper uses √(8n − 4)."),
        "bounded": Derivation((INSIDE + r"\|x-x'\|\le D=2R/s_{\min}(B)",
                               r"s_2=\kappa\sqrt{2(n-1)},\quad\kappa:=1-e^{-D^2/2\ell^2}"),
                              "One row and one column change, as far as two records of the ellipse can be apart; ℓ is "
                              "the kernel length."),
    }
    psd: bool = True
    symmetric: bool = True
    length: float

    @classmethod
    def _facts(cls, table: Dataset, data: Dataset, bound: RecordBound | None, added: bool, **parameters: Any) -> Facts:
        scale, n = positive("length", parameters.get("length", 1.0), least=1e-60, most=1e60), data.n_records
        refuse(added, "the kernel has a row for each record, so none can be added or removed; choose replaced records, "
               "or another query")
        refuse(data.per_person > 1, "the kernel query supports one record a person; ask for second moments or the mean")
        refuse(not 2 <= n <= _LARGEST, f"the kernel query needs 2 to {_LARGEST} records, got {n}")
        x = (data.matrix - data.lower[:, None]) / scale  # the kernel does not see where the origin is
        sides = map(NoiseSide.identity, (data.n_features, 1))
        span = (column_body(table, data, bound, 1.0).worst(*sides).mu / scale) ** 2
        s2 = -math.expm1(-span / 2) * math.sqrt(2 * (n - 1))
        return {"value": frozen(_similarities(x)), "sensitivity": s2, "printed_sensitivity": math.sqrt(8 * n - 4),
                "gamma": float(n), "neighbours": AnyChange(sensitivity=s2, fills_ball=False), "length": scale,
                "row_names": None}

    @classmethod
    def fits(cls, table: Dataset) -> bool:
        return 2 <= table.n_records <= _LARGEST

    def answer(self, records: FloatArray) -> FloatArray:
        return _similarities(records / self.length)

    def guess(self, table: Dataset | None) -> Guess:
        assert table is not None
        mean, square = (float(np.prod(expected_similarity(table.widths / self.length * factor)))
                        for factor in (1.0, math.sqrt(2)))
        answer = np.full(self.value.shape, mean)
        np.fill_diagonal(answer, 1.0)
        return Guess(answer=answer, spread=partial(of_entries, max(square - mean**2, 0.0), 0.0, size=self.rows))

    @property
    def _drop(self) -> float:
        return self.sensitivity / math.sqrt(2 * (self.rows - 1))

    def largest_entries(self, largest: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        ends = np.ones(self.rows)
        return ends, ends

    def rounding(self, largest: FloatArray | None) -> float:
        if largest is None or not self._drop < 1:
            return 1.0
        span = -2 * math.log1p(-self._drop)  # the largest squared distance, in lengths
        return 2 * span * sum_error(largest.size + 6) + 8 * UNIT

    def most_moved(self, mu: float) -> float:
        return mu / self._drop  # numbers lie in [0, 1] as computed too: errors cannot add more

    def absolute_sum(self, *, triangle: bool = False) -> float:
        everywhere = self._drop * 2 * (self.rows - 1)  # one row and column off the diagonal
        return everywhere / 2 if triangle else everywhere

    def diagonal_square(self) -> float:
        return 0.0


def rbf_kernel(dataset: Dataset, *, length: float, bound: RecordBound | None = None) -> Query:
    """Ask for the kernel matrix ``exp(-||x_i - x_j||²/(2 length²))``, records × records."""
    return Kernel.ask(dataset, bound=bound, length=length)


def _similarities(x: FloatArray) -> FloatArray:
    squares = np.einsum("ij,ij->j", x, x)
    distances = np.maximum(squares[:, None] + squares[None, :] - 2 * (x.T @ x), 0.0)
    np.fill_diagonal(distances, 0.0)
    return np.asarray(np.exp(-distances / 2))


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
        full = self.answer(np.ones((self.rows, self.rows)) - np.eye(self.rows))
        degree = (self.rows - 1) / 4 if self.psd else 0.0  # its variance
        return Guess(answer=full / 2, spread=partial(of_entries, 1 / 4, degree, size=self.rows),
                     name="half an edge between any two vertices", plain={"every edge there": full})

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
    refuse(graph.shape[0] < 2, f"adjacency matrix must have at least 2 vertices, got {graph.shape[0]}")
    for wrong, rule in (((graph != 0) & (graph != 1), "hold only 0 and 1"), (graph != graph.T, "be symmetric")):
        if wrong.any():
            row, col = np.argwhere(wrong)[0].tolist()
            raise InputError(f"adjacency matrix must {rule}, which fails first at ({row}, {col})")
    if np.diag(graph).any():
        raise InputError(f"adjacency matrix must have a zero diagonal, got a loop at {int(np.argmax(np.diag(graph)))}")
    return graph
