"""Intervals in sentences and tables: how far a released number may lie from the answer that was asked."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mvgviz.labels import SCALES
from mvgviz.release.fitted import Coefficients
from mvgviz.release.intervals import LEVEL, DataUnits, EntryNoise, covered_words, data_units, planned_noise
from mvgviz.release.release import Release
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_number, capitalised, listed
from mvgviz.validation import FloatArray

NOT_TOLD = ("There are no intervals for this release: the shape of its noise was read from the data, and would tell "
            "about it.")
ABOUT_FIT = ("Ridge on the released second moments alone, with more ridge where there is more noise, and with an "
             "intercept only where the mean was released beside them. The intervals are approximate, 95 %: the known "
             "noise is drawn anew around the release and the fit repeated. They are about the same fit without noise, "
             "not about how the records were sampled, nor about causes. Coefficients are in the data's units; fitting "
             "spends nothing.")
_ALONE, _WITH, _MEAN = "on its own second moment ±", "with another feature, at most ±", "on its mean ±"
_OWN, _PERCENT = " (data's units)", f"{100 * LEVEL:g} %"


@dataclass(frozen=True, kw_only=True, eq=False)
class Widths:
    """Half the widths of the intervals of one answer. ``names``: of its features, if it has such; ``scale``: theirs."""

    query: str
    names: tuple[str, ...] | None
    scale: str
    bounded: bool
    noise: EntryNoise = field(repr=False)
    units: DataUnits | None

    @property
    def square(self) -> bool:
        """Whether both sides of the answer are the features."""
        return self.names is not None and self.noise.cols.size == len(self.names) and self.query != "identity"

    @property
    def rows(self) -> FloatArray:
        """The largest of each row, in the data's units where they are known."""
        widths = self.noise.per_std() * self.noise.largest_std()
        return widths if self.units is None else widths * self.units.factor


def planned_widths(setup: Setup) -> Widths:
    """Of a release of this setup, as designed."""
    query, scale = setup.query, setup.scenario.scale
    return Widths(query=query.name, names=query.row_names, scale=scale, bounded=query.bound is not None,
                  noise=planned_noise(setup),
                  units=None if query.is_graph else data_units(query.name, scale, setup.dataset.ranges))


def released_widths(release: Release) -> Widths | None:
    """Of what was released; None where they are not told."""
    if release.entry_noise is None:
        return None
    scale = "declared" if release.scenario is None else release.scenario.scale
    return Widths(query=release.query, names=release.row_names, scale=scale, bounded="bound" in release.origins,
                  noise=release.entry_noise, units=release.data_units)


def within(widths: Widths, name: Callable[[str], str] = str, most: int = 4) -> str:
    """"± 2.3 on mcv, ± 5.1 on drinks", or the smallest and the largest; ``name`` makes a name harmless."""
    if widths.names is not None and not widths.square:
        return listed([f"± {as_number(width)} on {name(feature)}"
                       for feature, width in zip(widths.names, widths.rows.tolist(), strict=True)], most)
    low, high = (widths.noise.per_std() * std for std in widths.noise.extremes())
    return f"± {as_number(low)}" + f" to ± {as_number(high)}" * (high > low * (1 + 1e-9))


def widths_sentence(widths: Widths, name: Callable[[str], str]) -> str:
    """The takeaway, in Markdown."""
    return (f"**In {_PERCENT} of releases a released number is at most this far from the answer: "
            f"{within(widths, name)}{_units(widths)}.**")


def covers_sentences(widths: Widths) -> str:
    """What the intervals speak of."""
    symmetric = (" Off the diagonal it is the average of two noisy numbers, which is counted." *
                 (widths.noise.symmetrised and widths.noise.rows.size > 1))
    return (f"Each number by itself: of a hundred, about {100 * (1 - LEVEL):.0f} lie further away.{symmetric} "
            f"{capitalised(covered_words(widths.query, bounded=widths.bounded))}.")


def off_by(widths: Widths) -> str:
    """The same in a few words, plain text."""
    return f"at most {within(widths, most=3)}, in {_PERCENT} of releases"


def width_columns(widths: Widths) -> dict[str, list[Any]]:
    """Half the width for each feature, as columns of a table; none where rows are no features."""
    if widths.names is None:
        return {}
    noise, names = widths.noise, list(widths.names)
    if widths.square:
        columns = _of_moments(widths)
        names = names[: columns[_ALONE].size]
    else:
        columns = {"within ±": noise.largest_std()}
    told = {head: noise.per_std() * column for head, column in columns.items()}
    if widths.units is not None:
        told |= {f"{head}{_OWN}": column * widths.units.factor for head, column in told.items()}
    return {"feature": names} | {head: column.tolist() for head, column in told.items()}


def _of_moments(widths: Widths) -> dict[str, FloatArray]:
    """Of second moments; of the mean too, where a constant was joined to the features, last."""
    noise, size = widths.noise, len(widths.names or ()) - (widths.query == "moments")
    rows = [noise.std_of_row(i) for i in range(size)]
    columns = {_ALONE: noise.diagonal_std()[:size]}
    if size > 1:
        columns[_WITH] = np.array([np.delete(row[:size], i).max() for i, row in enumerate(rows)])
    return ({_MEAN: np.array([row[-1] for row in rows])} if widths.query == "moments" else {}) | columns


def mean_columns(release: Release) -> dict[str, list[Any]]:
    """A released mean and its intervals in the data's units, as columns of a table."""
    values, halves, units = release.noisy, release.half_widths(), release.data_units
    if units is not None:
        values, halves = units.of(values), units.factor[:, None] * halves
    columns = {"released": values, "lower": values - halves, "upper": values + halves}
    return {"feature": list(release.row_names or ())} | {head: part[:, 0].tolist() for head, part in columns.items()}


def coefficients_sentence(fit: Coefficients, name: Callable[[str], str]) -> str:
    """Which coefficients stand out from the noise, in Markdown."""
    clear, count = [name(feature) for feature in fit.clear], len(fit.features)
    if not clear:
        return f"**No coefficient of {name(fit.label)} is clear of the noise:** every interval holds 0."
    return (f"**{len(clear)} of {count} {'coefficient' if count == 1 else 'coefficients'} of {name(fit.label)} "
            f"{'is' if len(clear) == 1 else 'are'} clear of the noise:** {listed(clear)}.")


def coefficient_columns(fit: Coefficients) -> dict[str, list[Any]]:
    """The fit and its intervals, as columns of a table."""
    return {"feature": list(fit.features), "coefficient": fit.values.tolist(), "lower": fit.lower.tolist(),
            "upper": fit.upper.tolist()}


def _units(widths: Widths) -> str:
    """Which units the numbers are in, where that has to be said."""
    if widths.units is not None:
        return ", in the data's own units"
    mapped = widths.names is not None and widths.scale != "declared"
    return f", in the units it was asked in (features {SCALES[widths.scale]})" if mapped else ""
