"""The expected error of a released answer in closed form: noise and the bias of clipping, without trials.

Whatever the family, the expected square of the noise is a trace. Steps after the release that only help are left out:
clipped values, negative eigenvalues set to 0.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mvgviz.errors import InputError
from mvgviz.query.dataset import Dataset
from mvgviz.scenario.resolve import asked_of
from mvgviz.scenario.scenario import Scenario
from mvgviz.trials.mechanisms import mechanism
from mvgviz.trials.mechanisms.gaussian import GaussianAnswer
from mvgviz.trials.mechanisms.reduced import Filled
from mvgviz.trials.problem import Problem, weighing_of
from mvgviz.validation import FloatArray


@dataclass(frozen=True, kw_only=True)
class ExpectedError:
    """Root mean squares on what is judged: for a table or mean in the unit of ``weighing_of``, else Frobenius norms."""

    noise: float
    bias: float

    @property
    def total(self) -> float:
        return math.hypot(self.noise, self.bias)


def has_expected_error(scenario: Scenario) -> bool:
    """Whether :func:`expected_error` knows the scenario."""
    return (scenario.task == "reconstruction" and not scenario.kind.is_kernel
            and "private" not in (scenario.directions, scenario.bound))


def expected_error(problem: Problem, key: str = "mvg") -> ExpectedError:
    """Return the error on the problem's own data, which is not private."""
    return expected_errors(problem, key, [problem.dataset])[0]


def expected_errors(problem: Problem, key: str, tables: Sequence[Dataset]) -> list[ExpectedError]:
    """Return the error on each table; all have the problem's ranges, and the noise of its number of records."""
    if not has_expected_error(problem.scenario):
        raise InputError("no formula gives the expected error of this answer and design; run trials")
    sampler = mechanism(key).prepare(problem, "answer")
    release, frame, kept = sampler, None, np.eye(problem.query.rows)
    if isinstance(sampler, Filled):
        release, frame, kept = sampler.source, sampler.frame, sampler.kept
    assert isinstance(release, GaussianAnswer)
    noise, judged = _noise(problem, release, kept), _seen(problem)
    return [ExpectedError(noise=noise, bias=_bias(problem, table, frame, kept, judged)) for table in tables]


def clipped_parts(problem: Problem, tables: Sequence[Dataset]) -> list[float]:
    """The part of each table's records that the design clips."""
    bound = problem.setup(problem.scenario.guarantee).query.bound
    return [0.0 if bound is None else bound.count_outside(asked_of(problem.scenario, table)) / table.n_records
            for table in tables]


def _seen(problem: Problem) -> FloatArray:
    """M, with ``M A`` (or ``M A Mᵀ``) the judged part of the answer A."""
    rows = np.eye(problem.query.rows)
    part, weighing = rows if problem.positions is None else rows[problem.positions], weighing_of(problem)
    return part if weighing is None else weighing.matrix @ part


def _noise(problem: Problem, release: GaussianAnswer, kept: FloatArray) -> float:
    """``E ||M Z||² = tr(M Sigma Mᵀ) tr(Psi)``; of a symmetric answer Z has M on both sides, and its copies averaged."""
    seen = _seen(problem) @ kept
    over_rows = seen @ release.rows.covariance() @ seen.T
    if not problem.query.symmetric:
        return math.sqrt(float(np.trace(over_rows)) * float(release.cols.covariance_diagonal().sum()))
    over_cols = seen @ release.cols.covariance() @ seen.T
    square = float(np.trace(over_rows) * np.trace(over_cols))
    drawn = "" if release.design is None else release.design.drawn
    if "symmetrise" in problem.scenario.post or drawn == "symmetric":
        square = (square + float(np.sum(over_rows * over_cols))) / 2
    return math.sqrt(square)


def _bias(problem: Problem, table: Dataset, frame: FloatArray | None, kept: FloatArray, judged: FloatArray) -> float:
    """How far the mean release is from a table's answer: clipped, or with a ``frame`` around the part it ``kept``."""
    bound = None if frame is not None else problem.setup(problem.scenario.guarantee).query.bound
    if problem.table is None or (frame is None and bound is None):
        return 0.0
    query, records = problem.query, asked_of(problem.scenario, table)
    true = query.answer(records.matrix)
    if bound is not None:
        off = query.answer(bound.clipped(records).matrix) - true
    else:
        assert frame is not None
        off = (frame if query.symmetric else frame[:, :1]) - true
        off = off - kept @ (kept.T @ off @ kept @ kept.T if query.symmetric else kept.T @ off)
    off = judged @ off @ judged.T if query.symmetric else judged @ off
    return float(np.linalg.norm(off)) * math.sqrt(query.cols / off.shape[1] if query.is_table else 1.0)
