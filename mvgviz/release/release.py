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

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Any

import numpy as np

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.errors import InputError
from mvgviz.labels import MODES
from mvgviz.noise.accounting import compose_mu, gaussian_epsilon
from mvgviz.noise.sides import NoiseSide
from mvgviz.provenance import Origin, Range, Ranges, Receipt, receipts_of, weakest
from mvgviz.query.bounded_neighbours import BoundedColumn, BoundedOuterProduct
from mvgviz.query.neighbours import ReplacedColumn, ReplacedOuterProduct, move_widths
from mvgviz.query.queries import AS_DECLARED, Query, kind_of
from mvgviz.query.ranges import checked_range
from mvgviz.query.record_bound import RecordBound
from mvgviz.release.entries import CAVEATS, Spend
from mvgviz.release.intervals import LEVEL, DataUnits, EntryNoise, data_units
from mvgviz.release.ledger import Ledger, Reservation
from mvgviz.release.secure_noise import (
    FRESH_DIRECTIONS,
    Hardening,
    hardening_for,
    noisy_answer,
    noisy_count,
    private_directions,
)
from mvgviz.scenario.clipping import most_clipped
from mvgviz.scenario.resolve import Setup, build, left_for_noise, mu_for_directions, origins_of
from mvgviz.scenario.scenario import Scenario
from mvgviz.validation import FloatArray, fraction, frozen, instance, one_of
from mvgviz.version import VERSION


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A release that nothing speaks against; ``hardening``: how its noise will be drawn."""

    query: Query
    design: NoiseDesign
    mu: float
    mu_is: str
    delta: float
    ranges: Mapping[str, Range] | None
    declared_ranges: Mapping[str, Range] | None
    data: str | None
    scenario: Scenario | None
    origins: Mapping[str, Origin]
    caveats: tuple[str, ...]
    symmetrise: bool
    hardening: Hardening

    @property
    def spend(self) -> Spend:
        """What the ledger is told."""
        return Spend(data=self.data or "data without a name", query=self.query.name, mu=self.mu, delta=self.delta,
                     neighbour_rule=self.query.neighbour_rule, design=design_words(self.design), caveats=self.caveats)


def get_ready_setup(setup: Setup, *, mu: float, mu_is: str, accept: Iterable[str], symmetrise: bool) -> Ready:
    """The release of a setup, checked; ``mu`` is what it will be said to spend."""
    scenario, graph = setup.scenario, setup.query.is_graph
    same_units = graph or scenario.scale == "declared"
    return get_ready(setup.query, setup.design, mu=mu, mu_is=mu_is, delta=setup.delta,
                     ranges=None if graph else setup.table.ranges,
                     declared_ranges=None if same_units else setup.dataset.ranges, data=scenario.data,
                     scenario=scenario, accept=accept, symmetrise=symmetrise)


def get_ready(query: Query, design: NoiseDesign, *, mu: float, mu_is: str, delta: float,
              ranges: Mapping[str, Range] | None, data: str | None, scenario: Scenario | None, accept: Iterable[str],
              symmetrise: bool, declared_ranges: Mapping[str, Range] | None = None) -> Ready:
    """Checks everything; draws nothing."""
    _check_made_for(query, design)
    if ranges is not None and weakest(known.origin for known in ranges.values()) is not query.ranges_origin:
        raise InputError("the ranges and the query come from different data; ask the query of the data itself")
    origins = origins_of(query, design, scenario)
    caveats = _accepted(caveats_of(origins), accept)
    if symmetrise and not query.symmetric:
        raise InputError(f"symmetrise is for symmetric queries, got {query.name}")
    hardening = hardening_for(query, design.row_side, design.col_side, design.mu, _largest_values(query, ranges))
    return Ready(query=query, design=design, mu=mu, mu_is=mu_is, delta=delta, ranges=ranges,
                 declared_ranges=declared_ranges, data=data, scenario=scenario, origins=origins, caveats=caveats,
                 symmetrise=symmetrise, hardening=hardening)


def check_receipts(ready: Ready, *, redrawn: Collection[str] = ()) -> None:
    """Refuse what was learned with noise from a seed, or from other data; what will be ``redrawn`` may be anything."""
    query = ready.query
    for receipt in _receipts(query, ready.design):
        if receipt.what in redrawn:
            continue
        if not receipt.is_fresh:
            raise InputError(f"private {receipt.what}: drawn from a seed, for looking; draw anew for a release (with "
                             "private_directions, or noisy_count as rng), or declare what you know")
        if query.neighbour_rule not in (receipt.neighbour_rule, AS_DECLARED):
            raise InputError(f"private {receipt.what}: learned for other neighbours ({receipt.neighbour_rule}) than "
                             f"the query's ({query.neighbour_rule}); learn from the query's own data")
        if query.n_records not in (receipt.n_records, None):
            raise InputError(f"private {receipt.what}: learned from another number of records than the query's; learn "
                             "from the query's own data")


def design_words(design: NoiseDesign) -> str:
    """The design in a few words, for a ledger: nothing private; private directions are those yet to be drawn."""
    paid = design.directions_origin is Origin.PAID
    along = FRESH_DIRECTIONS if paid else design.directional_side.directions.label
    return f"{design.guarantee}, noise over {MODES[design.mode].sides}, {along}"


def _check_made_for(query: Query, design: NoiseDesign) -> None:
    if (design.rows, design.cols) != (query.rows, query.cols):
        raise InputError(f"the design must be {query.rows} × {query.cols} like the answer, "
                         f"got {design.rows} × {design.cols}")
    for what in ("name", "neighbour_rule", "n_records"):
        here, there = getattr(query, what), getattr(design.kind if what == "name" else design, what)
        if here != there:
            raise InputError(f"the design was made for another query: its {what.replace('_', ' ')} is {there}, "
                             f"this one's is {here}")


def spent(query: Query, design: NoiseDesign) -> float:
    """``mu`` of the noise and of everything learned privately; what was simply read counts nothing and is a caveat."""
    return compose_mu([design.mu, *(receipt.mu for receipt in _receipts(query, design))])


def _receipts(query: Query, design: NoiseDesign) -> tuple[Receipt, ...]:
    return receipts_of(design, design.directional_side.directions, query.bound)


def caveats_of(origins: Mapping[str, Origin]) -> tuple[str, ...]:
    """What was read from the data, in the order of the ledger's list."""
    return tuple(caveat for caveat in CAVEATS if caveat in origins and not origins[caveat].is_covered)


def _accepted(caveats: tuple[str, ...], accept: Iterable[str]) -> tuple[str, ...]:
    if not isinstance(accept, Iterable):
        raise InputError(f"accept must name what to accept, among {', '.join(CAVEATS)}")
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
        own = slice(query.features)  # the constant is 1, and less in a scaled record
        same = same and np.array_equal(ends[0][own], lower[own]) and np.array_equal(ends[1][own], upper[own])
    elif isinstance(asked, ReplacedColumn):
        widths = move_widths(upper - lower, asked.levels, added=asked.added)
        same = same and np.array_equal(asked.widths, widths)
    if not same:
        raise InputError("ranges must be those of the query's features, in their order")
    return np.maximum(np.abs(lower), np.abs(upper))


_MOST_NUMBERS = 40_000  # of a design, beside a release
_ROUNDING = 1e-10  # of two ways to the same mu; the noise has a larger margin


class NoLedgerWarning(UserWarning):
    """A release that nobody counts: several of them add up all the same."""


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
    def kind(self) -> type[Query]:
        """The kind of query that was asked."""
        return kind_of(self.query)

    @property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """What the rows and the columns are called."""
        return self.kind.names_of(self.noisy.shape, self.row_names)

    @property
    def data_units(self) -> DataUnits | None:
        """The way back to the units of the data, where the answer is in others and has one."""
        if self.scenario is None or self.declared_ranges is None:
            return None
        return data_units(self.kind, self.scenario.scale, self.declared_ranges)

    @property
    def most_clipped(self) -> FloatArray | None:
        """How far clipping to the bound can have moved each number: from ranges and bound, which are public.

        None: it moved none, or ranges or bound may not be told.
        """
        if self.bound is None or not self.bound.origin.is_covered or self.ranges is None:
            return None
        lower, upper = np.array([ends[:2] for ends in self.ranges.values()], dtype=np.float64).T
        return most_clipped(self.kind, self.bound, lower, upper)

    def half_widths(self, level: float = LEVEL) -> FloatArray:
        """Half the width of each number's interval: the answer that was asked lies within it, ``level`` of the time.

        With a bound that is the answer of the clipped records, from which that of the records as they are may differ by
        ``most_clipped``.
        """
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
    neighbour_rule: str
    epsilon: float
    delta: float
    caveats: tuple[str, ...]
    entries: int


def release(query: Query, design: NoiseDesign, *, ranges: Ranges | None = None, delta: float | None = None,
            data: str | None = None, scenario: Scenario | None = None, accept: Iterable[str] = (),
            symmetrise: bool = False, ledger: Ledger | None = None, population: str | None = None,
            progress: Callable[[float], object] | None = None) -> Release:
    """One answer of ``query`` with the noise of ``design``; spends its ``mu``.

    ``ranges``: feature → range of the numbers the query was asked of. ``delta``: where epsilon is told, by default the
    design's. ``scenario`` is kept beside the answer. What was read from the data (ranges, number of records,
    directions, split; or any choice of ``scenario``) is refused unless ``accept`` names it (keys of
    ``mvgviz.release.ledger.CAVEATS``). ``symmetrise``: average the answer of a symmetric query with its transpose,
    which is post-processing. ``ledger`` refuses above its cap, and has an entry about ``data`` before any noise is
    drawn; it counts for ``population``, the people the records are about, which a ledger that lasts has to be told.
    Without a ledger there is a warning. ``progress`` is called with the share done; if it raises, nothing was released
    and the entry is withdrawn. An entry whose release fails in any other way counts as spent.
    """
    instance("query", query, Query)
    instance("design", design, NoiseDesign)
    if not (progress is None or callable(progress)):
        raise InputError("progress must be a function of the share done")
    if ledger is not None and not (isinstance(data, str) and data):
        raise InputError("a ledger needs the name of the data, a text")
    ready = get_ready(query, design, mu=spent(query, design), mu_is=design.mu_is,
                      delta=design.delta if delta is None else fraction("delta", delta),
                      ranges=None if ranges is None else _checked_ranges(ranges),
                      data=data, scenario=scenario, accept=accept, symmetrise=symmetrise)
    check_receipts(ready)
    with reserve(ledger, [ready], population=population) as held:
        return _drawn(ready, time=held.entries[0].time, progress=held.watch(progress))


def _checked_ranges(ranges: Ranges) -> dict[str, Range]:
    if not isinstance(ranges, Mapping):
        raise InputError("ranges must map features to pairs (low, high)")
    return {name: checked_range(ends, repr(name)) for name, ends in ranges.items()}


def release_setup(setup: Setup, *, accept: Iterable[str] = (), ledger: Ledger | None = None,
                  population: str | None = None, symmetrise: bool = False,
                  progress: Callable[[float], object] | None = None) -> Release:
    """A release of a scenario worked out by ``build``; the other arguments as for :func:`release`.

    Private directions are drawn anew: those of ``setup`` come from its seed. The answer then
    gets noise along the new ones, and the design is made for them.
    """
    ready = prepare(setup, accept=accept, symmetrise=symmetrise)
    with reserve(ledger, [ready], population=population) as held:
        return draw(setup, ready, time=held.entries[0].time, progress=held.watch(progress))


def plan(setup: Setup) -> Plan:
    """What ``release_setup`` will spend and what has to be accepted; draws nothing."""
    design, scenario = setup.design, setup.scenario
    mu = spent(setup.query, design)
    if scenario.directions == "private" and design.guarantee != "exact":
        # What the noise spends depends on directions yet to be drawn: 1/v is at most the root of the budget. This
        # bound, known beforehand, is what is claimed and entered, not what the drawn directions come to.
        power = 0.5 if design.mode == "both" else 0.25
        most = setup.query.printed_sensitivity * design.precision_budget**power
        mu = compose_mu([most, *(receipt.mu for receipt in design.receipts)])
    return Plan(mu=mu, neighbour_rule=setup.query.neighbour_rule, epsilon=float(gaussian_epsilon(setup.delta, mu)),
                delta=setup.delta, caveats=caveats_of(setup.origins), entries=design.rows * design.cols)


def prepare(setup: Setup, *, accept: Iterable[str] = (), symmetrise: bool = False) -> Ready:
    """Everything that can be refused before any noise is; draws nothing."""
    if setup.scenario.directions == "private":
        _beside_directions(setup)
    ready = get_ready_setup(setup, mu=plan(setup).mu, mu_is=setup.design.mu_is, accept=accept, symmetrise=symmetrise)
    check_receipts(ready, redrawn=[what for what, chosen in (("directions", setup.scenario.directions),
                                                             ("radius", setup.scenario.bound)) if chosen == "private"])
    return ready


@contextmanager
def reserve(ledger: Ledger | None, releases: Sequence[Ready], *, population: str | None) -> Iterator[Reservation]:
    """Have the ledger write what all of them spend, and call them released at the end; warns without one."""
    if ledger is None:
        warnings.warn("no ledger counts what this release spends; give one with ledger=", NoLedgerWarning, stacklevel=4)
        ledger, population = Ledger(), "not counted"
    with ledger.reserved(*(ready.spend for ready in releases), population=population) as held:
        yield held


def draw(setup: Setup, ready: Ready, *, time: str, progress: Callable[[float], object]) -> Release:
    """The noisy answer of a setup that was prepared and is paid for; what is learned privately is learned first."""
    scenario = setup.scenario
    if scenario.directions == "private":
        fresh = _with_fresh_directions(setup)
    elif scenario.bound == "private" and setup.query.bound is not None:
        fresh = _with_fresh_bound(setup)
    else:
        return _drawn(ready, time=time, progress=progress)
    mu, design = spent(fresh.query, fresh.design), fresh.design
    if not mu <= ready.mu * (1 + _ROUNDING):
        raise InputError("what was learned privately asks for more than was announced; nothing is released")
    # What was announced is claimed: it is as much, to a rounding that the noise's margin pays for, or more.
    learned = replace(setup, query=fresh.query, design=design)
    mu_is = "upper bound" if ready.mu > mu * (1 + _ROUNDING) else design.mu_is
    fresh_ready = get_ready_setup(learned, mu=ready.mu, mu_is=mu_is, accept=ready.caveats, symmetrise=ready.symmetrise)
    check_receipts(fresh_ready)
    return _drawn(fresh_ready, time=time, progress=progress)


def _drawn(ready: Ready, *, time: str, progress: Callable[[float], object]) -> Release:
    """The noise, drawn once, and everything public about it."""
    query, design, scenario, symmetrise = ready.query, ready.design, ready.scenario, ready.symmetrise
    noisy, hardening = noisy_answer(query, design.row_side, design.col_side, design.mu, plan=ready.hardening,
                                    progress=progress)
    if symmetrise:
        noisy = (noisy + noisy.T) / 2
    noise = EntryNoise.of(design.row_side, design.col_side, symmetrised=symmetrise, hardening=hardening)
    told = design.directions_origin.is_covered and design.theta_origin.is_covered
    return Release(
        noisy=frozen(np.ascontiguousarray(noisy)), query=query.name, row_names=query.row_names,
        neighbour_rule=query.neighbour_rule, sensitivity=query.sensitivity, n_records=query.n_records,
        mode=design.mode, calibrated_by=design.guarantee, design=design_words(design), origins=ready.origins,
        mu=ready.mu, mu_is=ready.mu_is, epsilon=float(gaussian_epsilon(ready.delta, ready.mu)), delta=ready.delta,
        ranges=ready.ranges, declared_ranges=ready.declared_ranges,
        epsilon_asked=design.epsilon if scenario is None else scenario.epsilon, bound=query.bound,
        caveats=ready.caveats, symmetrised=symmetrise,
        row_noise=_kept(design.row_side) if told else None, col_noise=_kept(design.col_side) if told else None,
        entry_noise=noise if told else None, hardening=hardening, time=time, version=VERSION,
        opendp_version=version("opendp"), data=ready.data, scenario=scenario)


def _with_fresh_bound(setup: Setup) -> Setup:
    """The same scenario with the length of its bound found now, by counts with hardened noise."""
    uploaded = setup.design.directional_side.directions if setup.scenario.directions == "upload" else None
    return build(setup.scenario, setup.dataset, query=setup.box, uploaded=uploaded, noisy_count=noisy_count)


def _with_fresh_directions(setup: Setup) -> Setup:
    """The same scenario along directions drawn now; the parts of the budget as ``build`` divides it."""
    rest = _beside_directions(setup)
    drawn = private_directions(setup.table, mu=mu_for_directions(setup.scenario, setup.delta))
    return build(rest, setup.dataset, query=setup.query, uploaded=drawn)


def _beside_directions(setup: Setup) -> Scenario:
    """The scenario with what private directions leave for the noise."""
    scenario = setup.scenario
    epsilon, delta = left_for_noise(scenario, setup.delta)
    try:
        return scenario.changed(directions="upload", epsilon=epsilon, delta=delta, from_data=scenario.from_data)
    except InputError:
        raise InputError("too little of the budget is left for the noise beside private directions; ask for a "
                         "larger epsilon or give the directions a smaller share") from None


def _kept(side: NoiseSide) -> NoiseSide | None:
    numbers = side.size if side.is_diagonal else side.size**2
    return None if side.is_identity or numbers > _MOST_NUMBERS else side


def plan_together(setups: Sequence[Setup]) -> Plan:
    """What all of them will spend together and what has to be accepted; draws nothing."""
    if not setups:
        raise InputError("a release needs at least one question")
    for name, values in (("data", {setup.scenario.data for setup in setups}),
                         ("delta", {setup.delta for setup in setups}),
                         ("kind of neighbours", {setup.query.neighbour_rule for setup in setups})):
        if len(values) > 1:
            raise InputError(f"questions that are released together must have one {name}, got several")
    plans, delta = [plan(setup) for setup in setups], setups[0].delta
    mu = compose_mu([planned.mu for planned in plans])
    caveats = {caveat for planned in plans for caveat in planned.caveats}
    return Plan(mu=mu, neighbour_rule=plans[0].neighbour_rule, epsilon=float(gaussian_epsilon(delta, mu)), delta=delta,
                caveats=tuple(caveat for caveat in CAVEATS if caveat in caveats),
                entries=sum(planned.entries for planned in plans))


def release_together(setups: Sequence[Setup], *, accept: Iterable[str] = (), ledger: Ledger | None = None,
                     population: str | None = None, progress: Callable[[float], object] | None = None
                     ) -> tuple[Release, ...]:
    """A release of every setup, or of none; the other arguments as for ``release_setup``.

    Symmetric answers are made symmetric where their scenario's ``post`` says so.
    """
    planned, accept = plan_together(setups), tuple(accept)
    releases = [prepare(setup, accept=accept, symmetrise=setup.query.symmetric and "symmetrise" in setup.scenario.post)
                for setup in setups]
    done = 0

    def show(share: float) -> None:
        if progress is not None:
            progress((done + share * ready.hardening.entries) / planned.entries)

    made = []
    with reserve(ledger, releases, population=population) as held:
        for setup, ready, entry in zip(setups, releases, held.entries, strict=True):
            made.append(draw(setup, ready, time=entry.time, progress=held.watch(show)))
            done += ready.hardening.entries
    return tuple(made)
