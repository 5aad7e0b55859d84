"""An audit by simulation of box and Laplace noise: does it hide the worst neighbours as well as it claims?

Draw noise on both neighbours with the sampler of trials or the exact one of a release. The best attack (likelihood
ratio) gives a lower bound on epsilon with delta = 0; a bound above the claim refutes it (:mod:`mvgviz.release.audit`).
The same draws are tested for what the attack does not see: size of the noise, independent signs and sizes, repetition.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy import special

from mvgviz.design import sampling
from mvgviz.design.noise_design import NoiseDesign
from mvgviz.noise.families import Block
from mvgviz.query.dataset import Dataset
from mvgviz.query.queries import Query
from mvgviz.release import box_noise
from mvgviz.release.audit import Audit, attacked
from mvgviz.release.noise_check import Finding, not_uniform, oddest, repeated
from mvgviz.validation import FloatArray, count, fraction

_DIGITS = 9  # of a score: many equal epsilon, and rounding must not separate the neighbours
_SAME = 1e-11  # how far rounding moves equal draws apart, in units of what a record can change


def audit_pure(table: Dataset, query: Query, design: NoiseDesign, *, trials: int,
               rng: np.random.Generator | None = None, confidence: float = 0.95,
               progress: Callable[[float], object] | None = None) -> Audit:
    """Attack releases of ``query`` with box or Laplace noise: at least ``trials`` on each neighbour, without records.

    ``rng``: draw as trials do; None: fresh noise as in a release. Each person of a table is attacked.
    """
    trials, confidence = count("trials", trials, at_least=100), fraction("confidence", confidence)
    body, many = box_noise.checked_body(table, query, design.blocks), 1 if query.is_mean else table.per_person
    tables = _neighbours(table, query, added=body.added)
    answers = [query.answer(one.matrix) for one in tables]
    stds = np.empty(query.rows)
    for block in design.blocks:
        stds[list(block.rows)] = block.std
    unit = (np.sqrt(design.row_side.variances) / stds)[:, None]  # the most that a person can change each number
    move = (answers[1] - answers[0])[:, :many] / unit  # the present person's, rows × their columns
    releases, whole = max(math.ceil(trials / max(query.cols // many, 1)), 2), query.cols // many * many
    noises: list[FloatArray] = []  # of each neighbour in units: persons × rows × their columns
    for one, answer in zip(tables, answers, strict=True):
        drawn = []
        for k in range(releases):
            noise = (sampling.sample_noise(design, rng=rng) if rng is not None else
                     box_noise.noisy_values(one, query, design.blocks) - answer) / unit
            drawn.append(noise[:, :whole].reshape(query.rows, -1, many).transpose(1, 0, 2))
            if progress is not None:
                progress((len(noises) + (k + 1) / releases) / 2)
        noises.append(np.concatenate(drawn))
    absent, there = (_scores(seen, move, design.blocks) for seen in (noises[0], noises[1] + move))
    everything = np.concatenate(noises).transpose(0, 2, 1).reshape(-1, query.rows)
    return attacked(absent, there, delta=0.0, confidence=confidence, check=check_pure(everything, design))


def _neighbours(table: Dataset, query: Query, *, added: bool) -> list[Dataset]:
    """Return data at one end of the box, and with one person (in a table: each) at the other."""
    low, high = table.lower.copy(), table.upper.copy()
    for group in map(list, table.levels):  # from the first level to the last
        low[group[0]], high[group[:-1]] = table.upper[group[0]], table.lower[group[:-1]]
    if added:
        low = box_noise.empty_place(table)
    absent = np.repeat(low[:, None], table.n_records, axis=1)
    present = absent.copy()
    present[:, : table.per_person if query.is_mean else None] = high[:, None]
    return [replace(table, matrix=matrix) for matrix in (absent, present)]


def _scores(seen: FloatArray, move: FloatArray, blocks: Sequence[Block]) -> FloatArray:
    """Return the log-likelihood ratio of each sample that is seen, rows × columns."""
    ratios = [block.epsilon * (_reach(seen, block.rows) - _reach(seen - move, block.rows)).sum(axis=1)
              for block in blocks]
    return np.asarray(np.round(np.sum(ratios, axis=0), _DIGITS))


def _reach(values: FloatArray, rows: tuple[int, ...]) -> FloatArray:
    return np.asarray(np.abs(values[:, list(rows)]).max(axis=1))


def check_pure(noise: FloatArray, design: NoiseDesign) -> Finding:
    """Test samples × rows of noise, in units of what one person can change, against the blocks."""
    findings, sizes = [], []
    for number, block in enumerate(design.blocks, 1):
        size, own = len(block.rows), block.epsilon * np.abs(noise[:, list(block.rows)])
        levels = special.gammainc(size, own.max(axis=1))
        sizes.append(levels)
        findings.append(not_uniform(levels, f"the size of block {number} of the noise is not as claimed"))
        for row, values in zip(block.rows, own.T, strict=True):
            outside = special.gammaincc(size + 1, values) - values / size * special.gammaincc(size, values)
            ratio = math.sqrt(float(np.mean(values**2))) / (block.epsilon * block.std)
            by_chance = values.size**2 * block.epsilon * (1 / box_noise.STEPS + 2 * _SAME) / 2  # on the lattice
            findings += [
                not_uniform(1 - outside, f"on number {row + 1} the noise is {ratio:.2f} times what is claimed"),
                repeated(values / block.epsilon, _SAME, by_chance, f"on number {row + 1}")]
    signs, ranks = np.sign(noise), 2 * np.array(sizes).T - 1
    findings += [_together(signs, "signs"), _together(ranks * math.sqrt(3), "sizes of blocks"),
                 _together(signs, "signs", lag=1), _together(ranks * math.sqrt(3), "sizes of blocks", lag=1)]
    return oddest(findings)


def _together(values: FloatArray, name: str, lag: int = 0) -> Finding:
    """Test the largest correlation of independent columns, or of samples with those before."""
    samples, width = len(values) - lag, values.shape[1]
    found = values[lag:].T @ values[:samples] / samples
    if not lag:
        found = np.triu(found, 1)
    largest = float(np.abs(found).max(initial=0.0))
    pairs = width * width if lag else width * (width - 1) // 2
    return Finding(min(pairs * 2 * float(special.ndtr(-largest * math.sqrt(samples))), 1.0) if pairs else 1.0,
                   f"{name} of the noise are not independent, correlation {largest:.2f} where 0 is claimed")
