"""One noisy answer that may leave the house: fresh noise, what it spends, what it does not cover.

>>> import numpy as np
>>> from mvgviz import Dataset, design_noise, mean
>>> from mvgviz.release.release import release
>>> data = Dataset(matrix=np.zeros((2, 100)), features=("a", "b"), lower=-1, upper=1)
>>> query = mean(data)
>>> given = release(query, design_noise(query, epsilon=1, delta=1e-5))
>>> f"{given.epsilon:.4f} at {given.delta:g}", given.noisy.shape
('1.0000 at 1e-05', (2, 1))

The noise comes from the operating system's entropy, never from a seed, through a hardened
sampler (``mvgviz.release.secure_noise``). Nothing that is kept tells the true answer, and nothing but the
noisy matrix is computed from the records: ``docs/what-a-release-reveals.md`` lists the rest.
A release must not be cached or repeated: each call spends its ``mu`` anew.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.errors import InputError
from mvgviz.labels import MODES
from mvgviz.noise.accounting import compose_mu, gaussian_epsilon
from mvgviz.noise.sides import NoiseSide
from mvgviz.provenance import Origin, Range, Ranges, weakest
from mvgviz.query.bounded_neighbours import BoundedColumn, BoundedOuterProduct
from mvgviz.query.neighbours import ReplacedColumn, ReplacedOuterProduct, move_widths
from mvgviz.query.queries import Query
from mvgviz.query.record_bound import RecordBound
from mvgviz.release.intervals import LEVEL, DataUnits, EntryNoise, data_units
from mvgviz.release.ledger import CAVEATS, Ledger
from mvgviz.release.secure_noise import FRESH_DIRECTIONS, Hardening, noisy_answer, noisy_count, private_directions
from mvgviz.scenario.resolve import Setup, build, left_for_noise, mu_for_directions, origins_of
from mvgviz.scenario.scenario import Scenario
from mvgviz.validation import FloatArray, fraction, frozen, instance, one_of
from mvgviz.version import VERSION

_MOST_NUMBERS = 40_000  # of a design, beside a release
_ROUNDING = 1e-9  # of two ways to the same mu


@dataclass(frozen=True, kw_only=True, eq=False)
class Release:
    """A noisy answer, rows × cols and read-only, and everything public about it.

    ``mu``: of noise and private directions together; ``epsilon``: what that spends at ``delta``. ``origins``: where
    ranges, number of records, directions, split and all other choices come from; ``caveats``: those that were read from
    the data, which the guarantee does not cover (keys of ``mvgviz.release.ledger.CAVEATS``). ``ranges``: of the numbers
    the query was asked of; ``declared_ranges``: in the units of the data, where those differ. ``row_noise`` and
    ``col_noise``: its covariance as designed (None: the identity, too large, or itself not private); as drawn its
    standard deviations are larger by the factor ``hardening.noise_std``. ``entry_noise``: what intervals rest on; None
    where the shape of the noise is itself not private.
    """

    noisy: FloatArray = field(repr=False)
    query: str
    row_names: tuple[str, ...] | None = field(repr=False)
    neighbour_rule: str
    sensitivity: float
    n_records: int | None
    mode: str
    calibrated_by: str
    design: str
    origins: Mapping[str, Origin]
    mu: float
    mu_is: str
    epsilon: float
    delta: float
    epsilon_asked: float
    ranges: Mapping[str, Range] | None = field(repr=False)
    declared_ranges: Mapping[str, Range] | None = field(repr=False)
    bound: RecordBound | None = field(repr=False)
    caveats: tuple[str, ...]
    symmetrised: bool
    row_noise: NoiseSide | None = field(repr=False)
    col_noise: NoiseSide | None = field(repr=False)
    entry_noise: EntryNoise | None = field(repr=False)
    hardening: Hardening = field(repr=False)
    time: str
    version: str
    opendp_version: str
    data: str | None
    scenario: Scenario | None = field(repr=False)

    @property
    def not_covered(self) -> tuple[str, ...]:
        """In words, what the guarantee leaves out."""
        return tuple(CAVEATS[caveat] for caveat in self.caveats)

    @property
    def chosen_on_data(self) -> tuple[str, ...]:
        """The fields of the scenario that were chosen by looking at the data and matter here."""
        return () if self.scenario is None else self.scenario.read_among(self.scenario.from_data)

    @property
    def data_units(self) -> DataUnits | None:
        """The way back to the units of the data, where the answer is in others and has one."""
        if self.scenario is None or self.declared_ranges is None:
            return None
        return data_units(self.query, self.scenario.scale, self.declared_ranges)

    def half_widths(self, level: float = LEVEL) -> FloatArray:
        """Half the width of each number's interval: the answer that was asked lies within it, ``level`` of the time."""
        return self.known_noise.half_widths(level)

    def to_frame(self, level: float = LEVEL) -> Any:
        """A line for each released number, as a pandas frame: its names, its value and the ends of its interval.

        Without ends where the noise may not be told; in the data's own units too, where the answer has others.
        """
        from mvgviz.release.files import interval_frame

        return interval_frame(self, level)

    @property
    def known_noise(self) -> EntryNoise:
        """The noise that intervals rest on; InputError where it may not be told."""
        if self.entry_noise is None:
            raise InputError("there are no intervals for this release: the shape of its noise was read from the data, "
                             "and would tell about it; choose directions and split without the data")
        return self.entry_noise

    @property
    def guarantee(self) -> str:
        """The guarantee in one sentence."""
        words = f"epsilon {self.epsilon:.6g} at delta {self.delta:.6g} ({self.neighbour_rule})"
        left_out = ", ".join(self.not_covered)
        return f"the noise alone gives {words}; not covered: {left_out}" if left_out else words


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a release will spend (for theorem-made noise along private directions: at most), before any noise.

    ``caveats``: what has to be accepted by name first.
    """

    mu: float
    epsilon: float
    delta: float
    caveats: tuple[str, ...]
    entries: int


def release(query: Query, design: NoiseDesign, *, ranges: Ranges | None = None, delta: float | None = None,
            data: str | None = None, scenario: Scenario | None = None, accept: Iterable[str] = (),
            symmetrise: bool = False, ledger: Ledger | None = None,
            progress: Callable[[float], object] | None = None) -> Release:
    """One answer of ``query`` with the noise of ``design``; spends its ``mu``.

    ``ranges``: feature → range of the numbers the query was asked of. ``delta``: where epsilon is told, by default the
    design's. ``scenario`` is kept beside the answer. What was read from the data (ranges, number of records,
    directions, split; or any choice of ``scenario``) is refused unless ``accept`` names it (keys of
    ``mvgviz.release.ledger.CAVEATS``). ``symmetrise``: average the answer of a symmetric query with its transpose,
    which is post-processing. ``ledger`` refuses above its cap, before any noise is drawn, and gets an entry under the
    name ``data``. ``progress`` is called with the share done; if it raises, nothing was released and nothing is
    entered.
    """
    instance("query", query, Query)
    instance("design", design, NoiseDesign)
    return _carried_out(query, design, mu=_spent(design), mu_is=design.mu_is,
                        delta=design.delta if delta is None else fraction("delta", delta),
                        ranges=None if ranges is None else {name: Range(*ends) for name, ends in ranges.items()},
                        declared_ranges=None, data=data, scenario=scenario, accept=accept, symmetrise=symmetrise,
                        ledger=ledger, progress=progress)


def release_setup(setup: Setup, *, accept: Iterable[str] = (), ledger: Ledger | None = None,
                  symmetrise: bool = False, progress: Callable[[float], object] | None = None) -> Release:
    """A release of a scenario worked out by ``build``; the other arguments as for :func:`release`.

    Private directions are drawn anew: those of ``setup`` come from its seed. The answer then
    gets noise along the new ones, and the design is made for them.
    """
    scenario, query = setup.scenario, setup.query
    planned = plan(setup)
    caveats = _accepted(planned.caveats, accept)
    _check_symmetrise(query, symmetrise)
    if ledger is not None:
        ledger.check(scenario.data, planned.mu)
    fresh = _with_fresh_directions(setup) if scenario.directions == "private" else _with_fresh_bound(setup) if (
        scenario.bound == "private" and setup.query.bound is not None) else setup
    query, design = fresh.query, fresh.design
    mu, mu_is = _spent(design), design.mu_is
    if planned.mu > mu:  # what was announced before private directions were drawn is claimed, if it is more
        mu, mu_is = planned.mu, "upper bound" if planned.mu > mu * (1 + _ROUNDING) else mu_is
    same_units = query.is_graph or scenario.scale == "declared"
    return _carried_out(query, design, mu=mu, mu_is=mu_is, delta=planned.delta,
                        ranges=None if query.is_graph else setup.table.ranges,
                        declared_ranges=None if same_units else setup.dataset.ranges, data=scenario.data,
                        scenario=scenario, accept=caveats, symmetrise=symmetrise, ledger=ledger, progress=progress)


def plan(setup: Setup) -> Plan:
    """What ``release_setup`` will spend and what has to be accepted; draws nothing."""
    design, scenario = setup.design, setup.scenario
    mu = _spent(design)
    if scenario.directions == "private" and design.guarantee != "exact":
        # What the noise spends depends on directions yet to be drawn: 1/v is at most the root of the budget. This
        # bound, known beforehand, is what is claimed and entered, not what the drawn directions come to.
        power = 0.5 if design.mode == "both" else 0.25
        most = setup.query.printed_sensitivity * design.precision_budget**power
        mu = compose_mu([design.directional_side.directions.mu, most])
    return Plan(mu=mu, epsilon=float(gaussian_epsilon(setup.delta, mu)), delta=setup.delta,
                caveats=_caveats(setup.origins), entries=design.rows * design.cols)


def _carried_out(query: Query, design: NoiseDesign, *, mu: float, mu_is: str, delta: float,
                 ranges: Mapping[str, Range] | None, declared_ranges: Mapping[str, Range] | None, data: str | None,
                 scenario: Scenario | None, accept: Iterable[str], symmetrise: bool, ledger: Ledger | None,
                 progress: Callable[[float], object] | None) -> Release:
    """Everything is checked first; then the noise is drawn; then the ledger gets its entry."""
    _check_made_for(query, design)
    if design.directions_origin is Origin.PAID and design.directional_side.directions.label != FRESH_DIRECTIONS:
        raise InputError("the private directions were drawn from a seed, for looking; draw new ones for a release "
                         "with private_directions")
    if query.bound is not None and query.bound.mu > 0 and not query.bound.fresh:
        raise InputError("the bound was learned from the data with noise from a seed, for looking; a release needs one "
                         "that was learned afresh, or declared")
    if ranges is not None and weakest(known.origin for known in ranges.values()) is not query.ranges_origin:
        raise InputError("the ranges and the query come from different data; ask the query of the data itself")
    origins = origins_of(query, design, scenario)
    caveats = _accepted(_caveats(origins), accept)
    _check_symmetrise(query, symmetrise)
    largest = _largest_values(query, ranges)
    if ledger is not None:
        if not data:
            raise InputError("a ledger needs the name of the data")
        ledger.check(data, mu)

    noisy, hardening = noisy_answer(query, design.row_side, design.col_side, design.mu, largest=largest,
                                    progress=progress)
    if symmetrise:
        noisy = (noisy + noisy.T) / 2
    time, words = datetime.now(UTC).isoformat(timespec="seconds"), design_words(design)
    if ledger is not None and data:
        ledger.enter(time=time, data=data, query=query.name, neighbour_rule=query.neighbour_rule, design=words,
                     mu=mu, delta=delta, caveats=caveats)
    noise = EntryNoise.of(design.row_side, design.col_side, symmetrised=symmetrise, hardening=hardening)
    told = design.directions_origin.is_covered and design.theta_origin.is_covered
    return Release(
        noisy=frozen(np.ascontiguousarray(noisy)), query=query.name, row_names=query.row_names,
        neighbour_rule=query.neighbour_rule, sensitivity=query.sensitivity, n_records=query.n_records,
        mode=design.mode, calibrated_by=design.guarantee, design=words, origins=origins, mu=mu, mu_is=mu_is,
        epsilon=float(gaussian_epsilon(delta, mu)), delta=delta, ranges=ranges, declared_ranges=declared_ranges,
        epsilon_asked=design.epsilon if scenario is None else scenario.epsilon, bound=query.bound,
        caveats=caveats, symmetrised=symmetrise,
        row_noise=_kept(design.row_side) if told else None, col_noise=_kept(design.col_side) if told else None,
        entry_noise=noise if told else None, hardening=hardening, time=time, version=VERSION,
        opendp_version=version("opendp"), data=data, scenario=scenario)


def design_words(design: NoiseDesign) -> str:
    """The design in a few words, for a ledger: nothing private."""
    return f"{design.guarantee}, noise over {MODES[design.mode].sides}, {design.directional_side.directions.label}"


def _with_fresh_bound(setup: Setup) -> Setup:
    """The same scenario with the length of its bound found now, by counts with hardened noise."""
    uploaded = setup.design.directional_side.directions if setup.scenario.directions == "upload" else None
    return build(setup.scenario, setup.dataset, query=setup.box, uploaded=uploaded, noisy_count=noisy_count)


def _with_fresh_directions(setup: Setup) -> Setup:
    """The same scenario along directions drawn now; the parts of the budget as ``build`` divides it."""
    scenario = setup.scenario
    epsilon, delta = left_for_noise(scenario, setup.delta)
    try:
        rest = scenario.changed(directions="upload", epsilon=epsilon, delta=delta, from_data=scenario.from_data)
    except InputError:
        raise InputError("too little of the budget is left for the noise beside private directions; ask for a "
                         "larger epsilon or give the directions a smaller share") from None
    drawn = private_directions(setup.table, mu=mu_for_directions(scenario, setup.delta))
    return build(rest, setup.dataset, query=setup.query, uploaded=drawn)


def _check_made_for(query: Query, design: NoiseDesign) -> None:
    if (design.rows, design.cols) != (query.rows, query.cols):
        raise InputError(f"the design must be {query.rows} × {query.cols} like the answer, "
                         f"got {design.rows} × {design.cols}")
    for what in ("name", "neighbour_rule", "n_records"):
        here, there = getattr(query, what), getattr(design, "query_name" if what == "name" else what)
        if here != there:
            raise InputError(f"the design was made for another query: its {what.replace('_', ' ')} is {there}, "
                             f"this one's is {here}")


def _check_symmetrise(query: Query, symmetrise: bool) -> None:
    if symmetrise and not query.symmetric:
        raise InputError(f"symmetrise is for symmetric queries, got {query.name}")


def _spent(design: NoiseDesign) -> float:
    """``mu`` of noise and private directions; of the noise alone where the directions are not private."""
    return design.total_mu if math.isfinite(design.total_mu) else design.mu


def _caveats(origins: Mapping[str, Origin]) -> tuple[str, ...]:
    """What was read from the data, in the order of the ledger's list."""
    return tuple(caveat for caveat in CAVEATS if caveat in origins and not origins[caveat].is_covered)


def _accepted(caveats: tuple[str, ...], accept: Iterable[str]) -> tuple[str, ...]:
    accept = (accept,) if isinstance(accept, str) else tuple(accept)
    for name in accept:
        one_of("accept", name, CAVEATS)
    missing = [caveat for caveat in caveats if caveat not in accept]
    if missing:
        raise InputError(f"the guarantee would not cover {' and '.join(CAVEATS[caveat] for caveat in missing)}; "
                         f"to release all the same, accept: {', '.join(missing)}")
    return caveats


def _largest_values(query: Query, ranges: Mapping[str, Range] | None) -> FloatArray | None:
    """``max(|low|, |high|)`` of each feature; refuses ranges that are not the query's."""
    if ranges is None:
        return None
    lower, upper = np.array([ends[:2] for ends in ranges.values()], dtype=np.float64).reshape(-1, 2).T
    asked = query.neighbours
    same = query.row_names in (None, tuple(ranges))
    if isinstance(asked, BoundedColumn | ReplacedOuterProduct):
        ends = asked.declared if isinstance(asked, BoundedColumn | BoundedOuterProduct) else (asked.lower, asked.upper)
        own = slice(-1) if query.name == "moments" else slice(None)  # the constant is 1, and less in a scaled record
        same = same and np.array_equal(ends[0][own], lower[own]) and np.array_equal(ends[1][own], upper[own])
    elif isinstance(asked, ReplacedColumn):
        widths = move_widths(upper - lower, asked.levels, added=asked.added)
        same = same and np.array_equal(asked.widths, widths)
    if not same:
        raise InputError("ranges must be those of the query's features, in their order")
    return np.maximum(np.abs(lower), np.abs(upper))


def _kept(side: NoiseSide) -> NoiseSide | None:
    numbers = side.size if side.is_diagonal else side.size**2
    return None if side.is_identity or numbers > _MOST_NUMBERS else side
