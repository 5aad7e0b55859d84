"""Priority numbers in a box; the others in a box or an ellipse, whichever needs less noise."""

import math
from collections.abc import Iterator
from dataclasses import replace

from mvgviz.noise.families.base import Block, Family, Split
from mvgviz.noise.families.box import Box
from mvgviz.noise.families.ellipse import Ellipse
from mvgviz.validation import FloatArray

_BOX, _ELLIPSE = Box(), Ellipse()


class BoxAndEllipse(Family):
    """A choice of two laws: only one block may use delta."""

    name, title, word = "box-ellipse", "Box and ellipse", "box and ellipse"
    in_a_box = True
    trials_only = _ELLIPSE.trials_only

    def std(self, size: int, epsilon: float, delta: float) -> float:
        return min(family.std(size, epsilon, delta) for family in (_BOX, _ELLIPSE))

    def split(self, priority: int, other: int, share: float, epsilon: float, delta: float) -> Split:
        return Split(_BOX.std(priority, share * epsilon, 0.0), self.std(other, (1 - share) * epsilon, delta))

    def advantage(self, size: int, epsilon: float, delta: float) -> float:
        """Return the most that any noise with this promise gives the best attacker."""
        return math.tanh(epsilon / 2) + delta * (1 - math.tanh(epsilon / 2))

    def is_bound(self, size: int) -> bool:
        return True

    def blocks(self, theta: FloatArray, epsilon: float, delta: float, *, one_record: bool) -> Iterator[Block]:
        *boxes, last = _BOX.blocks(theta, epsilon, delta, one_record=one_record)
        yield from boxes
        ellipse = replace(last, family=_ELLIPSE, delta=delta)
        yield min(last, ellipse, key=lambda block: block.std) if one_record else last
