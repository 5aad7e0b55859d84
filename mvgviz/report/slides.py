"""A scenario in a few pictures: what a report prints and a presenter shows."""

import re
from dataclasses import replace

import numpy as np

from mvgviz.design.limits import limit_inputs
from mvgviz.design.privacy_loss import spent_mu
from mvgviz.pictures.bounds import curves_picture
from mvgviz.pictures.budget import gains_verdict, noise_picture
from mvgviz.pictures.picture import Picture
from mvgviz.pictures.privacy import odds_words, tradeoff_picture
from mvgviz.pictures.sentences import clipping_words
from mvgviz.pictures.shape import (
    ABOUT_BOUND,
    coordinate_labels,
    ellipse_numbers,
    ellipse_picture,
    needed_and_other,
    plane_labels,
)
from mvgviz.pictures.trade_off import others_sentence, trade_off_picture
from mvgviz.pictures.utility import LANES, dots_picture, needed_names
from mvgviz.scenario.precision_budget import budget_table
from mvgviz.scenario.resolve import Setup
from mvgviz.scenario.trade_off import trade_off_of, trade_off_refusal
from mvgviz.text import as_number, capitalised, in_markdown
from mvgviz.trials.results import Results

_TITLE = 110  # letters, at most


def design_slides(setup: Setup) -> dict[str, Picture]:
    """Shape, who gains and who pays, what another share would give, privacy, bounds: what follows from the design."""
    slides, table, spent, query = {}, budget_table(setup), spent_mu(setup.design), setup.query
    asked = {"epsilon": setup.scenario.epsilon, "delta": setup.delta}
    if table.size > 1:
        slides["shape"] = _shape(setup)
        gains = noise_picture(setup, table)
        slides["gains"] = replace(gains, takeaway=f"{gains_verdict(setup, table)}{gains.takeaway}")
    if trade_off_refusal(setup) is None:
        slides["trade_off"] = trade_off_picture(setup, trade_off_of(setup))
    slides["privacy"] = replace(tradeoff_picture(spent.total, **asked, mu_is=setup.design.mu_is),
                                takeaway=odds_words(setup, spent))
    limits = curves_picture(limit_inputs(query, **asked, sensitivity=query.sensitivity), "epsilon",
                            tail=setup.scenario.tail, as_noise=True, all_tails=False,
                            s2_words=f"the tight s₂ = {as_number(query.sensitivity)}")
    slides["bounds"] = replace(limits, about="""\
How much equal noise each guarantee asks for, as the privacy budget varies; lower is better. The points are this \
scenario. The theorems are sufficient, and loose; less noise than the exact limit would break the promise.""")
    return slides


def _shape(setup: Setup) -> Picture:
    turned = setup.scenario.needs_along == "directions"
    labels = setup.direction_names if turned else coordinate_labels(setup)
    pair = needed_and_other(setup, of_directions=turned)
    numbers = ellipse_numbers(setup.design, setup.iid, plane=pair, level=0.95, of_directions=turned,
                              normals=np.random.default_rng(setup.scenario.seed).standard_normal((2, 250)))
    picture = ellipse_picture(numbers, plane_labels(setup, labels, pair, of_directions=turned, diagonal=True))
    kept = "" if setup.query.bound is None else f" {ABOUT_BOUND}"
    return replace(picture, about=f"{picture.about}{kept}").adding(clipping_words(setup, name=in_markdown))


def utility_slide(setup: Setup, results: Results, *, simulated: bool) -> Picture | None:
    """How wrong the answer will be: directional noise against equal noise; None before the first trial.

    ``results`` has the mechanisms "mvg" and "iid"; others are left out. ``simulated``: they are of simulated data.
    """
    shown = replace(results, outcomes=tuple(outcome for outcome in results.outcomes if outcome.mechanism.key in LANES))
    if not shown["mvg"].errors.size:
        return None
    on = "simulated data" if simulated else "this data (not private)" if setup.scenario.is_upload else ""
    return dots_picture(shown, needed_names(setup), on=on).adding(others_sentence(setup))


def headline(takeaway: str) -> tuple[str, str]:
    """A takeaway as a title and the rest: the whole of it where it is short, else its bold beginning."""
    found = re.match(r"\*\*(.+?)\*\*\s*(.*)", takeaway, re.DOTALL)
    if found is None or len(takeaway) <= _TITLE:
        return takeaway.replace("**", ""), ""
    return found[1].rstrip(":"), capitalised(found[2])
