"""An audit by simulation of box and Laplace noise: does it hide the worst neighbours as well as it claims?

Draw noise on both neighbours with the sampler of trials or the exact one of a release. The best attack (likelihood
ratio) gives a lower bound on epsilon with delta = 0; a bound above the claim refutes it (:mod:`mvgviz.release.audit`).
The same draws are tested for what the attack does not see: size of the noise, independent signs and sizes, repetition.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import special

from mvgviz.design import sampling
from mvgviz.design.noise_design import NoiseDesign
from mvgviz.query.dataset import Dataset
from mvgviz.query.queries import Query
from mvgviz.release import box_noise
from mvgviz.release.audit import Audit, attacked
from mvgviz.release.noise_check import Finding, NoiseCheck, not_uniform, repeated
from mvgviz.validation import FloatArray, count, fraction

_DIGITS = 9  # of a score: many equal epsilon, and rounding must not separate the neighbours
_SAME = 1e-11  # how far rounding moves equal draws apart, in units of what a record can change


class _Neighbour(NamedTuple):
    table: Dataset
    query: Query


@dataclass(frozen=True)
class _Attack:
    """``unit``: the most that a person can change each number. ``move``: the present person's, rows × their columns."""

    design: NoiseDesign
    unit: FloatArray
    move: FloatArray

    def scores(self, noise: FloatArray, *, present: bool) -> FloatArray:
        """Return the log-likelihood ratio of samples × rows × cols of noise, with or without the person."""
        seen = noise + self.move if present else noise
        ratios = [block.epsilon * (_reach(seen, block.rows) - _reach(seen - self.move, block.rows)).sum(axis=1)
                  for block in self.design.blocks]
        return np.asarray(np.round(np.sum(ratios, axis=0), _DIGITS))


def audit_pure(table: Dataset, query: Query, design: NoiseDesign, *, trials: int,
               rng: np.random.Generator | None = None, confidence: float = 0.95,
               progress: Callable[[float], object] | None = None) -> Audit:
    """Attack releases of ``query`` with box or Laplace noise: at least ``trials`` on each neighbour.

    ``rng``: draw as trials do; None: fresh noise as in a release. No record of ``table`` is used. Each person of a
    table is attacked.
    """
    trials, confidence = count("trials", trials, at_least=100), fraction("confidence", confidence)
    body = box_noise.checked_body(table, query, design.blocks)
    both, many = _neighbours(table, query, added=body.added), 1 if query.is_mean else table.per_person
    stds = np.empty(query.rows)
    for block in design.blocks:
        stds[list(block.rows)] = block.std
    unit = np.sqrt(design.row_side.variances) / stds
    attack = _Attack(design, unit, (both[1].query.value - both[0].query.value)[:, :many] / unit[:, None])
    releases = max(math.ceil(trials / max(query.cols // many, 1)), 2)
    noises = []
    for k, one in enumerate(both):
        shown = None if progress is None else lambda part, k=k: progress((k + part) / 2)
        noises.append(np.concatenate(list(_drawn(attack, one, releases, rng, shown))))
    absent, there = (attack.scores(noise, present=bool(k)) for k, noise in enumerate(noises))
    everything = np.concatenate(noises).transpose(0, 2, 1).reshape(-1, query.rows)
    return attacked(absent, there, delta=0.0, confidence=confidence, check=check_pure(everything, design))


def _neighbours(table: Dataset, query: Query, *, added: bool) -> list[_Neighbour]:
    """Return data at one end of the box, and with one person (in a table: each) at the other."""
    low, high = table.lower.copy(), table.upper.copy()
    for group in map(list, table.levels):  # from the first level to the last
        low[group[0]], high[group[:-1]] = table.upper[group[0]], table.lower[group[:-1]]
    if added:
        low = box_noise.empty_place(table)
    absent = np.repeat(low[:, None], table.n_records, axis=1)
    present = absent.copy()
    present[:, : table.per_person if query.is_mean else None] = high[:, None]
    return [_Neighbour(replace(table, matrix=matrix), replace(query, value=query.answer(matrix)))
            for matrix in (absent, present)]


def _drawn(attack: _Attack, one: _Neighbour, releases: int, rng: np.random.Generator | None,
           progress: Callable[[float], object] | None) -> Iterator[FloatArray]:
    """Yield the noise of each release in units, persons × rows × their columns."""
    (table, query), (rows, many) = one, attack.move.shape
    for k in range(releases):
        noise = (sampling.sample_noise(attack.design, rng=rng) if rng is not None else
                 box_noise.noisy_values(table, query, attack.design.blocks) - query.value) / attack.unit[:, None]
        yield noise[:, : query.cols // many * many].reshape(rows, -1, many).transpose(1, 0, 2)
        if progress is not None:
            progress((k + 1) / releases)


def _reach(values: FloatArray, rows: tuple[int, ...]) -> FloatArray:
    return np.asarray(np.abs(values[:, list(rows)]).max(axis=1))


def check_pure(noise: FloatArray, design: NoiseDesign) -> NoiseCheck:
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
    return NoiseCheck.of(findings)


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
