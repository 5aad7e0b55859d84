"""Several questions on one budget: noise on one against noise on another, and what a plan spends."""

from collections.abc import Sequence
from dataclasses import replace

import plotly.graph_objects as go

from mvgviz.noise.accounting import compose_mu, gaussian_epsilon, gaussian_mu
from mvgviz.pictures.picture import Picture
from mvgviz.pictures.sentences import split_words
from mvgviz.pictures.theme import DATA, DIRECTIONAL, add_dots, log_axis, styled
from mvgviz.release.ledger import Total
from mvgviz.release.release import Plan
from mvgviz.scenario.plan import PairTrade, QuestionNoise, QuestionPlan, pair_trade
from mvgviz.scenario.scenario import Scenario
from mvgviz.text import as_factor, as_number, as_probability, capitalised, in_markdown, listed, mu_words

_TIMES = "× that with the whole budget"


def pair_picture(plan: QuestionPlan, noise: Sequence[QuestionNoise], pair: tuple[int, int]) -> Picture:
    """Noise on one question against noise on another: all divisions of the budget, and the plan's own."""
    trade, names = replace(pair_trade(noise, *pair), alone=(1.0, 1.0)), short_names(plan)
    first, second = (names[k] for k in pair)
    shares, across, up = zip(*trade.curve, strict=True)
    figure = go.Figure(go.Scatter(
        x=across, y=up, mode="lines", name="every division of the budget", line={"color": DIRECTIONAL, "width": 2.5},
        customdata=[100 * share for share in shares],
        hovertemplate=f"%{{customdata:.1f}} % to {first}: noise %{{x:.3g}} on it, %{{y:.3g}} on the other"
                      "<extra></extra>"))
    a, b = (noise[k].alone for k in pair)
    for share, name, colour, symbol in ((a * a / (a * a + b * b), "same noise on both", DATA, "diamond-open"),
                                        (a / (a + b), "lowest noise in all", DATA, "square-open"),
                                        (trade.share, "this plan", DIRECTIONAL, "circle")):
        if shares[0] <= share <= shares[-1] or name == "this plan":
            x, y = trade.at(share)
            add_dots(figure, [x], [y], name, colour, 13, symbol, edge=colour,
                     hover=f"{name}: {100 * share:.1f} % to {first}, noise %{{x:.3g}} on it, %{{y:.3g}} on the other")
    figure.update_xaxes(title=f"noise on {first} ({_TIMES})",
                        **log_axis(min(*across, trade.here[0]), max(*across, trade.here[0]), room=0.03))
    figure.update_yaxes(title=f"noise on {second} ({_TIMES})",
                        **log_axis(min(*up, trade.here[1]), max(*up, trade.here[1]), room=0.03))
    return Picture(styled(figure, height=400), _trade_words(trade, first, second), """
The curve shows every way to divide the part of μ² that both have; the other questions keep theirs. With the share s a
question has 1/√s times the noise it would have alone, in the same shape. Diamond: both have the same noise where every
range is equally wide. Square: the sum of both squares is lowest.""")


def _trade_words(trade: PairTrade, first: str, second: str) -> str:
    noise = (f"**{capitalised(first)} has {as_factor(trade.here[0])} the noise it has alone, {second} "
             f"{as_factor(trade.here[1])}.**")
    if 4 * trade.share < 1:
        paid = trade.at(4 * trade.share)[1] / trade.here[1]
        return (f"{noise} Half the noise on {first} takes four times its share and leaves {second} "
                f"{as_factor(paid)}.")
    return (f"{noise} Half the noise on {first} is out of reach: the whole share of both brings it to "
            f"{as_factor(trade.share**0.5)} and leaves nothing for {second}.")


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
    asked = f"ε = {plan.epsilon:g} at δ = {as_probability(delta)}"
    if len(plan) == 1:
        return f"**One question has all of {asked}.** Add another to share it."
    alone = [as_number(question.epsilon) for question in noise]
    each = listed([f"ε = {epsilon}" for epsilon in alone], _NAMED)
    whole = gaussian_epsilon(delta, compose_mu([float(gaussian_mu(plan.epsilon, delta))] * len(plan)))
    return (f"**{len(plan)} questions together spend at most {asked}.** Alone they spend {each}: epsilons do not add "
            f"up, the squares of μ do. With the whole ε each, they would spend {as_number(float(whole))}.")


def total_words(plan: QuestionPlan, delta: float) -> str:
    """Return the plan's whole budget, exactly."""
    return (f"Together: {mu_words(float(gaussian_mu(plan.epsilon, delta)))}, which is ε = {plan.epsilon:g} at "
            f"δ = {as_probability(delta)}.")


def spends(planned: Plan) -> str:
    """Return "ε = 1.00 at δ = 10⁻⁶"."""
    return f"ε = {as_number(planned.epsilon)} at δ = {as_probability(planned.delta)}"


def ledger_words(totals: tuple[Total, Total] | None, *, questions: int, lasts: bool) -> str:
    """Return what is spent so far, and with these questions; ``lasts``: whether the ledger outlives the session."""
    if totals is None:
        return "Earlier releases about the same people count too."
    whom = "about these people" if lasts else "of this data in this session"
    so_far, after = totals
    before = "nothing yet" if so_far.epsilon == 0 else f"ε = {as_number(so_far.epsilon)}"
    these = "this one" if questions == 1 else f"these {questions}"
    return f"Released {whom}: {before}; with {these}: ε = {as_number(after.epsilon)} at the same δ."


def released_words(names: Sequence[str]) -> str:
    """Return which questions of the plan are released."""
    return f"{capitalised(listed([in_markdown(name) for name in names], _NAMED))}: released."
