"""Direction by direction: the noise against equal noise, the split of the precision, and what gets through."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from mvgviz.design.allocation import FLOOR, WaterFilling
from mvgviz.design.power_to_noise import is_proved
from mvgviz.labels import GUARANTEES, SPLITS
from mvgviz.noise.ties import largest_first
from mvgviz.pictures import theme
from mvgviz.pictures.sentences import clipping_words, span_words, thing
from mvgviz.pictures.theme import Picture
from mvgviz.provenance import Origin, weakest
from mvgviz.query.bounded_neighbours import BoundedColumn, BoundedOuterProduct
from mvgviz.scenario.precision_budget import BudgetTable, SplitScore, WantedNoise
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_factor, as_number, as_probability, at_most, in_html, in_markdown, listed
from mvgviz.validation import FloatArray

MOST = 40
_FEW = 24
_SURVIVES = "%{customdata[0]}: %{x:.3g} survives (log PNR), mutual information %{customdata[1]:.3g} nats"


def noise_picture(setup: Setup, table: BudgetTable) -> Picture:
    """Noise as a multiple of equal noise, a dot a direction; of more than 40, the 20 with least and 20 with most."""
    names, order = Names(setup), largest_first(-table.factor)
    drawn = list(range(table.size)) if table.size <= MOST else [*order[: MOST // 2], *order[-MOST // 2:]]
    labels, shown, few, figure = names.of_noise(drawn), table.factor[drawn], len(drawn) <= _FEW, go.Figure()
    _add_stems(figure, [1.0] * len(drawn), shown.tolist(), theme.DIRECTIONAL, width=3)
    theme.add_dots(
        figure, shown, np.arange(len(drawn)), "directional noise", theme.DIRECTIONAL, 12 if few else 8,
        mode="markers+text" if few else "markers", cliponaxis=False,
        text=[f"{factor:.2g}×" if factor < 100 else f"{factor:,.0f}×" for factor in shown.tolist()],
        textposition=["middle left" if factor < 1 else "middle right" for factor in shown.tolist()],
        customdata=[[label, float(table.std[k] * table.own[k]), in_html(table.units[k])]
                    for label, k in zip(labels, drawn, strict=True)],
        hover="%{customdata[0]}: %{x:.3g} × equal noise, typical error %{customdata[1]:.3g} %{customdata[2]}")
    theme.add_line(figure, [1, 1], [-0.6, len(drawn) - 0.4], "equal noise, same budget (1×)", theme.IID, 2, "dash")
    figure.update_xaxes(title="noise (× equal noise, log scale)", **theme.log_axis(
        min(float(shown.min()), 1.0), max(float(shown.max()), 1.0), room=0.25, least=0.12))
    part = f" The {len(drawn)} with least and most noise are drawn." if len(drawn) < table.size else ""
    equal = "equal Gaussian noise at the same ε and δ" if setup.design.blocks else "equal noise with the same guarantee"
    return Picture(_direction_rows(figure, labels), who_gains(setup, names, table) + part,
                   f"Typical error (standard deviation) along each direction, as a multiple of {equal}.")


def gains_and_pays(table: BudgetTable) -> tuple[list[int], list[int]]:
    """Return the directions with less noise than equal noise and those with more, the extremes first."""
    factors = table.factor
    return ([k for k in largest_first(-factors) if factors[k] < 0.995],
            [k for k in largest_first(factors) if factors[k] > 1.005])


def signal_picture(setup: Setup, table: BudgetTable) -> Picture | None:
    """Signal over noise, two dots a direction; None where the signal has no meaning or is 0 everywhere."""
    if table.signal is None or not table.signal.max() > 0:
        return None
    ours, iid = table.signal / table.std, table.signal / table.iid_std
    heard, figure = np.flatnonzero(table.signal > 0), go.Figure()
    shown = heard if heard.size <= MOST else np.sort(heard[largest_first(ours[heard])[:MOST]])
    names = Names(setup).labels(shown.tolist())
    _add_stems(figure, iid[shown].tolist(), ours[shown].tolist(), theme.DATA, width=2)
    for label, values, colour, symbol in (("equal noise", iid[shown], theme.IID, "circle-open"),
                                          ("directional noise", ours[shown], theme.DIRECTIONAL, "circle")):
        theme.add_dots(figure, values, np.arange(len(names)), label, colour, 10 if len(names) <= _FEW else 7, symbol,
                       edge=colour, hover=f"%{{customdata}}: %{{x:.3g}} with {label}", customdata=names)
    theme.add_line(figure, [1, 1], [-0.6, len(names) - 0.4], "signal = noise", theme.DATA, 1, "dot")
    both = [*iid[shown].tolist(), *ours[shown].tolist(), 1.0]
    figure.update_xaxes(title="signal / noise (log scale)", **theme.log_axis(min(both), max(both), room=0.08))
    part = f" The {shown.size} largest are drawn." if shown.size < table.size else ""
    signal = ("the answer's own entry along the direction" if setup.query.degree == 2 and setup.query.of_all_features
              else "the root mean square of the values along the direction")
    return Picture(
        _direction_rows(figure, names),
        f"**Signal above noise** in {(ours > 1).sum()} of {table.size} directions "
        f"(equal noise: {(iid > 1).sum()}).{part}",
        f"Signal: {signal}. Noise: its standard deviation there. Right of the line the signal is larger.")


def _add_stems(figure: go.Figure, starts: Sequence[float], ends: Sequence[float], colour: str, *, width: int) -> None:
    theme.add_line(figure, [x for pair in zip(starts, ends, strict=True) for x in (*pair, None)],
                   [y for row in range(len(ends)) for y in (row, row, None)], "", colour, width, hover=None,
                   showlegend=False)


def _direction_rows(figure: go.Figure, names: list[str]) -> go.Figure:
    rows = len(names)
    figure.update_yaxes(**theme.row_axis(names, 12 if rows <= _FEW else 11))
    height = min(max(110 + rows * (34 if rows <= 8 else 24 if rows <= _FEW else 13), 230), 700)
    return theme.styled(figure, height=height, top=30)


_MOST_IN_BAR = 12
_THIN, _SKY, _ROOM = 0.1, 1.7, 1.15
_UNITS = {"exact": "height (part of μ²)", "relaxed": "height (inverse variance)", "unrelaxed": "inverse noise variance"}
_WEIGHED = "inverse noise variance × reach²"


def split_picture(setup: Setup, table: BudgetTable) -> Picture:
    """Each direction's share of the precision beside equal shares, of the largest and of all others as one."""
    names, theta, equal = Names(setup), table.theta, 1 / table.size
    what = "ε" if setup.design.is_pure else "the precision"
    shown = list(range(table.size)) if table.size <= _MOST_IN_BAR else largest_first(theta)[: _MOST_IN_BAR - 1]
    parts = [(name, share, 1) for name, share in zip(names.labels(shown), theta[shown].tolist(), strict=True)]
    if others := table.size - len(shown):
        parts.append((f"the other {others:,}", max(1 - float(theta[shown].sum()), 0.0), others))
    figure = go.Figure()
    for name, share, count in parts:
        colour = theme.DIRECTIONAL if share > count * equal * (1 + 1e-9) else theme.WEAK
        figure.add_bar(x=[100 * share, 100 * count * equal], y=["this split", "equal shares"], orientation="h",
                       name=name, text=[f"{name}<br>{percent(share)}", ""], textposition="inside", textangle=0,
                       marker={"color": [colour, theme.DATA], "line": theme.EDGE, "opacity": [1.0, 0.5]},
                       insidetextanchor="middle", hovertemplate=f"{name}: %{{x:.3g}} %<extra>%{{y}}</extra>")
    figure.update_layout(barmode="stack", bargap=0.25, uniformtext={"minsize": 11, "mode": "hide"})
    figure.update_xaxes(title=f"share of {what} (%)", range=[0, 100])
    figure.update_yaxes(autorange="reversed")
    top = float(theta.max())
    first = [k for k in range(table.size) if theta[k] > top * (1 - 1e-9)]
    takeaway = f"**Equal shares:** {percent(equal)} each." if len(first) == table.size else (
        f"**The largest share**, {percent(top)}{' each' * (len(first) > 1)}, goes to {names.few(first)}; "
        f"an equal share is {percent(equal)}.")
    shaped = " The noise has the shape of the clipping ellipse." * isinstance(
        setup.design.neighbours, BoundedColumn | BoundedOuterProduct)
    return Picture(theme.styled(figure, height=190, legend=False), takeaway,
                   f"theta: each direction's share of {what}. Strong colour: more than an equal share.{shaped}")


def percent(share: float) -> str:
    """Return 40 %, 16.7 % or 0.0021 %, never 100 % for less than all."""
    value = 100 * share
    if 99.95 <= value < 100 * (1 - 1e-12):
        return "over 99.9 %"
    return f"{value:.3g} %" if value >= 1e-4 else f"{value:.1e} %"


def plot_pnr(scores: Sequence[SplitScore]) -> go.Figure:
    """Draw dots on a log axis, one line a split, with a ring around the scenario's own."""
    rows = {split: i for i, split in enumerate(dict.fromkeys(score.split for score in scores))}
    figure = go.Figure()

    def add(some: list[SplitScore], *style: Any, **more: Any) -> None:
        theme.add_dots(figure, [score.log_pnr for score in some], [rows[score.split] for score in some], *style,
                       customdata=[[SPLITS[score.split], score.mutual_information] for score in some], **more)

    for guarantee in dict.fromkeys(score.guarantee for score in scores):
        add([score for score in scores if score.guarantee == guarantee and score.log_pnr > 0],
            GUARANTEES[guarantee].in_chart, theme.GUARANTEE_COLOURS[guarantee], 13,
            "circle" if guarantee == "exact" else "diamond", hover=_SURVIVES)
    add([score for score in scores if score.is_current], "this design", theme.DATA, 22, "circle-open", edge=theme.DATA,
        hover=None)
    positive = [score.log_pnr for score in scores if score.log_pnr > 0] or [1.0]
    figure.update_xaxes(title="information that survives<br>(log PNR in nats, log scale)",
                        **theme.log_axis(min(positive), max(positive), room=0.06))
    figure.update_yaxes(tickvals=list(rows.values()), ticktext=[SPLITS[split] for split in rows],
                        range=[len(rows) - 0.5, -0.5], zeroline=False)
    return theme.styled(figure, height=340, top=50)


class WaterNumbers(NamedTuple):
    """Heights, cut at ``top``; ``from_lowest`` ground where water is thin. ``surface`` None: no ground, no level."""

    shown: list[int]
    ground: FloatArray
    water: FloatArray
    dry: np.ndarray
    surface: float | None
    top: float
    from_lowest: bool


def water_numbers(filled: WaterFilling, *, prices: FloatArray | None = None) -> WaterNumbers:
    """Return at most 40 directions, those with the lowest ground. ``prices``: the h² of the exact form (None: ones)."""
    parts = filled.rho if prices is None else filled.rho * prices
    shown = np.sort(np.argsort(filled.depth, kind="stable")[:MOST])
    most, lowest = float(parts.max()), float(filled.depth.min())
    from_lowest = filled.level is not None and most < _THIN * (lowest + most)
    heights, surface, top = np.zeros(shown.size), None, _ROOM * most
    if filled.level is not None:
        base = lowest if from_lowest else 0.0
        surface = lowest - base + most  # who stands lowest has most water: no difference of large numbers
        heights, top = filled.depth[shown] - base, _SKY * surface
    return WaterNumbers(shown.tolist(), np.minimum(heights, top), parts[shown], filled.dry[shown], surface, top,
                        from_lowest)


def plot_water(numbers: WaterNumbers, *, names: list[str], unit: str) -> go.Figure:
    """Draw grey ground, blue water, a dashed level and marks of dry directions. ``unit``: of the heights."""
    columns, wet, figure = np.arange(len(numbers.shown)), ~numbers.dry, go.Figure()
    if numbers.surface is not None:
        figure.add_bar(x=columns, y=numbers.ground, name="ground", customdata=names,
                       marker={"color": theme.DATA, "opacity": 0.55, "line": {"width": 0}},
                       hovertemplate="%{customdata}: ground at %{y:.3g}<extra></extra>")
    figure.add_bar(x=columns[wet], y=numbers.water[wet], base=numbers.ground[wet], name="water: precision",
                   customdata=[name for name, is_wet in zip(names, wet, strict=True) if is_wet],
                   marker={"color": theme.DIRECTIONAL, "opacity": 0.9, "line": {"width": 0}},
                   hovertemplate="%{customdata}: %{y:.3g} of water<extra></extra>")
    if numbers.dry.any():
        theme.add_dots(figure, columns[numbers.dry], np.minimum(numbers.ground[numbers.dry], 0.93 * numbers.top),
                       "dry: the floor", theme.DATA, 8, "x")
    if numbers.surface is not None:
        theme.add_line(figure, [-0.5, len(columns) - 0.5], [numbers.surface] * 2, "level", theme.DIRECTIONAL, 2, "dash")
    figure.update_layout(barmode="overlay", bargap=0.04)
    figure.update_xaxes(tickvals=columns.tolist(), ticktext=names, showgrid=False, range=[-0.5, len(columns) - 0.5])
    figure.update_yaxes(title="height above the lowest ground" if numbers.from_lowest else unit,
                        range=[0, numbers.top], zeroline=False)
    return theme.styled(figure, height=340, top=40)


class Names:
    """Names of directions; "record 10001" beyond the names that are kept."""

    def __init__(self, setup: Setup) -> None:
        self._names, self._both = setup.direction_names, setup.design.mode == "both"

    def __call__(self, k: int) -> str:
        if k < len(self._names):
            return self._names[k]
        kind, _, number = self._names[-1].rpartition(" ")
        return f"{kind if number == str(len(self._names)) else 'number'} {k + 1}"

    def labels(self, shown: Sequence[int]) -> list[str]:
        """Return names for a chart's axis, short and escaped."""
        return [short_label(self(k)) for k in shown]

    def of_noise(self, shown: list[int]) -> list[str]:
        """Return names for a chart of noise; with noise on both sides, of each direction with itself."""
        return [" × ".join([short_label(self(k), 11)] * 2) for k in shown] if self._both else self.labels(shown)

    def few(self, positions: list[int]) -> str:
        """Return three or four names for a sentence, and count the others."""
        names, more = [in_markdown(self(k)) for k in positions[:4]], len(positions) - 3
        return f"{', '.join(names[:3])} and {more:,} more" if more > 1 else listed(names)


def short_label(name: str, longest: int = 22) -> str:
    """Return a name from a file, cut to what an axis can hold and escaped."""
    return in_html(name if len(name) <= longest else f"{name[: longest - 1]}…")


def promise(setup: Setup) -> str:
    """Return what every split has in common: the guarantee."""
    care = "" if weakest(setup.origins.values()).is_covered else (
        " It covers the noise, not what was read from the data.")
    delta = 0 if setup.design.is_pure else as_probability(setup.delta)
    return (f":material/shield: **The guarantee stays the same with every split:** ε = {setup.scenario.epsilon:g}, "
            f"δ = {delta} for {setup.neighbour_rule}.{care}")


def who_gains(setup: Setup, names: Names, table: BudgetTable) -> str:
    """Return names and factors of the directions with less and with more noise than equal noise."""
    (gains, pays), factors = gains_and_pays(table), table.factor
    if not gains and not pays:
        return "**Nobody gains and nobody pays:** this is equal noise."
    gain = (f"**Gain:** {names.few(gains)}, with {span_words(factors[gains], as_factor)} equal noise." if gains else
            "**Nobody gains.**")
    pay = f"**Pay:** {names.few(pays)}, with {span_words(factors[pays], as_factor)}." if pays else ""
    why = "" if gains else (
        "For this shape only an upper bound of the worst neighbours is known, and the noise covers it."
        if setup.design.mu_is != "exact" else "Finding the directions privately cost a part of the budget."
        if setup.scenario.directions == "private" else
        f"One {thing(setup)} can change the answer just where the noise is lowest, so no direction gains.")
    return " ".join(filter(None, [gain, pay, why, clipping_words(setup, name=in_markdown)]))


def loadings_picture(setup: Setup) -> Picture:
    """Which features each direction is made of."""
    loadings = setup.design.directional_side.directions.matrix
    features = setup.query.coordinate_names(setup.design.mode, setup.design.theta.size)
    drawn = theme.top_left(loadings)
    first = largest_first(setup.design.theta)[0]
    parts = [f"{in_markdown(features[i])} ({loadings[i, first]:+.2f})"
             for i in largest_first(abs(loadings[:, first]))[:2]]
    return Picture(
        theme.plot_matrix(drawn, row_labels=[short_label(name) for name in features[:len(drawn)]], row_title="feature",
                          col_labels=[str(k + 1) for k in range(drawn.shape[1])], col_title="direction",
                          value_title="loading"),
        f"**Direction {first + 1}**, with the largest share, is mostly {' and '.join(parts)}."
        f"{theme.part_words(drawn.shape, loadings.shape)}",
        "Each column is a direction of length 1; its entries say how much of each feature it holds.")


def pnr_picture(setup: Setup, scores: Sequence[SplitScore]) -> Picture:
    """Which split lets most through, under one guarantee or under both."""
    exact = ("Exact maximises the ratio of the privately released spectrum, not the one shown."
             if setup.design.directions_origin is Origin.PAID else
             "Exact maximises the ratio shown." if is_proved(setup.design) else
             "Exact searches for the largest ratio; nothing proves that it is the largest.")
    said = []
    for guarantee in reversed(dict.fromkeys(score.guarantee for score in scores)):
        some = [score for score in scores if score.guarantee == guarantee]
        best, equal = max(some, key=lambda score: score.log_pnr), next(one for one in some if one.split == "uniform")
        gains = best.log_pnr > equal.log_pnr * (1 + 1e-6)
        said.append(f"Log PNR, {GUARANTEES[guarantee].in_chart}: "
                    f"{f'{as_number(best.log_pnr)} ({SPLITS[best.split]}), ' * gains}{as_number(equal.log_pnr)} "
                    "(equal shares).")
        if len(said) == 1:
            verdict = (f"Most information survives with: {SPLITS[best.split]}" if gains else
                       "No split beats equal shares here")
    return Picture(
        plot_pnr(scores), f"**{verdict}.** {' '.join(said)}",
        "PNR, the power-to-noise ratio: how much the answer stands out from the noise, over all directions at once. "
        f"**For Gaussian answers only**, half its logarithm is the mutual information of both answers. {exact}")


def water_picture(setup: Setup, filled: WaterFilling, *, prices: FloatArray | None, form: str, guarantee: str
                  ) -> Picture:
    """The water filling behind a form of max-PNR; ``prices`` are the h² of the exact form."""
    names, numbers = Names(setup), water_numbers(filled, prices=prices)
    weighed = form == "exact" and filled.level is None
    figure = plot_water(numbers, names=names.labels(numbers.shown), unit=_WEIGHED if weighed else _UNITS[form])
    dry = filled.dry.nonzero()[0].tolist()
    who = (f"**{len(dry)} of {filled.dry.size} dry:** {names.few(dry)} gets almost nothing, {FLOOR:g} of an equal part."
           if dry else "**Nobody is dry:** every direction gets water.")
    level = "There is no common level." if filled.level is None else f"Level: {as_number(filled.level)}."
    source = (" Spectrum from the private release: its cost is in the budget."
              if setup.design.directions_origin is Origin.PAID else "")
    return Picture(figure, f"{who} {level}{source}", f"""\
The paper's best split (max-PNR) pours the budget like water over uneven ground, which is high where the data's second \
moment is small (exact form: where other directions already tell most). Guarantee: {GUARANTEES[guarantee].in_chart}.""")


def smallest_words(setup: Setup, wanted: WantedNoise, directions: int) -> str:
    """Return the smallest epsilon for the wanted noise along so many directions, and what the others pay."""
    others = setup.design.theta.size - directions
    price = f" **The price: almost no precision is left on other directions ({others:,}).**" if others else ""
    bound, delta = ("", "0") if setup.design.is_pure else (at_most(setup.design.mu_is), as_probability(setup.delta))
    return (f"**The smallest ε for this noise: {bound}{as_number(wanted.priority)}**, at δ = {delta}, by the exact "
            f"limit (now {setup.scenario.epsilon:g}).{price}")
