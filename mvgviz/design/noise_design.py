"""A noise design: directions and variances, calibrated by a theorem or exactly.

>>> import numpy as np
>>> from mvgviz import Dataset, binary, design_noise, identity
>>> data = Dataset(matrix=np.zeros((2, 100)), features=("a", "b"), lower=-1, upper=1)
>>> design = design_noise(identity(data), epsilon=1, delta=1e-5, theta=binary(2, priority=[0], share=0.8))
>>> f"{design.epsilon_spent(1e-5):.6f}", design.mu_is
('1.000000', 'exact')

The inverse question: how small can epsilon be for noise this small?
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mvgviz.design.allocation import FLOOR, uniform
from mvgviz.design.families import with_family
from mvgviz.errors import InputError, refuse
from mvgviz.noise.accounting import compose_mu, gaussian_delta, gaussian_epsilon, gaussian_mu, zcdp_rho
from mvgviz.noise.bounds import TAILS, Bound, theorem_bound
from mvgviz.noise.directions import Directions, checked_directions
from mvgviz.noise.families import Block, Family, blocks_delta, blocks_epsilon, family_of
from mvgviz.noise.sides import NoiseSide
from mvgviz.optional import plots
from mvgviz.provenance import Origin, Receipt, checked_origin, counted, receipts_of
from mvgviz.query.bounded_neighbours import BoundedColumn, BoundedOuterProduct
from mvgviz.query.neighbours import Neighbours
from mvgviz.query.queries import Query
from mvgviz.validation import FloatArray, count, fraction, instance, one_of, positive, shares

GUARANTEES = ("theorem1", "theorem2", "theorem2-any", "exact")
MODES = ("rows", "columns", "both")


@dataclass(frozen=True, kw_only=True, eq=False)
class NoiseDesign:
    """Noise ``MVG(0, Sigma, Psi)`` for one query, and the privacy it gives.

    ``Sigma = W diag(row_variances) Wᵀ`` over rows, ``Psi`` likewise over columns. ``mu``: of the noise alone, the worst
    case over neighbours ("exact") or at most too large ("upper bound"). ``precision_budget``: ``sum 1/v²`` under a
    theorem, ``mu²`` under the exact guarantee. ``blocks``: of noise that is not Gaussian, with unit variance before the
    sides colour it, ``drawn`` for each of the "columns" alone, for the "whole" answer or as a "symmetric" matrix.
    ``receipts``: of everything learned from the data. Directions and theta alone may be private, which their origins
    say.
    """

    kind: type[Query]
    n_records: int | None
    neighbour_rule: str
    neighbours: Neighbours = field(repr=False)
    epsilon: float
    delta: float
    guarantee: str
    mode: str
    bound: Bound | None
    row_side: NoiseSide = field(repr=False)
    col_side: NoiseSide = field(repr=False)
    theta: FloatArray
    precision_budget: float
    mu: float
    mu_is: str
    theta_origin: Origin = Origin.DECLARED
    receipts: tuple[Receipt, ...] = field(default=(), repr=False)
    blocks: tuple[Block, ...] = field(default=(), repr=False)
    drawn: str = "columns"

    @property
    def family(self) -> Family:
        return family_of(self.blocks)

    @property
    def pure_epsilon(self) -> float:
        """The epsilon that holds with delta = 0; infinite for Gaussian noise."""
        return math.fsum(block.pure_epsilon for block in self.blocks) if self.blocks else math.inf

    @property
    def is_pure(self) -> bool:
        return bool(self.blocks) and all(block.family.is_pure for block in self.blocks)

    @property
    def rows(self) -> int:
        return self.row_side.size

    @property
    def cols(self) -> int:
        return self.col_side.size

    @property
    def row_variances(self) -> FloatArray:
        return self.row_side.variances

    @property
    def col_variances(self) -> FloatArray:
        return self.col_side.variances

    @property
    def row_directions(self) -> Directions:
        return self.row_side.directions

    @property
    def directional_side(self) -> NoiseSide:
        """Return the side whose directions theta divides."""
        return self.col_side if self.mode == "columns" else self.row_side

    @property
    def directions_origin(self) -> Origin:
        return self.directional_side.directions.origin

    @property
    def reach(self) -> FloatArray:
        """Return how far one record can move each direction; ones where no single direction has a bound."""
        if self.mode == "columns":
            return np.ones(self.cols)
        return self.neighbours.reach(self.row_side.directions)

    @property
    def bound_mu(self) -> float:
        """What learning the clipping bound and the shares has spent."""
        along = self.directional_side.directions.receipts
        return math.hypot(*(receipt.mu for receipt in self.receipts if receipt not in along))

    @property
    def total_mu(self) -> float:
        """``mu`` of noise and all that was learned; infinite if the directions are not private."""
        if not self.directions_origin.is_covered:
            return math.inf
        return compose_mu([self.mu, *(receipt.mu for receipt in self.receipts)])

    @property
    def rho(self) -> float:
        """``total_mu²/2``, the ρ of zero-concentrated privacy (zCDP)."""
        return zcdp_rho(self.total_mu)

    def row_covariance(self) -> FloatArray:
        return self.row_side.covariance()

    def col_covariance(self) -> FloatArray:
        return self.col_side.covariance()

    def noise_std(self) -> FloatArray:
        if self.drawn == "symmetric":
            sigma = self.row_covariance()
            return np.sqrt((np.outer(np.diag(sigma), np.diag(sigma)) + sigma**2) / 2)
        return np.outer(*(np.sqrt(side.covariance_diagonal()) for side in (self.row_side, self.col_side)))

    def direction_std(self) -> FloatArray:
        """Return the noise along each direction: for "both", of its entry (k, k)."""
        v = self.directional_side.variances
        return v if self.mode == "both" else np.sqrt(v)

    def plot(self) -> Any:
        """Return the noise in a plane against equal noise: ``mvgviz.plot.ellipse``."""
        return plots().ellipse(self)

    def epsilon_spent(self, delta: float) -> float:
        fraction("delta", delta)
        return blocks_epsilon(self.blocks, delta) if self.blocks else float(gaussian_epsilon(delta, self.mu))

    def delta_spent(self, epsilon: float) -> float:
        positive("epsilon", epsilon)
        return blocks_delta(self.blocks, epsilon) if self.blocks else float(gaussian_delta(epsilon, self.mu))

    def fill_standard(self, rng: np.random.Generator, out: FloatArray) -> None:
        """Draw noise of unit variance (off the diagonal of a symmetric answer 1/2), before the sides colour it."""
        if not self.blocks:
            rng.standard_normal(out=out)
        elif self.drawn == "whole":
            self.blocks[0].family.fill(rng, out.reshape(-1, 1))
        elif self.drawn == "symmetric":
            upper = np.triu_indices(self.rows)
            part = np.empty((upper[0].size, 1))
            self.blocks[0].family.fill(rng, part)
            out[upper] = out.T[upper] = np.where(upper[0] == upper[1], 1.0, math.sqrt(0.5)) * part[:, 0]
        else:
            for block in self.blocks:
                part = np.empty((len(block.rows), self.cols))
                block.family.fill(rng, part)
                out[list(block.rows)] = part


def design_noise(query: Query, *, epsilon: float, delta: float, guarantee: str = "exact",
                 mode: str | None = None, directions: Directions | None = None, theta: Any = None,
                 theta_origin: Origin = Origin.DECLARED, tail: str = "printed", cover_directions: bool = False,
                 cover_bound: bool = False, family: str = "gaussian") -> NoiseDesign:
    """Noise for ``query`` that is (epsilon, delta)-private under the chosen guarantee.

    ``guarantee``: "theorem1", "theorem2" (PSD queries, both sides), "theorem2-any" (its constant, any query: beyond the
    paper) use the printed sensitivity and ``tail``; "exact" uses the tight set of differences and spends what was
    asked. ``mode``: directional noise over "rows" or "columns" (Algorithm 1) or "both" (Algorithm 2), by default "both"
    for symmetric queries, else "rows". ``directions`` default to the standard basis, ``theta``, from ``theta_origin``,
    to equal shares; with neither given, noise on bounded records has the shape of their bound. ``cover_directions``,
    ``cover_bound`` (exact guarantee): epsilon and delta cover what learning these spent too. ``family``: "gaussian",
    "ellipse" (l2), "box", "laplace" or "box-ellipse" (priority rows in a box, the others in whichever needs less).
    """
    instance("query", query, Query)
    epsilon, delta = positive("epsilon", epsilon), fraction("delta", delta)
    guarantee, tail = one_of("guarantee", guarantee, GUARANTEES), one_of("tail", tail, TAILS)
    mode = mode_of(query) if mode is None else one_of("mode", mode, MODES)
    refuse(guarantee == "theorem2" and not query.psd, "guarantee theorem2 needs a positive semi-definite query, got "
           f"{query.name}; theorem2-any uses its constant for any query")
    if guarantee == "theorem2" and mode != "both":
        raise InputError(f"guarantee theorem2 needs mode both (Psi = Sigma), got mode {mode}")
    if mode == "both" and query.rows != query.cols:
        raise InputError(f"mode both needs a square answer, got {query.rows} × {query.cols}")
    size = query.cols if mode == "columns" else query.rows
    body = query.neighbours
    if isinstance(body, BoundedColumn | BoundedOuterProduct) and mode != "columns" and directions is theta is None:
        directions, exact = body.ellipse.directions, guarantee == "exact"
        # What is divided is h²/v by the exact guarantee and 1/v² by a theorem, where v is to be as 1/b².
        theta = body.ellipse.shape_shares(body.reach(directions) if exact else body.ellipse.weights)
    directions = checked_directions(directions, size)
    receipts, learned = receipts_of(directions, theta, query.bound), receipts_of(query.bound)
    paid = receipts_of(directions, theta) if theta_origin is Origin.PAID else receipts_of(theta)
    theta_origin = checked_origin("the split", theta_origin, paid)
    theta = uniform(size) if theta is None else shares("theta", counted(theta), size=size)

    refuse(receipts and getattr(query.neighbours, "added", False), "private directions and bounds support only "
           "replaced records: choose these, or declare directions and bound")
    refuse((cover_directions or cover_bound) and guarantee != "exact", "cover_directions and cover_bound need "
           f"guarantee exact, got {guarantee}; divide epsilon and delta instead")
    if guarantee == "exact":
        bound = None
        covered = receipts_of(directions if cover_directions else None, query.bound if cover_bound else None)
        spent = math.hypot(directions.mu if cover_directions and not directions.origin.is_covered else 0.0,
                           *(receipt.mu for receipt in covered))
        mu = float(gaussian_mu(epsilon, delta))
        refuse(not spent < mu, f"directions and bound must spend less than the whole budget, mu {mu:g}, got {spent:g}")
        mu = math.sqrt((mu - spent) * (mu + spent))  # what composition leaves
        side, exact = _calibrate(query, mu, mode, directions, theta)
        budget = mu * mu
    else:
        bound = theorem_bound(guarantee, query.rows, query.cols, epsilon=epsilon, delta=delta, gamma=query.gamma,
                              sensitivity=query.printed_sensitivity, tail=tail)
        side, budget = _spend(bound, query, mode, directions, theta)
        mu, exact, _ = query.neighbours.worst(*both_sides(query, mode, side))
    row_side, col_side = both_sides(query, mode, side)
    return with_family(NoiseDesign(
        kind=type(query), n_records=query.n_records, neighbour_rule=query.neighbour_rule, neighbours=query.neighbours,
        epsilon=epsilon, delta=delta, guarantee=guarantee, mode=mode, bound=bound, row_side=row_side,
        col_side=col_side, theta=theta, precision_budget=budget, mu=mu, theta_origin=theta_origin, receipts=receipts,
        mu_is="exact" if exact and not learned else "upper bound"), family)


def mode_of(query: Query, chosen: str = "auto") -> str:
    """Return the mode that was chosen; "auto" is both sides for a symmetric answer, else rows."""
    return chosen if chosen != "auto" else "both" if query.symmetric else "rows"


def _spend(bound: Bound, query: Query, mode: str, directions: Directions, theta: FloatArray) -> tuple[NoiseSide, float]:
    """Algorithms 1 and 2: ``p_k = theta_k P`` and ``v_k = 1/sqrt(p_k)``; the side and P."""
    other = query.cols if mode == "rows" else query.rows
    root_budget = bound.phi if mode == "both" else bound.limit / math.sqrt(other)
    return NoiseSide.of(directions, 1 / (np.sqrt(theta) * root_budget)), root_budget * root_budget


def _calibrate(query: Query, mu: float, mode: str, directions: Directions, theta: FloatArray) -> tuple[NoiseSide, bool]:
    """The shape ``1/v ∝ theta/h²``, scaled so that its worst case is ``mu``."""
    h = np.ones(directions.size) if mode == "columns" else query.neighbours.reach(directions)
    shape = (h / h.max()) ** 2 / theta
    return calibrated(query, mode, NoiseSide.of(directions, shape / shape.min()), mu)


def calibrated(query: Query | NoiseDesign, mode: str, side: NoiseSide, mu: float) -> tuple[NoiseSide, bool]:
    """Return a side of the same shape whose worst case is ``mu``, and whether that is exact."""
    worst = query.neighbours.worst(*both_sides(query, mode, side))
    ratio = worst.mu / mu
    return NoiseSide.of(side.directions, side.variances * (ratio if mode == "both" else ratio * ratio)), worst.exact


def both_sides(query: Query | NoiseDesign, mode: str, side: NoiseSide) -> tuple[NoiseSide, NoiseSide]:
    """Return (Sigma, Psi); the very same object twice when ``Psi = Sigma``."""
    if mode == "columns":
        return NoiseSide.identity(query.rows), side
    return side, side if mode == "both" else NoiseSide.identity(query.cols)


def smallest_epsilon(query: Query, *, delta: float, target_std: Any, directions: Directions | None = None) -> float:
    """Return the least epsilon at ``delta`` with noise of at most ``target_std`` along each direction.

    ``target_std``: one number for each direction, None where there is no target (it gets the floor share), or a mapping
    from direction to number. Symmetric queries have noise on both sides and the target of entry (k, k), so ``v_k =
    t_k``; others ``v_k = t_k²``. The answer is 0 when delta alone covers the noise.
    """
    instance("query", query, Query)
    delta = fraction("delta", delta)
    directions = checked_directions(directions, query.rows)
    targets = _targets(target_std, query.rows)
    variances = targets if query.symmetric else targets**2
    side = NoiseSide.of(directions, _with_floor(variances, query.neighbours.reach(directions)))
    return float(gaussian_epsilon(delta, query.neighbours.worst(*both_sides(query, mode_of(query), side)).mu))


def _targets(target_std: Any, size: int) -> FloatArray:
    try:
        wanted = target_std if isinstance(target_std, Mapping) else dict(enumerate(target_std))
    except TypeError:
        raise InputError("target_std must be a sequence or a mapping from direction to number") from None
    refuse(wanted is not target_std and len(wanted) != size, f"target_std must have one entry for each of the {size} "
           f"directions, got {len(wanted)}")
    targets = np.full(size, np.inf)
    for k, target in wanted.items():
        refuse(not count("target_std", k, at_least=0) < size, f"target_std must name directions below {size}")
        if target is not None:
            targets[k] = positive("target_std", target, least=1e-60, most=1e60)
    refuse(not np.isfinite(targets).any(), "target_std must hold at least one target")
    return targets


def _with_floor(variances: FloatArray, h: FloatArray) -> FloatArray:
    """Finite variances where there is no target: the floor share of ``sum h²/v``."""
    wanted = np.isfinite(variances)
    budget = float(np.sum(h[wanted] ** 2 / variances[wanted]))
    open_share = FLOOR / variances.size
    total = budget / (1 - open_share * np.count_nonzero(~wanted))
    return np.where(wanted, variances, h**2 / (open_share * total))
