"""Means by group from released sums and counts: post-processing, which spends nothing.

A mean is the middle of the range plus sum over count. Its interval is Fieller's: all ratios r with
``|T - r N| <= z sqrt(s_T² + r² s_N²)``, cut to the range. It covers the noise alone, at least ``level`` of the time,
however small the group; if the count may be 0 it is the whole range. If the noise of sums and counts is dependent,
z is √2 times as large, which covers every dependence. The interval of a group without records means nothing.

For the population of which the records are an independent random sample, sampling adds at most the variance
``N (h² - r²)`` of N values between -h and h (Bhatia and Davis), so the ends still solve a quadratic equation. N is as
large as its noise allows: these intervals are conservative.

References
  Fieller, Some problems in interval estimation, 1954.
  Bhatia and Davis, A better bound on the variance, 2000.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mvgviz.errors import InputError
from mvgviz.optional import optional
from mvgviz.query.group_means import GroupMeans
from mvgviz.query.queries import ADDED_RECORD, REPLACED_RECORD
from mvgviz.release.answer import Release
from mvgviz.release.intervals import LEVEL
from mvgviz.validation import FloatArray, instance


@dataclass(frozen=True, kw_only=True, eq=False)
class MeansByGroup:
    """``values``, features × groups, with their intervals, in the data's units.

    ``population``: the intervals for the population; None if a person may have several records.
    """

    features: tuple[str, ...]
    groups: tuple[str, ...]
    values: FloatArray = field(repr=False)
    lower: FloatArray = field(repr=False)
    upper: FloatArray = field(repr=False)
    population: tuple[FloatArray, FloatArray] | None = field(default=None, repr=False)

    def columns(self) -> dict[str, list[Any]]:
        """Return a line for each mean: feature, group, mean and interval."""
        columns = {"mean": self.values, "lower": self.lower, "upper": self.upper}
        columns |= dict(zip(("population lower", "population upper"), self.population or (), strict=False))
        return {"feature": [name for name in self.features for _ in self.groups],
                "group": list(self.groups) * len(self.features)} | {
            name: column.ravel().tolist() for name, column in columns.items()}

    def to_frame(self) -> Any:
        """Return :meth:`columns` as a pandas frame."""
        return optional("pandas").DataFrame(self.columns())


def means_by_group(release: Release, level: float = LEVEL) -> MeansByGroup:
    """Return the means by group of a release of ``group_means``, each with an interval of at least ``level``."""
    asked = instance("release", release, Release).ranges
    if not issubclass(release.kind, GroupMeans) or asked is None:
        raise InputError(f"means by group need released sums and counts with their ranges, got {release.query}; "
                         "release the query group_means")
    names, groups = release.names
    features = names[:-1]
    lower, upper = np.array([asked[name][:2] for name in features], dtype=np.float64).T[:, :, None]
    half, noise = (upper - lower) / 2, release.known_noise
    std = noise.half_widths(level) / noise.per_std(level)
    independent = release.row_noise is not None and release.row_noise.is_diagonal
    z = noise.per_std(level) + noise.rounding if independent else np.sqrt(2) * noise.per_std(level)
    total, count = release.noisy[:-1], release.noisy[-1]
    ratios = [total / np.maximum(count, 1.0)]
    alone = release.neighbour_rule in (REPLACED_RECORD, ADDED_RECORD)
    for most in (0.0, np.maximum(count + z * std[-1], 0.0))[: 1 + alone]:
        ends = _fieller(total, count, z**2 * (std[:-1] ** 2 + most * half**2), z**2 * (std[-1] ** 2 - most))
        ratios += [np.where(np.isnan(end), side * half, end) for end, side in zip(ends, (-1, 1), strict=True)]
    declared = asked if release.declared_ranges is None else release.declared_ranges
    low, high = np.array([declared[name][:2] for name in features], dtype=np.float64).T[:, :, None]
    values, least, most, *both = ((low + high) / 2 + np.clip(ratio / half, -1, 1) * (high - low) / 2
                                  for ratio in ratios)
    return MeansByGroup(features=features, groups=groups, values=values, lower=least, upper=most,
                        population=(both[0], both[1]) if both else None)


def _fieller(total: FloatArray, count: FloatArray, of_total: FloatArray, of_count: FloatArray
             ) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the r with ``(total - r count)² <= of_total + r² of_count``, by a quadratic, or NaN."""
    a, b = np.broadcast_to(count**2 - of_count, total.shape), total * count
    bounded = (a > 0) & (count > 0)
    root = np.sqrt(np.maximum(of_total * count**2 + of_count * (total**2 - of_total), 0.0))
    safe = np.where(bounded, a, 1.0)
    return np.where(bounded, (b - root) / safe, np.nan), np.where(bounded, (b + root) / safe, np.nan)
