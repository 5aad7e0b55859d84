"""The one interface of all mechanisms: given a problem, a sampler of what would be released.

A release has one of four levels. A task names its level; a mechanism without it raises `InputError` with the reason:

* ``"answer"``: the noisy answer, trials × rows × cols;
* ``"square"``: the squared Frobenius error of the answer alone, trials;
* ``"moments"``: an estimate of ``X Xᵀ/n`` (or of the symmetric answer), trials × m × m;
* ``"component"``: a unit vector, trials × m.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from mvgviz.errors import InputError, refuse
from mvgviz.noise.moment_noise import MomentNoise, table_noise
from mvgviz.query.prior import Weighing
from mvgviz.query.queries import REPLACED_RECORD, Query
from mvgviz.trials.problem import Problem
from mvgviz.validation import FloatArray

NOISE, DIRECTIONS = 0, 1  # purposes of a generator: the noise, or the release that chooses directions
EPSILON, BOTH = "ε alone", "ε and δ"  # guarantees


@dataclass(frozen=True)
class Draws:
    """The random numbers of ``count`` trials from ``first`` on, for all mechanisms: a generator for each."""

    seed: int
    first: int
    count: int

    def generators(self, purpose: int = NOISE) -> list[np.random.Generator]:
        return [np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(trial, purpose)))
                for trial in range(self.first, self.first + self.count)]

    def fill(self, shape: tuple[int, ...], draw: Callable[[np.random.Generator, FloatArray], object]) -> FloatArray:
        """count × shape, ``draw(rng, out)`` called for each trial."""
        values = np.empty((self.count, *shape))
        for rng, out in zip(self.generators(), values, strict=True):
            draw(rng, out)
        return values

    def normals(self, shape: tuple[int, ...]) -> FloatArray:
        return self.fill(shape, lambda rng, out: rng.standard_normal(out=out))

    def laplace(self, shape: tuple[int, ...]) -> FloatArray:
        """Standard Laplace numbers (scale 1), count × shape."""
        return self.fill(shape, lambda rng, out: np.copyto(out, rng.laplace(size=shape)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Sampler:
    """Draws releases of one mechanism for one problem, by its ``law`` or as a subclass does.

    ``size``: numbers in a trial, ``mu``: of Gaussian noise. All of it travels to workers.
    """

    size: int
    level: str = "answer"
    mu: float | None = None
    law: Callable[[Draws], FloatArray] | None = field(default=None, repr=False)

    def draw(self, draws: Draws) -> FloatArray:
        assert self.law is not None
        return self.law(draws)

    def moment_noise(self, released: FloatArray) -> MomentNoise | None:
        """The public law of the noise on released second moments; None where it has no simple form."""
        return None

    def parts(self, draws: Draws) -> Iterator[tuple[Sampler, Draws]]:
        """Groups of trials, each with the sampler that knows its noise."""
        yield self, draws


@dataclass(frozen=True, kw_only=True)
class Mechanism:
    """A way to answer privately. ``fields``: the fields of a scenario that its noise depends on, besides the question.

    ``prepare(problem, level)`` raises `InputError` where it does not apply. ``caution``: a sentence about a doubtful
    guarantee. ``serial`` tells a caller's mechanisms apart. ``released``: releases can draw it, not trials alone.
    """

    key: str
    label: str
    guarantee: str
    reference: str
    applies: str
    prepare: Callable[[Problem, str], Sampler] = field(repr=False)
    fields: tuple[str, ...] = ("epsilon", "delta")
    caution: Callable[[Problem], str | None] = field(default=lambda problem: None, repr=False)
    serial: int = 0
    released: bool = False

    @property
    def name(self) -> str:
        """Unlike any other's."""
        return f"own {self.serial} {self.key}" if self.serial else self.key

    def unsuitable(self, problem: Problem, level: str) -> str | None:
        """The reason why it does not apply, or None."""
        try:
            self.prepare(problem, level)
        except InputError as error:
            return str(error)
        return None


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyAnswer(Sampler):
    """The answer plus ``noise(draws)``, with standard deviation ``std`` on every entry, if that is known."""

    value: FloatArray = field(repr=False)
    noise: Callable[[Draws], FloatArray] = field(repr=False)
    std: float | None = None

    def draw(self, draws: Draws) -> FloatArray:
        return self.value + self.noise(draws)

    def moment_noise(self, released: FloatArray) -> MomentNoise | None:
        return None if self.std is None else MomentNoise.from_std(np.full(self.value.shape, self.std))


@dataclass(frozen=True, kw_only=True, eq=False)
class Moments(Sampler):
    """Second moments of a released table, ``R Rᵀ/n``, less the ``known`` second moments of the noise."""

    source: Sampler
    n_records: int
    known: FloatArray | None = field(repr=False)
    level: str = "moments"

    def draw(self, draws: Draws) -> FloatArray:
        released = self.source.draw(draws)
        moments = released @ released.transpose(0, 2, 1) / self.n_records
        return moments if self.known is None else moments - self.known

    def moment_noise(self, released: FloatArray) -> MomentNoise | None:
        return None if self.known is None else table_noise(released + self.known, self.known, self.n_records)


@dataclass(frozen=True, kw_only=True, eq=False)
class SquareError(Sampler):
    """The squared error of a released answer, on the rows (and columns) that are judged."""

    source: Sampler
    value: FloatArray = field(repr=False)
    positions: list[int] | None = None
    both: bool = False
    weighing: Weighing | None = field(default=None, repr=False)
    level: str = "square"

    def draw(self, draws: Draws) -> FloatArray:
        return self.of(self.source.draw(draws))

    def of(self, released: FloatArray) -> FloatArray:
        if self.positions is not None:
            released = judged_part(released, self.positions, both=self.both)
        error = released - self.value
        error = (error if self.weighing is None else self.weighing.of(error)).reshape(len(released), -1)
        return np.asarray(np.einsum("ti,ti->t", error, error))


def need_one_replaced(problem: Problem) -> None:
    """Raise `InputError` unless neighbours replace one record."""
    if problem.query.neighbour_rule != REPLACED_RECORD:
        raise InputError(f"it is proved for one replaced record, not for {problem.query.neighbour_rule}")


def judged_part(released: FloatArray, positions: list[int], *, both: bool) -> FloatArray:
    """These rows of each release; with ``both`` also these columns."""
    rows = released[:, positions]
    return rows[:, :, positions] if both else rows


def entry_noise(draws: Draws, *, shape: tuple[int, int], scale: float, triangle: bool, law: str) -> FloatArray:
    """Noise on every entry, or symmetric with the upper ``triangle``; ``law``: "normals" or "laplace"."""
    noise = getattr(draws, law)(shape)
    return np.asarray(scale * (mirrored(noise) if triangle else noise))


def mirrored(noise: FloatArray) -> FloatArray:
    """Symmetric matrices with the upper triangles of ``noise``."""
    return np.triu(noise) + np.triu(noise, 1).transpose(0, 2, 1)


def need_symmetric(query: Query) -> None:
    """Raise `InputError` unless the upper triangle is the whole answer."""
    refuse(not query.symmetric, f"noise on the upper triangle needs a symmetric answer, got the {query.name} query")


def at_level(answer: Sampler, problem: Problem, level: str, *, known: FloatArray | None = None) -> Sampler:
    """Turn a sampler of answers into one of a ``level``. ``known``: ``E Z Zᵀ/n`` of a table's noise, to subtract."""
    query = problem.query
    if level == "square":
        return square_error(answer, problem)
    if level == "answer" or query.symmetric:
        return answer
    if not query.is_table:
        raise InputError(f"second moments must come from a table or a symmetric answer, got the {query.name} query")
    return Moments(source=answer, size=answer.size, mu=answer.mu, n_records=query.cols,
                   known=known if "subtract" in problem.scenario.post else None)


def square_error(answer: Sampler, problem: Problem, cols: int | None = None) -> SquareError:
    """The squared error on what is judged, on the first ``cols`` columns."""
    judged = problem.judged
    return SquareError(source=answer, size=answer.size, mu=answer.mu, value=judged.query.value[:, :cols],
                       positions=problem.positions, both=problem.query.symmetric, weighing=judged.weighing)


UNCHECKED = "not checked"  # the guarantee
_serials = count(1)


def own_mechanism(function: Callable[..., Any], *, name: str | None = None) -> Mechanism:
    """Return a mechanism that releases ``function(rng, query)``, a matrix of the shape of ``query.value``.

    It gets ``epsilon`` and ``delta`` where it has arguments of these names. Only with ``rng`` can trials be repeated.
    Nothing checks that it is private.

    >>> import mvgviz as mv
    >>> def rounded(rng, query, epsilon):
    ...     noise = rng.laplace(scale=query.sensitivity * query.value.size**0.5 / epsilon, size=query.value.shape)
    ...     return (query.value + noise).round(2)
    >>> scenario = mv.Scenario.default_for("two_features")
    >>> results = mv.run_trials(scenario, mv.sample("two_features"), mechanisms=["mvg", rounded], trials=10)
    >>> [outcome.mechanism.key for outcome in results.outcomes]
    ['mvg', 'rounded']
    """
    if not callable(function):
        raise InputError(f"a mechanism must be a key or a function (rng, query), got a {type(function).__name__}")
    label = name or str(getattr(function, "__name__", type(function).__name__))[:60]
    return Mechanism(key=label, label=label.replace("<", "").replace(">", ""),  # it stands in pictures
                     guarantee=UNCHECKED, reference="your function", applies="any answer",
                     prepare=partial(_own, function=function, label=label), serial=next(_serials),
                     caution=lambda problem: "nothing checks that it is private")


def _releases(draws: Draws, *, function: Callable[..., Any], query: Query, label: str) -> FloatArray:
    released = []
    for rng in draws.generators():
        try:
            found = np.asarray(function(rng, query), dtype=np.float64)
        except Exception as error:  # noqa: BLE001 of a caller's function, which may raise anything
            raise InputError(f"mechanism {label!r} failed with {type(error).__name__}") from None
        refuse(found.shape != query.value.shape, f"mechanism {label!r} must release a matrix of shape "
               f"{query.value.shape}, got {found.shape}")
        refuse(not np.isfinite(found).all(), f"mechanism {label!r} must release finite numbers, got NaN or infinity")
        released.append(found)
    return np.array(released)


def _own(problem: Problem, level: str, *, function: Callable[..., Any], label: str) -> Sampler:
    known = {"epsilon": problem.epsilon, "delta": problem.delta}
    named = inspect.signature(function).parameters
    given = partial(function, **{name: value for name, value in known.items() if name in named})
    releases = partial(_releases, function=given, query=problem.query, label=label)
    return at_level(Sampler(size=problem.query.value.size, law=releases), problem, level)
