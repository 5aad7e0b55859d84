"""The app's own pictures, a plotly figure each, for a notebook: ``mv.plot.ellipse(setup).show()``."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go

from mvgviz.design.noise_design import NoiseDesign, both_sides, calibrated
from mvgviz.errors import InputError, refuse
from mvgviz.noise.sides import NoiseSide
from mvgviz.pictures.budget import noise_picture
from mvgviz.pictures.compare import frontier_picture, ranking, ranking_picture
from mvgviz.pictures.shape import coordinate_labels, ellipse_numbers, ellipse_picture, plane_labels, priority_and_other
from mvgviz.pictures.trade_off import trade_off_picture
from mvgviz.pictures.utility import LANES, dot_numbers, metric_words, plot_dots
from mvgviz.query.base import numbered
from mvgviz.scenario.precision_budget import budget_table
from mvgviz.scenario.resolve import Setup
from mvgviz.scenario.trade_off import trade_off_of
from mvgviz.trials.results import Results
from mvgviz.trials.sweeps import frontier as curves_of
from mvgviz.validation import fraction, instance, number

__all__ = ["ellipse", "factors", "frontier", "results", "trade_off"]

_DRAWS = 250


def ellipse(noise: Setup | NoiseDesign, plane: tuple[str | int, str | int] | None = None, *, level: float = 0.95
            ) -> go.Figure:
    """Return the noise in the plane of two features, against equal noise that spends the same.

    ``plane``: across and up, by name or position; by default a priority column and another one. A design
    alone knows no names.
    """
    if isinstance(noise, Setup):
        design, equal, labels = noise.design, noise.iid, coordinate_labels(noise)
        usual = priority_and_other(noise)
    else:
        design = instance("noise", noise, NoiseDesign)
        equal = equal_noise(design)
        labels, usual = numbered("column" if design.mode == "columns" else "row", design.theta.size), (0, 1)
    refuse(not design.theta.size >= 2, "an ellipse needs at least two directions, got one")
    pair = usual if plane is None else _pair(plane, labels)
    numbers = ellipse_numbers(design, equal, plane=pair, level=fraction("level", level),
                              normals=np.random.default_rng(0).standard_normal((2, _DRAWS)))
    return ellipse_picture(numbers, plane_labels(design, labels, pair, diagonal=True)).figure


def factors(setup: Setup) -> go.Figure:
    """Direction by direction, the noise as a multiple of equal noise: who gains, who pays."""
    return noise_picture(setup, budget_table(instance("setup", setup, Setup))).figure


def trade_off(setup: Setup) -> go.Figure:
    """Return the noise on priority columns against that on other columns, over all shares of the same budget."""
    return trade_off_picture(setup, trade_off_of(instance("setup", setup, Setup))).figure


def frontier(found: Sequence[Results], *, error: float | None = None) -> go.Figure:
    """Error over epsilon, from :func:`mvgviz.sweep`, and the epsilon that each mechanism needs for one error.

    ``error`` is by default that of the first mechanism at the middle epsilon.
    """
    if not (isinstance(found, Sequence) and all(isinstance(each, Results) for each in found)):
        raise InputError("the frontier is drawn from a list of results, as sweep() gives them")
    swept = sorted(found, key=lambda each: each.scenario.epsilon)
    curves = [curve for curve in curves_of(swept) if np.isfinite(curve.means).all()]
    refuse(not curves or len(swept) < 2, "the frontier needs results at two epsilons or more, as sweep() gives them")
    middle = swept[len(swept) // 2]
    wanted = float(curves[0].means[len(swept) // 2]) if error is None else number("error", error)
    return frontier_picture(curves, error=wanted, scenario=middle.scenario, title=metric_words(middle),
                            references={each.scenario.epsilon: each.references for each in swept}).figure


def results(found: Results) -> go.Figure:
    """Trials as dots where directional and equal noise alone were tried, else all mechanisms ranked."""
    tried = [outcome for outcome in instance("results", found, Results).outcomes if outcome.errors.size]
    refuse(not tried, "there is no trial to draw: no mechanism applies, or none has been run")
    if {outcome.mechanism.key for outcome in tried} <= set(LANES):
        return plot_dots(dot_numbers(found), title=metric_words(found))
    return ranking_picture(ranking(found)).figure


def equal_noise(design: NoiseDesign) -> NoiseDesign:
    """Noise of one size everywhere that spends the same mu on the same question."""
    side, _ = calibrated(design, design.mode, NoiseSide.identity(design.directional_side.size), design.mu)
    rows, cols = both_sides(design, design.mode, side)
    return replace(design, row_side=rows, col_side=cols)


def _pair(plane: Sequence[str | int], labels: Sequence[str]) -> tuple[int, int]:
    given = tuple(plane) if isinstance(plane, Sequence) and not isinstance(plane, str) else ()
    places = [labels.index(each) if isinstance(each, str) and each in labels else each for each in given]
    match places:
        case [int(across), int(up)] if across != up and {across, up} <= set(range(len(labels))):
            return across, up
    raise InputError(f"plane must be two different names or positions among {', '.join(labels[:20])}")
