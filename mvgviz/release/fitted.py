"""A regression from released second moments, and how far the noise may have moved its coefficients.

The covariance of the noise is public: it is drawn again around the release and the fit repeated, which spends nothing.
An interval reaches as far to either side as the draws do to the further one, and is about the same fit without noise.
It is an approximation: on the bundled tables 95 to 100 % of intervals hold that fit, but of single coefficients that
projecting pulls aside as few as 83 %.
"""

from dataclasses import dataclass, field

import numpy as np

from mvgviz.errors import InputError
from mvgviz.noise.moment_noise import MomentNoise, coefficient_intervals, ridge_weights
from mvgviz.release.intervals import LEVEL
from mvgviz.release.release import Release
from mvgviz.threads import one_blas_thread
from mvgviz.validation import FloatArray, one_of

DRAWS, MOST_FEATURES = 500, 60


@dataclass(frozen=True, kw_only=True, eq=False)
class Coefficients:
    """Of the ``label`` on each feature, with the ends of their intervals, in the units of the data.

    ``whole``: times this, a coefficient is the label's change, as a share of its range, while the feature goes through
    all of its own.
    """

    label: str
    features: tuple[str, ...]
    values: FloatArray = field(repr=False)
    lower: FloatArray = field(repr=False)
    upper: FloatArray = field(repr=False)
    whole: FloatArray = field(repr=False)

    @property
    def clear(self) -> tuple[str, ...]:
        """The features whose interval does not hold 0."""
        sure = (self.lower > 0) | (self.upper < 0)
        return tuple(name for name, one in zip(self.features, sure.tolist(), strict=True) if one)


def refusal(release: Release) -> str | None:
    """Why no regression can be fitted from this release; None if one can."""
    kind = release.kind
    unknown = release.ranges is None or (kind.has_constant and release.scenario is None)
    if unknown or not kind.has_moments or kind.degree != 2:
        return f"a regression needs released second moments with their ranges, got {release.query}"
    features = kind.own_features(len(release.ranges or ()))
    if not 2 <= features <= MOST_FEATURES:
        return f"a regression needs 2 to {MOST_FEATURES} features with the label, got {features}"
    if release.mode != "both" or release.row_noise is None:
        return "intervals of coefficients need noise over both sides whose covariance is told beside the release"
    return None


def labels(release: Release) -> list[str]:
    """The features that may be predicted: all but the constant."""
    names = list(release.ranges or ())
    return names[: release.kind.own_features(len(names))]


def fitted_coefficients(release: Release, label: str, *, level: float = LEVEL, draws: int = DRAWS) -> Coefficients:
    """Noise-aware ridge of the label on the other features, and intervals of ``level``.

    With an intercept where the mean was released too (a constant joined to the records, last), else through the
    numbers' 0. Moments are divided by the largest values that the ranges allow. The draws are the same for every call.
    """
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
    told = np.array([declared[name].high - declared[name].low for name in names])
    units = (size / (upper - lower))[: len(names)] * told  # of the data, for one of each feature's own size
    values, slope = found[: len(others)], units[position] / units[others]
    return Coefficients(
        label=label, features=tuple(names[i] for i in others), values=values * slope, lower=(values - half) * slope,
        upper=(values + half) * slope, whole=told[others] / told[position])
