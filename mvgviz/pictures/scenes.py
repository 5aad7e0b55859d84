"""What each step of the lesson shows and says: before and after the learner's guess, and to the teacher."""

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from mvgviz.design.limits import rival
from mvgviz.design.noise_design import NoiseDesign
from mvgviz.labels import GUARANTEES
from mvgviz.lesson import steps
from mvgviz.pictures.glossary import DELTA_IS
from mvgviz.pictures.lesson import Plane, plot_aim, plot_bells, plot_cloud, plot_shapes, plot_sizes, plot_trials
from mvgviz.pictures.picture import Picture
from mvgviz.pictures.rule import RuleModel, rule_model, theorem_plane
from mvgviz.pictures.sentences import neighbour_words
from mvgviz.query.queries import REPLACED_RECORD
from mvgviz.text import as_factor, as_number
from mvgviz.validation import FloatArray

TEXTS: list[dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("steps.toml").read_text(encoding="utf-8"))["step"]
LEAST_GHOST, MOST_GHOST = 0.5, 2.5
"""How tall a ghost can be made, in circles."""
_HOURS, _SCORE = (float(move) for move in steps.MOVES)
_AVERAGE = float(steps.CLASS.matrix[0].mean())
_PLANE = Plane(names=("noise on sleep (hours)", "noise on score (points)"), moves=(_HOURS, _SCORE), reach=31)
_CLOSER = Plane(names=_PLANE.names, moves=_PLANE.moves, reach=37)
_DOTS = np.random.default_rng(3).standard_normal((2, 200))
_LESS = {"fifth": "About a fifth less", "tenth": "About a tenth less", "none": "Hardly any less"}
_USES = {0: "**sleep** alone", 45: "**both in equal parts**", 90: "the **score** alone"}
_PUPILS = ("Ann", "Ben", "Eva", "Ida", "Leo", "Tom")
_TABLES = {"averages": "five averages", "people": "six pupils' own answers", "together": "how columns go together"}
_WHICH = {
    "averages": "Here there is one column of **averages**, of size **1**, and only the rows differ.",
    "people": "Here each column is a **pupil**: all need the same protection, so every column has size **1**, and only "
              "the rows differ.",
    "together": "Here rows and columns are the **same five columns** of the class, so the same sizes stand along both "
                "edges."}
_RULES = {key: GUARANTEES[key].name for key in steps.RULES} | {"exact": "Exact calculation"}
_PARTS = {"all": "All of it", "half": "About half of it", "tenth": "About a tenth of it",
          "little": "Less than a twentieth of it"}
_LIVER = {"drinks": "drinks", "sgpt-drinks": "one enzyme and drinks", "all-but-mcv": "all but cell size",
          "mcv-alkphos": "cell size and another enzyme"}
_PAID = {"yes": "Yes, the error is smaller", "no": "No, the error is larger", "unclear": "Too close to tell"}


@dataclass(frozen=True, kw_only=True)
class Scene:
    """``shown``: a value of the control in words; ``picture``: its takeaway is read aloud, ``before`` the guess too.

    ``before`` takes the value and the height of the ghost. ``option``: one of the question's in words; ``why`` follows
    a right answer, ``hint(value, given)`` a wrong one; ``parts``: of ``lines``; ``ghost``: whether the guess is
    dragged; ``shape``: the noise on two averages that the rule is drawn for.
    """

    step: steps.Step
    title: str
    control: str
    formulas: Sequence[tuple[str, str]]
    lines: Sequence[str]
    asked: str
    takeaway: str
    shown: Callable[[Any], str] = field(repr=False)
    before: Callable[[Any, float], Picture] = field(repr=False)
    picture: Callable[[Any], Picture] = field(repr=False)
    why: Callable[[Any], str] = field(repr=False)
    hint: Callable[[Any, Any], str] = field(repr=False)
    option: Callable[[str], str] = field(default=str, repr=False)
    parts: Callable[[Any], dict[str, str]] = field(default=lambda value: {}, repr=False)
    ghost: bool = False
    shape: Callable[[Any], NoiseDesign] | None = field(default=None, repr=False)

    def question(self, value: Any) -> str:
        return self.asked.format(shown=self.shown(value), **NUMBERS)

    def sentences(self, value: Any) -> list[str]:
        """The three sentences at a value of the control."""
        return [line.format(shown=self.shown(value), **NUMBERS, **self.parts(value)) for line in self.lines]

    @property
    def ordered(self) -> bool:
        """Whether the control is a slider: its values are numbers."""
        return not isinstance(self.step.start, str)


def scene(number: int, **given: Any) -> Scene:
    """A step with what is the same at every value of its control."""
    text = TEXTS[number - 1]
    return Scene(step=steps.STEPS[number - 1], title=text["title"], control=text["control"], formulas=text["formulas"],
                 lines=text["sentences"], asked=text["question"], takeaway=text["takeaway"], **given)


def hours(value: float) -> str:
    """Hours, and in minutes where these are few: "0.42 h (25 minutes)"."""
    return f"{value:.2g} h ({minutes(value)})" if value < 1 else f"{value:.2g} h"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def counted(count: float, thing: str) -> str:
    """"1 minute", "25 minutes"."""
    return f"{count:.0f} {thing}{'' if round(count) == 1 else 's'}"


def minutes(value: float) -> str:
    """Hours in minutes."""
    return counted(60 * value, "minute")


NUMBERS = {"epsilon": f"{steps.EPSILON:g}", "trials": steps.TRIALS, "alone": minutes(steps.BUDGET_NOISE),
           "move": f"{_HOURS:.2g} h", "points": f"{_SCORE:.2g} points", "delta": DELTA_IS}


def rule_options(design: NoiseDesign) -> tuple[RuleModel, dict[str, Any]]:
    """The rule for a design of steps 3 and 4 in steps of what one pupil can change, told in hours and points.

    With equal noise, and what Theorem 1 asks for, in its place.
    """
    asked = rival(design, steps.two_averages(), guarantee="theorem1", epsilon=steps.EPSILON, delta=steps.DELTA,
                  tail="printed").design
    return rule_model(design, (0, 1), of_directions=False), {
        "names": ("sleep", "score"), "units": ("h", "points"), "factors": (_HOURS, _SCORE),
        "iid": float(steps.circle().noise_std()[0, 0]),
        "theorem": theorem_plane(asked, design, (0, 1), of_directions=False, name=GUARANTEES["theorem1"].name)}


# Step 1

_ANNS = ("Ann 0 h", "Ann 12 h")


def _plot_sleep(noise: float, span: float) -> go.Figure:
    return plot_bells(_AVERAGE, shift=_HOURS, noise=noise, span=span, names=_ANNS,
                      axis="published average sleep (hours)")


def _needles(noise: float, ghost: float) -> Picture:
    return Picture(_plot_sleep(_HOURS / 40, 0.9), (
        f"Two needles {_HOURS:.2g} hours apart: the bare average with Ann at 0 and with Ann at 12 hours."))


def _bells(noise: float) -> Picture:
    return Picture(_plot_sleep(noise, 0.9), (
        f"Two bell curves, {_HOURS:.2g} hours apart and each about {noise:.2g} hours wide: what may "
        "be published with Ann at 0 and with Ann at 12 hours."))


def _bells_why(noise: float) -> str:
    return (f"Ann moves the average by {_HOURS:.2g} h, the noise by about {noise:.2g} h. Whoever names "
            f"the nearer curve is right in {as_number(100 * steps.attack(noise).success)} of 100 cases, a coin in 50.")


def _bells_hint(noise: float, given: str) -> str:
    if float(given) > float(steps.STEPS[0].answer(noise).right):
        return "Fewer: look at the overlap, where both answers are possible. Much overlap, many wrong guesses."
    return "More: the attacker names the nearer curve. The less they overlap, the more often that is right."


# Step 2

def _truth(epsilon: float, ghost: float) -> Picture:
    return Picture(plot_cloud(None, _PLANE, level=steps.LEVEL, normals=_DOTS), (
        f"The truth in the middle, and around it a box of all that one pupil can change: {_HOURS:.2g} hours and "
        f"{_SCORE:.2g} points to either side."))


def _cloud(epsilon: float) -> Picture:
    design = steps.circle(epsilon)
    wide, high = steps.REACH * steps.noise_in_units(design)
    return Picture(plot_cloud(steps.in_units(design), _PLANE, level=steps.LEVEL, normals=_DOTS), (
        f"A round cloud of releases around the truth at ε = {epsilon:g}; the circle that holds 95 of 100 reaches "
        f"{wide:.2g} hours and {high:.2g} points."))


def _cloud_why(epsilon: float) -> str:
    sleep, score = steps.noise_in_units(steps.circle(epsilon))
    why = ("One budget covers both averages, so each gets √2 times the noise it would need alone." if epsilon == 1 else
           "Half of ε takes nearly twice the noise." if epsilon < 1 else
           "Twice ε takes little more than half the noise.")
    return f"The noise is {hours(sleep)} on sleep and {score:.2g} points on the score. {why}"


def _cloud_hint(epsilon: float, given: str) -> str:
    right = steps.STEPS[1].answer(epsilon).right
    if float(given) > float(right):
        return "Less: a larger ε allows more to be learned, and takes less noise."
    return "More: two averages must share the budget, and a smaller ε takes more noise."


# Step 3

def _shapes(share: float, **more: Any) -> go.Figure:
    return plot_shapes(steps.in_units(steps.circle()), _CLOSER, level=steps.LEVEL, **more)


def _ghost(share: float, ghost: float) -> Picture:
    width = steps.against_circle(steps.ellipse(share))[0]
    sleep, score = steps.noise_in_units(steps.circle())
    outline: FloatArray = np.diag([(width * sleep) ** 2, (ghost * score) ** 2])
    return Picture(_shapes(share, ghost=outline), (
        f"The circle of step 2, which reaches {steps.REACH * sleep:.2g} hours and "
        f"{steps.REACH * score:.2g} points, and your ghost, {as_factor(ghost)} as tall."))


def _ellipse(share: float) -> Picture:
    design = steps.ellipse(share)
    wide, high = steps.REACH * steps.noise_in_units(design)
    down, up = steps.against_circle(design)
    return Picture(_shapes(share, ellipse=steps.in_units(design)), (
        f"The ellipse with {_percent(share)} of the budget for sleep reaches {wide:.2g} hours and "
        f"{high:.2g} points: {as_factor(down)} as wide and {as_factor(up)} as tall as the circle."))


def _ellipse_why(share: float) -> str:
    design = steps.ellipse(share)
    (down, up), (sleep, score) = steps.against_circle(design), steps.noise_in_units(design)
    if share == 0.5:
        return "Equal parts: the two shapes are one."
    return (f"The noise on the score is {as_factor(up)} the circle's ({score:.2g} points), on sleep "
            f"{as_factor(down)} ({minutes(sleep)}): the score pays more than sleep gains.")


def _ellipse_hint(share: float, given: float) -> str:
    down, up = steps.against_circle(steps.ellipse(share))
    if abs(given - down) < 0.1 * down < 0.1:
        return "That is about its width. The height is what the score pays."
    if given > up:
        return "Not so tall: compare where ghost and ellipse end."
    return "Taller: the score is left with little of the budget."


# Step 4

def _use(angle: int, ghost: float) -> Picture:
    radius = steps.REACH * float(steps.noise_in_units(steps.circle())[0])
    return Picture(plot_aim(steps.in_units(steps.circle()), _CLOSER, angle=angle, level=steps.LEVEL), (
        f"The circle, which reaches {radius:.2g} hours, and a line at {angle}°: what is used."))


def _aim(angle: int) -> Picture:
    use, design = steps.along(angle), steps.turned(angle)
    factor, least = steps.STEPS[3].answer(angle).value, steps.least_along(use)
    wide, high = steps.REACH * steps.noise_in_units(design)
    figure = plot_aim(steps.in_units(steps.circle()), _CLOSER, angle=angle, level=steps.LEVEL,
                      ellipse=steps.in_units(design), factor=factor, least=least)
    return Picture(figure, (f"An ellipse narrow along the line at {angle}°, {wide:.2g} hours wide and "
                    f"{high:.2g} points high to either side. Along the line it has {as_factor(factor)} the "
                    f"circle's noise; the least possible is {as_factor(least)}."))


def _aim_why(angle: int) -> str:
    answer, least = steps.STEPS[3].answer(angle), steps.least_along(steps.along(angle))
    lesson = {"fifth": "A single column is where directional noise pays.",
              "tenth": "Near an axis there is still something to gain.",
              "none": "One pupil can change both averages at once: a mixture gains next to nothing."}[answer.right]
    return (f"The noise along the line is {as_factor(answer.value)} the circle's; no shape of noise could have less "
            f"than {as_factor(least)}. {lesson}")


# Step 5

def _table(table: str, shown: bool) -> Picture:
    rows, cols = ([f"{size:.3g}" for size in sizes] for sizes in steps.edge_sizes(table))
    columns = {"averages": ("average",), "people": _PUPILS, "together": steps.COLUMNS}[table]
    row, col = steps.TABLES[table]
    figure = plot_sizes(steps.cell_sizes(table), row_sizes=rows, col_sizes=cols, asked=(row, col), shown=shown,
                        row_names=steps.COLUMNS, col_names=columns)
    return Picture(figure, (f"A table of {counted(len(rows), 'row')} and {counted(len(cols), 'column')}. Row sizes: "
                    f"{', '.join(rows)}. Column sizes: {', '.join(cols)}. Asked: the cell {steps.COLUMNS[row]}, "
                    f"{columns[col]}." + (f" Its noise is {steps.cell_sizes(table)[row, col]:.3g}×." if shown else "")))


def _sizes_why(table: str) -> str:
    rows, cols = steps.edge_sizes(table)
    i, j = steps.TABLES[table]
    said = f"{rows[i]:.3g} times {cols[j]:.3g} is {steps.STEPS[4].answer(table).value:.3g}."
    more = {"averages": "Sleep has half of equal noise, everything else twice as much.",
            "people": "Each pupil's sleep has half of equal noise.",
            "together": "What involves sleep once has equal noise, sleep with itself a quarter of it."}[table]
    return f"{said} {more}"


def _sizes_hint(table: str, given: float) -> str:
    rows, cols = steps.edge_sizes(table)
    i, j = steps.TABLES[table]
    if abs(given - rows[i] - cols[j]) < 0.05 * given:
        return "Multiply the two sizes, do not add them."
    return "Take the number at the left of its row and the number above its column, and multiply."


# Step 6

def _promise(guarantee: str) -> Picture:
    noise = float(steps.promised(guarantee).noise_std()[0, 0])
    return Picture(_plot_sleep(noise, max(0.9, 3 * noise)), (
        f"{_RULES[guarantee]}: two bell curves, {_HOURS:.2g} hours apart and each {noise:.2g} hours "
        "wide."))


def _promise_takes(guarantee: str) -> str:
    noise, least = (float(steps.promised(rule).noise_std()[0, 0]) for rule in (guarantee, "exact"))
    if guarantee == "exact":
        return f"The **exact calculation** finds the least noise that keeps it: {hours(noise)}, as in step 1."
    whose = "of the paper that proposed directional noise" if guarantee == "theorem1" else "(used here for any answer)"
    return (f"**{_RULES[guarantee]}** {whose} asks for {hours(noise)}, **{noise / least:.2g} times** what the "
            "exact calculation finds.")


def _promise_why(guarantee: str) -> str:
    design = steps.promised(guarantee)
    spent = (f"Really spent: ε = {design.epsilon_spent(steps.DELTA):.2g} of {steps.EPSILON:g}; the best "
             f"attacker is right in {as_number(100 * steps.guess_rate(design.mu))} of 100 guesses.")
    if guarantee == "exact":
        return f"{spent} With less noise the promise would be broken."
    return f"{spent} The theorem's promise is true, but it is paid for with noise that nobody needed."


def _promise_hint(guarantee: str, given: str) -> str:
    order = steps.STEPS[5].answer(guarantee).options
    if order.index(given) < order.index(steps.STEPS[5].answer(guarantee).right):
        return "Less: can you tell the two curves apart at all?"
    return "More: the curves do not quite cover each other."


# Step 7

def _waiting(favourite: str, ghost: float) -> Picture:
    found = steps.liver_pay(favourite)
    return Picture(plot_trials(found, shown=False), (
        f"Average errors in half pints a day: no noise {found.no_noise:.1f}, equal noise {found.one_size:.2f}, an "
        f"answer without data {found.no_data:.1f}, Theorem 1 {found.theorem1:.1f}; directional noise is not shown "
        "yet."))


def _trials(favourite: str) -> Picture:
    found = steps.liver_pay(favourite)
    return Picture(plot_trials(found, shown=True), (
        f"Average errors in half pints a day: no noise {found.no_noise:.1f}, directional {found.directional:.2f}, "
        f"equal noise {found.one_size:.2f}, an answer without data {found.no_data:.1f}, Theorem 1 "
        f"{found.theorem1:.1f}."))


def _trials_why(favourite: str) -> str:
    found = steps.liver_pay(favourite)
    how = "less" if found.gain > 0 else "more"
    lesson = {"yes": "It favours what the prediction needs.", "no": "It favours what the prediction hardly needs.",
              "unclear": "Whoever favours nearly everything favours nothing."}[steps.STEPS[6].answer(favourite).right]
    return (f"The error is {as_number(abs(found.gain), 2)} half pints {how} than with equal noise (give or take "
            f"{as_number(found.margin, 2)}). {lesson}")


SCENES = (
    scene(1, shown=hours, before=_needles, picture=_bells, why=_bells_why, hint=_bells_hint, option="about {}".format),
    scene(2, shown="{:g}".format, before=_truth, picture=_cloud, why=_cloud_why, hint=_cloud_hint,
          option="about {} minutes".format),
    scene(3, shown=_percent, before=_ghost, picture=_ellipse, why=_ellipse_why, hint=_ellipse_hint, ghost=True,
          shape=steps.ellipse,
          parts=lambda share: {"shape": "equal parts leave the circle a circle" if share == 0.5 else
                               "the circle becomes an **ellipse**, narrow along sleep and tall along the score"}),
    scene(4, shown="{}°".format, before=_use, picture=_aim, why=_aim_why, option=_LESS.__getitem__, shape=steps.turned,
          hint=lambda angle, given: "Compare the bars on the right: blue is the ellipse, orange the circle.",
          parts=lambda angle: {"where": _USES.get(angle, "a mixture, mostly " + ("sleep" if angle < 45 else "score"))}),
    scene(5, shown=_TABLES.__getitem__, before=lambda table, ghost: _table(table, False), why=_sizes_why,
          picture=lambda table: _table(table, True), hint=_sizes_hint, parts=lambda table: {"which": _WHICH[table]}),
    scene(6, shown=_RULES.__getitem__, before=_needles, picture=_promise, why=_promise_why, hint=_promise_hint,
          option=_PARTS.__getitem__, parts=lambda guarantee: {"takes": _promise_takes(guarantee)}),
    scene(7, shown=_LIVER.__getitem__, before=_waiting, picture=_trials, why=_trials_why, option=_PAID.__getitem__,
          hint=lambda favourite, given: "Look at the blue dot with its bar: left of the dashed line, right of it, or "
                                        "on it?"))


class Note(NamedTuple):
    """What a teacher needs for one step; ``mistakes``: what pupils say, and what to answer."""

    show: str
    ask: str
    mistakes: list[tuple[str, str]]


def note_of(number: int) -> Note:
    """The note of one step; the last one waits for the trials."""
    text, numbers = TEXTS[number - 1], _numbers(number)
    return Note(text["show"].format(**numbers), text["ask"],
                [(said, reply.format(**numbers)) for said, reply in text["mistakes"]])


def _numbers(step: int) -> dict[str, str]:
    """What stands in the text of a note."""
    if step == 1:
        return {"start": hours(steps.BUDGET_NOISE), "neighbours": neighbour_words(REPLACED_RECORD, "pupil")}
    if step == 2:
        return {"alone": minutes(steps.BUDGET_NOISE), "both": minutes(float(steps.noise_in_units(steps.circle())[0])),
                "delta": DELTA_IS}
    if step == 4:
        along_line = {f"at_{angle}": as_factor(steps.STEPS[3].answer(angle).value) for angle in (0, 15, 45)}
        return along_line | {"across": as_factor(steps.against_circle_along(steps.turned(45), steps.along(-45)))}
    if step == 5:
        equal = 1 / len(steps.COLUMNS)
        ours, equal_noise, people = (float(steps.table_noise(*asked).noise_std()[0, 0]) for asked in (
            ("averages",), ("averages", equal), ("people", equal)))
        return {"ours": minutes(ours), "equal": minutes(equal_noise), "alone_people": f"{people:.0f} hours"}
    if step == len(steps.STEPS):
        errors = {"worse": abs(steps.liver_pay("mcv-alkphos").gain), "whole": steps.liver_pay("drinks").one_size,
                  "less": steps.asking_less().one_size}
        return {name: as_number(error, 2) for name, error in errors.items()}
    return {}
