"""A regression from released second moments, and how far the noise may have moved its coefficients.

The covariance of the noise is public, so drawing it again around the release and repeating the fit spends nothing. An
interval is symmetric, as wide as the further end of the draws, and is about the same fit without noise. It is an
approximation: on the bundled tables 95 to 100 % of intervals hold that fit, for single coefficients as few as 83 %.
"""

from dataclasses import dataclass, field

import numpy as np

from mvgviz.errors import InputError
from mvgviz.noise.moment_noise import MomentNoise, coefficient_intervals, ridge_weights
from mvgviz.release.answer import Release
from mvgviz.release.intervals import LEVEL
from mvgviz.threads import one_blas_thread
from mvgviz.validation import FloatArray, one_of

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
