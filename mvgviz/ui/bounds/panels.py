"""The words of the Bounds page: looseness, the table to check by hand, footnotes on the paper."""

from __future__ import annotations

import streamlit as st

from mvgviz.design.limits import LimitInputs, Rival, exact_limit, rival
from mvgviz.figures.bounds.design_space import Edge, Place, place
from mvgviz.figures.shared.theme import DIRECTIONAL, EXACT, GUARANTEE_COLOURS, THEOREM1, THEOREM2
from mvgviz.labels import GUARANTEES, TAILS
from mvgviz.noise.accounting import gaussian_mu
from mvgviz.noise.sides import NoiseSide
from mvgviz.query.queries import Query
from mvgviz.scenario.resolve import Setup, left_for_noise
from mvgviz.text import as_number, capitalised
from mvgviz.ui import session
from mvgviz.validation import FloatArray
from mvgviz.words.bounds import short_second

_TAIL_FORMULAS = {"printed": r"t=\zeta", "laurent-massart": r"t=\sqrt{\zeta}",
                  "exact-chi": r"\Pr(\chi_k>t)=\delta"}
_DIGITS = 6
_ALIKE = 0.01
_ON_THE_WAY = 9
ABOUT_SPACE = """The paper's Figure 3. A theorem allows every design below its line, where the product of the two norms
is at most φ². As printed, Theorem 2 speaks of Ψ = Σ only (equal norms); that its constant holds elsewhere is beyond
the paper.

The exact guarantee is no such line: it depends on which directions are precise and on what one record can change.
Drawn is the line on which exactly calibrated i.i.d. noise lies; other shapes lie above or below it and are just as
private."""
_LEMMA = r"""**Lemma 1's square.** The paper bounds $\lVert N\rVert_F^2$ by $\zeta^2$. Laurent and Massart's inequality,
on which it rests, gives $\lVert N\rVert_F^2\le\zeta$. The slip is on the safe side ($\zeta\ge1$): the theorems hold,
with a tail $\sqrt\zeta$ times too long. *Laurent–Massart* takes $\sqrt\zeta$, *exact chi* the quantile itself; the
proofs use no more than that $\lVert N\rVert_F$ stays below the tail with probability $1-\delta$."""
_NO_PSD = r"""**Theorem 2's proof uses no PSD.** Its last two terms are
$\lVert A\rVert^2-\lVert B\rVert^2=\langle A-B,\,A+B\rangle$ with $A=\Sigma^{-1/2}f(X')\Psi^{-1/2}$, and $B$ the same of
$f(X)$: at most $2H_r\gamma s_2\phi^2$, whatever the query and whatever $\Psi$. So $\omega$ may stand in place of
$\alpha$ for every query. That is not in the paper: here it is called *Theorem 2's constant*. (The last display of the
printed proof also lacks a square.)"""
_NUMBERS = """**Numbers.** Theorem 1 is the paper's general bound, Theorem 2 the one for positive semi-definite (PSD)
queries, Theorem 3 their comparison. The compiled paper counts the singular value decomposition first, so its own
numbers are higher."""


@st.cache_resource(scope="session", max_entries=12, show_spinner=False)
def _rivals(_setup: Setup, version: str) -> tuple[Rival, ...]:
    scenario, design, query = _setup.scenario, _setup.design, _setup.query
    epsilon, delta = left_for_noise(scenario.changed(guarantee="theorem1"), _setup.delta)
    if design.guarantee == "exact":
        names = ["theorem1", "theorem2" if query.psd and design.mode == "both" else "theorem2-any"]
    else:
        names = ["exact"]
    return tuple(rival(design, query, guarantee=name, epsilon=epsilon, delta=delta, tail=scenario.tail)
                 for name in names)


def rivals(setup: Setup) -> tuple[Rival, ...]:
    """The exact design for a theorem's; what both theorems would ask for an exact one."""
    return _rivals(setup, f"{session.version()} {setup.scenario.to_json()}")


@st.cache_resource(scope="session", max_entries=6, show_spinner=False)
def _exactness(_query: Query, version: str) -> bool:
    unit = NoiseSide.identity(_query.rows)
    return _query.name != "covariance" or _query.neighbours.worst(unit, unit).exact


def sensitivity_is_exact(query: Query) -> bool:
    """Whether the tight sensitivity is attained; that of many features' second moments is an upper bound."""
    return _exactness(query, f"{session.version()} {session.scenario().to_json()}")


def space_of(setup: Setup, problem: LimitInputs) -> tuple[list[Edge], list[Place], str]:
    """Edges, designs and the takeaway of the design space."""
    design, tail = setup.design, setup.scenario.tail
    limit = exact_limit(problem)
    edges = [Edge(name="Theorem 1", colour=THEOREM1, limit=problem.theorem1(tail).limit, width=6),
             Edge(name=short_second(problem), colour=THEOREM2, limit=problem.theorem2(tail).limit),
             Edge(name="Exact, i.i.d. noise", colour=EXACT, limit=limit)]
    this = place(design, name="this design", colour=DIRECTIONAL)
    others = [place(other.design, name=f"{capitalised(GUARANTEES[other.guarantee].name)}, same shares",
                    colour=GUARANTEE_COLOURS[other.guarantee], symbol="diamond",
                    size=17 if other.guarantee == "theorem1" else 11) for other in rivals(setup)]
    if design.bound is None:
        words = (f"**This design's product of norms is {as_number(this.product)}, {as_number(this.product / limit)} "
                 "times that of exact i.i.d. noise.** The exact limit depends on the shape, not only on the two norms.")
        return edges, [*others, this], words
    own = design.bound.limit
    words = (f"**This design is on the edge of its guarantee, {GUARANTEES[design.guarantee].in_sentence}:** "
             f"{as_number(this.rows)} × {as_number(this.cols)} = φ² = {as_number(own)}.")
    if all(abs(edge.limit / own - 1) > 1e-9 for edge in edges):
        paper = problem.sensitivity < setup.query.printed_sensitivity * (1 - 1e-9)
        reason = " and ".join([*(["the paper's s₂"] if paper else []),
                               *(["part of ε and δ"] if setup.scenario.directions == "private" else [])])
        edges.append(Edge(name=f"its own edge ({reason})", colour=GUARANTEE_COLOURS[design.guarantee], limit=own,
                          dash="dash", filled=False, width=2))
        words += f" That edge is dashed: it was built with {reason}."
    return edges, [*others, this], words


def draw_looseness(setup: Setup) -> None:
    """How much of the budget the noise really spends, and how much noise that costs."""
    others = rivals(setup)
    for sentence in (exact_words if setup.design.guarantee == "exact" else theorem_words)(setup, others):
        st.markdown(sentence)
    if setup.scenario.directions == "private":
        st.caption(f"{setup.scenario.private_share:.0%} of the budget went to the directions; noise is compared at the "
                   "rest of it. Curves and map are of i.i.d. noise, which needs no directions and has all of it.")


def theorem_words(setup: Setup, others: tuple[Rival, ...]) -> list[str]:
    """For a theorem's design: spent of allowed, and the exact design with the same shares."""
    design, query = setup.design, setup.query
    smaller = _times(1 / others[0].factors)
    sentences = [
        f"**This noise {_spends(setup)} of the {design.epsilon:g} you allow.** The same privacy needs noise "
        f"**{smaller} smaller**: same directions, same shares, calibrated exactly."]
    extra = query.printed_sensitivity / query.sensitivity
    if extra > 1 + 1e-9:
        rest = 1 / others[0].factors / extra
        sentences.append(f"The exact design uses the tight s₂; the paper's is {as_number(extra)} times that. With the "
                         f"paper's for both, the noise is still {_times(rest)} too large.")
    return sentences


def exact_words(setup: Setup, others: tuple[Rival, ...]) -> list[str]:
    """For an exact design: what either theorem would ask, and what that would spend."""
    sentences = ["**This noise spends exactly the ε it is given: no slack.** For the same directions and shares:"
                 if setup.design.mu_is == "exact" else
                 "**This noise spends at most the ε it is given** (its worst case is an upper bound). For the same "
                 "directions and shares:"]
    extra = setup.query.printed_sensitivity / setup.query.sensitivity
    asked: dict[str, list[str]] = {}
    for other in others:
        beyond = " (beyond the paper)" if other.guarantee == "theorem2-any" else ""
        fair = f" ({_times(other.factors / extra)} with the paper's s₂ for both)" if extra > 1 + 1e-9 else ""
        wants = (f"for noise **{_times(other.factors)} larger**{fair}, which then spends "
                 f"{_epsilon(other.design.epsilon_spent(setup.delta))}.")
        asked.setdefault(wants, []).append(f"**{GUARANTEES[other.guarantee].in_sentence}**{beyond}")
    lines = [f"- {' and '.join(names)} {'asks' if len(names) == 1 else 'both ask'} {wants}"
             for wants, names in asked.items()]
    return [*sentences, "\n".join(lines)]


def draw_table(problem: LimitInputs, tail: str, *, s2_words: str) -> None:
    """Every quantity on the way to phi, with its formula and six digits."""
    given = (f"Given: ε = {_digits(problem.epsilon)}, δ = {_digits(problem.delta)}, answer "
             f"R × C = {problem.rows:,} × {problem.cols:,}, γ = {_digits(problem.gamma)}, "
             f"s₂ = {_digits(problem.sensitivity)} ({s2_words}), tail {TAILS[tail].name}.")
    st.markdown(f"**Check it by hand.** {given}")
    lines = [f"| {name} | ${formula}$ | {value} |" for name, formula, value in table_lines(problem, tail)]
    for column, part in zip(st.columns(2, gap="large"), (lines[:_ON_THE_WAY], lines[_ON_THE_WAY:]), strict=True):
        column.markdown("\n".join(["| quantity | formula | value |", "|:--|:--|--:|", *part]))
    st.caption("φ as printed is (−β + √(β² + 8αε)) / 2α: the same number, but the difference loses its digits.")


def table_lines(problem: LimitInputs, tail: str) -> list[tuple[str, str, str]]:
    """Name, formula in LaTeX, value in words; values are those of the bounds themselves."""
    one, two = problem.theorem1(tail), problem.theorem2(tail)
    second = short_second(problem)
    root = r"4\varepsilon/\bigl(\beta+\sqrt{\beta^2+8%s\varepsilon}\bigr)"
    return [
        ("rank bound r", r"\min(R,C)", f"{one.rank:,}"),
        ("entries k", r"R\,C", f"{problem.entries:,}"),
        ("$H_r$", r"\sum_{i=1}^{r}1/i", _digits(one.harmonic)),
        ("$H_{r,1/2}$", r"\sum_{i=1}^{r}1/\sqrt{i}", _digits(one.harmonic_half)),
        (r"$\zeta$", r"2\sqrt{-k\ln\delta}-2\ln\delta+k", _digits(one.zeta)),
        ("tail $t$", _TAIL_FORMULAS[tail], _digits(one.tail_value)),
        (r"$\alpha$, Theorem 1", r"(H_r+H_{r,1/2})\gamma^2+2H_r\gamma s_2", _digits(one.alpha)),
        (rf"$\omega$, {second}", r"4H_r\gamma s_2", _digits(one.omega)),
        (r"$\beta$", r"2k^{1/4}\,t\,H_r s_2", _digits(one.beta)),
        (r"$\phi$, Theorem 1", root % r"\alpha", _digits(one.phi)),
        (r"$\phi^2$, Theorem 1", r"\phi\cdot\phi", _digits(one.limit)),
        (rf"$\phi$, {second}", root % r"\omega", _digits(two.phi)),
        (rf"$\phi^2$, {second}", r"\phi\cdot\phi", _digits(two.limit)),
        (r"$\mu$, exact", r"\delta=\Phi(\tfrac{\mu}{2}-\tfrac{\varepsilon}{\mu})-e^{\varepsilon}"
                          r"\Phi(-\tfrac{\mu}{2}-\tfrac{\varepsilon}{\mu})",
         _digits(float(gaussian_mu(problem.epsilon, problem.delta)))),
        ("in place of $\\phi^2$, exact i.i.d.", r"\sqrt{k}\,(\mu/s_2)^2", _digits(exact_limit(problem))),
    ]


def draw_footnotes() -> None:
    """Where print and proof part; one click away."""
    with st.popover("Footnotes on the paper", type="tertiary", icon=":material/menu_book:"):
        for note in (_LEMMA, _NO_PSD, _NUMBERS):
            st.markdown(note)


def _digits(value: float) -> str:
    """Six digits that stay on one line."""
    return as_number(value, _DIGITS).replace(" ", "\N{NO-BREAK SPACE}")


def _epsilon(spent: float) -> str:
    return f"ε = {as_number(spent)}" if spent > 0 else "no ε at all: δ alone covers it"


def _spends(setup: Setup) -> str:
    spent = setup.epsilon_spent
    if not spent > 0:
        return "spends ε = 0 (δ alone covers it)"
    return f"spends {'' if setup.design.mu_is == 'exact' else 'at most '}ε = {as_number(spent)}"


def _times(factors: FloatArray) -> str:
    """"196 times", or "120 to 250 times" where directions differ."""
    low, high = float(factors.min()), float(factors.max())
    if high <= low * (1 + _ALIKE):
        return f"{as_number(high)} times"
    return f"{as_number(low)} to {as_number(high)} times"
