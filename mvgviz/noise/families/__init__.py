"""Families of noise for answers that one record changes inside a box, a module each.

Everything here but Gaussian noise goes beyond the paper. One record moves each of ``d`` numbers by at most 1 (the
*change box*); every standard deviation is in that unit. Norm noise has the density ``exp(-epsilon N(z))`` for a norm
``N`` whose unit ball holds the change box, and is private with delta = 0 [1]. The ellipse family uses the Euclidean
norm with the scale that an (epsilon, delta) promise allows [2].

>>> from mvgviz.noise.families import FAMILIES
>>> {name: round(family.std(6, 1.0, 1e-6), 1) for name, family in FAMILIES.items()}
{'gaussian': 10.3, 'ellipse': 6.3, 'box': 4.3, 'laplace': 8.5}

References
  [1] Hardt & Talwar, On the geometry of differential privacy, STOC 2010.
  [2] Joseph, Kulesza & Yu, ICML 2025: the l2 mechanism at (epsilon, delta).
"""

from collections.abc import Sequence

from mvgviz.noise.families.base import Block, Family, Law, blocks_delta, blocks_epsilon
from mvgviz.noise.families.box import Box
from mvgviz.noise.families.box_and_ellipse import BoxAndEllipse
from mvgviz.noise.families.ellipse import Ellipse
from mvgviz.noise.families.gaussian import Gaussian
from mvgviz.noise.families.laplace import Laplace

__all__ = ["CHOICES", "FAMILIES", "Block", "Family", "blocks_delta", "blocks_epsilon", "family_of"]

CHOICES: dict[str, Family] = {
    family.name: family for family in (Gaussian(), Ellipse(), Box(), BoxAndEllipse(), Laplace())}
"""By name, what a design may choose."""
FAMILIES: dict[str, Law] = {name: family for name, family in CHOICES.items() if isinstance(family, Law)}
"""By name, those that are one law."""


def family_of(blocks: Sequence[Block]) -> Family:
    """Return the family of a design with these blocks; Gaussian noise has none."""
    families = {block.family for block in blocks}
    return CHOICES["box-ellipse"] if len(families) > 1 else families.pop() if families else CHOICES["gaussian"]
