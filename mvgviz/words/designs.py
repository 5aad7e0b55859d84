"""What a design is called, in a few words."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from mvgviz.labels import ALLOCATIONS, DIRECTIONS, GUARANTEES, QUERIES
from mvgviz.scenario.scenario import Scenario
from mvgviz.text import listed
from mvgviz.trials.candidates import Candidate
from mvgviz.trials.tasks import TASKS


class DesignWords(NamedTuple):
    """What is asked, how it is calibrated, what records are kept in, where the budget goes, how the answer is used.

    Empty where there is nothing to say. Names are as in the file.
    """

    query: str
    guarantee: str
    bound: str
    split: str
    use: str

    def __str__(self) -> str:
        return ", ".join(filter(None, self))


def design_words(candidate: Candidate, names: Sequence[str]) -> DesignWords:
    """What a design is called; ``names``: of the features."""
    scenario, flag = candidate.scenario, "" if candidate.private else " (not private)"
    plain = "aware" in TASKS[scenario.task].post and "aware" not in scenario.post
    split = split_words(scenario, names) if candidate.is_whole else _only(scenario, names)
    return DesignWords(QUERIES[scenario.query].name, GUARANTEES[scenario.guarantee].name,
                       _bound_words(scenario, names) if candidate.is_whole else "", split + flag,
                       "noise not looked at" if plain else "")


def _only(scenario: Scenario, names: Sequence[str]) -> str:
    """What alone is released: features, or other directions."""
    if scenario.needs_along == "features":
        return f"only {_named(scenario.needs, names)}"
    return f"{DIRECTIONS[scenario.directions][1].format(angle=scenario.angle)}, only {_favoured(scenario, names)}"


def _bound_words(scenario: Scenario, names: Sequence[str]) -> str:
    if scenario.bound == "none" or scenario.is_graph:
        return ""
    round_one = scenario.query == "kernel" or (scenario.directions == "standard" and _is_equal(scenario, names))
    radius = f" × {scenario.radius:g}" if scenario.bound == "own" else ""
    found = ", length found privately" if scenario.bound == "private" else ""
    return f"{'round bound' if round_one else 'ellipse'}{radius}{found}"


def _is_equal(scenario: Scenario, names: Sequence[str]) -> bool:
    """Whether the split comes to equal shares."""
    if scenario.allocation in ("binary", "least-error"):
        some = [k for k in scenario.favoured if scenario.query == "kernel" or k < len(names)]
        return not 0 < len(some) < (math.inf if scenario.query == "kernel" else len(names))
    return scenario.allocation == "uniform"


def split_words(scenario: Scenario, names: Sequence[str]) -> str:
    """How a scenario turns and divides its noise; ``names``: of the features."""
    turned = DIRECTIONS[scenario.directions][1].format(angle=scenario.angle)
    what = ALLOCATIONS["uniform" if _is_equal(scenario, names) else scenario.allocation].design
    what = what.format(percent=100 * scenario.share, favoured=_favoured(scenario, names))
    return ", ".join(filter(None, [turned, what]))


def _favoured(scenario: Scenario, names: Sequence[str]) -> str:
    if scenario.directions in ("private", "eigenvectors"):
        k = len(scenario.favoured)
        return "the strongest" if k == 1 else f"the {k} strongest"
    known = scenario.directions == "standard" and scenario.query != "kernel"
    return _named(scenario.favoured, names if known else ())


def _named(positions: Sequence[int], names: Sequence[str]) -> str:
    return listed([names[k] if k < len(names) else f"no. {k + 1}" for k in positions], most=3)
