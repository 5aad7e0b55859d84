"""Theorem 1, Theorem 2 and the exact limit: over one input, as maps over two, and what they ask for."""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from mvgviz.design.limits import BoundCurves, LimitInputs, Rival, bound_curves, exact_limit, precision_norm
from mvgviz.design.noise_design import NoiseDesign
from mvgviz.labels import GUARANTEES, TAILS
from mvgviz.noise.accounting import gaussian_mu
from mvgviz.noise.bounds import ratio_limit, theorem2_wins
from mvgviz.pictures import theme
from mvgviz.pictures.sentences import span_words
from mvgviz.pictures.theme import Picture
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_number, as_probability, at_most, capitalised
from mvgviz.validation import FloatArray

_DASHES = {"printed": "solid", "laurent-massart": "dash", "exact-chi": "dot"}


class CurveLine(NamedTuple):
    """One curve: ``here`` is its value at the scenario, ``main`` whether it has the scenario's tail."""

    name: str
    colour: str
    tail: str | None
    main: bool
    values: FloatArray
    here: float

    @property
    def width(self) -> float:
        """Theorem 1 is wider, so that it still shows where Theorem 2 lies on it."""
        return (2 if self.colour == theme.THEOREM1 else 1) * (3.0 if self.main else 1.5)


def curve_lines(curves: BoundCurves, *, second: str, tail: str, all_tails: bool, as_noise: bool) -> list[CurveLine]:
    """Return the curves to draw, as allowed precision or as noise; ``second`` names the curve of Theorem 2."""
    at, lines = int(np.argmin(np.abs(curves.positions - curves.here))), []
    for name, colour, family in (("Theorem 1", theme.THEOREM1, curves.theorem1),
                                 (second, theme.THEOREM2, curves.theorem2),
                                 ("Exact limit", theme.EXACT, {None: curves.exact})):
        for its_tail, limits in family.items():
            main = its_tail in (None, tail)
            if main or all_tails:
                values = curves.as_std(limits) if as_noise else limits
                lines.append(CurveLine(name, colour, its_tail, main, values, float(values[at])))
    return lines


def curves_picture(problem: LimitInputs, axis: str, *, tail: str, as_noise: bool, all_tails: bool, s2_words: str
                   ) -> Picture:
    """The three limits as one input varies; the scenario's tail is thick, others are thin, in other line styles."""
    curves, figure = bound_curves(problem, axis), go.Figure()
    lines = curve_lines(curves, second=second_name(problem), tail=tail, all_tails=all_tails, as_noise=as_noise)
    value = "typical error of an entry (standard deviation)" if as_noise else "allowed precision φ² (product of norms)"
    for line in sorted(lines, key=lambda line: line.main):
        label = line.name if line.tail is None else f"{line.name}, tail {TAILS[line.tail].short}"
        theme.add_line(figure, curves.positions, line.values, line.name, line.colour, line.width,
                       _DASHES.get(line.tail or "", "solid"), hover=f"{label}<br>%{{x:.3g}}: %{{y:.3g}}",
                       legendgroup=line.name, showlegend=line.main, opacity=1.0 if line.main else 0.75)
    for name, dash in _DASHES.items() if all_tails else ():
        theme.add_line(figure, [None], [None], f"tail {TAILS[name].short}", theme.DATA, 1.5, dash, hover=None)
    main = [line for line in lines if line.main]
    theme.add_dots(figure, [curves.here] * len(main), [line.here for line in main], "this scenario",
                   [line.colour for line in main], [3 + 2.5 * line.width for line in main], edge=theme.DATA,
                   hover="this scenario: %{y:.3g}", cliponaxis=False, showlegend=False)
    edge = np.log10(curves.positions[[0, -1]]) + np.array([-0.02, 0.02])
    exponents = np.log10(np.concatenate([line.values for line in lines]))
    room = max(0.04 * float(np.ptp(exponents)), 0.1)
    low, high = float(exponents.min()) - room, float(exponents.max()) + room
    figure.update_layout(xaxis={"type": "log", "title": axis_title(problem, axis), "range": edge.tolist(),
                                **theme.decades(*edge)},
                         yaxis={"type": "log", "title": value, "range": [low, high], **theme.decades(low, high)},
                         shapes=[theme.upright(curves.here, theme.DATA, "dot", width=1)])
    limits = "the equal noise from below" if as_noise else "the product of the two norms, ‖σ(Σ⁻¹)‖₂ · ‖σ(Ψ⁻¹)‖₂"
    return Picture(theme.styled(figure), _curves_words(problem, main, as_noise=as_noise, s2_words=s2_words), f"""\
{held_fixed(problem, axis)} Each curve limits {limits}. Both theorems are sufficient, and loose. Equal noise beyond
the exact limit breaks the promise.""")


def _curves_words(problem: LimitInputs, main: list[CurveLine], *, as_noise: bool, s2_words: str) -> str:
    first, second, exact = (line.here for line in main)
    factors = span_words(np.array([first, second]) / exact if as_noise else exact / np.array([first, second]))
    verdict, what = ((f"The theorems ask for {factors} times the equal noise that privacy needs", "Typical error")
                     if as_noise else
                     (f"Privacy allows equal noise {factors} times the precision that the theorems allow", "φ²"))
    return (f"**{verdict}.** {what} here: {as_number(first)} under Theorem 1, {as_number(second)} under "
            f"{short_second(problem)}, and {as_number(exact)} by the exact limit, all with {s2_words}.")


_PAPER_RANK, _ROOT2 = 13, math.sqrt(2)


class Edge(NamedTuple):
    """The designs whose product of norms is ``limit``; ``filled``: all below are allowed."""

    name: str
    colour: str
    limit: float
    dash: str = "solid"
    filled: bool = True
    width: float = 3


class Place(NamedTuple):
    """A design as a point: the norms of its precisions over rows and over columns."""

    rows: float
    cols: float
    name: str
    colour: str
    symbol: str
    size: float


def place(design: NoiseDesign, name: str, colour: str, symbol: str = "circle", size: float = 13) -> Place:
    """Return a design as a point of the two norms."""
    return Place(precision_norm(design.row_side), precision_norm(design.col_side), name, colour, symbol, size)


def space_picture(setup: Setup, problem: LimitInputs, others: Iterable[Rival]) -> Picture:
    """The two norms: what each guarantee allows, this design, and the same shares under other guarantees."""
    design, tail, limit = setup.design, setup.scenario.tail, exact_limit(problem)
    edges = [Edge("Theorem 1", theme.THEOREM1, problem.theorem1(tail).limit, width=6),  # another may lie on it
             Edge(short_second(problem), theme.THEOREM2, problem.theorem2(tail).limit),
             Edge("Exact, equal noise", theme.EXACT, limit)]
    this = place(design, "this design", theme.DIRECTIONAL)
    places = [place(other.design, f"{capitalised(GUARANTEES[other.guarantee].name)}, same shares",
                    theme.GUARANTEE_COLOURS[other.guarantee], "diamond", 17 if other.guarantee == "theorem1" else 11)
              for other in others]
    if design.bound is None:
        said = ("**Just as private as equal noise:** the exact limit depends on the shape, not only on the two norms. "
                f"This design's product of norms is {as_number(this.rows * this.cols / limit)} times that of equal "
                "noise.")
    else:
        said = (f"**This design is on the edge of its guarantee, {GUARANTEES[design.guarantee].in_sentence}:** "
                f"{as_number(this.rows)} × {as_number(this.cols)} = φ² = {as_number(design.bound.limit)}.")
        if all(abs(edge.limit / design.bound.limit - 1) > 1e-9 for edge in edges):
            reason = own_edge_reason(setup, problem)
            said += f" That edge is dashed: it was built with {reason}."
            edges.append(Edge(f"its own edge ({reason})", theme.GUARANTEE_COLOURS[design.guarantee],
                              design.bound.limit, dash="dash", filled=False, width=2))
    return Picture(plot_design_space(edges, [*places, this]), said, """
The paper's Figure 3. A theorem allows every design below its line, where the product of the two norms is at most φ².
The printed Theorem 2 covers only Ψ = Σ (equal norms). The exact guarantee has no such line: the one drawn is that of
equal noise.""")


def own_edge_reason(setup: Setup, problem: LimitInputs) -> str:
    """Return why a theorem's design lies on another edge than those drawn; empty if it does not."""
    paper = problem.sensitivity < setup.query.printed_sensitivity * (1 - 1e-9)
    return " and ".join([*(["the paper's s₂"] if paper else []),
                         *(["part of ε and δ"] if setup.scenario.directions == "private" else [])])


def plot_design_space(edges: list[Edge], places: list[Place]) -> go.Figure:
    """Return hyperbolas, straight on log axes that hold every edge and every point."""
    ys = [math.log10(design.cols) for design in places]
    xs = [*(math.log10(design.rows) for design in places),
          *(math.log10(edge.limit) - sum(ys) / len(ys) for edge in edges)]
    (left, right), upwards = (min(xs) - 1.5, max(xs) + 1.5), (min(ys) - 2, max(ys) + 2)
    figure, across = go.Figure(), np.array([10**left, 10**right])
    for edge in edges:
        theme.add_line(figure, across, edge.limit / across, edge.name, edge.colour, edge.width, edge.dash,
                       hover=f"{edge.name}: product {edge.limit:.4g}", fill="tozeroy" if edge.filled else "none",
                       fillcolor=theme.wash(edge.colour, 0.14))
    for design in places:
        theme.add_dots(figure, [design.rows], [design.cols], design.name, design.colour, design.size, design.symbol,
                       edge=theme.DATA, hover=f"{design.name}: product {design.rows * design.cols:.4g}")
    figure.update_xaxes(type="log", title="precision over rows, ‖σ(Σ⁻¹)‖₂", range=[left, right],
                        **theme.decades(left, right))
    figure.update_yaxes(type="log", title="precision over columns, ‖σ(Ψ⁻¹)‖₂", range=upwards, **theme.decades(*upwards))
    return theme.styled(figure, height=360)


def map_picture(problem: LimitInputs, *, tail: str, s2_words: str) -> Picture:
    """Where Theorem 2 allows more: the exact region filled, the paper's two sufficient conditions as outlines in it."""
    rank, ratio, second = problem.rank, problem.sensitivity / problem.gamma, short_second(problem)
    ranks = np.unique([*np.geomspace(1, max(1000, rank), 160).round(), _PAPER_RANK - 1, _PAPER_RANK, rank])
    border, figure, last = ratio_limit(ranks), go.Figure(), float(ranks[-1])
    for edge, colour in ((0, theme.THEOREM2), (2, theme.THEOREM1)):
        theme.add_line(figure, [*ranks, last, 1], [*np.minimum(border, 2.0), edge, edge], "", colour, 0, hover=None,
                       fill="toself", fillcolor=theme.wash(colour, 0.2), showlegend=False)
    below = border <= 2
    theme.add_line(figure, ranks[below], border[below], "exact border", theme.THEOREM2, 3,
                   hover="r = %{x}: up to s₂/γ = %{y:.3f}<extra>exact border</extra>")
    theme.add_line(figure, [1, last], [2, 2], "", theme.DATA, 1, hover=None, showlegend=False)
    theme.add_line(figure, [1, last], [1, 1], "paper: s₂ ≤ γ", theme.DATA, 2, "dash")
    theme.add_line(figure, [_PAPER_RANK, _PAPER_RANK, last], [0, _ROOT2, _ROOT2],
                   "paper: r > 12, PSD" if problem.psd else "paper: r > 12 (PSD only)", theme.DATA, 2, "dot")
    theme.add_dots(figure, [rank], [ratio], "this scenario", theme.DIRECTIONAL, 13, edge=theme.DATA,
                   hover="r = %{x}, s₂/γ = %{y:.3g}<extra>this scenario</extra>", cliponaxis=False)
    far = math.log10(last)
    figure.update_layout(
        xaxis={"type": "log", "title": "rank bound r: the shorter side of the answer", "range": [0, far], "dtick": 1},
        yaxis={"title": "sensitivity over largest norm, s₂/γ", "range": [0, max(2.2, 1.1 * ratio)], "dtick": 0.5},
        annotations=[{"x": part * far, "y": y, "text": text, "showarrow": False} for part, y, text in (
            (0.7, 0.5, f"{second} allows more"), (0.2, 1.7, "Theorem 1 allows more"),
            (0.5, 2.1, "no query is here (s₂ ≤ 2γ)"))])
    factor = problem.theorem2(tail).limit / problem.theorem1(tail).limit
    winner, more = (second, factor) if theorem2_wins(rank, ratio) else ("Theorem 1", 1 / factor)
    by = f"φ² is {as_number(more)} times as large" if more >= 1.01 else "by less than 1 %"
    return Picture(theme.styled(figure, height=360), (
        f"**Here {winner} allows more:** {by}. s₂/γ = {as_number(ratio)} with {s2_words}; at r = "
        f"{rank:,} {second} wins up to {as_number(float(np.interp(rank, ranks, border)))}."), """
Theorem 3. Theorem 2 allows more where α ≥ ω: s₂/γ is at most half of 1 + H₍r,½₎ / Hᵣ (filled). The paper gives two
sufficient conditions inside this region: s₂ ≤ γ (dashed), and r > 12 for positive semi-definite queries (dotted).""")


AXIS_LABELS = {"epsilon": "Epsilon", "delta": "Delta", "size": "Size", "gamma": "Gamma", "sensitivity": "Sensitivity"}
_AXIS_TITLES = {"epsilon": "privacy budget epsilon (ε)", "delta": "delta (δ)",
                "gamma": "largest norm of an answer, gamma (γ)", "sensitivity": "sensitivity s₂ of the answer"}
_TAIL_FORMULAS = {"printed": r"t=\zeta", "laurent-massart": r"t=\sqrt{\zeta}", "exact-chi": r"\Pr(\chi_k>t)=\delta"}
_DIGITS = 6
_LEMMA = r"""**Lemma 1's square.** The paper bounds $\lVert N\rVert_F^2$ by $\zeta^2$. Laurent and Massart's inequality,
on which it rests, gives $\lVert N\rVert_F^2\le\zeta$. The slip is on the safe side ($\zeta\ge1$): the theorems hold,
with a tail $\sqrt\zeta$ times too long. *Laurent–Massart* takes $\sqrt\zeta$, *exact chi* the quantile itself; the
proofs need only that $\lVert N\rVert_F$ stays below the tail with probability $1-\delta$."""
_NO_PSD = r"""**Theorem 2's proof uses no PSD.** Its last two terms are
$\lVert A\rVert^2-\lVert B\rVert^2=\langle A-B,\,A+B\rangle$ with $A=\Sigma^{-1/2}f(X')\Psi^{-1/2}$, and $B$ the same of
$f(X)$: at most $2H_r\gamma s_2\phi^2$, whatever the query and $\Psi$. So $\omega$ can replace $\alpha$ for every query.
The paper does not say so; here it is *Theorem 2's constant*. (The last display of the printed proof lacks a square.)"""
_NUMBERS = """**Numbers.** Theorem 1 is the paper's general bound, Theorem 2 the one for positive semi-definite (PSD)
queries, Theorem 3 their comparison. The compiled paper counts the singular value decomposition first, so its own
numbers are higher."""
FOOTNOTES = (_LEMMA, _NO_PSD, _NUMBERS)
"""Where print and proof part."""


def second_name(problem: LimitInputs) -> str:
    """Return what the curve of omega is called for this query."""
    return short_second(problem) + " (beyond the paper)" * (not problem.psd)


def short_second(problem: LimitInputs) -> str:
    """Return "Theorem 2", or the name of its constant if the query is not PSD."""
    return "Theorem 2" if problem.psd else "Theorem 2's constant"


def axis_title(problem: LimitInputs, axis: str) -> str:
    """Return the horizontal axis in words."""
    return _AXIS_TITLES.get(axis, "rows = columns of the answer" if problem.rows == problem.cols else (
        f"rows of the answer (columns: {problem.cols:,})" if problem.rows > problem.cols else
        f"columns of the answer (rows: {problem.rows:,})"))


def held_fixed(problem: LimitInputs, axis: str) -> str:
    """Return what stays as the axis moves."""
    symbols = {"epsilon": "ε", "delta": "δ", "gamma": "γ", "sensitivity": "s₂",
               "size": f"the size {problem.rows:,} × {problem.cols:,}"}
    return f"Held fixed: {', '.join(symbol for name, symbol in symbols.items() if name != axis)}."


def bound_words(setup: Setup) -> str:
    """Say what a bound on the records does to the numbers that the theorems use; nothing where there is none."""
    query, box = setup.query, setup.box
    if query.bound is None:
        return ""
    return (f"Clipping can lower what the theorems use: γ = {as_number(query.gamma)} ({as_number(box.gamma)} without "
            f"it), s₂ = {as_number(query.sensitivity)} ({as_number(box.sensitivity)} without it).")


def looseness_words(setup: Setup, others: tuple[Rival, ...]) -> list[str]:
    """Say how much of the budget the noise really spends, and what that costs."""
    extra = setup.query.printed_sensitivity / setup.query.sensitivity

    def much(factors: FloatArray, how: str) -> str:
        fair = f" ({times(factors / extra)} with the paper's s₂ for both)" * (extra > 1 + 1e-9)
        return f"**{times(factors)} {how}**{fair}"

    if setup.design.guarantee != "exact":
        return [f"**This noise spends {at_most(setup.design.mu_is)}{_spent(setup.epsilon_spent)} of the "
                f"{setup.design.epsilon:g} you allow.** The same privacy needs noise "
                f"{much(1 / others[0].factors, 'smaller')}: same directions, same shares, calibrated exactly."]
    slack = ("**This noise spends exactly the ε it is given: no slack.**" if setup.design.mu_is == "exact" else
             "**This noise spends at most the ε it is given** (its worst case is an upper bound).")
    lines = [f"- **{GUARANTEES[other.guarantee].in_sentence}** asks for "
             f"{much(other.factors, 'this noise')}, which then spends "
             f"{_spent(other.design.epsilon_spent(setup.delta))}." for other in others]
    return [f"{slack} For the same directions and shares:", "\n".join(lines)]


def _spent(epsilon: float) -> str:
    return f"ε = {as_number(epsilon)}" if epsilon > 0 else "ε = 0 (δ alone covers it)"


def given_words(problem: LimitInputs, tail: str, *, s2_words: str) -> str:
    """Say what the table to check by hand starts from."""
    return (f"Given: ε = {_digits(problem.epsilon)}, δ = {as_probability(problem.delta, _DIGITS)}, answer "
            f"R × C = {problem.rows:,} × {problem.cols:,}, γ = {_digits(problem.gamma)}, "
            f"s₂ = {_digits(problem.sensitivity)} ({s2_words}), tail {TAILS[tail].name}.")


def table_lines(problem: LimitInputs, tail: str) -> list[tuple[str, str, str]]:
    """Name, formula in LaTeX, value in words; values are those of the bounds themselves."""
    first, two, second = problem.theorem1(tail), problem.theorem2(tail), short_second(problem)
    root = r"4\varepsilon/\bigl(\beta+\sqrt{\beta^2+8%s\varepsilon}\bigr)"
    return [
        ("rank bound r", r"\min(R,C)", f"{first.rank:,}"), ("entries k", r"R\,C", f"{problem.entries:,}"),
        ("$H_r$", r"\sum_{i=1}^{r}1/i", _digits(first.harmonic)),
        ("$H_{r,1/2}$", r"\sum_{i=1}^{r}1/\sqrt{i}", _digits(first.harmonic_half)),
        (r"$\zeta$", r"2\sqrt{-k\ln\delta}-2\ln\delta+k", _digits(first.zeta)),
        ("tail $t$", _TAIL_FORMULAS[tail], _digits(first.tail_value)),
        (r"$\alpha$, Theorem 1", r"(H_r+H_{r,1/2})\gamma^2+2H_r\gamma s_2", _digits(first.alpha)),
        (rf"$\omega$, {second}", r"4H_r\gamma s_2", _digits(first.omega)),
        (r"$\beta$", r"2k^{1/4}\,t\,H_r s_2", _digits(first.beta)),
        (r"$\phi$, Theorem 1", root % r"\alpha", _digits(first.phi)),
        (r"$\phi^2$, Theorem 1", r"\phi\cdot\phi", _digits(first.limit)),
        (rf"$\phi$, {second}", root % r"\omega", _digits(two.phi)),
        (rf"$\phi^2$, {second}", r"\phi\cdot\phi", _digits(two.limit)),
        (r"$\mu$, exact", r"\delta=\Phi(\tfrac{\mu}{2}-\tfrac{\varepsilon}{\mu})-e^{\varepsilon}"
                          r"\Phi(-\tfrac{\mu}{2}-\tfrac{\varepsilon}{\mu})",
         _digits(float(gaussian_mu(problem.epsilon, problem.delta)))),
        ("in place of $\\phi^2$, equal noise", r"\sqrt{k}\,(\mu/s_2)^2", _digits(exact_limit(problem)))]


def _digits(value: float) -> str:
    return as_number(value, _DIGITS).replace(" ", "\N{NO-BREAK SPACE}")


def times(factors: FloatArray) -> str:
    """"196 times", or "120 to 250 times" where directions differ."""
    return f"{span_words(factors)} times"
