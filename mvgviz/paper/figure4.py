"""The paper's Figure 4: how the choice of favoured features changes the error as epsilon grows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from mvgviz.paper.runs import Bench, Kept, theorem_of
from mvgviz.paper.tables import SHARES, Experiment
from mvgviz.query.dataset import Dataset
from mvgviz.trials.run import Memory, Outcome, Progress, Submits
from mvgviz.trials.tasks import References

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
SHARE = SHARES[2]
"""What the favoured features get, in every point of the figure: the middle of the five shares."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Curve:
    """One favoured set under one guarantee: an outcome at each of EPSILONS."""

    name: str
    exact: bool
    outcomes: tuple[Outcome, ...] = field(repr=False)


def direction_curves(experiment: Experiment, dataset: Dataset, *, trials: int = 100, seed: int = 0,
                     executor: Submits | None = None, memory: Memory | None = None, kept: Kept | None = None,
                     progress: Progress | None = None,
                     cancelled: Callable[[], bool] | None = None) -> tuple[list[Curve], References, bool]:
    """The curves, the references, and whether every trial was finished."""
    bench = Bench(experiment, dataset, trials=trials, seed=seed, executor=executor, memory=memory, kept=kept,
                  progress=progress, cancelled=cancelled)
    bench.expect(2 * len(experiment.sets) * len(EPSILONS))
    curves = []
    for exact, way in ((True, experiment.rows[0].exact), (False, theorem_of(experiment))):
        for name, chosen in experiment.sets:
            outcomes = bench.measure(way, [{"epsilon": epsilon} for epsilon in EPSILONS],
                                     {"favoured": chosen, "share": SHARE})
            curves.append(Curve(name=name, exact=exact, outcomes=tuple(outcomes)))
    return curves, bench.references, bench.complete
