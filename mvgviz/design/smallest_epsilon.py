"""The inverse question: how small can epsilon be for noise this small?"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mvgviz.design.allocation import FLOOR
from mvgviz.design.noise_design import both_sides, mode_of
from mvgviz.errors import InputError
from mvgviz.noise.accounting import gaussian_epsilon
from mvgviz.noise.directions import Directions, standard_basis
from mvgviz.noise.sides import NoiseSide
from mvgviz.query.queries import Query
from mvgviz.validation import FloatArray, count, fraction, instance, positive


def smallest_epsilon(query: Query, *, delta: float, target_std: Any, directions: Directions | None = None) -> float:
    """The least epsilon at ``delta`` with noise of at most ``target_std`` along each direction.

    ``target_std``: one number for each direction, None where there is no target, or a mapping from direction to number.
    Directions without a target get the floor share of the budget. For symmetric queries the noise is on both sides and
    the target is that of entry (k, k), so ``v_k = t_k``; for others ``v_k = t_k²``. The answer is 0 when the noise is
    so large that delta alone covers it.
    """
    instance("query", query, Query)
    delta = fraction("delta", delta)
    directions = standard_basis(query.rows) if directions is None else directions
    if not isinstance(directions, Directions) or directions.size != query.rows:
        raise InputError(f"directions must be Directions of size {query.rows}")
    targets = _targets(target_std, query.rows)
    variances = targets if query.symmetric else targets**2
    side = NoiseSide.of(directions, _with_floor(variances, query.neighbours.reach(directions)))
    return float(gaussian_epsilon(delta, query.neighbours.worst(*both_sides(query, mode_of(query), side)).mu))


def _targets(target_std: Any, size: int) -> FloatArray:
    """The targets as a vector, infinite where there is none."""
    if isinstance(target_std, Mapping):
        pairs = [(count("target_std", k, at_least=0), t) for k, t in target_std.items()]
        if any(k >= size for k, _ in pairs):
            raise InputError(f"target_std must name directions below {size}")
    else:
        try:
            wanted = list(target_std)
        except TypeError:
            raise InputError("target_std must be a sequence or a mapping from direction to number") from None
        if len(wanted) != size:
            raise InputError(f"target_std must have one entry for each of the {size} directions, got {len(wanted)}")
        pairs = [(k, t) for k, t in enumerate(wanted) if t is not None]
    if not pairs:
        raise InputError("target_std must hold at least one target")
    targets = np.full(size, np.inf)
    for k, t in pairs:
        targets[k] = positive("target_std", t, least=1e-60, most=1e60)
    return targets


def _with_floor(variances: FloatArray, h: FloatArray) -> FloatArray:
    """Finite variances where there is no target: the floor share of ``sum h²/v``."""
    wanted = np.isfinite(variances)
    budget = float(np.sum(h[wanted] ** 2 / variances[wanted]))
    open_share = FLOOR / variances.size
    total = budget / (1 - open_share * np.count_nonzero(~wanted))
    return np.where(wanted, variances, h**2 / (open_share * total))
