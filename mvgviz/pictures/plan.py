"""Several questions on one budget: noise on one against noise on another, and what a plan spends."""

from collections.abc import Sequence

import plotly.graph_objects as go

from mvgviz.noise.accounting import compose_mu, gaussian_epsilon, gaussian_mu
from mvgviz.pictures.picture import Picture
from mvgviz.pictures.sentences import split_words
from mvgviz.pictures.theme import DATA, DIRECTIONAL, log_axis, styled
from mvgviz.release.ledger import Total
from mvgviz.release.release import Plan
from mvgviz.scenario.plan import PairTrade, QuestionNoise, QuestionPlan, pair_trade
from mvgviz.scenario.scenario import Scenario
from mvgviz.text import as_factor, as_number, capitalised, delta_words, in_markdown, listed


def pair_picture(plan: QuestionPlan, noise: Sequence[QuestionNoise], pair: tuple[int, int]) -> Picture:
    """Noise on one question against noise on another: all divisions of the budget, and the plan's own.

    Open marks: the same noise on both, and the least squares of both.
    """
    trade, unit, names = pair_trade(noise, *pair), unit_of_noise(plan), short_names(plan)
    first, second = (names[k] for k in pair)
    shares, across, up = zip(*trade.curve, strict=True)
    figure = go.Figure(go.Scatter(
        x=across, y=up, mode="lines", name="every division of the budget", line={"color": DIRECTIONAL, "width": 2.5},
        customdata=[100 * share for share in shares],
        hovertemplate=f"%{{customdata:.1f}} % to {first}: noise %{{x:.3g}} on it, %{{y:.3g}} on the other"
                      "<extra></extra>"))
    a, b = trade.alone
    for share, name, colour, symbol in ((a * a / (a * a + b * b), "same noise on both", DATA, "diamond-open"),
                                        (a / (a + b), "least noise in all", DATA, "square-open"),
                                        (trade.share, "this plan", DIRECTIONAL, "circle")):
        if shares[0] <= share <= shares[-1] or name == "this plan":
            x, y = trade.at(share)
            figure.add_scatter(
                x=[x], y=[y], mode="markers", name=name,
                marker={"color": colour, "size": 13, "symbol": symbol, "line": {"width": 2, "color": colour}},
                hovertemplate=f"{name}: {100 * share:.1f} % to {first}, noise %{{x:.3g}} on it, %{{y:.3g}} on the "
                              "other<extra></extra>")
    figure.update_xaxes(title=f"noise on {first} ({unit})",
                        **log_axis(min(*across, trade.here[0]), max(*across, trade.here[0]), room=0.03))
    figure.update_yaxes(title=f"noise on {second} ({unit})",
                        **log_axis(min(*up, trade.here[1]), max(*up, trade.here[1]), room=0.03))
    return Picture(styled(figure, height=400), _trade_words(trade, first, second, unit), """
Across: the noise on one question; up: the noise on the other; the curve: every way to divide what both have of μ², the
others' shares as they are. A question with the share s has 1/√s times the noise it would have alone, its shape as it is
now. Diamond: both get the same noise. Square: their squares sum to as little as they can.

Noise is the root mean square over the features you need, or over all of them, each divided by what its range allows, so
that features with other units can be compared.""")


def _trade_words(trade: PairTrade, first: str, second: str, unit: str) -> str:
    """The noise on both, and what half the noise on the first would cost the second."""
    noise = f"**Noise {unit}: {as_number(trade.here[0])} on {first}, {as_number(trade.here[1])} on {second}.**"
    if 4 * trade.share < 1:
        paid = trade.at(4 * trade.share)[1] / trade.here[1]
        return (f"{noise} Half the noise on {first} takes four times its share; {second} would then have "
                f"{as_factor(paid)}.")
    least = trade.share**0.5
    return (f"{noise} Half the noise on {first} cannot be had: with all that both have it shrinks to "
            f"{as_factor(least)} at best, and nothing is left for {second}.")


_NAMED = 4
ONLY_EXACT = "What the theorems promise does not add up exactly, so a plan needs the exact guarantee."


def short_names(plan: QuestionPlan) -> list[str]:
    """What is asked, and the question's number."""
    return [f"{asked.kind.title} ({k + 1})" for k, asked in enumerate(plan.scenarios)]


def question_name(scenario: Scenario, names: Sequence[str]) -> str:
    """What is asked and how its noise is divided; ``names``: of the features, as in the file."""
    bounded = "" if scenario.bound == "none" or scenario.is_graph else ", bounded records"
    return f"{scenario.kind.title}, {split_words(scenario, names)}{bounded}"


def unit_of_noise(plan: QuestionPlan) -> str:
    """What the noise of its questions is measured in."""
    return "typical error (standard deviation)" if plan.scenarios[0].is_graph else "in units of the ranges"


def plan_words(plan: QuestionPlan, noise: Sequence[QuestionNoise], delta: float, n_records: int) -> str:
    """What the questions spend together, what each is alone, and what the same would cost without a plan."""
    asked = f"ε = {plan.epsilon:g} at δ = {delta_words(delta, n_records)}"
    if len(plan) == 1:
        return f"**One question has all of {asked}.** Add another, and they share it."
    alone = [as_number(question.epsilon) for question in noise]
    each = listed([f"ε = {epsilon}" for epsilon in alone], _NAMED)
    whole = gaussian_epsilon(delta, compose_mu([float(gaussian_mu(plan.epsilon, delta))] * len(plan)))
    return (f"**{len(plan)} questions together spend at most {asked}.** Alone they are {each}, which sums to "
            f"{as_number(sum(question.epsilon for question in noise))}: epsilons do not add up, the squares of μ do. "
            f"Asked with the whole ε each they would spend {as_number(float(whole))}.")


def total_words(plan: QuestionPlan, delta: float, n_records: int) -> str:
    """The plan's whole budget, exactly."""
    return (f"Together: μ = {as_number(float(gaussian_mu(plan.epsilon, delta)), 4)}, which is ε = {plan.epsilon:g} at "
            f"δ = {delta_words(delta, n_records)}, and never more.")


def spends(planned: Plan, n_records: int) -> str:
    """ε = 1.00 at δ = 1e-6."""
    return f"ε = {as_number(planned.epsilon)} at δ = {delta_words(planned.delta, n_records)}"


def ledger_words(totals: tuple[Total, Total] | None, *, questions: int, lasts: bool) -> str:
    """What the releases came to so far, and what they come to with these; ``lasts``: whether the ledger does."""
    if totals is None:
        return "What was released about the same people before counts too."
    whom = "about these people" if lasts else "of this data in this session"
    so_far, after = totals
    before = "nothing yet" if so_far.mu == 0 else f"ε = {as_number(so_far.epsilon)}"
    these = "this one" if questions == 1 else f"these {questions}"
    return f"Released {whom}: {before}; with {these}: ε = {as_number(after.epsilon)} at the same δ."


def released_words(names: Sequence[str]) -> str:
    """Which questions of the plan are out."""
    return f"{capitalised(listed([in_markdown(name) for name in names], _NAMED))}: released."
