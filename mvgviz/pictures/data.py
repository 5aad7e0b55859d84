"""Histograms of the features, lengths of the records, and where the sensitivity comes from."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from mvgviz.data.recognise import Identifier
from mvgviz.labels import BOUNDS
from mvgviz.pictures.picture import Picture
from mvgviz.pictures.sentences import neighbour_words
from mvgviz.pictures.shape import answer_labels
from mvgviz.pictures.theme import DATA, DIRECTIONAL, plot_matrix, styled, top_left, upright
from mvgviz.query.dataset import Dataset
from mvgviz.query.queries import ADDED_RECORD, FLIPPED_EDGE, REPLACED_RECORD, Query
from mvgviz.query.record_bound import RecordBound
from mvgviz.query.worst_pairs import WorstPair
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_factor, as_number, in_html, in_markdown, listed
from mvgviz.trials.stand_in import BoundCost
from mvgviz.validation import FloatArray

_BINS = 24
_ACROSS = 3
_PANEL, _BETWEEN = 125, 46  # pixels; between two rows stand the ends of a range and the next name


def histograms_picture(data: Dataset, positions: Sequence[int]) -> Picture:
    """Some features over 24 equal bins, one panel each; the axis is the declared range."""
    rows = -(-len(positions) // _ACROSS)
    figure = make_subplots(rows=rows, cols=_ACROSS, subplot_titles=[in_html(data.features[k]) for k in positions],
                           vertical_spacing=_BETWEEN / (_PANEL * rows), horizontal_spacing=0.1)
    used = {}
    for i, k in enumerate(positions):
        where = {"row": i // _ACROSS + 1, "col": i % _ACROSS + 1}
        ends, values = [float(data.lower[k]), float(data.upper[k])], data.matrix[k]
        counts, edges = np.histogram(values, bins=_BINS, range=(ends[0], ends[1]))
        used[k] = float(values.max() - values.min()) / (ends[1] - ends[0])
        figure.add_bar(x=(edges[1:] + edges[:-1]) / 2, y=counts, width=(ends[1] - ends[0]) / _BINS,
                       marker={"color": DIRECTIONAL, "line": {"width": 0}},
                       hovertemplate="%{y:,} records near %{x:.4g}<extra></extra>", **where)
        figure.update_xaxes(range=ends, tickvals=ends, tickformat=".4~g", **where)
    figure.update_yaxes(showticklabels=False, showgrid=False)
    figure.update_annotations(font_size=12)
    figure.update_layout(bargap=0)
    least = min(used, key=used.__getitem__)
    return Picture(styled(figure, height=max(_PANEL * rows + 30, 200), legend=False, top=26), (
        f"**{data.n_features} features × {data.n_records:,} records**, each against its range; "
        f"{in_markdown(data.features[least])} uses the least of it ({used[least]:.0%})."), (
        "Privacy rests on the declared ranges, which are public: the wider they are, the more noise is needed."))


def answer_picture(query: Query) -> Picture:
    """The true answer as a map."""
    shown, (rows, cols) = top_left(query.value), answer_labels(query)
    part = f" (the first {shown.shape[0]} × {shown.shape[1]} shown)" if shown.size < query.value.size else ""
    inside = "" if query.bound is None else " about records inside their ellipse"
    return Picture(
        plot_matrix(shown, row_labels=rows[: shown.shape[0]], col_labels=cols[: shown.shape[1]],
                    row_title="feature" if rows else "row", value_title="true answer",
                    col_title="feature" if query.symmetric and rows else "record" if query.is_table else ""),
        f"**The true answer{inside}**, {query.rows:,} × {query.cols:,}{part}.")


def change_picture(query: Query, pair: WorstPair) -> Picture:
    """What one record can change: the difference of the two neighbours whose answers lie furthest apart."""
    shown, rows = top_left(pair.difference), answer_labels(query)[0]
    almost = "" if pair.attained > 0.999 else f" (the worst found; the bound used is {1 / pair.attained:.2f}×)"
    return Picture(
        plot_matrix(shown, row_labels=rows[: shown.shape[0]], height=300, value_title="change of the answer",
                    col_labels=rows[: shown.shape[1]] if query.symmetric else [],
                    row_title="feature" if rows else "row",
                    col_title="feature" if rows and query.symmetric else "column"),
        f"**What one record can change:** {pair.words}; the answer moves by "
        f"{as_number(query.sensitivity * pair.attained)}{almost}.",
        "The two neighbouring datasets whose answers lie furthest apart. Nobody's data: only the declared ranges "
        "enter, and the ellipse that records are pulled into, if there is one. The noise must hide this difference.")


_LENGTH_BINS = 30


@dataclass(frozen=True, kw_only=True, eq=False)
class LengthNumbers:
    """Counts of records over equal bins from 0 to the ``longest`` record that the ranges allow (or the radius)."""

    edges: FloatArray
    counts: FloatArray = field(repr=False)
    radius: float
    longest: float
    pulled: int


def length_numbers(table: Dataset, bound: RecordBound) -> LengthNumbers:
    """The lengths of a table's records in the bound's coordinates; no bin lies on both sides of the radius."""
    ellipse = bound.ellipse(table.n_features)
    longest, radius = ellipse.longest(table), bound.radius
    inside = min(max(round(_LENGTH_BINS * radius / max(longest, radius)), 1), _LENGTH_BINS)
    edges = np.linspace(0, radius, inside + 1)
    if longest > radius:
        edges = np.append(edges, np.linspace(radius, longest, max(_LENGTH_BINS - inside, 1) + 1)[1:])
    counts, _ = np.histogram(np.minimum(ellipse.lengths(table.matrix), edges[-1]), bins=edges)
    return LengthNumbers(edges=edges, counts=counts.astype(np.float64), radius=radius, longest=longest,
                         pulled=bound.count_outside(table))


def lengths_picture(numbers: LengthNumbers, records: int, *, chosen: bool, joined: bool = False) -> Picture:
    """How long the records are: those that are pulled in grey, and a line at the bound.

    ``chosen``: whether the bound is; ``joined``: with a constant, which has a length of its own.
    """
    middles, widths = (numbers.edges[1:] + numbers.edges[:-1]) / 2, np.diff(numbers.edges)
    inside = middles <= numbers.radius
    figure = go.Figure()
    for part, name, colour in ((inside, "inside the ellipse", DIRECTIONAL), (~inside, "pulled in", DATA)):
        figure.add_bar(x=middles[part], y=numbers.counts[part], width=widths[part], name=name,
                       marker={"color": colour, "line": {"width": 0}},
                       hovertemplate="%{y:,} records of length about %{x:.3g}<extra></extra>")
    figure.add_shape(**upright(numbers.radius, DIRECTIONAL, "dash", width=2.5))
    what = "length of a record, constant included" if joined else "length of a record (an evenly spread one: 1)"
    figure.update_xaxes(title=what, range=[0, float(numbers.edges[-1])])
    figure.update_yaxes(title="records", rangemode="tozero")
    figure.update_layout(bargap=0, barmode="overlay")
    would = "are" if chosen else "would be"
    even = "The longest that the ranges allow has length" if joined else (
        "An evenly spread record has length 1; the longest that the ranges allow,")
    return Picture(styled(figure, height=280), (
        f"**{numbers.pulled:,} of {records:,} records {would} pulled in.** {even} {as_number(numbers.longest)}."), (
    "How long each record is, measured from the middle of the ranges (from 0 for second moments) in the ellipse's own "
    "coordinates: a record spread evenly over its ranges has length 1. What is longer than the line is drawn towards "
    "the centre until the ellipse holds it, before anything is asked. One record then moves the answer less, so less "
    "noise is needed. The ellipse has the shape of the split, and so has the noise."))


_FEW = 3


def identifier_words(found: Sequence[Identifier]) -> list[str]:
    """A sentence for each column that is no feature; what several records of a person do to the promise."""
    said = []
    for each in found:
        name = in_markdown(each.name)
        if each.numbers_records:
            said.append(f"**{name} numbers the records** and is no feature.")
        elif each.most <= 1:
            said.append(f"**{name} looks like an identifier**, which is no feature.")
        else:
            said.append(
                f"**{name} looks like an identifier, and one of its values occurs {each.most:,} times.** If it says "
                f"whose record it is, what hides one record does not hide that person: {each.most:,} records that "
                f"change together spend up to {each.most:,} times the μ. Keep one record of each, or let a program "
                "count them together (`Dataset.from_frame(…, person=…, at_most=…)`).")
    return said


def saved_words(setup: Setup, cost: BoundCost, *, chosen: bool) -> str:
    """The noise with the bound against the noise without."""
    names = [in_markdown(setup.direction_names[k]) for k in setup.scenario.needs if k < len(setup.direction_names)]
    on = listed(names, _FEW) if names and setup.scenario.directions == "standard" else "what is needed"
    offered = "" if chosen else f"With {BOUNDS['even'][0].lower()}: "
    return f"{offered}**Noise on {on}: {as_factor(cost.noise / cost.without)} what it is without the ellipse.**"


def pull_words(setup: Setup, cost: BoundCost, *, on_data: bool) -> str:
    """How far pulling moves the answer, on simulated data and, where it may be looked at, on the data."""
    one_sided = ", all on one side of the middle," if setup.query.is_mean else ""
    own = f"; on the data itself (not private) by {_both(cost, cost.data_pull)}" if on_data else ""
    return (f"Pulling records in moves the answer, too, and no noise hides that. In units of the noise without the "
            f"ellipse: on simulated records{one_sided} by {_both(cost, cost.pull)}{own}.")


def _both(cost: BoundCost, pull: float) -> str:
    return f"{as_factor(pull / cost.without)}, together with the noise left {as_factor(cost.together(pull))}"


def cost_warning(setup: Setup, cost: BoundCost) -> str | None:
    """Said plainly where the pull costs more than it saves; None where it does not."""
    on_both = [not cost.pays(cost.pull), not cost.pays(cost.data_pull)]
    if not any(on_both):
        return None
    if not cost.noise < cost.without:
        return "**The ellipse saves no noise on what is needed here.**"
    where = {(True, True): "", (True, False): " on simulated records",
             (False, True): " on the data itself (not private)"}[on_both[0], on_both[1]]
    weight = (" A regression from them is hardly touched: pulling only lowers a record's weight."
              if setup.query.has_constant else "")
    return (f"**For {setup.query.in_sentence} of {setup.dataset.n_records:,} records the pull costs more than "
            f"the noise it saves{where}.** Noise shrinks with every further record, the pull does not.{weight}")


def derivation(query: Query) -> tuple[tuple[str, str], str]:
    """Two lines of LaTeX and a sentence."""
    body, bounded = query.neighbours, query.bound is not None
    added = getattr(body, "added", False)
    found = query.derivations[("added " * added + "bounded" * bounded).strip() or "plain"]
    if not (levels := getattr(body, "levels", ())) and query.neighbour_rule in (REPLACED_RECORD, FLIPPED_EDGE):
        return found.lines, found.words
    said = [neighbour_words(query.neighbour_rule)]
    if bounded and added:
        said.append("With a bound an empty place counts as its centre.")
    if query.neighbour_rule not in (REPLACED_RECORD, ADDED_RECORD):
        said.append("The lines are for one of these records; all of them may change alike, so a mean or second moments "
                    "move that many times as far, and of a table that many columns change.")
    if levels:
        said.append("Of the levels of a category a record has one, so at most two of them change.")
    return found.lines, " ".join(said)


def facts(query: Query) -> str:
    """Size, sensitivities, largest norm and structure in one Markdown line."""
    same = abs(query.sensitivity - query.printed_sensitivity) <= 1e-12 * query.sensitivity
    as_in_paper = query.neighbour_rule in (REPLACED_RECORD, FLIPPED_EDGE)
    printed = "the same in the paper" if same else f"the paper computes {as_number(query.printed_sensitivity)}"
    if not as_in_paper:  # the paper's neighbours are others
        printed = f"the theorems are given {'the same' if same else as_number(query.printed_sensitivity)}"
    structure = "positive semi-definite" if query.psd else "symmetric" if query.symmetric else "no structure"
    return (f"Answer {query.rows:,} × {query.cols:,} · sensitivity s₂ = **{as_number(query.sensitivity)}** ({printed}) "
            f"· largest norm γ = **{as_number(query.gamma)}** · {structure} · neighbours: {query.neighbour_rule}")
