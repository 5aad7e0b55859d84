"""A report for stakeholders: one HTML file that needs no network, can be printed and holds its own pictures.

Its numbers and sentences come from the functions that the pages use.
"""

from __future__ import annotations

import html
import json
import textwrap
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from urllib.parse import urlencode

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from mvgviz.report.slides import Slide, design_slides, utility_slide
from mvgviz.scenario.resolve import Setup
from mvgviz.text import in_html
from mvgviz.trials.run import Results
from mvgviz.version import VERSION
from mvgviz.words import report as words
from mvgviz.words.report import as_html, as_text
from mvgviz.words.utility import metric_words

_POLICY = ("default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
           "base-uri 'none'; form-action 'none'")
_LINE = 50
_STYLE = """
:root {color-scheme: light}
body {margin: 0; background: #fff; color: #1b1f24; font: 16px/1.5 system-ui, "Segoe UI", Helvetica, Arial, sans-serif}
main {max-width: 700px; margin: 0 auto; padding: 1.5rem 1rem 3rem; overflow-wrap: anywhere}
h1 {font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem}
h2 {font-size: 1.2rem; margin: 2.2rem 0 .5rem; padding-top: .6rem; border-top: 2px solid #2B8CD6}
h3 {font-size: 1rem; margin: 1.2rem 0 .3rem}
p, ul, ol {margin: .4rem 0}
li {margin: .25rem 0}
.quiet {color: #55606b; font-size: .9rem}
.care {border-left: 5px solid #D55E00; background: #fdf1e9; padding: .6rem .9rem; margin: 1rem 0}
.fine {border-left: 5px solid #009E73; background: #ebf7f3; padding: .6rem .9rem; margin: 1rem 0}
dl {display: grid; grid-template-columns: minmax(6rem, max-content) 1fr; gap: .2rem 1rem; margin: .4rem 0}
dt {color: #55606b}
dd {margin: 0}
table {border-collapse: collapse; width: 100%; margin: .6rem 0; font-size: .92rem}
caption {text-align: left; color: #55606b; padding-bottom: .2rem}
th, td {text-align: left; vertical-align: top; padding: .25rem .5rem .25rem 0; border-bottom: 1px solid #d5dbe1}
thead th, td {overflow-wrap: normal}
figure {margin: 1.4rem 0; break-inside: avoid}
figcaption .quiet p {margin: .2rem 0}
.chart {width: 100%}
button {font: inherit; font-size: .85rem; color: #1b1f24; background: #f2f5f8; border: 1px solid #8a96a3;
        border-radius: .3rem; padding: .1rem .6rem; cursor: pointer}
pre {background: #f2f5f8; padding: .7rem; font-size: .8rem; white-space: pre-wrap; break-inside: avoid}
@page {margin: 14mm 12mm}
@media print {
  body {font-size: 11pt}
  main {padding: 0; max-width: none}
  h2, h3 {break-after: avoid}
  h2.page {break-before: page}
  .tools {display: none}
  .care, .fine, .chart {print-color-adjust: exact; -webkit-print-color-adjust: exact}
}
"""
_SCRIPT = """
const charts = JSON.parse(document.getElementById("charts").textContent);
const fit = () => document.querySelectorAll(".chart").forEach(node => Plotly.Plots.resize(node));
for (const [key, chart] of Object.entries(charts)) {
  Plotly.newPlot("chart-" + key, chart.data, chart.layout,
                 {displayModeBar: false, displaylogo: false, responsive: true, scrollZoom: false});
}
document.querySelectorAll("button[data-format]").forEach(button => button.addEventListener("click", () => {
  const node = document.getElementById("chart-" + button.dataset.chart);
  Plotly.downloadImage(node, {format: button.dataset.format, filename: "mvgviz-" + button.dataset.chart, scale: 2,
                              width: node.clientWidth, height: node.clientHeight});
}));
addEventListener("beforeprint", fit);
addEventListener("afterprint", fit);
"""


def report_html(setup: Setup, results: Results | None, *, simulated: bool) -> str:
    """The report of a design and, where there are results of "mvg" and "iid", of what its answer is worth.

    ``simulated``: setup and results are those of a stand-in (``mvgviz.scenario.setup.on_stand_in``), so that
    nothing in the report is computed from the records. Otherwise trials and whatever else reads the
    data are not private, and the report says so at its top.
    """
    told = None if results is None else utility_slide(results)
    slides = design_slides(setup)
    title = f"Privacy report: {in_html(words.data_title(setup))}"
    parts = [
        _head(title), _opening(setup, results, simulated), _asked(setup), _promised(setup),
        _pictures(slides), _error(setup, results, told, simulated), _limits(setup), _assumed(setup), _again(setup),
    ]
    charts = json.dumps({slide.key: _drawing(slide.figure) for slide in [*slides, *([told] if told else [])]})
    body = "\n".join(parts)
    return (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
            f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n"
            f'<script id="charts" type="application/json">{_in_script(charts)}</script>\n'
            f"<script>{get_plotlyjs()}</script>\n<script>{_SCRIPT}</script>\n</body>\n</html>\n")


def _head(title: str) -> str:
    made = datetime.now(UTC)
    return (f'<header>\n<h1>{title}</h1>\n<p class="quiet">Made with mvgviz {VERSION} on '
            f'<time datetime="{made:%Y-%m-%d}">{made.day} {made:%B %Y}</time>. No released answer is in it.</p>\n'
            "<noscript><p class=\"care\">The pictures need JavaScript. What each of them shows stands below it in "
            "words.</p></noscript>\n</header>")


def _opening(setup: Setup, results: Results | None, simulated: bool) -> str:
    """Whether it may be given away."""
    found = words.sharing_warnings(setup, results, simulated=simulated)
    if not found:
        return ('<p class="fine"><strong>Nothing in this report was computed from the records.</strong> It follows '
                "from their number, the ranges and the choices alone.</p>")
    return ('<div class="care" role="note"><p><strong>Before you give this to others: parts of it are not '
            f"private.</strong> No guarantee covers them:</p>\n{_bullets(found)}</div>")


def _asked(setup: Setup) -> str:
    items = "\n".join(f"<dt>{html.escape(name)}</dt><dd>{as_html(text)}</dd>"
                      for name, text in words.asked_items(setup))
    table = ""
    if not setup.query.is_graph:
        rows, more = words.range_rows(setup)
        table = _table(("feature", "lowest", "highest"), rows, caption=f"Ranges, {setup.dataset.ranges_origin.words}")
        if more:
            table += f'<p class="quiet">And {more:,} more features.</p>'
    return f"<h2>What was asked</h2>\n<dl>\n{items}\n</dl>\n{table}"


def _promised(setup: Setup) -> str:
    return f"<h2>What is promised</h2>\n{_paragraphs(words.promise_sentences(setup))}"


def _pictures(slides: Sequence[Slide]) -> str:
    return '<h2 class="page">In pictures</h2>\n' + "\n".join(map(_figure, slides))


def _error(setup: Setup, results: Results | None, told: Slide | None, simulated: bool) -> str:
    heading = '<h2 class="page">How good the answer will be</h2>\n'
    if results is None:
        return f"{heading}<p>No trials were run, so nothing is said about the error of the answer.</p>"
    if told is None:
        reason = results["mvg"].reason
        return f"{heading}<p>{in_html(reason) if reason else 'No trial was finished.'}</p>"
    rows = words.error_rows(setup, results)
    caption = f"{metric_words(results)}; mean and 95 % interval of {results['mvg'].errors.size:,} trials"
    return (f"{heading}{_figure(told)}\n{_table(('answer', 'error', 'ε spent'), rows, caption=caption)}"
            f"{_paragraphs(words.measured_sentences(setup, results, simulated=simulated))}")


def _limits(setup: Setup) -> str:
    return ("<h2>The printed theorems against the exact limit</h2>\n<p>The published theorems are sufficient, and "
            "loose. The privacy of Gaussian noise can be computed exactly. Here for noise of one size, all with the "
            "same sensitivity.</p>\n"
            + _table(("guarantee", "noise (standard deviation)", "times the exact", "ε really spent"),
                     words.limit_rows(setup)))


def _assumed(setup: Setup) -> str:
    references = [*words.REFERENCES, *words.data_references(setup)]
    return (f"<h2>What was assumed</h2>\n{_bullets(words.assumption_sentences(setup))}\n"
            f"<h2>References</h2>\n<ol>{''.join(f'<li>{html.escape(one)}</li>' for one in references)}</ol>")


def _again(setup: Setup) -> str:
    """What it takes to come to the same numbers."""
    link = "?" + urlencode(setup.scenario.to_query())
    needs = ("" if not setup.scenario.is_upload else
             " The file itself is in neither: it has to be brought again.")
    return ("<h2>To do it again</h2>\n<p>Put this behind the address of the app, or save the JSON below and open it "
            f"there, or run <code>python -m mvgviz scenario.json</code>.{needs}</p>\n"
            f"<pre>{html.escape(link)}</pre>\n<pre>{html.escape(setup.scenario.to_json())}</pre>")


def _figure(slide: Slide) -> str:
    """A picture, under it its takeaway and what it shows."""
    buttons = " ".join(f'<button type="button" data-chart="{slide.key}" data-format="{kind}" '
                       f'aria-label="Save the picture {slide.key} as {kind.upper()}">{kind.upper()}</button>'
                       for kind in ("png", "svg"))
    height = slide.figure.layout.height or 400
    return (f'<figure aria-label="{html.escape(as_text(slide.takeaway))}">\n'
            f'<div class="chart" id="chart-{slide.key}" style="height: {height}px"></div>\n'
            f'<figcaption><p>{as_html(slide.takeaway)}</p>\n<div class="quiet">{_paragraphs([slide.about])}</div>\n'
            f'<p class="tools">Save: {buttons}</p></figcaption>\n</figure>')


def _drawing(figure: go.Figure) -> dict[str, object]:
    """For Plotly: on white, and a page scrolls past it under a finger."""
    shown = go.Figure(figure)
    shown.update_layout(template="plotly_white", paper_bgcolor="#fff", dragmode=False, autosize=True,
                        font={"color": "#1b1f24", "size": 13})
    for axis in (shown.layout.xaxis, shown.layout.yaxis):
        axis.title.font.size = 14
        title = axis.title.text or ""
        if len(title) > _LINE and "<br>" not in title:  # lines that a phone has room for
            lines = [line for part in title.split("; ") for line in textwrap.wrap(part, _LINE, break_long_words=False)]
            axis.title.text = "<br>".join(lines)
    drawing: dict[str, object] = json.loads(shown.to_json())
    return drawing


def _in_script(text: str) -> str:
    """JSON that cannot end the element it stands in."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "") -> str:
    """Cells are Markdown already made harmless; the first of a row is its head."""
    top = "".join(f'<th scope="col">{html.escape(head)}</th>' for head in heads)
    lines = "\n".join(f'<tr><th scope="row">{as_html(first)}</th>{_cells(rest)}</tr>' for first, *rest in rows)
    said = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{said}<thead><tr>{top}</tr></thead>\n<tbody>\n{lines}\n</tbody></table>\n"


def _cells(cells: Iterable[str]) -> str:
    return "".join(f"<td>{as_html(cell)}</td>" for cell in cells)


def _bullets(sentences: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{as_html(one)}</li>' for one in sentences)}</ul>"


def _paragraphs(sentences: Iterable[str]) -> str:
    return "\n".join(f"<p>{as_html(one)}</p>" for one in sentences)
