"""Results in words and as Markdown: figures with their intervals, verdicts, and a sentence on each difference."""

import math
import tomllib
from pathlib import Path

from mvgviz.paper.runs import SHARES, Cell, MeasuredRow, Report
from mvgviz.paper.tables import Experiment, Printed
from mvgviz.text import as_number, capitalised, power
from mvgviz.trials.results import BETTER, WORSE, Outcome, paired
from mvgviz.trials.tasks import References

_TEXTS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
OPENING, ONCE, SLIPS, WHY_NOT = (_TEXTS[name] for name in ("opening", "once", "slips", "why_not"))
COLUMNS = ("in the paper", "ours, as printed", "ours, exact", "no privacy 0 %, random guess 100 %")


def figure_text(mean: float, half_width: float | None = None) -> str:
    """0.682 ± 0.021, (1.29 ± 0.19) · 10⁻⁵, or "" before the first trial."""
    if math.isnan(mean):
        return ""
    half = None if half_width is None or math.isnan(half_width) else half_width
    if mean == 0:
        return "0"
    exponent = math.floor(math.log10(abs(float(f"{mean:.2e}"))))
    if -3 <= exponent < 4:
        digits = max(2 - exponent, 0)
        return f"{mean:.{digits}f}" + ("" if half is None else f" ± {half:.{digits}f}")
    unit = 10.0**exponent
    number = f"{mean / unit:.2f}" if half is None else f"({mean / unit:.2f} ± {half / unit:.2f})"
    return f"{number} · {power(exponent)}"


def printed_text(experiment: Experiment, printed: Printed | None) -> str:
    """With as many digits as the paper has."""
    if printed is None:
        return "–"
    digits = 3 - experiment.power if printed.mean else 0
    half = "" if printed.half_width is None else f" ± {printed.half_width:.{digits}f}"
    return f"{printed.mean:.{digits}f}{half}"


def cell_text(cell: Cell) -> str:
    """Return a measured figure and the share that gave it."""
    if cell.reason is not None:
        return "not run"
    return figure_text(cell.mean, cell.half_width) + ("" if cell.share is None else f" (τ {100 * cell.share:.0f} %)")


def way_text(way: float | None) -> str:
    """Return a share of the way to a random guess: 14 %, 0.005 %."""
    if way is None or math.isnan(way):
        return "–"
    percent = 100 * way
    if abs(percent) < 0.0005:
        return "0 %"
    return f"{percent:.0f} %" if abs(percent) >= 1 else f"{percent:.1g} %"


def verdict(cell: Cell, references: References) -> str:
    """Return where a mean lies among the references, as far as its interval can tell."""
    mean, half = cell.mean, 0.0 if math.isnan(cell.half_width) else cell.half_width
    clean, random, trivial = references.non_private, references.random_guess, references.trivial
    if mean - clean <= 0.05 * (random - clean):
        return "nearly as good as no privacy"
    for value, name in ((random, "a random guess"), (trivial, "the no-data baseline")):
        if abs(mean - value) <= max(half, 0.01 * value):
            return name
    if mean > max(random, trivial):
        return "worse than a random guess"
    if trivial < mean < random:
        return "better than a random guess but worse than the no-data baseline"
    return "better than the no-data baseline" if trivial < random else "better than a random guess"


def compared(first: Outcome, second: Outcome) -> str:
    """Two mechanisms on the same random numbers: "better than", "no different from" or "worse than"."""
    difference = paired(first, second)
    return {BETTER: "better than", WORSE: "worse than"}.get(difference.verdict if difference else "",
                                                            "no different from")


def sentence(report: Report, row: MeasuredRow) -> str:
    """Return what makes printed, as printed and exact differ, from the numbers."""
    as_printed, exact = row.as_printed, row.exact
    if exact.reason is not None:
        return f"Not run: {exact.reason}; {row.row.why}."
    if math.isnan(exact.mean) or math.isnan(as_printed.mean):
        return "Not measured yet."
    first, second = (verdict(cell, report.references) for cell in (as_printed, exact))
    said = [capitalised(second)]
    if row.row.as_printed != row.row.exact:
        spent, factor = as_printed.best.epsilon_spent, as_printed.mean / exact.mean
        cost = "" if spent is None else f" (really spends ε = {spent:.2g} of 1)"
        less = f", its error {as_number(float(f'{factor:.1e}'), 2)} times smaller" if factor >= 1.2 else ""
        said = [f"As printed{cost}: {first}", f"Exact: {second}{less}"] if first != second else [
            f"As printed{cost} and exact: {first}"]
    said.append(capitalised(row.row.why))
    if row.row.against is not None:
        named = "the same without a bound" if "bound" in row.row.changes else "equal noise"
        said.append(f"Exact, it is {compared(exact.best, report[row.row.against].exact.best)} {named}")
    return f"{'. '.join(said)}."


def setting(report: Report) -> str:
    """Return what was run, in one line."""
    experiment = report.experiment
    return (f"{experiment.data}: {experiment.size}. Error: {experiment.symbol}. ε = 1, "
            f"δ = 1/{round(1 / report.delta)}, {report.trials} trials, seed {report.seed}; means with 95 % intervals.")


def report_markdown(report: Report) -> str:
    """The chapter of one experiment."""
    experiment = report.experiment
    parts = [f"## Experiment {experiment.key}: {experiment.title}", setting(report), main_table(report),
             f"All five shares, for the priority columns of the paper's Figure 4. {ONCE}", _table(sets_lines(report)),
             "\n".join(f"* {note}" for note in experiment.notes)]
    return "\n\n".join(parts) + "\n"


def table_lines(report: Report) -> list[tuple[str, str, str, str, str]]:
    """Return a line for each reference and row: name, paper, as printed, exact, and all three on the scale 0 to 100."""
    one, ours = report.experiment, report.references
    lines = [(name, printed_text(one, printed), figure_text(value), figure_text(value), " / ".join(
        way_text(way) for way in (None if printed is None else report.way(value), *[report.way(value)] * 2)))
        for name, printed, value in (("no privacy", one.non_private, ours.non_private),
                                     ("random guess", one.random_guess, ours.random_guess),
                                     ("no-data baseline", None, ours.trivial))]
    for row in report.rows:
        printed = None if row.printed is None else report.printed_way(row.printed.mean)
        lines.append((row.label if row.printed else f"*beyond:* {row.label}", printed_text(one, row.printed),
                      cell_text(row.as_printed), cell_text(row.exact), " / ".join(
                          way_text(way) for way in (printed, *map(report.way, (row.as_printed.mean, row.exact.mean))))))
    return lines


def main_table(report: Report) -> str:
    """Each row in three ways, and why they differ."""
    why = ["", "", "", *(sentence(report, row) for row in report.rows)]
    return _table([["mechanism", *COLUMNS, "why"],
                   *([*line, said] for line, said in zip(table_lines(report), why, strict=True))])


def sets_lines(report: Report) -> list[list[str]]:
    """Return every set of priority columns at every share, as printed and exact, below a line of titles."""
    lines = [["more for", "noise", *(f"τ {100 * share:.0f} %" for share in SHARES)]]
    for priorities in report.sets:
        for label, cell in (("as printed", priorities.as_printed), ("exact", priorities.exact)):
            figures = [figure_text(outcome.mean, outcome.half_width) for outcome in cell.outcomes]
            lines.append([priorities.label, label, *(figures if cell.shares else figures * len(SHARES))])
    return lines


def _table(lines: list[list[str]]) -> str:
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
