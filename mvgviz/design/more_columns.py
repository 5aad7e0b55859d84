"""One needed column among more and more: what directional noise gains on it, and what equal noise would have to spend.

For ``m`` columns, one of them needed, and a share ``s`` of the budget on it, the noise on a table or a mean is
``sqrt(1/(s m))`` times equal noise on the needed and ``sqrt((m-1)/((1-s) m))`` times on the rest, where equal noise is
as large for every column in units of its range. To be as precise on the needed, equal noise has to spend
``mu sqrt(s m)``. Nothing here is in the paper.

>>> from mvgviz.design.more_columns import gain_among
>>> gain = gain_among(21, share=0.8, epsilon=1, delta=1 / 2126)
>>> round(gain.needed, 2), round(gain.equal_epsilon, 1)
(0.24, 5.4)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mvgviz.errors import InputError
from mvgviz.noise.accounting import gaussian_epsilon, gaussian_mu
from mvgviz.validation import fraction


@dataclass(frozen=True, kw_only=True)
class Gain:
    """The noise on the needed column and on the ``rest`` as multiples of equal noise at the same privacy.

    ``equal_epsilon``: what equal noise would spend to be as precise on the needed.
    """

    columns: int
    needed: float
    rest: float
    equal_epsilon: float


def gain_among(columns: int, *, share: float, epsilon: float, delta: float) -> Gain:
    """The gain where one of ``columns`` columns is needed and gets this share of the budget."""
    if columns < 2:
        raise InputError(f"columns must be at least 2, got {columns}")
    part, mu = fraction("share", share), float(gaussian_mu(epsilon, delta))
    return Gain(columns=columns, needed=1 / math.sqrt(part * columns),
                rest=math.sqrt((columns - 1) / ((1 - part) * columns)),
                equal_epsilon=float(gaussian_epsilon(delta, mu * math.sqrt(part * columns))))
