"""From a scenario and its dataset to a noise design: the one road all pages take.

file → Dataset → query → directions → theta → design. Private directions and whatever
reads the data are drawn from the scenario's seed: for looking, not for releasing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from mvgviz.design.allocation import binary, least_error, manual, max_pnr, uniform
from mvgviz.design.estimated_directions import eigenvectors, private_eigenvectors
from mvgviz.design.most_information import has_measure, most_informative
from mvgviz.design.noise_design import NoiseDesign, design_noise
from mvgviz.errors import InputError
from mvgviz.noise.accounting import gaussian_mu
from mvgviz.noise.directions import Directions, random_rotation, rotation, standard_basis
from mvgviz.provenance import Origin
from mvgviz.query import queries
from mvgviz.query.dataset import Dataset
from mvgviz.query.queries import Query
from mvgviz.scenario.scenario import DIRECTION_FIELDS, OTHER_FIELDS, SPLIT_FIELDS, Scenario
from mvgviz.validation import FloatArray

_LABELS = 10_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Setup:
    """A scenario worked out for its dataset. ``iid``: the same guarantee with equal noise everywhere."""

    scenario: Scenario
    dataset: Dataset = field(repr=False)
    query: Query = field(repr=False)
    design: NoiseDesign = field(repr=False)
    iid: NoiseDesign = field(repr=False)
    delta: float

    @property
    def origins(self) -> dict[str, Origin]:
        """Where everything that a guarantee rests on comes from, by the name of its caveat."""
        return origins_of(self.query, self.design, self.scenario)

    @property
    def looked_at(self) -> dict[str, Origin]:
        """The origins of what is *seen* of this design. Private directions drawn from a seed are not paid for."""
        return {name: Origin.DECLARED if origin is Origin.DECLARED else Origin.READ
                for name, origin in self.origins.items()}

    @property
    def epsilon_spent(self) -> float:
        """By the noise alone, at the scenario's delta."""
        return self.design.epsilon_spent(self.delta)

    @property
    def direction_names(self) -> tuple[str, ...]:
        """What theta's entries are called."""
        return names_of_directions(self.query, self.design.mode, self.design.directional_side.directions)


def origins_of(query: Query, design: NoiseDesign, scenario: Scenario | None) -> dict[str, Origin]:
    """The origin of the ranges, the number of records, the directions, the split and all other choices.

    Directions and split may be innocent in themselves and still have been chosen by looking at the data.
    """

    def with_choice(origin: Origin, names: tuple[str, ...]) -> Origin:
        return Origin.READ if scenario is not None and scenario.read_among(names) else origin

    return {
        "ranges": query.ranges_origin, "records": query.records_origin,
        "directions": with_choice(design.directions_origin, DIRECTION_FIELDS),
        "split": with_choice(design.theta_origin, SPLIT_FIELDS),
        "choices": with_choice(Origin.DECLARED, OTHER_FIELDS),
    }


def scaled(dataset: Dataset, scale: str) -> Dataset:
    """The dataset as declared, or with its ranges mapped onto [-1, 1] or [0, 1]."""
    return dataset if scale == "declared" else dataset.normalised(to=(-1, 1) if scale == "symmetric" else (0, 1))


def ask(scenario: Scenario, dataset: Dataset) -> Query:
    """The scenario's query of a dataset whose values are inside their ranges."""
    if scenario.query in ("adjacency", "laplacian"):
        return getattr(queries, scenario.query)(dataset.matrix)  # type: ignore[no-any-return]
    table = scaled(dataset, scenario.scale)
    if scenario.query == "kernel":
        return queries.rbf_kernel(table, length=scenario.length)
    return getattr(queries, scenario.query)(table)  # type: ignore[no-any-return]


def delta_of(scenario: Scenario, dataset: Dataset) -> float:
    """The scenario's delta, or the usual one."""
    return usual_delta(dataset.n_records) if scenario.delta is None else scenario.delta


def usual_delta(n_records: int) -> float:
    """``min(1e-6, 1/(100 n))``: far below 1/n, where publishing a record at random would pass."""
    return min(1e-6, paper_delta(n_records) / 100)


def paper_delta(n_records: int) -> float:
    """1/n, as in the paper's experiments (at least 2 records count, so that it stays below 1)."""
    return 1 / max(n_records, 2)


def build(scenario: Scenario, dataset: Dataset, *, query: Query | None = None,
          uploaded: Directions | None = None) -> Setup:
    """The design of a scenario. ``query`` saves asking again; ``uploaded`` are directions from a file."""
    query = ask(scenario, dataset) if query is None else query
    mode = ("both" if query.symmetric else "rows") if scenario.mode == "auto" else scenario.mode
    size = query.cols if mode == "columns" else query.rows
    delta = delta_of(scenario, dataset)
    exact = scenario.guarantee == "exact"
    private = scenario.directions == "private"
    share = scenario.private_share if private else 0.0
    directions = _directions(scenario, dataset, query, size, delta, uploaded)
    # Exact: mu² is divided. Theorem: epsilon and delta are (basic composition, as in the paper).
    part = 1.0 if exact else 1 - share

    def design(theta: FloatArray, origin: Origin) -> NoiseDesign:
        return design_noise(query, epsilon=scenario.epsilon * part, delta=delta * part, mode=mode, theta=theta,
                            theta_origin=origin, guarantee=scenario.guarantee, tail=scenario.tail,
                            directions=directions, cover_directions=exact and private)

    theta, origin = _theta(scenario, dataset, query, design(uniform(size), Origin.DECLARED))
    iid_theta = _isotropic_theta(query, mode, size) if exact else uniform(size)
    return Setup(
        scenario=scenario, dataset=dataset, query=query, delta=delta,
        design=design(theta, origin),
        iid=design_noise(query, epsilon=scenario.epsilon, delta=delta, mode=mode, guarantee=scenario.guarantee,
                         tail=scenario.tail, theta=iid_theta),
    )


def names_of_directions(query: Query, mode: str, directions: Directions) -> tuple[str, ...]:
    """Features, records or vertices for the standard basis, else "direction 1", …."""
    if directions.is_standard:
        return names_of_coordinates(query, mode, directions.size)
    return numbered("direction", directions.size)


def names_of_coordinates(query: Query, mode: str, size: int) -> tuple[str, ...]:
    """What the rows (columns, in mode "columns") of the answer are called."""
    if mode != "columns" and query.row_names is not None:
        return query.row_names[:_LABELS]
    return numbered("vertex" if query.name in ("adjacency", "laplacian") else "record", size)


def numbered(kind: str, size: int) -> tuple[str, ...]:
    """"record 1", "record 2", …; sizes beyond 10 000 are not named one by one."""
    return tuple(f"{kind} {i + 1}" for i in range(min(size, _LABELS)))


def moments_along(directions: Directions, moments: FloatArray) -> FloatArray:
    """``w_kᵀ K w_k`` for each direction, none below 0."""
    if directions.is_standard:
        return np.maximum(np.diag(moments), 0.0)
    w = directions.matrix
    return np.asarray(np.maximum(np.einsum("ik,ik->k", w, moments @ w), 0.0))


def turned_moments(directions: Directions, moments: FloatArray) -> FloatArray:
    """``Wᵀ K W``."""
    return moments if directions.is_standard else np.asarray(directions.matrix.T @ moments @ directions.matrix)


def _directions(scenario: Scenario, dataset: Dataset, query: Query, size: int, delta: float,
                uploaded: Directions | None) -> Directions:
    kind, rng = scenario.directions, np.random.default_rng([scenario.seed, 1])
    if kind == "rotation":
        return rotation(size, scenario.plane, math.radians(scenario.angle))
    if kind == "random":
        return random_rotation(size, rng=rng)
    if kind == "upload":
        if uploaded is None:
            raise InputError("directions from a file: the link has them, this session does not; upload them again")
        return uploaded
    if kind in ("eigenvectors", "private") and size != query.rows:
        raise InputError(f"{kind} directions belong to rows, got mode columns; choose rows or both")
    if kind == "eigenvectors":
        return eigenvectors(query)
    if kind == "private":
        if query.name not in ("identity", "mean", "covariance"):
            raise InputError(f"private directions need a table, mean or covariance query, got {query.name}")
        table = scaled(dataset, scenario.scale)
        share = scenario.private_share
        if scenario.guarantee == "exact":
            mu = float(gaussian_mu(scenario.epsilon, delta)) * math.sqrt(share)
            return private_eigenvectors(table, mu=mu, rng=rng)
        return private_eigenvectors(table, epsilon=scenario.epsilon * share, delta=delta * share, rng=rng)
    return standard_basis(size)


def _theta(scenario: Scenario, dataset: Dataset, query: Query, equal: NoiseDesign) -> tuple[FloatArray, Origin]:
    """theta and where it comes from; ``equal`` is the design with equal shares, for its budget."""
    size, kind = equal.theta.size, scenario.allocation
    favoured = [k for k in scenario.favoured if k < size]
    if kind == "manual":
        if len(scenario.weights) != size:
            raise InputError(f"the manual split must have {size} parts, got {len(scenario.weights)}")
        return manual(scenario.weights), Origin.DECLARED
    if kind == "max-pnr":
        return _max_pnr(scenario, dataset, query, equal)
    if not 0 < len(favoured) < size or kind == "uniform":
        return uniform(size), Origin.DECLARED
    split = binary(size, favoured=favoured, share=scenario.share)
    if kind == "binary":
        return split, Origin.DECLARED
    reach = query.neighbours.reach(equal.directional_side.directions) if equal.guarantee == "exact" else None
    half_widths = None if equal.mode == "columns" else reach
    return least_error(split, guarantee=equal.guarantee, half_widths=half_widths), Origin.DECLARED


def _max_pnr(scenario: Scenario, dataset: Dataset, query: Query, equal: NoiseDesign) -> tuple[FloatArray, Origin]:
    """max-PNR with the signal along the directions, read from wherever those were."""
    side = equal.directional_side
    if equal.mode == "columns":
        raise InputError("max-PNR needs noise over rows or both sides, got mode columns")
    if side.directions.eigenvalues is not None and side.directions.origin is Origin.PAID:
        signal, origin = side.directions.eigenvalues, Origin.PAID
    else:
        signal, origin = _signal(scenario, dataset, query, side.directions), Origin.READ
    if not signal.max() > 0:
        return uniform(side.size), origin
    if equal.guarantee == "exact" and has_measure(equal):
        known = signal if origin is Origin.PAID else turned_moments(
            side.directions, _moments(scenario, dataset, query))
        return most_informative(query, equal, known).theta, origin
    if equal.guarantee == "exact":
        h = query.neighbours.reach(side.directions)
        budget = float(np.sum(h**2 * side.precisions))
        return max_pnr(signal, budget=budget, form="exact", half_widths=h), origin
    budget = equal.precision_budget if scenario.form == "unrelaxed" else math.sqrt(equal.precision_budget)
    return max_pnr(signal, budget=budget, form=scenario.form), origin


def _signal(scenario: Scenario, dataset: Dataset, query: Query, directions: Directions) -> FloatArray:
    """The data's second moment along each direction, ``w_kᵀ K w_k``."""
    if query.name in ("identity", "mean"):
        x = scaled(dataset, scenario.scale).matrix
        along = x if directions.is_standard else directions.matrix.T @ x
        return np.asarray(np.einsum("ij,ij->i", along, along) / x.shape[1])
    return moments_along(directions, query.value)


def _moments(scenario: Scenario, dataset: Dataset, query: Query) -> FloatArray:
    """The data's second moments, ``X Xᵀ/n``."""
    if query.name == "covariance":
        return query.value
    x = scaled(dataset, scenario.scale).matrix
    return np.asarray(x @ x.T / x.shape[1])


def _isotropic_theta(query: Query, mode: str, size: int) -> FloatArray:
    """The shares that make exact noise the same in all directions of the standard basis."""
    if mode == "columns":
        return uniform(size)
    h = query.neighbours.reach(standard_basis(size))
    return manual((h / h.max()) ** 2)
