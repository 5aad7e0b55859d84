"""A talk in five slides for people who decide: one HTML file that needs no network and prints to five pages.

What is published and why noise, what an attacker gains, the answer with its error bars, who pays, the decision. The
sentences are in ``templates/slides.html``; numbers come from here, in the data's units.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from mvgviz.data import describe
from mvgviz.pictures import shape, theme
from mvgviz.pictures.budget import Names, gains_and_pays
from mvgviz.pictures.report import data_title
from mvgviz.pictures.sentences import DELTA_IS, clipping_words, noise_care, of_people, open_parts, thing
from mvgviz.pictures.strip import FIGURES, right_guesses
from mvgviz.query.frames import DAYS, date_text
from mvgviz.query.neighbours import ReplacedColumn, ReplacedOuterProduct
from mvgviz.release.intervals import LEVEL, data_units, planned_noise
from mvgviz.report.html import TEMPLATES
from mvgviz.scenario.own_units import OWN, product_unit, to_own, unit_of
from mvgviz.scenario.precision_budget import budget_table
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_factor, as_number, as_probability, listed, one_line, power
from mvgviz.validation import FloatArray

SLIDES = ("what", "attacker", "answer", "who pays", "decision")
AGAIN = (1, 2, 5, 20)
"""Numbers of releases for which the last slide gives the attacker."""
_ROWS, _NEEDED, _BARS = 5, 3, 7  # columns of an answer, of these with priority where others pay, and bars
_LONG = 7  # letters of a label
_BASES = (2.0, 4.0, 10.0, 100.0, 1e3, 1e4, 1e6, 1e9, 1e12, 1e20)
_HALF = 310  # of the plane, in pixels of a slide that is 1920 wide


class Axis(NamedTuple):
    """From ``low`` to ``high``, with ``ticks`` and what stands at each."""

    low: float
    high: float
    ticks: Sequence[tuple[float, str]]

    def at(self, value: float) -> float:
        """Return the place of a value in percent."""
        return round(min(max(100 * (value - self.low) / (self.high - self.low), 0.0), 100.0), 3)


class Row(NamedTuple):
    """One number of the answer: where both noises leave it, half its intervals, and its axis."""

    place: int
    name: str
    unit: str
    priority: bool
    at: float
    equal_at: float
    ours: float
    equal: float
    axis: Axis


def slides(setup: Setup, *, simulated: bool, left: str = "") -> list[str]:
    """Return the five slides as HTML. ``left``: a sentence on what a cap leaves, where there is one."""
    query, data, rows, what = setup.query, setup.dataset, answer_rows(setup), thing(setup)
    priority = [row for row in rows if row.priority]
    others = rows[max(len(priority), 1):]
    shown = (priority or rows[:1])[:max(_NEEDED, _ROWS - len(others))]
    shown += others[:_ROWS - len(shown)]
    spent, on_data = setup.epsilon_spent, setup.scenario.is_upload and not simulated
    text = TEMPLATES.get_template("slides.html").render(
        setup=setup, query=query, theme=theme, title=data_title(setup), simulated=simulated, on_data=on_data,
        info=None if setup.scenario.is_upload else describe(setup.scenario.data), n=f"{data.n_records:,}",
        features=listed([one_line(name) for name in data.features], 6),
        wanted=listed([one_line(name) for name in _priority(setup)], 3), what=what,
        whats={"person": "people", "edge": "ties"}.get(what, "records"),
        neighbours=setup.neighbour_rule, not_covered=listed(open_parts(setup)) if open_parts(setup) else "",
        care=noise_care(setup), moved=_moved(setup, rows[0]), right=right_guesses(setup), crowd=FIGURES,
        right_equal=right_guesses(replace(setup, query=setup.box, design=setup.iid)),
        rows=shown, first=priority or rows[:1], ratios=[row.ours / row.equal for row in priority],
        judged=priority[0].name if len(priority) == 1 else "the priority columns", hidden=len(rows) - len(shown),
        number=as_number, factor=as_factor, clipping=clipping_words(setup, on_data=on_data),
        pays=_who_pays(setup), family=setup.design.family, left=left, pure=setup.design.is_pure,
        epsilon=f"{setup.scenario.epsilon:g}", delta=as_probability(setup.delta), delta_is=DELTA_IS,
        spent=as_number(spent) if spent < 0.995 * setup.scenario.epsilon else "",
        again=[(count, right_guesses(setup, count)) for count in AGAIN])
    return (of_people(text) if what == "person" else text).split("<!-- slide -->")[1:]


def talk_html(setup: Setup, *, simulated: bool, left: str = "") -> str:
    """Return all slides as one page that needs no network: keys go on, N shows notes, a button prints five pages."""
    return TEMPLATES.get_template("talk.html").render(title=data_title(setup), style=talk_style(),
                                                  slides=slides(setup, simulated=simulated, left=left))


def talk_style() -> str:
    """Return the style of a slide; its lengths are pixels of a slide that is 1920 wide."""
    return TEMPLATES.get_template("talk.css").render(colours=theme.CSS_COLOURS)


def answer_rows(setup: Setup) -> list[Row]:
    """Return a row for each number: the priority columns first, then those that pay most."""
    names, size, data = shape.coordinate_labels(setup), setup.query.features, setup.dataset
    at, ours = _shown(setup)
    equal_at, equal = _shown(replace(setup, query=setup.box, design=setup.iid))
    paid = np.round(ours / equal, 9)[:size]
    needs = [k for k in setup.scenario.priority_features if k < size]
    first = needs or [int(paid.argmin())]
    rows = []
    for k in [*first, *sorted(set(range(size)) - set(first), key=lambda k: (-paid[k], k))]:
        ends = [place + sign * half for place, half in ((at[k], ours[k]), (equal_at[k], equal[k])) for sign in (-1, 1)]
        name, other = one_line(names[k]), one_line(names[(k + 1) % size])
        if _is_pair(setup):
            name = f"{name} – {other}"
        elif setup.query.symmetric and not setup.query.is_graph:
            name = f"{name} × {name}"
        axis = axis_of(min(ends), max(ends))
        if setup.query.degree == 1 and data.units[k:] and data.units[k] == DAYS:
            axis = axis._replace(ticks=[(tick, date_text(tick)) for tick, _ in axis.ticks[::2]])
        rows.append(Row(k, name, _unit(setup, k), k in needs, float(at[k]), float(equal_at[k]), float(ours[k]),
                        float(equal[k]), axis))
    return rows


def axis_of(low: float, high: float) -> Axis:
    """Return an axis with a little room at both ends and two to four round ticks, of one about 0 three."""
    room = 0.06 * (high - low)
    low, high = low - room, high + room
    inside = 0.92 * (high - low)  # a label at the very end would stick out
    power = 10.0 ** math.floor(math.log10(inside))
    for step in (5 * power, 2 * power, power, power / 2, power / 5):
        first, last = math.ceil((low + 0.04 * (high - low)) / step), math.floor((high - 0.04 * (high - low)) / step)
        if last - first >= 1 and (first < 0 < last or low + high > 1e-9 * high):
            break
    ticks = [k * step for k in range(first, last + 1)]
    digits, most = max(-math.floor(math.log10(step) + 1e-9), 0), max(map(abs, ticks))
    plain = digits <= 4 and most < 1e6
    exact = max(math.floor(math.log10(most / step)) + 2, 2)
    labels = [(tick, f"{tick:,.{digits}f}" if plain and tick else as_number(tick, exact)) for tick in ticks]
    long = len(ticks) > 3 and max(len(label) for _, label in labels) > _LONG
    return Axis(low, high, labels[::2] if long else labels)


def _shown(setup: Setup) -> tuple[FloatArray, FloatArray]:
    """One number of each row of the answer and half its interval, in the data's units; of a table the average."""
    query, noise = setup.query, planned_noise(setup)
    value, half = query.value, noise.half_widths()
    units = None if query.is_graph else data_units(type(query), setup.scenario.scale, setup.dataset.ranges)
    if units is not None:
        value, half = units.of(value), units.widths(half)
    if query.is_table:
        return value.mean(axis=1), half[:, 0]
    places = np.arange(query.rows)
    cols = 0 * places if not query.symmetric else (places + 1) % query.rows if _is_pair(setup) else places
    return value[places, cols], half[places, cols]


def _priority(setup: Setup) -> list[str]:
    turned = setup.scenario.needs_along == "directions"
    names = setup.direction_names if turned else shape.coordinate_labels(setup)
    return [names[k] for k in setup.scenario.needs if k < len(names)]


def _is_pair(setup: Setup) -> bool:
    """Return whether an entry on the diagonal tells nothing, so that its neighbour is shown."""
    return setup.query.is_kernel or (setup.query.is_graph and not setup.query.psd)


def _unit(setup: Setup, k: int) -> str:
    if setup.query.is_graph or setup.query.is_kernel:
        return "ties" if setup.query.is_graph else "similarity, 0 to 1"
    unit = "" if (named := unit_of(setup, k)) == OWN else named
    return {0: setup.query.unit or "units of the answer", 2: product_unit(unit, unit)}.get(setup.query.degree, unit)


def _moved(setup: Setup, row: Row) -> dict[str, Any] | None:
    """Return how far one record can move a number, and equal noise beside it; None where that has no simple form."""
    body, k = setup.box.neighbours, row.place
    if isinstance(body, ReplacedColumn):
        moved = float(body.widths[k]) / body.divisor
    elif isinstance(body, ReplacedOuterProduct):
        low, high = sorted((float(body.lower[k]) ** 2, float(body.upper[k]) ** 2))
        moved = (high - (0.0 if body.added or body.lower[k] <= 0 <= body.upper[k] else low)) / body.n_records
    elif setup.query.is_graph or setup.query.is_kernel:
        moved = 1.0
    else:
        return None
    if setup.query.degree:
        moved *= float(to_own(setup)[k]) ** setup.query.degree
    reach = moved / 2 + row.equal
    return {"moved": moved, "row": row, "axis": axis_of(-reach, reach)}


def _who_pays(setup: Setup) -> dict[str, Any] | None:
    """Return a plane with one that gains and one that pays, and bars; None where there is one number alone."""
    table, names = budget_table(setup), Names(setup)
    if table.size < 2:
        return None
    needs = [k for k in setup.scenario.needs if k < table.size]
    gains, pays = gains_and_pays(table)
    order = list(dict.fromkeys([*needs[:_NEEDED], *pays, *gains, *range(table.size)]))[:_BARS]
    factors = table.factor
    axis = _factor_axis(min(float(factors[order].min()), 0.5), max(float(factors[order].max()), 2.0))
    bars = [(f"{names(k)} × {names(k)}" if setup.design.mode == "both" else names(k), k in needs, float(factors[k]),
             axis.at(math.log(factors[k]))) for k in order]
    return {"plane": _plane(setup, table.own, table.units), "bars": bars, "axis": axis, "one": axis.at(0),
            "gains": names.few(gains) if gains else "", "pays": names.few(pays) if pays else "",
            "more": table.size - len(bars)}


def _factor_axis(low: float, high: float) -> Axis:
    """Return an axis in logarithms with at most four ticks at whole powers of a round base."""
    for base in _BASES:
        first, last = (math.floor(math.log(end, base) + 1e-9) for end in (low, high))
        ticks = [base**k for k in range(first + (base**first < low * (1 - 1e-9)), last + 1)]
        if len(ticks) <= 4:
            break
    room = 0.08 * math.log(high / low)
    return Axis(math.log(low) - room, math.log(high) + room, [
        (math.log(tick), f"{tick:g}×" if 1e-3 <= tick < 1e4 else f"{power(round(math.log10(tick)))}×")
        for tick in ticks])


def _plane(setup: Setup, own: FloatArray, units: list[str]) -> dict[str, Any]:
    """Outlines of both noises on two numbers, equal noise as wide as high; axes in the data's units."""
    turned, pair, names = shape.design_plane(setup)
    found = shape.ellipse_numbers(setup.design, setup.iid, plane=pair, level=LEVEL, normals=np.zeros((2, 1)),
                                  of_directions=turned)
    clouds = {"equal": (found.iid, replace(setup, design=setup.iid)), "ours": (found.ours, setup)}
    boxes, unit = bool(setup.design.blocks or setup.iid.blocks), found.iid.std[:, None]
    corners = np.array([[-1, 1, 1, -1], [-1, -1, 1, 1]])  # no ellipse holds 95 % of box noise; its intervals do
    outlines = {name: (corners * cloud.std[:, None] * planned_noise(each).per_row()[list(pair), None] if boxes else
                       cloud.outline) / unit for name, (cloud, each) in clouds.items()}
    reach = 1.15 * max(float(np.abs(each).max()) for each in outlines.values())
    points = {name: " ".join(f"{_HALF + _HALF * x / reach:.1f},{_HALF - _HALF * y / reach:.1f}" for x, y in each.T)
              for name, each in outlines.items()}
    factors = own[list(pair)] if turned or not setup.query.degree else to_own(setup)[list(pair)] ** setup.query.degree
    ends = reach / 1.12 * found.iid.std * factors
    return {"points": points, "names": names, "axes": [axis_of(-end, end) for end in ends.tolist()], "boxes": boxes,
            "units": [(units[k] or "mixed units") if turned else _unit(setup, k) for k in pair],
            "factors": found.factors.tolist()}
