"""What has to be right before a release: everything is checked here, and nothing is drawn."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.errors import InputError
from mvgviz.labels import MODES
from mvgviz.noise.accounting import compose_mu
from mvgviz.provenance import Origin, Range, Receipt, receipts_of, weakest
from mvgviz.query.bounded_neighbours import BoundedColumn, BoundedOuterProduct
from mvgviz.query.neighbours import ReplacedColumn, ReplacedOuterProduct, move_widths
from mvgviz.query.queries import AS_DECLARED, Query
from mvgviz.release.entries import CAVEATS, Spend
from mvgviz.release.secure_noise import FRESH_DIRECTIONS, Hardening, hardening_for
from mvgviz.scenario.resolve import Setup, origins_of
from mvgviz.scenario.scenario import Scenario
from mvgviz.validation import FloatArray, one_of


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
