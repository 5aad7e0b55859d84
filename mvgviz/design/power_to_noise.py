"""How much of the answer gets through the noise.

``PNR = det(I + K_f (Psi ⊗ Sigma)^-1)``, K_f the covariance of the answer's entries [Chanyaswad et al. 2018,
"Power-to-Noise Ratio"]. Half its logarithm is the mutual information between true and noisy answer *if the answer is
Gaussian*, else an upper bound with the same second moments.

Of the splits of the exact budget, :func:`most_informative` finds the one that lets most through. With ``S = Wᵀ K W``
the answer's signal along the directions, ``rho = 1/v`` and kappa the eigenvalues of ``R^1/2 S R^1/2``, ``R =
diag(rho)``, ``log PNR`` is ``sum log(1 + kappa)`` for a table and a mean (for which K is divided by n) and
``sum_{i<=j} log(1 + 2 kappa_i kappa_j/n)`` for a covariance.

* Table or mean along the features: the budget is ``sum h² rho = mu²`` exactly and the measure is
  concave in rho, so the water filling of :func:`fill_correlated` is the largest there is.
* Turned directions and covariances: what bounds the noise is the largest of many terms, one for each
  possible change of a record. Those that matter are collected (cutting planes). For a table or mean that
  is concave too, and ends at the largest; for a covariance it is the largest found.
* More than 12 directions of that kind: the budget ``sum h² rho`` stands in for the terms.
"""

import math
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mvgviz.design.allocation import FLOOR, WaterFilling, manual, water_filling
from mvgviz.design.noise_design import NoiseDesign, both_sides
from mvgviz.errors import InputError, refuse
from mvgviz.noise.sides import NoiseSide
from mvgviz.provenance import Origin, counted
from mvgviz.query.box_norms import all_signs
from mvgviz.query.neighbours import ReplacedColumn, ReplacedOuterProduct
from mvgviz.query.queries import Query
from mvgviz.query.worst_pairs import worst_pair
from mvgviz.validation import FloatArray, array, instance, numbers

_GROWTH_STEPS = 60
_CORNERS = 12  # 2^12 corners of a box
_MANY = 400  # beyond, correlations are left out: each step takes a second
_ENOUGH, _CLOSE = 1e-9, 1e-4


def pnr(eigenvalues: Any, design: NoiseDesign) -> float:
    """Return the power-to-noise ratio; infinite where it exceeds the range of a double."""
    log_value = log_pnr(eigenvalues, design)
    return math.exp(log_value) if log_value < 709.0 else math.inf


def mutual_information(eigenvalues: Any, design: NoiseDesign) -> float:
    """``½ log PNR`` in nats: the mutual information when the answer is Gaussian."""
    return log_pnr(eigenvalues, design) / 2


def log_pnr(eigenvalues: Any, design: NoiseDesign) -> float:
    """``log PNR`` for independent records with second moments ``K = X Xᵀ/n``.

    ``eigenvalues`` are those of K when the design's row directions are its eigenvectors; else give the matrix K itself.
    Table: ``sum_ij log(1 + kappa_i psi_j)`` with ``kappa`` the eigenvalues of ``Sigma^-1/2 K Sigma^-1/2`` and ``psi``
    those of ``Psi^-1``. Mean: the same with K/n. Covariance of Gaussian records: ``sum_{i<=j} log(1 + 2 kappa_i
    kappa_j/n)`` (noise on both sides).
    """
    kappa = _signal_to_noise(eigenvalues, design)
    if not design.kind.of_all_features:
        raise InputError(f"pnr is defined for identity, mean and covariance queries, got {design.kind.name}")
    if design.kind.degree == 2:
        refuse(design.mode != "both", f"pnr of a covariance query needs mode both, got {design.mode}")
        return float(np.log1p(2 * np.outer(kappa, kappa)[np.triu_indices(kappa.size)] / _records(design)).sum())
    if not design.kind.is_table:
        kappa = kappa / _records(design)
    if design.col_side.is_identity:
        return float(design.cols * np.log1p(kappa).sum())
    return float(np.log1p(np.outer(kappa, design.col_side.precisions)).sum())


def _records(design: NoiseDesign) -> int:
    if design.n_records is None:
        raise InputError("pnr needs a design whose query has records")
    return design.n_records


def _signal_to_noise(eigenvalues: Any, design: NoiseDesign) -> FloatArray:
    """Eigenvalues of ``Sigma^-1/2 K Sigma^-1/2``."""
    instance("design", design, NoiseDesign)
    given = numbers("eigenvalues", counted(eigenvalues))
    if given.ndim == 2:
        moments = array("eigenvalues", given, ndim=2)
        if moments.shape != (design.rows, design.rows):
            raise InputError(f"eigenvalues as a matrix must be {design.rows} × {design.rows}, got {moments.shape}")
        size = float(np.abs(moments).max())
        if not (np.abs(moments - moments.T).max() <= 1e-8 * size
                and np.linalg.eigvalsh(moments)[0] >= -1e-8 * size * design.rows):
            raise InputError("eigenvalues as a matrix must be symmetric positive semi-definite")
        a = design.row_side.whitener()
        return np.asarray(np.maximum(np.linalg.eigvalsh(a @ moments @ a.T), 0.0))
    lam = array("eigenvalues", given, ndim=1)
    refuse(lam.size != design.rows, f"eigenvalues must number {design.rows}, got {lam.size}")
    refuse(not (lam >= 0).all(), "eigenvalues must not be negative; clip those of a noisy release at 0")
    return np.asarray(lam * design.row_side.precisions)


def has_measure(design: NoiseDesign) -> bool:
    """Return whether the power-to-noise ratio is defined for the design's query and mode."""
    return design.kind.of_all_features and design.mode == ("rows" if design.kind.degree == 1 else "both")


def is_proved(design: NoiseDesign) -> bool:
    """Return whether the split found is known to be the largest, and not only the largest found."""
    size, along = design.directional_side.size, design.directional_side.directions
    if not has_measure(design) or design.mode == "both" or along.origin is Origin.PAID:
        return False
    return size <= (_MANY if along.is_standard else _CORNERS)


def most_informative(query: Query, equal: NoiseDesign, along: FloatArray) -> WaterFilling:
    """Return the split of the exact budget with the largest measure; ``equal``: the exact design with equal shares.

    ``along``: ``Wᵀ K W`` of the records' second moments, or a released spectrum (then correlations and the terms beyond
    ``sum h² rho`` are left out). ``level`` is None where there is no water to draw.
    """
    side = equal.directional_side
    released = along.ndim == 1
    signal = np.diag(along) if released else along
    if equal.kind.is_mean:
        signal = signal / (equal.n_records or 1)
    h = equal.reach
    budget = float(np.sum(h**2 * side.precisions))
    if equal.mode == "rows":
        if released or side.size > _MANY:
            return water_filling(np.diag(signal), budget=budget, form="exact", half_widths=h)
        filled = fill_correlated(signal, budget=budget, half_widths=h)
        if side.directions.is_standard:
            return filled
        start = filled.rho
    else:
        start = _grown(signal, equal.n_records or 1, h, budget)
    if not released:
        start = _searched(_Search(query=query, equal=equal, signal=signal, h=h, budget=budget), start)
    parts = start * h**2
    with np.errstate(divide="ignore", over="ignore"):
        depth = h**2 / np.diag(signal)
    return WaterFilling(rho=start, theta=manual(parts), depth=depth, level=None,
                        dry=parts <= 1.001 * FLOOR * parts.sum() / h.size)


def measure_and_slope(rho: FloatArray, signal: FloatArray, *, covariance_of: int | None = None
                      ) -> tuple[float, FloatArray]:
    """Return the measure at the inverse variances rho, and its derivative by each ``log rho``.

    ``covariance_of``: records of a covariance. Kappa with eigenvector u changes by ``kappa u_k²`` with ``log rho_k``.
    """
    kappa, weights = _whitened_spectrum(rho, signal)
    if covariance_of is None:
        return float(np.log1p(kappa).sum()), np.asarray(weights @ (kappa / (1 + kappa)))
    pairs = 2 * np.outer(kappa, kappa) / covariance_of
    each = pairs / (1 + pairs)
    value = float(np.log1p(pairs[np.triu_indices(kappa.size)]).sum())
    return value, np.asarray(weights @ (each.sum(axis=1) + np.diag(each)))


def _whitened_spectrum(rho: FloatArray, signal: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The eigenvalues kappa of ``R^1/2 S R^1/2`` and the squares of its eigenvectors, a column each."""
    roots = np.sqrt(rho)
    kappa, u = np.linalg.eigh(roots[:, None] * signal * roots)
    return np.maximum(kappa, 0.0), u**2


def fill_correlated(signal: FloatArray, *, budget: float, half_widths: FloatArray) -> WaterFilling:
    """Maximise ``log det(I + S R)`` at ``sum h² rho = budget``: a water filling over what is still unknown.

    Along one direction alone the measure is ``log(1 + lambda_k rho_k)``, lambda_k the signal that the
    others, noise and all, leave open. Filling with these lambda has the measure's own slope where it
    starts, so it points uphill; where it stands still no split is better (the problem is concave).
    """
    h, size = half_widths, half_widths.size
    least = FLOOR * budget / size
    filled = water_filling(np.diag(signal), budget=budget, form="exact", half_widths=h)
    rho = filled.rho
    value, slope = measure_and_slope(rho, signal)
    for _ in range(200):
        filled = water_filling(_left_open(rho, signal), budget=budget, form="exact", half_widths=h)
        gains = slope / rho / h**2
        gap = least * gains.sum() + (budget - size * least) * gains.max() - slope.sum()
        if gap <= _ENOUGH * value:
            break
        move, step = filled.rho - rho, 1.0
        while step > 1e-12:
            there, new_slope = measure_and_slope(rho + step * move, signal)
            if there > value:
                break
            step /= 2
        else:
            break  # nothing to gain that a double could tell
        rho, value, slope = rho + step * move, there, new_slope
    return filled


def _left_open(rho: FloatArray, signal: FloatArray) -> FloatArray:
    """The variance of each direction given the noisy others."""
    kappa, weights = _whitened_spectrum(rho, signal)
    return np.asarray((weights @ (kappa / (1 + kappa))) / (rho * (weights @ (1 / (1 + kappa)))))


def _grown(signal: FloatArray, records: int, h: FloatArray, budget: float) -> FloatArray:
    """A covariance's rho at ``sum h² rho = budget``, by growth transforms from equal shares.

    The ratio is a polynomial without negative coefficients, so its slope never lowers it (Baum & Eagon 1967).
    """
    size = h.size
    part = np.full(size, 1 / size)
    for _ in range(min(_GROWTH_STEPS, max(_GROWTH_STEPS * 100**2 // size**2, 1))):  # a step costs size³
        kept = FLOOR / size + (1 - FLOOR) * part
        rho = budget * kept / h**2
        _, slope = measure_and_slope(rho, signal, covariance_of=records)
        grown = slope / kept * part
        if not grown.sum() > 0:
            break
        part = grown / grown.sum()
    return np.asarray(budget * (FLOOR / size + (1 - FLOOR) * part) / h**2)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Search:
    """What a search by cutting planes needs. Parts are ``x = h² rho / budget``."""

    query: Query
    equal: NoiseDesign
    signal: FloatArray = field(repr=False)
    h: FloatArray = field(repr=False)
    budget: float

    @property
    def both(self) -> bool:
        return self.equal.mode == "both"

    def measure(self, x: FloatArray) -> tuple[float, FloatArray]:
        value, slope = measure_and_slope(self.budget * x / self.h**2, self.signal,
                                         covariance_of=self.equal.n_records if self.both else None)
        return value, slope / x

    def side(self, x: FloatArray) -> NoiseSide:
        return NoiseSide.of(self.equal.directional_side.directions, self.h**2 / (self.budget * x))

    def fitted(self, x: FloatArray) -> tuple[FloatArray, bool]:
        """Return the parts times the factor that spends just what may be spent; whether that is exact."""
        worst = self.query.neighbours.worst(*both_sides(self.query, self.equal.mode, self.side(x / x.max())))
        ratio = self.equal.mu / worst.mu
        return x / x.max() * (ratio if self.both else ratio * ratio), worst.exact

    def cut(self, x: FloatArray, exact: bool) -> FloatArray:
        """Return the change that x hides worst, as ``C`` with ``xᵀCx <= 1`` or as ``c`` with ``c·x <= 1``."""
        w, unit = self.equal.directional_side.directions.matrix, self.budget / self.h**2
        if self.both and exact:
            side = self.side(x)
            change = w.T @ worst_pair(self.query, side, side).difference @ w
            return np.asarray(change**2 * np.outer(unit, unit) / self.equal.mu**2)
        terms = (self._corners() @ w) ** 2 * unit
        found = terms[int(np.argmax(terms @ x))]
        return np.asarray(found / (found @ x))  # x spends just what may be spent

    def _corners(self) -> FloatArray:
        body, upper = self.query.neighbours, all_signs(self.h.size) < 0
        if isinstance(body, ReplacedOuterProduct):
            return np.where(upper, body.upper, body.lower)
        if not isinstance(body, ReplacedColumn):
            raise TypeError(f"no corners of a {type(body).__name__}")
        return np.where(upper, body.widths, -body.widths)


def _searched(search: _Search, start: FloatArray) -> FloatArray:
    """rho with the largest measure found, equal shares and ``start`` among those compared."""
    size = search.h.size
    equal = np.full(size, 1 / size)
    plain = water_filling(np.diag(search.signal), budget=search.budget, form="exact", half_widths=search.h).rho
    ends = [rho * search.h**2 / search.budget for rho in (start, plain)]
    shapes = [equal, *ends, *(equal ** (1 - t) * ends[0] ** t for t in (0.25, 0.5, 0.75))]
    value, best = max(((search.measure(x)[0], x) for x in (search.fitted(shape)[0] for shape in shapes)),
                      key=lambda pair: pair[0])
    if size > _CORNERS or size == 1:
        return best * search.budget / search.h**2
    # One change for nearly all the budget on each direction: without them some rho would have no limit.
    lonely = [search.fitted(np.where(np.arange(size) == k, 1.0, FLOOR / size)) for k in range(size)]
    cuts = [search.cut(x, exact) for x, exact in [*lonely, search.fitted(best)]]
    # Not concave for a covariance: whoever starts near one direction may end on another hill.
    others = [search.fitted(shape)[0] for shape in (equal, ends[0])] + [x for x, _ in lonely] if search.both else []
    for _ in range(25):
        x, promised = _solved(search, cuts, [best, *others])
        if not promised > value * (1 + (_CLOSE if search.both else _ENOUGH)):
            break  # no split that these changes allow is better
        x, exact = search.fitted(x)
        there = search.measure(x)[0]
        if there > value:
            best, value = x, there
        cuts.append(search.cut(x, exact))
    return best * search.budget / search.h**2


def _solved(search: _Search, cuts: list[FloatArray], starts: list[FloatArray]) -> tuple[FloatArray, float]:
    """The largest measure under the cuts alone, from the best of some starts."""
    from scipy.optimize import minimize  # only here: importing it takes longer than all else

    def down(x: FloatArray) -> tuple[float, FloatArray]:
        value, slope = search.measure(np.maximum(x, least / 2))
        return -value, -slope

    least, ftol = FLOOR / search.h.size, 1e-7 if search.both else 1e-10
    limits = [{"type": "ineq", "fun": (lambda x, c=c: 1 - (x @ c @ x if c.ndim == 2 else c @ x)),
               "jac": (lambda x, c=c: -2 * c @ x if c.ndim == 2 else -c)} for c in cuts]
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a step beyond the floor is clipped, and said to be
        for start in starts:
            result = minimize(down, np.maximum(start, least), jac=True, method="SLSQP", constraints=limits,
                              bounds=[(least, None)] * search.h.size, options={"maxiter": 200, "ftol": ftol})
            found.append((np.maximum(result.x, least), -float(result.fun)))
    return max(found, key=lambda pair: pair[1])
