"""What each step of the lesson shows and says: before and after the learner's guess, and to the teacher."""

import math
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go

from mvgviz.labels import GUARANTEES
from mvgviz.lesson import steps
from mvgviz.noise.families import FAMILIES
from mvgviz.pictures import lesson as draw
from mvgviz.pictures import theme
from mvgviz.pictures.sentences import DELTA_IS, neighbour_words
from mvgviz.pictures.theme import Picture, ellipse_outline
from mvgviz.query.queries import REPLACED_RECORD
from mvgviz.text import as_factor, as_number, capitalised
from mvgviz.validation import FloatArray

_TEXTS = tomllib.loads(Path(__file__).with_name("steps.toml").read_text(encoding="utf-8"))["step"]
_HOURS, _SCORE = (float(move) for move in steps.MOVES)
_RULE = draw.Plane(names=("on sleep (hours)", "on score (points)"), moves=(_HOURS, _SCORE), reach=3.1)  # as on Home
_INSIDE = steps.REACH / steps.circle().mu
"""How many times smaller than the outline of most releases the outline is that must hold the change box."""
_DOTS = np.random.default_rng(3).standard_normal((2, 200))
_ACROSS = {"averages": ("average",), "people": ("Ann", "Ben", "Eva", "Ida", "Leo", "Tom"), "together": steps.COLUMNS}
_TABLES = {"averages": "five averages", "people": "six pupils' own answers", "together": "how columns go together"}
_WHICH = {
    "averages": "Here there is one column of **averages**, of size **1**, and only the rows differ.",
    "people": "Here each column is a **pupil**: all need the same protection, so every column has size **1**.",
    "together": "Here rows and columns are the **same five questions**, with the same sizes."}
_RULES = {key: GUARANTEES[key].name for key in steps.RULES} | {"exact": "Exact calculation"}
_LIVER = {"drinks": "drinks", "sgpt-drinks": "one enzyme and drinks", "all-but-mcv": "all but cell size",
          "mcv-alkphos": "cell size and another enzyme"}
_MOST_COLUMNS = max(steps.STEPS[4].values)


@dataclass(frozen=True, kw_only=True)
class Scene:
    """The texts of ``steps.toml`` and: ``shown``, a value of the control in words; ``drawn(value, whether the answer is
    shown)``; ``seen``, what is there before the answer, to be read aloud; ``ghost``, the guess at a value; ``why``
    follows the answer; ``parts`` of ``lines``."""

    step: steps.Step
    title: str
    control: str
    formulas: Sequence[tuple[str, str]]
    lines: Sequence[str]
    asked: str
    takeaway: str
    too_low: str
    too_high: str
    show: str
    ask: str
    mistakes: Sequence[Sequence[str]]
    shown: Callable[[Any], str] = field(repr=False)
    drawn: Callable[[Any, bool], go.Figure] = field(repr=False)
    seen: Callable[[Any], str] = field(repr=False)
    ghost: Callable[[Any], draw.Ghost] = field(repr=False)
    why: Callable[[Any], str] = field(repr=False)
    parts: Callable[[Any], dict[str, str]] = field(default=lambda value: {}, repr=False)

    def waiting(self, value: Any) -> Picture:
        """Return the picture without the answer."""
        return Picture(self.drawn(value, False), self.seen(value))

    def picture(self, value: Any) -> Picture:
        """Return the picture with the answer."""
        return Picture(self.drawn(value, True), f"{self.seen(value)} {self.why(value)}")

    def before(self, value: Any, ghost: float) -> Picture:
        """Return the picture that waits for the guess, with the ghost where it was dragged to."""
        return self.ghost(value).drawn(self.waiting(value), ghost)

    def after(self, value: Any, at: Any, given: float) -> Picture:
        """Return the picture with the answer and, still on it, what was guessed ``at`` a value of the control."""
        name = "your guess" if at == value else f"your guess ({self.shown(at)})"
        return self.ghost(at).drawn(self.picture(value), given, name)

    def hint(self, value: Any, given: float) -> str:
        """Return what to say to a wrong guess."""
        return self.too_high if given > self.step.answer(value).value else self.too_low

    def question(self, value: Any) -> str:
        return self.asked.format(shown=self.shown(value), **NUMBERS)

    def sentences(self, value: Any) -> list[str]:
        return [line.format(shown=self.shown(value), **NUMBERS, **self.parts(value)) for line in self.lines]

    @property
    def ordered(self) -> bool:
        """Whether the control is a slider: its values are numbers."""
        return not isinstance(self.step.start, str)

    @property
    def label(self) -> str:
        """Its number in the lesson, its letter in the second hour."""
        number = self.step.number - steps.MAIN
        return str(self.step.number) if number <= 0 else "ABCD"[number - 1]


def scene(number: int, **given: Any) -> Scene:
    """Return a step with what is the same at every value of its control."""
    return Scene(step=steps.STEPS[number - 1], **_TEXTS[number - 1], **given)


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


NUMBERS = {"epsilon": f"{steps.EPSILON:g}", "trials": steps.TRIALS, "pupils": steps.PUPILS,
           "move": f"{_HOURS:.2g} h", "points": f"{_SCORE:.2g} points", "delta": DELTA_IS, "inside": f"{_INSIDE:.0f}",
           "priority": _percent(steps.PRIORITY_SHARE)}


# Step 1, and the attacker of other steps

_RIGHT = draw.track_ghost(50.0, 100.0, step=1.0, start=50.0, shown="%.0f of 100")


def _attacked(figure: go.Figure, rate: float | None) -> go.Figure:
    return draw.add_track(figure, _RIGHT, title="cases of 100 in which the best attacker is right (a coin: 50)",
                          name="the best attacker", truth=None if rate is None else 100 * rate)


def _bells(noise: float = 0.0, span: float = 0.9) -> go.Figure:
    figure = draw.plot_bells(float(steps.CLASS.matrix[0].mean()), shift=_HOURS, noise=noise or _HOURS / 40, span=span,
                             names=("Ann 0 h", "Ann 12 h"))
    return figure if noise else figure.update_xaxes(title_text="average sleep before noise (hours)")


_BARE = (f"Two needles {_HOURS:.2g} hours apart: the bare average with Ann at 0 and with Ann at 12 hours, before there "
         "is noise.")


def _ann(noise: float, shown: bool) -> go.Figure:
    return _attacked(_bells(noise), steps.attack(noise)) if shown else _attacked(_bells(), None)


def _ann_why(noise: float) -> str:
    return (f"Ann moves the average by {_HOURS:.2g} h, the noise by about {noise:.2g} h. The attacker names the nearer "
            f"curve and is right in **{as_number(100 * steps.attack(noise))} of 100** cases; a coin in 50.")


# Step 2

def _shape(share: float, shown: bool) -> go.Figure:
    outlines = [(name, colour, ellipse_outline(steps.in_units(design), steps.LEVEL)) for name, colour, design in (
        ("equal noise", theme.IID, steps.circle()), ("directional noise", theme.DIRECTIONAL, steps.ellipse(share)))]
    design, colour = (steps.ellipse(share), theme.DIRECTIONAL) if shown else (steps.circle(), theme.IID)
    dots = np.linalg.cholesky(steps.in_units(design)) @ _DOTS
    return draw.plot_releases(outlines[:1 + shown], replace(_RULE, reach=37), releases=(colour, dots))


def _shape_seen(share: float) -> str:
    wide, high = steps.REACH * steps.noise_in_units(steps.circle())
    return f"The circle that holds 95 of 100 releases reaches {wide:.2g} hours and {high:.2g} points to either side."


def _shape_ghost(share: float) -> draw.Ghost:
    scale = np.diag([steps.against_circle(steps.ellipse(share))[0], 1.0])
    return draw.outline_ghost(scale @ steps.in_units(steps.circle()) @ scale, moves=(0, 1), top=90.0, least=0.5,
                              most=2.5, step=0.05, start=0.7)


def _shape_why(share: float) -> str:
    design = steps.ellipse(share)
    (down, up), (sleep, score) = steps.against_circle(design), steps.noise_in_units(design)
    if share == 0.5:
        return "Equal parts: the two shapes are one."
    return (f"The typical error on the score is **{as_factor(up)}** the circle's ({score:.2g} points), on sleep "
            f"{as_factor(down)} ({minutes(sleep)}). The score pays more than sleep gains.")


# Steps 3 and 4: at the size at which an outline must hold the change box

def _outline(covariance: FloatArray) -> FloatArray:
    return ellipse_outline(covariance, steps.LEVEL) / _INSIDE


def _corners(angle: float) -> FloatArray:
    """Return the corners of the change box that the private outline touches, 2 × many."""
    corners = np.array([[1, 1], [1, -1], [-1, -1], [-1, 1]]) * steps.MOVES
    precision = np.linalg.inv(steps.in_units(steps.turned(angle)))
    lengths = np.einsum("ki,ij,kj->k", corners, precision, corners)
    return np.asarray(corners[lengths > lengths.max() * (1 - 1e-6)].T)


def _private(angle: float, shown: bool) -> go.Figure:
    outlines = [("directional noise", theme.DIRECTIONAL, _outline(steps.in_units(steps.turned(angle))))]
    return draw.plot_releases(outlines[:shown], _RULE, touches=_corners(angle) if shown else None)


def _private_ghost(angle: float) -> draw.Ghost:
    shape = steps.in_units(steps.turned(angle)) / (steps.growth(angle) * _INSIDE) ** 2
    return draw.outline_ghost(shape, moves=(1, 1), top=angle + 90.0, least=0.5, most=1.5, step=0.02, start=0.7)


def _private_why(angle: float) -> str:
    if angle in (0, 90):
        return "The narrow side points to a flat side of the box, and all four corners touch at once: **1×**."
    return (f"It must be **{steps.growth(angle):.2f}×** as large: the corner nearest to the narrow side touches first. "
            "All of the noise grows with it.")


_USES = {0: "**sleep** alone", 45: "**both in equal parts**", 90: "the **score** alone"}


def _along(angle: float) -> float:
    """Return equal noise along a line at an angle, in % of the range."""
    use = steps.along(angle)
    return 100 / steps.PUPILS * math.sqrt(float(use @ steps.circle().row_covariance() @ use))


def _mixture(angle: float, shown: bool) -> go.Figure:
    outlines = [(name, colour, _outline(steps.in_units(design))) for name, colour, design in (
        ("equal noise", theme.IID, steps.circle()), ("directional noise", theme.DIRECTIONAL, steps.turned(angle)))]
    least = math.sqrt(2) * steps.least_along(steps.along(angle)) if shown else None
    return draw.add_line(draw.plot_releases(outlines[:1 + shown], _RULE), _RULE, angle, least)


def _mixture_ghost(angle: float) -> draw.Ghost:
    marks = [[(*(sign * at), *(sign * move)) for at, move in zip(
        _RULE.line(angle, 0.0, 0.6), _RULE.line(angle, math.sqrt(2), 0.0), strict=True)] for sign in (1, -1)]
    return draw.mark_ghost(*marks, handle=(0, 0, *_RULE.line(angle, math.sqrt(2), 0.0)[0]), least=0.4, most=1.6,
                           step=0.02, start=0.6)


def _mixture_why(angle: float) -> str:
    factor = steps.STEPS[3].answer(angle).value
    lesson = ("A single column is where directional noise pays." if factor < 0.85 else
              "Near a single column there is still something to gain." if factor < 0.95 else
              "What the narrow side gains, the corner of step 3 takes back: no Gaussian noise does better here.")
    return (f"Along the line the typical error is {factor * _along(angle):.2g} % of the range, **{factor:.2f}×** the "
            f"circle's. {lesson}")


# Step 5

def _columns(columns: int, shown: bool) -> go.Figure:
    gain = steps.among(columns) if shown else None
    return draw.plot_columns(columns, _MOST_COLUMNS, gain=gain, epsilon=steps.EPSILON)


def _columns_why(columns: int) -> str:
    gain, equal = steps.among(columns), steps.equal_among(columns)
    return (f"Sleep has **{as_factor(gain.priority)}** equal noise: {minutes(gain.priority * equal)} in place of "
            f"{minutes(equal)}. The other columns have {as_factor(gain.other)}. Equal noise this precise would spend "
            f"ε = {as_number(gain.equal_epsilon, 2)}.")


_COLUMNS_GHOST = draw.mark_ghost([(0.4, 0, 0, 1), (1.6, 0, 0, 1)], handle=(1, 0, 0, 1), least=0.0, most=1.5,
                                 step=0.02, start=1.0)


# Step 8

_CELL = draw.track_ghost(0.0, 4.0, step=0.05, start=3.0)


def _table(table: str, shown: bool) -> go.Figure:
    rows, cols = steps.edge_sizes(table)
    row, col = steps.TABLES[table]
    noise = steps.cell_sizes(table)
    figure = draw.plot_sizes(noise, rows, cols, asked=(row, col), shown=shown, row_names=steps.COLUMNS,
                             col_names=_ACROSS[table])
    return draw.add_track(figure, _CELL, title="noise in the framed cell, as a multiple of equal noise",
                          name="the cell's noise", truth=float(noise[row, col]) if shown else None)


def _table_seen(table: str) -> str:
    rows, cols = steps.edge_sizes(table)
    row, col = steps.TABLES[table]
    return (f"A table of {counted(rows.size, 'row')} and {counted(cols.size, 'column')}. Row sizes: "
            f"{', '.join(f'{size:.3g}' for size in rows)}. Column sizes: {', '.join(f'{size:.3g}' for size in cols)}. "
            f"Asked: the cell {steps.COLUMNS[row]}, {_ACROSS[table][col]}.")


def _sizes_why(table: str) -> str:
    rows, cols = steps.edge_sizes(table)
    i, j = steps.TABLES[table]
    return f"{rows[i]:.3g} times {cols[j]:.3g} is {steps.STEPS[7].answer(table).value:.3g}. " + {
        "averages": "Sleep has half of equal noise, everything else twice as much.",
        "people": "Each pupil's sleep has half of equal noise.",
        "together": "What involves sleep once has equal noise, sleep with itself a quarter of it."}[table]


# Step 6

_SPENT = draw.track_ghost(0.0, 1.2, step=0.01, start=0.5, shown="ε = %.2f")


def _promise(guarantee: str, shown: bool) -> go.Figure:
    design = steps.promised(guarantee)
    noise = float(design.noise_std()[0, 0])
    return draw.add_track(_bells(noise, max(0.9, 3 * noise)) if shown else _bells(), _SPENT, title="ε really spent",
                          name="really spent", truth=design.epsilon_spent(steps.DELTA) if shown else None)


def _promise_takes(guarantee: str) -> str:
    noise = float(steps.promised(guarantee).noise_std()[0, 0])
    who = {"theorem1": f"**{_RULES['theorem1']}** of the paper that proposed directional noise",
           "theorem2-any": f"**{_RULES['theorem2-any']}**, used here for any answer,",
           "exact": "The **exact calculation**"}[guarantee]
    return f"{who} asks for noise of {hours(noise)}."


def _promise_why(guarantee: str) -> str:
    design = steps.promised(guarantee)
    reason = ("With less noise the promise would be broken." if guarantee == "exact" else
              "The theorem's promise is true, but it costs more noise than privacy needs.")
    return (f"Really spent: **ε = {design.epsilon_spent(steps.DELTA):.2g}** of {steps.EPSILON:g}; the best attacker is "
            f"right in {as_number(100 * steps.guess_rate(design.mu))} of 100 cases. {reason}")


# Step 7

def _trials(priority: str, shown: bool) -> go.Figure:
    return draw.plot_trials(steps.liver_pay(priority), shown=shown)


def _trials_seen(priority: str) -> str:
    found = steps.liver_pay(priority)
    return (f"Average errors in half pints a day: no noise {found.no_noise:.1f}, equal noise {found.one_size:.2f}, "
            f"no-data baseline {found.no_data:.1f}, Theorem 1 {found.theorem1:.1f}.")


_LANE = draw.DIRECTIONAL_ROW
_TRIALS_GHOST = draw.mark_ghost([(0, _LANE - 0.4, 1, 0), (0, _LANE + 0.4, 1, 0)], handle=(0, _LANE, 1, 0), least=3.0,
                                most=5.6, step=0.05, start=3.5, shown="%.2f half pints")


def _trials_why(priority: str) -> str:
    found = steps.liver_pay(priority)
    how = "less" if found.gain > 0 else "more"
    lesson = ("With nearly all columns as priority there is no priority." if abs(found.gain) <= found.margin else
              "The priority columns are those that the prediction needs." if found.gain > 0 else
              "The prediction hardly needs the priority columns.")
    return (f"The error is **{as_number(abs(found.gain), 2)} half pints {how}** than with equal noise (give or take "
            f"{as_number(found.margin, 2)}). {lesson}")


# Step 9

def _family(name: str, shown: bool) -> go.Figure:
    FAMILIES[name].fill(np.random.default_rng(3), draws := np.empty((2, 300)))
    noise = steps.family_noise(name) * steps.MOVES[:, None] * draws
    figure = draw.plot_releases([], replace(_RULE, reach=22), releases=(theme.FAMILY_COLOURS[name], noise))
    return _attacked(figure, steps.family_attack(name) if shown else None)


def _family_seen(name: str) -> str:
    sleep, score = steps.family_noise(name) * steps.MOVES
    return (f"Releases with {FAMILIES[name].word} noise around the truth; the typical error is {sleep:.2g} hours and "
            f"{score:.2g} points.")


def _family_why(name: str) -> str:
    family, sleep, rate = FAMILIES[name], steps.family_noise(name) * _HOURS, 100 * steps.family_attack(name)
    return (f"The typical error on sleep is {minutes(sleep)}, and the best attacker is right in "
            f"**{as_number(rate)} of 100** cases. " + (
                f"{capitalised(family.word)} noise needs no δ and adds less noise here, yet it tells the best attacker "
                "more." if family.is_pure else
                "Gaussian noise is larger here, and the best attacker gains least." if family.spends_mu else
                f"{capitalised(family.word)} noise lies between Gaussian and box noise."))


SCENES = (
    scene(1, shown=hours, drawn=_ann, seen=lambda noise: _BARE, why=_ann_why, ghost=lambda noise: _RIGHT),
    scene(2, shown=_percent, drawn=_shape, seen=_shape_seen, why=_shape_why, ghost=_shape_ghost),
    scene(3, shown="{}°".format, drawn=_private, why=_private_why, ghost=_private_ghost, seen=lambda angle: (
        f"The change box reaches {_HOURS:.2g} hours and {_SCORE:.2g} points to either side.")),
    scene(4, shown="{}°".format, drawn=_mixture, why=_mixture_why, ghost=_mixture_ghost, seen=lambda angle: (
        f"A line at {angle}°, on which equal noise has a typical error of {_along(angle):.2g} % of the range."),
          parts=lambda angle: {"where": _USES.get(angle, "mostly " + ("sleep" if angle < 45 else "score"))}),
    scene(5, shown=str, drawn=_columns, seen=lambda columns: f"{columns} columns, one of them priority.",
          why=_columns_why, ghost=lambda columns: _COLUMNS_GHOST),
    scene(6, shown=_RULES.__getitem__, drawn=_promise, seen=lambda guarantee: _BARE, why=_promise_why,
          ghost=lambda guarantee: _SPENT, parts=lambda guarantee: {"takes": _promise_takes(guarantee)}),
    scene(7, shown=_LIVER.__getitem__, drawn=_trials, seen=_trials_seen, why=_trials_why,
          ghost=lambda priority: _TRIALS_GHOST),
    scene(8, shown=_TABLES.__getitem__, drawn=_table, seen=_table_seen, why=_sizes_why, ghost=lambda table: _CELL,
          parts=lambda table: {"which": _WHICH[table]}),
    scene(9, shown=lambda name: f"{FAMILIES[name].word} noise", drawn=_family, seen=_family_seen, why=_family_why,
          ghost=lambda name: _RIGHT))


def note_of(number: int) -> Scene:
    """Return one step with numbers in the teacher's notes; the seventh waits for the trials."""
    scene, numbers = SCENES[number - 1], _numbers(number)
    return replace(scene, show=scene.show.format(**numbers),
                   mistakes=[(said, reply.format(**numbers)) for said, reply in scene.mistakes])


def _numbers(step: int) -> dict[str, str]:
    match step:
        case 1:
            return {"start": hours(steps.BUDGET_NOISE), "neighbours": neighbour_words(REPLACED_RECORD, "pupil")}
        case 2:
            return {"alone": minutes(steps.BUDGET_NOISE), "delta": DELTA_IS,
                    "both": minutes(float(steps.noise_in_units(steps.circle())[0]))}
        case 4:
            along_line = {f"at_{angle}": as_factor(steps.STEPS[3].answer(angle).value) for angle in (0, 15, 45)}
            return along_line | {"across": as_factor(steps.against_circle_along(steps.turned(45), steps.along(-45)))}
        case 7:
            errors = {"worse": abs(steps.liver_pay("mcv-alkphos").gain), "whole": steps.liver_pay("drinks").one_size,
                      "less": steps.asking_less().one_size}
            return {name: as_number(error, 2) for name, error in errors.items()}
        case 8:
            equal = 1 / len(steps.COLUMNS)
            ours, equal_noise, people = (float(steps.table_noise(*asked).noise_std()[0, 0]) for asked in (
                ("averages",), ("averages", equal), ("people", equal)))
            return {"ours": minutes(ours), "equal": minutes(equal_noise), "alone_people": f"{people:.0f} hours"}
    return {}
