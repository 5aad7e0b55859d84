"""Mechanisms that need epsilon alone: the exponential mechanism and Laplace noise.

Laplace noise [4] is on all entries or, for symmetric answers, on the upper triangle. The quality of the exponential
mechanism [1, 2] is a norm, or what a first component captures: for records no longer than B, a unit vector of density
``∝ exp(xᵀ A x)`` (Bingham), ``A = epsilon/(2B²) X Xᵀ``, is private with epsilon alone [3].

References
  [1] McSherry & Talwar, Mechanism design via differential privacy, FOCS 2007.
  [2] Blum, Ligett & Roth, A learning theory approach to noninteractive database privacy, STOC 2008.
  [3] Chaudhuri, Sarwate & Sinha, A near-optimal algorithm for differentially private principal components, JMLR 2013.
  [4] Dwork, McSherry, Nissim & Smith, Calibrating noise to sensitivity, TCC 2006.
  [5] Kent, Ganeiber & Mardia, A new unified approach for the simulation of a wide class of directional distributions,
      J. Computational and Graphical Statistics 27, 2018.
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from mvgviz.errors import InputError, refuse
from mvgviz.noise.ties import eigen
from mvgviz.trials.mechanisms import base
from mvgviz.trials.mechanisms.base import EPSILON, Draws, Mechanism, NoisyAnswer, Sampler, at_level, need_one_replaced
from mvgviz.trials.problem import Problem
from mvgviz.validation import LARGEST, FloatArray, generator, square


def _laplace(problem: Problem, level: str, *, triangle: bool) -> Sampler:
    query = problem.query
    if triangle:
        base.need_symmetric(query)
    scale = query.absolute_sum(triangle=triangle) / problem.epsilon
    answer = NoisyAnswer(value=query.value, size=query.value.size, std=math.sqrt(2) * scale, noise=partial(
        base.entry_noise, shape=query.value.shape, scale=scale, triangle=triangle, law="laplace"))
    return at_level(answer, problem, level, known=2 * scale**2 * np.eye(query.rows))


def _norm_noise(draws: Draws, *, shape: tuple[int, int], scale: float, by_column: bool) -> FloatArray:
    """Noise of density ``∝ exp(-||z||_F/scale)`` (or of each column's norm): a uniform direction and a Gamma radius."""
    rows, cols = shape

    def noise(rng: np.random.Generator, out: FloatArray) -> None:
        rng.standard_normal(out=out)
        if by_column:
            out *= scale * rng.standard_gamma(rows, size=cols) / np.sqrt(np.einsum("ij,ij->j", out, out))
        else:
            out *= scale * rng.standard_gamma(rows * cols) / np.linalg.norm(out)

    return draws.fill(shape, noise)


def _bingham(draws: Draws, *, matrix: FloatArray) -> FloatArray:
    return sample_bingham(matrix, draws.generators())


def _of_norm(problem: Problem, level: str, *, by_column: bool) -> Sampler:
    query, scale = problem.query, problem.s2 / problem.epsilon
    refuse(by_column and not query.is_table, "column-wise noise is for tables, where a neighbour changes one column; "
           f"got the {query.name} query")
    if by_column:
        need_one_replaced(problem)
    answer = NoisyAnswer(value=query.value, size=query.value.size, noise=partial(
        _norm_noise, shape=query.value.shape, scale=scale, by_column=by_column))
    parts = query.rows if by_column else query.value.size  # a radius has second moment k(k + 1) scale²
    return at_level(answer, problem, level, known=(parts + 1) * scale**2 * np.eye(query.rows))


def _component(problem: Problem, level: str) -> Sampler:
    query, table = problem.query, problem.table
    refuse(level != "component", "it releases one direction alone; choose the task first component")
    if table is None or not query.has_moments or query.has_constant:
        raise InputError(f"it needs the records of a table, got the {query.name} query")
    need_one_replaced(problem)
    products = query.value * table.n_records if query.symmetric else query.value @ query.value.T
    largest = float(table.largest_values @ table.largest_values)  # B²: how far one record moves vᵀ X Xᵀ v
    matrix = problem.epsilon / (2 * largest) * products
    return Sampler(size=query.rows, level=level, law=partial(_bingham, matrix=matrix))


_mechanism = partial(Mechanism, guarantee=EPSILON, fields=("epsilon",))

LAPLACE = _mechanism(
    key="laplace", label="Laplace", prepare=partial(_laplace, triangle=False), applies="any answer",
    reference="Dwork, McSherry, Nissim & Smith 2006")
LAPLACE_TRIANGLE = _mechanism(
    key="laplace-triangle", label="Laplace, upper triangle", prepare=partial(_laplace, triangle=True),
    applies="symmetric answers", reference="Dwork, McSherry, Nissim & Smith 2006")
WHOLE = _mechanism(
    key="exponential", label="Exponential, Frobenius norm", prepare=partial(_of_norm, by_column=False),
    applies="any answer", reference="McSherry & Talwar 2007; Blum, Ligett & Roth 2008")
COLUMNS = _mechanism(
    key="exponential-columns", label="Exponential, by record", prepare=partial(_of_norm, by_column=True),
    applies="tables", reference="McSherry & Talwar 2007, with the sum of the records' norms")
COMPONENT = _mechanism(
    key="exponential-component", label="Exponential, first component", prepare=_component,
    applies="first principal component of a table",
    reference="Chaudhuri, Sarwate & Sinha 2013; exact Bingham sampler (Kent, Ganeiber & Mardia 2018)")


def sample_bingham(matrix: Any, generators: Sequence[np.random.Generator]) -> FloatArray:
    """Unit vectors with density proportional to ``exp(xᵀ matrix x)``, one a generator: trials × m.

    Rejection [5], in the eigenvectors' coordinates, with ``lambda_i = a_max - a_i`` and ``t = sum lambda_i x_i²``.
    Propose ``x = y/|y|`` with y normal, variances ``1/(1 + 2 lambda_i/b)``: a density ``∝ (1 + 2t/b)^(-m/2)``. Accept
    with probability ``(w exp(1 - w))^(m/2)``, ``w = (b + 2t)/m``; b decides the speed, not the distribution.
    Each row is computed alone from its own generator, so a draw does not depend on the batch.
    """
    a = square("matrix", matrix)
    size = float(np.abs(a).max())
    refuse(not size <= LARGEST, f"matrix must have entries of at most {LARGEST:g}")
    refuse(not np.abs(a - a.T).max() <= 1e-8 * size, "matrix must be symmetric")
    values, vectors = eigen(np.asarray((a + a.T) / 2))
    try:
        sources = [generator(rng) for rng in generators]
    except TypeError:
        raise InputError("generators must be a sequence of numpy.random.Generator, one a draw") from None
    lam, m = values[-1] - values, values.size
    b = _envelope(lam)
    spread = 1 / np.sqrt(1 + 2 * lam / b)
    draws, pending = np.empty((len(sources), m)), np.arange(len(sources))
    while pending.size:
        y, uniform = np.empty((pending.size, m)), np.empty(pending.size)
        for row, k in enumerate(pending.tolist()):
            sources[k].standard_normal(out=y[row])
            uniform[row] = sources[k].random()
        y *= spread
        x = y / np.sqrt((y * y).sum(axis=1, keepdims=True))
        w = (b + 2 * (lam * x * x).sum(axis=1)) / m
        accepted = uniform < np.exp(m / 2 * (np.log(w) + 1 - w))
        draws[pending[accepted]] = x[accepted]
        pending = pending[~accepted]
    return np.asarray((draws[:, None, :] @ vectors.T)[:, 0, :])  # one product a trial: the batch must not matter


def _envelope(lam: FloatArray) -> float:
    """The fastest b, ``sum 1/(b + 2 lambda_i) = 1``, by Newton's method for the harmonic sum, which is concave in b."""
    b = 1.0
    for _ in range(100):
        inverse = 1 / (b + 2 * lam)
        total = float(inverse.sum())
        step = total * (total - 1) / float((inverse * inverse).sum())
        b += step
        if not step > 1e-12 * b:
            break
    return b
