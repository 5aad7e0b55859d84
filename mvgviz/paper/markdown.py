"""An experiment's report as Markdown."""

from __future__ import annotations

from mvgviz.paper.runs import MeasuredRow, Report
from mvgviz.paper.tables import SHARES
from mvgviz.paper.words import (
    ONCE,
    cell_text,
    figure_text,
    printed_text,
    sentence,
    setting,
    way_text,
    ways_text,
)


def report_markdown(report: Report) -> str:
    """Heading, table, the favoured sets with all shares, and what is not as in the paper."""
    experiment = report.experiment
    parts = [f"## Experiment {experiment.key}: {experiment.title}", setting(report), main_table(report),
             f"All five shares, for the favoured sets of the paper's Figure 4. {ONCE}", sets_table(report),
             "\n".join(f"* {note}" for note in experiment.notes)]
    return "\n\n".join(parts) + "\n"


def main_table(report: Report, *, sentences: bool = True) -> str:
    """Printed, as printed and exact, row by row."""
    experiment, ours = report.experiment, report.references
    head = ["mechanism", "printed in the paper", "ours, as printed", "ours, exact",
            "way to a random guess: printed / as printed / exact"] + ["what makes the difference"] * sentences
    lines = [head, ["---"] * len(head)]
    for label, printed, value in (
            ("without privacy", printed_text(experiment, experiment.non_private), ours.non_private),
            ("random guess", printed_text(experiment, experiment.random_guess), ours.random_guess),
            ("trivial answer", "–", ours.trivial)):
        said = figure_text(value)
        way = way_text(report.way(value))
        ways = f"{'–' if printed == '–' else way} / {way} / {way}"
        lines.append([label, printed, said, said, ways] + [""] * sentences)
    lines += [_row(report, row, sentences=sentences) for row in report.rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _row(report: Report, row: MeasuredRow, *, sentences: bool) -> list[str]:
    label = row.label if row.printed else f"*beyond:* {row.label}"
    cells = [label, printed_text(report.experiment, row.printed), cell_text(row.as_printed), cell_text(row.exact),
             ways_text(report, row)]
    return cells + [sentence(report, row)] * sentences


def sets_table(report: Report) -> str:
    """Every favoured set at every share, as printed and exact."""
    lines = [["more for", "noise", *(f"τ {share:.0%}".replace("%", " %") for share in SHARES)],
             ["---"] * (2 + len(SHARES))]
    for favoured in report.sets:
        for label, cell in (("as printed", favoured.as_printed), ("exact", favoured.exact)):
            figures = [figure_text(outcome.mean, outcome.half_width) for outcome in cell.outcomes]
            lines.append([favoured.name, label, *(figures if cell.shares else figures * len(SHARES))])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
