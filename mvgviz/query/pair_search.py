"""Neighbours far apart through the noise, by ascent: how much of a bound is real. What is found proves nothing."""

from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np

from mvgviz.noise.sides import NoiseSide
from mvgviz.threads import one_blas_thread
from mvgviz.validation import FloatArray

_SWEEPS = 12
_POINTS = np.linspace(-1, 1, 33)
_RANDOM = 12
_MOST_RAISED = 100  # features; with more the first guesses have to do, or a look would take minutes


def search_move(side: NoiseSide, widths: FloatArray) -> FloatArray:
    """Return a long ``dᵀMd`` over ``|d_i| <= widths_i``: from several corners, each feature turned to lengthen it."""
    m = side.precision()
    moves = widths * np.concatenate([np.where(side.directions.matrix.T >= 0, 1.0, -1.0),
                                     _random_signs(4 * _RANDOM, widths.size)])
    for _ in range(_SWEEPS):
        moves = widths * np.where(moves @ m >= 0, 1.0, -1.0)
    for _ in range(_SWEEPS):  # then one at a time: turning d_i gains where d_i (Md)_i < M_ii d_i²
        before = moves.copy()
        for i in range(widths.size):
            turn = moves[:, i] * (moves @ m[i]) < m[i, i] * widths[i] ** 2
            moves[turn, i] *= -1
        if np.array_equal(moves, before):
            break
    return np.asarray(moves[int(np.einsum("ij,jk,ik->i", moves, m, moves).argmax())])


@one_blas_thread()
def search_records(rows: NoiseSide, cols: NoiseSide, low: FloatArray, high: FloatArray
                   ) -> tuple[FloatArray, FloatArray]:
    """Two records with a large ``||Sigma^-1/2 (x xᵀ - y yᵀ) Psi^-1/2||_F``.

    With sum s and difference t its square is ``(2 sᵀMt sᵀPt + sᵀMs tᵀPt + sᵀPs tᵀMt)/4``: raised one feature of one
    record at a time, over ever finer steps; of more than a hundred features, the best first guess.
    """
    m = rows.precision()
    p = m if cols is rows else cols.precision()
    x, y = _starts(m, low, high)
    for zoom in (1.0, 1 / 16, 1 / 256, 1 / 4096) if low.size <= _MOST_RAISED else ():
        value = _squares(m, p, x, y)
        for _ in range(_SWEEPS):
            before = value
            for record, sign in ((y, -1.0), (x, 1.0)):
                for i in range(low.size):
                    _raise(m, p, x, y, record, sign, i, zoom * _POINTS, low, high)
            value = _squares(m, p, x, y)
            if not (value > before * (1 + 1e-9)).any():
                break
        if zoom == 1:  # the best few are worth finer steps
            best = np.argsort(-value)[:3]
            x, y = x[best], y[best]
    k = int(_squares(m, p, x, y).argmax())
    return x[k], y[k]


def search_levels(rows: NoiseSide, cols: NoiseSide, x: FloatArray, y: FloatArray, *, low: FloatArray,
                  high: FloatArray, levels: Sequence[Sequence[int]]) -> tuple[FloatArray, FloatArray]:
    """Two records further apart than by :func:`search_records`: each category at its best level, in turn."""
    m = rows.precision()
    p = m if cols is rows else cols.precision()
    pair, value = np.stack([x, y]), float(_squares(m, p, x[None], y[None])[0])
    for _ in range(_SWEEPS if low.size <= _MOST_RAISED else 1):
        before = value
        for group, which in product(map(list, levels[:_MOST_RAISED]), (0, 1)):
            parts = np.vstack([np.eye(len(group)), np.full(len(group), 1 / len(group))])
            tried = np.repeat(pair[:, None], len(parts), axis=1)
            tried[which][:, group] = low[group] + parts * (high[group] - low[group])
            found = _squares(m, p, *tried)
            if found.max() > value:
                pair, value = tried[:, int(found.argmax())], float(found.max())
        if not value > before * (1 + 1e-9):
            break
    return pair[0], pair[1]


def _starts(m: FloatArray, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Pairs to begin with: far from 0 and near it, halves swapped, along the precise directions, anywhere."""
    size, nearest = low.size, np.clip(0.0, low, high)
    largest = np.where(np.abs(low) > np.abs(high), low, high)
    order = np.arange(size)
    pairs = [(largest, nearest), (largest, np.where(order % 2 == 0, high, low)),
             (largest, np.where(order < size // 2, high, low)), (high, low)]
    vectors = np.linalg.eigh(m)[1][:, ::-1][:, :6].T
    corners = [np.where(vector >= 0, high, low) for vector in vectors]
    pairs += [(corner, np.where(corner == high, low, high)) for corner in corners]
    pairs += [(corner, nearest) for corner in corners] + list(pairwise(corners))
    anywhere = np.where(_random_signs(2 * _RANDOM, size) > 0, high, low)
    pairs += list(zip(anywhere[:_RANDOM], anywhere[_RANDOM:], strict=True))
    return np.array([x for x, _ in pairs]), np.array([y for _, y in pairs])


def _raise(m: FloatArray, p: FloatArray, x: FloatArray, y: FloatArray, record: FloatArray, sign: float, i: int,
           points: FloatArray, low: FloatArray, high: FloatArray) -> None:
    """Move feature i of a record of every pair to its best point, in place: s by ``a e_i`` and t by ``sign a e_i``."""
    a = np.clip(record[:, i, None] + points * (high[i] - low[i]), low[i], high[i]) - record[:, i, None]
    parts = [_along(precision, x + y, x - y, i, sign, a) for precision in ((m,) if p is m else (m, p))]
    (ss, tt, st), (ss_p, tt_p, st_p) = parts[0], parts[-1]
    k = (2 * st * st_p + ss * tt_p + ss_p * tt).argmax(axis=1)
    record[:, i] += a[np.arange(len(a)), k]
    np.clip(record[:, i], low[i], high[i], out=record[:, i])


def _along(m: FloatArray, s: FloatArray, t: FloatArray, i: int, sign: float, a: FloatArray
           ) -> tuple[FloatArray, FloatArray, FloatArray]:
    """``sᵀMs``, ``tᵀMt`` and ``sᵀMt`` after moves by ``a``."""
    ms, mt, own = (s @ m[i])[:, None], (t @ m[i])[:, None], m[i, i]
    ss, tt, st = (value[:, None] for value in _products(m, s, t))
    return (ss + a * (2 * ms + a * own), tt + a * (2 * sign * mt + a * own), st + a * (sign * ms + mt + sign * a * own))


def _products(m: FloatArray, s: FloatArray, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    mt = t @ m
    return (np.einsum("ij,ij->i", s @ m, s), np.einsum("ij,ij->i", mt, t), np.einsum("ij,ij->i", mt, s))


def _squares(m: FloatArray, p: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    ss, tt, st = _products(m, x + y, x - y)
    ss_p, tt_p, st_p = _products(p, x + y, x - y)
    return np.asarray((2 * st * st_p + ss * tt_p + ss_p * tt) / 4)


def _random_signs(count: int, size: int) -> FloatArray:
    return np.where(np.random.default_rng(0).random((count, size)) < 0.5, -1.0, 1.0)
