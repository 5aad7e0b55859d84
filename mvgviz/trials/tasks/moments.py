"""Tasks on second moments: the first component, all of them, a subspace, ridge regression."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from mvgviz.errors import InputError, refuse
from mvgviz.noise import moment_noise
from mvgviz.noise.moment_noise import MomentNoise, ridge_weights, silent, symmetrised
from mvgviz.noise.ties import spaces, ties
from mvgviz.query.prior import guessed_moments
from mvgviz.scenario.tasks import LINEAR_RIDGE, SUBSPACE
from mvgviz.trials.problem import Problem
from mvgviz.trials.tasks import base
from mvgviz.validation import FloatArray


def true_moments(problem: Problem) -> FloatArray:
    """``X Xᵀ/n``, or the symmetric answer itself, as the problem's rows count."""
    query, gram = problem.query, None if problem.query.symmetric else problem.gram
    moments = query.value if gram is None else np.asarray(gram.factor @ gram.factor.T / query.cols)
    return moments if problem.weighing is None else problem.weighing.of(moments)


def trivial_moments(problem: Problem) -> FloatArray:
    """The no-data baseline; ties go to equal weights."""
    table = None if problem.query.symmetric else problem.table
    moments = (problem.guess if table is None else guessed_moments(table)).answer
    moments = np.asarray(moments + 1e-9 * float(np.abs(moments).max()))
    return moments if problem.weighing is None else problem.weighing.of(moments)


@dataclass(frozen=True, kw_only=True, eq=False)
class OfDirections(base.Measure):
    """``score`` of the ``kept`` strongest directions (columns) of released second moments.

    ``expected``: the mean score over all bases of spaces of equal strength, the strongest first.
    """

    score: Callable[[FloatArray], FloatArray] = field(repr=False)
    expected: Callable[[list[FloatArray]], float] = field(repr=False)
    kept: int
    symmetrise: bool
    centre: bool

    def errors(self, released: FloatArray, noise: MomentNoise | None = None) -> FloatArray:
        if released.ndim == 2:  # one direction each
            return self.score(released[:, :, None])
        strengths, vectors = self.components(released, noise)
        errors = self.score(vectors[:, :, : self.kept])
        for k in np.flatnonzero(ties(strengths).any(axis=1)):
            errors[k] = self.expected(spaces(strengths[k], vectors[k]))
        return errors

    def moments(self, released: FloatArray) -> FloatArray:
        return base.centred(released) if self.centre else released

    def components(self, released: FloatArray, noise: MomentNoise | None = None) -> tuple[FloatArray, FloatArray]:
        """Strengths and directions of each release, the strongest first; about the mean where that was released too."""
        moments = self.moments(released)
        if noise is None or not self.aware:
            return base.components(moments, symmetrise=self.symmetrise)
        known = noise.on(range(moments.shape[1])) if self.centre else noise
        return moment_noise.components(symmetrised(moments), known)


def _of_directions(problem: Problem, score: Callable[[FloatArray], FloatArray],
                   expected: Callable[[list[FloatArray]], float], *, kept: int, level: str = "moments") -> OfDirections:
    trivial = trivial_moments(problem)[None]
    centre = problem.query.has_constant
    strengths, vectors = base.components(base.centred(trivial) if centre else trivial, symmetrise=True)
    random_guess = expected([np.eye(strengths.size)])
    references = base.References.against(non_private=0.0, random_guess=random_guess, blind={
        "the directions of evenly spread data": expected(spaces(strengths[0], vectors[0])),
        "directions drawn at random": random_guess})
    return OfDirections(score=score, expected=expected, kept=kept, size=problem.query.rows**2, level=level,
                        references=references,
                        symmetrise="symmetrise" in problem.scenario.post, aware="aware" in problem.scenario.post,
                        centre=centre)


def _checked_moments(problem: Problem, task: str) -> FloatArray:
    """Return the true second moments. Raise `InputError` for an answer that has none."""
    query = problem.query
    refuse(not (query.symmetric or query.is_table), f"{task} needs a table or a symmetric answer, got the {query.name} "
           "query; ask for the table or the covariance")
    _small_enough(problem, task)
    moments = true_moments(problem)
    return base.centred(moments[None])[0] if query.has_constant else moments


def _small_enough(problem: Problem, task: str) -> None:
    """Raise `InputError` for large matrices: every trial computes eigenvectors."""
    refuse(problem.query.rows > base.MOST_ROWS, f"{task} computes eigenvectors of a {problem.query.rows} × "
           f"{problem.query.rows} matrix in every trial; choose an answer with at most {base.MOST_ROWS} rows")


def _captured(vectors: FloatArray, moments: FloatArray) -> FloatArray:
    """``v_iᵀ S v_i`` for the columns of each matrix of vectors."""
    return np.asarray(np.einsum("tji,tji->ti", vectors, moments @ vectors))


def _lost(vectors: FloatArray, *, moments: FloatArray, largest: float) -> FloatArray:
    """``lambda_1 - vᵀ S v``: how much less the noisy direction captures than the best one."""
    return np.maximum(largest - _captured(vectors, moments)[:, 0], 0.0)


def _expected_lost(bases: list[FloatArray], *, moments: FloatArray, largest: float) -> float:
    """Of a direction anywhere in the strongest space: ``E vᵀSv`` is the mean of S's eigenvalues there."""
    inside = bases[0].T @ moments @ bases[0]
    return max(largest - float(np.trace(inside)) / len(inside), 0.0)


def first_component(problem: Problem) -> OfDirections:
    """Measure how much less of the moments the noisy first direction captures."""
    s = _checked_moments(problem, "the first component")
    known: dict[str, Any] = {"moments": s, "largest": float(np.linalg.eigvalsh(s)[-1])}
    return _of_directions(problem, partial(_lost, **known), partial(_expected_lost, **known), kept=1, level="component")


def _residuals(vectors: FloatArray, *, moments: FloatArray, eigenvalues: FloatArray) -> FloatArray:
    """``RSS = sum_i (lambda_i - v_iᵀ S v_i)²`` over all components, the strongest first."""
    return np.asarray(np.square(eigenvalues - _captured(vectors, moments)).sum(axis=1))


def _expected_residuals(bases: list[FloatArray], *, moments: FloatArray, eigenvalues: FloatArray) -> float:
    """Every direction lies anywhere in its space of dimension d: with A what S is there, ``vᵀAv`` has the mean
    ``tr A/d`` and the variance ``2 (tr A² - (tr A)²/d)/(d (d + 2))``."""
    at, total = 0, 0.0
    for basis in bases:
        inside, d = basis.T @ moments @ basis, basis.shape[1]
        middle = float(np.trace(inside)) / d
        variance = 2 / (d * (d + 2)) * max(float((inside**2).sum()) - d * middle**2, 0.0)
        total += float(np.square(eigenvalues[at:at + d] - middle).sum()) + d * variance
        at += d
    return total


def covariance_estimation(problem: Problem) -> OfDirections:
    """Measure the residual sum of squares of all components."""
    s = _checked_moments(problem, "covariance estimation")
    known: dict[str, Any] = {"moments": s, "eigenvalues": np.linalg.eigvalsh(s)[::-1]}
    return _of_directions(problem, partial(_residuals, **known), partial(_expected_residuals, **known), kept=s.shape[0])


def _largest_angle(others: FloatArray, *, basis: FloatArray) -> FloatArray:
    """Between two spans, in degrees; through what is left of each vector outside the other, accurate near 0."""
    inside = basis.T @ others
    outside = others - basis @ inside
    sine = np.linalg.svd(outside, compute_uv=False)[:, 0]
    cosine = np.linalg.svd(inside, compute_uv=False)[:, -1]
    return np.asarray(np.degrees(np.arctan2(sine, cosine)))


def _expected_angle(bases: list[FloatArray], *, basis: FloatArray) -> float:
    """The strongest spaces whole, and a random part of the next: the mean of 2000 draws from a fixed seed."""
    m, left = basis.shape
    draws, parts = np.random.default_rng(m).standard_normal((2_000, m, left)), []
    for space in bases:
        part = space @ (space.T @ draws[:, :, :left]) if space.shape[1] > left else space[None]
        parts.append(part)
        left -= part.shape[2]
        if not left:
            break
    some = np.concatenate([np.broadcast_to(part, (max(map(len, parts)), *part.shape[1:])) for part in parts], axis=2)
    return float(_largest_angle(np.linalg.qr(some)[0], basis=basis).mean())


def subspace(problem: Problem) -> OfDirections:
    """Measure the largest angle between the strongest subspaces."""
    s = _checked_moments(problem, "the subspace")
    m = s.shape[0]
    refuse(m < 2, "the subspace needs at least 2 columns, got 1")
    k = min(SUBSPACE, m - 1)
    values, vectors = np.linalg.eigh(s)
    refuse(ties(values[::-1])[k - 1], f"the subspace of the {k} strongest directions is not defined: the next one is "
           "as strong; choose another task")
    basis = vectors[:, ::-1][:, :k]
    return _of_directions(problem, partial(_largest_angle, basis=basis), partial(_expected_angle, basis=basis), kept=k)


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearRidge(base.Measure):
    """Root-mean-square error on records held out of ridge from second moments; ``constant``: with an intercept."""

    labels: base.Labelled = field(repr=False)
    psd: bool
    constant: bool

    @property
    def scale(self) -> FloatArray:
        return np.append(self.labels.scale, 1.0) if self.constant else self.labels.scale

    def weights(self, released: FloatArray, noise: MomentNoise | None = None) -> FloatArray:
        """``(S_xx + ridge I)^-1 S_xy`` for each release, features and label divided by their largest values."""
        scale, y = self.scale, self.labels.label
        x = [*self.labels.features, *([len(scale) - 1] if self.constant else [])]
        moments = symmetrised(released) / np.outer(scale, scale)
        if (noise is not None and self.aware) or self.constant:
            unit = silent(len(scale)) if noise is None else noise.turned(np.diag(1 / scale))
            return ridge_weights(moments, unit, features=x, label=y, constant=x[-1] if self.constant else None,
                                 aware=self.aware and noise is not None)
        if self.psd:
            # With S = G Gᵀ: G_x (G_xᵀ G_x + ridge I)^-1 g_y, so that much noise does not drown the ridge.
            factor = base.psd_root(moments)
            left, s, right = np.linalg.svd(factor[:, x], full_matrices=False)
            along = (right @ factor[:, y, :, None])[:, :, 0]
            return np.asarray((left @ (s / (s * s + LINEAR_RIDGE) * along)[:, :, None])[:, :, 0])
        values, vectors = np.linalg.eigh(moments[:, x][:, :, x])
        along = (vectors.transpose(0, 2, 1) @ moments[:, x, y][:, :, None])[:, :, 0]
        return np.asarray((vectors @ (along / (values + LINEAR_RIDGE))[:, :, None])[:, :, 0])

    def predictions(self, released: FloatArray, noise: MomentNoise | None = None) -> FloatArray:
        """Of the held-out labels, trials × records."""
        scale, x, y = self.labels.scale, self.labels.features, self.labels.label
        unit = self.labels.test_features / scale[x][:, None]
        if self.constant:
            unit = np.vstack([unit, np.ones(unit.shape[1])])
        return np.asarray(scale[y] * (self.weights(released, noise)[:, None, :] @ unit)[:, 0])

    def errors(self, released: FloatArray, noise: MomentNoise | None = None) -> FloatArray:
        return self.labels.rmse(self.predictions(released, noise))


def linear_ridge(problem: Problem) -> LinearRidge:
    """Measure ridge regression from second moments."""
    query = problem.query
    if not (query.degree and query.has_moments):
        raise InputError(f"linear ridge cannot use the {query.name} query; ask for the table or its covariance")
    _small_enough(problem, "linear ridge")
    labels = base.labelled(problem)
    unmeasured = LinearRidge(labels=labels, psd="psd" in problem.scenario.post, constant=query.has_constant,
                             aware="aware" in problem.scenario.post, level="moments",
                             size=max(labels.scale.size**2, labels.test_labels.size))
    clean = float(unmeasured.errors(true_moments(problem)[None], silent(query.rows))[0])
    # Ranges away from 0 let even the expected moments predict something.
    expected = float(unmeasured.errors(trivial_moments(problem)[None])[0])
    references = base.References.against(non_private=clean, random_guess=labels.random_rmse,
                                         blind=labels.blind_rmse | {"learned from evenly spread records": expected})
    return replace(unmeasured, references=references)
