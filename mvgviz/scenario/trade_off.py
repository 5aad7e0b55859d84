"""Noise on priority columns against noise on other columns, for a scenario and all it is compared with."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from mvgviz.design.least_possible import LeastPossible, least_possible
from mvgviz.design.needs import NoiseOn, needs_of, noise_on
from mvgviz.design.noise_design import mode_of
from mvgviz.design.trade_off import TradeOff, usual_shares
from mvgviz.errors import InputError, refuse
from mvgviz.noise.accounting import gaussian_mu
from mvgviz.scenario.resolve import Setup, build
from mvgviz.validation import FloatArray

_PARTS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Curves:
    """What every share would give: for records as they are, ``box``, and clipped by a bound that follows the share."""

    box: TradeOff
    bounded: TradeOff | None

    @property
    def own(self) -> TradeOff:
        """The curve that the scenario's own designs lie on."""
        return self.bounded or self.box


@dataclass(frozen=True, kw_only=True)
class AgainstLeast:
    """A design's noise on priority columns (all, if not ``named``), and the lowest possible for query and budget."""

    noise: float
    least: LeastPossible
    named: bool

    @property
    def ratio(self) -> float:
        return self.noise / self.least.noise


@dataclass(frozen=True, kw_only=True)
class NeedsTradeOff:
    """The curves, this design on or off them, what the theorems ask for, and the lowest possible noise if known."""

    priority: tuple[int, ...]
    curves: Curves
    design: NoiseOn
    theorems: dict[str, NoiseOn]
    least: AgainstLeast | None


def trade_off_refusal(setup: Setup) -> str | None:
    """Return why there is no trade-off to show, in one sentence; None where there is one."""
    if not _between_features(setup):
        return ("The trade-off is between columns of the data. Ask for the table, the mean or second moments, with "
                "noise over rows (both sides for second moments).")
    scenario = setup.scenario
    between = (scenario.needs_along == "directions" and scenario.directions != "private" and scenario.bound == "none"
               and not setup.query.has_constant)
    if not (between or setup.design.directional_side.directions.is_standard):
        return ("Along turned directions the trade-off supports the table, the mean and the covariance. It needs some "
                "priority directions and no priority columns, no private directions and no clipping. Change that, or "
                "choose the columns themselves as directions.")
    if not 0 < len(_priority(setup)) < setup.query.features:
        return ("Choose priority columns (or directions) in the sidebar, some but not all. The picture then shows what "
                "they gain and what the others pay.")
    return None


def trade_off_of(setup: Setup, curves: Curves | None = None) -> NeedsTradeOff:
    """Return all that the picture shows; ``curves`` where they are known already."""
    refuse(trade_off_refusal(setup), str(trade_off_refusal(setup)))
    measure = _measure(setup)
    theorems = {name: measure(_changed(setup, guarantee=name)) for name in ("theorem1", "theorem2")
                if (name != "theorem2" or setup.query.psd) and setup.scenario.bound != "private"}
    return NeedsTradeOff(priority=_priority(setup), curves=curves_of(setup) if curves is None else curves,
                         design=measure(setup), theorems=theorems, least=against_least(setup))


def curves_of(setup: Setup) -> Curves:
    """Return the exactly calibrated curves, which do not depend on the scenario's own split."""
    priority, measure = _priority(setup), _measure(setup)
    plain = _changed(setup, guarantee="exact", bound="none", allocation="uniform")
    equal = measure(replace(plain, design=plain.iid))
    shares = usual_shares(len(priority), setup.query.features)

    def traced(bound: str) -> TradeOff:
        curve = tuple(measure(_changed(setup, guarantee="exact", allocation="binary", priority_directions=priority,
                                       share=share, bound=bound)) for share in shares)
        return TradeOff(shares=shares, curve=curve, equal=equal, equal_mu=plain.iid.mu, delta=setup.delta,
                        only=_only(setup, bound, curve))

    bound = setup.scenario.bound
    return Curves(box=traced("none"), bounded=None if setup.query.bound is None else traced(bound))


def _only(setup: Setup, bound: str, curve: Iterable[NoiseOn]) -> float:
    """Return the noise on priority columns released alone; on directions when others have next to no budget."""
    scenario, positions = setup.scenario, _priority(setup)
    parts = {k: round(_PARTS * math.sqrt(part)) for k, part in scenario.need_weights.items()}
    if scenario.needs_along == "directions":
        weights = tuple(parts.get(k, 1) for k in range(setup.design.theta.size))
        nearly = _measure(setup)(_changed(setup, guarantee="exact", allocation="manual", weights=weights))
        return min(on.priority for on in (nearly, *curve))
    only = build(scenario.changed(
        guarantee="exact", allocation="manual", weights=tuple(parts[k] for k in positions), priority_directions=(),
        priority=(), bound=bound, delta=setup.delta), setup.dataset.only(positions))
    matters = {new: scenario.need_weights[k] for new, k in enumerate(positions)}
    return noise_on(only.design, needs_of(matters, only.query.rows)).priority


def against_least(setup: Setup) -> AgainstLeast | None:
    """Return this design against the lowest possible noise; None where that is not known."""
    if not _between_features(setup):
        return None
    weights, named = _weights(setup)
    try:
        least = least_possible(setup.query, weights, float(gaussian_mu(setup.scenario.epsilon, setup.delta)),
                               directions=setup.need_directions)
    except InputError:
        return None
    noise = noise_on(setup.design, weights, directions=setup.need_directions)
    return AgainstLeast(noise=noise.priority, least=least, named=named)


def against_equal(setup: Setup) -> tuple[float, float] | None:
    """Return the noise on priority and on other columns over equal noise at the same guarantee, if any has it."""
    if trade_off_refusal(setup) is not None:
        return None
    measure = _measure(setup)
    ours, equal = measure(setup), measure(replace(setup, design=setup.iid))
    return ours.priority / equal.priority, ours.other / equal.other


def _between_features(setup: Setup) -> bool:
    return setup.query.degree > 0 and setup.design.mode == mode_of(setup.query)


def _priority(setup: Setup) -> tuple[int, ...]:
    return tuple(k for k in setup.scenario.needs if k < setup.query.features)


def _weights(setup: Setup) -> tuple[FloatArray, bool]:
    """The weight of each feature, all alike where nobody chose; and whether anybody did."""
    features = setup.query.features
    priority = {k: weight for k, weight in setup.scenario.need_weights.items() if k < features}
    return needs_of(priority or range(features), setup.query.rows), bool(priority)


def _measure(setup: Setup) -> Callable[[Setup], NoiseOn]:
    weights, features, directions = _weights(setup)[0], setup.query.features, setup.need_directions
    return lambda other: noise_on(other.design, weights, features=features, directions=directions)


def _changed(setup: Setup, **changes: object) -> Setup:
    uploaded = setup.design.directional_side.directions if setup.scenario.directions == "upload" else None
    return build(setup.scenario.changed(**changes), setup.dataset, query=setup.box, uploaded=uploaded)

