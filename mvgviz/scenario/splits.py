"""What each split of the budget lets through, under the printed theorem and under the exact limit.

The relaxed and unrelaxed forms of max-PNR solve a theorem's constraint, the exact form that
of the exact limit; each is compared with equal shares, binary and least error at the same
guarantee. The power-to-noise ratio reads the data's second moments: not private.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mvgviz.design.allocation import WaterFilling, binary, least_error, manual, water_filling
from mvgviz.design.most_information import has_measure, most_informative
from mvgviz.design.noise_design import NoiseDesign, design_noise
from mvgviz.design.power_to_noise import log_pnr
from mvgviz.errors import InputError
from mvgviz.provenance import Origin
from mvgviz.query.dataset import Dataset
from mvgviz.query.queries import Query
from mvgviz.scenario.resolve import Setup, build, moments_along, turned_moments
from mvgviz.scenario.scenario import Scenario
from mvgviz.validation import FloatArray


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
    """Why the power-to-noise ratio cannot be compared here; None if it can."""
    name, mode = setup.query.name, setup.design.mode
    if name not in ("identity", "mean", "covariance"):
        return f"the power-to-noise ratio is defined for the table, the mean and the covariance, not for the {name}"
    if mode == "columns":
        return "the forms of max-PNR divide the budget over features, and here the noise is directional over records"
    if name == "covariance" and mode != "both":
        return "for the covariance the power-to-noise ratio is defined with noise on both sides, not on one"
    return None


def printed_guarantee(setup: Setup) -> str:
    """The theorem to stand beside the exact limit: the scenario's own, else Theorem 2 where it applies, else 1."""
    if setup.scenario.guarantee != "exact":
        return setup.scenario.guarantee
    return "theorem2" if setup.query.psd and setup.design.mode == "both" else "theorem1"


def equal_design(setup: Setup, dataset: Dataset, guarantee: str) -> NoiseDesign:
    """The scenario's noise with equal shares under a guarantee: where every water filling starts."""
    one = setup.scenario
    if one.directions == "private":  # what they spend, and so they themselves, depend on the guarantee
        return build(one.changed(guarantee=guarantee, allocation="uniform"), dataset, query=setup.query).design
    return design_noise(setup.query, epsilon=one.epsilon, delta=setup.delta, mode=setup.design.mode, tail=one.tail,
                        guarantee=guarantee, directions=setup.design.directional_side.directions)


def compare_splits(setup: Setup, dataset: Dataset, moments: FloatArray) -> tuple[SplitScore, ...]:
    """``log PNR`` of every split, under the printed theorem and under the exact limit.

    The relaxed and unrelaxed forms of max-PNR solve a theorem's constraint, the exact form
    that of the exact limit. Binary and least error are left out when no direction (or every
    direction) is favoured.
    """
    one, query = setup.scenario, setup.query
    scores = []
    for guarantee in (printed_guarantee(setup), "exact"):
        equal = equal_design(setup, dataset, guarantee)
        directions = equal.directional_side.directions
        thetas = _plain_thetas(one, query, equal)
        for form in ("exact",) if guarantee == "exact" else ("relaxed", "unrelaxed"):
            thetas[f"max-pnr {form}"] = fill(equal, query, moments, form).theta
        for split, theta in thetas.items():
            design = equal if split == "uniform" else design_noise(
                query, epsilon=equal.epsilon, delta=equal.delta, guarantee=guarantee, mode=equal.mode, tail=one.tail,
                directions=directions, theta=theta,
                cover_directions=guarantee == "exact" and directions.origin is Origin.PAID)
            scores.append(SplitScore(split=split, guarantee=guarantee, log_pnr=log_pnr(moments, design),
                                     is_current=_is_current(one, guarantee, split, "binary" in thetas)))
    return tuple(scores)


def _plain_thetas(one: Scenario, query: Query, equal: NoiseDesign) -> dict[str, FloatArray]:
    """The splits that need no water filling, by name."""
    size = equal.theta.size
    thetas = {"uniform": equal.theta}
    favoured = [k for k in one.favoured if k < size]
    if 0 < len(favoured) < size:
        split = binary(size, favoured=favoured, share=one.share)
        h = query.neighbours.reach(equal.directional_side.directions) if equal.guarantee == "exact" else None
        thetas |= {"binary": split, "least-error": least_error(split, guarantee=equal.guarantee, half_widths=h)}
    if one.allocation == "manual":
        thetas["manual"] = manual(one.weights)
    return thetas


def _is_current(one: Scenario, guarantee: str, split: str, some: bool) -> bool:
    allocation = one.allocation if some or one.allocation not in ("binary", "least-error") else "uniform"
    if allocation == "max-pnr":
        allocation = f"max-pnr {'exact' if guarantee == 'exact' else one.form}"
    return guarantee == one.guarantee and split == allocation


def fill(equal: NoiseDesign, query: Query, moments: FloatArray, form: str) -> WaterFilling:
    """The water filling behind max-PNR (its level None where there is none); ``equal`` has equal shares and a
    guarantee that fits the form.

    The spectrum is the private release's own where the directions came with one, else the
    data's second moment along each direction (not private).
    """
    exact = equal.guarantee == "exact"
    if (form == "exact") != exact:
        raise InputError(f"the {form} form does not belong to the guarantee {equal.guarantee}")
    side = equal.directional_side
    released = side.directions.eigenvalues if side.directions.origin is Origin.PAID else None
    if exact and has_measure(equal):
        return most_informative(query, equal, turned_moments(side.directions, moments) if released is None
                                else released)
    signal = moments_along(side.directions, moments) if released is None else released
    if exact:
        h = query.neighbours.reach(side.directions)
        return water_filling(signal, budget=float(np.sum(h**2 * side.precisions)), form="exact", half_widths=h)
    budget = equal.precision_budget if form == "unrelaxed" else math.sqrt(equal.precision_budget)
    return water_filling(signal, budget=budget, form=form)
