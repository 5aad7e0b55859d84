"""What follows from releases and spends nothing: regressions and their intervals, for the noise and for the population.

*Regressions.* The covariance of the noise is public, so drawing it again around the release and repeating the fit
spends nothing. An interval is symmetric, as wide as the further end of the draws, and is about the same fit without
noise. It is an approximation: on the bundled tables 95 to 100 % of intervals hold that fit, for single coefficients as
few as 83 %.

*Intervals for the population* behind the records: sampling error and noise, apart and together.

>>> import mvgviz as mv
>>> from mvgviz.release.fitted import population_means
>>> setup = mv.build(mv.Scenario.default_for("liver").changed(query="mean"), mv.sample("liver"))
>>> found = population_means(mv.release_setup(setup, ledger=mv.Ledger()))
>>> found.spread_from, bool((found.half > found.noise).all() and (found.half > found.sampling).all())
('ranges', True)

The records must be an independent random sample; values are as clipped. The spread of a feature comes from released
second moments, ``E x² - (E x)²`` without the mean effect of the noise, at least 0, plus one standard error: too small a
spread is the worse mistake. Without second moments it is half the range, the largest possible, and the interval is
conservative. Both errors are independent, so their variances add.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from scipy import special

from mvgviz.errors import InputError
from mvgviz.noise.moment_noise import MomentNoise, coefficient_intervals, ridge_weights
from mvgviz.query.queries import ADDED_RECORD, REPLACED_RECORD
from mvgviz.release.answer import Release
from mvgviz.release.intervals import LEVEL
from mvgviz.threads import one_blas_thread
from mvgviz.validation import FloatArray, fraction, one_of

DRAWS, MOST_FEATURES = 500, 60


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


def fitted_coefficients(release: Release, label: str, *, level: float = LEVEL, draws: int = DRAWS) -> Coefficients:
    """Fit a noise-aware ridge of the label on the other features (and an intercept), with intervals of ``level``."""
    reason, side, asked = refusal(release), release.row_noise, release.ranges
    if reason is not None or side is None or asked is None:
        raise InputError(str(reason))
    names = labels(release)
    one_of("label", label, names)
    position = names.index(label)
    others = [i for i in range(len(names)) if i != position]
    constant = len(names) if release.kind.has_constant else None
    chosen = others if constant is None else [*others, constant]
    lower, upper = np.array([ends[:2] for ends in asked.values()], dtype=np.float64).T
    size = np.maximum(np.abs(lower), np.abs(upper))
    noise = MomentNoise(root=side.root() * np.sqrt(release.hardening.noise_std) / size[:, None])
    moments = (release.noisy + release.noisy.T) / 2 / np.outer(size, size)
    with one_blas_thread():  # many small matrices
        found = ridge_weights(moments, noise, features=chosen, label=position, constant=constant)
        low, high = coefficient_intervals(moments, noise, features=chosen, label=position, constant=constant,
                                          level=level, draws=draws, rng=np.random.default_rng(0)).T
    half = np.maximum(found - low, high - found)[: len(others)]
    declared = asked if release.declared_ranges is None else release.declared_ranges
    widths = np.array([declared[name].high - declared[name].low for name in names])
    units = (size / (upper - lower))[: len(names)] * widths  # from the scaled moments to the data's units
    values, slope = found[: len(others)], units[position] / units[others]
    return Coefficients(
        label=label, features=tuple(names[i] for i in others), values=values * slope, lower=(values - half) * slope,
        upper=(values + half) * slope, whole=widths[others] / widths[position])


_CARRIES = 8.0  # the least second moment in noise: below, first order is not enough


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
    if release.neighbour_rule not in (REPLACED_RECORD, ADDED_RECORD):
        return "intervals for the population need one record a person: others are no independent sample"
    if release.bound is not None:
        return "intervals for the population need a release without a clipping bound: clipping moves the mean"
    if release.family != "gaussian":
        return f"intervals for the population need Gaussian noise, got {release.family} noise"
    return None if release.entry_noise is not None else "this release has no intervals: its noise is not private"


def population_means(release: Release, others: Iterable[Release] = (), *, level: float = LEVEL) -> PopulationIntervals:
    """Return intervals for the means of the population; ``others``: releases that may hold second moments."""
    reason, ranges, records = population_refusal(release), release.ranges, release.n_records
    if reason is not None or ranges is None or records is None:
        raise InputError(str(reason))
    size, noise = release.kind.own_features(len(ranges)), release.known_noise
    names = tuple(ranges)[:size]
    mean = release.noisy[:size, -1]
    std = np.array([noise.std_of_row(i)[-1] for i in range(size)])
    low, high = np.array([ranges[name][:2] for name in names], dtype=np.float64).T
    largest = (high - low) ** 2 / 4
    moments = next((one for one in (release, *others) if _tells_spread(one, release)), None)
    variance = largest
    if moments is not None:
        square = np.array([moments.known_noise.std_of_row(i)[i] for i in range(size)])
        estimate = np.maximum(np.diag(moments.noisy)[:size] - mean**2 + std**2, 0.0) + np.hypot(square, 2 * mean * std)
        variance = np.minimum(estimate * records / max(records - 1, 1), largest)
    z, error = float(special.ndtri((1 + fraction("level", level)) / 2)), np.sqrt(variance / records)
    own, offset = _own_units(release, names, low, high)
    return PopulationIntervals(
        features=names, values=offset + own * mean, noise=own * noise.per_std(level) * std, sampling=own * z * error,
        half=own * (z * np.hypot(std, error) + noise.rounding * std),
        spread_from="ranges" if moments is None else "released second moments")


def population_coefficients(release: Release, label: str, *, level: float = LEVEL) -> PopulationIntervals:
    """Return intervals for least-squares coefficients in the population, from released mean and second moments.

    Nothing is shrunk, so the values differ from ``fitted_coefficients``. Sampling errors have one size. Noise counts to
    first order: E on the moments moves the solution b of ``M b = c`` by ``M⁻¹ (E v)``, ``v = (-b, 1)``; with noise
    ``B G Bᵀ`` averaged with its transpose and ``S = B Bᵀ``, ``Cov(E v) = (S vᵀSv + S v vᵀ S)/2``. Raise `InputError` if
    the noise is too large for that.
    """
    reason, ranges, records = population_refusal(release), release.ranges, release.n_records
    if reason is None and not release.kind.has_constant:
        reason = "coefficients of the population need mean and second moments released together"
    reason = reason or refusal(release)
    if reason is not None or ranges is None or records is None or release.row_noise is None:
        raise InputError(str(reason))
    names = labels(release)
    one_of("label", label, names)
    x = [i for i in range(len(ranges)) if i != names.index(label)]  # the constant last
    y = names.index(label)
    low, high = np.array([ends[:2] for ends in ranges.values()], dtype=np.float64).T
    size = np.maximum(np.abs(low), np.abs(high))
    noise = release.row_noise.covariance() * release.hardening.noise_std / np.outer(size, size)
    moments = (release.noisy + release.noisy.T) / 2 / np.outer(size, size)
    inner = moments[np.ix_(x, x)]
    if not np.linalg.eigvalsh(inner)[0] > _CARRIES * np.sqrt(len(x)) * np.diag(noise)[x].max():
        raise InputError("the noise is too large for coefficients of the population; release with a larger epsilon")
    inverse = np.linalg.inv(inner)
    found = inverse @ moments[x, y]
    v = np.zeros(len(ranges))
    v[x], v[y] = -found, 1.0
    seen = noise @ v
    moved = ((v @ seen) * noise + np.outer(seen, seen))[np.ix_(x, x)] / 2
    by_noise = np.sqrt(np.diag(inverse @ moved @ inverse))
    by_sample = np.sqrt(max(v @ moments @ v, 0.0) * np.diag(inverse) / max(records - len(x), 1))
    own = _own_units(release, tuple(names), low[: len(names)], high[: len(names)])[0] * size[: len(names)]
    kept = x[:-1]
    z, slope = float(special.ndtri((1 + fraction("level", level)) / 2)), own[y] / own[kept]
    by_noise, by_sample = by_noise[:-1] * slope, by_sample[:-1] * slope
    return PopulationIntervals(
        features=tuple(names[i] for i in kept), values=found[:-1] * slope, noise=z * by_noise, sampling=z * by_sample,
        half=z * np.hypot(by_noise, by_sample), spread_from="released second moments")


def _tells_spread(one: Release, asked: Release) -> bool:
    """Return whether a release has the second moments of the same features, about 0, in the same units."""
    ranges, kind = one.ranges, one.kind
    if ranges is None or asked.ranges is None or not (kind.has_moments and kind.symmetric and kind.degree == 2):
        return False
    size = asked.kind.own_features(len(asked.ranges))
    ends = [[(name, *known[:2]) for name, known in held.items()][:size] for held in (ranges, asked.ranges)]
    return (ends[0] == ends[1] and kind.own_features(len(ranges)) == size and one.n_records == asked.n_records
            and one.bound is None and one.entry_noise is not None and one.title == asked.title)


def _own_units(release: Release, names: tuple[str, ...], low: FloatArray, high: FloatArray
               ) -> tuple[FloatArray, FloatArray]:
    """Return factor and offset to the data's units."""
    if release.declared_ranges is None:
        return np.ones(len(names)), np.zeros(len(names))
    ends = np.array([release.declared_ranges[name][:2] for name in names], dtype=np.float64).T
    factor = (ends[1] - ends[0]) / (high - low)
    return factor, ends[0] - factor * low
