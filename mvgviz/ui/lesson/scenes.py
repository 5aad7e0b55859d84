"""What each step of the lesson shows and says, at each value of its control."""

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.lesson.steps import large, plot_bells, plot_cloud, plot_sizes, plot_trials, plot_turn
from mvgviz.figures.shared.noise_ellipse import ellipse_numbers, plot_noise_ellipse
from mvgviz.labels import GUARANTEES
from mvgviz.lesson import steps
from mvgviz.text import as_factor, as_number

TEXTS: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("steps.toml").read_text(encoding="utf-8"))["step"]
_NUMBERS = {"epsilon": f"{steps.EPSILON:g}", "trials": steps.TRIALS}
_NAMES = ("sleep", "mood")
_AVERAGE, _AROUND = 7.0, 0.5
_DOTS = np.random.default_rng(3).standard_normal((2, 200))
_OUTCOMES = {"0.25": "a quarter of a point", "0.5": "half a point", "1": "one point", "1.5": "one and a half points"}
_COMPARED = {"smaller": "Smaller than the circle's", "same": "About the same", "larger": "Larger than the circle's"}
_PUPILS = ("Ann", "Ben", "Eva", "Ida", "Leo", "Tom")
_TABLES = {"people": "six pupils' own answers", "together": "how the questions go together"}
_WHICH = {
    "people": "Here each column is a pupil: all need the same protection, so every column has size **1**, and only the "
              "rows differ.",
    "together": "Here rows and columns are the same four questions, so the **same sizes** stand along both edges."}
_RULES = {key: label.name for key, label in GUARANTEES.items()} | {"exact": "Exact calculation"}
_PARTS = {"all": "All of it", "half": "About half of it", "tenth": "About a tenth of it",
          "nothing": "Less than a hundredth of it"}
_LIVER = {"drinks": "drinks", "sgpt, drinks": "one enzyme and drinks", "all but mcv": "all but cell size",
          "mcv, alkphos": "cell size and another enzyme"}
_PAID = {"yes": "Yes, the error is smaller", "no": "No, the error is larger", "unclear": "Too close to tell"}


@dataclass(frozen=True, kw_only=True)
class Scene:
    """``shown``: a value of the control in words; ``picture``: a figure and its alternative; ``parts``: of ``lines``.

    ``option``: one of the question's in words; ``why`` follows a right answer, ``hint(value, given)`` a wrong one.
    """

    step: steps.Step
    title: str
    control: str
    formulas: Sequence[tuple[str, str]]
    lines: Sequence[str]
    asked: str
    shown: Callable[[Any], str] = field(repr=False)
    picture: Callable[[Any], tuple[go.Figure, str]] = field(repr=False)
    why: Callable[[Any], str] = field(repr=False)
    hint: Callable[[Any, Any], str] = field(repr=False)
    option: Callable[[str], str] = field(default=str, repr=False)
    parts: Callable[[Any], dict[str, str]] = field(default=lambda value: {}, repr=False)

    def question(self, value: Any) -> str:
        return self.asked.format(shown=self.shown(value), **_NUMBERS)

    def sentences(self, value: Any) -> list[str]:
        """The three sentences at a value of the control."""
        return [line.format(shown=self.shown(value), **_NUMBERS, **self.parts(value)) for line in self.lines]

    @property
    def ordered(self) -> bool:
        """Whether the control is a slider: its values are numbers."""
        return not isinstance(self.step.start, str)


def scene(number: int, **given: Any) -> Scene:
    """A step with what is the same at every value of its control."""
    text = TEXTS[number - 1]
    return Scene(step=steps.STEPS[number - 1], title=text["title"], control=text["control"], formulas=text["formulas"],
                 lines=text["sentences"], asked=text["question"], **given)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


# Step 1

def _bells(noise: float) -> tuple[go.Figure, str]:
    found = steps.attack(noise)
    figure = plot_bells(_AVERAGE, shift=found.shift, noise=noise, span=_AROUND, names=("Ann 0", "Ann 10"),
                        axis="published average (points)")
    return figure, (f"Two bell curves, {as_number(found.shift, 2)} points apart and each about {noise:g} wide: what "
                    "may be published with Ann at 0 and with Ann at 10.")


def _bells_why(noise: float) -> str:
    found = steps.attack(noise)
    return (f"Ann moves the average by {as_number(found.shift, 2)}, the noise by about {noise:g}. Whoever names the "
            f"nearer curve is right in {as_number(100 * found.success)} of 100 cases; a coin would be right in 50.")


def _bells_hint(noise: float, given: str) -> str:
    if float(given) > float(steps.STEPS[0].answer(noise).right):
        return "Too many: look at the overlap, where both answers are possible. Much overlap, many wrong guesses."
    return "Too few: the attacker names the nearer curve. The less they overlap, the more often that is right."


# Step 2

def _cloud(epsilon: float) -> tuple[go.Figure, str]:
    design = steps.circle(epsilon)
    figure = plot_cloud(design, level=steps.LEVEL, normals=_DOTS, span=1.9, names=_NAMES)
    return figure, f"A round cloud of releases around the truth at ε = {epsilon:g}, and the circle that holds most."


def _cloud_why(epsilon: float) -> str:
    design = steps.circle(epsilon)
    return (f"The circle reaches {as_number(steps.radius(design))} points. The noise on each average is "
            f"{as_number(float(design.direction_std()[0]))}; a circle 2.45 times as wide holds 95 of 100.")


def _cloud_hint(epsilon: float, given: str) -> str:
    if float(given) > float(steps.STEPS[1].answer(epsilon).right):
        return "Too far: measure from the cross to the edge of the circle, not from edge to edge."
    return "Not far enough: start at the cross, and read on the axis where the circle ends."


# Step 3

def _ellipse(share: float) -> tuple[go.Figure, str]:
    design, iid = steps.ellipse(share), steps.circle()
    figure = plot_noise_ellipse(ellipse_numbers(design, iid, plane=(0, 1), level=steps.LEVEL, normals=_DOTS[:, :120]),
                                names=_NAMES)
    reach = 2.4 * steps.radius(iid)
    figure.update_xaxes(range=[-reach, reach], constrain="domain", title="noise on sleep (points)", dtick=1)
    figure.update_yaxes(range=[-reach, reach], title="noise on mood (points)", dtick=0.5)
    figure.for_each_trace(lambda trace: trace.update(name=trace.name.split(",")[0].replace("i.i.d. noise", "circle")
                                                     .replace("directional noise", "ellipse")))
    return large(figure), f"The ellipse with {_percent(share)} of the budget for sleep, over the circle of step 2."


def _ellipse_why(share: float) -> str:
    down, up = steps.against_circle(steps.ellipse(share))
    if share == 0.5:
        return "Equal parts: the two shapes are one."
    return (f"The noise on mood is {as_factor(up)} the circle's, the noise on sleep {as_factor(down)}: mood pays more "
            "than sleep gains.")


def _ellipse_hint(share: float, given: float) -> str:
    down, up = steps.against_circle(steps.ellipse(share))
    if abs(given * up - 1) < 0.1:
        return "The other way round: divide the height of the ellipse by the height of the circle."
    if abs(given - down) < 0.1 * down:
        return "That is the width. How do the heights compare?"
    return "Read on the vertical axis where each outline ends, and divide the ellipse's number by the circle's."


# Step 4

def _turn(angle: int) -> tuple[go.Figure, str]:
    return plot_turn(steps.turned(angle), steps.circle(), level=steps.LEVEL, span=1.75, names=_NAMES), (
        f"The ellipse turned by {angle}°, the circle, and beside them two bars: how high each reaches.")


def _turn_why(angle: int) -> str:
    answer = steps.STEPS[3].answer(angle)
    lesson = {"smaller": "The narrow side points where the answer is used: that pays.",
              "same": "Nearly well aimed is not enough to win.",
              "larger": "An ellipse that misses its aim is worse than a circle."}[answer.right]
    return f"The noise on mood is {as_factor(answer.value)} the circle's. {lesson}"


# Step 5

def _sizes(table: str) -> tuple[go.Figure, str]:
    design = steps.table_noise(table)
    rows, cols = ([f"{size:.3g}" for size in sizes] for sizes in steps.edge_sizes(design))
    columns = steps.QUESTIONS if table == "together" else _PUPILS
    row, col = steps.TABLES[table]
    return plot_sizes(design, row_sizes=rows, col_sizes=cols, asked=steps.TABLES[table], row_names=steps.QUESTIONS,
                      col_names=columns), (
        f"A table of {design.rows} rows and {design.cols} columns. Row sizes: {', '.join(rows)}. Column "
        f"sizes: {', '.join(cols)}. Asked: the cell {steps.QUESTIONS[row]}, {columns[col]}.")


def _sizes_why(table: str) -> str:
    rows, cols = steps.edge_sizes(steps.table_noise(table))
    i, j = steps.TABLES[table]
    return f"{as_number(rows[i])} times {as_number(cols[j])} is {as_number(steps.STEPS[4].answer(table).value)}."


def _sizes_hint(table: str, given: float) -> str:
    rows, cols = steps.edge_sizes(steps.table_noise(table))
    i, j = steps.TABLES[table]
    if abs(given - rows[i] - cols[j]) < 0.05 * given:
        return "Multiply the two sizes, do not add them."
    return "Take the number at the left of its row and the number above its column, and multiply."


# Step 6

def _promise(guarantee: str) -> tuple[go.Figure, str]:
    mu = steps.promised(guarantee).mu
    figure = plot_bells(0.0, shift=1.0, noise=1 / mu, span=4 / mu, names=("neighbour A", "neighbour B"),
                        axis="published (one pupil changes 1)")
    return figure, f"{_RULES[guarantee]}: two bell curves, one unit apart and each {as_number(1 / mu)} wide."


def _promise_takes(guarantee: str) -> str:
    noise, least = (float(promise.direction_std()[0]) for promise in map(steps.promised, (guarantee, "exact")))
    if guarantee == "exact":
        return f"The **exact calculation** finds the least noise that keeps it: {as_number(noise)}."
    return (f"**{_RULES[guarantee]}** of the paper that proposed directional noise asks for {as_number(noise)}, "
            f"**{as_number(noise / least)} times** what the exact calculation finds.")


def _promise_why(guarantee: str) -> str:
    design = steps.promised(guarantee)
    spent = (f"Really spent: ε = {as_number(design.epsilon_spent(steps.DELTA), 2)} of {steps.EPSILON:g}; the best "
             f"attacker is right in {as_number(100 * steps.guess_rate(design.mu))} of 100 guesses.")
    if guarantee == "exact":
        return f"{spent} With less noise the promise would be broken."
    return f"{spent} The theorem's promise is true, but it is paid for with noise that nobody needed."


def _promise_hint(guarantee: str, given: str) -> str:
    order = steps.STEPS[5].answer(guarantee).options
    if order.index(given) < order.index(steps.STEPS[5].answer(guarantee).right):
        return "Less: can you tell the two curves apart at all?"
    return "More: the curves do not quite cover each other, and exact means that no noise is wasted."


# Step 7

def _trials(favourite: str) -> tuple[go.Figure, str]:
    found = steps.liver_pay(favourite)
    return plot_trials(found), (
        f"Average errors in half pints a day: no noise {found.no_noise:.1f}, directional {found.directional:.2f}, one "
        f"size {found.one_size:.2f}, an answer without data {found.no_data:.1f}, Theorem 1 {found.theorem1:.1f}.")


def _trials_why(favourite: str) -> str:
    found = steps.liver_pay(favourite)
    how = "less" if found.gain > 0 else "more"
    lesson = {"yes": "It favours what the prediction needs.", "no": "It favours what the prediction hardly needs.",
              "unclear": "Whoever favours nearly everything favours nothing."}[steps.STEPS[6].answer(favourite).right]
    return (f"The error is {as_number(abs(found.gain), 2)} half pints {how} than with noise of one size (give or take "
            f"{as_number(found.margin, 2)}). {lesson}")


SCENES = (
    scene(1, shown="{:g}".format, picture=_bells, why=_bells_why, hint=_bells_hint, option="about {}".format),
    scene(2, shown="{:g}".format, picture=_cloud, why=_cloud_why, hint=_cloud_hint, option=_OUTCOMES.__getitem__),
    scene(3, shown=_percent, picture=_ellipse, why=_ellipse_why, hint=_ellipse_hint, parts=lambda share: {
        "shape": "equal parts leave the circle a circle" if share == 0.5 else
                 "the circle becomes an **ellipse**, narrow along sleep and tall along mood"}),
    scene(4, shown="{}°".format, picture=_turn, why=_turn_why, option=_COMPARED.__getitem__,
          hint=lambda angle, given: "Compare the two bars on the right: blue is the ellipse, orange the circle.",
          parts=lambda angle: {"where": {0: "sleep", 90: "mood"}.get(angle, "a mixture of both")}),
    scene(5, shown=_TABLES.__getitem__, picture=_sizes, why=_sizes_why, hint=_sizes_hint,
          parts=lambda table: {"which": _WHICH[table]}),
    scene(6, shown=_RULES.__getitem__, picture=_promise, why=_promise_why, hint=_promise_hint,
          option=_PARTS.__getitem__, parts=lambda guarantee: {"takes": _promise_takes(guarantee)}),
    scene(7, shown=_LIVER.__getitem__, picture=_trials, why=_trials_why, option=_PAID.__getitem__,
          hint=lambda favourite, given: "Look at the blue dot with its bar: left of the dashed line, right of it, or "
                                        "on it?"))
