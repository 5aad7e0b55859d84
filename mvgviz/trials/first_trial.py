"""One draw to look at: the true answer, the noisy one, and what the task makes of both. It is no release."""

from dataclasses import dataclass, field, replace

import numpy as np

from mvgviz.noise.moment_noise import MomentNoise, silent, symmetrised
from mvgviz.noise.sides import NoiseSide
from mvgviz.noise.ties import eigen
from mvgviz.threads import one_blas_thread
from mvgviz.trials.mechanisms import Sampler, mechanism
from mvgviz.trials.mechanisms.base import Draws, square_error
from mvgviz.trials.mechanisms.gaussian import GaussianAnswer
from mvgviz.trials.problem import Problem
from mvgviz.trials.tasks import Measure, measure_for
from mvgviz.trials.tasks.moments import LinearRidge, OfDirections, true_moments
from mvgviz.trials.tasks.tables import KernelRidge, Reconstruction
from mvgviz.validation import FloatArray

PART = 60  # how many records of a table it keeps


@dataclass(frozen=True, kw_only=True, eq=False)
class Components:
    """First components (signs aligned) and what each component captures of the true moments."""

    first: FloatArray
    noisy_first: FloatArray
    eigenvalues: FloatArray
    captured: FloatArray

    @property
    def angle(self) -> float:
        """Between the two first components, in degrees."""
        along = float(self.first @ self.noisy_first)
        across = float(np.linalg.norm(self.noisy_first - along * self.first))
        return float(np.degrees(np.arctan2(across, along)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Predictions:
    """Of the labels held out: ``clean`` without noise, ``noisy`` from the noisy answer."""

    labels: FloatArray
    clean: FloatArray
    noisy: FloatArray
    lower: float
    upper: float
    label: int


@dataclass(frozen=True, kw_only=True, eq=False)
class FirstTrial:
    """``true``, ``noisy``: the kept part of ``what``, which has this ``shape``; ``is_trial``: trials draw it."""

    what: str
    true: FloatArray = field(repr=False)
    noisy: FloatArray = field(repr=False)
    shape: tuple[int, int]
    error: float
    is_trial: bool
    components: Components | None = field(default=None, repr=False)
    predictions: Predictions | None = field(default=None, repr=False)


def first_trial(problem: Problem) -> FirstTrial:
    """The first trial of the scenario's own design."""
    measure, chosen = measure_for(problem), mechanism("mvg")
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        if measure.level == "square":
            return _unmeasured(problem, measure, chosen.prepare(problem, "answer"))
        sampler = chosen.prepare(problem, measure.level)
        sampler, draws = next(iter(sampler.parts(Draws(problem.scenario.seed, 0, 1))))
        released = sampler.draw(draws)
        noise = sampler.moment_noise(released) if measure.aware else None
        error = float(measure.errors(released, noise)[0])
        whole = problem.whole  # it shows the whole answer, whatever is judged
        return _seen(whole, measure_for(whole), released, noise, error)


def _unmeasured(problem: Problem, measure: Measure, sampler: Sampler) -> FirstTrial:
    """An answer that only this draw has; of a long table only the kept records."""
    query, cols = problem.query, problem.query.cols
    if isinstance(sampler, GaussianAnswer) and sampler.cols.is_identity and not query.symmetric and cols > PART:
        cols = PART
        sampler = replace(sampler, value=sampler.value[:, :cols], cols=NoiseSide.identity(cols))
    noisy = sampler.draw(Draws(problem.scenario.seed, 0, 1))
    square = square_error(sampler, problem, cols).of(noisy)
    return FirstTrial(what="answer", true=query.value[:PART, :PART], noisy=noisy[0, :PART, :PART],
                      shape=query.value.shape, is_trial=False,
                      error=float(measure.errors(square * (query.cols / cols))[0]))


def _seen(problem: Problem, measure: Measure, released: FloatArray, noise: MomentNoise | None, error: float
          ) -> FirstTrial:
    """The answer, or the second moments, and what the task makes of them."""
    true, seen, parts, predictions = problem.query.value, released, None, None
    if measure.level != "answer":
        true = true_moments(problem)
        symmetrise = isinstance(measure, LinearRidge) or "symmetrise" in problem.scenario.post
        seen = symmetrised(released) if symmetrise else released
    if isinstance(measure, Reconstruction):
        seen = measure.processed(released)
    elif isinstance(measure, OfDirections):
        moments, found = measure.moments(true[None])[0], measure.components(released, noise)[1][0]
        values, vectors = eigen(moments)
        first, other = vectors[:, -1], found[:, 0]
        parts = Components(first=first, noisy_first=other if first @ other >= 0 else -other, eigenvalues=values[::-1],
                           captured=np.asarray(np.einsum("ji,ji->i", found, moments @ found)))
    elif isinstance(measure, LinearRidge | KernelRidge):
        labels, unknown = measure.labels, None if isinstance(measure, KernelRidge) else silent(len(true))
        clean, noisy = measure.predictions(true[None], unknown), measure.predictions(released, noise)
        predictions = Predictions(labels=labels.test_labels, label=labels.label, lower=labels.range[0],
                                  upper=labels.range[1], clean=clean[0], noisy=noisy[0])
        if isinstance(measure, KernelRidge) and measure.clip:
            assert problem.table is not None  # kernel ridge needs one
            seen = np.clip(released, problem.table.lower[:, None], problem.table.upper[:, None])
    what = "answer" if measure.level == "answer" or problem.query.symmetric else "moments"
    return FirstTrial(what=what, true=true[:PART, :PART], noisy=seen[0, :PART, :PART], shape=true.shape, error=error,
                      is_trial=True, components=parts, predictions=predictions)

