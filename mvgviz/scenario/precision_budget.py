"""The precision budget, direction by direction: which gain against equal noise, which pay, and which split is best."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mvgviz.design.allocation import FLOOR, WaterFilling, manual
from mvgviz.design.noise_design import NoiseDesign, design_noise, smallest_epsilon
from mvgviz.design.power_to_noise import log_pnr
from mvgviz.noise.accounting import gaussian_epsilon, gaussian_mu
from mvgviz.noise.directions import Directions
from mvgviz.provenance import Origin
from mvgviz.scenario.own_units import along_directions
from mvgviz.scenario.resolve import Setup, build, fill, moments_along, priority_split
from mvgviz.text import csv_text, spreadsheet_cell
from mvgviz.validation import FloatArray

LEAST_EPSILON, MOST_EPSILON = 1e-3, 1e3  # what a scenario can hold
_PARTS = 1_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class BudgetTable:
    """One entry a direction. ``precision`` is what theta divides; ``variance`` is v; ``std`` the noise along it, on
    both sides that of entry (k, k); ``iid_std``: of equal noise. ``signal``: the data's size along the direction,
    None where it has no meaning. ``own``: what 1 of noise or signal is in the data's own ``units``.
    """

    theta: FloatArray
    precision: FloatArray
    precision_is: str
    variance: FloatArray
    std: FloatArray
    iid_std: FloatArray
    own: FloatArray
    units: list[str]
    signal: FloatArray | None = field(default=None, repr=False)

    @property
    def size(self) -> int:
        return int(self.theta.size)

    @property
    def factor(self) -> FloatArray:
        """The noise as a multiple of equal noise: below 1 a direction gains, above it pays."""
        return self.std / self.iid_std

    @property
    def signal_to_noise(self) -> FloatArray | None:
        return None if self.signal is None else self.signal / self.std


def budget_table(setup: Setup, moments: FloatArray | None = None) -> BudgetTable:
    """Return the numbers of a design. ``moments``: the data's second moments, for the signal."""
    design, exact = setup.design, setup.design.guarantee == "exact"
    v, (own, units) = design.directional_side.variances, along_directions(setup)
    signal = None if moments is None else moments_along(design.row_directions, moments)
    mean = design.mode == "rows" and design.kind.degree == 1
    if not (mean or (design.mode == "both" and design.kind.degree == 2 and design.kind.of_all_features)):
        signal = None
    return BudgetTable(theta=design.theta, precision=1 / v if exact else 1 / v**2,
                       precision_is="1/v" if exact else "1/v²", variance=v, own=own, units=units,
                       std=design.direction_std(), iid_std=_std_along(setup.iid, design.directional_side.directions),
                       signal=np.sqrt(signal) if mean and signal is not None else signal)


def _std_along(design: NoiseDesign, directions: Directions) -> FloatArray:
    """The noise of a design along other directions than its own."""
    side = design.directional_side
    if side.is_isotropic or directions.is_standard:
        along = side.covariance_diagonal()
    else:
        w = directions.matrix
        along = np.square(w).T @ side.variances if side.is_diagonal else np.einsum("ik,ik->k", w, side.covariance() @ w)
    return along if design.mode == "both" else np.sqrt(along)


def table_csv(table: BudgetTable, names: Sequence[str], *, care: str = "") -> str:
    """Return the table as CSV, without what was measured on the data; ``care``: a caution behind the noise."""
    columns: dict[str, FloatArray] = {
        "share of the budget (theta)": table.theta, f"precision ({table.precision_is})": table.precision,
        "variance (v)": table.variance, "noise standard deviation": table.std * table.own,
        "equal noise standard deviation": table.iid_std * table.own, "noise against equal noise (factor)": table.factor,
    }
    rows = zip(names, table.units, *(column.tolist() for column in columns.values()), strict=True)
    return csv_text([["direction", *(f"{name}{care}" for name in columns), "unit of the standard deviations"],
                     *([spreadsheet_cell(name), *map(repr, values), spreadsheet_cell(unit)]
                       for name, unit, *values in rows)])


@dataclass(frozen=True, kw_only=True)
class WantedNoise:
    """What wanted noise costs: ``priority`` is the smallest epsilon, ``epsilon`` the same rounded up to 4 digits."""

    priority: float
    epsilon: float
    weights: tuple[int, ...]

    @property
    def reachable(self) -> bool:
        return self.priority <= MOST_EPSILON


_OVER = {"rows": "features", "columns": "records", "both": "both sides"}


def _refusal(setup: Setup, what: str, families: str, suits: bool, needed: str, *others: tuple[bool, str]) -> str | None:
    """Return the first reason against a question about noise of some ``families`` over the ``needed`` mode."""
    mode, design = setup.design.mode, setup.design
    return next((why for refused, why in (
        (not suits, f"{what} supports {families} noise, and here the noise is {design.family.word} noise"), *others,
        (mode != needed, f"{what} needs noise over {_OVER[needed]}, and here the noise is over {_OVER[mode]}"))
        if refused), None)


def inverse_refusal(setup: Setup) -> str | None:
    """Return why the inverse question cannot be asked here; None if it can."""
    design = setup.design
    return _refusal(
        setup, "it", "Gaussian, box and Laplace", design.is_pure or not design.blocks,
        "both" if setup.query.symmetric else "rows",
        (setup.query.bound is not None, "it supports records as they are, and here records are clipped to an ellipse"),
        (setup.query.has_constant, "mean and second moments together keep a part of the budget for the constant"))


def wanted_noise(setup: Setup, targets: Mapping[int, float]) -> WantedNoise:
    """Return the least epsilon, private directions included, for noise of at most ``targets``, by direction."""
    query, directions = setup.query, setup.design.directional_side.directions
    if setup.design.is_pure:
        return _wanted_pure(setup.design, targets)
    priority = smallest_epsilon(query, delta=setup.delta, target_std=targets, directions=directions)
    size, wanted = directions.size, list(targets)
    theta = np.full(size, FLOOR / size)
    spread = np.array([targets[k] for k in wanted]) ** (1 if query.symmetric else 2)
    parts = setup.design.reach[wanted] ** 2 / spread
    theta[wanted] = parts / parts.sum() * (1 - FLOOR * (size - len(wanted)) / size)
    weights = np.ceil(theta * _PARTS)
    more = _short(theta, weights) ** (1 if query.symmetric else 0.5)
    if setup.scenario.directions == "private":
        priority, more = max(priority, LEAST_EPSILON), more / math.sqrt(1 - setup.scenario.private_share)
    if 0 < priority <= MOST_EPSILON:
        priority = float(gaussian_epsilon(setup.delta, more * float(gaussian_mu(priority, setup.delta))))
    return _wanted(priority, weights)


def _short(theta: FloatArray, weights: FloatArray) -> float:
    """Return how many times more is needed because the shares of whole weights miss ``theta``."""
    return float((theta / weights).max() * weights.sum())


def _wanted_pure(design: NoiseDesign, targets: Mapping[int, float]) -> WantedNoise:
    """Divide epsilon among blocks so that it is least: runs of the rows, sorted by the precision that they need.

    A block of d rows takes epsilon ``std(d) q``: the noise of d numbers at epsilon 1, and the most that a row needs.
    """
    family, scale = design.blocks[0].family, np.sqrt(design.row_variances)
    for block in design.blocks:
        scale[list(block.rows)] /= block.std
    order = sorted(targets, key=lambda k: targets[k] / scale[k])
    least = [(0.0, 0, 0.0)]  # epsilon of the first rows, where their last block starts, and epsilon of that block
    for end in range(1, len(order) + 1):
        takes = [(start, family.std(end - start, 1.0, 0.0) * float(scale[order[start]]) / targets[order[start]])
                 for start in range(0 if family.joins else end - 1, end)]
        least.append(min((least[start][0] + epsilon, start, epsilon) for start, epsilon in takes))
    part, end = 1 - FLOOR * (design.rows - len(order)) / design.rows, len(order)
    weights, each = np.full(design.rows, max(round(FLOOR / design.rows * _PARTS), 1)), np.zeros(design.rows)
    while end:
        _, start, epsilon = least[end]
        weight = math.ceil(epsilon / least[-1][0] * part / (end - start) * _PARTS)
        while family.joins and weight in weights:  # equal weights would make one block of two
            weight += 1
        weights[order[start:end]], each[order[start:end]] = weight, epsilon / (end - start)
        end = start
    return _wanted(_short(each, weights), weights)


def _wanted(priority: float, weights: FloatArray) -> WantedNoise:
    rounded = min(max(_rounded_up(priority), LEAST_EPSILON), MOST_EPSILON)
    return WantedNoise(priority=priority, epsilon=rounded, weights=tuple(weights.astype(int).tolist()))


def _rounded_up(value: float) -> float:
    """To 4 digits, never below the value."""
    if not 0 < value < math.inf:
        return value
    unit = 10.0 ** (math.floor(math.log10(value)) - 3)
    return float(f"{math.ceil(value / unit - 1e-9) * unit:.4g}")


@dataclass(frozen=True, kw_only=True, eq=False)
class SplitScore:
    """What one split of the budget lets through under one guarantee."""

    split: str
    guarantee: str
    log_pnr: float
    is_current: bool

    @property
    def mutual_information(self) -> float:
        """``½ log PNR`` in nats, for Gaussian answers."""
        return self.log_pnr / 2


def pnr_refusal(setup: Setup) -> str | None:
    """Return why the power-to-noise ratio cannot be compared here; None if it can."""
    query, ratio = setup.query, "the power-to-noise ratio"
    return _refusal(
        setup, ratio, "Gaussian", not setup.design.blocks,
        "both" if query.degree == 2 or setup.design.mode == "both" else "rows",
        (query.bound is not None, "every split would clip the records to another ellipse, and so ask another query"),
        (not query.of_all_features, f"{ratio} is defined for the table, the mean and the covariance, not for the "
                                    f"{query.name}"))


def printed_guarantee(setup: Setup) -> str:
    """The theorem to stand beside the exact limit: the scenario's own, else Theorem 2 where it applies, else 1."""
    if setup.scenario.guarantee != "exact":
        return setup.scenario.guarantee
    return "theorem2" if setup.query.psd and setup.design.mode == "both" else "theorem1"


def equal_design(setup: Setup, guarantee: str) -> NoiseDesign:
    """Return the scenario's noise with equal shares under a guarantee: where every water filling starts."""
    scenario = setup.scenario
    if scenario.directions == "private":  # what they spend, and so they themselves, depend on the guarantee
        same = scenario.changed(guarantee=guarantee, allocation="uniform")
        return build(same, setup.dataset, query=setup.query).design
    return design_noise(setup.query, epsilon=scenario.epsilon, delta=setup.delta, mode=setup.design.mode,
                        tail=scenario.tail, guarantee=guarantee, directions=setup.design.directional_side.directions)


def compare_splits(setup: Setup, moments: FloatArray,
                   filled: Callable[[str, str], WaterFilling] | None = None) -> tuple[SplitScore, ...]:
    """``log PNR`` of every split under the printed theorem and the exact limit; ``filled``: water fillings if known."""
    scenario, query = setup.scenario, setup.query
    scores = []
    for guarantee in (printed_guarantee(setup), "exact"):
        equal = equal_design(setup, guarantee)
        directions = equal.directional_side.directions
        thetas = {"uniform": equal.theta} | {kind: theta for kind in ("binary", "least-error")
                                             if (theta := priority_split(kind, scenario, equal)) is not None}
        if scenario.allocation == "manual":
            thetas["manual"] = manual(scenario.weights)
        for form in ("exact",) if guarantee == "exact" else ("relaxed", "unrelaxed"):
            best = fill(equal, query, moments, form) if filled is None else filled(guarantee, form)
            thetas[f"max-pnr {form}"] = best.theta
        current = scenario.allocation if scenario.allocation in thetas else "uniform"
        if scenario.allocation == "max-pnr":
            current = f"max-pnr {'exact' if scenario.guarantee == 'exact' else scenario.form}"
        for split, theta in thetas.items():
            design = equal if split == "uniform" else design_noise(
                query, epsilon=equal.epsilon, delta=equal.delta, guarantee=guarantee, mode=equal.mode,
                tail=scenario.tail, directions=directions, theta=theta,
                cover_directions=guarantee == "exact" and directions.origin is Origin.PAID)
            scores.append(SplitScore(split=split, guarantee=guarantee, log_pnr=log_pnr(moments, design),
                                     is_current=guarantee == scenario.guarantee and split == current))
    return tuple(scores)
