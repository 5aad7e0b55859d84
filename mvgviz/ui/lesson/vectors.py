"""Steps 1 to 4 of the lesson: an attacker, a circle, an ellipse, and where it points."""

import numpy as np
import plotly.graph_objects as go

from mvgviz.figures.lesson.steps import large, plot_bells, plot_cloud, plot_turn
from mvgviz.figures.shared.noise_ellipse import ellipse_numbers, plot_noise_ellipse
from mvgviz.lesson.steps import LEVEL, STEPS, against_circle, attack, circle, ellipse, radius, turned
from mvgviz.text import as_factor, as_number
from mvgviz.ui.lesson.scene import scene

_NAMES = ("sleep", "mood")
_AVERAGE, _AROUND = 7.0, 0.5
_DOTS = np.random.default_rng(3).standard_normal((2, 200))
_OUTCOMES = {"0.25": "a quarter of a point", "0.5": "half a point", "1": "one point", "1.5": "one and a half points"}
_COMPARED = {"smaller": "Smaller than the circle's", "same": "About the same", "larger": "Larger than the circle's"}


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


# Step 1

def _bells(noise: float) -> tuple[go.Figure, str]:
    found = attack(noise)
    figure = plot_bells(_AVERAGE, shift=found.shift, noise=noise, span=_AROUND, names=("Ann 0", "Ann 10"),
                        axis="published average (points)")
    return figure, (f"Two bell curves, {as_number(found.shift, 2)} points apart and each about {noise:g} wide: what "
                    "may be published with Ann at 0 and with Ann at 10.")


def _bells_why(noise: float) -> str:
    found = attack(noise)
    return (f"Ann moves the average by {as_number(found.shift, 2)}, the noise by about {noise:g}. Whoever names the "
            f"nearer curve is right in {as_number(100 * found.success)} of 100 cases; a coin would be right in 50.")


def _bells_hint(noise: float, given: str) -> str:
    if float(given) > float(STEPS[0].answer(noise).right):
        return "Too many: look at the overlap, where both answers are possible. Much overlap, many wrong guesses."
    return "Too few: the attacker names the nearer curve. The less they overlap, the more often that is right."


# Step 2

def _cloud(epsilon: float) -> tuple[go.Figure, str]:
    design = circle(epsilon)
    figure = plot_cloud(design, level=LEVEL, normals=_DOTS, span=1.9, names=_NAMES)
    return figure, f"A round cloud of releases around the truth at ε = {epsilon:g}, and the circle that holds most."


def _cloud_why(epsilon: float) -> str:
    design = circle(epsilon)
    return (f"The circle reaches {as_number(radius(design))} points. The noise on each average is "
            f"{as_number(float(design.direction_std()[0]))}; a circle 2.45 times as wide holds 95 of 100.")


def _cloud_hint(epsilon: float, given: str) -> str:
    if float(given) > float(STEPS[1].answer(epsilon).right):
        return "Too far: measure from the cross to the edge of the circle, not from edge to edge."
    return "Not far enough: start at the cross, and read on the axis where the circle ends."


# Step 3

def _ellipse(share: float) -> tuple[go.Figure, str]:
    design, iid = ellipse(share), circle()
    figure = plot_noise_ellipse(ellipse_numbers(design, iid, plane=(0, 1), level=LEVEL, normals=_DOTS[:, :120]),
                                names=_NAMES)
    reach = 2.4 * radius(iid)
    figure.update_xaxes(range=[-reach, reach], constrain="domain", title="noise on sleep (points)", dtick=1)
    figure.update_yaxes(range=[-reach, reach], title="noise on mood (points)", dtick=0.5)
    figure.for_each_trace(lambda trace: trace.update(name=trace.name.split(",")[0].replace("i.i.d. noise", "circle")
                                                     .replace("directional noise", "ellipse")))
    return large(figure), f"The ellipse with {_percent(share)} of the budget for sleep, over the circle of step 2."


def _ellipse_why(share: float) -> str:
    down, up = against_circle(ellipse(share))
    if share == 0.5:
        return "Equal parts: the two shapes are one."
    return (f"The noise on mood is {as_factor(up)} the circle's, the noise on sleep {as_factor(down)}: mood pays more "
            "than sleep gains.")


def _ellipse_hint(share: float, given: float) -> str:
    down, up = against_circle(ellipse(share))
    if abs(given * up - 1) < 0.1:
        return "The other way round: divide the height of the ellipse by the height of the circle."
    if abs(given - down) < 0.1 * down:
        return "That is the width. How do the heights compare?"
    return "Read on the vertical axis where each outline ends, and divide the ellipse's number by the circle's."


# Step 4

def _turn(angle: int) -> tuple[go.Figure, str]:
    return plot_turn(turned(angle), circle(), level=LEVEL, span=1.75, names=_NAMES), (
        f"The ellipse turned by {angle}°, the circle, and beside them two bars: how high each reaches.")


def _turn_why(angle: int) -> str:
    answer = STEPS[3].answer(angle)
    lesson = {"smaller": "The narrow side points where the answer is used: that pays.",
              "same": "Nearly well aimed is not enough to win.",
              "larger": "An ellipse that misses its aim is worse than a circle."}[answer.right]
    return f"The noise on mood is {as_factor(answer.value)} the circle's. {lesson}"


VECTORS = (
    scene(1, shown="{:g}".format, picture=_bells, why=_bells_why, hint=_bells_hint, option="about {}".format),
    scene(2, shown="{:g}".format, picture=_cloud, why=_cloud_why, hint=_cloud_hint, option=_OUTCOMES.__getitem__),
    scene(3, shown=_percent, picture=_ellipse, why=_ellipse_why, hint=_ellipse_hint, parts=lambda share: {
        "shape": "equal parts leave the circle a circle" if share == 0.5 else
                 "the circle becomes an **ellipse**, narrow along sleep and tall along mood"}),
    scene(4, shown="{}°".format, picture=_turn, why=_turn_why, option=_COMPARED.__getitem__,
          hint=lambda angle, given: "Compare the two bars on the right: blue is the ellipse, orange the circle.",
          parts=lambda angle: {"where": {0: "sleep", 90: "mood"}.get(angle, "a mixture of both")}))
