"""Gaussian noise: directional (MVG), of one size (classic, analytic), on the upper triangle, on eigenvalues apart.

References
  [1] Chanyaswad, Dytso, Poor & Mittal, MVG mechanism, CCS 2018.
  [2] Dwork & Roth, The algorithmic foundations of differential privacy, 2014, Theorem A.1.
  [3] Balle & Wang, Improving the Gaussian mechanism, ICML 2018.
  [4] Dwork, Talwar, Thakurta & Zhang, Analyze Gauss, STOC 2014.
  [5] Dong, Liang & Yi, Differentially private covariance revisited, NeurIPS 2022.
  [6] Hoffman & Wielandt, The variation of the spectrum of a normal matrix, Duke Math. J. 20, 1953.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from mvgviz.design.families import with_family
from mvgviz.design.noise_design import NoiseDesign
from mvgviz.design.sampling import Gram, colour, gram_trials
from mvgviz.errors import InputError
from mvgviz.labels import GUARANTEES
from mvgviz.noise.accounting import compose_mu, gaussian_mu
from mvgviz.noise.directions import standard_basis
from mvgviz.noise.families import CHOICES
from mvgviz.noise.moment_noise import MomentNoise, table_noise
from mvgviz.noise.sides import NoiseSide
from mvgviz.noise.ties import eigen
from mvgviz.query.queries import Query
from mvgviz.scenario.resolve import Setup
from mvgviz.scenario.scenario import DIRECTION_FIELDS, SPLIT_FIELDS
from mvgviz.trials.mechanisms import base
from mvgviz.trials.mechanisms.base import BOTH, DIRECTIONS, EPSILON, Draws, Mechanism, NoisyAnswer, Sampler, at_level
from mvgviz.trials.problem import Problem, weighing_of
from mvgviz.validation import FloatArray

_DESIGN = ("epsilon", "delta", "tail", "mode", *DIRECTION_FIELDS, "private_share", *SPLIT_FIELDS, "bound", "radius")


@dataclass(frozen=True, kw_only=True, eq=False)
class GaussianAnswer(Sampler):
    """``f(X) + MVG(0, Sigma, Psi)``; with a ``design``, noise of its family coloured by these sides."""

    value: FloatArray = field(repr=False)
    rows: NoiseSide
    cols: NoiseSide
    design: NoiseDesign | None = field(default=None, repr=False)

    def draw(self, draws: Draws) -> FloatArray:
        standard = (draws.normals(self.value.shape) if self.design is None
                    else draws.fill(self.value.shape, self.design.fill_standard))
        noise = colour(self.rows, self.cols, standard)
        noise += self.value
        return noise

    def moment_noise(self, released: FloatArray) -> MomentNoise | None:
        if self.cols is self.rows:
            return MomentNoise(root=self.rows.root())
        return MomentNoise.from_std(np.outer(*(np.sqrt(side.covariance_diagonal()) for side in (self.rows, self.cols))))


@dataclass(frozen=True, kw_only=True, eq=False)
class GaussianGram(Sampler):
    """Second moments of a table with Gaussian noise over rows; it draws no table."""

    gram: Gram = field(repr=False)
    rows: NoiseSide
    known: FloatArray | None = field(repr=False)
    level: str = "moments"

    def draw(self, draws: Draws) -> FloatArray:
        moments = gram_trials(self.gram, self.rows, draws.generators())
        moments /= self.gram.n_records
        return moments if self.known is None else moments - self.known

    def moment_noise(self, released: FloatArray) -> MomentNoise | None:
        return None if self.known is None else table_noise(released + self.known, self.known, self.gram.n_records)


@dataclass(frozen=True, kw_only=True, eq=False)
class GaussianSquare(Sampler):
    """``||D + Z||_F²``: a sum of chi-squares, one a direction, not central where clipping has a bias D."""

    variances: FloatArray = field(repr=False)
    cols: int
    offsets: FloatArray | None = field(default=None, repr=False)
    level: str = "square"

    def draw(self, draws: Draws) -> FloatArray:
        if self.offsets is None:
            squares = 2 * draws.fill(self.variances.shape, lambda rng, out: rng.standard_gamma(self.cols / 2, out=out))
            return np.asarray(np.einsum("tk,k->t", squares, self.variances))
        along = self.offsets + np.sqrt(self.variances) * draws.normals(self.variances.shape)
        rest = 2 * draws.fill(self.variances.shape, lambda rng, out: rng.standard_gamma((self.cols - 1) / 2, out=out))
        return np.asarray(np.einsum("tk,k->t", rest, self.variances) + np.einsum("tk,tk->t", along, along))


@dataclass(frozen=True, kw_only=True, eq=False)
class RedrawnDirections(Sampler):
    """A design whose directions or bound are a release themselves: each trial draws its own."""

    problem: Problem = field(repr=False)
    guarantee: str

    def draw(self, draws: Draws) -> FloatArray:
        return np.concatenate([sampler.draw(trial) for sampler, trial in self.parts(draws)])

    def parts(self, draws: Draws) -> Iterator[tuple[Sampler, Draws]]:
        for trial, rng in enumerate(draws.generators(DIRECTIONS), start=draws.first):
            setup = self.problem.redrawn_setup(self.guarantee, int(rng.integers(2**29)))
            yield _of_design(self.problem, setup, self.level), Draws(draws.seed, trial, 1)


def mvg(guarantee: str | None, *, key: str, label: str, applies: str = "any answer",
        iid: bool = False) -> Mechanism:
    """The MVG mechanism under one guarantee (None: the scenario's own); ``iid``: equal noise."""
    noise_fields = ("epsilon", "delta", "tail", "mode") if iid else _DESIGN

    def prepare(problem: Problem, level: str) -> Sampler:
        chosen = guarantee or problem.scenario.guarantee
        setup = problem.setup(chosen, guarantee and "gaussian")
        if "private" in (problem.scenario.directions, problem.scenario.bound) and not iid:
            noise, design = _of_design(problem, setup, level).mu, setup.design
            spent = [noise or 0.0, design.directional_side.directions.mu, design.bound_mu]
            return RedrawnDirections(problem=replace(problem, worked_out=None), guarantee=chosen, level=level,
                                     mu=compose_mu(spent), size=int(problem.query.value.size))
        return _of_design(problem, setup, level, iid=iid)

    return Mechanism(key=key, label=label, guarantee=BOTH, applies=applies, prepare=prepare, released=True,
                     fields=(*noise_fields, "guarantee", "family") if guarantee is None else noise_fields,
                     reference=f"Chanyaswad et al. 2018; {GUARANTEES[guarantee].source if guarantee else 'as chosen'}")


def of_family(name: str, reference: str) -> Mechanism:
    """The scenario's directions and shares, calibrated exactly, with another family of noise."""
    family = CHOICES[name]
    return Mechanism(key=f"{name}-noise", label=f"{family.title}, divided" if family.is_pure else family.title,
                     guarantee=EPSILON if family.is_pure else BOTH, fields=_DESIGN, reference=reference,
                     applies="means and tables over their ranges" if family.in_a_box else "any answer",
                     released=not family.trials_only,
                     prepare=lambda problem, level: _of_design(
                         problem, problem.setup("exact", "gaussian"), level, family=name))


def of_one_size(problem: Problem, std: float, level: str) -> Sampler:
    """Independent noise of one standard deviation."""
    query = problem.query
    rows = NoiseSide.of(standard_basis(query.rows), np.full(query.rows, std * std))
    return gaussian(problem, rows, NoiseSide.identity(query.cols), problem.asked.sensitivity / std, level)


def gaussian(problem: Problem, rows: NoiseSide, cols: NoiseSide, mu: float, level: str, *,
             bounded: Query | None = None) -> Sampler:
    """Noise ``MVG(0, Sigma, Psi)`` at a ``level``; in Gram space where it applies. ``bounded``: the clipped query."""
    query = problem.query if bounded is None else bounded
    whole = problem.positions is None and weighing_of(problem) is None
    if cols.is_identity and level == "square" and (whole or not query.symmetric):
        return _square(problem, rows, mu, bounded)
    known = None
    if query.is_table and level in ("moments", "component"):
        known = rows.covariance() * float(cols.covariance_diagonal().mean())
        if cols.is_identity:
            gram = problem.gram if bounded is None else Gram.of(bounded.value)
            subtract = "subtract" in problem.scenario.post
            return GaussianGram(gram=gram, rows=rows, known=known if subtract else None, mu=mu,
                                size=2 * int(gram.factor.size))
    answer = GaussianAnswer(value=query.value, size=query.value.size, rows=rows, cols=cols, mu=mu)
    return at_level(answer, problem, level, known=known)


def _square(problem: Problem, rows: NoiseSide, mu: float, bounded: Query | None) -> GaussianSquare:
    """The squared error on the judged rows, of noise and the bias of clipping."""
    positions, query, weighing = problem.positions, problem.query, weighing_of(problem)
    if positions is None and bounded is None and weighing is None:
        return GaussianSquare(variances=rows.variances, cols=query.cols, mu=mu, size=rows.size)
    part = np.eye(query.rows)[slice(None) if positions is None else positions]
    seen = part if weighing is None else weighing.matrix @ part
    variances, turn = eigen(seen @ rows.covariance() @ seen.T)
    variances = np.maximum(variances, 0.0)
    offsets = None if bounded is None else np.linalg.norm(turn.T @ seen @ (bounded.value - query.value), axis=1)
    return GaussianSquare(variances=variances, cols=query.cols, mu=mu, size=variances.size, offsets=offsets)


def _of_design(problem: Problem, setup: Setup, level: str, *, iid: bool = False, family: str = "gaussian") -> Sampler:
    design, query = (setup.iid, setup.box) if iid else (setup.design, setup.query)
    design = with_family(design, family)
    rows, cols = design.row_side, design.col_side
    factor = problem.enlargement(query) if design.guarantee == "exact" else 1.0
    if factor != 1:
        side = design.directional_side
        larger = NoiseSide.of(side.directions, side.variances * (factor if cols is rows else factor**2))
        rows, cols = (larger if before is side else before for before in (rows, cols))
    if design.blocks:
        known = rows.covariance() * float(cols.covariance_diagonal().mean())
        return at_level(GaussianAnswer(value=query.value, size=query.value.size, rows=rows, cols=cols, design=design),
                        problem, level, known=known)
    return gaussian(problem, rows, cols, design.mu / factor, level, bounded=None if query.bound is None else query)


def triangle_move(query: Query, s2: float) -> float:
    """How far neighbours are apart on the upper triangle: its square is half of ``||D||² + ||diagonal||²``."""
    return math.sqrt((s2**2 + min(query.diagonal_square(), s2**2)) / 2)


def _triangle(problem: Problem, level: str) -> Sampler:
    query = problem.query
    base.need_symmetric(query)
    std = triangle_move(query, problem.s2) / float(gaussian_mu(problem.epsilon, problem.delta))
    noise = partial(base.entry_noise, shape=query.value.shape, scale=std, triangle=True, law="normals")
    answer = NoisyAnswer(value=query.value, size=query.value.size, std=std, noise=noise,
                         mu=triangle_move(query, query.sensitivity) / std)
    return at_level(answer, problem, level)


def _separate_moments(draws: Draws, *, value: FloatArray, triangle_std: float, strength_std: float, largest: float
                      ) -> FloatArray:
    """SeparateCov [5]: noisy directions ``P`` and noisy strengths, ``P diag(lambda) Pᵀ``, each for half of the budget.

    Directions are eigenvectors of the answer with noise on its upper triangle. Strengths are its own eigenvalues with
    noise, cut to what ranges allow (``largest``): neighbours move them by at most the distance of the answers [6].
    """
    m = len(value)
    normals = draws.normals((m + 1, m))  # the last row is for the strengths
    directions = np.linalg.eigh(value + triangle_std * base.mirrored(normals[:, :m]))[1]
    strengths = np.clip(np.linalg.eigvalsh(value) + strength_std * normals[:, m], 0.0, largest)
    return np.asarray(directions * strengths[:, None, :] @ directions.transpose(0, 2, 1))


def _separate(problem: Problem, level: str) -> Sampler:
    query = problem.query
    if problem.table is None or not (query.symmetric and query.has_moments):
        raise InputError(f"it releases second moments of records, got the {query.name} query")
    half = float(gaussian_mu(problem.epsilon, problem.delta)) / math.sqrt(2)
    triangle, strength = triangle_move(query, problem.s2) / half, problem.s2 / half
    mu = math.hypot(triangle_move(query, query.sensitivity) / triangle, query.sensitivity / strength)
    law = partial(_separate_moments, value=query.value, largest=query.gamma, triangle_std=triangle,
                 strength_std=strength)
    return at_level(Sampler(size=query.value.size, mu=mu, law=law), problem, level)


CLASSIC = Mechanism(
    key="gaussian-classic", label="Gaussian, classic", guarantee=BOTH,
    prepare=lambda problem, level: of_one_size(
        problem, problem.s2 * math.sqrt(2 * (math.log(1.25) - math.log(problem.delta))) / problem.epsilon, level),
    applies="any answer; proved for ε below 1", reference="Dwork & Roth 2014, Theorem A.1",
    caution=lambda problem: None if problem.epsilon < 1 else (
        "its proof needs ε below 1; at this ε its noise may be too small for its promise"))
ANALYTIC = Mechanism(
    key="gaussian-analytic", label="Gaussian, analytic", guarantee=BOTH, released=True,
    prepare=lambda problem, level: of_one_size(
        problem, problem.s2 / float(gaussian_mu(problem.epsilon, problem.delta)), level),
    applies="any answer", reference="Balle & Wang 2018")
TRIANGLE = Mechanism(
    key="gaussian-triangle", label="Gaussian, upper triangle", guarantee=BOTH, prepare=_triangle,
    applies="symmetric answers", reference="Dwork, Talwar, Thakurta & Zhang 2014 (Analyze Gauss); Balle & Wang 2018")
SEPARATE = Mechanism(
    key="separate", label="Gaussian, separate eigenvalues", guarantee=BOTH, prepare=_separate,
    applies="second moments of a table", reference="Dong, Liang & Yi 2022 (SeparateCov), calibrated exactly",
    caution=lambda problem: "its errors are not centred on 0, and its noise does not tell how far off it is")
