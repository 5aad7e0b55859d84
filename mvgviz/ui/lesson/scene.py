"""What one step of the lesson shows and says, at each value of its control."""

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import plotly.graph_objects as go

from mvgviz.lesson.steps import Step

Sentences = tuple[str, str, str]
TEXTS: list[dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("steps.toml").read_text(encoding="utf-8"))["step"]


@dataclass(frozen=True, kw_only=True)
class Scene:
    """``shown``: a value of the control in words; ``picture``: a figure and its text alternative.

    ``option``: an option of the question in words; ``why`` follows a right answer, ``hint(value,
    given)`` a wrong one. ``formulas``: pairs of words and LaTeX.
    """

    step: Step
    title: str
    control: str
    formulas: Sequence[tuple[str, str]]
    shown: Callable[[Any], str] = field(repr=False)
    sentences: Callable[[Any], Sentences] = field(repr=False)
    picture: Callable[[Any], tuple[go.Figure, str]] = field(repr=False)
    question: Callable[[Any], str] = field(repr=False)
    why: Callable[[Any], str] = field(repr=False)
    hint: Callable[[Any, Any], str] = field(repr=False)
    option: Callable[[str], str] = field(default=str, repr=False)

    @property
    def ordered(self) -> bool:
        """Whether the control is a slider: its values are numbers."""
        return not isinstance(self.step.start, str)


def text_of(number: int) -> dict[str, Any]:
    """What is the same at every value of a step's control."""
    return {name: TEXTS[number - 1][name] for name in ("title", "control", "formulas")}
