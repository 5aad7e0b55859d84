"""What Gaussian noise and pure noise (box, Laplace: delta = 0) cost together.

A *plan* fixes every ``mu`` and every pure epsilon in advance; outputs may steer the questions, not the noise. Its cost
is exact for one pure release beside Gaussian ones, and an upper bound for more. Log-concave noise that is pure epsilon
is dominated, at every epsilon at once, by Laplace noise on one number; box noise attains this.

A *running budget* is weaker: its owner may choose the next family of noise after seeing outputs. There only two pots
hold, each with an end that is fixed in advance: with at most ``E`` of pure epsilon and ``mu`` of Gaussian noise,
``delta(epsilon) <= d_mu(epsilon - E)``, ``d_mu`` the Gaussian delta: a pure step has a loss of at most its epsilon, a
Gaussian step keeps ``d`` exactly. A plan's cost would be false there; so would be one end for both pots together.

>>> from mvgviz import gaussian_mu
>>> mu = gaussian_mu(0.5, 1e-6)
>>> round(plan_epsilon(1e-6, [0.5], mu), 4), round(running_epsilon(1e-6, 0.5, mu), 4)
(0.9805, 1.0)

References
  [1] Kairouz, Oh & Viswanath, The composition theorem for differential privacy, ICML 2015.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import special

from mvgviz.noise.accounting import checked_delta, gaussian_epsilon, gaussian_mu, root
from mvgviz.noise.families.base import SAFE
from mvgviz.optional import optional
from mvgviz.validation import FloatArray, fraction, number, numbers

_ROOT = 1e-11  # more than the error of a root
_ROUNDING = 1e-14  # of a sum of pure epsilons
_SLACK = 1e-9  # of epsilon, left by the questions of a plan: more than all rounding


def running_epsilon(delta: float, pure: float, mu: float) -> float:
    """Return the epsilon of a running budget whose two pots end at ``pure`` and ``mu``."""
    return pure + float(gaussian_epsilon(delta, mu))


def plan_delta(epsilon: Any, pure: Any, mu: Any) -> Any:
    """Return the delta of one pure release beside Gaussian noise of ``mu``, fixed in advance: exact for box noise.

    The Laplace loss (``pure`` with probability 1/2, ``-pure`` with ``e^-pure/2``, exponential between) averaged over
    ``d_mu``, integrated: with ``s = (epsilon - pure)/2 - mu²/8`` it is
    ``d_(mu/2)(s) + e^s d_(mu/2)(s + pure + mu²/4)``, without cancellation.
    """
    s = (epsilon - pure) / 2 - mu * mu / 8
    both = np.stack((s, s + pure + mu * mu / 4))
    near, far = checked_delta(both, np.broadcast_to(mu / 2, both.shape))  # at once, which takes half the time
    with np.errstate(divide="ignore"):
        return near + np.exp(s + np.log(far))


def plan_epsilon(delta: float, pure: Sequence[float], mu: float) -> float:
    """Return the epsilon at ``delta`` of a plan with these pure epsilons and Gaussian noise of ``mu`` in all.

    Exact up to one pure release; an upper bound for more, which needs dp-accounting and is never above one release of
    their sum, whose noise is log-concave too. Each pure epsilon counts as one float more, which pays for the lattice
    of a release (:mod:`mvgviz.release.box_noise`).
    """
    delta, mu = fraction("delta", delta), number("mu", mu)
    parts = [math.nextafter(each, math.inf) for each in numbers("pure", pure, above=0).tolist()]
    total = math.fsum(parts)
    most = running_epsilon(delta, total, mu)
    if not parts:
        return most
    if plan_delta(0.0, total, mu) <= delta:
        return 0.0
    found = root(lambda epsilon: plan_delta(epsilon, total, mu) / delta - 1, 0.0, most * (1 + 1e-9))
    most = min(found + _ROOT, most)
    alone = len(parts) == 1 or delta < 1e-10  # below, the rounding of very many sums would show
    return most if alone else min(_of_many(delta, parts, mu), most)


@lru_cache(maxsize=4096)
def plan_scale(epsilon: float, delta: float, pure: tuple[float, ...], gaussian: float) -> float:
    """Return how much of their shares the questions of a plan may spend: a factor below or above 1.

    ``pure``: the share of each question with pure noise, which spends ``factor * share * epsilon``; ``gaussian``: the
    shares of all others together, of mu². All of them together then cost at most epsilon at ``delta``. With one kind
    of noise it is 1: shares of mu² add up, and pure noise alone keeps delta = 0.
    """
    if not (pure and gaussian > 0):
        return 1 - _ROUNDING if pure else 1.0
    whole, mu, total = epsilon * (1 - _SLACK) - 2 * _ROOT, gaussian_mu(epsilon, delta), math.fsum(pure)

    def as_one(factor: float) -> float:
        return float(plan_delta(whole, factor * total * epsilon, mu * math.sqrt(factor * gaussian)) / delta - 1)

    def exactly(factor: float) -> float:
        spent = plan_epsilon(delta, [factor * each * epsilon for each in pure], mu * math.sqrt(factor * gaussian))
        return spent - epsilon * (1 - _SLACK)

    found = _last(as_one, 0.5, _SLACK)
    little = found * (1 + 1e-2) > 1 / gaussian  # within 1 % of where pure noise costs nothing
    return found if little or len(pure) == 1 else _last(exactly, found, 1e-4)


def near_scale(epsilon: float, delta: float, pure: Any) -> Any:
    """Return about what :func:`plan_scale` does where one question has the share ``pure``, within three parts in 1 000.

    Fast, for pictures of many divisions; nothing is released by it.
    """
    return np.interp(special.logit(pure), *_table(epsilon, delta))


@lru_cache(maxsize=64)
def _table(epsilon: float, delta: float) -> tuple[FloatArray, FloatArray]:
    """Return factors, by halving all at once, over the log odds of shares.

    None is below the two pots' own c, where ``sqrt(c gaussian) = 1 - c pure``: ``d_(s mu)(s epsilon)`` grows with s.
    """
    odds = np.linspace(-10.0, 10.0, 61)
    pure, gaussian, mu = special.expit(odds), special.expit(-odds), gaussian_mu(epsilon, delta)
    low = 4 / (np.sqrt(gaussian) + np.sqrt(gaussian + 4 * pure)) ** 2
    high = np.minimum(1 / gaussian, (1 - 2 * math.log1p(-delta) / epsilon) / pure)
    middle = np.minimum(high, 1.05)  # most are below
    for _ in range(9):
        fits = plan_delta(epsilon, middle * pure * epsilon, mu * np.sqrt(middle * gaussian)) <= delta
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
        middle = (low + high) / 2
    return odds, middle


def _last(over: Callable[[float], float], low: float, close: float) -> float:
    """Return nearly the largest factor from ``low`` on at which a growing function is not above 0."""
    high = 1.1 * low
    while (at_end := over(high)) <= 0:
        low, high = high, 1.5 * high
    if at_end == math.inf:
        return low
    found = root(over, low, high, xtol=close * low)
    return next(tried for k in range(1_000) if over(tried := max(found * (1 - close * k), low)) <= 0)


def _of_many(delta: float, pure: Sequence[float], mu: float) -> float:
    """Return epsilon by privacy loss distributions, pessimistic ("connect the dots")."""
    losses: Any = optional("dp_accounting").pld
    total = math.fsum(pure)
    # of the grid of losses: ten for a usual pure epsilon, and not too many
    step = max(min(1e-4, total / len(pure) / 10), running_epsilon(1e-15, total, mu) / 1e5)
    made = [_laplace(losses, each, step).self_compose(times) for each, times in Counter(pure).items()]
    if mu > 0:
        made.append(losses.privacy_loss_distribution.from_gaussian_mechanism(
            1 / mu, value_discretization_interval=step))
    while len(made) > 1:  # in pairs: short with short
        made = [a.compose(b) for a, b in zip(made[::2], made[1::2], strict=False)] + made[len(made) // 2 * 2:]
    return float(made[0].get_epsilon_for_delta(delta))


def _laplace(losses: Any, pure: float, step: float) -> Any:
    """Return the losses of Laplace noise from its delta on the grid: much faster than by its density."""
    last = math.ceil(pure / step)
    at = step * np.arange(-last, last + 1)
    deltas = np.where(at < -pure, -np.expm1(at), -np.expm1(np.minimum(at - pure, 0.0) / 2))
    made = losses.pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(step, -last, last, deltas)
    return losses.privacy_loss_distribution.PrivacyLossDistribution(made)


def _repeated_delta(releases: int, each: float, epsilon: float) -> float:
    """Return delta at ``epsilon`` of randomised response, the worst of all pure mechanisms, so many times [1]."""
    ups = np.arange(releases + 1)
    losses = (2 * ups - releases) * each
    log_chances = (ups * special.log_expit(each) + (releases - ups) * special.log_expit(-each)
                   - special.betaln(ups + 1, releases - ups + 1) - math.log(releases + 1))
    return float(np.exp(log_chances) @ -np.expm1(np.minimum(epsilon - losses, 0)))


def repeated_epsilon(releases: int, each: float, delta: float) -> float:
    """Return the epsilon of several releases that are pure ``each``: an upper bound, from the worst of all such."""
    most = releases * each
    if _repeated_delta(releases, each, 0.0) <= delta:
        return 0.0
    return min(root(lambda epsilon: _repeated_delta(releases, each, epsilon) - delta, 0.0, most) * SAFE, most)


def pure_epsilon(releases: int, epsilon: float, delta: float) -> float:
    """Return an epsilon that each of several pure releases may have when all together are (epsilon, delta)-private.

    By randomised response, the worst pure mechanism [1]: a lower bound, never less than an equal part of epsilon.
    """
    low, high = epsilon / releases, epsilon + 40.0
    if releases == 1:
        return low
    return max(root(lambda each: _repeated_delta(releases, each, epsilon) - delta, low, high, xtol=1e-13) / SAFE, low)
