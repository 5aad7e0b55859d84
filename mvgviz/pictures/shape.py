"""The noise on three features as an ellipsoid, what the answer might have been, and what the shape gains."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.design.sampling import sample_noise
from mvgviz.noise.sides import NoiseSide
from mvgviz.pictures.picture import Picture
from mvgviz.pictures.rule import RuleModel, iid_std
from mvgviz.pictures.theme import (
    DIRECTIONAL,
    IID,
    INK,
    MOST_COLS,
    MOST_ROWS,
    SOFT,
    ellipse_outline,
    heat_map,
    named_ticks,
    plot_matrix,
    stroke,
    styled,
)
from mvgviz.query.queries import Query
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_factor, as_number, in_html, in_markdown
from mvgviz.trials.tasks.base import centred
from mvgviz.validation import FloatArray


@dataclass(frozen=True, kw_only=True)
class Cloud:
    """One noise in a plane: its outline and draws (2 × points each), its standard deviation by feature."""

    outline: FloatArray
    draws: FloatArray
    std: FloatArray


@dataclass(frozen=True, kw_only=True)
class EllipseNumbers:
    """What the picture shows: outlines that hold ``level`` of the draws."""

    level: float
    ours: Cloud
    iid: Cloud

    @property
    def factors(self) -> FloatArray:
        """Directional noise as a multiple of equal noise, for each feature."""
        return self.ours.std / self.iid.std


def ellipse_numbers(design: NoiseDesign, iid: NoiseDesign, *, plane: tuple[int, int], level: float,
                    normals: FloatArray, of_directions: bool = False) -> EllipseNumbers:
    """The numbers for the plane of two coordinates, or two directions, of the directional side.

    With noise on both sides, of the two entries of the answer on its diagonal. ``normals`` (2 × points) are shared by
    both designs.
    """
    ours, other = (_cloud(noise, plane, level, normals, of_directions) for noise in (design, iid))
    return EllipseNumbers(level=level, ours=ours, iid=other)


def _cloud(noise: NoiseDesign, plane: tuple[int, int], level: float, normals: FloatArray, of_directions: bool) -> Cloud:
    side, kept = noise.directional_side, list(plane)
    covariance = np.diag(side.variances[kept]) if of_directions else side.covariance_of(kept)
    if noise.mode == "both":  # the same on the other side; entry by entry
        covariance = covariance * covariance
    return Cloud(outline=ellipse_outline(covariance, level), draws=np.linalg.cholesky(covariance) @ normals,
                 std=np.sqrt(np.diag(covariance)))


def ellipse_picture(numbers: EllipseNumbers, names: tuple[str, str]) -> Picture:
    """The noise on two coordinates: both outlines and both clouds on axes of one scale."""
    figure = go.Figure()
    for label, colour, dash, cloud in (("equal noise", IID, "dash", numbers.iid),
                                       ("directional noise", DIRECTIONAL, "solid", numbers.ours)):
        figure.add_scatter(x=cloud.draws[0], y=cloud.draws[1], mode="markers", name=label, showlegend=False,
                           hoverinfo="skip", marker={"size": 4, "color": colour, "opacity": 0.35})
        figure.add_scatter(x=cloud.outline[0], y=cloud.outline[1], hoverinfo="name",
                           name=f"{label}, {numbers.level:.0%} of draws", **stroke(colour, 3, dash))
    reach = 1.25 * float(np.abs(np.hstack([numbers.ours.outline, numbers.iid.outline])).max())
    figure.update_xaxes(title=f"noise on {in_html(names[0])}", range=[-reach, reach])
    figure.update_yaxes(title=f"noise on {in_html(names[1])}", range=[-reach, reach], scaleanchor="x", scaleratio=1)
    return Picture(styled(figure), ellipse_words(numbers.factors, names),
                   "Each outline holds 95 % of the noise; the points are the same random draws through both shapes. "
                   "Both give the same privacy.")


OUTCOMES, _CORNER = 30, 24
_RADIUS_95 = 2.795483482915108  # root of the 0.95 quantile of chi-square with 3 degrees of freedom


def ellipsoid_points(covariance: FloatArray, radius: float = _RADIUS_95) -> FloatArray:
    """The surface that holds 95 % of a centred normal: 3 × 25 × 49."""
    values, vectors = np.linalg.eigh(covariance)
    polar, turn = np.meshgrid(np.linspace(0, math.pi, 25), np.linspace(0, 2 * math.pi, 49), indexing="ij")
    ball = np.stack([np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn), np.cos(polar)])
    return np.asarray(np.einsum("ij,jkl->ikl", vectors * (radius * np.sqrt(np.maximum(values, 0.0))), ball))


def ellipsoid_picture(setup: Setup, chosen: Sequence[int], names: Sequence[str]) -> Picture:
    """The noise on three features: directional noise solid, equal noise as a net.

    Two surfaces, one through the other, would mix their colours. ``names``: of all coordinates.
    """
    design, column, figure = setup.design, chosen[-1], go.Figure()
    covariance, labels = design.directional_side.covariance_of(list(chosen)), [in_html(names[k]) for k in chosen]
    on = ""
    if design.mode == "both":  # entries of one column
        covariance = covariance * design.directional_side.covariance_of([column])[0, 0]
        labels = [f"{label} × {labels[-1]}" for label in labels]
        on = f" entries of the column {in_markdown(names[column])}"
    std = np.sqrt(np.diag(covariance))
    own, ball = ellipsoid_points(covariance), ellipsoid_points(np.eye(3) * iid_std(setup.iid, column) ** 2)
    figure.add_surface(x=own[0], y=own[1], z=own[2], opacity=0.6, showscale=False, name="directional noise",
                       colorscale=[[0, DIRECTIONAL], [1, DIRECTIONAL]], hoverinfo="name", showlegend=True)
    net = net_lines(ball)
    figure.add_scatter3d(x=net[0], y=net[1], z=net[2], name="equal noise", hoverinfo="name", **stroke(IID, 4))
    reach = 1.05 * float(max(np.abs(own).max(), np.abs(ball).max()))
    axes = {f"{axis}axis": {"title": {"text": f"noise on {name}"}, "range": [-reach, reach], "exponentformat": "power"}
            for axis, name in zip("xyz", labels, strict=True)}
    figure.update_layout(scene={**axes, "aspectmode": "cube"})
    return Picture(styled(figure, height=460), (
        f"**From {as_number(std.min())} to {as_number(std.max())}**: the typical error (standard deviation) on these "
        f"three{on}."), "Each surface holds 95 % of the noise on three features. Turn it with the mouse.")


def net_lines(points: FloatArray, every: int = 4) -> FloatArray:
    """Circles of latitude and longitude on a surface, as one line with gaps: 3 × points."""
    gap = np.full((3, 1), np.nan)
    lines = [*points[:, ::every].transpose(1, 0, 2), *points[:, :, ::every].transpose(2, 0, 1)]
    return np.concatenate([part for line in lines for part in (line, gap)], axis=1)


def leading_components(matrices: FloatArray) -> FloatArray:
    """The first principal component of each symmetrised matrix, trials × size, signs aligned."""
    symmetric = (matrices + matrices.transpose(0, 2, 1)) / 2
    vectors = np.linalg.eigh(symmetric)[1][:, :, -1]
    signs = np.where(vectors @ vectors[0] < 0, -1.0, 1.0)
    return vectors * signs[:, None]


def outcomes_picture(setup: Setup) -> Picture:
    """The true answer first, then 30 releases that might have been, as frames."""
    design, rng = setup.design, np.random.default_rng([setup.scenario.seed, 3])
    truth = setup.query.value[:_CORNER, :_CORNER]
    sides = [np.linalg.cholesky(corner(side, _CORNER)) for side in (design.row_side, design.col_side)]
    noise = np.asarray(sides[0] @ rng.standard_normal((OUTCOMES, *truth.shape)) @ sides[1].T)
    ratio = root_mean_square(noise) / (root_mean_square(truth) or 1.0)
    figure = plot_outcomes(truth, truth + noise, *(labels[:_CORNER] for labels in answer_labels(setup.query)))
    return Picture(figure, (
        f"**{_drowned_words(ratio)}.** The noise is {as_factor(ratio)} the answer (root mean square, "
        f"{truth.shape[0]} × {truth.shape[1]} shown). Press play: 30 releases that might have been; the first "
        "picture is the true answer, not private."))


def _drowned_words(ratio: float) -> str:
    if ratio > 1:
        return "The noise drowns the answer"
    return "The answer shows through the noise" if ratio > 0.3 else "The answer stands out clearly"


def answer_labels(query: Query) -> tuple[list[str], list[str]]:
    """The rows and columns of an answer by name; none where they are only counted."""
    names = [in_html(name) for name in query.row_names or ()]
    cols = [in_html(name) for name in query.col_names or ()]
    return names, names if query.symmetric else ["mean"] if query.is_mean else cols


def corner(side: NoiseSide, most: int) -> FloatArray:
    """The covariance of the first coordinates, without the rest of it."""
    return side.covariance_of(list(range(min(side.size, most))))


def root_mean_square(values: FloatArray) -> float:
    """Return the root of the mean square."""
    return float(np.sqrt((values**2).mean()))


def plot_outcomes(truth: FloatArray, draws: FloatArray, row_labels: list[str], col_labels: list[str]) -> go.Figure:
    """Each draw as a frame; rows and columns by their names, or counted from 1."""
    reach = float(np.quantile(np.abs(draws), 0.99)) or 1.0
    frames = [go.Frame(data=[go.Heatmap(z=draw)], name=f"draw {i + 1}") for i, draw in enumerate(draws)]
    figure = go.Figure(heat_map(truth, reach, "answer", signed=True), frames=frames)
    rows, cols = (labels or [str(k + 1) for k in range(size)]
                  for labels, size in zip((row_labels, col_labels), truth.shape, strict=True))
    figure.update_yaxes(autorange="reversed", title="row", **named_ticks(rows))
    figure.update_xaxes(title="column", **named_ticks(cols))
    return _playable(figure)


def component_picture(setup: Setup) -> Picture:
    """The loadings of the first principal component: the true ones, then those of 30 releases."""
    query, rng = setup.query, np.random.default_rng([setup.scenario.seed, 3])
    answers = np.concatenate([query.value[None], query.value + sample_noise(setup.design, rng=rng, trials=OUTCOMES)])
    truth, *drawn = leading_components(centred(answers) if query.has_constant else answers)
    frames = [go.Frame(data=[go.Bar(y=loadings)], name=f"draw {i + 1}") for i, loadings in enumerate(drawn)]
    figure = go.Figure(go.Bar(x=list(range(len(truth))), y=truth, marker={"color": DIRECTIONAL}), frames=frames)
    figure.update_xaxes(title="feature", **named_ticks(answer_labels(query)[0][: len(truth)]))
    figure.update_yaxes(title="loading", range=[-1.05, 1.05])
    overlap = np.abs(np.array(drawn) @ truth)
    mean = float(overlap.mean())
    about = "" if query.has_constant or query.is_graph else f" {ABOUT_ZERO}"
    return Picture(_playable(figure), (
        f"**The first component {'survives' if mean > 0.9 else 'is blurred' if mean > 0.6 else 'is lost'}.** Overlap "
        f"with the true component: {mean:.2f} on average (1 is perfect), from {overlap.min():.2f} to "
        f"{overlap.max():.2f} over 30 releases.{about}"))


def std_picture(setup: Setup) -> Picture:
    """The typical error of every entry of the answer."""
    design = setup.design
    std = np.sqrt(np.outer(np.diag(corner(design.row_side, MOST_ROWS)), np.diag(corner(design.col_side, MOST_COLS))))
    rows, cols = std.shape
    low, high = float(std.min()), float(std.max())
    equal = math.sqrt(float(corner(setup.iid.row_side, 1)[0, 0] * corner(setup.iid.col_side, 1)[0, 0]))
    part = f" (the first {rows} × {cols})" if (rows, cols) != (design.rows, design.cols) else ""
    verdict = ("Every entry has the same noise" if high <= low * (1 + 1e-9) else
               f"The noisiest entry has {as_factor(high / low)} the noise of the quietest")
    both = " Row and column noise multiply: entry (i, j) has variance vᵢ vⱼ." if design.mode == "both" else ""
    row_labels, col_labels = answer_labels(setup.query)
    return Picture(
        plot_matrix(std, row_labels=row_labels[:rows], col_labels=col_labels[:cols], row_title="row",
                    col_title="column", value_title="typical error (standard deviation)"),
        f"**{verdict}.** Typical error from {as_number(low)} to {as_number(high)}{part}, equal noise "
        f"{as_number(equal)}.{both}")


def covariance_picture(side: NoiseSide, name: str, labels: list[str]) -> Picture:
    """The covariance of one side; ``name``: what that is called."""
    figure = plot_matrix(corner(side, MOST_ROWS), row_labels=labels[:MOST_ROWS], col_labels=labels[:MOST_ROWS],
                         row_title="", col_title="", value_title="covariance", height=300)
    if side.is_diagonal:
        return Picture(figure, f"**Each has noise of its own, tied to no other** ({name}: diagonal).")
    return Picture(figure, f"**The noise of several features moves together** ({name}: off the diagonal it is not 0).")


def _playable(figure: go.Figure) -> go.Figure:
    """Play and pause, in the browser alone."""
    step = {"frame": {"duration": 400, "redraw": True}, "transition": {"duration": 0}, "fromcurrent": True}
    stop = {"frame": {"duration": 0, "redraw": False}, "mode": "immediate", "transition": {"duration": 0}}
    figure.update_layout(updatemenus=[{
        "type": "buttons", "direction": "left", "showactive": False, "x": 0, "xanchor": "left", "y": 1.02,
        "yanchor": "bottom", "pad": {"t": 0, "r": 0}, "font": {"color": INK}, "bgcolor": SOFT,
        "buttons": [{"label": "▶ Play", "method": "animate", "args": [None, step]},
                    {"label": "❚❚ Pause", "method": "animate", "args": [[None], stop]}]}])
    return styled(figure, height=430, legend=False, top=46)


ABOUT_BOUND = ("Directional noise is added to records that were pulled into an ellipse first, equal noise to records "
               "as they are.")
ABOUT_ZERO = ("Components are about 0, not about the mean: where the mean is far from 0 the first mostly points there, "
              "and is not that of a usual principal component analysis.")


def coordinate_labels(setup: Setup) -> tuple[str, ...]:
    """What the axes of the answer are called where noise is drawn in a plane."""
    return setup.query.coordinate_names(setup.design.mode, setup.design.theta.size)


def plane_labels(noise: Setup | NoiseDesign, labels: tuple[str, ...], pair: tuple[int, int], *,
                 of_directions: bool = False, diagonal: bool = False) -> tuple[str, str]:
    """What is drawn across and up; with noise on both sides, entries of the column that is up, or on the diagonal."""
    across, up = (labels[k] for k in pair)
    design = noise if isinstance(noise, NoiseDesign) else noise.design
    if design.mode != "both" or of_directions:
        return across, up
    return f"{across} × {across if diagonal else up}", f"{up} × {up}"


def needed_and_other(setup: Setup, *, of_directions: bool = False) -> tuple[int, int]:
    """The first coordinate (or direction) that is needed, or gains most, and the one that pays most of the others."""
    needs = setup.scenario.needs if of_directions else setup.scenario.needed_features
    size = setup.query.own_features(setup.design.theta.size)
    ours, equal = (noise.directional_side.variances if of_directions else noise.directional_side.covariance_diagonal()
                   for noise in (setup.design, setup.iid))
    paid = np.round((ours / equal)[:size], 9)
    needed = next((k for k in needs if k < size), int(paid.argmin()))
    others = [k for k in range(size) if k not in needs and k != needed] or [k for k in range(size) if k != needed]
    return needed, max(others, key=lambda k: float(paid[k]))


def ellipse_words(factors: Iterable[float], names: tuple[str, str]) -> str:
    """How much noise each of two coordinates (across and up) pays or gains, as multiples of equal noise."""
    (less, gains), (more, pays) = sorted(zip(factors, names, strict=True))
    if abs(less - 1) < 0.005 and abs(more - 1) < 0.005:
        return "**Equal shares:** directional noise and equal noise are the same circle."
    return (f"**Same privacy, other shape:** the noise is {as_factor(less)} equal noise on {in_markdown(gains)} and "
            f"{as_factor(more)} on {in_markdown(pays)}.")


def plane_words(model: RuleModel, iid: float, names: tuple[str, str], spread: float) -> str:
    """The noise along both axes of an ellipse against equal noise and, where there are data, their spread."""
    low, high = min(model.std), max(model.std)
    data = f" The noise is {as_factor(high / spread)} the data's own spread." if spread > 0 else ""
    return (f"**{as_factor(low / iid)} equal noise along the best axis, {as_factor(high / iid)} along the worst**, at "
            f"the same budget ({in_markdown(names[0])} against {in_markdown(names[1])}).{data}")


def records_words(model: RuleModel) -> str:
    """What the ellipse of records has to do with that of the noise."""
    if model.records == 0:
        return ("Records are pulled into a ball before they are compared; the noise of a kernel matrix is over "
                "records, and has a shape of its own.")
    return (f"**One shape, two scales:** every record is kept inside the ellipse of records, and the noise has the "
            f"same shape; half an axis of the one is {as_number(model.records)} typical errors of the other. Drag "
            "either and both follow. Dashed rectangle: the ranges. A line leads from where a record was to where it "
            "is pulled (not private).")


def rule_words(model: RuleModel, size: int, record: str = "record") -> str:
    """What the picture shows: when noise is private. ``record``: what neighbours differ in."""
    if model.changes is None:
        return f"What one {record} can change has no simple outline in this plane, so only the noise is drawn."
    if model.kind == "theorem":
        return ("**Private = every change inside.** The noise of a theorem is far larger than it has to be: all that "
                "one record can change is lost in the ellipse at the scale of privacy.")
    if model.changes.axes:
        return ("**Private = every change inside.** Records and noise share one shape, so the ellipse at the scale of "
                "privacy is the edge of what one record can change, and no noise is wasted in any direction.")
    if model.changes.shadow:
        return ("**Private = every change inside.** The privacy is decided by all directions of the answer together; "
                "this is their shadow on a plane, where the changes need not reach the ellipse.")
    if size > 2:
        part = sum(model.theta) / (model.rest + sum(model.theta))
        return (f"**Private = every corner inside.** These two of {size} take {100 * part:.0f} % of the budget, so the "
                f"ellipse is drawn at √{part:.2f} of the whole μ = {as_number(model.mu)} typical errors, where it "
                "touches the corners.")
    return ("**Private = every corner inside.** Pull the ellipse in on one side and it must swell on the other, or a "
            f"corner would stick out; it is drawn at μ = {as_number(model.mu)} typical errors (standard deviations).")


def drag_words(model: RuleModel) -> str:
    """What can be moved, by mouse, finger and keys."""
    keys = "All handles take the focus, and arrow keys move them."
    line = "The green ring turns your use."
    if model.kind == "fixed":
        return f"These directions do not lie in this plane: what is shown is their shadow on it. {line} {keys}"
    pull = "Pull a round handle to change the split of the budget"
    return f"{pull}{', turn the ellipse by its diamond' if model.can_turn else ''}. {line} {keys}"
