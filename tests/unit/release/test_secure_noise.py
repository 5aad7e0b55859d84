"""What a release's noise rests on: roundings counted one by one, largest answers by brute force, OpenDP's own map."""

import itertools
import math

import numpy as np
import pytest

import mvgviz as mv
from mvgviz.design.sampling import colour
from mvgviz.noise.sides import NoiseSide
from mvgviz.query.base import sum_error
from mvgviz.query.moments import moments
from mvgviz.release import secure_noise
from mvgviz.release.secure_noise import MARGIN, computed_sensitivity, noisy_count, private_directions
from tests.datasets import make_dataset

ROUNDING = 2.0**-53


@pytest.fixture
def drawn(monkeypatch):
    """What OpenDP was asked for: (entries, standard deviation, exponent of the grid)."""
    asked, real = [], secure_noise.gaussian
    monkeypatch.setattr(secure_noise, "gaussian", lambda *given: asked.append(given) or real(*given))
    return asked


@pytest.mark.parametrize("std", [1.0, 3.7, 2e5])
def test_a_count_is_as_private_as_its_noise_says_and_no_noisier(drawn, std):
    found = noisy_count(40, std)
    entries, noise_std, exponent = drawn[-1]
    assert entries == 1
    assert std <= noise_std <= std * (1 + 1e-9)
    assert secure_noise.gaussian(*drawn[-1]).map(d_in=1.0) <= 1 / (2 * std**2)  # one record more or less
    assert abs(found - 40) < 12 * std  # fails by chance once in 1e32
    assert exponent <= -60


def test_directions_are_drawn_with_noise_of_their_part_and_no_more(drawn):
    data = make_dataset(3, 30)
    found = private_directions(data, mu=0.4)
    entries, noise_std, _ = drawn[-1]
    assert entries == 9
    assert 1 < noise_std < 1 + 1e-6  # of an answer whose neighbours are mu standard deviations apart
    assert (found.eigenvalues >= 0).all()


def test_directions_drawn_with_next_to_no_noise_are_those_of_the_data():
    data = make_dataset(3, 400, lower=[-1, -3, -9], upper=[1, 3, 9])
    values = np.linalg.eigvalsh(data.matrix @ data.matrix.T / 400)[::-1]
    found = private_directions(data, mu=1e6)
    assert found.eigenvalues == pytest.approx(values, rel=1e-3)
    turned = found.matrix.T @ data.matrix @ data.matrix.T @ found.matrix / 400
    assert np.diag(turned) == pytest.approx(values, rel=1e-3)


# What arithmetic adds: n - 1 sums and one division to a mean, one product more to second moments; then a root and a
# division for each side that scales, or a sum of as many products as the side has, its own entries rounded.


def paid(query, design, largest=None):
    """What is added for rounding, beyond the margin."""
    return computed_sensitivity(query, design.row_side, design.col_side, design.mu, largest) - design.mu * (1 + MARGIN)


@pytest.mark.parametrize(("ask", "of_the_answer"), [
    (mv.mean, lambda n: n), (mv.covariance, lambda n: n + 1), (mv.identity, lambda n: 0)])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("n", [2, 3, 40])
def test_every_rounding_is_paid_for_twice_and_few_more(rng, ask, of_the_answer, turned, n):
    # Far from 0, where a rounding is a larger part of what one record changes and can be counted.
    data = make_dataset(3, n, lower=1000, upper=1002)
    query = ask(data)
    design = mv.design_noise(query, epsilon=1, delta=1e-5, theta=mv.manual([1, 2, 3]),
                             directions=mv.random_rotation(3, rng=rng) if turned else None)
    scaling = (3 if turned else 2) * (2 if ask is mv.covariance else 1)
    a = np.abs(design.row_side.whitener()) @ data.largest_values
    b = a if ask is mv.covariance else np.ones(query.cols)
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    roundings = paid(query, design, data.largest_values) / (2 * ROUNDING * size)
    assert of_the_answer(n) + scaling <= roundings <= of_the_answer(n) + scaling + 6


def test_no_feature_is_known_to_be_smaller_unless_that_is_said():
    data = make_dataset(3, 40, lower=[1000, 0, 0], upper=[1002, 1, 1])
    query = mv.mean(data)
    design = mv.design_noise(query, epsilon=1, delta=1e-5)
    # Noise is as 2 : 1 : 1, so one large feature counts 1002/2; if all may be as large, sqrt(1/4 + 1 + 1) times 1002.
    assert paid(query, design) / paid(query, design, data.largest_values) == pytest.approx(3, rel=1e-3)


@pytest.mark.parametrize("length", [1e-6, 1.0])
def test_a_kernel_is_never_charged_more_than_its_entries_can_change(length):
    """As computed they lie in [0, 1] too: 2(n - 1) of them change, by at most 1 each, however wrong they are."""
    query = mv.rbf_kernel(make_dataset(2, 40), length=length)
    design = mv.design_noise(query, epsilon=1, delta=1e-5)
    scale = math.sqrt(design.row_side.largest_precision * design.col_side.largest_precision)
    computed = computed_sensitivity(query, design.row_side, design.col_side, design.mu)
    roundings = (computed / (1 + MARGIN) - math.sqrt(2 * 39) * scale) / (2 * ROUNDING * 40 * scale)
    assert 4 <= roundings <= 8


def test_a_kernel_of_values_that_may_be_anything_is_refused_where_they_matter():
    query = mv.rbf_kernel(make_dataset(2, 40), length=10.0)
    design = mv.design_noise(query, epsilon=1, delta=1e-5)
    with pytest.raises(mv.InputError, match="rounding errors could reach"):
        computed_sensitivity(query, design.row_side, design.col_side, design.mu)
    assert paid(query, design, np.ones(2)) < 1e-6 * design.mu


def every_graph(size):
    pairs = list(itertools.combinations(range(size), 2))
    for chosen in itertools.product((0, 1), repeat=len(pairs)):
        graph = np.zeros((size, size), dtype=int)
        for (i, j), edge in zip(pairs, chosen, strict=True):
            graph[i, j] = graph[j, i] = edge
        yield graph


@pytest.mark.parametrize("ask", [mv.adjacency, mv.laplacian])
def test_no_graph_has_larger_entries_and_some_has_as_large(ask):
    answers = np.array([np.abs(ask(graph).value) for graph in every_graph(4)])
    left, right = ask(next(every_graph(4))).largest_entries(None)
    assert (answers <= np.outer(left, right) * (1 + 1e-12)).all()
    assert np.outer(left, right).max() == pytest.approx(answers.max())


@pytest.mark.parametrize("ask", [mv.identity, mv.mean, mv.covariance])
def test_no_table_has_larger_entries_and_some_has_as_large(ask):
    data = make_dataset(3, 4, lower=[-1, -5, 2], upper=[2, 3, 4])
    left, right = ask(data).largest_entries(data.largest_values)
    ends = np.array([2.0, 5.0, 4.0])
    answer = {"identity": np.outer(ends, np.ones(4)), "mean": ends[:, None], "covariance": np.outer(ends, ends)}
    assert np.outer(left, right) == pytest.approx(answer[ask(data).name])


def test_of_a_table_whose_values_are_not_told_only_the_longest_record_is_known():
    data = make_dataset(3, 7)
    for ask in (mv.identity, mv.mean):
        left, right = ask(data).largest_entries(None)
        assert np.outer(left, right) == pytest.approx(np.full((3, 7 if ask is mv.identity else 1), math.sqrt(3)))


def test_moments_are_at_most_the_square_of_a_joined_record():
    data = make_dataset(3, 20)
    query = moments(data, bound=mv.RecordBound(radius=0.8), constant=0.5, whole=True).query
    left, right = query.largest_entries(None)
    assert (np.abs(query.value) <= np.outer(left, right)).all()
    longest = math.sqrt(0.8**2 + 0.5**2)
    assert (left[0], right[0]) == pytest.approx((longest, longest))


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("mode", ["rows", "columns", "both"])
def test_the_norm_of_an_answer_of_which_nothing_else_is_known(rng, mode, turned):
    """``|| |A| |f| |B|ᵀ ||`` over all f of norm gamma: gamma times both largest singular values, or above."""
    query = mv.custom(np.ones((3, 3)), sensitivity=0.1, gamma=7)
    design = mv.design_noise(query, epsilon=1, delta=1e-5, theta=mv.manual([1, 2, 3]), mode=mode,
                             directions=mv.random_rotation(3, rng=rng) if turned else None)
    found = secure_noise.largest_white_norm(query, design.row_side, design.col_side, None)
    sides = design.row_side, design.col_side
    least = 7 * math.prod(np.linalg.norm(np.abs(side.whitener()), ord=2) for side in sides)
    above = math.prod(1 + 1e-12 if side.is_diagonal else math.sqrt(3) for side in sides)
    assert least * (1 - 1e-12) <= found <= least * above


def test_a_design_for_another_mu_is_refused_and_rounding_is_not_taken_for_one():
    query = mv.mean(make_dataset(2, 20))
    design = mv.design_noise(query, epsilon=1, delta=1e-5)
    for mu in (design.mu * (1 - 1e-5), design.mu * (1 + 1e-5), math.nan):
        with pytest.raises(mv.InputError, match="made for another query"):
            computed_sensitivity(query, design.row_side, design.col_side, mu)
    for mu in (design.mu * (1 - 1e-8), design.mu * (1 + 1e-8)):  # then the larger counts
        assert computed_sensitivity(query, design.row_side, design.col_side, mu) >= max(mu, design.mu) * (1 + MARGIN)


def test_rounding_of_less_than_a_tenth_of_a_change_is_paid_for_and_more_is_refused():
    share = []
    for exponent in range(9, 15):
        data = make_dataset(2, 10, lower=10.0**exponent, upper=10.0**exponent + 1)
        query = mv.mean(data)
        design = mv.design_noise(query, epsilon=1, delta=1e-5)
        try:
            share.append(paid(query, design, data.largest_values) / design.mu)
        except mv.InputError:
            share.append(math.inf)
    assert share == sorted(share)
    assert share[-1] == math.inf
    finite = [one for one in share if one < math.inf]
    assert 0.001 < max(finite) <= 0.1
    assert mv.gaussian_mu(1.0, 1e-5) == pytest.approx(design.mu)


def test_sides_that_only_scale_are_whitened_as_their_matrices_are(rng):
    answer = rng.standard_normal((3, 4))
    diagonal = NoiseSide.of(NoiseSide.identity(3).directions, [1.0, 4.0, 9.0])
    turned = NoiseSide.of(mv.random_rotation(4, rng=rng), [1.0, 2.0, 3.0, 4.0])
    for rows, cols in ((diagonal, turned), (NoiseSide.identity(3), turned), (diagonal, NoiseSide.identity(4))):
        white = secure_noise.whiten(rows, cols, answer)
        assert white == pytest.approx(rows.whitener() @ answer @ cols.whitener().T)
        assert colour(rows, cols, white[None].copy())[0] == pytest.approx(answer)


@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("length", [1.0, 2.0, 7.0])
def test_of_a_kernel_every_operation_is_counted(n, length):
    """Twice the two products and six operations for each length², and eight roundings of the entry itself."""
    data = make_dataset(2, n)
    error = mv.rbf_kernel(data, length=length).rounding(data.largest_values)
    span = (data.widths**2).sum() / length**2
    assert error / ROUNDING == pytest.approx(2 * span * 8 + 8, rel=1e-9)


def test_the_margin_is_a_billionth():
    query = mv.mean(make_dataset(2, 20))
    design = mv.design_noise(query, epsilon=1, delta=1e-5)
    assert paid(query, design) / design.mu + MARGIN == pytest.approx(1e-9, rel=0.01)


def test_the_error_of_a_long_sum_is_higham_s():
    assert sum_error(2**52) == 1  # half of one, by the other half


def test_the_grid_is_as_fine_as_it_is_said_to_be():
    assert secure_noise.hardening(entries=1, mu=1.0, sensitivity=1.0).exponent == -60
    assert secure_noise.hardening(entries=4, mu=2.0**-29, sensitivity=2.0**-29).exponent == -70


@pytest.mark.parametrize("mu", [1e-320, 1e-170, 1e-158, 1e155])
def test_a_mu_whose_square_is_no_number_is_refused(mu, monkeypatch):
    measurement, asked = secure_noise.gaussian, itertools.count()

    def counted(*given):
        assert next(asked) < 100  # it went on for ever
        return measurement(*given)

    monkeypatch.setattr(secure_noise, "gaussian", counted)
    with pytest.raises(mv.InputError, match="mu must lie between 1e-150 and 1e\\+150"):
        secure_noise.hardening(entries=4, mu=mu, sensitivity=mu * (1 + MARGIN))
    assert secure_noise.hardening(entries=4, mu=1e-150, sensitivity=1e-150 * (1 + MARGIN)).rho > 0


@pytest.mark.parametrize("mu", [1e-9, 1e-3, 1.0, 30.0])
def test_the_least_scale_is_found_at_once(drawn, mu):
    secure_noise.hardening(entries=4, mu=mu, sensitivity=mu * (1 + MARGIN))
    assert len(drawn) <= 4
