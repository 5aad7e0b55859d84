"""Post-processing of releases, which spends nothing more: averages of the same question, and means by group.

>>> import mvgviz as mv
>>> setup = mv.build(mv.Scenario.default_for("liver").changed(query="mean"), mv.sample("liver"))
>>> ledger = mv.Ledger()
>>> both = mv.combine(*(mv.release_setup(setup, ledger=ledger) for _ in range(2)))
>>> round(float((both.half_widths() / both.releases[0].half_widths()).max()), 3)
0.707

Each number is averaged with the public weights ``1/variance`` of its noise. The records must be the same each time. The
noise is independent and Gaussian, so the interval is exact.

*Means by group* follow from released sums and counts. A mean is the middle of the range plus sum over count. Its
interval is Fieller's: all ratios r with ``|T - r N| <= z sqrt(s_T² + r² s_N²)``, cut to the range. It covers the noise
alone, at least ``level`` of the time, however small the group; if the count may be 0 it is the whole range. If the
noise of sums and counts is dependent, z is √2 times as large, which covers every dependence. The interval of a group
without records means nothing.

For the population of which the records are an independent random sample, sampling adds at most the variance ``N (h² -
r²)`` of N values between -h and h (Bhatia and Davis), so the ends still solve a quadratic equation. N is as large as
its noise allows: these intervals are conservative.

References
  Fieller, Some problems in interval estimation, 1954.
  Bhatia and Davis, A better bound on the variance, 2000.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import special

from mvgviz.errors import InputError, refuse
from mvgviz.optional import optional
from mvgviz.query.group_means import GroupMeans
from mvgviz.query.queries import ADDED_RECORD, QUERIES, REPLACED_RECORD, of_record
from mvgviz.release.answer import Release
from mvgviz.release.entries import Sum
from mvgviz.release.intervals import LEVEL, lines
from mvgviz.validation import FloatArray, fraction, frozen, instance


@dataclass(frozen=True, kw_only=True, eq=False)
class Combined:
    """The average of ``releases``; ``std``: of its noise; ``rounding``: what arithmetic can add to an error."""

    releases: tuple[Release, ...]
    values: FloatArray = field(repr=False)
    std: FloatArray = field(repr=False)
    rounding: FloatArray = field(repr=False)

    @property
    def epsilon(self) -> float:
        """Return what all of them spent together, at the first one's delta."""
        return Sum(self.releases).total(self.releases[0].delta).epsilon

    def half_widths(self, level: float = LEVEL) -> FloatArray:
        return np.asarray(float(special.ndtri((1 + fraction("level", level)) / 2)) * self.std + self.rounding)

    def columns(self, level: float = LEVEL) -> dict[str, list[Any]]:
        """Return names, value, interval and effect of clipping of each number, in the data's units if known."""
        from mvgviz.release.files import clipped_columns

        first, halves, values = self.releases[0], self.half_widths(level), self.values
        if first.data_units is not None:
            values, halves = first.data_units.of(values), first.data_units.widths(halves)
        numbers = {"value": values, "lower": values - halves, "upper": values + halves} | clipped_columns(first)
        return lines(first.names, numbers)

    def to_frame(self, level: float = LEVEL) -> Any:
        return optional("pandas").DataFrame(self.columns(level))

    def to_csv(self, level: float = LEVEL) -> str:
        from mvgviz.release.files import columns_csv

        return columns_csv(self.columns(level))


def combine(*releases: Release) -> Combined:
    """Average releases of the same question by precision; raise `InputError` for different questions."""
    refuse(len(releases) < 2, "combine at least two releases of the same question")
    for one in releases:
        reason = refusal(instance("release", one, Release))
        refuse(reason is not None, f"this release cannot be combined: {reason}")
        refuse(question(one) != question(releases[0]), "these releases asked different questions; combine releases "
               "with the same data, query, columns, ranges, clipping, number of records and neighbours")
    refuse(any(np.array_equal(one.noisy, other.noisy) for k, one in enumerate(releases) for other in releases[:k]),
           "the same release is given twice; give it once")
    refuse(any(one.known_noise.blocks for one in releases), "only releases with Gaussian noise can be combined; other "
           "noise has no known intervals for an average")
    stds = np.array([one.known_noise.std for one in releases])
    whole = np.sum(1 / stds**2, axis=0)
    weights = 1 / stds**2 / whole
    rounding = [one.known_noise.rounding * std for one, std in zip(releases, stds, strict=True)]
    values, rounding = ((weights * each).sum(axis=0) for each in ([one.noisy for one in releases], rounding))
    return Combined(releases=releases, std=frozen(1 / np.sqrt(whole)), values=frozen(values), rounding=frozen(rounding))


def refusal(release: Release) -> str | None:
    """Return why the question of this release is not public; None if it is."""
    if release.query not in QUERIES:
        return "the answer was computed elsewhere"
    if not (release.title or release.data):
        return "the data has no name; give it a title"
    if release.bound is not None and not release.bound.is_public:
        return "its certificate does not show the clipping bound"
    if release.kind.parameters and release.scenario is None:
        return "it has no scenario; release with release_setup"
    return None


def question(release: Release) -> tuple[object, ...]:
    """Return what two releases share if they asked the same about the same records."""
    bound, scenario = release.bound, release.scenario
    clipped = None if bound is None else (bound.radius, np.asarray(bound.weights).tolist(),
                                          np.asarray(bound.centre).tolist(), bound.origin)
    ends = [None if ranges is None else [(name, *known[:2]) for name, known in ranges.items()]
            for ranges in (release.ranges, release.declared_ranges)]
    return (release.query, release.noisy.shape, release.row_names, release.col_names, release.n_records,
            release.title or release.data, release.gaps, release.per_person, release.neighbour_rule,
            release.sensitivity, [getattr(scenario, name) for name in release.kind.parameters], clipped, *ends)


def same_question(release: Release, among: tuple[Release, ...]) -> tuple[Release, ...]:
    """Return the releases that asked the same and may be averaged."""
    asked = None if refusal(release) else question(release)
    return tuple(one for one in among if one.entry_noise is not None and not one.entry_noise.blocks
                 and not refusal(one) and question(one) == asked)


@dataclass(frozen=True, kw_only=True, eq=False)
class MeansByGroup:
    """``values``, features × groups, with their intervals, in the data's units; ``population``: the intervals for the
    population, None if a person may have several records.
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
        return lines((self.features, self.groups), columns, ("feature", "group"))

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
    alone = of_record(release.neighbour_rule) in (REPLACED_RECORD, ADDED_RECORD)
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
