"""A report for stakeholders: one HTML file that needs no network, can be printed and holds its own pictures.

Its numbers and sentences come from the functions that the pages use, its page from ``templates/report.html``.
"""

import json
import textwrap
from datetime import UTC, datetime

import plotly.graph_objects as go
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from mvgviz.pictures import report as words
from mvgviz.pictures.glossary import WORDS
from mvgviz.pictures.theme import CSS_COLOURS, INK, PAPER
from mvgviz.pictures.utility import metric_words
from mvgviz.report.slides import design_slides, utility_slide
from mvgviz.scenario.resolve import Setup
from mvgviz.scenario.study import Study
from mvgviz.text import as_html, as_text
from mvgviz.trials.results import Results
from mvgviz.version import VERSION

_LINES = {"xaxis": 50, "yaxis": 28}
"""Letters in a line of an axis' title that a phone, and a picture on paper, have room for."""
_PAGES = Environment(loader=PackageLoader("mvgviz.report"), autoescape=True, undefined=StrictUndefined,
                     trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
_PAGES.policies["json.dumps_kwargs"] = {}
_PAGES.filters |= {"markdown": lambda text: Markup(as_html(text)), "plain": as_text}  # noqa: S704 as_html escapes


def report_html(setup: Setup, results: Results | None, *, simulated: bool, study: Study | None = None) -> str:
    """The report of a design and, where there are results of "mvg" and "iid", of what its answer is worth.

    ``simulated``: setup and results are those of a stand-in (``mvgviz.trials.stand_in``), so that
    nothing in the report is computed from the records. Otherwise trials and whatever else reads the
    data are not private, and the report says so at its top. ``study``: its notes are printed, and the file itself is
    at the end, to be saved and opened again.
    """
    told = None if results is None else utility_slide(setup, results, simulated=simulated)
    slides = design_slides(setup)
    return _PAGES.get_template("report.html").render(
        title=words.data_title(setup), colours=CSS_COLOURS, version=VERSION, made=datetime.now(UTC),
        scenario=setup.scenario, study=study,
        warnings=words.sharing_warnings(setup, results, simulated=simulated), asked=words.asked_items(setup),
        ranges=None if setup.query.is_graph else words.range_rows(setup), ranges_origin=setup.dataset.ranges_origin,
        promises=words.promise_sentences(setup), slides=slides, widths=words.width_table(setup),
        results=results, told=told, simulated=simulated,
        measured=None if results is None or told is None else {
            "metric": metric_words(results), "errors": words.error_rows(setup, results),
            "said": words.measured_sentences(setup, results, simulated=simulated)},
        limits=words.limit_rows(setup), assumptions=words.assumption_sentences(setup),
        glossary=[word.sentence for word in WORDS], references=words.references(setup),
        charts={key: _drawing(slide.figure) for key, slide in (slides | {"utility": told}).items() if slide},
        plotly=get_plotlyjs())


def _drawing(figure: go.Figure) -> dict[str, object]:
    """For Plotly: on white, and a page scrolls past it under a finger."""
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
