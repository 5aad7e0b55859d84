"""A report for stakeholders: one HTML file that needs no network, can be printed and holds its own pictures.

Its numbers and sentences come from the functions that the pages use, its page from ``templates/report.html``.
"""

import json
import textwrap
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import plotly.graph_objects as go
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from mvgviz.design.limits import limit_inputs
from mvgviz.design.privacy_loss import spent_mu
from mvgviz.pictures import report as words
from mvgviz.pictures import shape
from mvgviz.pictures.bounds import curves_picture
from mvgviz.pictures.budget import noise_picture
from mvgviz.pictures.privacy import odds_words, tradeoff_picture
from mvgviz.pictures.sentences import WORDS, clipping_words
from mvgviz.pictures.theme import CSS_COLOURS, INK, PAPER, Picture
from mvgviz.pictures.trade_off import others_sentence, trade_off_picture
from mvgviz.pictures.utility import LANES, dots_picture, metric_words, priority_names
from mvgviz.scenario.precision_budget import budget_table
from mvgviz.scenario.resolve import Setup
from mvgviz.scenario.study import Study
from mvgviz.scenario.trade_off import trade_off_of, trade_off_refusal
from mvgviz.text import as_html, as_number, as_text, in_markdown
from mvgviz.trials.results import Results
from mvgviz.version import VERSION

_LINES = {"xaxis": 50, "yaxis": 28}
"""Letters in a line of an axis' title that a phone, and a picture on paper, have room for."""
TEMPLATES = Environment(loader=PackageLoader("mvgviz.report"), autoescape=True, undefined=StrictUndefined,
                     trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
TEMPLATES.policies["json.dumps_kwargs"] = {}
TEMPLATES.filters |= {"markdown": lambda text: Markup(as_html(text)), "plain": as_text}  # noqa: S704 as_html escapes


def report_html(setup: Setup, results: Results | None, *, simulated: bool, study: Study | None = None) -> str:
    """Return the report of a design and, where there are results of "mvg" and "iid", of what its answer is worth.

    ``simulated``: setup and results are of simulated data (``mvgviz.trials.simulated``); no record enters the report.
    Otherwise whatever reads the data is not private, and the report says so at its top. ``study``: the report prints
    its notes, and the file itself at the end.
    """
    utility = None if results is None else utility_slide(setup, results, simulated=simulated)
    slides = design_slides(setup)
    return TEMPLATES.get_template("report.html").render(
        title=words.data_title(setup), colours=CSS_COLOURS, version=VERSION, made=datetime.now(UTC),
        scenario=setup.scenario, study=study,
        warnings=words.sharing_warnings(setup, results, simulated=simulated), asked=words.asked_items(setup),
        ranges=None if setup.query.is_graph else words.range_rows(setup), ranges_origin=setup.dataset.ranges_origin,
        promises=words.promise_sentences(setup), slides=slides, widths=words.width_table(setup),
        results=results, utility=utility, simulated=simulated,
        measured=None if results is None or utility is None else {
            "metric": metric_words(results), "errors": words.error_rows(setup, results),
            "said": words.measured_sentences(setup, results, simulated=simulated)},
        limits=words.limit_rows(setup), assumptions=words.assumption_sentences(setup),
        glossary=[word.sentence for word in WORDS], references=words.references(setup),
        charts={key: _drawing(slide.figure) for key, slide in (slides | {"utility": utility}).items() if slide},
        plotly=get_plotlyjs())


def design_slides(setup: Setup) -> dict[str, Picture]:
    """Shape, who gains and who pays, what another share would give, privacy, bounds: what follows from the design."""
    slides, table, spent, query = {}, budget_table(setup), spent_mu(setup.design), setup.query
    asked = {"epsilon": setup.scenario.epsilon, "delta": setup.delta}
    if table.size > 1:
        if not setup.design.blocks:  # its cloud and outline are those of Gaussian noise
            slides["shape"] = _shape(setup)
        slides["gains"] = noise_picture(setup, table)
    if trade_off_refusal(setup) is None:
        slides["trade_off"] = trade_off_picture(setup, trade_off_of(setup))
    slides["privacy"] = tradeoff_picture(spent, **asked, mu_is=setup.design.mu_is).adding(odds_words(setup, spent))
    limits = curves_picture(limit_inputs(query, **asked, sensitivity=query.sensitivity), "epsilon",
                            tail=setup.scenario.tail, as_noise=True, all_tails=False,
                            s2_words=f"the tight s₂ = {as_number(query.sensitivity)}")
    slides["bounds"] = replace(limits, about=(
        "How much equal Gaussian noise each guarantee asks for; lower is better. The theorems are sufficient, and "
        "loose; less Gaussian noise than the exact limit would break the promise."))
    return slides


def _shape(setup: Setup) -> Picture:
    turned, pair, names = shape.design_plane(setup)
    numbers = shape.ellipse_numbers(setup.design, setup.iid, plane=pair, level=0.95, of_directions=turned,
                                    normals=np.random.default_rng(setup.scenario.seed).standard_normal((2, 250)))
    picture = shape.ellipse_picture(numbers, names)
    kept = "" if setup.query.bound is None else f" {shape.ABOUT_BOUND}"
    return replace(picture, about=f"{picture.about}{kept}").adding(clipping_words(setup, name=in_markdown))


def utility_slide(setup: Setup, results: Results, *, simulated: bool) -> Picture | None:
    """Return how wrong the answer will be, with "mvg" against "iid" of ``results``; None before the first trial."""
    shown = replace(results, outcomes=tuple(outcome for outcome in results.outcomes if outcome.mechanism.key in LANES))
    if not shown["mvg"].errors.size:
        return None
    on = "simulated data" if simulated else "this data (not private)" if setup.scenario.is_upload else ""
    return dots_picture(shown, priority_names(setup), on=on).adding(others_sentence(setup))


def _drawing(figure: go.Figure) -> dict[str, object]:
    shown = go.Figure(figure)
    shown.update_layout(template="plotly_white", paper_bgcolor=PAPER, dragmode=False, autosize=True,
                        font={"color": INK, "size": 13})
    for name, longest in _LINES.items():
        axis = shown.layout[name]
        axis.title.font.size = 14
        title = axis.title.text or ""
        if len(title) > longest and "<br>" not in title:
            lines = [line for part in title.split("; ")
                     for line in textwrap.wrap(part, longest, break_long_words=False)]
            axis.title.text = "<br>".join(lines)
    drawing: dict[str, object] = json.loads(shown.to_json())
    return drawing
