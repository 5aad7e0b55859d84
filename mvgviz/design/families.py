"""The same answer with another family of noise, beyond the paper.

A share of the precision becomes a share of epsilon where noise is pure. Noise that needs no box of changes keeps every
direction and split of a Gaussian design.
"""

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from mvgviz.errors import InputError, refuse
from mvgviz.noise.families import CHOICES, Block, Family
from mvgviz.noise.sides import NoiseSide
from mvgviz.query.neighbours import FlippedEdge, ReplacedColumn, ReplacedOuterProduct
from mvgviz.validation import one_of

if TYPE_CHECKING:
    from mvgviz.design.noise_design import NoiseDesign


def with_family(design: "NoiseDesign", name: str) -> "NoiseDesign":
    """Return a design with the promise, directions and shares of a Gaussian one, in another family; ``mu`` bounds."""
    family = CHOICES[one_of("family", name, CHOICES)]
    if family.spends_mu:
        return design
    refuse(design.guarantee != "exact", f"family {name} needs guarantee exact, got {design.guarantee}")
    refuse(design.receipts, f"family {name} cannot cover what was learned privately; declare directions and bound")
    side, blocks, drawn = (_boxes if family.in_a_box else _in_place_of_gaussian)(design, family)
    pure = sum(block.pure_epsilon for block in blocks)
    both = design.col_side is design.row_side
    return replace(design, row_side=side, col_side=side if both else design.col_side, blocks=blocks,
                   drawn=drawn, mu=-2 * float(special.ndtri_exp(-math.log(2) - pure / 2)), mu_is="upper bound")


def _in_place_of_gaussian(design: "NoiseDesign", family: Family) -> tuple[NoiseSide, tuple[Block, ...], str]:
    """The Gaussian design's own ellipse: every difference that it whitens has at most the length ``mu``.

    Columns that change alone have noise of their own; symmetric differences need ``m (m + 1)/2`` numbers.
    """
    refuse(design.mode == "columns", f"family {family.name} needs noise over rows or both sides, got mode columns")
    both, body = design.col_side is design.row_side, design.neighbours
    drawn, size = "whole", design.rows * design.cols
    if isinstance(body, ReplacedColumn) and body.records == 1 and design.col_side.is_identity:
        drawn, size = "columns", design.rows
    elif both and isinstance(body, ReplacedOuterProduct | FlippedEdge):
        drawn, size = "symmetric", design.rows * (design.rows + 1) // 2
    block, = family.blocks(np.ones(size), design.epsilon, design.delta, one_record=True)
    ratio = design.mu * block.std / math.sqrt(size)
    scale = ratio if both else ratio * ratio
    return NoiseSide.of(design.row_side.directions, design.row_side.variances * scale), (block,), drawn


def _boxes(design: "NoiseDesign", family: Family) -> tuple[NoiseSide, tuple[Block, ...], str]:
    body = design.neighbours
    if type(body) is not ReplacedColumn or design.mode != "rows" or not design.row_directions.is_standard:
        raise InputError(f"family {family.name} needs a mean or a table without clipping, and noise along the columns "
                         "themselves; choose gaussian or ellipse")
    blocks = tuple(family.blocks(design.theta, design.epsilon, design.delta, one_record=body.records == 1))
    std = np.empty(design.rows)
    for block in blocks:
        std[list(block.rows)] = block.std
    std *= body.widths / body.divisor * min(body.records, design.cols)
    return NoiseSide.of(design.row_directions, std * std), blocks, "columns"
