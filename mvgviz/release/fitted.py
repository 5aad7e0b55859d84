"""What follows from releases and spends nothing: regressions and their intervals, for the noise and for the population.

*Regressions.* The covariance of the noise is public: draw it again around the release and repeat the fit. An interval
is symmetric, as wide as the further end of the draws, and is about the same fit without noise. It is an approximation:
on the bundled tables 95 to 100 % of intervals hold that fit, for single coefficients as few as 83 %.

*Intervals for the population* behind the records: sampling error and noise, apart and together.

>>> import mvgviz as mv
>>> from mvgviz.release.fitted import population_means
>>> setup = mv.build(mv.Scenario.default_for("liver").changed(query="mean"), mv.sample("liver"))
>>> found = population_means(mv.release_setup(setup, ledger=mv.Ledger()))
>>> found.spread_from, bool((found.half > found.noise).all() and (found.half > found.sampling).all())
('ranges', True)

The records must be an independent random sample; values are as clipped. The spread of a feature comes from released
second moments, ``E x² - (E x)²`` without the mean effect of the noise, plus one standard error: too small a spread is
the worse mistake. Without second moments it is half the range, the largest possible. The variances of both independent
errors add.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import special

from mvgviz.errors import InputError, refuse
from mvgviz.noise.moment_noise import MomentNoise, coefficient_intervals, ridge_weights
from mvgviz.provenance import Range
from mvgviz.query.queries import ADDED_RECORD, REPLACED_RECORD, of_record
from mvgviz.release.answer import Release
from mvgviz.release.intervals import LEVEL
from mvgviz.threads import one_blas_thread
from mvgviz.validation import FloatArray, one_of

_DRAWS, MOST_FEATURES = 500, 60
_CARRIES = 8.0  # the least second moment in noise: below, first order is not enough
_Z = float(special.ndtri((1 + LEVEL) / 2))


@dataclass(frozen=True, kw_only=True, eq=False)
class Coefficients:
    """Coefficients of ``label`` in the data's units; ``whole``: factor to what a feature's whole range changes."""

    label: str
    features: tuple[str, ...]
    values: FloatArray = field(repr=False)
    lower: FloatArray = field(repr=False)
    upper: FloatArray = field(repr=False)
    whole: FloatArray = field(repr=False)

    @property
    def clear(self) -> tuple[str, ...]:
        """Return the features whose interval does not hold 0."""
        sure = (self.lower > 0) | (self.upper < 0)
        return tuple(name for name, one in zip(self.features, sure.tolist(), strict=True) if one)


def refusal(release: Release) -> str | None:
    """Return why no regression can be fitted from this release; None if one can."""
    kind = release.kind
    unknown = release.ranges is None or (kind.has_constant and release.scenario is None)
    if unknown or not kind.has_moments or kind.degree != 2:
        return f"a regression needs released second moments with their ranges, got {release.query}"
    features = kind.own_features(len(release.ranges or ()))
    if not 2 <= features <= MOST_FEATURES:
        return f"a regression needs 2 to {MOST_FEATURES} features with the label, got {features}"
    if release.mode != "both" or release.row_noise is None:
        return "intervals of coefficients need noise over both sides, with its covariance in the certificate"
    return None


def labels(release: Release) -> list[str]:
    """Return the features that may be predicted: all but the constant."""
    names = list(release.ranges or ())
    return names[: release.kind.own_features(len(names))]


def fitted_coefficients(release: Release, label: str) -> Coefficients:
    """Fit a noise-aware ridge of the label on the other features (and an intercept), with their intervals."""
    reason, side = refusal(release), release.row_noise
    if reason is not None or side is None:
        raise InputError(reason)
    names, y, size, moments, own = _asked(release, label)
    others = [i for i in range(len(names)) if i != y]
    constant = len(names) if release.kind.has_constant else None
    chosen = others if constant is None else [*others, constant]
    noise = MomentNoise(root=side.root() * np.sqrt(release.hardening.noise_std) / size[:, None])
    with one_blas_thread():  # many small matrices
        found = ridge_weights(moments, noise, features=chosen, label=y, constant=constant)
        low, high = coefficient_intervals(moments, noise, features=chosen, label=y, constant=constant, level=LEVEL,
                                          draws=_DRAWS, rng=np.random.default_rng(0)).T
    half = np.maximum(found - low, high - found)[: len(others)]
    declared = (release.ranges if release.declared_ranges is None else release.declared_ranges) or {}
    widths = np.array([declared[name].high - declared[name].low for name in names])
    values, slope = found[: len(others)], own[y] / own[others]
    return Coefficients(
        label=label, features=tuple(names[i] for i in others), values=values * slope, lower=(values - half) * slope,
        upper=(values + half) * slope, whole=widths[others] / widths[y])


def _asked(release: Release, label: str) -> tuple[list[str], int, FloatArray, FloatArray, FloatArray]:
    """Return the features, the label among them, the largest value of each column, the moments divided by these, and
    what 1 of them is in the data's units."""
    names = labels(release)
    one_of("label", label, names)
    ranges = release.ranges or {}
    size = np.abs(_ends(ranges, ranges)).max(axis=0)
    moments = (release.noisy + release.noisy.T) / 2 / np.outer(size, size)
    return names, names.index(label), size, moments, _own_units(release, names)[0] * size[: len(names)]


def _ends(ranges: Mapping[str, Range], names: Iterable[str]) -> tuple[FloatArray, FloatArray]:
    low, high = np.array([ranges[name][:2] for name in names], dtype=np.float64).T
    return low, high


@dataclass(frozen=True, kw_only=True, eq=False)
class PopulationIntervals:
    """Values in the data's units and half their intervals, for noise, sampling and both; from ranges: conservative."""

    features: tuple[str, ...]
    values: FloatArray = field(repr=False)
    noise: FloatArray = field(repr=False)
    sampling: FloatArray = field(repr=False)
    half: FloatArray = field(repr=False)
    spread_from: str

    @property
    def is_conservative(self) -> bool:
        return self.spread_from == "ranges"


def population_refusal(release: Release) -> str | None:
    """Return why this release has no intervals for the means of the population; None if it has."""
    kind = release.kind
    if release.ranges is None or release.n_records is None or not (kind.is_mean or kind.has_constant):
        return f"intervals for the population need a released mean with its ranges, got {release.query}"
    if of_record(release.neighbour_rule) not in (REPLACED_RECORD, ADDED_RECORD):
        return "intervals for the population need one record a person: others are no independent sample"
    if release.bound is not None:
        return "intervals for the population need a release without a clipping bound: clipping moves the mean"
    if release.epsilon_pure:
        return "population intervals exist for Gaussian noise only"
    return None if release.entry_noise is not None else "this release has no intervals: its noise is not private"


def population_means(release: Release, others: Iterable[Release] = ()) -> PopulationIntervals:
    """Return intervals for the means of the population; ``others``: releases that may hold second moments."""
    reason, ranges, records = population_refusal(release), release.ranges, release.n_records
    if reason is not None or ranges is None or records is None:
        raise InputError(reason)
    size, noise = release.kind.own_features(len(ranges)), release.known_noise
    names = tuple(ranges)[:size]
    mean, std = release.noisy[:size, -1], noise.std[:size, -1]
    low, high = _ends(ranges, names)
    largest = (high - low) ** 2 / 4
    moments = next((one for one in (release, *others) if _tells_spread(one, release)), None)
    variance = largest
    if moments is not None:
        square = np.diag(moments.known_noise.std)[:size]
        estimate = np.maximum(np.diag(moments.noisy)[:size] - mean**2 + std**2, 0.0) + np.hypot(square, 2 * mean * std)
        variance = np.minimum(estimate * records / max(records - 1, 1), largest)
    error, (own, offset) = np.sqrt(variance / records), _own_units(release, names)
    return PopulationIntervals(
        features=names, values=offset + own * mean, noise=own * noise.per_std() * std, sampling=own * _Z * error,
        half=own * (_Z * np.hypot(std, error) + noise.rounding * std),
        spread_from="ranges" if moments is None else "released second moments")


def population_coefficients(release: Release, label: str) -> PopulationIntervals:
    """Return intervals for least-squares coefficients in the population, from released mean and second moments.

    Nothing is shrunk, so the values differ from ``fitted_coefficients``. Sampling errors have one size. Noise counts to
    first order: E on the moments moves the solution b of ``M b = c`` by ``M⁻¹ (E v)``, ``v = (-b, 1)``; with noise
    ``B G Bᵀ`` averaged with its transpose and ``S = B Bᵀ``, ``Cov(E v) = (S vᵀSv + S v vᵀ S)/2``. Raise `InputError` if
    the noise is too large for that.
    """
    reason, records = population_refusal(release), release.n_records
    if reason is None and not release.kind.has_constant:
        reason = "coefficients of the population need mean and second moments released together"
    reason = reason or refusal(release)
    if reason is not None or records is None or release.row_noise is None:
        raise InputError(reason)
    names, y, size, moments, own = _asked(release, label)
    x = [i for i in range(size.size) if i != y]  # the constant last
    noise = release.row_noise.covariance() * release.hardening.noise_std / np.outer(size, size)
    inner = moments[np.ix_(x, x)]
    refuse(not np.linalg.eigvalsh(inner)[0] > _CARRIES * np.sqrt(len(x)) * np.diag(noise)[x].max(),
           "the noise is too large for coefficients of the population; release with a larger epsilon")
    inverse = np.linalg.inv(inner)
    found = inverse @ moments[x, y]
    v = np.zeros(size.size)
    v[x], v[y] = -found, 1.0
    seen = noise @ v
    moved = ((v @ seen) * noise + np.outer(seen, seen))[np.ix_(x, x)] / 2
    by_noise = np.sqrt(np.diag(inverse @ moved @ inverse))
    by_sample = np.sqrt(max(v @ moments @ v, 0.0) * np.diag(inverse) / max(records - len(x), 1))
    kept = x[:-1]
    slope = own[y] / own[kept]
    by_noise, by_sample = by_noise[:-1] * slope, by_sample[:-1] * slope
    return PopulationIntervals(
        features=tuple(names[i] for i in kept), values=found[:-1] * slope, noise=_Z * by_noise,
        sampling=_Z * by_sample, half=_Z * np.hypot(by_noise, by_sample), spread_from="released second moments")


def _tells_spread(one: Release, asked: Release) -> bool:
    """Return whether a release has the second moments of the same features, about 0, in the same units."""
    ranges, kind = one.ranges, one.kind
    if ranges is None or asked.ranges is None or not (kind.has_moments and kind.symmetric and kind.degree == 2):
        return False
    size = asked.kind.own_features(len(asked.ranges))
    ends = [[(name, *known[:2]) for name, known in held.items()][:size] for held in (ranges, asked.ranges)]
    return (ends[0] == ends[1] and kind.own_features(len(ranges)) == size and one.n_records == asked.n_records
            and one.bound is None and one.entry_noise is not None and one.title == asked.title)


def _own_units(release: Release, names: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """Return factor and offset to the data's units."""
    if release.ranges is None or release.declared_ranges is None:
        return np.ones(len(names)), np.zeros(len(names))
    (low, high), (lower, upper) = (_ends(ranges, names) for ranges in (release.ranges, release.declared_ranges))
    factor = (upper - lower) / (high - low)
    return factor, lower - factor * low
