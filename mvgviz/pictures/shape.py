"""The noise on three features as an ellipsoid, what the answer might have been, and what the shape gains."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.design.sampling import sample_noise
from mvgviz.noise.sides import NoiseSide
from mvgviz.pictures import theme
from mvgviz.pictures.rule import RuleModel, iid_std
from mvgviz.pictures.sentences import clipping_words, span_words
from mvgviz.pictures.theme import Picture
from mvgviz.query.queries import Query
from mvgviz.scenario.own_units import OWN, SHARES, product_unit, to_own, unit_of, whole_scale
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_factor, as_number, in_html, in_markdown, listed
from mvgviz.trials.tasks.base import centred
from mvgviz.validation import FloatArray


class Cloud(NamedTuple):
    """One noise in a plane: its outline and draws (2 × points each), its standard deviation by feature."""

    outline: FloatArray
    draws: FloatArray
    std: FloatArray


class EllipseNumbers(NamedTuple):
    """Both clouds; each outline holds ``level`` of its draws."""

    level: float
    ours: Cloud
    iid: Cloud

    @property
    def factors(self) -> FloatArray:
        return self.ours.std / self.iid.std


def ellipse_numbers(design: NoiseDesign, iid: NoiseDesign, *, plane: tuple[int, int], level: float,
                    normals: FloatArray, of_directions: bool = False) -> EllipseNumbers:
    """Return the numbers for a plane of two coordinates or directions (of both sides: two diagonal entries)."""
    def cloud(noise: NoiseDesign) -> Cloud:
        side, kept = noise.directional_side, list(plane)
        covariance = np.diag(side.variances[kept]) if of_directions else side.covariance_of(kept)
        if noise.mode == "both":  # the same on the other side; entry by entry
            covariance = covariance * covariance
        return Cloud(theme.ellipse_outline(covariance, level), np.linalg.cholesky(covariance) @ normals,
                     np.sqrt(np.diag(covariance)))

    return EllipseNumbers(level, cloud(design), cloud(iid))


def ellipse_picture(numbers: EllipseNumbers, names: tuple[str, str]) -> Picture:
    """The noise on two coordinates: both outlines and both clouds on axes of one scale."""
    figure = go.Figure()
    for label, colour, dash, cloud in (("equal noise", theme.IID, "dash", numbers.iid),
                                       ("directional noise", theme.DIRECTIONAL, "solid", numbers.ours)):
        theme.add_dots(figure, cloud.draws[0], cloud.draws[1], label, theme.wash(colour, 0.35), 4, hover=None,
                       showlegend=False)
        theme.add_line(figure, cloud.outline[0], cloud.outline[1], f"{label}, {100 * numbers.level:.0f} % of draws",
                       colour, 3, dash)
    reach = 1.25 * float(np.abs(np.hstack([numbers.ours.outline, numbers.iid.outline])).max())
    figure.update_xaxes(title=f"noise on {in_html(names[0])}", range=[-reach, reach])
    figure.update_yaxes(title=f"noise on {in_html(names[1])}", range=[-reach, reach], scaleanchor="x", scaleratio=1)
    return Picture(theme.styled(figure), ellipse_words(numbers.factors, names),
                   "Each outline holds 95 % of the noise; the points are the same random draws through both shapes. "
                   "Both give the same privacy.")


OUTCOMES, _CORNER = 30, 24
_RADIUS_95 = 2.795483482915108  # root of the 0.95 quantile of chi-square with 3 degrees of freedom


def ellipsoid_points(covariance: FloatArray) -> FloatArray:
    """Return the surface that holds 95 % of a centred normal: 3 × 25 × 49."""
    values, vectors = np.linalg.eigh(covariance)
    polar, turn = np.meshgrid(np.linspace(0, math.pi, 25), np.linspace(0, 2 * math.pi, 49), indexing="ij")
    ball = np.stack([np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn), np.cos(polar)])
    return np.asarray(np.einsum("ij,jkl->ikl", vectors * (_RADIUS_95 * np.sqrt(np.maximum(values, 0.0))), ball))


def ellipsoid_picture(setup: Setup, chosen: Sequence[int], names: Sequence[str]) -> Picture:
    """The noise on three features: directional noise solid, equal noise as a net, so that colours do not mix."""
    design, column, figure = setup.design, chosen[-1], go.Figure()
    covariance, labels = design.directional_side.covariance_of(list(chosen)), [in_html(names[k]) for k in chosen]
    on, own, units = "", np.ones(3), [""] * 3
    if design.mode == {1: "rows", 2: "both"}.get(setup.query.degree):
        own, units = to_own(setup)[list(chosen)], [unit_of(setup, k) for k in chosen]
    if design.mode == "both":  # entries of one column
        covariance = covariance * design.directional_side.covariance_of([column])[0, 0]
        labels = [f"{label} × {labels[-1]}" for label in labels]
        on = f" in the column {in_markdown(names[column])}"
        own, units = own * own[-1], [product_unit(unit, units[-1]) for unit in units]
    std = np.sqrt(np.diag(covariance))
    ours, ball = (own[:, None, None] * ellipsoid_points(each)
                  for each in (covariance, np.eye(3) * iid_std(setup.iid, column) ** 2))
    figure.add_surface(x=ours[0], y=ours[1], z=ours[2], opacity=0.6, showscale=False, name="directional noise",
                       colorscale=[[0, theme.DIRECTIONAL], [1, theme.DIRECTIONAL]], hoverinfo="name", showlegend=True)
    net = net_lines(ball)
    figure.add_scatter3d(x=net[0], y=net[1], z=net[2], name="equal noise", hoverinfo="name",
                         **theme.stroke(theme.IID, 4))
    reach = 1.05 * own * float((np.abs(np.stack([ours, ball])) / own[:, None, None]).max())
    titles = [f"{label} ({in_html(unit)})" if unit else label for label, unit in zip(labels, units, strict=True)]
    axes = {f"{axis}axis": {"title": {"text": f"noise on {name}"}, "range": [-end, end], "exponentformat": "power"}
            for axis, name, end in zip("xyz", titles, reach.tolist(), strict=True)}
    figure.update_layout(scene={**axes, "aspectmode": "cube"})
    sizes = [f"{as_number(part)} {in_markdown(unit) * (OWN not in unit)}".rstrip() + f" on {in_markdown(names[k])}"
             for part, unit, k in zip(std * own, units, chosen, strict=True)]
    return Picture(theme.styled(figure, height=460), f"**Typical error{on}: {listed(sizes)}.**",
        "Each surface holds 95 % of the noise on three features. Turn it with the mouse.")


def net_lines(points: FloatArray) -> FloatArray:
    """Every fourth circle of latitude and longitude on a surface, as one line with gaps: 3 × points."""
    gap = np.full((3, 1), np.nan)
    lines = [*points[:, ::4].transpose(1, 0, 2), *points[:, :, ::4].transpose(2, 0, 1)]
    return np.concatenate([part for line in lines for part in (line, gap)], axis=1)


def leading_components(matrices: FloatArray) -> FloatArray:
    """Return the first principal component of each symmetrised matrix, trials × size, signs aligned."""
    symmetric = (matrices + matrices.transpose(0, 2, 1)) / 2
    vectors = np.linalg.eigh(symmetric)[1][:, :, -1]
    signs = np.where(vectors @ vectors[0] < 0, -1.0, 1.0)
    return vectors * signs[:, None]


_VERDICTS = ((0.3, "The answer stands out clearly"), (0.7, "The answer shows through the noise"),
             (1.5, "Noise and answer are about equal"), (math.inf, "The noise drowns the answer"))


def outcomes_picture(setup: Setup) -> Picture:
    """The true answer first, then 30 releases that might have been, as frames."""
    design, rng = setup.design, np.random.default_rng([setup.scenario.seed, 3])
    truth = setup.query.value[:_CORNER, :_CORNER]
    sides = [np.linalg.cholesky(corner(side, _CORNER)) for side in (design.row_side, design.col_side)]
    rows, cols = truth.shape
    noise = (sample_noise(design, rng=rng, trials=OUTCOMES)[:, :rows, :cols] if design.blocks else
             np.asarray(sides[0] @ rng.standard_normal((OUTCOMES, rows, cols)) @ sides[1].T))
    ratio = root_mean_square(noise) / (root_mean_square(truth) or 1.0)
    figure = plot_outcomes(truth, truth + noise, *(labels[:_CORNER] for labels in answer_labels(setup.query)))
    verdict = next(words for most, words in _VERDICTS if ratio <= most)
    return Picture(figure, (
        f"**{verdict}.** The noise is {as_factor(ratio)} the answer (root mean square, "
        f"{truth.shape[0]} × {truth.shape[1]} shown). Press play for 30 possible releases. The first picture "
        "is the true answer: not private."))


def answer_labels(query: Query) -> tuple[list[str], list[str]]:
    """Return the rows and columns of an answer by name; none where they are only counted."""
    names = [in_html(name) for name in query.row_names or ()]
    cols = [in_html(name) for name in query.col_names or ()]
    return names, names if query.symmetric else ["mean"] if query.is_mean else cols


def corner(side: NoiseSide, most: int) -> FloatArray:
    """Return the covariance of the first coordinates alone."""
    return side.covariance_of(list(range(min(side.size, most))))


def root_mean_square(values: FloatArray) -> float:
    """Return the root of the mean square."""
    return float(np.sqrt((values**2).mean()))


def plot_outcomes(truth: FloatArray, draws: FloatArray, row_labels: list[str], col_labels: list[str]) -> go.Figure:
    """Each draw as a frame; rows and columns by their names, or counted from 1."""
    reach = float(np.quantile(np.abs(draws), 0.99)) or 1.0
    frames = [go.Frame(data=[go.Heatmap(z=draw)], name=f"draw {i + 1}") for i, draw in enumerate(draws)]
    figure = go.Figure(theme.heat_map(truth, reach, "answer", signed=True), frames=frames)
    rows, cols = (labels or [str(k + 1) for k in range(size)]
                  for labels, size in zip((row_labels, col_labels), truth.shape, strict=True))
    figure.update_yaxes(autorange="reversed", title="row", **theme.named_ticks(rows))
    figure.update_xaxes(title="column", **theme.named_ticks(cols))
    return _playable(figure)


def component_picture(setup: Setup) -> Picture:
    """The loadings of the first principal component: the true ones, then those of 30 releases."""
    query, rng = setup.query, np.random.default_rng([setup.scenario.seed, 3])
    answers = np.concatenate([query.value[None], query.value + sample_noise(setup.design, rng=rng, trials=OUTCOMES)])
    truth, *drawn = leading_components(centred(answers) if query.has_constant else answers)
    frames = [go.Frame(data=[go.Bar(y=loadings)], name=f"draw {i + 1}") for i, loadings in enumerate(drawn)]
    figure = go.Figure(go.Bar(x=list(range(len(truth))), y=truth, marker={"color": theme.DIRECTIONAL}), frames=frames)
    figure.update_xaxes(title="feature", **theme.named_ticks(answer_labels(query)[0][: len(truth)]))
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
    std = np.sqrt(np.outer(*(np.diag(corner(side, most)) for side, most in (
        (design.row_side, theme.MOST_ROWS), (design.col_side, theme.MOST_COLS)))))
    rows, cols = std.shape
    equal = math.sqrt(float(corner(setup.iid.row_side, 1)[0, 0] * corner(setup.iid.col_side, 1)[0, 0]))
    unit = SHARES.get(setup.query.degree, "")
    whole = whole_scale(setup)[:rows, :cols] / 100 if unit else np.ones((1, 1))
    std, equals = std / whole, equal / whole
    low, high = float(std.min()), float(std.max())
    part = f" (the first {rows} × {cols})" if (rows, cols) != (design.rows, design.cols) else ""
    verdict = ("Every entry has the same noise" if high <= low * (1 + 1e-9) else
               f"The noisiest entry has {as_factor(high / low)} the noise of the quietest")
    both = " Row and column noise multiply: entry (i, j) has variance vᵢ vⱼ." if design.mode == "both" else ""
    row_labels, col_labels = answer_labels(setup.query)
    return Picture(
        theme.plot_matrix(std, row_labels=row_labels[:rows], col_labels=col_labels[:cols], row_title="row",
                          col_title="column", value_title=f"typical error (standard deviation)<br>{unit}"),
        f"**{verdict}.** Typical error from {as_number(low)} to {as_number(high)} {unit}{part}, equal noise "
        f"{span_words(equals)}.{both}").adding(clipping_words(setup, name=in_markdown))


def covariance_picture(side: NoiseSide, name: str, labels: list[str]) -> Picture:
    """Draw the covariance of one side of the noise; ``name``: its symbol and side."""
    shown = labels[:theme.MOST_ROWS]
    figure = theme.plot_matrix(corner(side, theme.MOST_ROWS), row_labels=shown, col_labels=shown, row_title="",
                               col_title="", value_title="covariance", height=300)
    return Picture(figure, f"**The noise of each feature is independent** ({name}: diagonal)." if side.is_diagonal else
                   f"**The noise of several features moves together** ({name}: off the diagonal it is not 0).")


def _playable(figure: go.Figure) -> go.Figure:
    step = {"frame": {"duration": 400, "redraw": True}, "transition": {"duration": 0}, "fromcurrent": True}
    stop = {"frame": {"duration": 0, "redraw": False}, "mode": "immediate", "transition": {"duration": 0}}
    figure.update_layout(updatemenus=[{
        "type": "buttons", "direction": "left", "showactive": False, "x": 0, "xanchor": "left", "y": 1.02,
        "yanchor": "bottom", "pad": {"t": 0, "r": 0}, "font": {"color": theme.INK}, "bgcolor": theme.SOFT,
        "buttons": [{"label": "▶ Play", "method": "animate", "args": [None, step]},
                    {"label": "❚❚ Pause", "method": "animate", "args": [[None], stop]}]}])
    return theme.styled(figure, height=430, legend=False, top=46)


ABOUT_BOUND = ("For directional noise, records are clipped to an ellipse first; for equal noise they are not.")
ABOUT_ZERO = ("Components are about 0, not about the mean as usual. If the mean is far from 0, the first component "
              "mostly points to it.")


def coordinate_labels(setup: Setup) -> tuple[str, ...]:
    """Return what the axes of the answer are called where noise is drawn in a plane."""
    return setup.query.coordinate_names(setup.design.mode, setup.design.theta.size)


def plane_labels(noise: Setup | NoiseDesign, labels: tuple[str, ...], pair: tuple[int, int], *,
                 of_directions: bool = False, diagonal: bool = False) -> tuple[str, str]:
    """What is drawn across and up; with noise on both sides, entries of the column that is up, or on the diagonal."""
    across, up = (labels[k] for k in pair)
    design = noise if isinstance(noise, NoiseDesign) else noise.design
    if design.mode != "both" or of_directions:
        return across, up
    return f"{across} × {across if diagonal else up}", f"{up} × {up}"


def priority_and_other(setup: Setup, *, of_directions: bool = False) -> tuple[int, int]:
    """Return the first priority coordinate (or direction), or what gains most, and what pays most of the others."""
    needs = setup.scenario.needs if of_directions else setup.scenario.priority_features
    size = setup.query.own_features(setup.design.theta.size)
    ours, equal = (noise.directional_side.variances if of_directions else noise.directional_side.covariance_diagonal()
                   for noise in (setup.design, setup.iid))
    paid = np.round((ours / equal)[:size], 9)
    priority = next((k for k in needs if k < size), int(paid.argmin()))
    others = [k for k in range(size) if k not in needs and k != priority] or [k for k in range(size) if k != priority]
    return priority, max(others, key=lambda k: float(paid[k]))


def design_plane(setup: Setup) -> tuple[bool, tuple[int, int], tuple[str, str]]:
    """Return whether a report draws directions, which two, and what they are called."""
    turned = setup.scenario.needs_along == "directions"
    pair = priority_and_other(setup, of_directions=turned)
    labels = setup.direction_names if turned else coordinate_labels(setup)
    return turned, pair, plane_labels(setup, labels, pair, of_directions=turned, diagonal=True)


def ellipse_words(factors: Iterable[float], names: tuple[str, str]) -> str:
    """Say how much noise each of two coordinates (across and up) pays or gains, as multiples of equal noise."""
    (less, gains), (more, pays) = sorted(zip(factors, names, strict=True))
    if abs(less - 1) < 0.005 and abs(more - 1) < 0.005:
        return "**Equal shares:** directional noise and equal noise are the same circle."
    return (f"**Same privacy, other shape:** the noise is {as_factor(less)} equal noise on {in_markdown(gains)} and "
            f"{as_factor(more)} on {in_markdown(pays)}.")


def plane_words(model: RuleModel, iid: float, spread: float) -> str:
    """Return the noise along both axes of an ellipse against equal noise and, where there are data, their spread."""
    low, high = min(model.std), max(model.std)
    data = f" The noise is {as_factor(high / spread)} the data's own spread." if spread > 0 else ""
    return f"**{as_factor(low / iid)} equal noise along the best axis, {as_factor(high / iid)} along the worst.**{data}"


def records_words(model: RuleModel) -> str:
    """Say how the ellipse of records and that of the noise belong together."""
    if model.records == 0:
        return "Records are clipped to a ball, then compared. The noise is over records and has another shape."
    return (f"**One shape, two scales:** records are clipped to an ellipse, and the noise has its shape. Half an "
            f"axis is {as_number(model.records)} typical errors. Lines show how far records are clipped (not private).")


def rule_words(model: RuleModel, size: int, record: str = "record") -> str:
    """Say what the picture shows: when noise is private. ``record``: what neighbours differ in."""
    if model.changes is None:
        return f"What one {record} can change has no simple outline here, so you see the noise alone."
    if model.kind == "pure":
        return "**Private = the grey box inside.** On the outline, noise is e^ε times less likely than none."
    if model.kind == "theorem":
        return "**Private = every change inside.** A theorem asks for far more noise: the change box is a dot."
    if model.changes.axes:
        return "**Private = every change inside.** Records and noise share one shape, so no noise is wasted."
    if model.changes.shadow:
        return ("**Private = every change inside.** All directions of the answer together decide the privacy. You see "
                "their shadow on a plane, where the changes may stay inside the ellipse.")
    if size > 2:
        part = sum(model.theta) / (model.rest + sum(model.theta))
        return f"**Private = the whole grey area inside.** These two of {size} take {100 * part:.0f} % of the budget."
    return ("**Private = the whole grey area inside.** If the ellipse shrinks along one axis, it must grow along the "
            f"other. The outline lies {as_number(model.mu)} typical errors from the middle.")


def drag_words(model: RuleModel) -> str:
    """Say what can be moved, by mouse, finger and keys."""
    pull = ("Change the share in the sidebar" if model.kind == "pure" and (model.rough or not model.apart) else
            "These directions leave this plane: you see their shadow on it" if model.kind == "fixed" else
            "Drag a round handle to change the share" + ", the diamond to turn the ellipse" * model.can_turn)
    return f"{pull}. Drag the green ring to turn your mixture. Arrow keys move a handle in focus."
