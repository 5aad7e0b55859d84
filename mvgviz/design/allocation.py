"""theta: how the precision budget is split over the directions, in positive shares that sum to 1.

A direction that deserves nothing still gets a *floor*, since no share at all means infinite noise. A theorem's budget
is ``sum 1/v²`` (v the noise variance), so there theta goes with ``rho² = 1/v²``; the exact budget is ``sum h²/v``, so
there theta goes with ``h² rho``.

>>> from mvgviz import binary
>>> binary(4, priority=[0], share=0.7).round(3).tolist()
[0.7, 0.1, 0.1, 0.1]
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mvgviz.errors import InputError, refuse
from mvgviz.noise.accounting import root
from mvgviz.provenance import counted, receipts_of, with_receipts
from mvgviz.validation import FloatArray, array, count, fraction, frozen, non_negative, one_of, positive

FORMS = ("relaxed", "unrelaxed", "exact")
FLOOR = 1e-4  # the least a direction gets, as a fraction of an equal share


def uniform(k: int) -> FloatArray:
    """Return equal shares."""
    return frozen(np.full(count("k", k), 1 / k))


def binary(k: int, *, priority: Iterable[int], share: float, importance: Any = None, guarantee: str = "exact"
           ) -> FloatArray:
    """Return ``share`` for the priority directions and equal parts of what is left for the others.

    Priority directions get equal parts too or, with an ``importance`` for each, those with the least noise variance
    that is weighed so, in units of what one record can move.
    """
    size, part = count("k", k), fraction("share", share)
    try:
        chosen = [count("priority", index, at_least=0) for index in priority]
    except TypeError:
        raise InputError("priority must be a list of direction positions") from None
    if len(set(chosen)) != len(chosen) or any(index >= size for index in chosen):
        raise InputError(f"priority must be different positions below {size}, got {chosen}")
    refuse(not 0 < len(chosen) < size, f"priority must be some but not all of the {size} directions, got {len(chosen)}")
    theta = np.full(size, (1 - part) / (size - len(chosen)))
    theta[chosen] = part / len(chosen)
    weights = np.ones(len(chosen)) if importance is None else non_negative("importance", importance)
    if np.shape(weights) != (len(chosen),):
        raise InputError(f"importance must have one weight for each of the {len(chosen)} directions")
    if np.ptp(weights) > 0:
        theta[chosen] = part * least_error(weights, guarantee=guarantee)
    return frozen(theta)


def manual(weights: Any) -> FloatArray:
    """Return shares in proportion to positive weights."""
    values = array("weights", weights, ndim=1)
    refuse(not (values > 0).all(), f"weights must be positive, got {values.min():g} at position {values.argmin()}")
    scaled = values / values.max()
    return frozen(scaled / scaled.sum())


def rebalanced(parts: Sequence[int], *, position: int, value: int, locked: Iterable[int] = ()) -> tuple[int, ...]:
    """Return whole parts with one set to ``value`` (cut if need be) and the unlocked others, of at least 1, scaled to
    keep the sum of a row of sliders.
    """
    old = [count("parts", part) for part in parts]
    fixed = {*locked, position}
    room, free = sum(old) - sum(old[i] for i in fixed - {position}), len(old) - len(fixed)
    new = list(old)
    new[position] = min(max(count("value", value, at_least=0), 1), room - free) if free else room
    return divided(new, old, total=sum(old), locked=fixed)


def divided(parts: Sequence[int], weights: Sequence[float], *, total: int, locked: Collection[int] = ()
            ) -> tuple[int, ...]:
    """Whole parts that sum to ``total``: locked ones as they are, the others at least 1, in proportion to weights."""
    free = [k for k in range(len(parts)) if k not in locked]
    left = total - sum(part for k, part in enumerate(parts) if k in locked) - len(free)
    if left < 0 or not free:
        return tuple(parts)
    exact = left * np.array([weights[k] for k in free]) / sum(weights[k] for k in free)
    more = np.floor(exact).astype(int)
    more[np.argsort(more - exact, kind="stable")[: left - more.sum()]] += 1  # the largest remainders get the rest
    new = list(parts)
    for k, part in zip(free, more.tolist(), strict=True):
        new[k] = 1 + part
    return tuple(new)


@dataclass(frozen=True, kw_only=True, eq=False)
class WaterFilling:
    """The solution of a max-PNR problem: ``rho``: inverse variances, ``theta``: their shares of the budget, ``depth``:
    of each direction's ground, ``level``: of the water (None if there is none), ``dry``: who got the floor.
    """

    rho: FloatArray
    theta: FloatArray
    depth: FloatArray
    level: float | None
    dry: np.ndarray[Any, np.dtype[np.bool_]] = field(repr=False)


def max_pnr(eigenvalues: Any, *, budget: float, form: str = "relaxed", half_widths: Any = None,
            floor: float = FLOOR) -> FloatArray:
    """The theta that maximises a table's power-to-noise ratio along its eigenvectors; see :func:`water_filling`.

    It keeps the receipts of eigenvalues that were learned privately.
    """
    theta = water_filling(counted(eigenvalues), budget=budget, form=form, half_widths=half_widths, floor=floor).theta
    receipts = receipts_of(eigenvalues)
    return with_receipts(theta, receipts) if receipts else theta


def water_filling(eigenvalues: Any, *, budget: float, form: str = "relaxed", half_widths: Any = None,
                  floor: float = FLOOR) -> WaterFilling:
    """Maximise ``prod(1 + lambda_i rho_i)`` over ``rho = 1/v`` at a fixed budget, the lambda eigenvalues of ``X Xᵀ/n``.

    * "relaxed" (the paper's Theorem "pnr_max_sol"): ``sum rho = budget``, which is ``phi²/sqrt(cols)`` for rows and
      ``phi`` for both sides;
    * "unrelaxed": the theorem's own constraint, ``sum rho² = budget``;
    * "exact": the exact guarantee's, ``sum h² rho = budget = mu²``, ``half_widths`` the h.

    That is the power-to-noise ratio of a table along its eigenvectors; for a mean divide the eigenvalues by n. Water
    filling is not scale free: the paper's ``X Xᵀ`` gives another answer. Correlations, covariances and turned boxes:
    ``mvgviz.design.power_to_noise``. Each direction keeps at least ``floor`` times an equal part.
    """
    lam = array("eigenvalues", eigenvalues, ndim=1)
    refuse(not (lam >= 0).all(), "eigenvalues must not be negative; clip those of a noisy release at 0")
    refuse(not lam.max() > 0, "eigenvalues must not all be zero")
    refuse(not 1e-100 <= lam.max() <= 1e100, "the largest of the eigenvalues must lie between 1e-100 and 1e100")
    total, kept = positive("budget", budget), positive("floor", floor, least=1e-12, most=0.5)
    form = one_of("form", form, FORMS)
    refuse(half_widths is not None and form != "exact", f"half_widths belong to the exact form, got form {form!r}")
    if form == "unrelaxed":
        return _fill_unrelaxed(lam, total, kept)
    h_square = _reach(half_widths, lam.size) ** 2 if form == "exact" else np.ones(lam.size)
    with np.errstate(divide="ignore", over="ignore"):
        depth = h_square / lam
    parts, level, dry = _fill(depth, total, kept * total / lam.size)
    theta = manual(parts if form == "exact" else (parts / parts.max()) ** 2)
    return WaterFilling(rho=parts / h_square, theta=theta, depth=depth, level=level, dry=dry)


def least_error(weights: Any, *, guarantee: str = "exact", entries: str = "all", half_widths: Any = None,
                floor: float = FLOOR) -> FloatArray:
    """Return the theta that minimises the weighted noise variance ``sum w_k v_k``.

    Theorem budget: ``v ∝ w^-1/3``; exact budget: ``1/v ∝ sqrt(w)/h``, also with noise on both sides and weights ``w_i
    w_j`` ("all"); with weights ``w_k`` on entries (k, k) only ("diagonal"): ``v ∝ w^-1/4`` and ``1/v ∝ (w/h²)^1/3``.
    """
    w = non_negative("weights", weights)
    w = w / w.max()
    exact = one_of("guarantee", guarantee, ("theorem1", "theorem2", "theorem2-any", "exact")) == "exact"
    diagonal = one_of("entries", entries, ("all", "diagonal")) == "diagonal"
    kept = positive("floor", floor, least=1e-12, most=0.5)
    if not exact:
        shares = w ** (1 / 2 if diagonal else 2 / 3)
    else:
        h = _reach(half_widths, w.size)
        shares = w ** (1 / 3) * h ** (4 / 3) if diagonal else np.sqrt(w) * h
    return with_floor(shares / shares.sum(), kept / w.size)


def with_floor(shares: FloatArray, least: float) -> FloatArray:
    """``max(c * shares, least)`` with the c that makes it sum to 1."""
    low = np.zeros(shares.size, dtype=bool)
    while True:
        scaled = shares * (1 - least * low.sum()) / shares[~low].sum()
        now_low = scaled < least
        if not (now_low & ~low).any():
            return frozen(np.where(low, least, scaled))
        low |= now_low


def _fill(depth: FloatArray, total: float, least: float
          ) -> tuple[FloatArray, float, np.ndarray[Any, np.dtype[np.bool_]]]:
    """``part_i = max(level - depth_i, least)`` with sum ``total``; parts, level, who is dry."""
    bottom = float(depth.min())
    above = depth - bottom  # measured from the lowest ground, or tiny budgets would be rounded away
    water = total - depth.size * least
    finite = np.sort(above[np.isfinite(above)])
    levels = (water + np.cumsum(finite)) / np.arange(1, finite.size + 1)
    height = float(levels[np.flatnonzero(levels > finite)[-1]])
    poured = np.maximum(height - above, 0.0)
    return least + poured, bottom + height + least, poured <= 0


def _fill_unrelaxed(lam: FloatArray, total: float, kept: float) -> WaterFilling:
    """``rho = (lambda/nu)/(1 + sqrt(1 + 2 lambda²/nu))`` with ``sum rho² = total``, one root in nu."""
    x = lam * np.sqrt(total)  # in units where the budget is 1
    least = kept / np.sqrt(lam.size)

    def shape(log_nu: float) -> FloatArray:
        nu = np.exp(log_nu)
        return np.asarray((x / nu) / (1 + np.hypot(1, np.sqrt(2 / nu) * x)))

    def excess(log_nu: float) -> float:
        return float(np.log(np.sum(np.maximum(shape(log_nu), least) ** 2)))

    top = float(x.max())
    lowest = np.log(top) - np.log(2 + 2 * top)  # there the largest alone takes everything
    log_nu = root(excess, lowest - 1e-9, np.log(lam.size) + 1, xtol=1e-14, rtol=1e-14)
    wet = shape(log_nu)
    parts = np.maximum(wet, least)
    parts = parts / np.sqrt(np.sum(parts**2))
    with np.errstate(divide="ignore", over="ignore"):
        depth = 1 / lam
    return WaterFilling(rho=parts * np.sqrt(total), theta=manual(parts**2), depth=depth, level=None, dry=wet <= least)


def _reach(half_widths: Any, size: int) -> FloatArray:
    if half_widths is None:
        return np.ones(size)
    h = array("half_widths", half_widths, ndim=1)
    if h.size != size or not ((h >= 1e-60) & (h <= 1e60)).all():
        raise InputError(f"half_widths must be {size} positive numbers between 1e-60 and 1e60")
    return h
