"""From a scenario and its dataset to a noise design: file → Dataset → query → directions → theta → design.

Private directions and whatever reads the data are drawn from the scenario's seed: for looking, not for releasing.
"""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from mvgviz.design.allocation import WaterFilling, binary, least_error, manual, uniform, water_filling
from mvgviz.design.noise_design import NoiseDesign, design_noise, mode_of
from mvgviz.design.power_to_noise import has_measure, most_informative
from mvgviz.errors import InputError, refuse
from mvgviz.noise.accounting import gaussian_epsilon, gaussian_mu
from mvgviz.noise.directions import Directions, random_rotation, rotation, standard_basis
from mvgviz.noise.ties import largest_first
from mvgviz.provenance import Origin, counted, receipts_of, weakest
from mvgviz.query.base import numbered
from mvgviz.query.dataset import Dataset
from mvgviz.query.queries import Query, of_person, rule_of
from mvgviz.query.record_bound import NoisyCount, RecordBound
from mvgviz.query.second_moments import eigenvectors, private_eigenvectors
from mvgviz.scenario.bound import record_ellipse, refuse_bound
from mvgviz.scenario.scenario import DIRECTION_FIELDS, OTHER_FIELDS, SPLIT_FIELDS, Scenario
from mvgviz.validation import FloatArray

CONSTANT_SHARE = 0.2  # of the budget, what the constant joined to the records gets
SCALED_TO = {"symmetric": (-1, 1), "unit": (0, 1)}  # what the declared ranges are mapped onto, by the scenario's scale
_SEEN = 0.05  # of a direction's entries, rounded to one digit


@dataclass(frozen=True, kw_only=True, eq=False)
class Setup:
    """A scenario worked out for its dataset. ``iid``: equal noise with the same guarantee, for ``box``.

    ``query`` gets clipped records, ``box`` the records as they are. ``split``: the chosen shares.
    """

    scenario: Scenario
    dataset: Dataset = field(repr=False)
    query: Query = field(repr=False)
    box: Query = field(repr=False)
    design: NoiseDesign = field(repr=False)
    iid: NoiseDesign = field(repr=False)
    split: FloatArray = field(repr=False)
    delta: float

    @cached_property
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
        return self.design.epsilon_spent(self.delta)

    @property
    def neighbour_rule(self) -> str:
        """What neighbours differ by: a person, where a column names each record's person."""
        rule = self.query.neighbour_rule
        return of_person(rule) if self.dataset.by_person else rule

    @property
    def table(self) -> Dataset:
        """The data in the units that the query was asked in, one feature for each of its rows."""
        return asked_of(self.scenario, self.dataset)

    @property
    def largest_values(self) -> FloatArray | None:
        """The largest absolute value of each feature in those units; None for a graph."""
        return None if self.query.is_graph else self.table.largest_values

    @property
    def need_directions(self) -> Directions:
        """What needs are positions of: the features, or the directions of the noise."""
        of_noise = self.scenario.needs_along == "directions"
        return self.design.directional_side.directions if of_noise else standard_basis(self.query.rows)

    @property
    def direction_names(self) -> tuple[str, ...]:
        """What theta's entries are called: the coordinates, or a turned direction by its number and largest parts."""
        directions, mode = self.design.directional_side.directions, self.design.mode
        names = self.query.coordinate_names(mode, directions.size)
        if directions.is_standard:
            return names
        if mode == "columns" or self.query.row_names is None:
            return numbered("direction", len(names))
        return tuple(f"{k + 1}: {_largest_parts(directions.matrix[:, k], names)}" for k in range(len(names)))


def _largest_parts(direction: FloatArray, names: tuple[str, ...]) -> str:
    """"0.9 sleep + 0.4 score": the two largest entries, the largest above 0; dots where there are more."""
    order = largest_first(np.abs(direction))[:2]
    parts = direction * math.copysign(1.0, direction[order[0]])
    seen = [k for k in order if abs(parts[k]) >= _SEEN]
    if len(seen) == 1:
        return str(names[seen[0]])
    words = " ".join(f"{'+' if parts[k] > 0 else '-'} {abs(parts[k]):.1f} {names[k]}" for k in seen).removeprefix("+ ")
    return f"{words} …" if np.count_nonzero(np.abs(parts) >= _SEEN) > len(seen) else words


def origins_of(query: Query, design: NoiseDesign, scenario: Scenario | None) -> dict[str, Origin]:
    """The origin of the ranges, the bound, the number of records, the directions, the split and all other choices."""
    receipts = receipts_of(design, query.bound)

    def with_choice(origin: Origin, names: tuple[str, ...]) -> Origin:
        return Origin.READ if scenario is not None and scenario.read_among(names) else origin

    return {
        "ranges": weakest([query.ranges_origin, *(receipt.ranges_origin for receipt in receipts)]),
        "records": weakest([query.records_origin, *(receipt.records_origin for receipt in receipts)]),
        **({} if query.bound is None else {"bound": query.bound.origin}),
        "directions": with_choice(design.directions_origin, DIRECTION_FIELDS),
        "split": with_choice(design.theta_origin, SPLIT_FIELDS),
        "choices": with_choice(Origin.DECLARED, OTHER_FIELDS),
    }


def scaled(dataset: Dataset, scale: str) -> Dataset:
    """Return the dataset as declared, or with its ranges mapped onto [-1, 1] or [0, 1]."""
    return dataset.scaled(SCALED_TO[scale]) if scale in SCALED_TO else dataset


def ask(scenario: Scenario, dataset: Dataset, *, bound: RecordBound | None = None) -> Query:
    """Return the scenario's query of a dataset whose values are inside their ranges; of records inside a ``bound``."""
    table = dataset if scenario.is_graph else scaled(dataset, scenario.scale)
    return scenario.kind.ask(table, bound=bound, neighbours=scenario.neighbours, **scenario.parameters)


def asked_of(scenario: Scenario, dataset: Dataset) -> Dataset:
    """Return the table on the scenario's scale; with the constant, where that is asked about too."""
    return scenario.kind.table_of(scaled(dataset, scenario.scale), **scenario.parameters)


def delta_of(scenario: Scenario, dataset: Dataset) -> float:
    """Return the scenario's delta, or the usual one."""
    return usual_delta(dataset.n_records) if scenario.delta is None else scenario.delta


def usual_delta(n_records: int) -> float:
    """``min(1e-6, 1/(100 n))``: far below 1/n, where publishing a record at random would pass."""
    return min(1e-6, paper_delta(n_records) / 100)


def paper_delta(n_records: int) -> float:
    """1/n, as in the paper's experiments (at least 2 records count, so that it stays below 1)."""
    return 1 / max(n_records, 2)


def build(scenario: Scenario, dataset: Dataset, *, query: Query | None = None, uploaded: Directions | None = None,
          tight: bool = False, noisy_count: np.random.Generator | NoisyCount | None = None) -> Setup:
    """The design of a scenario. ``query`` (without a bound) saves asking again; ``uploaded``: directions from a file.

    ``tight``: theorems use the tight sensitivity. ``noisy_count`` finds a private radius, by default from the seed.
    """
    box = ask(scenario, dataset) if query is None else query
    if tight:
        box = replace(box, printed_sensitivity=box.sensitivity)
    if not scenario.is_graph and box.neighbour_rule != rule_of(scenario.neighbours, dataset.per_person):
        raise InputError(f"the query has other neighbours than the scenario: {box.neighbour_rule}")
    mode = mode_of(box, scenario.mode)
    size = box.cols if mode == "columns" else box.rows
    delta = delta_of(scenario, dataset)
    directions = _directions(scenario, dataset, box, size, delta, uploaded)
    iid_theta = uniform(size)
    if scenario.guarantee == "exact" and mode != "columns":  # of one size along the standard basis
        h = box.neighbours.reach(standard_basis(size))
        iid_theta = manual((h / h.max()) ** 2)
    iid = design_noise(box, epsilon=scenario.epsilon, delta=delta, theta=iid_theta, mode=mode, tail=scenario.tail,
                       guarantee=scenario.guarantee)
    equal = iid if scenario.allocation not in ("least-error", "max-pnr") else _noise_on_box(
        scenario, box, directions, uniform(size), Origin.DECLARED, delta)
    theta, origin = _theta(scenario, dataset, box, equal)
    return _worked_out(scenario, dataset, box, iid, directions, theta, origin, tight=tight, noisy_count=noisy_count)


def with_bound(setup: Setup, **changes: Any) -> Setup:
    """Return the same directions and split with another ``bound`` or ``radius``; nothing else is worked out again."""
    design = setup.design
    return _worked_out(setup.scenario.changed(**changes), setup.dataset, setup.box, setup.iid,
                       design.directional_side.directions, setup.split, design.theta_origin)


def _worked_out(scenario: Scenario, dataset: Dataset, box: Query, iid: NoiseDesign, directions: Directions,
                theta: FloatArray, origin: Origin, *, tight: bool = False,
                noisy_count: np.random.Generator | NoisyCount | None = None) -> Setup:
    """Return the noise, with or without clipping, for known directions and split."""
    delta, mode = delta_of(scenario, dataset), mode_of(box, scenario.mode)
    setup = partial(Setup, scenario=scenario, dataset=dataset, box=box, iid=iid, split=theta, delta=delta)
    if scenario.bound == "none" or scenario.is_graph:
        return setup(query=box, design=_noise_on_box(scenario, box, directions, theta, origin, delta,
                                                    family=scenario.noise_family))
    refuse_bound(scenario, mode)
    bound = record_ellipse(scenario, asked_of(scenario, dataset), directions, theta, origin,
                           mu=float(gaussian_mu(scenario.epsilon, delta)),
                           rng=np.random.default_rng([scenario.seed, 2]) if noisy_count is None else noisy_count)
    bounded = ask(scenario, dataset, bound=bound)
    if tight:
        bounded = replace(bounded, printed_sensitivity=bounded.sensitivity)
    own_shape = not box.is_kernel  # the noise has the shape of the ellipse
    return setup(query=bounded, design=design_noise(
        bounded, epsilon=scenario.epsilon, delta=delta, mode=mode, guarantee=scenario.guarantee, tail=scenario.tail,
        theta=None if own_shape else theta, theta_origin=origin, directions=None if own_shape else directions,
        cover_bound=scenario.guarantee == "exact", family=scenario.noise_family))


def _noise_on_box(scenario: Scenario, box: Query, directions: Directions, theta: FloatArray, origin: Origin,
                  delta: float, family: str = "gaussian") -> NoiseDesign:
    """Return the settings of exact noise, which leaves room for what the directions spent."""
    exact = scenario.guarantee == "exact"
    epsilon_left, delta_left = (scenario.epsilon, delta) if exact else left_for_noise(scenario, delta)
    return design_noise(box, epsilon=epsilon_left, delta=delta_left, theta=theta, theta_origin=origin,
                        directions=directions, mode=mode_of(box, scenario.mode), guarantee=scenario.guarantee,
                        tail=scenario.tail, cover_directions=exact and scenario.directions == "private", family=family)


def mu_for_directions(scenario: Scenario, delta: float) -> float:
    """What private directions may spend: a share of mu² (exact), or of epsilon and delta (theorem, as in the paper)."""
    share = scenario.private_share
    if scenario.guarantee == "exact":
        return float(gaussian_mu(scenario.epsilon, delta)) * math.sqrt(share)
    return float(gaussian_mu(scenario.epsilon * share, delta * share))


def left_for_noise(scenario: Scenario, delta: float) -> tuple[float, float]:
    """Return the epsilon and delta that :func:`mu_for_directions` leaves: all, if no directions are paid for."""
    if scenario.directions != "private":
        return scenario.epsilon, delta
    part = 1 - scenario.private_share
    if scenario.guarantee == "exact":
        mu = float(gaussian_mu(scenario.epsilon, delta)) * math.sqrt(part)
        return float(gaussian_epsilon(delta, mu)), delta
    return scenario.epsilon * part, delta * part


def moments_along(directions: Directions, moments: FloatArray) -> FloatArray:
    """``w_kᵀ K w_k`` for each direction, none below 0."""
    return np.maximum(np.diag(turned_moments(directions, moments)), 0.0)


def turned_moments(directions: Directions, moments: FloatArray) -> FloatArray:
    """``Wᵀ K W``, nothing on its diagonal below 0."""
    if directions.is_standard:
        return moments
    turned = np.asarray(directions.matrix.T @ moments @ directions.matrix)
    np.fill_diagonal(turned, np.maximum(np.diag(turned), 0.0))  # by rounding, with fewer records than features
    return turned


def _directions(scenario: Scenario, dataset: Dataset, query: Query, size: int, delta: float,
                uploaded: Directions | None) -> Directions:
    kind, rng = scenario.directions, np.random.default_rng([scenario.seed, 1])
    if query.has_constant and kind not in ("standard", "rotation"):
        raise InputError("mean and second moments together need standard or rotated directions; choose one of these")
    if kind == "rotation":
        return rotation(size, scenario.plane, math.radians(scenario.angle))
    if kind == "random":
        return random_rotation(size, rng=rng)
    if kind == "upload":
        if uploaded is None:
            raise InputError("the link uses directions from a file, which this session lacks: upload them again")
        return uploaded
    if kind == "standard":
        return standard_basis(size)
    refuse(size != query.rows, f"{kind} directions belong to rows, got mode columns; choose rows or both")
    if kind == "eigenvectors":
        return eigenvectors(query)
    refuse(scenario.neighbours != "replace",
           "private directions support only replaced records; choose these or other directions")
    refuse(not query.of_all_features, f"private directions need a table, mean or covariance query, got {query.name}")
    return private_eigenvectors(scaled(dataset, scenario.scale), mu=mu_for_directions(scenario, delta), rng=rng)


def _theta(scenario: Scenario, dataset: Dataset, query: Query, equal: NoiseDesign) -> tuple[FloatArray, Origin]:
    """theta and its origin; ``equal``: equal noise, where its directions matter along these. A constant has a fifth."""
    size, kind, split = equal.theta.size - query.has_constant, scenario.allocation, None
    if kind == "max-pnr":
        return _max_pnr(scenario, dataset, query, equal)
    if kind == "manual":
        refuse(len(scenario.weights) != size, f"the manual split must have {size} parts, got {len(scenario.weights)}")
        split = manual(scenario.weights)
    elif kind in ("binary", "least-error"):
        split = priority_split("binary" if query.has_constant else kind, scenario, equal)
    split = uniform(size) if split is None else split
    if query.has_constant:
        split = np.append((1 - CONSTANT_SHARE) * split, CONSTANT_SHARE)
    return split, Origin.DECLARED


def priority_split(kind: str, scenario: Scenario, equal: NoiseDesign) -> FloatArray | None:
    """Return the "binary" or "least-error" split, weighed by importance; None where none or all have priority."""
    size = equal.theta.size - equal.kind.has_constant
    priorities = [k for k in scenario.priority_directions if k < size]
    if not 0 < len(priorities) < size:
        return None
    weights = np.array([scenario.need_weights.get(k, 1.0) for k in priorities])
    if kind == "binary":
        return binary(size, priority=priorities, share=scenario.share, importance=weights, guarantee=equal.guarantee)
    split = np.array(binary(size, priority=priorities, share=scenario.share))
    split[priorities] *= weights / weights.mean()
    return least_error(split, guarantee=equal.guarantee,
                       half_widths=equal.reach if equal.guarantee == "exact" else None)


def _max_pnr(scenario: Scenario, dataset: Dataset, query: Query, equal: NoiseDesign) -> tuple[FloatArray, Origin]:
    """Return the max-PNR split for the signal along the directions, read from the source of the directions."""
    refuse(query.has_constant, "the paper's best split (max-PNR) does not support mean and second moments together; "
           "choose another split")
    if equal.mode == "columns":
        raise InputError("the paper's best split (max-PNR) needs noise over rows or both sides, got mode columns")
    directions, form = equal.directional_side.directions, "exact" if equal.guarantee == "exact" else scenario.form
    paid = released_spectrum(directions)
    origin = Origin.READ if paid is None else Origin.PAID
    moments = (moments_of(scenario, dataset, query) if query.degree == 1 and paid is None
               else query.value if query.symmetric else query.value @ query.value.T / query.cols)
    if not (moments_along(directions, moments) if paid is None else paid).max() > 0:
        return uniform(directions.size), origin
    return fill(equal, query, moments, form).theta, origin


def released_spectrum(directions: Directions) -> FloatArray | None:
    """Return the eigenvalues that private directions came with."""
    return counted(directions.eigenvalues) if directions.origin is Origin.PAID else None


def fill(equal: NoiseDesign, query: Query, moments: FloatArray, form: str) -> WaterFilling:
    """The water filling behind max-PNR over the budget of ``equal``, which has equal shares and a fitting guarantee.

    The signal is the private release's own spectrum, else the data's second moments along the directions (not private).
    """
    if (form == "exact") != (equal.guarantee == "exact"):
        raise InputError(f"the {form} form does not belong to the guarantee {equal.guarantee}")
    directions, whole = equal.directional_side.directions, form == "exact" and has_measure(equal)
    signal = released_spectrum(directions)
    if signal is None:
        signal = (turned_moments if whole else moments_along)(directions, moments)
    if whole:
        return most_informative(query, equal, signal)
    if form == "exact":
        budget = float(np.sum(equal.reach**2 * equal.directional_side.precisions))
        return water_filling(signal, budget=budget, form=form, half_widths=equal.reach)
    budget = equal.precision_budget if form == "unrelaxed" else math.sqrt(equal.precision_budget)
    return water_filling(signal, budget=budget, form=form)


def second_moments(setup: Setup) -> FloatArray | None:
    """``X Xᵀ/n`` in the query's units (not private); None where the query has no records to speak of."""
    return moments_of(setup.scenario, setup.dataset, setup.box) if setup.query.degree else None


def moments_of(scenario: Scenario, dataset: Dataset, query: Query) -> FloatArray:
    """``X Xᵀ/n`` of a table, mean or covariance query."""
    if query.symmetric:
        return query.value
    x = scaled(dataset, scenario.scale).matrix
    return np.asarray(x @ x.T / x.shape[1])
