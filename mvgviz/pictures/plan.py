"""Several questions on one budget: noise on one against noise on another, and what a plan spends."""

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from mvgviz.noise.accounting import compose_mu, gaussian_mu, root
from mvgviz.noise.mixtures import running_epsilon
from mvgviz.pictures.sentences import split_words
from mvgviz.pictures.theme import DATA, DIRECTIONAL, Picture, add_dots, add_line, log_axis, styled
from mvgviz.release.ledger import Total
from mvgviz.scenario.plan import PairTrade, QuestionNoise, QuestionPlan, least_noise, same_noise
from mvgviz.scenario.scenario import Scenario
from mvgviz.text import as_factor, as_number, at_delta, listed, mu_words


def pair_picture(plan: QuestionPlan, noise: Sequence[QuestionNoise], pair: tuple[int, int]) -> Picture:
    """Noise on one question against noise on another: all divisions of the budget, and the plan's own."""
    trade, names = PairTrade(noise=noise, pair=pair), short_names(plan)
    first, second = (names[k] for k in pair)
    shares, across, up = zip(*trade.curve, strict=True)
    figure, hover = go.Figure(), f" % to {first}: noise %{{x:.3g}} on it, %{{y:.3g}} on the other"
    add_line(figure, across, up, "every division of the budget", DIRECTIONAL, 2.5,
             hover="%{customdata:.1f}" + hover, customdata=[100 * share for share in shares])
    for share, name, colour, symbol in ((trade.rule(same_noise), "same noise on both", DATA, "diamond-open"),
                                        (trade.rule(least_noise), "lowest noise in all", DATA, "square-open"),
                                        (trade.share, "this plan", DIRECTIONAL, "circle")):
        if shares[0] <= share <= shares[-1] or name == "this plan":
            x, y = trade.at(share)
            add_dots(figure, [x], [y], name, colour, 13, symbol, edge=colour, hover=f"{name}: {100 * share:.1f}{hover}")
    for axis, name, values, here in ((figure.update_xaxes, first, across, trade.here[0]),
                                     (figure.update_yaxes, second, up, trade.here[1])):
        axis(title=f"noise on {name} (× that with the whole budget)",
             **log_axis(min(*values, here), max(*values, here), room=0.03))
    takeaway = (f"**With its part of the budget, {first} has {as_factor(trade.here[0])} the noise of a single "
                f"question, {second} {as_factor(trade.here[1])}.**")
    half, most = trade.here[0] / 2, 1 - 1e-12
    if trade.at(most)[0] < half:
        share = root(lambda share: math.log(trade.at(share)[0] / half), trade.share, most)
        takeaway += (f" Half the noise on {first} takes {as_number(share / trade.share)} times its share and leaves "
                     f"{second} {as_factor(trade.at(share)[1] / trade.here[1])}.")
    estimate = " The curve is exact at this plan's point and a close estimate elsewhere." * (
        any(plan.pure) and not all(plan.pure))
    return Picture(styled(figure, height=400), takeaway, (
        "Every way to divide the part of the budget that both have; the other questions keep theirs. Square: the sum "
        f"of both squares is lowest.{estimate}"))


_NAMED = 4
ONLY_EXACT = "Choose the exact guarantee for a plan: the theorems' promises do not add up exactly."


def short_names(plan: QuestionPlan) -> list[str]:
    """Return each question and its number."""
    return [f"{asked.kind.title} ({k + 1})" for k, asked in enumerate(plan.scenarios)]


def question_name(scenario: Scenario, names: Sequence[str]) -> str:
    """Return a question and its split; ``names``: of the features, as in the file."""
    bounded = "" if scenario.bound == "none" or scenario.is_graph else ", clipped records"
    return f"{scenario.kind.title}, {split_words(scenario, names)}{bounded}"


def plan_words(plan: QuestionPlan, noise: Sequence[QuestionNoise], delta: float) -> str:
    """Return what the questions spend together, what each spends alone, and what they would spend without a plan."""
    asked = f"ε = {plan.epsilon:g} {at_delta(delta, pure=all(plan.pure))}"
    if len(plan) == 1:
        return f"**One question has all of {asked}.** Add another to share it."
    each = listed([f"ε = {as_number(question.epsilon)}" for question in noise], _NAMED)
    whole = running_epsilon(delta, sum(plan.pure) * plan.epsilon,
                            float(gaussian_mu(plan.epsilon, delta)) * math.sqrt(len(plan) - sum(plan.pure)))
    return (f"**{len(plan)} questions together spend at most {asked}.** Each by itself: {each}. With the whole ε each, "
            f"they would spend {as_number(whole)}.")


def total_words(noise: Sequence[QuestionNoise]) -> str:
    """Return what the plan spends as a ledger counts it: the μ of Gaussian noise, the ε of the other."""
    pure = math.fsum(question.epsilon for question in noise if question.is_pure)
    mu = compose_mu([question.mu for question in noise if not question.is_pure] or [0.0])
    return f"Together: {mu_words(mu)}." if not pure else two_pots(noise[0].division.delta, pure, mu)


def two_pots(delta: float, pure: float, mu: float) -> str:
    """Return how a ledger counts two kinds of noise; empty for one."""
    return "" if not (pure and mu) else (
        f" The ledger counts ε = {as_number(running_epsilon(delta, pure, mu), 4)}: ε = {as_number(pure)} of box or "
        f"Laplace noise and {mu_words(mu)}, added up apart.")


def ledger_words(totals: tuple[Total, Total] | None, *, questions: int, lasts: bool) -> str:
    """Return what is spent so far, and with these questions; ``lasts``: whether the ledger outlives the session."""
    if totals is None:
        return "Earlier releases about the same people count too."
    whom = "about these people" if lasts else "of this data in this session"
    so_far, after = totals
    before = "nothing yet" if so_far.epsilon == 0 else f"ε = {as_number(so_far.epsilon)}"
    these = "this one" if questions == 1 else f"these {questions}"
    return f"Spent {whom}: {before}. After {these}: ε = {as_number(after.epsilon)} at the same δ."
