"""The line on every page: what an attacker can tell, how large the error is on what is needed, asked and spent."""

import math
from typing import NamedTuple

import numpy as np

from mvgviz.design.needs import needs_of, noise_on
from mvgviz.design.noise_design import NoiseDesign
from mvgviz.design.privacy_loss import spent_mu
from mvgviz.noise.accounting import total_variation
from mvgviz.pictures.sentences import clipping_amount, open_parts, origin_items
from mvgviz.pictures.trade_off import least_item
from mvgviz.scenario.own_units import FeatureNoise, own_units
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_factor, as_number, at_most, delta_words, in_html, listed
from mvgviz.validation import FloatArray

FIGURES = 100
_NAMED = 2


class Fact(NamedTuple):
    """A name, what stands behind it, and whether care is needed."""

    name: str
    text: str
    care: bool = False


def attacker(setup: Setup) -> tuple[int, str]:
    """How many of 100 guesses between the worst neighbours the best attacker gets right, and that in words.

    From the noise, and from what was paid for: no number covers what was read from the data.
    """
    part = 0.5 + float(total_variation(spent_mu(setup.design).total)) / 2
    right = min(math.ceil(FIGURES * part - 1e-9), FIGURES)
    most = "practically always right" if part > 0.995 else f"right {at_most(setup.design.mu_is)}{right} times in 100"
    return right, f"{most}{' from the noise alone' if open_parts(setup) else ''}; a coin 50"


def facts(setup: Setup) -> tuple[list[Fact], list[Fact]]:
    """What stands in front, with everything that needs care, and what stands behind one click."""
    origins, clipped = [Fact(*item) for item in origin_items(setup)], clipping_amount(setup)
    front = [
        _error(setup, "typical error" if clipped is None else "error from noise alone"),
        *([] if clipped is None else [Fact("clipping adds", clipped)]),
        Fact("privacy asked", f"ε = {setup.scenario.epsilon:g} at δ = "
                              f"{delta_words(setup.delta, setup.dataset.n_records)}"),
        Fact("spent by the noise", f"{at_most(setup.design.mu_is)}ε = {as_number(setup.epsilon_spent)}"),
        *(fact for fact in origins if fact.care)]
    noise = setup.design.direction_std()
    low, high = float(noise.min()), float(noise.max())
    least = least_item(setup)
    behind = [
        Fact("noise along a direction (standard deviation)",
             as_number(low) if high <= low * (1 + 1e-9) else f"{as_number(low)} to {as_number(high)}"),
        *([] if least is None else [Fact(*least)]),
        *(fact for fact in origins if not fact.care), Fact("neighbours", setup.design.neighbour_rule)]
    return front, behind


def _error(setup: Setup, name: str) -> Fact:
    """The typical error on what is needed: in the data's own units, else as a part of the full scale."""
    rows = own_units(setup)
    needed = [row for row in rows if row.needed]
    if 0 < len(needed) <= _NAMED:
        parts = [f"{as_number(row.ours)}{f' {row.unit}' if row.unit else ''} on {row.name} "
                 f"({as_factor(row.ours / row.equal)} equal noise)" for row in needed]
        return Fact(name, listed(parts))
    if rows or setup.query.degree == 2:
        kept = _counted(setup)
        ours, equal = (_of_ranges(setup, rows, of, kept) if rows else _on_entries(setup, design, kept)
                       for of, design in (("ours", setup.design), ("equal", setup.iid)))
        what = "what is needed" if set(kept) <= set(setup.scenario.needed_features) else "everything"
        return Fact(f"{name} on {what}", f"{as_number(100 * ours)} % of {'the range' if rows else 'full scale'} "
                                         f"({as_factor(ours / equal)} equal noise{_along_needed(setup)})")
    noise = setup.design.noise_std()
    ends = dict.fromkeys(as_number(float(end)) for end in (noise.min(), noise.max()))  # once where they read alike
    return Fact(name, f"{' to '.join(ends)} an entry")


def _along_needed(setup: Setup) -> str:
    """The same along the directions that are needed, where these are no features; nothing where they cannot be told."""
    scenario = setup.scenario
    if scenario.needs_along != "directions" or not scenario.needs or setup.query.has_constant:
        return ""
    needs = needs_of({k: scenario.need_weights[k] for k in scenario.needs}, setup.query.rows)
    ours, equal = (noise_on(design, needs, directions=setup.need_directions).needed
                   for design in (setup.design, setup.iid))
    return f", {as_factor(ours / equal)} on what is needed"


def _counted(setup: Setup) -> dict[int, float]:
    """How much each of the needed features matters; every feature alike where nobody said."""
    scenario, features = setup.scenario, setup.query.features
    kept = {k: scenario.need_weights[k] for k in scenario.needed_features if k < features}
    return kept or dict.fromkeys(range(features), 1.0)


def _of_ranges(setup: Setup, rows: list[FeatureNoise], of: str, kept: dict[int, float]) -> float:
    """The noise on a table or mean as a part of each range."""
    parts = {row.name: getattr(row, of) / (row.upper - row.lower) for row in rows}
    return _mean_square(np.array([parts[setup.dataset.features[k]] for k in kept]), np.array(list(kept.values())))


def _on_entries(setup: Setup, design: NoiseDesign, kept: dict[int, float]) -> float:
    """The noise on second moments as a part of the largest that each can be; either side of the diagonal is one."""
    block, largest = np.ix_(list(kept), list(kept)), np.maximum(setup.table.largest_values, np.finfo(float).tiny)
    own, mixed = np.square(design.noise_std()), np.zeros((setup.query.rows, setup.query.rows))
    if design.mode == "both":  # the noise on (i, j) and on (j, i) has the covariance c_ij²
        mixed = np.square(design.row_covariance())
    else:
        np.fill_diagonal(mixed, np.diag(own))
    squares = (own + own.T + 2 * mixed) / 4
    weights = np.array(list(kept.values()))
    return _mean_square((np.sqrt(squares) / np.outer(largest, largest))[block], np.outer(weights, weights))


def _mean_square(parts: FloatArray, weights: FloatArray) -> float:
    return math.sqrt(float(np.average(np.square(parts), weights=weights)))


def strip_html(setup: Setup) -> str:
    """The line as HTML; provenance and neighbours stand in front only where something is not private."""
    right, guess = attacker(setup)
    front, behind = facts(setup)
    front.insert(0, Fact("best attacker", guess))
    figures = "<i></i>" * right + "<u></u>" * (FIGURES - right)
    return (f'<div class="strip"><div class="meter" aria-hidden="true">{figures}</div>'
            f'<dl aria-label="What is asked and what is spent">{"".join(map(_cell, front))}</dl>'
            f'<details><summary>More</summary><dl>{"".join(map(_cell, behind))}</dl></details></div>')


def _cell(fact: Fact) -> str:
    return (f'<div><dt>{in_html(fact.name)}: </dt><dd class="{"care" if fact.care else ""}">{in_html(fact.text)}</dd>'
            "</div>")
