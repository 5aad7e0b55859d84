"""The strip under a page's title: what the best attacker gains and how large the error is; all else behind a click."""

import math
from typing import NamedTuple

import numpy as np

from mvgviz.design.needs import needs_of, noise_on
from mvgviz.design.noise_design import NoiseDesign
from mvgviz.design.privacy_loss import SpentMu, spent_mu
from mvgviz.pictures.sentences import clipping_amount, open_parts, origin_items, span_words
from mvgviz.pictures.trade_off import least_item
from mvgviz.release.intervals import data_units
from mvgviz.scenario.own_units import SHARES, own_units, units_of_noise, whole_scale
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_factor, as_number, as_probability, at_most, in_html, listed
from mvgviz.validation import FloatArray

FIGURES, _NAMED = 100, 2


class Fact(NamedTuple):
    """A name, what stands behind it, and whether care is needed."""

    name: str
    text: str
    care: bool = False


def attacker(setup: Setup) -> tuple[int, str]:
    """Return how many of 100 guesses between the worst neighbours the best attacker gets right, and that in words."""
    right = right_guesses(setup)
    often = "practically always right" if right == FIGURES else (
        f"right {at_most(setup.design.mu_is)}{right} times in 100")
    more = " from the noise alone; more from what is not private" * bool(open_parts(setup))
    return right, f"{often} (a coin: 50){more}"


def right_guesses(setup: Setup, releases: int = 1) -> int:
    """Return that number, rounded up, after so many releases of this design."""
    spent = spent_mu(setup.design)
    gained = releases * spent.advantage if spent.blocks else (
        SpentMu(noise=spent.after(releases)[0], directions=0.0).advantage)
    return min(math.ceil(FIGURES * (0.5 + gained / 2) - 1e-9), FIGURES)


def facts(setup: Setup) -> tuple[list[Fact], list[Fact]]:
    """Return the facts in front, with everything that needs care, and those behind one click."""
    origins, clipped = [Fact(*item) for item in origin_items(setup)], clipping_amount(setup)
    front = [
        error_fact(setup, "typical error" if clipped is None else "error from noise alone"),
        *([] if clipped is None else [Fact("clipping adds", clipped)]),
        *_share_elsewhere(setup), *(fact for fact in origins if fact.care)]
    behind = [
        Fact("privacy asked", f"ε = {setup.scenario.epsilon:g} at δ = {as_probability(setup.delta)}"),
        Fact("spent by the noise", f"{at_most(setup.design.mu_is)}ε = {as_number(setup.epsilon_spent)}"),
        *(Fact(*least) for least in [least_item(setup)] if least is not None),
        *(fact for fact in origins if not fact.care), Fact("neighbours", setup.neighbour_rule)]
    return front, behind


def _share_elsewhere(setup: Setup) -> list[Fact]:
    """Warn where the split leaves out a column on which errors count."""
    scenario, names = setup.scenario, setup.direction_names
    given = [k for k in scenario.priority_directions if k < len(names)]
    if scenario.directions != "standard" or scenario.allocation not in ("binary", "least-error") or not (
            given and set(scenario.priority_features) - set(given)):
        return []
    counted = listed([setup.dataset.features[k] for k in scenario.priority_features if k < setup.dataset.n_features])
    return [Fact("the share goes to", f"{listed([names[k] for k in given])}, but errors count on {counted}", True)]


def error_fact(setup: Setup, name: str = "typical error") -> Fact:
    """Return the typical error on priority columns: in the data's units, else as a part of the full scale."""
    rows = own_units(setup)
    priority = [row for row in rows if row.priority]
    if 0 < len(priority) <= _NAMED:
        parts = [f"{as_number(row.ours)}{f' {row.unit}' if row.unit else ''} on {row.name} "
                 f"({as_factor(row.ours / row.equal)} equal noise)" for row in priority]
        return Fact(name, listed(parts))
    if rows or setup.query.degree == 2:
        scenario, features = setup.scenario, setup.query.features
        kept = {k: scenario.need_weights[k] for k in scenario.priority_features if k < features} or dict.fromkeys(
            range(features), 1.0)
        by_name, weights = {row.name: row for row in rows}, np.array(list(kept.values()))
        counted = [by_name[setup.dataset.features[k]] for k in kept] if rows else []
        ours, equal = (_mean_square(np.array([getattr(row, of) / (row.upper - row.lower) for row in counted]), weights)
                       if rows else _on_entries(setup, design, kept)
                       for of, design in (("ours", setup.design), ("equal", setup.iid)))
        what = "priority columns" if set(kept) <= set(scenario.priority_features) else "everything"
        return Fact(f"{name} on {what}", f"{as_number(100 * ours)} {SHARES[setup.query.degree]} "
                                         f"({as_factor(ours / equal)} equal noise{_along_priority(setup)})")
    noise = setup.design.noise_std()
    units = None if setup.query.is_graph else data_units(
        type(setup.query), setup.scenario.scale, setup.dataset.ranges, setup.query.row_names)
    if units is not None and setup.query.by_group:
        measures = dict(zip(setup.dataset.features, units_of_noise(setup.dataset.units), strict=True))
        sums = zip((setup.query.row_names or ())[:-1], units.widths(noise).max(axis=1), strict=False)
        return Fact(name, listed([f"{as_number(std)} {measures[row]} on the sum of {row}".replace("  ", " ")
                                  for row, std in sums], most=_NAMED))
    return Fact(name, f"{span_words(noise)} {setup.query.unit or 'an entry'}")


def _along_priority(setup: Setup) -> str:
    """The same along priority directions that are no features; empty where there are none."""
    scenario = setup.scenario
    if scenario.needs_along != "directions" or not scenario.needs or setup.query.has_constant:
        return ""
    needs = needs_of({k: scenario.need_weights[k] for k in scenario.needs}, setup.query.rows)
    ours, equal = (noise_on(design, needs, directions=setup.need_directions).priority
                   for design in (setup.design, setup.iid))
    return f", {as_factor(ours / equal)} on priority directions"


def _on_entries(setup: Setup, design: NoiseDesign, kept: dict[int, float]) -> float:
    """The noise on second moments as a part of the largest that each can be; either side of the diagonal is one."""
    block = np.ix_(list(kept), list(kept))
    own, mixed = np.square(design.noise_std()), np.zeros((setup.query.rows, setup.query.rows))
    if design.mode == "both":  # the noise on (i, j) and on (j, i) has the covariance c_ij²
        mixed = np.square(design.row_covariance())
    else:
        np.fill_diagonal(mixed, np.diag(own))
    squares = own if design.drawn == "symmetric" else (own + own.T + 2 * mixed) / 4
    weights = np.array(list(kept.values()))
    return _mean_square((np.sqrt(squares) / whole_scale(setup))[block], np.outer(weights, weights))


def _mean_square(parts: FloatArray, weights: FloatArray) -> float:
    return math.sqrt(float(np.average(np.square(parts), weights=weights)))


def strip_html(setup: Setup) -> str:
    """Return the strip as HTML."""
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
