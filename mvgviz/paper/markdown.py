"""An experiment's report as Markdown."""

from mvgviz.paper.runs import SHARES, Report
from mvgviz.paper.words import ONCE, cell_text, figure_text, printed_text, sentence, setting, way_text, ways_text

OPENING = """# The paper's experiments, printed and measured

    mvgviz experiments > docs/experiments.md

The paper's three experiments at ε = 1, δ = 1/n: what it printed, what comes out *as printed* (its theorem with its own
tail and sensitivity, the classic Gaussian mechanism), and what comes out when the same promise is calibrated *exactly*.
Means with 95 % intervals. Scales differ (ranges are declared here, taken from the data in the paper), so compare the
way to a random guess: how far the error is from no privacy to chance. τ is the best of five shares for the favoured
features, as in the paper; choosing it looks at the data and is not private.

What it shows: the theorems as printed ask for so much noise that hardly anything survives, and really spend next to
nothing of ε; the printed figures do not follow from them. Exact noise makes a covariance useful at ε = 1 (II, and I and
III when the covariance is asked for); on a whole table no shape of noise helps much. Directional noise beats equal
noise where few directions matter (I, clipped) and loses where all do (II, III); records kept inside a ball, chosen
without the data, need less of either. The answer without data is what anyone could guess from the ranges; *beyond*
marks rows that the paper does not have.
"""


def report_markdown(report: Report) -> str:
    """Heading, table, the favoured sets with all shares, and what is not as in the paper."""
    experiment = report.experiment
    parts = [f"## Experiment {experiment.key}: {experiment.title}", setting(report), main_table(report),
             f"All five shares, for the favoured sets of the paper's Figure 4. {ONCE}", sets_table(report),
             "\n".join(f"* {note}" for note in experiment.notes)]
    return "\n\n".join(parts) + "\n"


def main_table(report: Report) -> str:
    """Printed, as printed and exact, row by row."""
    experiment, ours = report.experiment, report.references
    head = ["mechanism", "printed in the paper", "ours, as printed", "ours, exact",
            "way to a random guess: printed / as printed / exact", "what makes the difference"]
    lines = [head, ["---"] * len(head)]
    for label, printed, value in (
            ("without privacy", printed_text(experiment, experiment.non_private), ours.non_private),
            ("random guess", printed_text(experiment, experiment.random_guess), ours.random_guess),
            ("answer without data", "–", ours.trivial)):
        said, way = figure_text(value), way_text(report.way(value))
        lines.append([label, printed, said, said, f"{'–' if printed == '–' else way} / {way} / {way}", ""])
    lines += [[row.label if row.printed else f"*beyond:* {row.label}", printed_text(experiment, row.printed),
               cell_text(row.as_printed), cell_text(row.exact), ways_text(report, row), sentence(report, row)]
              for row in report.rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def sets_table(report: Report) -> str:
    """Every favoured set at every share, as printed and exact."""
    lines = [["more for", "noise", *(f"τ {share:.0%}".replace("%", " %") for share in SHARES)],
             ["---"] * (2 + len(SHARES))]
    for favoured in report.sets:
        for label, cell in (("as printed", favoured.as_printed), ("exact", favoured.exact)):
            figures = [figure_text(outcome.mean, outcome.half_width) for outcome in cell.outcomes]
            lines.append([favoured.name, label, *(figures if cell.shares else figures * len(SHARES))])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
