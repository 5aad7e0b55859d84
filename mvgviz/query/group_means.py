"""Means by group, released as sums and counts: the groups are the levels of a category, which are public.

How many records a group has is private, so what one record changes of its mean depends on the others. Released is what
the means follow from (``mvgviz.means_by_group``), in one matrix: in each group the sum of every feature, counted from
the middle of its range, and (last row) the number of records. A missing value counts as the middle.

With ``y = (z, 1)``, ``|z_i| <= h_i``, a record adds ``y e_gᵀ`` (a missing group: equal parts to all). A replaced one
changes ``(z - z') e_gᵀ`` within its group, ``y e_gᵀ - y' e_kᵀ`` between two; through the noise, worst at corners:

    max(4 S P_g, (S + q)(P_g + P_k)),  S = sum of h_i² q_i, q the precision of the counts, P those of the columns.

So priority features gain as in a mean, and the counts cost nothing up to half of the precision (``q <= S``). All groups
together cost as much as one, and more noise on one does not pay for less on another. With added or removed records it
is ``(S + q) P_g``. Nothing here is in the paper.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from mvgviz.errors import InputError
from mvgviz.noise.directions import Directions
from mvgviz.noise.sides import NoiseSide
from mvgviz.provenance import weakest
from mvgviz.query.base import Derivation, Facts, Query, norm
from mvgviz.query.counts import Category, categories, chosen_categories
from mvgviz.query.dataset import Dataset
from mvgviz.query.neighbours import Neighbours, WorstCase, longest_in, support
from mvgviz.query.prior import Guess, of_rows
from mvgviz.query.record_bound import RecordBound
from mvgviz.query.second_moments import with_constant
from mvgviz.validation import FloatArray, frozen


@dataclass(frozen=True, kw_only=True, eq=False)
class ReplacedMember(Neighbours):
    """What one record changes of sums and counts by group; ``halves``: ``h_i`` of each feature. See the module."""

    halves: FloatArray = field(repr=False)
    groups: int
    records: int = 1
    added: bool = False

    def worst(self, rows: NoiseSide, cols: NoiseSide) -> WorstCase:
        """``at``: the change ``left rightᵀ`` that attains it where it is exact, or nearly so."""
        weights = cols.precision_diagonal()
        first = int(weights.argmax())
        whole, record, known = self._longest(rows, 1.0)
        if self.added:
            return self._case(whole * weights[first], record, {first: 1}, exact=known)
        inner, move, found = self._longest(rows, 0.0)
        # Between two groups: at most where a record meets its opposite, attained by one record where P_gk <= 0.
        shared = np.zeros(()) if cols.is_diagonal else cols.precision()
        pairs = weights[:, None] + weights + 2 * np.abs(shared)
        np.fill_diagonal(pairs, 0.0)
        g, k = (int(i) for i in np.unravel_index(int(pairs.argmax()), pairs.shape))
        within, between = 4 * inner * weights[first], whole * pairs[g, k]
        if within >= between:
            return self._case(within, 2 * move, {first: 1}, exact=found)
        return self._case(between, record, {g: 1, k: -1}, exact=known and (cols.is_diagonal or shared[g, k] <= 0))

    def _longest(self, rows: NoiseSide, constant: float) -> tuple[float, FloatArray, bool]:
        """The largest ``yᵀMy`` over ``y = (z, constant)``, y, and whether it attains that or is just long."""
        halves, centre = np.append(self.halves, 0.0), np.append(np.zeros(self.halves.size), constant)
        square, signs = longest_in(rows, centre, halves)
        return square, centre + halves * (1.0 if signs is None else signs), signs is not None

    def _case(self, square: float, change: FloatArray, groups: dict[int, int], *, exact: bool) -> WorstCase:
        right = np.zeros((self.groups, 1))
        right[list(groups), 0] = list(groups.values())
        return WorstCase(self.records * math.sqrt(float(square)), bool(exact), (self.records * change[:, None], right))

    def reach(self, directions: Directions) -> FloatArray:
        return support(directions, np.append(self.halves, 1.0))


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupMeans(Query):
    """Sums of features about the middle of their ranges, and counts, by group: (features and the count) × groups."""

    name, title, in_sentence = "group_means", "means by group", "sums and counts by group"
    choice = "Means by group"
    question = "the mean of each feature in each group: sums and counts, which the means follow from"
    cols_are, by_group = "group", True
    parameters = ("category", "group")
    takes_bound, more_steps = False, 8
    derivations: ClassVar = {
        "plain": Derivation((r"D=(z-z',0)\,e_g^{\mathsf T}\ \text{or}\ (z,1)\,e_g^{\mathsf T}-(z',1)\,e_k^{\mathsf T},"
                             r"\quad |z_i|\le h_i",
                             r"s_2=\sqrt{\max(4S,\,2S+2)},\quad S=\textstyle\sum_i h_i^2,\quad \gamma=n\sqrt{S+1}"),
                            "One record changes its values within a group, or its group. Priority features gain; "
                            "groups do not gain from each other, for a record is in one of them. All groups together "
                            "cost as much as one."),
        "added": Derivation((r"D=\pm(z,1)\,e_g^{\mathsf T},\quad |z_i|\le h_i",
                             r"s_2=\sqrt{S+1},\quad S=\textstyle\sum_i h_i^2,\quad \gamma=n\sqrt{S+1}"),
                            "One record counts in one group, with its distance from the middle of every range. "
                            "Priority features gain; groups do not gain from each other."),
    }
    neighbours: ReplacedMember

    @classmethod
    def _facts(cls, table: Dataset, data: Dataset, bound: RecordBound | None, added: bool, **parameters: Any) -> Facts:
        category, features = _asked(data, **parameters)
        rows, chosen = cls.table_of(data, **parameters), data.only(features)
        middle = (chosen.lower + chosen.upper) / 2
        body = ReplacedMember(halves=np.maximum(chosen.upper - middle, middle - chosen.lower), records=data.per_person,
                              groups=len(category.levels), added=added)
        centred = np.vstack([chosen.matrix - middle[:, None], np.ones(data.n_records)])
        return {"value": frozen(centred @ category.parts(data).T), "neighbours": body, "row_names": rows.features,
                "gamma": data.n_records * norm(np.append(body.halves, 1.0)), "col_names": category.levels,
                "ranges_origin": rows.ranges_origin}

    @classmethod
    def fits(cls, table: Dataset) -> bool:
        return bool(table.levels) and sum(map(len, table.levels)) < table.n_features

    @classmethod
    def table_of(cls, table: Dataset, **parameters: Any) -> Dataset:
        used, (_, features) = cls.uses(table, **parameters), _asked(table, **parameters)
        return replace(with_constant(table.only(features), "count"), label=None,
                       range_origins=(weakest(table.range_origins[k] for k in used),) * (len(features) + 1))

    @classmethod
    def uses(cls, table: Dataset, **parameters: Any) -> list[int]:
        category, features = _asked(table, **parameters)
        return sorted([*category.positions, *features])

    def is_named_like(self, table: Dataset) -> bool:
        groups = {category.levels for category in categories(table)}
        return set((self.row_names or ())[:-1]) <= set(table.features) and self.col_names in groups

    def guess(self, table: Dataset | None) -> Guess:
        assert table is not None
        rows, n, groups = self.row_names or (), float(self.n_records or 0), self.neighbours.groups
        widths = dict(zip(table.features, table.widths, strict=True))
        answer = np.array([0.0 if row in widths else n / groups for row in rows])
        variances = n * np.array([widths[row] ** 2 / 12 if row in widths else 1 - 1 / groups for row in rows])
        return Guess(answer=np.broadcast_to(answer[:, None], self.value.shape), spread=partial(of_rows, variances),
                     name="the middle of every range, as many records in every group")

    def largest_entries(self, largest: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        return np.append(self.neighbours.halves, 1.0), np.full(self.cols, float(self.n_records or 0))

    def absolute_sum(self, *, triangle: bool = False) -> float:
        body = self.neighbours
        return body.records * (float(body.halves.sum()) + 1) * (1 if body.added else 2)


def group_means(dataset: Dataset, category: int | str = 0, features: Sequence[int | str] = (), *,
                neighbours: str = "replace") -> Query:
    """Ask for sums and counts by group: of ``features`` (by default all that are no levels) by a category's levels."""
    return GroupMeans.ask(dataset, neighbours=neighbours, category=(category,), group=features)


def _asked(table: Dataset, **parameters: Any) -> tuple[Category, list[int]]:
    """The category, and the positions of the features whose means are asked; levels of a category have none."""
    (category,) = chosen_categories(table, parameters.get("category", ()), 1)
    numeric = [k for k in range(table.n_features) if not any(k in levels for levels in table.levels)]
    chosen = sorted({table.position(feature, "features") for feature in parameters.get("group", ())})
    if not (chosen or numeric) or any(k not in numeric for k in chosen):
        raise InputError("means by group need features that are no levels of a category; choose some of these")
    return category, chosen or numeric
