"""Which family of noise: who wins where, priority against other columns, privacy curves, several releases."""

import math
from collections.abc import Mapping
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from scipy import optimize

from mvgviz.design.least_possible import lowest_std
from mvgviz.noise.families import CHOICES, FAMILIES, Family
from mvgviz.noise.families.base import Law
from mvgviz.noise.families.box import same_attacker
from mvgviz.noise.mixtures import pure_epsilon
from mvgviz.pictures.theme import DATA, FAMILY_COLOURS, PAPER, Picture, add_dots, add_line, decades, log_axis, styled
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_factor, as_number, as_probability

MOST_RELEASES = 30
_SHARES = np.linspace(0.02, 0.98, 97)
_PLACES = list(product((1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 130, 200),  # columns, and epsilons
                       (0.1, 0.18, 0.32, 0.56, 1.0, 1.8, 3.2, 5.6, 10.0)))
_GAUSSIAN = FAMILIES["gaussian"]
_OF_SPLITS = FAMILIES | CHOICES
_LEAST = 1e-9  # the lowest delta of the picture
_TIE, _CLEARLY = 1.005, 1.02


class Case(NamedTuple):
    """``size`` numbers, of which ``priority`` get ``share`` of the precision, under the promise (epsilon, delta)."""

    size: int
    priority: int
    share: float
    epsilon: float
    delta: float

    @property
    def is_split(self) -> bool:
        return 0 < self.priority < self.size

    @property
    def promise(self) -> tuple[float, float]:
        return self.epsilon, self.delta


def case_of(setup: Setup) -> Case:
    """Return the scenario's columns, priority columns, share and promise."""
    scenario, size = setup.scenario, setup.dataset.n_features
    priority = len([k for k in scenario.priority_features if k < size])
    share = scenario.share if scenario.allocation == "binary" else priority / size
    return Case(size, priority, share, scenario.epsilon, setup.delta)


def fits_box(setup: Setup) -> bool:
    """Return whether one record changes this answer inside a box: a mean or a table, not clipped to a bound."""
    return setup.query.degree == 1 and setup.query.bound is None


def noise_of(family: Family, case: Case, releases: int = 1) -> float:
    """Return the noise on priority columns when other columns have that of the Gaussian split; on all without a split.

    Several releases share the promise. For the ellipse only one release has a closed form: NaN for more.
    """
    if releases > 1 and not family.is_pure:
        return math.sqrt(releases) * noise_of(family, case) if family.spends_mu else math.nan
    epsilon, delta = case.promise if releases == 1 else (pure_epsilon(releases, *case.promise), 0.0)
    if not case.is_split:
        return family.std(case.size, epsilon, delta)
    priority, other = case.priority, case.size - case.priority
    wanted = math.sqrt(releases) * _GAUSSIAN.split(priority, other, case.share, *case.promise).other

    def excess(share: float) -> float:
        return math.log(family.split(priority, other, share, epsilon, delta).other / wanted)

    low, high = 1e-6, 1 - 1e-6
    if excess(low) >= 0:  # the other columns alone need more
        return math.inf
    share = float(optimize.brentq(excess, low, high)) if excess(high) > 0 else high
    return family.split(priority, other, share, epsilon, delta).priority


def best_family(case: Case, releases: int = 1) -> tuple[Family, float]:
    """Return the family with the lowest noise and how many times less it has than Gaussian noise."""
    shown = _OF_SPLITS if case.is_split else FAMILIES
    noises = {name: noise_of(family, case, releases) for name, family in shown.items()}
    best = _lowest({name: noise for name, noise in noises.items() if not math.isnan(noise)})
    return best, noises["gaussian"] / noises[best.name]


def _lowest(noises: Mapping[str, float]) -> Family:
    """Return the family with the lowest noise; pure noise wins ties, since for one number most are nearly equal."""
    return _OF_SPLITS[min(noises, key=lambda name: noises[name] * (1 if _OF_SPLITS[name].is_pure else _TIE))]


def advice_words(case: Case, releases: int) -> str:
    """Return one piece of advice: verdict, number, reason, and its price."""
    best, gain = best_family(case, releases)
    many = f"{_counted(releases, 'release')} of {_counted(case.size, 'number')}"
    where = "priority columns" if case.is_split else "every number"
    if gain < _CLEARLY:
        return f"**For {many}, stay with Gaussian noise.** No other family has clearly less noise on {where}."
    return (f"**For {many}, {best.word} noise has {as_factor(1 / gain)} the Gaussian noise on {where}**, at the same ε "
            f"and δ{' and the same noise on other columns' * case.is_split}. {price_words(best, case)}".rstrip())


def price_words(family: Family, case: Case) -> str:
    """Return what the best attacker gains over Gaussian noise; empty where that is nothing."""
    usual = _right(_GAUSSIAN, case)
    return "" if _right(family, case) <= usual else (
        f"The price: the best attacker is right {_right_words(family, case)} times in 100, against {usual} with "
        "Gaussian noise.")


def others_noise(family: Family, case: Case) -> float:
    """Return the noise on other columns over equal Gaussian noise, at the case's share."""
    return family.split(case.priority, case.size - case.priority, case.share, *case.promise)[1] / _GAUSSIAN.std(
        case.size, *case.promise)


def last_release(case: Case) -> int:
    """Return up to how many releases box noise has less noise than Gaussian noise; 0 where it never has."""
    return next((count - 1 for count in range(1, MOST_RELEASES + 1)
                 if noise_of(FAMILIES["box"], case, count) >= noise_of(_GAUSSIAN, case, count)), MOST_RELEASES)


def last_words(case: Case) -> str:
    """Return up to how many releases box noise is lower than Gaussian noise."""
    last = last_release(case)
    return (f"**Box noise is lower for all {last} releases tried.**" if last == MOST_RELEASES else
            "**Gaussian noise is lower from the first release on.**" if last == 0 else
            f"**Box noise is lower for up to {_counted(last, 'release')}**, Gaussian noise from {last + 1} on.")


def _counted(count: int, what: str) -> str:
    return f"{'one' if count == 1 else f'{count:,}'} {what}{'s' * (count > 1)}"


def _right(family: Family, case: Case) -> int:
    return round(50 * (1 + family.advantage(case.size, *case.promise)))


def _right_words(family: Family, case: Case) -> str:
    return "at most " * family.is_bound(case.size) + str(_right(family, case))


def family_split_picture(case: Case) -> Picture:
    """Noise on priority columns against noise on other columns, for every family and share."""
    figure, unit, here = go.Figure(), _GAUSSIAN.std(case.size, *case.promise), []
    for family in _OF_SPLITS.values():
        curve = np.array([family.split(case.priority, case.size - case.priority, share, *case.promise)
                           for share in (*_SHARES, case.share)]) / unit
        here.append(curve[-1])
        x, y = curve.T
        dash = "dash" if not family.joins else None if isinstance(family, Law) else "dashdot"  # some are one curve
        add_line(figure, x[:-1], y[:-1], family.title, FAMILY_COLOURS[family.name], 2.5, dash, customdata=_SHARES,
                 hover=f"share %{{customdata:.0%}}: %{{x:.3g}} ×, %{{y:.3g}} ×<extra>{family.title}</extra>")
        add_dots(figure, x[-1:], y[-1:], family.title, FAMILY_COLOURS[family.name], 10, hover=None, showlegend=False)
    across, up = (values.tolist() for values in np.transpose(here))
    lowest = lowest_std(*case.promise)
    if lowest is not None:
        across.append(math.sqrt(case.priority) * lowest / unit)
        add_line(figure, [across[-1]] * 2, [min(up) / 1.5, 2 * max(up)], "lowest possible (bound)", DATA, 2, "dot")
    figure.update_xaxes(title="noise on priority columns (× equal Gaussian noise)",
                        **log_axis(min(across) / 1.2, max(1.0, *across), room=0.05))
    figure.update_yaxes(title="noise on other columns (× equal Gaussian noise)",
                        **log_axis(min(up) / 1.5, 2 * max(up), room=0.05))
    best, gain = best_family(case)
    return Picture(styled(figure, height=380), (
        f"**At the same noise on other columns, {best.word} noise has {as_factor(1 / gain)} the Gaussian noise "
        "on priority columns.**" if gain > _CLEARLY else "**No family beats the Gaussian split here.**"), f"""\
Each curve is one family at the same promise, for one release; down and left is better. Dots:
{100 * case.share:.0f} % for priority columns ({case.priority} of {case.size}). Dotted: no noise of any family with
this promise lies left of it.""")


@lru_cache(maxsize=8)
def _winners(delta: float) -> list[str]:
    """Return the family whose equal noise is lowest at each place of the map."""
    return [_lowest(_equal(size, epsilon, delta)).name for size, epsilon in _PLACES]


def _equal(size: int, epsilon: float, delta: float) -> dict[str, float]:
    return {name: family.std(size, epsilon, delta) for name, family in FAMILIES.items()}


def family_map_picture(case: Case) -> Picture:
    """The family with the lowest equal noise, by number of columns and epsilon; the scenario as a dot."""
    figure, winners = go.Figure(), _winners(case.delta)
    for name, family in FAMILIES.items():
        places = [place for place, winner in zip(_PLACES, winners, strict=True) if winner == name]
        if places:
            sizes, epsilons = zip(*places, strict=True)
            add_dots(figure, sizes, epsilons, family.title, FAMILY_COLOURS[name], 17, "square",
                     hover="%{x} columns, ε = %{y}<extra>" + family.title + "</extra>")
    add_dots(figure, [case.size], [case.epsilon], "this scenario", PAPER, 15, edge=DATA, thick=4, cliponaxis=False)
    figure.update_xaxes(title="columns", **log_axis(1, 200, room=0.05))
    figure.update_yaxes(title="ε", **log_axis(0.1, 10, room=0.05))
    stds = _equal(case.size, *case.promise)
    best = _lowest(stds)
    gain = stds["gaussian"] / stds[best.name]
    return Picture(styled(figure, height=380), (
        f"**With equal noise on {_counted(case.size, 'column')}, {best.word} noise is lowest**"
        + (f": {as_factor(1 / gain)} the Gaussian noise." if gain > _CLEARLY else ".")), f"""\
Each square: the family with the lowest standard deviation, for one release with equal noise at
δ = {as_probability(case.delta)}. Box noise grows with the number of columns, Gaussian noise with its square root.""")


def family_curves_picture(case: Case) -> Picture:
    """The whole privacy curve of three families through the same promise."""
    figure = go.Figure()
    grid = np.unique([*np.linspace(0, 2, 81), *(1 - np.geomspace(1e-8, 0.02, 15))]) * case.epsilon
    for name in ("gaussian", "ellipse", "box"):
        family = FAMILIES[name]
        deltas = np.array([family.delta_at(float(at), case.size, *case.promise) for at in grid])
        add_line(figure, grid, np.where(deltas > _LEAST, deltas, np.nan), family.title, FAMILY_COLOURS[name], 2.5,
                 hover="ε = %{x:.3g}: δ = %{y:.2g}<extra>" + family.title + "</extra>")
    add_dots(figure, [case.epsilon], [case.delta], "the promise", PAPER, 12, edge=DATA, thick=3)
    low = math.log10(_LEAST)
    figure.update_xaxes(title="ε")
    figure.update_yaxes(title="δ at that ε", type="log", range=[low, 0.1], **decades(low, 0))
    return Picture(styled(figure, height=380), (
        "**Same ε and δ, other odds.** If the best attacker is right as often, box noise is "
        f"{as_factor(same_attacker(FAMILIES['box'], case.size, *case.promise))} the Gaussian noise."), """\
All curves pass at or below the promise (ε, δ). At ε = 0 the curve shows what the best attacker gains over guessing.
Box noise has no δ. Gaussian noise keeps a small δ at every ε.""")


def family_releases_picture(case: Case, releases: int) -> Picture:
    """Noise of each release when several share the promise, for box and Gaussian noise."""
    figure, counts, unit = go.Figure(), list(range(1, MOST_RELEASES + 1)), noise_of(_GAUSSIAN, case)
    for name in ("gaussian", "box"):
        noises = [noise_of(FAMILIES[name], case, count) / unit for count in counts]
        add_line(figure, counts, [value if math.isfinite(value) else None for value in noises], FAMILIES[name].title,
                 FAMILY_COLOURS[name], 2.5, hover=f"%{{x}} releases: %{{y:.3g}} ×<extra>{FAMILIES[name].title}</extra>")
    figure.add_vline(x=releases, line={"color": DATA, "dash": "dot"})
    where = "priority columns" if case.is_split else "every number"
    figure.update_xaxes(title="releases that share the promise")
    figure.update_yaxes(title=f"noise on {where} (× one Gaussian release)", range=[0, 3 * math.sqrt(MOST_RELEASES)])
    return Picture(styled(figure, height=380), last_words(case), """\
Gaussian noise grows with the square root of the number of releases, box noise nearly with the number itself. The box
curve is an upper bound. Noise on other columns is the same for both.""")


def width_rows(case: Case) -> list[tuple[str, str, str, str]]:
    """Return family, standard deviation, 95 % half-width and the best attacker's hits in 100, for equal noise."""
    return [(family.title, as_number(family.std(case.size, *case.promise)),
             as_number(family.half_width(case.size, *case.promise)), _right_words(family, case))
            for family in FAMILIES.values()]
