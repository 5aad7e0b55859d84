"""Tasks on the released answer itself: kernel ridge regression, and the error of the answer."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from mvgviz.errors import refuse
from mvgviz.noise.moment_noise import MomentNoise, symmetrised
from mvgviz.noise.ties import nearest_psd
from mvgviz.query.prior import Weighing, length
from mvgviz.scenario.tasks import KERNEL_RIDGE
from mvgviz.trials.problem import Problem
from mvgviz.trials.tasks import base
from mvgviz.validation import FloatArray

_MOST_RECORDS = 2_000
_CACHED = 250_000  # numbers
_FARTHEST, _BEYOND = -100.0, 1e100
_ROWS = 128
_ROUNDING = 1e-12  # of the largest possible answer: less should be 0


@dataclass(frozen=True, kw_only=True, eq=False)
class KernelRidge(base.Measure):
    """RMSE on records held out; ranges become [-1, 1], the kernel's length is ``sqrt(2 p/3)`` for p features."""

    labels: base.Labelled = field(repr=False)
    clip: bool

    def predictions(self, released: FloatArray, noise: MomentNoise | None = None) -> FloatArray:
        """Of the held-out labels, trials × records, whatever the noise."""
        n, given = released.shape[2], self.labels
        middle, half = (given.lower + given.upper) / 2, (given.upper - given.lower) / 2
        reach = 1.0 if self.clip else _BEYOND
        test = (given.test_features - middle[given.features, None]) / half[given.features, None]
        tested = _factors(test[None])[0]
        at_once = min(max(_CACHED // n**2, 1), len(released))
        kernels = np.zeros((at_once, n, n))  # reused for all trials: fresh memory is slow
        parts = []
        for start in range(0, len(released), at_once):
            table = np.clip((released[start : start + at_once] - middle[:, None]) / half[:, None], -reach, reach)
            left, right = _factors(table[:, given.features])
            weights = _ridge_weights(left, right, table[:, given.label, :, None], kernels[: len(table)])
            unit = _similarity(tested @ right) @ weights
            parts.append(middle[given.label] + half[given.label] * unit[:, :, 0])
        return np.concatenate(parts)

    def errors(self, released: FloatArray, noise: MomentNoise | None = None) -> FloatArray:
        return self.labels.rmse(self.predictions(released))


def _ridge_weights(left: FloatArray, right: FloatArray, y: FloatArray, kernels: FloatArray) -> FloatArray:
    """``(K + ridge I)^-1 y`` for each trial, by Cholesky: only the lower triangle of K is worked out."""
    from scipy.linalg.lapack import dpotrs

    n = kernels.shape[1]
    for start in range(0, n, _ROWS):
        rows = slice(start, start + _ROWS)
        _similarity(left[:, rows] @ right[:, :, : rows.stop], out=kernels[:, rows, : rows.stop])
    kernels[:, np.arange(n), np.arange(n)] = 1 + KERNEL_RIDGE
    roots = np.linalg.cholesky(kernels)
    return np.stack([dpotrs(root.T, labels)[0] for root, labels in zip(roots, y, strict=True)])


def _factors(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two matrices whose product is ``-||a_i - b_j||²/(2 length²)`` for the columns a of one x and b of another."""
    x = x / math.sqrt(2 * 2 * x.shape[1] / 3)  # sqrt2 length
    trials, p, n = x.shape
    left, right = np.ones((trials, n, p + 2)), np.ones((trials, p + 2, n))
    squares = np.einsum("tpi,tpi->ti", x, x)
    left[:, :, :p], left[:, :, p] = 2 * x.transpose(0, 2, 1), -squares
    right[:, :p], right[:, p + 1] = x, -squares
    return left, right


def _similarity(exponents: FloatArray, *, out: FloatArray | None = None) -> FloatArray:
    """The Gaussian kernel of these exponents, which it overwrites; they stop at -100, as underflow is slow."""
    np.clip(exponents, _FARTHEST, 0.0, out=exponents)
    return np.asarray(np.exp(exponents, out=exponents if out is None else out))


def kernel_ridge(problem: Problem) -> KernelRidge:
    """Measure kernel ridge regression on a table."""
    query = problem.query
    refuse(not query.is_table, f"kernel ridge needs the records one by one: ask for the table, not the {query.name}; "
           "or choose linear ridge, which works from a covariance")
    labels = base.labelled(problem)
    refuse(query.cols > _MOST_RECORDS, "kernel ridge solves a system of all records in every trial: at most "
           f"{_MOST_RECORDS}, got {query.cols}; choose linear ridge")
    unmeasured = KernelRidge(labels=labels, clip="clip" in problem.scenario.post, level="answer", size=query.cols**2)
    clean, zeros = (float(unmeasured.errors(table[None])[0]) for table in (query.value, np.zeros_like(query.value)))
    references = base.References.against(non_private=clean, random_guess=labels.random_rmse,
                                         blind=labels.blind_rmse | {"learned from all zeros": zeros})
    return replace(unmeasured, references=references)


@dataclass(frozen=True, kw_only=True, eq=False)
class Reconstruction(base.Measure):
    """``||noisy - true||_F / unit``, as rows are weighed: relative, or the root mean square in units of the data."""

    value: FloatArray = field(repr=False)
    weighing: Weighing | None = field(repr=False)
    unit: float
    clip_to: tuple[FloatArray, FloatArray] | None = field(repr=False)
    symmetrise: bool
    psd: bool

    def processed(self, released: FloatArray) -> FloatArray:
        if self.clip_to is not None:
            released = np.clip(released, *self.clip_to)
        if self.symmetrise:
            released = symmetrised(released)
        return nearest_psd(released) if self.psd else released

    def errors(self, released: FloatArray, noise: MomentNoise | None = None) -> FloatArray:
        if self.level == "square":
            return np.sqrt(released) / self.unit
        error = self.processed(released) - self.value
        error = (error if self.weighing is None else self.weighing.of(error)).reshape(len(released), -1)
        return np.asarray(np.sqrt(np.einsum("ti,ti->t", error, error)) / self.unit)


def reconstruction(problem: Problem) -> Reconstruction:
    """Measure the answer itself."""
    query, post, table, guess = problem.query, problem.scenario.post, problem.table, problem.guess
    weighing, own_unit = problem.weighing, "" if problem.weighing is None else problem.weighing.unit
    clip_to = None
    if table is not None and "clip" in post and query.degree == 1:
        clip_to = table.lower[:, None], table.upper[:, None]
    symmetrise = "symmetrise" in post and query.symmetric
    psd = "psd" in post and query.psd and symmetrise and query.rows <= base.MOST_ROWS
    random = guess.random_error(query.value, weighing)
    # A guess may be right by chance.
    units = (length(query.value, weighing), guess.expected_error(query.value, weighing), random)
    unit = 1.0 if own_unit else next((unit for unit in units if unit > _ROUNDING * query.gamma), 0.0)
    refuse(not unit, "what is judged is the same for all data, so it has no error; judge everything")
    references = base.References.against(
        non_private=0.0, random_guess=random / unit, unit=own_unit,
        blind={name: error / unit for name, error in guess.blind_errors(query.value, weighing).items()})
    level, size = ("answer", query.value.size) if clip_to or symmetrise or psd else ("square", 1)
    return Reconstruction(value=query.value, weighing=weighing, unit=unit, clip_to=clip_to, symmetrise=symmetrise,
                          psd=psd, references=references, level=level, size=size)
