"""A scenario in a few pictures, each with its takeaway: what a report prints and a presenter shows."""

import re
from dataclasses import dataclass, field, replace

import numpy as np
import plotly.graph_objects as go

from mvgviz.design.limits import bound_curves, limit_inputs
from mvgviz.design.privacy_loss import odds, spent_mu
from mvgviz.pictures import bounds
from mvgviz.pictures.bounds import curve_lines, plot_bound_curves
from mvgviz.pictures.budget import BETWEEN, Names, gains_verdict, noise_factors, plot_noise_factors, who_gains
from mvgviz.pictures.privacy import found_label, odds_words, plot_tradeoff
from mvgviz.pictures.sentences import clipping_words
from mvgviz.pictures.shape import (
    ABOUT_BOUND,
    ABOUT_ELLIPSE,
    coordinate_labels,
    ellipse_words,
    needed_and_other,
    plane_labels,
)
from mvgviz.pictures.theme import ellipse_numbers, plot_noise_ellipse
from mvgviz.pictures.trade_off import (
    ABOUT_TRADE_OFF,
    others_sentence,
    plot_trade_off,
    trade_off_picture,
    trade_off_words,
)
from mvgviz.pictures.utility import LANES, dot_numbers, dots_about, metric_words, needed_names, plot_dots, result_words
from mvgviz.scenario.precision_budget import budget_table
from mvgviz.scenario.resolve import Setup
from mvgviz.scenario.trade_off import trade_off_of, trade_off_refusal
from mvgviz.text import as_number, capitalised, in_html, in_markdown
from mvgviz.trials.run import Results

_TITLE = 110  # letters, at most


@dataclass(frozen=True, kw_only=True, eq=False)
class Slide:
    """One picture. ``takeaway`` is Markdown (bold and escapes alone) and stands as the title."""

    key: str
    takeaway: str
    figure: go.Figure = field(repr=False)
    about: str


def design_slides(setup: Setup) -> list[Slide]:
    """Shape, who gains and who pays, what another share would give, privacy, bounds: what follows from the design."""
    makers = (_shape, _gains, _trade_off, _privacy, _limits)
    return [slide for maker in makers for slide in [maker(setup)] if slide is not None]


def utility_slide(setup: Setup, results: Results, *, simulated: bool) -> Slide | None:
    """How wrong the answer will be: directional noise against equal noise; None before the first trial.

    ``results`` has the mechanisms "mvg" and "iid"; others are left out. ``simulated``: they are of simulated data.
    """
    shown = replace(results, outcomes=tuple(outcome for outcome in results.outcomes if outcome.mechanism.key in LANES))
    if not shown["mvg"].errors.size:
        return None
    numbers = dot_numbers(shown)
    on = "simulated data" if simulated else "this data (not private)" if setup.scenario.is_upload else ""
    said = f"{result_words(shown, needed_names(setup), on=on)} {others_sentence(setup)}".rstrip()
    return Slide(key="utility", takeaway=said, about=dots_about(numbers),
                 figure=plot_dots(numbers, title=metric_words(shown)))


def _shape(setup: Setup) -> Slide | None:
    if setup.design.theta.size < 2:
        return None
    turned = setup.scenario.needs_along == "directions"
    labels, pair = setup.direction_names if turned else coordinate_labels(setup), needed_and_other(
        setup, of_directions=turned)
    numbers = ellipse_numbers(setup.design, setup.iid, plane=pair, level=0.95, of_directions=turned,
                              normals=np.random.default_rng(setup.scenario.seed).standard_normal((2, 250)))
    kept = "" if setup.query.bound is None else f" {ABOUT_BOUND}"
    names = plane_labels(setup, labels, pair, of_directions=turned, diagonal=True)
    said = f"{ellipse_words(numbers.factors, names)} {clipping_words(setup, name=in_markdown)}".rstrip()
    return Slide(key="shape", takeaway=said, about=f"{ABOUT_ELLIPSE}{kept}",
                 figure=plot_noise_ellipse(numbers, names=(in_html(names[0]), in_html(names[1]))))


def _gains(setup: Setup) -> Slide | None:
    table = budget_table(setup)
    if table.size < 2:
        return None
    names, numbers = Names(setup), noise_factors(table)
    return Slide(key="gains", takeaway=f"{gains_verdict(setup, names, numbers)}{who_gains(setup, names, numbers)}",
                 figure=plot_noise_factors(numbers, names=names.of_noise(numbers.shown)),
                 about="The typical error (standard deviation of the noise) along each direction, divided by that of "
                       "equal noise with the same guarantee. Left of the line a direction gains, right of it it pays."
                       f"{BETWEEN if setup.design.mode == 'both' else ''}")


def _trade_off(setup: Setup) -> Slide | None:
    if trade_off_refusal(setup) is not None:
        return None
    found = trade_off_of(setup)
    return Slide(key="trade_off", takeaway=trade_off_words(setup, found), about=ABOUT_TRADE_OFF,
                 figure=plot_trade_off(trade_off_picture(found)))


def _privacy(setup: Setup) -> Slide:
    spent = spent_mu(setup.design)
    said = odds(spent.total)
    figure = plot_tradeoff(spent.total, epsilon=setup.scenario.epsilon, delta=setup.delta,
                           marked=said.accused / said.out_of, said=found_label(*said))
    return Slide(key="privacy", takeaway=odds_words(setup, spent), figure=figure,
                 about="Every attack is a point; none lies below the curve. On the diagonal the release tells nothing. "
                       "For the worst neighbours, and an attacker who knows all other records.")


def _limits(setup: Setup) -> Slide:
    query = setup.query
    problem = limit_inputs(query, epsilon=setup.scenario.epsilon, delta=setup.delta, sensitivity=query.sensitivity)
    curves = bound_curves(problem, "epsilon")
    lines = curve_lines(curves, second=bounds.second_name(problem), tail=setup.scenario.tail, all_tails=False,
                        as_noise=True)
    figure = plot_bound_curves(curves, lines, axis_title=bounds.axis_title(problem, "epsilon"),
                               value_title="typical error of an entry (standard deviation)")
    return Slide(key="bounds", figure=figure,
                 about="How much equal noise each guarantee asks for, as the privacy budget varies; lower is "
                       "better. The points are this scenario. The theorems are sufficient, and loose; less noise than "
                       "the exact limit would break the promise.",
                 takeaway=bounds.curves_takeaway(problem, lines, as_noise=True,
                                                 s2_words=f"the tight s₂ = {as_number(query.sensitivity)}"))


def headline(takeaway: str) -> tuple[str, str]:
    """A takeaway as a title and the rest: the whole of it where it is short, else its bold beginning."""
    found = re.match(r"\*\*(.+?)\*\*\s*(.*)", takeaway, re.DOTALL)
    if found is None or len(takeaway) <= _TITLE:
        return takeaway.replace("**", ""), ""
    return found[1].rstrip(":"), capitalised(found[2])
