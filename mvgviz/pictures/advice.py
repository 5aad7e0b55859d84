"""What each lever gains, as a waterfall, and the designs that the advisor tried: pictures and sentences."""

import math
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from mvgviz.labels import GUARANTEES
from mvgviz.noise.families import FAMILIES
from mvgviz.pictures import theme
from mvgviz.pictures.error_axis import Mark, add_references, error_axis, mean_words, plot_ranked, reference_items
from mvgviz.pictures.families import case_of, last_words, others_noise, price_words
from mvgviz.pictures.sentences import design_words
from mvgviz.pictures.theme import Picture
from mvgviz.pictures.utility import more_words
from mvgviz.scenario.resolve import Setup
from mvgviz.scenario.tasks import Task
from mvgviz.text import as_factor, as_number, capitalised, in_html, in_markdown
from mvgviz.trials.advisor import FIRST_ROUND, Advice
from mvgviz.trials.candidates import ADVISED_FAMILIES, Candidate
from mvgviz.trials.levers import Levers, Step
from mvgviz.trials.results import BETTER, SAME, UNCLEAR, WORSE
from mvgviz.trials.simulated import FEW


class Fall(NamedTuple):
    """One bar from error to error, or (``before`` None) from the axis; words are escaped."""

    label: str
    before: float | None
    after: float
    text: str

    @property
    def gains(self) -> bool:
        return self.before is not None and self.after <= self.before


def levers_picture(found: Levers, names: Sequence[str], *, title: str) -> Picture:
    """What each lever gains, from the paper's noise as printed to this design."""
    references = [item for item in reference_items(found.references) if item[0] != "random_guess"]
    gains = [(step.factor, capitalised(NAMES[step.lever])) for step in found.steps[1:] if 1 < step.factor < math.inf]
    most = f"{max(gains)[1]} gains most" if gains else "No lever gains anything here"
    baseline, least = found.references.to_beat
    warned = found.design.outcome.mean >= least
    left = f" Even so, {baseline} ({as_number(least)}) does as well or better." * warned
    return Picture(plot_waterfall(falls(found, names), references, title=title), (
        f"**{most}.** {levers_sentence(found)}{left}"), """
The first bar is the error with the paper's noise as printed, equal everywhere. Each bar below is one lever (?: perhaps
chance). A lever's gain depends on those before it. So the table removes each lever alone from the whole design.""")


def plot_waterfall(falls: Sequence[Fall], references: Sequence[tuple[str, float]], *, title: str) -> go.Figure:
    """Draw bars from step to step, the largest error on top; log scale where the errors are far apart."""
    errors = [error for fall in falls for error in (fall.before, fall.after) if error is not None]
    figure = go.Figure()
    axis = error_axis([0.0, *errors, *(value for _, value in references)]).with_column()  # bars stand on 0 if they can
    add_references(figure, axis, references, len(falls))
    after = axis.cut([fall.after for fall in falls])
    before = axis.cut([-math.inf if fall.before is None else fall.before for fall in falls])  # cut at the axis
    left, right, rows = np.minimum(before, after), np.maximum(before, after), list(range(len(falls)))
    colours = [theme.DATA, *(theme.DIRECTIONAL if fall.before is None else theme.EXACT if fall.gains else theme.IID
                             for fall in falls[1:])]
    figure.add_bar(orientation="h", y=rows, base=left, x=right - left, marker={"color": colours}, showlegend=False,
                   customdata=[fall.after for fall in falls], hovertemplate="error %{customdata:.3g}<extra></extra>")
    theme.add_line(figure, [x for here in after[:-1].tolist() for x in (here, here, None)],
                   [y for at in rows[:-1] for y in (at, at + 1, None)], "", theme.DATA, 1, hover=None, showlegend=False)
    theme.add_words(figure, [axis.cut(math.inf)] * len(falls), rows, [fall.text for fall in falls], "middle left",
                    textfont={"size": 12})
    figure.update_xaxes(**axis.layout(title))
    figure.update_yaxes(**theme.row_axis([fall.label for fall in falls], 12))
    figure.update_layout(barmode="overlay", bargap=0.35)
    return theme.styled(figure, height=max(100 + 46 * len(falls), 220), top=35)


NAMES = {"calibration": "calibration", "query": "the query", "bound": "the bound", "shape": "the shape",
         "family": "the family of noise", "use": "the use of the known noise"}


def levers_sentence(found: Levers) -> str:
    """Return in one sentence the first error and the last."""
    start, end = found.steps[0], found.design
    if len(found.steps) == 1:
        return "No lever is used: this is the paper's design, as printed."
    return (f"From an error of {as_number(start.outcome.mean)} ({_start(start)}) {'down ' * (found.total > 1)}to "
            f"{as_number(end.outcome.mean)}.")


def _start(step: Step) -> str:
    return f"{GUARANTEES[step.scenario.guarantee].in_sentence}, {step.scenario.kind.title}, equal noise"


def falls(found: Levers, names: Sequence[str]) -> list[Fall]:
    """Return the bars of the waterfall: the start, every lever, the design."""
    start, end = (step.outcome.mean for step in (found.steps[0], found.design))
    first = "As printed" if found.steps[0].scenario.guarantee != "exact" else "To begin with"
    bars = [Fall(f"<b>{first}</b><br>{_start(found.steps[0])}", None, start, f"<b>{as_number(start)}</b>")]
    bars += [Fall(f"{capitalised(NAMES[step.lever])}<br>{in_html(_what(step, names))}", step.other.mean,
                  step.outcome.mean, _factor_text(step)) for step in found.steps[1:] if step.other is not None]
    return [*bars, Fall("<b>This design</b>", None, end, f"<b>{as_number(end)}</b>")] if len(bars) > 1 else bars


def _factor_text(step: Step) -> str:
    if step.difference is None or step.difference.verdict == SAME:
        return "no change"
    sign, times = ("÷", step.factor) if step.factor >= 1 else ("×", 1 / step.factor)
    return f"{sign} {as_number(times, 3 if times < 2 else 2)}{'?' * (step.difference.verdict == UNCLEAR)}"


def _what(step: Step, names: Sequence[str]) -> str:
    scenario, words = step.scenario, design_words(Candidate(scenario=step.scenario, mechanism=step.mechanism), names)
    return {"calibration": f"{GUARANTEES[scenario.guarantee].name}, equal noise", "query": words.query,
            "bound": words.bound, "shape": words.split, "family": words.guarantee,
            "use": "ridge or components use it"}[step.lever]


def table_rows(found: Levers) -> list[dict[str, object]]:
    """Return the design with all its levers and without each, the lowest error first."""
    verdicts = {None: "", WORSE: "yes", BETTER: "no: it costs", SAME: "no difference", UNCLEAR: "perhaps chance"}
    own = found.design.outcome.mean
    return [{"design": f"without {NAMES[step.lever]}" if step in found.without else "this design, with all levers",
             "mean error": step.outcome.mean, "95 % from": step.outcome.interval[0],
             "95 % to": step.outcome.interval[1],
             "times this design's error": step.outcome.mean / own if own > 0 else math.inf,
             "does the lever help?": verdicts[
                 step.difference.verdict if step.difference is not None and step in found.without else None]}
            for step in sorted([found.design, *found.without], key=lambda step: step.outcome.mean)]


def best_kept(found: Levers) -> str:
    """Return which lever the design would miss most, and which ones cost it."""
    rows = sorted(found.without, key=lambda step: step.factor)
    if not rows:
        return "There is no lever to remove."
    clear = [step for step in rows if step.difference is not None and step.difference.verdict in (BETTER, WORSE)]
    words = "**No lever, removed alone, is clearly missed.**"
    if rows[0] in clear and rows[0].factor < 1:
        times = as_number(1 / rows[0].factor if rows[0].factor > 0 else math.inf)
        words = f"**Removed alone, {NAMES[rows[0].lever]} is missed most:** the error is {times} times as large."
    costs = [NAMES[step.lever] for step in clear if step.factor > 1]
    return words + (f" The design is better without {' or '.join(costs)}." if costs else "")


LOADED_ON_DATA = ("This list follows from something read from your data. A design loaded here is marked **chosen on "
                  "the data**: no guarantee covers that.")
ONLY_PRIORITY = ("To release only these columns, leave the others out on Data & query. For other directions, upload a "
                 "table of those mixtures.")
FORGETS_DIRECTIONS = ("A design with other directions, or with equal shares, replaces your priority directions with "
                      "its own priorities.")


def advice_picture(advice: Advice, names: Sequence[str], task: Task) -> Picture:
    """The designs that were tried for a task and a budget, ranked."""
    found = advice.references
    references, title = ([], task.metric) if found is None else (reference_items(found), task.metric_in(found.unit))
    verdict, _, said = (why(advice, names) or "No trial yet").partition(":")
    return Picture(plot_ranked(advice_marks(advice, names), references, title=title), (
        f"**{verdict}:** {in_markdown(said)}"), """
The best design of each kind for the same task and budget. Square: the table; circle: another query. Green: the exact
guarantee; pink: Theorem 1; orange: Theorem 2. Hollow: only priority columns are released. Faint: fewer trials.

The app recommends a design only if it is clearly better than yours on every simulated table and clearly beats the
no-data baseline. Directions and splits read from the data are left out, unless they are yours; then they are
marked.""")


def advice_marks(advice: Advice, names: Sequence[str]) -> list[Mark]:
    """Return the best of the best kinds, your design, and the best of each query and guarantee, ranked."""
    kept, marks = advice.kinds[:8], []
    asked = {(row.candidate.scenario.query, row.candidate.scenario.guarantee) for row in kept}
    for row in advice.rows:
        words, scenario, outcome = design_words(row.candidate, names), row.candidate.scenario, row.outcome
        pair = (scenario.query, scenario.guarantee)
        if not (math.isfinite(outcome.mean) and (row in kept or row.candidate.is_current or pair not in asked)):
            continue
        asked.add(pair)
        text = str(words).replace(" × ", "\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}").replace(" %", "\N{NO-BREAK SPACE}%")
        label = "<br>".join(in_html(line) for line in textwrap.wrap(text, 30))  # so that a phone has room for the chart
        symbol = ("square" if scenario.kind.is_table else "circle") + "-open" * (not row.candidate.is_whole)
        marks.append(Mark(label, outcome.mean, outcome.half_width, theme.GUARANTEE_COLOURS[scenario.guarantee], symbol,
                          ring=row.candidate.is_current, faint=not row.finalist))
    return marks


def why(advice: Advice, names: Sequence[str]) -> str | None:
    """Return the recommendation and its reason, names not escaped."""
    best, current = advice.best, advice.current
    if best is None or advice.references is None:
        return None
    keep, (baseline, trivial), safer = best is current, advice.references.to_beat, advice.safer
    where = f" on the worst of {advice.tables} simulated tables" if advice.tables > 1 else ""
    verdict = "No recommendation. Yours" if advice.is_doubtful else "Keep your design" if keep else "Recommended"
    said = [f"{verdict}: {design_words(best.candidate, names)}. Its error is {mean_words(best.outcome)}{where}"]
    if current is not None and not keep:
        more = more_words(current.outcome.mean, best.outcome.mean)
        said.append(f"Your design ({design_words(current.candidate, names)}) has {more}")
    if not best.is_useful(trivial):
        said.append(f"It does not clearly beat {baseline} ({as_number(trivial)})")
    if advice.is_doubtful and where and best.clips > FEW:
        said.append(f"Its bound clips up to {100 * best.clips:.0f} % of a table")
    if advice.is_doubtful and safer is not None:
        said.append(f"Consider {design_words(safer.candidate, names)}: {mean_words(safer.outcome)} on the worst")
    elif keep:
        said.append(f"No other design is clearly better{' on all of them' if where else ''}")
    return f"{'. '.join(said)}."


def family_words(advice: Advice, setup: Setup) -> str:
    """Return the price of the recommended family, and for how many releases it is best; nothing for Gaussian noise."""
    scenario = None if advice.best is None else advice.best.candidate.scenario
    if scenario is None or scenario.noise_family not in ADVISED_FAMILIES:
        return ""
    case, family = case_of(replace(setup, scenario=scenario)), FAMILIES[scenario.noise_family]
    pays = f" Other columns get {as_factor(others_noise(family, case))} equal Gaussian noise." * case.is_split
    return f"{price_words(family, case)}{pays} {last_words(case)}".strip()


def dropped_words(advice: Advice) -> list[str]:
    """Return how many designs were dropped, and why. Reasons may hold names: escape them."""
    return [f"{count} {'design' if count == 1 else 'designs'} dropped: {reason}"
            for reason, count in Counter(advice.dropped.values()).items()]


def tried_words(advice: Advice) -> str:
    """Return how many designs were tried, how, and which were left out."""
    first = min(FIRST_ROUND, advice.trials)
    rounds = "expected error (noise and clipping bias)" if not advice.trials else (
        f"{first:,} trials each" + (f", the best {advice.trials:,}" if advice.trials > first else ""))
    dropped = " ".join(f"{in_markdown(line)}." for line in dropped_words(advice))
    return f"{len(advice.rows)} designs tried, {rounds}. {dropped}"


def design_rows(advice: Advice, names: tuple[str, ...]) -> list[dict[str, object]]:
    """Return a line of a table for each design tried."""
    return [{"place": place, "query": text.query, "guarantee": text.guarantee, "bound": text.bound, "split": text.split,
             "use": text.use, "mean error": row.outcome.mean, "95 % from": row.outcome.interval[0],
             "95 % to": row.outcome.interval[1], "epsilon really spent": row.outcome.epsilon_spent,
             **({"trials": row.outcome.errors.size} if advice.trials else {"clips at most": row.clips}),
             "this design": row.candidate.is_current}
            for place, row in enumerate(advice.rows, start=1) for text in [design_words(row.candidate, names)]]
