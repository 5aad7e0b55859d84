"""What a released answer can be used for: the facts of each task, in one table; ``mvgviz.trials.tasks`` measures."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

KERNEL_RIDGE, LINEAR_RIDGE, SUBSPACE = 1.0, 0.1, 2
"""The ridges of both regressions, and how many directions the strongest subspace has."""

POST = {
    "clip": "clip released values to their declared ranges",
    "symmetrise": "symmetrise: average the noisy matrix with its transpose",
    "psd": "set negative eigenvalues to 0 (project to positive semi-definite; up to 400 rows)",
    "subtract": "subtract the noise's known second moments from those of a noisy table",
    "aware": "use the known noise: directions that are mostly noise count less (ridge, components)",
}
"""Free post-processing, and what each step does; a task says which of them matter."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """``metric``: what is measured, in words; ``rule``: the settings. ``predicts``: a label from other columns.

    ``queries``: those that serve it with the same truth, from the most to the least noise that they usually need; none
    where only the query asked for does. ``usual``: the settings that did best on many tables, if known.
    """

    key: str
    label: str
    metric: str
    symbol: str
    rule: str
    post: tuple[str, ...] = ()
    predicts: bool = False
    of_directions: bool = False
    queries: tuple[str, ...] = ()
    usual: Mapping[str, Any] | None = None

    def metric_in(self, unit: str) -> str:
        """Return what is measured, with its unit where that is the data's."""
        return f"mean error in {unit}" if unit else self.metric


def _of_directions(key: str, label: str, metric: str, symbol: str, which: str) -> Task:
    return Task(key=key, label=label, metric=metric, symbol=symbol, post=("symmetrise", "subtract", "aware"),
                rule=f"{which}, about the mean where that is released too, else about 0", of_directions=True,
                queries=("identity", "covariance"), usual={"query": "covariance", "bound": "even", "share": 0.8})


TASKS = {task.key: task for task in (
    Task(key="reconstruction", label="The answer itself", metric="relative error of the answer", symbol="error",
         rule="for a table or a mean the root mean square of the differences; else the Frobenius norm of the "
              "difference, divided by that of the true answer",
         post=("clip", "symmetrise", "psd"), usual={"share": 0.8}),
    _of_directions("subspace", "Strongest subspace", "angle to the true subspace (degrees)", "angle",
                   f"the {SUBSPACE} strongest directions (1 of 2) of the released second moments"),
    Task(key="kernel-ridge", label="Kernel ridge regression", metric="error of predictions (RMSE)", symbol="RMSE",
         rule=f"Gaussian kernel, ridge {KERNEL_RIDGE:g}; its length is the typical distance of two records drawn from "
              "the ranges; measured on 28 % of the records, held out",
         post=("clip",), predicts=True, queries=("identity",)),
    Task(key="linear-ridge", label="Linear ridge regression", metric="error of predictions (RMSE)", symbol="RMSE",
         rule=f"features divided by their largest declared value; ridge {LINEAR_RIDGE:g} (with the known noise: more "
              "on noisier features); an intercept if the mean was released too; learned from second moments alone, "
              "measured on 28 % of the records, held out",
         post=("psd", "subtract", "aware"), predicts=True, queries=("identity", "covariance", "moments"),
         usual={"query": "moments", "bound": "even", "share": 0.5}),
    _of_directions("first-component", "First principal component", "captured variance lost", "Δρ",
                   "the strongest direction of the released second moments"),
    _of_directions("covariance-estimation", "Covariance estimation", "residual sum of squares of the components", "RSS",
                   "all directions of the released second moments, the strongest first"),
)}
