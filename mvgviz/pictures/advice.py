"""What each lever gains, as a waterfall, and the designs that were tried: pictures and sentences of the advisor."""

import math
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import plotly.graph_objects as go

from mvgviz.labels import GUARANTEES, REFERENCES
from mvgviz.pictures.compare import Mark, more_words, plot_ranked
from mvgviz.pictures.error_axis import ErrorAxis, error_axis, mean_words, reference_items, reference_look
from mvgviz.pictures.picture import Picture
from mvgviz.pictures.sentences import design_words
from mvgviz.pictures.theme import DATA, DIRECTIONAL, EXACT, GUARANTEE_COLOURS, IID, row_axis, stroke, styled
from mvgviz.scenario.tasks import Task
from mvgviz.text import as_number, capitalised, in_html, in_markdown
from mvgviz.trials.advisor import FIRST_ROUND, Advice, Row
from mvgviz.trials.candidates import Candidate
from mvgviz.trials.levers import Levers, Step
from mvgviz.trials.results import SAME, UNCLEAR
from mvgviz.trials.stand_in import FEW

ENDS = DATA, DIRECTIONAL
"""The colours of the first and the last bar, which stand on the axis."""
_ROOM = 0.18  # right of the bars, for what is written beside them


@dataclass(frozen=True, kw_only=True)
class Fall:
    """One bar, from the error ``before`` to that ``after`` a lever. ``before`` None: it stands on the axis.

    ``label``, ``text`` (written beside it) and ``said`` (what the pointer reads): harmless already.
    """

    label: str
    before: float | None
    after: float
    text: str
    said: str

    @property
    def gains(self) -> bool:
        return self.before is not None and self.after <= self.before


def levers_picture(found: Levers, names: Sequence[str], *, title: str) -> Picture:
    """What each lever gains, from the paper's noise as printed down to this design."""
    references = [item for item in reference_items(found.references) if item[0] != "random_guess"]
    return Picture(plot_waterfall(falls(found, names), references, title=title), _takeaway(found), """
The first bar is the error with the paper's noise, as printed (Theorem 2 where it applies, else Theorem 1), of equal
size everywhere, on the table where the task can be served from it. Each bar below is one lever: exact calibration,
another query, records kept inside a round bound, the shape of noise and bound, and a use that knows the noise. Green
takes error away, orange adds some; beside it the factor (with ? where chance may explain it). The factors multiply to
the whole way. Dashed: the error without privacy; dotted: the answer without data.

What a lever gains depends on what came before it. So the table takes each lever alone away from the whole design.""")


def plot_waterfall(falls: Sequence[Fall], references: Sequence[tuple[str, float]], *, title: str) -> go.Figure:
    """Bars from step to step, the largest error on top; log scale where the errors are far apart."""
    errors = [error for fall in falls for error in (fall.before, fall.after) if error is not None]
    axis = error_axis([0.0, *errors, *(value for _, value in references)])  # bars stand on 0 where they can
    axis = replace(axis, high=axis.high + _ROOM * (axis.high - axis.low))
    figure = go.Figure()
    for kind, value in references:
        inside = axis.holds(value)
        name = f"{REFERENCES[kind]}: {as_number(value)}{'' if inside else ' (off the scale)'}"
        figure.add_scatter(x=[value, value] if inside else [None], y=[-0.6, len(falls) - 0.4] if inside else [None],
                           **reference_look(kind, name) | stroke(DATA, 2, "dash" if kind != "trivial" else "dot"))
    _add_bars(figure, falls, axis)
    _add_joints(figure, falls, axis)
    figure.add_scatter(x=[_ends(fall, axis)[1] for fall in falls], y=list(range(len(falls))), mode="text",
                       text=[f"  {fall.text}" for fall in falls], textposition="middle right", cliponaxis=False,
                       textfont={"size": 12}, showlegend=False, hoverinfo="skip")
    figure.update_xaxes(**axis.layout(title))
    figure.update_yaxes(**row_axis([fall.label for fall in falls], 12))
    figure.update_layout(barmode="overlay", bargap=0.35)
    return styled(figure, height=max(100 + 46 * len(falls), 220), top=35)


def _add_bars(figure: go.Figure, falls: Sequence[Fall], axis: ErrorAxis) -> None:
    left, right = zip(*(_ends(fall, axis) for fall in falls), strict=True)
    standing = iter(ENDS)
    colours = [next(standing, DIRECTIONAL) if fall.before is None else EXACT if fall.gains else IID for fall in falls]
    figure.add_bar(orientation="h", y=list(range(len(falls))), base=list(left), marker={"color": colours},
                   x=[high - low for low, high in zip(left, right, strict=True)], showlegend=False,
                   customdata=[fall.said for fall in falls], hovertemplate="%{customdata}<extra></extra>")


def _add_joints(figure: go.Figure, falls: Sequence[Fall], axis: ErrorAxis) -> None:
    x, y = list[float | None](), list[float | None]()
    for at, fall in enumerate(falls[:-1]):
        here = float(axis.cut(fall.after))
        x += [here, here, None]
        y += [at, at + 1, None]
    figure.add_scatter(x=x, y=y, mode="lines", showlegend=False, hoverinfo="skip", line={"color": DATA, "width": 1})


def _ends(fall: Fall, axis: ErrorAxis) -> tuple[float, float]:
    after = float(axis.cut(fall.after))
    before = float(axis.value(axis.low)) if fall.before is None else float(axis.cut(fall.before))
    return min(before, after), max(before, after)


NAMES = {"calibration": "calibration", "query": "the query", "bound": "the bound", "shape": "the shape",
         "use": "the use of the known noise"}


def levers_sentence(found: Levers) -> str:
    """One sentence: where it began, what each lever gained or cost, where it ends. It has no names."""
    start, end = found.steps[0], found.design
    if len(found.steps) == 1:
        return "No lever is used: the design is the paper's, as printed."
    parts = ", ".join(f"{_name(step)} {_gain(step)}" for step in found.steps[1:])
    return (f"From an error of {as_number(start.outcome.mean)} ({_start(start)}) {'down ' * (found.total > 1)}to "
            f"{as_number(end.outcome.mean)}: {parts}.")


def _takeaway(found: Levers) -> str:
    steps = [step for step in found.steps[1:] if math.isfinite(step.factor)]
    first = max(steps, key=lambda step: step.factor, default=None)
    most = ("No lever gains anything here" if first is None or first.factor <= 1 else
            f"Most is gained by {NAMES[first.lever]}")
    return f"**{most}.** {levers_sentence(found)} {_left(found)}"


def _left(found: Levers) -> str:
    error, floor, (baseline, least) = found.design.outcome.mean, found.references.non_private, found.references.to_beat
    if error >= least:
        return f"Even so {baseline} ({as_number(least)}) does as well or better."
    if error <= floor:
        return (f"That is no more than without privacy ({as_number(floor)}): the noise does no harm to what is "
                "measured here.")
    if floor > 0:
        return f"Without privacy it would be {as_number(floor)}; this design has {_times(error / floor)} that."
    return "Without privacy there would be none."


def _times(ratio: float) -> str:
    return f"{as_number(ratio, 3 if ratio < 2 else 2)} times"


def _start(step: Step) -> str:
    scenario = step.scenario
    printed = ", as printed" if scenario.guarantee != "exact" else ""
    return f"{GUARANTEES[scenario.guarantee].in_sentence}{printed}, {scenario.kind.title}, equal noise"


def _name(step: Step) -> str:
    return f"the query ({step.scenario.kind.title})" if step.lever == "query" else NAMES[step.lever]


def _gain(step: Step) -> str:
    """"took away 3.7 %", "divided it by 2.2", "added 1.2 %", "changed nothing"; with a word on chance."""
    difference = step.difference
    if difference is None or difference.verdict == SAME:
        return "changed nothing"
    chance = " (which chance may explain)" if difference.verdict == UNCLEAR else ""
    factor = step.factor
    if factor >= 2:
        return f"divided it by {as_number(factor, 2)}{chance}"
    if factor >= 1:
        return f"took away {as_number(100 * (1 - 1 / factor), 2)} %{chance}"
    if factor > 0.5:
        return f"added {as_number(100 * (1 / factor - 1), 2)} %{chance}"
    return f"multiplied it by {as_number(1 / factor, 2)}{chance}"


def falls(found: Levers, names: Sequence[str]) -> list[Fall]:
    """The bars of the waterfall: the start, every lever, the design."""
    start, end = found.steps[0], found.design
    bars = [_standing("As printed" if start.scenario.guarantee != "exact" else "To begin with", start,
                      _start(start))]
    bars += [Fall(label=f"{capitalised(NAMES[step.lever])}<br>{in_html(_what(step, names))}",
                  before=step.other.mean, after=step.outcome.mean, text=_factor_text(step),
                  said=f"<b>{capitalised(NAMES[step.lever])}</b><br>{in_html(_what(step, names))}<br>"
                       f"{as_number(step.other.mean)} → {mean_words(step.outcome)}")
             for step in found.steps[1:] if step.other is not None]
    return [*bars, _standing("This design", end, "")] if len(bars) > 1 else bars


def _standing(label: str, step: Step, more: str) -> Fall:
    said = f"<b>{label}</b><br>{f'{more}<br>' if more else ''}error {mean_words(step.outcome)}"
    return Fall(label=f"<b>{label}</b>" + (f"<br>{more.split(',')[0]}, {step.scenario.kind.title}"
                                           if more else ""), before=None, after=step.outcome.mean,
                text=f"<b>{as_number(step.outcome.mean)}</b>", said=said)


def _factor_text(step: Step) -> str:
    if step.difference is None or step.difference.verdict == SAME:
        return "no change"
    unsure = "?" if step.difference.verdict == UNCLEAR else ""
    factor = step.factor
    digits = 3 if 0.5 < factor < 2 else 2
    return f"÷ {as_number(factor, digits)}{unsure}" if factor >= 1 else f"× {as_number(1 / factor, digits)}{unsure}"


def _what(step: Step, names: Sequence[str]) -> str:
    scenario, words = step.scenario, design_words(Candidate(scenario=step.scenario, mechanism=step.mechanism), names)
    return {"calibration": f"{GUARANTEES[scenario.guarantee].name}, equal noise", "query": words.query,
            "bound": words.bound, "shape": words.split, "use": "ridge or components know it"}[step.lever]


def table_rows(found: Levers) -> list[dict[str, object]]:
    """The design with all its levers and without each, the least error first."""
    rows = [_row("this design, with all levers", found.design, 1.0, "")]
    for step in found.without:
        difference = step.difference
        verdict = "" if difference is None else {"worse": "yes", "better": "no: it costs", SAME: "no difference",
                                                 UNCLEAR: "chance may explain it"}[difference.verdict]
        rows.append(_row(f"without {NAMES[step.lever]}", step, 1 / step.factor if step.factor > 0 else math.inf,
                         verdict))
    return sorted(rows, key=lambda row: float(str(row["mean error"])))


def _row(design: str, step: Step, ratio: float, verdict: str) -> dict[str, object]:
    low, high = step.outcome.interval
    return {"design": design, "mean error": step.outcome.mean, "95 % from": low, "95 % to": high,
            "times this design's error": ratio, "does the lever help?": verdict}


def best_kept(found: Levers) -> str:
    """Which levers the design could do without, and which it cannot."""
    rows = sorted(found.without, key=lambda step: step.factor)
    if not rows:
        return "There is no lever to take away."
    most = rows[0]
    first = (f"**Taken away alone, {NAMES[most.lever]} is missed most:** without it the error is "
             f"{_times(1 / most.factor) if most.factor > 0 else 'beyond all bounds, not'} this design's."
             if most.factor < 1 and most.difference is not None and most.difference.verdict != UNCLEAR
             else "**No lever, taken away alone, is clearly missed.**")
    costs = [NAMES[step.lever] for step in rows if step.factor > 1 and step.difference is not None
             and step.difference.verdict not in (SAME, UNCLEAR)]
    return first + (f" The design would be better without {' or '.join(costs)}." if costs else "")


SHOWN = 12
_LINE = 30  # characters of a label, so that a phone has room for the chart
LOADED_ON_DATA = "Load a design with one click. It is then **marked as chosen on the data**, which no guarantee covers:"
ONLY_THE_NEEDED = ("A table with these columns alone: leave the others out on the page Data, and nothing of them is "
                   "released. For other directions, a table of those mixtures.")

FORGETS_DIRECTIONS = ("Loading a design along the features, along other directions or with equal shares changes what "
                      "is needed to what that design favours: a scenario can need directions only where its own noise "
                      "favours them.")


def advice_picture(advice: Advice, names: Sequence[str], task: Task) -> Picture:
    """The designs that were tried for a task and a budget, ranked."""
    found = advice.references
    references, title = ([], task.metric) if found is None else (reference_items(found), task.metric_in(found.unit))
    return Picture(plot_ranked(advice_marks(advice, names), references, title=title), in_markdown(places(advice)), """
Each line is a design for the same task and the same budget: a query (square: the table), a guarantee
(green exact, pink Theorem 1, orange Theorem 2), a bound on the records, a split, and whether what uses the answer
knows the noise (it does unless the line says so); hollow: only the needed features are released. Shown is the best of
each kind. Answers themselves are judged by their expected error, noise and the bias of clipping, on the worst of
several simulated tables: records in the middle of the ranges and towards either end. Other tasks are judged by trials
that share their random numbers; the best few, drawn strong, get all trials.

A design is recommended only if it is clearly better than yours on every simulated table, clearly better than the
no-data baseline, and (for answers) clips few records. Directions and splits read openly from the data are left out,
unless yours is such a design; then it is marked.""")


def advice_marks(advice: Advice, names: Sequence[str]) -> list[Mark]:
    """The best of the best kinds, the design as it stands, and the best of each query and guarantee, ranked."""
    kept = advice.kinds[: SHOWN - 4]
    asked = {(row.candidate.scenario.query, row.candidate.scenario.guarantee) for row in kept}
    for row in advice.rows:
        pair = (row.candidate.scenario.query, row.candidate.scenario.guarantee)
        if row not in kept and (row.candidate.is_current or pair not in asked):
            kept.append(row)
            asked.add(pair)
    places = {row.candidate: place for place, row in enumerate(advice.rows)}
    kept.sort(key=lambda row: places[row.candidate])
    return [_mark(row, names) for row in kept if math.isfinite(row.outcome.mean)]


def _mark(row: Row, names: Sequence[str]) -> Mark:
    words, scenario, outcome = design_words(row.candidate, names), row.candidate.scenario, row.outcome
    spent = "" if outcome.epsilon_spent is None else f"<br>epsilon really spent {as_number(outcome.epsilon_spent)}"
    text = str(words).replace(" × ", "\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}").replace(" %", "\N{NO-BREAK SPACE}%")
    lines = [in_html(line) for line in textwrap.wrap(text, _LINE)]
    return Mark(label="<br>".join(lines), mean=outcome.mean,
                half_width=outcome.half_width, colour=GUARANTEE_COLOURS[scenario.guarantee],
                symbol=("square" if scenario.kind.is_table else "circle") + "-open" * (
                    not row.candidate.is_whole), ring=row.candidate.is_current,
                faint=not row.finalist,
                said="expected error" if row.on_tables is not None else f"{outcome.errors.size:,} trials{spent}")


def places(advice: Advice) -> str:
    """Where the guarantees and queries come in."""
    kinds: dict[str, int] = {}
    for place, row in enumerate(advice.rows, start=1):
        scenario = row.candidate.scenario
        kinds.setdefault(f"{scenario.kind.title}, {GUARANTEES[scenario.guarantee].name}", place)
    best = "; ".join(f"{kind}: place {place}" for kind, place in kinds.items())
    return f"Best of each kind, of {len(advice.rows)} designs: {best}."


def why(advice: Advice, names: Sequence[str]) -> tuple[str, str] | None:
    """What is recommended with its reason, and which lever gained what (empty before that is known).

    Names as in the file: escape them.
    """
    best, current = advice.best, advice.current
    if best is None or advice.references is None:
        return None
    keep, (baseline, trivial) = best is current, advice.references.to_beat
    where = f" on the worst of {advice.tables} simulated tables" if advice.tables > 1 else ""
    verdict = "No recommendation. Yours" if advice.is_doubtful else "Keep your design" if keep else "Recommended"
    said = f"{verdict}: {design_words(best.candidate, names)}. Its error is {mean_words(best.outcome)}{where}"
    if current is not None and not keep:
        more = more_words(current.outcome.mean, best.outcome.mean)
        said += f"; the design as it stands ({design_words(current.candidate, names)}) has {more}"
    if not best.is_useful(trivial):
        named = "the no-data baseline" if trivial == advice.references.trivial else baseline
        said += f". It does not clearly beat {named} ({as_number(trivial)})"
    if advice.is_doubtful and where and best.clips > FEW:
        said += f". Its bound clips up to {100 * best.clips:.0f} % of a table"
    if advice.is_doubtful:
        said += _safer_words(best, advice.safer, names)
    elif keep:
        said += f". No other design is clearly better{' on all of them' if where else ''}"
    return f"{said}.", "" if advice.levers is None else levers_sentence(advice.levers)


def _safer_words(kept: Row, safer: Row | None, names: Sequence[str]) -> str:
    if safer is None:
        return ". No other design is clearly better"
    said = f". Consider {design_words(safer.candidate, names)}: {mean_words(safer.outcome)} on the worst"
    if kept.on_tables is None or safer.on_tables is None:
        return said
    less = int((safer.on_tables < kept.on_tables).sum())
    return f"{said}, less error than yours on {less} of {kept.on_tables.size}"


def dropped_words(advice: Advice) -> list[str]:
    """How many designs did not work out, and why. Reasons may hold names: escape them."""
    by_reason: Counter[str] = Counter()
    for drop in advice.dropped:
        by_reason[drop.reason] += len(drop.designs)
    return [f"{count} {'design' if count == 1 else 'designs'} dropped: {reason}" for reason, count in by_reason.items()]


def tried_words(advice: Advice, s2_words: str) -> str:
    """How many designs were tried, how, and which were left out."""
    first = min(FIRST_ROUND, advice.trials)
    rounds = f"{first:,} trials each" + (f", the best {advice.trials:,}" if advice.trials > first else "")
    if not advice.trials:
        rounds = "expected error: noise and the bias of clipping"
    dropped = " ".join(f"{in_markdown(line)}." for line in dropped_words(advice))
    return f"{len(advice.rows)} designs tried, {rounds}; all with {s2_words}. {dropped}"


def design_rows(advice: Advice, names: tuple[str, ...]) -> list[dict[str, object]]:
    """A line of a table for each design tried."""
    lines: list[dict[str, object]] = []
    for place, row in enumerate(advice.rows, start=1):
        text = design_words(row.candidate, names)
        low, high = row.outcome.interval
        lines.append({"place": place, "query": text.query, "guarantee": text.guarantee, "bound": text.bound,
                      "split": text.split, "use": text.use,
                      "mean error": row.outcome.mean, "95 % from": low, "95 % to": high,
                      "epsilon really spent": row.outcome.epsilon_spent,
                      **({"trials": row.outcome.errors.size} if advice.trials else {"clips at most": row.clips}),
                      "this design": row.candidate.is_current})
    return lines
