"""The same answer with another family of noise: box, Laplace, ellipse (l2), or a box with an ellipse beside it.

All of this goes beyond the paper. A share of the precision becomes a share of epsilon where noise is pure; rows with
equal shares form one block of a box. The ellipse family keeps every direction and split of a Gaussian design.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from mvgviz.errors import InputError, refuse
from mvgviz.noise.families import FAMILIES, Block
from mvgviz.noise.sides import NoiseSide
from mvgviz.query.neighbours import FlippedEdge, ReplacedColumn, ReplacedOuterProduct
from mvgviz.validation import FloatArray, one_of

if TYPE_CHECKING:
    from mvgviz.design.noise_design import NoiseDesign

CHOICES = ("gaussian", "ellipse", "box", "laplace", "box-ellipse")
IN_A_BOX = ("box", "laplace", "box-ellipse")  # those that need one record to change the answer inside a box


def with_family(design: "NoiseDesign", family: str) -> "NoiseDesign":
    """Return a design with the promise, directions and shares of a Gaussian one, in another family; ``mu`` bounds."""
    one_of("family", family, CHOICES)
    if family == "gaussian":
        return design
    refuse(design.guarantee != "exact", f"family {family} needs guarantee exact, got {design.guarantee}")
    refuse(design.receipts, f"family {family} cannot cover what was learned privately; declare directions and bound")
    side, blocks, drawn = _ellipse(design) if family == "ellipse" else _boxes(design, family)
    pure = sum(block.pure_epsilon for block in blocks)
    both = design.col_side is design.row_side
    return replace(design, row_side=side, col_side=side if both else design.col_side, blocks=blocks,
                   drawn=drawn, mu=-2 * float(special.ndtri_exp(-math.log(2) - pure / 2)), mu_is="upper bound")


def _ellipse(design: "NoiseDesign") -> tuple[NoiseSide, tuple[Block, ...], str]:
    """The Gaussian design's own ellipse: every difference that it whitens has at most the length ``mu``.

    Columns that change alone have noise of their own; symmetric differences need ``m (m + 1)/2`` numbers.
    """
    refuse(design.mode == "columns", "family ellipse needs noise over rows or both sides, got mode columns")
    both, body = design.col_side is design.row_side, design.neighbours
    drawn, size = "whole", design.rows * design.cols
    if isinstance(body, ReplacedColumn) and body.records == 1 and design.col_side.is_identity:
        drawn, size = "columns", design.rows
    elif both and isinstance(body, ReplacedOuterProduct | FlippedEdge):
        drawn, size = "symmetric", design.rows * (design.rows + 1) // 2
    block = Block(tuple(range(size)), FAMILIES["ellipse"], design.epsilon, design.delta)
    ratio = design.mu * block.std / math.sqrt(size)
    scale = ratio if both else ratio * ratio
    return NoiseSide.of(design.row_side.directions, design.row_side.variances * scale), (block,), drawn


def _boxes(design: "NoiseDesign", family: str) -> tuple[NoiseSide, tuple[Block, ...], str]:
    body = design.neighbours
    if type(body) is not ReplacedColumn or design.mode != "rows" or not design.row_directions.is_standard:
        raise InputError(f"family {family} needs a mean or a table without clipping, and noise along the columns "
                         "themselves; choose gaussian or ellipse")
    blocks = tuple(_blocks(design, family, one_record=body.records == 1))
    std = np.empty(design.rows)
    for block in blocks:
        std[list(block.rows)] = block.std
    std *= body.widths / body.divisor * min(body.records, design.cols)
    return NoiseSide.of(design.row_directions, std * std), blocks, "columns"


def _blocks(design: "NoiseDesign", family: str, *, one_record: bool) -> Iterator[Block]:
    """Rows of equal shares; each alone for Laplace noise. One block may use delta, where that needs less noise."""
    groups = _groups(design.theta) if family != "laplace" else [[k] for k in range(design.rows)]
    for group in groups:
        rows, epsilon = tuple(group), design.epsilon * float(design.theta[group].sum())
        found = Block(rows, FAMILIES["laplace" if family == "laplace" else "box"], epsilon)
        if family == "box-ellipse" and group is groups[-1] and one_record:
            found = min(found, Block(rows, FAMILIES["ellipse"], epsilon, design.delta), key=lambda block: block.std)
        yield found


def _groups(theta: FloatArray) -> list[list[int]]:
    found: dict[float, list[int]] = {}
    for k in np.argsort(-theta, kind="stable").tolist():
        near = next((share for share in found if math.isclose(share, theta[k], rel_tol=1e-9)), float(theta[k]))
        found.setdefault(near, []).append(k)
    return list(found.values())
