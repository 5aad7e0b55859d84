"""Samplers have the covariance they claim; the Gram shortcut has the distribution of the long way."""

import math
import tracemalloc

import numpy as np
import pytest
from scipy import stats

import mvgviz as mv
from mvgviz.design import sampling
from tests.datasets import make_dataset


def some_design(mode="rows", *, rotated=False, rows=3, cols=4, seed=5):
    rng = np.random.default_rng(seed)
    data = make_dataset(rows, cols if mode != "both" else rows)
    query = mv.covariance(data) if mode == "both" else mv.identity(data)
    size = cols if mode == "columns" else rows
    directions = mv.random_rotation(size, rng=rng) if rotated else None
    return mv.design_noise(query, epsilon=3, delta=1e-2, mode=mode, directions=directions,
                           theta=mv.manual(rng.uniform(0.1, 1, size)))


@pytest.mark.parametrize("mode", ["rows", "columns", "both"])
@pytest.mark.parametrize("rotated", [False, True])
@pytest.mark.parametrize("method", ["affine", "kronecker"])
def test_noise_has_mean_zero_and_the_kronecker_covariance(mode, rotated, method, rng):
    design = some_design(mode, rotated=rotated)
    draws, trials = mv.sample_noise(design, rng=rng, trials=40_000, method=method), 40_000
    assert draws.shape == (trials, design.rows, design.cols)
    stacked = draws.transpose(0, 2, 1).reshape(trials, -1)  # vec: columns on top of each other
    expected = np.kron(design.col_covariance(), design.row_covariance())
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    # An entry of an empirical covariance has standard error at most sqrt(2/trials) of its scale.
    assert np.abs((stacked.T @ stacked / trials - expected) / scale).max() < 6 * math.sqrt(2 / trials)
    assert np.abs(stacked.mean(axis=0) / np.sqrt(np.diag(expected))).max() < 6 / math.sqrt(trials)


def test_noise_is_normal(rng):
    design = some_design(rotated=True)
    draws = mv.sample_noise(design, rng=rng, trials=4000)
    standard = draws[:, 1, 2] / design.noise_std()[1, 2]
    assert stats.kstest(standard, "norm").pvalue > 1e-3


@pytest.mark.parametrize("mode", ["rows", "columns", "both"])
@pytest.mark.parametrize("rotated", [False, True])
@pytest.mark.parametrize("method", ["affine", "kronecker"])
def test_draws_do_not_depend_on_the_batch(mode, rotated, method):
    design = some_design(mode, rotated=rotated)
    whole = mv.sample_noise(design, rng=np.random.default_rng(3), trials=12, method=method)
    one = np.random.default_rng(3)
    parts = np.concatenate([mv.sample_noise(design, rng=one, trials=5, method=method),
                            mv.sample_noise(design, rng=one, method=method)[None],
                            mv.sample_noise(design, rng=one, trials=6, method=method)])
    assert (whole == parts).all()


@pytest.mark.parametrize("records", [4, 6, 7, 60])
@pytest.mark.parametrize("rotated", [False, True])
def test_gram_draws_do_not_depend_on_the_batch(records, rotated):
    design, matrix = some_design(rotated=rotated, cols=records), make_dataset(3, records).matrix
    whole = mv.sample_gram(matrix, design, rng=np.random.default_rng(3), trials=12)
    one = np.random.default_rng(3)
    parts = [mv.sample_gram(matrix, design, rng=one, trials=k) for k in (1, 6, 5)]
    assert (whole == np.concatenate(parts)).all()


@pytest.mark.parametrize(("records", "rank"), [(4, 3), (6, 3), (7, 3), (60, 3), (60, 1)])
@pytest.mark.parametrize("rotated", [False, True])
def test_gram_space_has_the_distribution_of_the_direct_product(records, rank, rotated, rng):
    design = some_design(rotated=rotated, cols=records)
    matrix = 30 * make_dataset(3, records).matrix
    matrix = matrix[:rank][[0, min(1, rank - 1), min(2, rank - 1)]]  # rank 1: three equal rows
    trials = 4000
    short = mv.sample_gram(matrix, design, rng=rng, trials=trials)
    assert (short == short.transpose(0, 2, 1)).all()
    released = matrix + mv.sample_noise(design, rng=rng, trials=trials)
    long = released @ released.transpose(0, 2, 1)
    tests = [stats.ks_2samp(short[:, i, j], long[:, i, j]) for i in range(3) for j in range(i + 1)]
    tests.append(stats.ks_2samp(np.linalg.eigvalsh(short)[:, -1], np.linalg.eigvalsh(long)[:, -1]))
    tests.append(stats.ks_2samp(np.linalg.det(short), np.linalg.det(long)))
    assert min(test.pvalue for test in tests) > 1e-3 / len(tests)


def test_one_pass_is_enough():
    design, matrix = some_design(cols=50), make_dataset(3, 50).matrix
    gram = mv.Gram.of(matrix)
    assert gram.factor.shape == (3, 3)
    first = mv.sample_gram(gram, design, rng=np.random.default_rng(0), trials=3)
    assert (first == mv.sample_gram(matrix, design, rng=np.random.default_rng(0), trials=3)).all()


@pytest.mark.parametrize(("call", "message"), [
    (lambda d, r: mv.sample_noise(d, rng=r, trials=0), "trials must be a whole number of at least 1, got 0"),
    (lambda d, r: mv.sample_noise(d, rng=3), "rng must be a numpy.random.Generator, got 3"),
    (lambda d, r: mv.sample_noise("d", rng=r), "design must be a NoiseDesign, got a str"),
    (lambda d, r: mv.sample_gram(np.ones((3, 4)), None, rng=r, trials=1), "design must be a NoiseDesign"),
    (lambda d, r: mv.sample_noise(d, rng=r, method="fast"), "method must be one of affine, kronecker, got 'fast'"),
    (lambda d, r: mv.sample_noise(some_design(cols=2000), rng=r, method="kronecker"), "at most 4096 entries, got 6000"),
    (lambda d, r: mv.sample_gram(np.ones((3, 5)), d, rng=r, trials=1),
     "matrix must be 3 × 4 like the design, got 3 × 5"),
    (lambda d, r: mv.sample_gram([[math.nan] * 4] * 3, d, rng=r, trials=1), "matrix must be finite"),
    (lambda d, r: mv.sample_gram(np.ones((3, 3)), some_design("both"), rng=r, trials=1),
     r"noise over rows only \(Psi = I\), got mode both"),
    (lambda d, r: mv.sample_gram(np.ones((3, 4)), some_design("columns"), rng=r, trials=1), "got mode columns"),
    (lambda d, r: mv.sample_gram(np.ones((3, 4)), d, rng=r, trials=2.5), "trials must be a whole number"),
])
def test_bad_sampling_is_refused(call, message, rng):
    with pytest.raises(mv.InputError, match=message):
        call(some_design(), rng)


@pytest.mark.parametrize(("rows", "cols"), [(3, 40), (30, 1000), (70, 90)])
def test_turned_noise_is_the_root_times_normals_at_every_size(rows, cols):
    design = some_design(rotated=True, rows=rows, cols=cols)
    normals = np.random.default_rng(8).standard_normal((2, rows, cols))
    noise = mv.sample_noise(design, rng=np.random.default_rng(8), trials=2)
    assert noise == pytest.approx(design.row_side.root() @ normals, rel=1e-9, abs=1e-12)


def test_a_long_table_of_noise_is_turned_where_it_stands():
    design = some_design(rotated=True, rows=30, cols=20_000)
    tracemalloc.start()
    noise = mv.sample_noise(design, rng=np.random.default_rng(8))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1.3 * noise.nbytes


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_the_factor_s_product_is_the_table_s(unit):
    matrix = unit * make_dataset(3, 50).matrix
    factor = mv.Gram.of(matrix).factor
    assert factor @ factor.T == pytest.approx(matrix @ matrix.T, rel=1e-9)


def test_the_paper_s_other_method_goes_as_far_as_is_said(rng, monkeypatch):
    monkeypatch.setattr(sampling, "_LARGEST_KRONECKER", 12)
    assert mv.sample_noise(some_design(), rng=rng, method="kronecker").shape == (3, 4)
    with pytest.raises(mv.InputError, match="at most 12 entries, got 15"):
        mv.sample_noise(some_design(cols=5), rng=rng, method="kronecker")
