"""What is asked of the data: the answer, how far one neighbour can move it, its structure.

Neighbours have the same number of records, one of them *replaced*; for graphs, one
edge is *added or removed*. With ``neighbours="add-remove"`` one record is there or its place is empty: the number of
places is public, and an empty one counts as the middle of every range (as the centre of a bound; of the levels of a
category, as an equal part of each), in second moments as nothing. Where a person has several records, all of them
change together. ``printed_sensitivity`` is what the paper computes for
``s2``, ``sensitivity`` the tight value; ``gamma`` bounds the norm of any answer.

>>> import numpy as np
>>> from mvgviz import Dataset, mean
>>> query = mean(Dataset(matrix=np.zeros((2, 50)), features=("a", "b"), lower=-1, upper=1))
>>> f"{query.sensitivity:.4f}"
'0.0566'
"""

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mvgviz.errors import InputError
from mvgviz.noise.sides import NoiseSide
from mvgviz.provenance import Origin
from mvgviz.query.bounded_neighbours import BoundedColumn, BoundedOuterProduct, filled
from mvgviz.query.dataset import Dataset
from mvgviz.query.frames import answer_frame
from mvgviz.query.neighbours import (
    AnyChange,
    FlippedEdge,
    Neighbours,
    ReplacedColumn,
    ReplacedOuterProduct,
    move_widths,
)
from mvgviz.query.record_bound import RecordBound
from mvgviz.validation import FloatArray, array, count, frozen, instance, one_of, positive, square

REPLACED_RECORD = "one record replaced"
FLIPPED_EDGE = "one edge added or removed"
ADDED_RECORD = "one record added or removed"
NEIGHBOURS = ("replace", "add-remove")
AS_DECLARED = "as declared with the sensitivity"
GRAPHS = ("adjacency", "laplacian")
"""The queries of a graph: no ranges, no records, an edge instead of a record."""

CONSTANT = "constant"

_LARGEST_KERNEL = 5_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Query:
    """A matrix-valued answer with what is publicly known about it.

    ``value`` is private; all other fields are public facts, as far as the ranges
    and the number of records are (``ranges_origin``, ``records_origin``).
    ``symmetric`` and ``psd`` hold for every possible dataset, not just this one.
    ``n_records`` is None where records have no meaning; ``bound`` is what records were pulled into first.
    """

    name: str
    value: FloatArray = field(repr=False)
    sensitivity: float
    printed_sensitivity: float
    gamma: float
    psd: bool
    symmetric: bool
    neighbours: Neighbours = field(repr=False)
    neighbour_rule: str
    row_names: tuple[str, ...] | None = None
    n_records: int | None = None
    bound: RecordBound | None = None
    ranges_origin: Origin = Origin.DECLARED
    records_origin: Origin = Origin.DECLARED

    def __post_init__(self) -> None:
        for attribute in ("sensitivity", "printed_sensitivity", "gamma"):
            value = getattr(self, attribute)
            if not (math.isfinite(value) and value > 0):
                raise InputError(f"{attribute} of the {self.name} query must be positive and finite, got {value:g}")

    @property
    def is_graph(self) -> bool:
        return self.name in GRAPHS

    @property
    def rows(self) -> int:
        return int(self.value.shape[0])

    @property
    def cols(self) -> int:
        return int(self.value.shape[1])

    def position(self, feature: str | int) -> int:
        """Where a row of the answer stands, by its name or its position."""
        if isinstance(feature, str):
            if feature not in (self.row_names or ()):
                raise InputError(f"the {self.name} query has no row named {feature[:40]!r}")
            return self.row_names.index(feature)  # type: ignore[union-attr]
        return count("the position of a feature", feature, at_least=0)

    def to_frame(self) -> Any:
        """The true answer, which is private, as a pandas frame with names; a table has its records in rows."""
        kind = "vertex" if self.is_graph else "record" if self.name == "rbf kernel" else "row"
        rows = self.row_names or tuple(f"{kind} {i + 1}" for i in range(self.rows))
        usual = ("mean",) if self.name == "mean" else tuple(f"column {j + 1}" for j in range(self.cols))
        return answer_frame(self.value, rows=rows, cols=rows if self.symmetric else usual,
                            turned=self.name == "identity")


def identity(dataset: Dataset, *, bound: RecordBound | None = None, neighbours: str = "replace") -> Query:
    """The table itself, features × records."""
    data = inside(dataset, bound)
    body = _column_body(dataset, data, bound, 1.0, neighbours, records=data.per_person)
    s2 = _longest_move(body)
    return Query(
        name="identity", value=data.matrix, sensitivity=s2, printed_sensitivity=s2,
        gamma=math.sqrt(data.n_records) * _largest_norm(data, bound), psd=False, symmetric=False,
        neighbours=body, row_names=data.features, bound=bound, **origins(data, neighbours),
    )


def mean(dataset: Dataset, *, bound: RecordBound | None = None, neighbours: str = "replace") -> Query:
    """The average record, features × 1."""
    data = inside(dataset, bound)
    body = _column_body(dataset, data, bound, data.n_records / data.per_person, neighbours)
    s2 = _longest_move(body)
    return Query(
        name="mean", value=frozen(data.matrix.mean(axis=1, keepdims=True)), sensitivity=s2,
        printed_sensitivity=s2, gamma=_largest_norm(data, bound), psd=False, symmetric=False,
        neighbours=body, row_names=data.features, bound=bound, **origins(data, neighbours),
    )


def covariance(dataset: Dataset, *, bound: RecordBound | None = None, neighbours: str = "replace") -> Query:
    """The second-moment matrix ``X Xᵀ/n`` (the paper's covariance; nothing is centred)."""
    return _second_moments("covariance", dataset, dataset.lower, bound, neighbours)


def joint_moments(dataset: Dataset, *, bound: RecordBound | None = None, neighbours: str = "replace") -> Query:
    """Mean and second moments in one answer: ``X Xᵀ/n`` with the constant 1 joined to every record, last.

    ``bound`` is for the joined record. So the constant is scaled with a record that is too long: pulling it in
    only lowers its weight, which leaves a regression as it is.
    """
    joined = with_constant(dataset)
    return _second_moments("moments", joined, np.append(dataset.lower, 1.0), bound, neighbours)


def with_constant(dataset: Dataset) -> Dataset:
    """The table with one more feature, last, that is 1 everywhere (and less where a record is scaled)."""
    name = CONSTANT
    while name in dataset.features:
        name += "_"
    return replace(dataset, matrix=np.vstack([dataset.matrix, np.ones(dataset.n_records)]),
                   features=(*dataset.features, name), lower=np.append(dataset.lower, 0.0),
                   upper=np.append(dataset.upper, 1.0), range_origins=(*dataset.range_origins, Origin.DECLARED),
                   units=(*dataset.units, ""))


def _second_moments(name: str, dataset: Dataset, least: FloatArray, bound: RecordBound | None, neighbours: str
                    ) -> Query:
    """``X Xᵀ/n``; ``least``: the lowest values before records are pulled in."""
    data = inside(dataset, bound)
    n, added = data.n_records / data.per_person, is_added(neighbours)
    total = _largest_norm(data, bound) ** 2
    if bound is None:
        body = ReplacedOuterProduct(lower=least, upper=data.upper, n_records=n, added=added, levels=data.levels)
    else:
        ellipse = bound.ellipse(data.n_features)
        if ellipse.centre.any():
            raise InputError("second moments are about 0: the bound's centre must be 0; moments() takes any centre")
        body = BoundedOuterProduct(lower=data.lower, upper=data.upper, n_records=n, ellipse=ellipse,
                                   declared=(least, dataset.upper), added=added, corners=not dataset.levels)
    unit = NoiseSide.identity(data.n_features)
    return Query(
        name=name, value=frozen(data.matrix @ data.matrix.T / data.n_records), sensitivity=body.worst(unit, unit).mu,
        printed_sensitivity=(1 if added else 2) * total / n, gamma=total, psd=True, symmetric=True, neighbours=body,
        row_names=data.features, bound=bound, **origins(data, neighbours),
    )


def rbf_kernel(dataset: Dataset, *, length: float, bound: RecordBound | None = None) -> Query:
    """The kernel matrix ``exp(-||x_i - x_j||²/(2 length²))``, records × records."""
    data, scale = inside(dataset, bound), positive("length", length, least=1e-60, most=1e60)
    n = data.n_records
    if data.per_person > 1:
        raise InputError("the kernel query is worked out for one record a person; ask for second moments or the mean")
    if not 2 <= n <= _LARGEST_KERNEL:
        raise InputError(f"the kernel query needs 2 to {_LARGEST_KERNEL} records, got {n}")
    x = (data.matrix - data.lower[:, None]) / scale  # the kernel does not see where the origin is
    squares = np.einsum("ij,ij->j", x, x)
    distances = np.maximum(squares[:, None] + squares[None, :] - 2 * (x.T @ x), 0.0)
    np.fill_diagonal(distances, 0.0)
    span = (_longest_move(_column_body(dataset, data, bound, 1.0)) / scale) ** 2
    s2 = -math.expm1(-span / 2) * math.sqrt(2 * (n - 1))
    return Query(
        name="rbf kernel", value=frozen(np.exp(-distances / 2)), sensitivity=s2,
        printed_sensitivity=math.sqrt(8 * n - 4), gamma=float(n), psd=True, symmetric=True,
        neighbours=AnyChange(sensitivity=s2, fills_ball=False), bound=bound, **origins(data),
    )


def adjacency(matrix: Any) -> Query:
    """The adjacency matrix of a simple graph: symmetric, 0/1, no loops."""
    graph = _graph(matrix)
    n = graph.shape[0]
    return Query(
        name="adjacency", value=graph, sensitivity=math.sqrt(2), printed_sensitivity=math.sqrt(2),
        gamma=math.sqrt(n * (n - 1)), psd=False, symmetric=True,
        neighbours=FlippedEdge(laplacian=False), neighbour_rule=FLIPPED_EDGE,
    )


def laplacian(matrix: Any) -> Query:
    """The Laplacian ``D - A`` of the simple graph with adjacency ``matrix``."""
    graph = _graph(matrix)
    n = graph.shape[0]
    return Query(
        name="laplacian", value=frozen(np.diag(graph.sum(axis=1)) - graph), sensitivity=2.0,
        printed_sensitivity=2.0, gamma=n * math.sqrt(n - 1), psd=True, symmetric=True,
        neighbours=FlippedEdge(laplacian=True), neighbour_rule=FLIPPED_EDGE,
    )


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
        if not np.abs(value - value.T).max() <= 1e-8 * size:
            raise InputError("matrix must be symmetric when psd is True")
        if not np.linalg.eigvalsh(value)[0] >= -1e-8 * size * value.shape[0]:
            raise InputError("matrix must be positive semi-definite when psd is True")
    return Query(
        name="custom", value=value, sensitivity=s2, printed_sensitivity=s2, gamma=largest,
        psd=bool(psd), symmetric=bool(psd), neighbours=AnyChange(sensitivity=s2, fills_ball=True),
        neighbour_rule=AS_DECLARED,
    )


def origins(data: Dataset, neighbours: str = "replace") -> dict[str, Any]:
    """How many records there are, one of which changes; where that number and the ranges come from."""
    return {"n_records": data.n_records, "ranges_origin": data.ranges_origin, "records_origin": data.records_origin,
            "neighbour_rule": rule_of(neighbours, data.per_person)}


def rule_of(neighbours: str, per_person: int = 1) -> str:
    """What neighbours differ by, in words."""
    if per_person == 1:
        return ADDED_RECORD if is_added(neighbours) else REPLACED_RECORD
    return f"up to {per_person} records of one person {'added or removed' if is_added(neighbours) else 'replaced'}"


def is_added(neighbours: str) -> bool:
    """Whether a neighbour has a record more or fewer, instead of another one."""
    return one_of("neighbours", neighbours, NEIGHBOURS) == "add-remove"


def _column_body(declared: Dataset, data: Dataset, bound: RecordBound | None, divisor: float,
                 neighbours: str = "replace", records: int = 1) -> ReplacedColumn:
    """What a table or mean can move by: across the ranges, and within the bound if there is one."""
    added = is_added(neighbours)
    if bound is None:
        return ReplacedColumn(widths=move_widths(data.widths, data.levels, added=added), divisor=divisor, added=added,
                              records=records, levels=data.levels)
    ellipse = bound.ellipse(data.n_features)
    widths = np.maximum(data.upper - ellipse.centre, ellipse.centre - data.lower) if added else data.widths
    return BoundedColumn(widths=widths, divisor=divisor, ellipse=ellipse, lower=data.lower, upper=data.upper,
                         declared=(declared.lower, declared.upper), added=added, records=records,
                         corners=not declared.levels)


def _longest_move(body: ReplacedColumn) -> float:
    """The largest change of a table or mean, measured without noise."""
    if isinstance(body, BoundedColumn):
        return body.worst(NoiseSide.identity(body.widths.size), NoiseSide.identity(body.records)).mu
    return _norm(body.widest(np.ones(body.widths.size))) * math.sqrt(body.records) / body.divisor


def _largest_norm(data: Dataset, bound: RecordBound | None) -> float:
    """The longest record that ranges and bound allow."""
    box = _norm(data.largest_values)
    if bound is None:
        return box
    ellipse = bound.ellipse(data.n_features)
    if ellipse.directions.is_standard and not ellipse.centre.any():  # as much as fits, where length is cheapest
        squares = ellipse.weights**2
        parts = filled(ellipse.radius**2, squares * data.largest_values**2, 1 / squares)
        return min(box, math.sqrt(float(np.sum(parts / squares))))
    return min(box, _norm(ellipse.centre) + ellipse.radius / float(ellipse.weights.min()))


def inside(dataset: Dataset, bound: RecordBound | None = None) -> Dataset:
    """The dataset, refused where values lie outside their ranges, with its records pulled into the bound."""
    outside = instance("dataset", dataset, Dataset).count_outside()
    if outside:
        raise InputError(
            f"{outside} of {dataset.matrix.size} entries lie outside their declared ranges; "
            "widen the ranges or use dataset.clipped()"
        )
    return dataset if bound is None else instance("bound", bound, RecordBound).pulled(dataset)


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


def _norm(values: FloatArray) -> float:
    """Euclidean norm without overflow."""
    return math.hypot(*values.tolist())
