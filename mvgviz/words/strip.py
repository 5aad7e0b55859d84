"""The line on every page: what an attacker can tell, how large the error is on what is needed, asked and spent."""

import math
from typing import NamedTuple

import numpy as np

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.design.privacy_loss import spent_mu
from mvgviz.noise.accounting import total_variation
from mvgviz.scenario.own_units import own_units
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_factor, as_number, at_most, delta_words, listed
from mvgviz.validation import FloatArray
from mvgviz.words.provenance import origin_items
from mvgviz.words.trade_off import least_item

FIGURES = 100
_NAMED = 2


class Fact(NamedTuple):
    """A name, what stands behind it, and whether care is needed."""

    name: str
    text: str
    care: bool = False


def attacker(setup: Setup) -> tuple[int, str]:
    """How many of 100 guesses between the worst neighbours the best attacker gets right, and that in words."""
    part = 0.5 + float(total_variation(spent_mu(setup.design).total)) / 2
    right = min(math.ceil(FIGURES * part - 1e-9), FIGURES)
    most = "practically always right" if part > 0.995 else f"right {at_most(setup.design.mu_is)}{right} times in 100"
    return right, f"{most}; a coin 50"


def facts(setup: Setup) -> tuple[list[Fact], list[Fact]]:
    """What stands in front, with everything that needs care, and what stands behind one click."""
    origins = [Fact(*item) for item in origin_items(setup)]
    front = [
        _error(setup),
        Fact("privacy asked", f"ε = {setup.scenario.epsilon:g} at δ = "
                              f"{delta_words(setup.delta, setup.dataset.n_records)}"),
        Fact("spent by the noise", f"{at_most(setup.design.mu_is)}ε = {as_number(setup.epsilon_spent)}"),
        *(fact for fact in origins if fact.care)]
    noise = setup.design.direction_std()
    low, high = float(noise.min()), float(noise.max())
    least = least_item(setup)
    behind = [
        Fact("typical error along a direction (standard deviation)",
             as_number(low) if high <= low * (1 + 1e-9) else f"{as_number(low)} to {as_number(high)}"),
        *([] if least is None else [Fact(*least)]),
        *(fact for fact in origins if not fact.care), Fact("neighbours", setup.design.neighbour_rule)]
    return front, behind


def _error(setup: Setup) -> Fact:
    """The typical error on what is needed: in the data's own units, else as a part of the full scale."""
    rows = own_units(setup)
    needed = [row for row in rows if row.needed]
    if 0 < len(needed) <= _NAMED:
        parts = [f"{as_number(row.ours)}{f' {row.unit}' if row.unit else ''} on {row.name} "
                 f"({as_factor(row.ours / row.equal)} equal noise)" for row in needed]
        return Fact("typical error", listed(parts))
    if rows:
        ours, equal = (_mean_square([getattr(row, of) / (row.upper - row.lower) for row in needed or rows])
                       for of in ("ours", "equal"))
        return _of_scale(setup, ours, equal, "the range")
    if setup.query.name in ("covariance", "moments"):
        ours, equal = (_on_entries(setup, design) for design in (setup.design, setup.iid))
        return _of_scale(setup, ours, equal, "full scale")
    noise = setup.design.noise_std()
    return Fact("typical error", f"{as_number(float(noise.min()))} to {as_number(float(noise.max()))} an entry")


def _of_scale(setup: Setup, ours: float, equal: float, scale: str) -> Fact:
    what = "what is needed" if setup.scenario.needed_features else "everything"
    return Fact(f"typical error on {what}",
                f"{as_number(100 * ours)} % of {scale} ({as_factor(ours / equal)} equal noise)")


def _on_entries(setup: Setup, design: NoiseDesign) -> float:
    """The noise on second moments as a part of the largest that each can be; either side of the diagonal is one."""
    largest = setup.table.largest_values
    features = setup.query.rows - (setup.query.name == "moments")
    kept = [k for k in setup.scenario.needed_features if k < features] or list(range(features))
    parts = design.noise_std() / np.maximum(np.outer(largest, largest), np.finfo(float).tiny)
    return _mean_square((parts * np.where(np.eye(setup.query.rows) > 0, 1.0, math.sqrt(0.5)))[np.ix_(kept, kept)])


def _mean_square(parts: FloatArray | list[float]) -> float:
    return math.sqrt(float(np.mean(np.square(parts))))
