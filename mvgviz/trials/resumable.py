"""A sweep done in steps: what is finished is kept, so that work cut into slices prepares nothing twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from itertools import groupby
from typing import Any

from mvgviz.query.dataset import Dataset
from mvgviz.scenario.scenario import Scenario
from mvgviz.trials.question import Problem, question
from mvgviz.trials.run import Memory, Progress, Results, Submits, sweep

Kept = MutableMapping[str, Results]
_STEP = 4


def sweep_in_steps(grid: Sequence[Mapping[str, Any]], scenario: Scenario, dataset: Dataset, *,
                   mechanisms: Sequence[str], problems: Sequence[Problem], memory: Memory, kept: Kept,
                   executor: Submits | None = None, progress: Progress | None = None,
                   cancelled: Callable[[], bool] | None = None) -> list[Results | None]:
    """Like :func:`mvgviz.trials.run.sweep`, a few points at a time; None for points that were not begun.

    ``problems``: one for each question that the grid asks; they bring the sensitivity and uploaded
    directions. ``kept``: finished points; pass the same mapping to go on where it was cancelled.
    """
    asked = {question(one.scenario): one for one in problems}
    points = [scenario.changed(**change) for change in grid]
    keys = [f"{asked[question(one)].sensitivity} {' '.join(mechanisms)} {one.to_json()}" for one in points]
    found: dict[str, Results] = {key: kept[key] for key in keys if key in kept}
    total = sum(one.trials for one in points) * len(mechanisms)
    missing = [(key, one) for key, one in dict(zip(keys, points, strict=True)).items() if key not in found]
    for same, group in groupby(missing, key=lambda pair: question(pair[1])):
        some = list(group)
        for start in range(0, len(some), _STEP):
            part = some[start : start + _STEP]
            before = sum(kept[key].scenario.trials for key in keys if key in kept) * len(mechanisms)
            results = sweep([_fields(one) for _, one in part], scenario, dataset, mechanisms=mechanisms,
                            sensitivity=asked[same].sensitivity, problem=asked[same], executor=executor,
                            memory=memory, progress=_after(before, total, progress), cancelled=cancelled)
            found |= {key: result for (key, _), result in zip(part, results, strict=True)}
            if not results[0].complete:
                return [found.get(key) for key in keys]
            kept.update({key: found[key] for key, _ in part})
    return [found[key] for key in keys]


def _fields(scenario: Scenario) -> dict[str, Any]:
    return {name: getattr(scenario, name) for name in scenario.__dataclass_fields__}


def _after(before: int, total: int, progress: Progress | None) -> Progress | None:
    return None if progress is None else lambda done, _: progress(min(before + done, total), total)
