"""The three limits in sentences."""

from __future__ import annotations

from mvgviz.design.limits import LimitInputs
from mvgviz.figures.bounds.curves import CurveLine
from mvgviz.figures.bounds.winner_map import WinnerMap
from mvgviz.figures.shared.theme import EXACT, THEOREM1, THEOREM2
from mvgviz.text import as_number

AXIS_LABELS = {"epsilon": "Epsilon", "delta": "Delta", "size": "Size", "gamma": "Gamma", "sensitivity": "Sensitivity"}
_AXIS_TITLES = {"epsilon": "privacy budget epsilon (ε)", "delta": "probability of failure delta (δ)",
                "gamma": "largest norm of an answer, gamma (γ)", "sensitivity": "sensitivity s₂ of the answer"}
_ALIKE = 0.01
ABOUT_CURVES = """Each curve is a limit on the product of the two norms ‖σ(Σ⁻¹)‖₂ · ‖σ(Ψ⁻¹)‖₂: higher means less
noise. Independent noise of standard deviation s on R × C entries has the product √(RC)/s², which turns each limit into
noise per entry, and the exact noise (the analytic Gaussian mechanism, s = s₂/μ) into a limit.

Thick: the tail chosen in the sidebar. Thin: the other two ways to bound the norm of the noise. Both theorems are
sufficient conditions, and loose; i.i.d. noise beyond the exact limit is not private enough."""
ABOUT_MAP = """Theorem 3. Theorem 2 allows more exactly when α ≥ ω, that is when s₂/γ is at most half of
1 + H₍r,½₎ / Hᵣ: the filled region. The paper gives two sufficient conditions, both inside it: s₂ ≤ γ (below the dashed
line), and r > 12 for positive semi-definite queries, whose s₂ is at most √2 γ (right of and below the dotted line).
Epsilon, delta and the tail decide how much more, not who wins."""


def short_second(problem: LimitInputs) -> str:
    """Theorem 2, or what stands in for it where the query is not PSD."""
    return "Theorem 2" if problem.psd else "Theorem 2's constant"


def second_name(problem: LimitInputs) -> str:
    """What the curve of omega is called for this query."""
    return "Theorem 2" if problem.psd else "Theorem 2's constant (beyond the paper)"


def axis_title(problem: LimitInputs, axis: str) -> str:
    """The horizontal axis in words."""
    if axis != "size":
        return _AXIS_TITLES[axis]
    if problem.rows == problem.cols:
        return "rows = columns of the answer"
    longer, shorter, side = (("rows", "columns", problem.cols) if problem.rows > problem.cols
                             else ("columns", "rows", problem.rows))
    return f"{longer} of the answer ({shorter}: {side:,})"


def held_fixed(problem: LimitInputs, axis: str) -> str:
    """What stays as the axis moves."""
    if axis == "size":
        return "Held fixed as the answer grows: ε, δ, γ and s₂ (in a real query γ, and often s₂, grow with it)."
    size = f"the size {problem.rows:,} × {problem.cols:,}"
    symbols = {"epsilon": "ε", "delta": "δ", "gamma": "γ", "sensitivity": "s₂"}
    others = [symbol for name, symbol in symbols.items() if name != axis]
    end = {"gamma": " γ begins at s₂/2: a smaller one is impossible.",
           "sensitivity": " s₂ ends at 2γ: a larger one is impossible."}.get(axis, "")
    return f"Held fixed: {', '.join(others)} and {size}.{end}"


def curves_takeaway(problem: LimitInputs, lines: list[CurveLine], *, as_noise: bool, s2_words: str) -> str:
    """All three limits at the scenario, and how far the theorems are from the exact one."""
    first, second, exact = (next(line.here for line in lines if line.main and line.colour == colour)
                            for colour in (THEOREM1, THEOREM2, EXACT))
    two = short_second(problem)
    same = f"All with {s2_words}."
    alike = abs(first / second - 1) < _ALIKE
    if as_noise:
        theorems = (f"{as_number(first)} under Theorem 1 and {two} alike" if alike else
                    f"{as_number(first)} under Theorem 1, {as_number(second)} under {two}")
        factors = [first / exact, second / exact]
        words = f"**Here i.i.d. noise needs standard deviation {theorems}, and {as_number(exact)} by the exact limit:**"
        what = "times what privacy needs"
    else:
        theorems = (f"Theorem 1 and {two} alike allow φ² = {as_number(first)}" if alike else
                    f"Theorem 1 allows φ² = {as_number(first)}, {two} {as_number(second)}")
        factors = [exact / first, exact / second]
        words = f"**Here {theorems}; exactly calibrated i.i.d. noise attains {as_number(exact)}:**"
        what = "times as much"
    return f"{words} {' and '.join(as_number(factor) for factor in (factors[:1] if alike else factors))} {what}. {same}"


def map_takeaway(problem: LimitInputs, numbers: WinnerMap, tail: str, *, s2_words: str) -> str:
    """Which theorem allows more here, by how much, and up to which ratio."""
    two = short_second(problem)
    factor = problem.theorem2(tail).limit / problem.theorem1(tail).limit
    winner, more = (two, factor) if numbers.theorem2_allows_more else ("Theorem 1", 1 / factor)
    by = (f"φ² is {as_number(more)} times as large" if more >= 1 + _ALIKE else
          "by less than 1 %, since β (the tail of the noise) outweighs both α and ω")
    return (f"**Here {winner} allows more:** {by}. s₂/γ = {as_number(numbers.ratio)} with {s2_words}; at r = "
            f"{numbers.rank:,} {two} wins up to {as_number(numbers.border_here)}.")
