"""What a released answer is used for, and how wrong it then is.

A task is prepared once for a problem; the measure that comes out turns releases into
errors, all trials at once. Smaller is better everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from mvgviz.errors import InputError
from mvgviz.trials.question import Problem
from mvgviz.validation import FloatArray

MOST_ROWS = 400
"""Of a matrix whose eigenvectors every trial needs."""


@dataclass(frozen=True)
class References:
    """Three errors to hold a mechanism against.

    ``non_private``: without noise. ``random_guess``: chance. ``trivial``: an answer that ignores the data,
    the best of a few that anyone could give; ``trivial_is`` says which.
    """

    non_private: float
    random_guess: float
    trivial: float
    trivial_is: str = ""

    @classmethod
    def against(cls, *, non_private: float, random_guess: float, blind: Mapping[str, float]) -> References:
        """With the least of the errors of ``blind`` answers, by what they are called; the first of equals.

        Picking it looks at the data, in the mechanism's disfavour: whoever is said to beat the
        trivial answer beats every one of them.
        """
        least = min(blind.values())
        name = next(name for name, error in blind.items() if error <= least * (1 + 1e-9))
        return cls(non_private, random_guess, blind[name], name)


class Measure(Protocol):
    """A task for one problem. ``level``: what it needs of a mechanism (see ``mvgviz.trials.mechanisms.base``)."""

    @property
    def level(self) -> str: ...

    @property
    def references(self) -> References: ...

    @property
    def size(self) -> int:
        """How many numbers a trial takes."""
        ...

    def errors(self, released: FloatArray) -> FloatArray:
        """One error for each release."""
        ...


@dataclass(frozen=True, kw_only=True)
class Task:
    """``metric``: what is measured, in words; ``rule``: the settings, the same for every mechanism.

    ``post``: which of the scenario's free post-processing steps matter here.
    """

    key: str
    label: str
    metric: str
    symbol: str
    rule: str
    post: tuple[str, ...]
    prepare: Callable[[Problem], Measure] = field(repr=False)


def needs_moments(problem: Problem, task: str) -> None:
    """Refuse an answer that has no second moments."""
    query = problem.query
    if not (query.symmetric or query.name == "identity"):
        raise InputError(f"{task} needs a table or a symmetric answer, got the {query.name} query; "
                         "ask for the table or the covariance")


def small_enough(problem: Problem, task: str) -> None:
    """Refuse eigenvectors of large matrices: every trial would need them."""
    if problem.query.rows > MOST_ROWS:
        raise InputError(f"{task} needs the eigenvectors of a {problem.query.rows} × {problem.query.rows} matrix in "
                         f"every trial; choose an answer with at most {MOST_ROWS} rows")
