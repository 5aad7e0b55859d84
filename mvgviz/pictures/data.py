"""Histograms of the features, lengths of the records, and where the sensitivity comes from."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from mvgviz.data.recognise import Identifier
from mvgviz.pictures.sentences import RANGES_READ, neighbour_words
from mvgviz.pictures.shape import answer_labels
from mvgviz.pictures.theme import DATA, DIRECTIONAL, Picture, part_words, plot_matrix, styled, top_left, upright
from mvgviz.query.dataset import Dataset
from mvgviz.query.frames import DAYS, date_text
from mvgviz.query.queries import ADDED_RECORD, FLIPPED_EDGE, REPLACED_RECORD, Query
from mvgviz.query.record_bound import RecordBound
from mvgviz.query.worst_pairs import WorstPair
from mvgviz.release.intervals import DataUnits
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_factor, as_number, in_html, in_markdown
from mvgviz.trials.simulated import BoundCost
from mvgviz.validation import FloatArray

_BINS, _LENGTH_BINS, _ACROSS = 24, 30, 3
_PANEL, _BETWEEN = 125, 46  # pixels; between two rows stand the ends of a range and the next name


def histograms_picture(data: Dataset, positions: Sequence[int]) -> Picture:
    """Draw some features over 24 equal bins of their ranges, one panel each."""
    rows = -(-len(positions) // _ACROSS)
    figure = make_subplots(rows=rows, cols=_ACROSS, subplot_titles=[in_html(data.features[k]) for k in positions],
                           vertical_spacing=_BETWEEN / (_PANEL * rows), horizontal_spacing=0.1)
    for i, k in enumerate(positions):
        where = {"row": i // _ACROSS + 1, "col": i % _ACROSS + 1}
        ends = [float(data.lower[k]), float(data.upper[k])]
        shown: Callable[[float], str] = date_text if data.units[k] == DAYS else "{:.4g}".format
        counts, edges = np.histogram(data.matrix[k], bins=_BINS, range=(ends[0], ends[1]))
        middles = (edges[1:] + edges[:-1]) / 2
        figure.add_bar(x=middles, y=counts, width=(ends[1] - ends[0]) / _BINS, customdata=list(map(shown, middles)),
                       marker={"color": DIRECTIONAL, "line": {"width": 0}},
                       hovertemplate="%{y:,} records near %{customdata}<extra></extra>", **where)
        figure.update_xaxes(range=ends, tickvals=ends, ticktext=list(map(shown, ends)), **where)
    figure.update_yaxes(showticklabels=False, showgrid=False)
    figure.update_annotations(font_size=12)
    figure.update_layout(bargap=0)
    used = np.ptp(data.matrix[list(positions)], axis=1) / data.widths[list(positions)]
    return Picture(styled(figure, height=max(_PANEL * rows + 30, 200), legend=False, top=26), (
        f"**{data.n_features} feature{'s' * (data.n_features > 1)} × {data.n_records:,} records**. "
        f"{in_markdown(data.features[positions[used.argmin()]])} fills only {100 * used.min():.0f} % of its range."), (
        "Wider ranges need more noise." + RANGES_READ * (not data.ranges_origin.is_covered)))


def record_columns(data: Dataset, most: int) -> dict[str, list[float] | list[str]]:
    """Return the first records as columns of a table, dates as dates."""
    return {name: list(map(date_text, row)) if unit == DAYS else row.tolist()
            for name, unit, row in zip(data.features, data.units, data.matrix[:, :most], strict=True)}


def answer_picture(query: Query, own: DataUnits | None = None, units: Sequence[str] = ()) -> Picture:
    """Draw the true answer; ``own``: the way to the data's units, if any; ``units``: of a mean."""
    shown, (rows, cols) = top_left(query.value), answer_labels(query)
    inside = "" if query.bound is None else " after clipping"
    return Picture(
        plot_matrix(shown, row_labels=rows[: shown.shape[0]], col_labels=cols[: shown.shape[1]],
                    row_title="feature" if rows else "row", value_title="true answer",
                    in_units=None if own is None else top_left(own.of(query.value)),
                    days=[unit == DAYS for unit in units[: shown.shape[0]]] if own is not None else (),
                    col_title="feature" if query.symmetric and rows else "record" if query.is_table else ""),
        f"**The true answer{inside}**, {query.rows:,} × {query.cols:,}.{part_words(shown.shape, query.value.shape)}")


def change_picture(query: Query, pair: WorstPair, own: DataUnits | None = None) -> Picture:
    """Draw the difference of the two neighbours whose answers lie furthest apart."""
    shown, rows = top_left(pair.difference), answer_labels(query)[0]
    almost = "" if pair.attained > 0.999 else (
        f" (the worst found; the noise allows for {as_number(query.sensitivity)})")
    return Picture(
        plot_matrix(shown, row_labels=rows[: shown.shape[0]], height=300, value_title="change of the answer",
                    col_labels=rows[: shown.shape[1]] if query.symmetric else [],
                    in_units=None if own is None else top_left(own.widths(pair.difference)),
                    row_title="feature" if rows else "row",
                    col_title="feature" if rows and query.symmetric else "column"),
        f"**What one record can change:** {pair.words}; the answer moves by "
        f"{as_number(query.sensitivity * pair.attained)}{' on the normalised scale' * (own is not None)}{almost}.",
        f"They follow from the ranges and the clipping bound.{RANGES_READ * (not query.ranges_origin.is_covered)}")


class LengthNumbers(NamedTuple):
    """Counts of records over equal bins from 0 to the ``longest`` that the ranges allow (or the radius)."""

    edges: FloatArray
    counts: FloatArray
    radius: float
    longest: float
    clipped: int


def length_numbers(table: Dataset, bound: RecordBound) -> LengthNumbers:
    """Count the lengths of a table's records in the bound's coordinates; no bin lies on both sides of the radius."""
    ellipse = bound.ellipse(table.n_features)
    longest, radius = ellipse.longest(table.lower, table.upper), bound.radius
    inside = min(max(round(_LENGTH_BINS * radius / max(longest, radius)), 1), _LENGTH_BINS)
    edges = np.linspace(0, radius, inside + 1)
    if longest > radius:
        edges = np.append(edges, np.linspace(radius, longest, max(_LENGTH_BINS - inside, 1) + 1)[1:])
    counts, _ = np.histogram(np.minimum(ellipse.lengths(table.matrix), edges[-1]), bins=edges)
    return LengthNumbers(edges, counts.astype(np.float64), radius, longest, bound.count_outside(table))


def lengths_picture(numbers: LengthNumbers, records: int, *, chosen: bool, joined: bool = False) -> Picture:
    """Lengths of records: clipped ones in grey, a line at the bound. ``joined``: with a constant."""
    middles, widths = (numbers.edges[1:] + numbers.edges[:-1]) / 2, np.diff(numbers.edges)
    inside = middles <= numbers.radius
    figure = go.Figure()
    for part, name, colour in ((inside, "inside the bound", DIRECTIONAL), (~inside, "clipped", DATA)):
        figure.add_bar(x=middles[part], y=numbers.counts[part], width=widths[part], name=name,
                       marker={"color": colour, "line": {"width": 0}},
                       hovertemplate="%{y:,} records of length about %{x:.3g}<extra></extra>")
    figure.add_shape(**upright(numbers.radius, DIRECTIONAL, "dash", width=2.5))
    what = f"length of a record ({'constant included' if joined else '1 = an evenly spread record'})"
    figure.update_xaxes(title=what, range=[0, float(numbers.edges[-1])])
    figure.update_yaxes(title="records", rangemode="tozero")
    figure.update_layout(bargap=0, barmode="overlay")
    would = "are" if chosen else "would be"
    return Picture(styled(figure, height=280), (
        f"**{numbers.clipped:,} of {records:,} records {would} clipped.** The ranges allow lengths up to "
        f"{as_number(numbers.longest)}."), (
        "The length of a record is its distance from the middle of the ranges (for second moments from 0), in units of "
        "the ellipse. Records beyond the line are moved onto the ellipse, so that less noise is enough."))


def identifier_words(found: Sequence[Identifier]) -> list[str]:
    """Return a sentence for each column that identifies records instead of measuring something."""
    return [f"**{in_markdown(each.name)} " + (
        "numbers the records**: leave it out." if each.numbers_records else
        "looks like an identifier**: leave it out." if each.most <= 1 else
        f"looks like an identifier: one value occurs {each.most:,} times.** If it names a person, say so under *Who "
        f"is a person*. Else that person's privacy is up to {each.most:,} times weaker (in μ).") for each in found]


def cost_words(setup: Setup, cost: BoundCost, *, chosen: bool, on_data: bool) -> str:
    """Compare the noise with clipping and without; say how far clipping moves the answer, ``on_data``: there too."""
    offered = "" if chosen else "If you clip records to a typical size: "
    priority = " on priority columns" * bool(setup.scenario.needs)
    one_sided = ", all on one side of the middle" if setup.query.is_mean else ""
    found = [f"On {where}, bias alone is {as_factor(bias / cost.without)}, with noise {as_factor(cost.together(bias))}."
             for where, bias in ((f"simulated records{one_sided}", cost.bias),
                                 *[("the data itself (not private)", cost.data_bias)] * on_data)]
    return (f"{offered}**Noise{priority}: {as_factor(cost.noise / cost.without)} the noise without clipping.** "
            f"Clipping adds a bias. {' '.join(found)}")


def cost_warning(setup: Setup, cost: BoundCost) -> str | None:
    """Return a warning where clipping costs more than it saves, else None."""
    on_both = [not cost.pays(cost.bias), not cost.pays(cost.data_bias)]
    if not any(on_both):
        return None
    where = "" if all(on_both) else " on simulated records" if on_both[0] else " on the data itself (not private)"
    return (f"**For {setup.query.in_sentence} of {setup.dataset.n_records:,} records clipping costs more than "
            f"the noise it saves{where}.** More records shrink the noise, not the bias."
            + " A regression hardly feels it." * setup.query.has_constant)


def derivation(query: Query) -> tuple[tuple[str, str], str]:
    """Return two lines of LaTeX and a sentence."""
    body, bounded, rule = query.neighbours, query.bound is not None, query.neighbour_rule
    added = getattr(body, "added", False)
    found = query.derivations[("added " * added + "bounded" * bounded).strip() or "plain"]
    said = [found.words] if rule in (REPLACED_RECORD, FLIPPED_EDGE) or not query.degree else []
    if rule not in (REPLACED_RECORD, FLIPPED_EDGE):
        said.insert(0, neighbour_words(rule))
    if bounded and added:
        said.append("With a clipping bound, a missing record counts as its centre.")
    if rule not in (REPLACED_RECORD, ADDED_RECORD, FLIPPED_EDGE):
        said.append("The lines describe one record; all of a person may change alike.")
    if getattr(body, "levels", ()):
        said.append("A record has one level of a category, so at most two levels change.")
    return found.lines, " ".join(filter(None, said))


def facts(query: Query) -> str:
    """Return size, sensitivities, largest norm and structure in one Markdown line."""
    same = abs(query.sensitivity - query.printed_sensitivity) <= 1e-12 * query.sensitivity
    who = "the paper computes" if query.neighbour_rule in (REPLACED_RECORD, FLIPPED_EDGE) else "the theorems use"
    printed = f"{who} {'the same' if same else as_number(query.printed_sensitivity)}"
    structure = "positive semi-definite" if query.psd else "symmetric" if query.symmetric else "not symmetric"
    return (f"Answer {query.rows:,} × {query.cols:,} · sensitivity s₂ = **{as_number(query.sensitivity)}** ({printed}) "
            f"· largest norm γ = **{as_number(query.gamma)}** · {structure}")
