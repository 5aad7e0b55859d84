"""Histograms of the features, lengths of the records, and where the sensitivity comes from."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from mvgviz.data.recognise import Identifier
from mvgviz.labels import BOUNDS
from mvgviz.pictures.sentences import neighbour_words
from mvgviz.pictures.theme import DATA, DIRECTIONAL, styled, upright
from mvgviz.query.dataset import Dataset
from mvgviz.query.neighbours import ReplacedColumn, ReplacedOuterProduct
from mvgviz.query.queries import ADDED_RECORD, FLIPPED_EDGE, REPLACED_RECORD, Query
from mvgviz.query.record_bound import RecordBound
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_factor, as_number, in_html, in_markdown, listed
from mvgviz.trials.bound_cost import BoundCost
from mvgviz.validation import FloatArray

_BINS = 24
_ACROSS = 3
_PANEL, _BETWEEN = 125, 46  # pixels; between two rows stand the ends of a range and the next name


@dataclass(frozen=True, kw_only=True, eq=False)
class FeatureHistogram:
    """Counts over 24 equal bins of the declared range, and how much of the range is used."""

    name: str
    lower: float
    upper: float
    counts: FloatArray
    used: float


def feature_histograms(dataset: Dataset, positions: Sequence[int]) -> list[FeatureHistogram]:
    """The histograms of some features."""
    found = []
    for k in positions:
        low, high, values = float(dataset.lower[k]), float(dataset.upper[k]), dataset.matrix[k]
        counts, _ = np.histogram(values, bins=_BINS, range=(low, high))
        used = (float(values.max()) - float(values.min())) / (high - low)
        found.append(FeatureHistogram(name=dataset.features[k], lower=low, upper=high,
                                      counts=counts.astype(np.float64), used=used))
    return found


def plot_histograms(histograms: list[FeatureHistogram]) -> go.Figure:
    """One panel a feature; the axis is the declared range."""
    rows = -(-len(histograms) // _ACROSS)
    figure = make_subplots(rows=rows, cols=_ACROSS, subplot_titles=[in_html(feature.name) for feature in histograms],
                           vertical_spacing=_BETWEEN / (_PANEL * rows), horizontal_spacing=0.1)
    for i, feature in enumerate(histograms):
        where = {"row": i // _ACROSS + 1, "col": i % _ACROSS + 1}
        ends = [feature.lower, feature.upper]
        width = (feature.upper - feature.lower) / _BINS
        figure.add_bar(x=feature.lower + width * (np.arange(_BINS) + 0.5), y=feature.counts, width=width,
                       marker={"color": DIRECTIONAL, "line": {"width": 0}},
                       hovertemplate="%{y:,} records near %{x:.4g}<extra></extra>", **where)
        figure.update_xaxes(range=ends, tickvals=ends, tickformat=".4~g", **where)
    figure.update_yaxes(showticklabels=False, showgrid=False)
    figure.update_annotations(font_size=12)
    figure.update_layout(bargap=0)
    return styled(figure, height=max(_PANEL * rows + 30, 200), legend=False, top=26)


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


def plot_lengths(numbers: LengthNumbers, *, joined: bool = False) -> go.Figure:
    """Bars of records, those that are pulled in grey, and a line at the bound; ``joined``: with their constant."""
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
    return styled(figure, height=280)


ABOUT_LENGTHS = (
    "How long each record is, measured from the middle of the ranges (from 0 for second moments) in the ellipse's own "
    "coordinates: a record spread evenly over its ranges has length 1. What is longer than the line is drawn towards "
    "the centre until the ellipse holds it, before anything is asked. One record then moves the answer less, so less "
    "noise is needed. The ellipse has the shape of the split, and so has the noise.")
_ANSWERS = {"identity": "the table", "mean": "a mean", "covariance": "second moments", "kernel": "a kernel matrix",
            "moments": "a mean and second moments"}
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


def pulled_words(pulled: int, records: int, longest: float, *, chosen: bool, joined: bool = False) -> str:
    """Takeaway of the lengths; ``joined``: with a constant, which has a length of its own."""
    would = "are" if chosen else "would be"
    even = "The longest that the ranges allow has length" if joined else (
        "An evenly spread record has length 1; the longest that the ranges allow,")
    return f"**{pulled:,} of {records:,} records {would} pulled in.** {even} {as_number(longest)}."


def saved_words(setup: Setup, cost: BoundCost, *, chosen: bool) -> str:
    """The noise with the bound against the noise without."""
    names = [in_markdown(setup.direction_names[k]) for k in setup.scenario.needs if k < len(setup.direction_names)]
    on = listed(names, _FEW) if names and setup.scenario.directions == "standard" else "what is needed"
    offered = "" if chosen else f"With {BOUNDS['even'][0].lower()}: "
    return f"{offered}**Noise on {on}: {as_factor(cost.noise / cost.without)} what it is without the ellipse.**"


def pull_words(setup: Setup, cost: BoundCost, *, on_data: bool) -> str:
    """How far pulling moves the answer, on simulated data and, where it may be looked at, on the data."""
    one_sided = ", all on one side of the middle," if setup.query.name == "mean" else ""
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
              if setup.query.name == "moments" else "")
    return (f"**For {_ANSWERS[setup.scenario.query]} of {setup.dataset.n_records:,} records the pull costs more than "
            f"the noise it saves{where}.** Noise shrinks with every further record, the pull does not.{weight}")


LINES = {
    "identity": (r"\|X-X'\|_F=\|x-x'\|_2,\quad |x_i-x'_i|\le r_i",
                 r"s_2=\sqrt{\textstyle\sum_i r_i^2},\quad \gamma=\sqrt{n\textstyle\sum_i c_i^2}"),
    "mean": (r"\|\bar x-\bar x'\|_2=\tfrac1n\|x-x'\|_2,\quad |x_i-x'_i|\le r_i",
             r"s_2=\tfrac1n\sqrt{\textstyle\sum_i r_i^2},\quad \gamma=\sqrt{\textstyle\sum_i c_i^2}"),
    "covariance": (r"\|xx^{\mathsf T}\!-x'x'^{\mathsf T}\|_F^2=|x|^4+|x'|^4-2(x\!\cdot\! x')^2",
                   r"s_2\le\tfrac{\sqrt2}{n}\textstyle\sum_i c_i^2,\quad \gamma=\textstyle\sum_i c_i^2"),
    "moments": (r"y=(x,1),\quad\|yy^{\mathsf T}\!-y'y'^{\mathsf T}\|_F^2=|y|^4+|y'|^4-2(y\!\cdot\! y')^2",
                r"s_2\le\tfrac{\sqrt2}{n}\bigl(1+\textstyle\sum_i c_i^2\bigr),\quad \gamma=1+\textstyle\sum_i c_i^2"),
    "rbf kernel": (r"|k-k'|\le\kappa:=1-e^{-\sum r_i^2/2\ell^2}", r"s_2=\kappa\sqrt{2(n-1)},\quad \gamma=n"),
    "adjacency": (r"A-A'=\pm(e_ie_j^{\mathsf T}+e_je_i^{\mathsf T})", r"s_2=\sqrt2,\quad \gamma=\sqrt{N(N-1)}"),
    "laplacian": (r"L-L'=\pm(e_i-e_j)(e_i-e_j)^{\mathsf T}", r"s_2=2,\quad \gamma=N\sqrt{N-1}")}
"""By query, in LaTeX."""
WORDS = {
    "identity": "Only the column of the replaced record changes, by at most the width rᵢ of each range.",
    "mean": "One record of n moves the mean by an n-th of its own move.",
    "covariance": "Largest with one record at a corner of the ranges and the other on an edge; cᵢ is the largest size "
                  "in a range. The paper uses 2 in place of √2.",
    "moments": "The constant 1 is joined to every record; the second moments of both hold the mean beside them.",
    "rbf kernel": "One row and one column change; ℓ is the kernel length. The paper uses √(8n − 4).",
    "adjacency": "One edge changes two entries by 1; γ is that of the complete graph.",
    "laplacian": "One edge changes four entries by 1; γ is that of the complete graph."}
"""The same in a sentence."""
_INSIDE = r"z=B(x-c),\quad \|z\|\le R\;\Rightarrow\;"
BOUNDED_LINES = {
    "identity": (_INSIDE + r"\|z-z'\|\le 2R", r"\text{noise }\sigma\text{ on every entry of }z:\quad\mu=2R/\sigma"),
    "mean": (_INSIDE + r"\|\bar z-\bar z'\|\le 2R/n",
             r"\text{noise }\sigma\text{ on every entry of }z:\quad\mu=2R/(n\sigma)"),
    "covariance": (r"z=Bx:\quad zz^{\mathsf T}\!-z'z'^{\mathsf T}\text{ of rank 2, within}\pm R^2",
                   r"\mu\le\tfrac{R^2}{n}\sqrt{q_1^2+q_2^2},\;\; q_k\text{ precisions in }z"),
    "rbf kernel": (_INSIDE + r"\|x-x'\|\le D=2R/s_{\min}(B)",
                   r"s_2=\kappa\sqrt{2(n-1)},\quad\kappa:=1-e^{-D^2/2\ell^2}")}
BOUNDED_LINES["moments"] = BOUNDED_LINES["covariance"]
"""By query, for records inside an ellipse: B is its matrix, c its centre, R its radius."""
BOUNDED_WORDS = {
    "identity": "Worst from one end of the ellipse to the other. The noise has the ellipse's own shape, so it is the "
                "same in every direction of z, and no private Gaussian noise has less anywhere.",
    "mean": "One record of n moves the mean by an n-th of its own move, from one end of the ellipse to the other. The "
            "noise has the ellipse's own shape: the same in every direction of z.",
    "covariance": "Worst from the end of one axis to that of another; q₁ ≥ q₂ are the largest. With the ellipse's own "
                  "shape q₁ = q₂ = 1/σ, so μ = √2 R²/(nσ). The ranges hold, too: where they allow less, the "
                  "smaller bound is used.",
    "moments": "As for second moments, of the record with its constant joined: both are scaled together, so pulling "
               "only lowers a record's weight.",
    "rbf kernel": "One row and one column change, as far as two records of the ellipse can be apart; ℓ is the kernel "
                  "length."}
"""The same in a sentence."""

ADDED_LINES = {
    "identity": (r"\|X-X'\|_F=\|x-m\|_2,\quad |x_i-m_i|\le r_i/2",
                 r"s_2=\tfrac12\sqrt{\textstyle\sum_i r_i^2},\quad \gamma=\sqrt{n\textstyle\sum_i c_i^2}"),
    "mean": (r"\|\bar x-\bar x'\|_2=\tfrac1n\|x-m\|_2,\quad |x_i-m_i|\le r_i/2",
             r"s_2=\tfrac1{2n}\sqrt{\textstyle\sum_i r_i^2},\quad \gamma=\sqrt{\textstyle\sum_i c_i^2}"),
    "covariance": (r"\|xx^{\mathsf T}\|_F=|x|^2", r"s_2=\tfrac1n\textstyle\sum_i c_i^2,\quad \gamma=\sum_i c_i^2"),
    "moments": (r"y=(x,1),\quad\|yy^{\mathsf T}\|_F=|y|^2",
                r"s_2=\tfrac1n\bigl(1+\textstyle\sum_i c_i^2\bigr),\quad \gamma=1+\textstyle\sum_i c_i^2")}
"""By query, where a record is added or removed: m is the middle of the ranges, n the public number of places."""
ADDED_BOUNDED_LINES = {
    name: (_INSIDE + r"\|z-0\|\le R", r"\text{noise }\sigma\text{ on every entry of }z:\quad\mu=" + mu)
    for name, mu in {"identity": r"R/\sigma", "mean": r"R/(n\sigma)", "covariance": r"R^2/(n\sigma)",
                     "moments": r"R^2/(n\sigma)"}.items()}


def derivation(query: Query) -> tuple[tuple[str, str], str]:
    """Two lines of LaTeX and a sentence."""
    if isinstance(body := query.neighbours, ReplacedColumn | ReplacedOuterProduct) and (
            query.neighbour_rule != REPLACED_RECORD or body.levels):
        return _other_neighbours(query, body)
    lines, said = (LINES, WORDS) if query.bound is None else (BOUNDED_LINES, BOUNDED_WORDS)
    return lines[query.name], said[query.name]


def _other_neighbours(query: Query, body: ReplacedColumn | ReplacedOuterProduct) -> tuple[tuple[str, str], str]:
    """The same where records are added or removed, a person has several, or features are levels of categories."""
    bounded = query.bound is not None
    lines = ((ADDED_BOUNDED_LINES if bounded else ADDED_LINES) if body.added else BOUNDED_LINES if bounded else LINES)
    several = query.neighbour_rule not in (REPLACED_RECORD, ADDED_RECORD)
    said = [neighbour_words(query.neighbour_rule)]
    if bounded and body.added:
        said.append("With a bound an empty place counts as its centre.")
    if several:
        said.append("The lines are for one of these records; all of them may change alike, so a mean or second moments "
                    "move that many times as far, and of a table that many columns change.")
    if body.levels:
        said.append("Of the levels of a category a record has one, so at most two of them change.")
    return lines[query.name], " ".join(said)


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
