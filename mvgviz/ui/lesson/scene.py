"""What one step of the lesson shows and says, at each value of its control."""

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import plotly.graph_objects as go

from mvgviz.lesson.steps import EPSILON, STEPS, TRIALS, Step

TEXTS: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("steps.toml").read_text(encoding="utf-8"))["step"]
_NUMBERS = {"epsilon": f"{EPSILON:g}", "trials": TRIALS}


@dataclass(frozen=True, kw_only=True)
class Scene:
    """``shown``: a value of the control in words; ``picture``: a figure and its text alternative.

    ``option``: an option of the question in words; ``why`` follows a right answer, ``hint(value,
    given)`` a wrong one. ``formulas``: pairs of words and LaTeX. ``parts``: what differs in ``lines``.
    """

    step: Step
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
    return Scene(step=STEPS[number - 1], title=text["title"], control=text["control"], formulas=text["formulas"],
                 lines=text["sentences"], asked=text["question"], **given)
