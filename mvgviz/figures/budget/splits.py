"""The split of the precision budget, what each split lets through (log PNR), and water filling."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from mvgviz.design.allocation import WaterFilling
from mvgviz.figures.shared.theme import DATA, DIRECTIONAL, EDGE, GUARANTEE_COLOURS, log_axis, stroke, styled
from mvgviz.labels import GUARANTEES
from mvgviz.scenario.splits import SplitScore
from mvgviz.validation import FloatArray

MOST_IN_BAR, MOST_TILES = 12, 40
_WEAK = "#8FA9BD"  # opaque, so that labels on it read in light and dark
MOST = 40
_THIN, _SKY, _ROOM = 0.1, 1.7, 1.15


def largest_directions(theta: FloatArray) -> list[int]:
    """Positions of every direction, or of more than 40 of the 39 with the largest shares."""
    if theta.size <= MOST_TILES:
        return list(range(theta.size))
    return [int(k) for k in np.argsort(-theta, kind="stable")[: MOST_TILES - 1]]


def plot_split(theta: FloatArray, shown: list[int], *, names: list[str]) -> go.Figure:
    """Strong colour: more than an equal share. ``names``: of those shown; the others are one tile."""
    return (_bar if theta.size <= MOST_IN_BAR else _treemap)(theta, shown, names)


def _bar(theta: FloatArray, shown: list[int], names: list[str]) -> go.Figure:
    figure, equal = go.Figure(), 1 / theta.size
    for name, share in zip(names, theta[shown].tolist(), strict=True):
        figure.add_bar(x=[100 * share, 100 * equal], y=["this split", "equal shares"], orientation="h", name=name,
                       marker={"color": [_colour(share, equal), DATA], "line": EDGE, "opacity": [1.0, 0.5]},
                       text=[f"{name}<br>{percent(share)}", ""], textposition="inside", insidetextanchor="middle",
                       textangle=0, hovertemplate=f"{name}: %{{x:.3g}} %<extra>%{{y}}</extra>")
    figure.update_layout(barmode="stack", bargap=0.25, uniformtext={"minsize": 11, "mode": "hide"})
    figure.update_xaxes(title="share of the precision (%)", range=[0, 100])
    figure.update_yaxes(autorange="reversed")
    return styled(figure, height=190, legend=False)


def _treemap(theta: FloatArray, shown: list[int], names: list[str]) -> go.Figure:
    labels, shares, equal = list(names), theta[shown].tolist(), 1 / theta.size
    colours = [_colour(share, equal) for share in shares]
    others = theta.size - len(shown)
    if others:
        rest = max(1 - float(theta[shown].sum()), 0.0)
        labels, shares = [*labels, f"the other {others:,}"], [*shares, rest]
        colours.append(_colour(rest / others, equal))
    figure = go.Figure(go.Treemap(
        ids=[str(i) for i in range(len(labels))], labels=labels, parents=[""] * len(labels), values=shares,
        text=[percent(share) for share in shares], textinfo="label+text", sort=True,
        marker={"colors": colours, "line": EDGE}, tiling={"pad": 1}, root={"color": "rgba(0,0,0,0)"},
        pathbar={"visible": False}, hovertemplate="%{label}: %{text} of the precision budget<extra></extra>"))
    figure.update_layout(uniformtext={"minsize": 11, "mode": "hide"})
    return styled(figure, height=260, legend=False)


def _colour(share: float, equal: float) -> str:
    return DIRECTIONAL if share > equal * (1 + 1e-9) else _WEAK


def percent(share: float) -> str:
    """40 %, 16.7 %, 0.0021 %; never 100 % for what is less."""
    value = 100 * share
    if 99.95 <= value < 100 * (1 - 1e-12):
        return "over 99.9 %"
    return f"{value:.3g} %" if value >= 1e-4 else f"{value:.1e} %"


@dataclass(frozen=True, kw_only=True)
class PnrNumbers:
    """One line a split, in order; ``scores`` by guarantee and split."""

    splits: list[str]
    scores: dict[str, dict[str, SplitScore]]

    def best(self, guarantee: str) -> SplitScore:
        """The split that lets most through."""
        return max(self.scores[guarantee].values(), key=lambda score: score.log_pnr)

    def under(self, guarantee: str) -> "PnrNumbers":
        """The splits of one guarantee alone."""
        return PnrNumbers(splits=[split for split in self.splits if split in self.scores[guarantee]],
                          scores={guarantee: self.scores[guarantee]})


def pnr_numbers(scores: tuple[SplitScore, ...]) -> PnrNumbers:
    """The scores by guarantee; splits in order of first appearance."""
    table: dict[str, dict[str, SplitScore]] = {}
    for score in scores:
        table.setdefault(score.guarantee, {})[score.split] = score
    return PnrNumbers(splits=list(dict.fromkeys(score.split for score in scores)), scores=table)


def plot_survives(numbers: PnrNumbers, *, names: dict[str, str]) -> go.Figure:
    """A bar for each split under one guarantee, the longer the better; the scenario's own in strong colour."""
    (by_split,) = numbers.scores.values()
    scores = [by_split[split] for split in numbers.splits]
    figure = go.Figure(go.Bar(
        x=[score.log_pnr for score in scores], y=[_own_name(score, names) for score in scores], orientation="h",
        marker={"color": [DIRECTIONAL if score.is_current else _WEAK for score in scores], "line": EDGE},
        text=[f"{score.log_pnr:.3g}" for score in scores], textposition="auto",
        customdata=[score.mutual_information for score in scores],
        hovertemplate="%{y}: %{x:.4g} survives (log PNR), mutual information %{customdata:.4g} nats<extra></extra>"))
    figure.update_xaxes(title="information that survives (log PNR in nats)", rangemode="tozero")
    figure.update_yaxes(autorange="reversed", automargin=True)
    return styled(figure, height=340, legend=False)


def _own_name(score: SplitScore, names: dict[str, str]) -> str:
    return f"<b>{names[score.split]}<br>(this design)</b>" if score.is_current else names[score.split]


def plot_pnr(numbers: PnrNumbers, *, names: dict[str, str]) -> go.Figure:
    """Dots on a log axis; the scenario's own split is ringed."""
    figure = go.Figure()
    rows = {split: i for i, split in enumerate(numbers.splits)}
    scores = [score for by_split in numbers.scores.values() for score in by_split.values()]
    for guarantee in numbers.scores:
        some = [score for score in scores if score.guarantee == guarantee and score.log_pnr > 0]
        figure.add_scatter(
            x=[score.log_pnr for score in some], y=[rows[score.split] for score in some], mode="markers",
            name=GUARANTEES[guarantee].in_chart,
            customdata=[[names[score.split], score.mutual_information] for score in some],
            marker={"color": GUARANTEE_COLOURS[guarantee], "size": 13,
                    "symbol": "circle" if guarantee == "exact" else "diamond"},
            hovertemplate="%{customdata[0]}: %{x:.4g} survives (log PNR),"
                          " mutual information %{customdata[1]:.4g} nats<extra></extra>")
    current = [score for score in scores if score.is_current]
    figure.add_scatter(x=[score.log_pnr for score in current], y=[rows[score.split] for score in current],
                       mode="markers", name="this design", hoverinfo="skip",
                       marker={"symbol": "circle-open", "size": 22, "color": "rgba(128,128,128,1)",
                               "line": {"width": 2}})
    positive = [score.log_pnr for score in scores if score.log_pnr > 0] or [1.0]
    figure.update_xaxes(title="information that survives<br>(log PNR in nats, log scale)",
                        **log_axis(min(positive), max(positive), room=0.06))
    figure.update_yaxes(tickvals=list(rows.values()), ticktext=[names[split] for split in rows],
                        range=[len(rows) - 0.5, -0.5], zeroline=False)
    return styled(figure, height=340, top=50)


@dataclass(frozen=True, kw_only=True, eq=False)
class WaterNumbers:
    """Heights of the directions shown. ``ground`` is cut at ``top``, where the picture ends.

    ``from_lowest``: heights are measured from the lowest ground, since the water is too thin
    to be seen from 0. ``surface`` None: no ground and no common level (the unrelaxed form).
    """

    shown: list[int]
    ground: FloatArray
    water: FloatArray
    dry: np.ndarray[Any, np.dtype[np.bool_]]
    surface: float | None
    top: float
    from_lowest: bool


def water_numbers(filled: WaterFilling, *, prices: FloatArray | None = None) -> WaterNumbers:
    """The picture of a water filling; ``prices`` are the h² of the exact form (None: ones).

    Of more than 40 directions those with the lowest ground.
    """
    parts = filled.rho if prices is None else filled.rho * prices
    shown = np.sort(np.argsort(filled.depth, kind="stable")[:MOST])
    most, lowest = float(parts.max()), float(filled.depth.min())
    from_lowest = filled.level is not None and most < _THIN * (lowest + most)
    if filled.level is None:
        heights, surface, top = np.zeros(shown.size), None, _ROOM * most
    else:
        base = lowest if from_lowest else 0.0
        surface = lowest - base + most  # who stands lowest has most water: no difference of large numbers
        heights, top = filled.depth[shown] - base, _SKY * surface
    return WaterNumbers(shown=[int(k) for k in shown], ground=np.minimum(heights, top), water=parts[shown],
                        dry=filled.dry[shown], surface=surface, top=top, from_lowest=from_lowest)


def plot_water(numbers: WaterNumbers, *, names: list[str], unit: str) -> go.Figure:
    """Grey ground, blue water, a dashed level; dry directions say so. ``unit``: of the heights."""
    columns = np.arange(len(numbers.shown))
    wet = ~numbers.dry
    figure = go.Figure()
    if numbers.surface is not None:
        figure.add_bar(x=columns, y=numbers.ground, name="ground", customdata=names,
                       marker={"color": DATA, "opacity": 0.55, "line": {"width": 0}},
                       hovertemplate="%{customdata}: ground at %{y:.4g}<extra></extra>")
    figure.add_bar(x=columns[wet], y=numbers.water[wet], base=numbers.ground[wet], name="water: precision",
                   customdata=[name for name, is_wet in zip(names, wet, strict=True) if is_wet],
                   marker={"color": DIRECTIONAL, "opacity": 0.9, "line": {"width": 0}},
                   hovertemplate="%{customdata}: %{y:.4g} of water<extra></extra>")
    if numbers.dry.any():
        figure.add_scatter(x=columns[numbers.dry], y=np.minimum(numbers.ground[numbers.dry], 0.93 * numbers.top),
                           mode="markers+text", name="dry: the floor",
                           text=["dry" if len(columns) <= 16 else ""] * int(numbers.dry.sum()),
                           textposition="bottom center", hoverinfo="name",
                           marker={"symbol": "x", "size": 8, "color": "rgba(128,128,128,1)"})
    if numbers.surface is not None:
        figure.add_scatter(x=[-0.5, len(columns) - 0.5], y=[numbers.surface] * 2, name="level", hoverinfo="name",
                           **stroke(DIRECTIONAL, 2, "dash"))
    figure.update_layout(barmode="overlay", bargap=0.04)
    figure.update_xaxes(tickvals=columns.tolist(), ticktext=names, showgrid=False, range=[-0.5, len(columns) - 0.5])
    figure.update_yaxes(title="height above the lowest ground" if numbers.from_lowest else unit,
                        range=[0, numbers.top], zeroline=False)
    return styled(figure, height=340, top=40)
