"""Mean, centred covariance and regression with an intercept from one release.

A record ``z`` (in coordinates where its bound is a ball) is joined to a constant ``b0``: the mean of ``[b0, z][b0,
z]ᵀ`` holds mean and second moments. ``b0 = R/sqrt2`` is worth 15 % of mu against two releases. Nothing here is in the
paper.

>>> import numpy as np
>>> from mvgviz import Dataset, RecordBound, design_noise, moments, sample_noise
>>> x = np.random.default_rng(0).uniform(-1, 1, (2, 10_000))
>>> asked = moments(Dataset(matrix=x, features=["a", "b"], lower=-1, upper=1), bound=RecordBound(radius=1.5))
>>> design = design_noise(asked.query, epsilon=1, delta=1e-6)
>>> noisy = asked.query.value + sample_noise(design, rng=np.random.default_rng(1))
>>> bool(np.abs(asked.read(noisy, design).mean - x.mean(axis=1)).max() < 0.01)
True
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from mvgviz.errors import InputError
from mvgviz.noise.moment_noise import MomentNoise, ridge_weights
from mvgviz.noise.sides import NoiseSide
from mvgviz.noise.ties import nearest_psd
from mvgviz.query.base import Query, inside
from mvgviz.query.dataset import Dataset, is_added, origins
from mvgviz.query.neighbours import Neighbours, WorstCase
from mvgviz.query.record_bound import Ellipse, RecordBound
from mvgviz.query.second_moments import CONSTANT, JointMoments
from mvgviz.validation import FloatArray, array, frozen, instance, positive


@dataclass(frozen=True, kw_only=True)
class JoinedOuterProduct(Neighbours):
    """``D = (y yᵀ - y'y'ᵀ)/n`` (``added``: ``± y yᵀ/n``) with ``y = [constant, z]`` and ``||z|| <= radius``.

    ``whole``: the constant is scaled with the record, so only the length of ``y`` is bounded. ``n_records``: over the
    records of a person.
    """

    constant: float
    radius: float
    n_records: float
    features: int
    whole: bool
    added: bool = False

    def worst(self, rows: NoiseSide, cols: NoiseSide) -> WorstCase:
        """``(R² + b0²) sqrt(m1 p1 + m2 p2)/n`` from the two largest precisions of either side; equal noise attains it
        at right angles if ``b0 <= R``, and allows ``2 sqrt2 b0 R`` for a larger constant.
        """
        first, second = (np.sort(side.precisions)[::-1] for side in (rows, cols))
        one, two = (math.sqrt(float(first[:k] @ second[:k])) for k in (1, 2))
        square, attained = self.radius**2 + self.constant**2, rows.is_isotropic and cols.is_isotropic
        if self.added:
            return WorstCase(square * one / self.n_records, attained)
        attained = attained and self.features > 1
        if rows.is_isotropic and cols.is_isotropic and not self.whole and self.constant > self.radius:
            return WorstCase(2 * math.sqrt(2) * self.constant * self.radius * one / self.n_records, attained)
        return WorstCase(square * two / self.n_records, attained and self.constant <= self.radius)


@dataclass(frozen=True, kw_only=True, eq=False)
class MomentsQuery:
    """The question ``query``, asked of records in the bound's own coordinates, and the way back from its answer."""

    query: Query
    dataset: Dataset = field(repr=False)
    ellipse: Ellipse = field(repr=False)
    constant: float
    whole: bool

    def read(self, answer: Any, design: Any) -> Moments:
        """Return what a released answer says; ``design`` is the noise that was added to it."""
        noisy = array("answer", answer, ndim=2)
        if noisy.shape != self.query.value.shape:
            raise InputError("the answer must be {0} × {0}, got {1} × {2}".format(self.query.rows, *noisy.shape))
        return Moments(joined=frozen(self._known(noisy)), std=design.noise_std(), asked=self)

    def regressions(self, answers: FloatArray, std: FloatArray, label: str | int, *,
                    features: Sequence[int | str] | None = None, aware: bool = True, shrink: bool = True
                    ) -> tuple[FloatArray, FloatArray]:
        """Intercepts and coefficients, in the units of the data, from many released answers at once.

        ``answers``: ``… × (m + 1) × (m + 1)``, ``std`` the noise on each entry; ``features``: names or positions,
        by default all but the label. ``aware`` looks at the noise, otherwise ridge is 0.1; ``shrink``: coefficients
        that do not rise above the noise go to 0, and the label's mean is left.
        """
        position = self.dataset.position(label, "label")
        chosen = self._chosen(features, position)
        halves, middle = self.dataset.widths / 2, (self.dataset.lower + self.dataset.upper) / 2
        noise = MomentNoise.from_std(std).turned(self._turn)
        known = self._turn @ self._known(answers) @ self._turn.T
        found = ridge_weights(known, noise, features=[0, *(1 + i for i in chosen)], label=1 + position, constant=0,
                              aware=aware, shrink=shrink)
        slopes = found[..., 1:] * halves[position] / halves[chosen]
        return middle[position] + halves[position] * found[..., 0] - slopes @ middle[chosen], slopes

    @cached_property
    def _turn(self) -> FloatArray:
        """``[1, (x - middle)/half-width] = T [b0, z]``."""
        m, halves = self.dataset.n_features, self.dataset.widths / 2
        turn = np.zeros((m + 1, m + 1))
        turn[0, 0] = 1 / self.constant
        turn[1:, 0] = (self.ellipse.centre - (self.dataset.lower + self.dataset.upper) / 2) / halves / self.constant
        turn[1:, 1:] = self.ellipse.inverse / self.ellipse.radius / halves[:, None]
        return turn

    def _known(self, answers: FloatArray) -> FloatArray:
        """Return the answers averaged with their transposes, with the known first entry unless it was scaled."""
        noisy = (answers + np.swapaxes(answers, -1, -2)) / 2
        if not self.whole:
            noisy[..., 0, 0] = self.constant**2
        return np.asarray(noisy)

    def _chosen(self, features: Sequence[int | str] | None, label: int) -> list[int]:
        size = self.dataset.n_features
        chosen = [i for i in range(size) if i != label] if features is None else [
            self.dataset.position(i, "features") for i in features]
        if not chosen or label in chosen or len(set(chosen)) < len(chosen):
            raise InputError("features must be different, at least one and not the label")
        return chosen


@dataclass(frozen=True, kw_only=True, eq=False)
class Moments:
    """Mean and covariance in the data's units, and regressions, from the noisy ``joined``; ``std``: its noise."""

    joined: FloatArray = field(repr=False)
    std: FloatArray = field(repr=False)
    asked: MomentsQuery = field(repr=False)

    @property
    def _back(self) -> FloatArray:
        """Maps ``z`` to ``x - c``."""
        return self.asked.ellipse.inverse / self.asked.ellipse.radius

    @cached_property
    def _weight(self) -> float:
        """Return the mean of the squared constant: below b0² if whole records were scaled, never below the noise."""
        return max(float(self.joined[0, 0]), float(self.std[0, 0]) if self.asked.whole else 0.0)

    @cached_property
    def mean(self) -> FloatArray:
        z = self.asked.constant * self.joined[0, 1:] / self._weight
        return np.asarray(self.asked.ellipse.centre + self._back @ z)

    @cached_property
    def covariance(self) -> FloatArray:
        """The covariance about the mean, made positive semi-definite."""
        scale = self.asked.constant**2 / self._weight
        z = self.asked.constant * self.joined[0, 1:] / self._weight
        return np.asarray(self._back @ nearest_psd(self.joined[1:, 1:] * scale - np.outer(z, z)) @ self._back.T)

    def regression(self, label: str | int, *, features: Sequence[int | str] | None = None, aware: bool = True
                   ) -> tuple[float, FloatArray]:
        """Return intercept and coefficients of the label on the other features, or on these (names or positions), in
        order; what does not rise above the noise switches itself off. ``aware=False`` is ridge 0.1.
        """
        intercept, slopes = self.asked.regressions(self.joined, self.std, label, features=features, aware=aware)
        return float(intercept), slopes


def moments(dataset: Dataset, *, bound: RecordBound, constant: float | None = None, whole: bool = False,
            neighbours: str = "replace") -> MomentsQuery:
    """Ask for the mean of ``[b0, z][b0, z]ᵀ``; ``constant`` b0 is ``R/sqrt2`` by default. ``whole``: clip the constant
    with its record, which only lowers its weight; use it for regressions, whose relation clipping ``z`` alone bends.
    """
    data = inside(dataset)
    ellipse = instance("bound", bound, RecordBound).ellipse(data.n_features)
    b0 = ellipse.radius / math.sqrt(2) if constant is None else positive("constant", constant)
    along = ellipse.coordinates(data.matrix)
    part = ellipse.parts(data.matrix)
    joined = np.vstack([b0 * (part if whole else np.ones_like(part)), part * along])
    n, square, added = data.n_records / data.per_person, ellipse.radius**2 + b0**2, is_added(neighbours)
    body = JoinedOuterProduct(constant=b0, radius=ellipse.radius, n_records=n, features=data.n_features, whole=whole,
                              added=added)
    unit = NoiseSide.identity(data.n_features + 1)
    names = data.features if ellipse.directions.is_standard else tuple(
        f"direction {i + 1}" for i in range(data.n_features))
    query = JointMoments(value=frozen(joined @ joined.T / data.n_records), sensitivity=body.worst(unit, unit).mu,
                         printed_sensitivity=(1 if added else 2) * square / n, gamma=square, neighbours=body,
                         row_names=(CONSTANT, *names), bound=bound, **origins(data, neighbours))
    return MomentsQuery(query=query, dataset=data, ellipse=ellipse, constant=b0, whole=whole)
