"""The loss of the worst neighbours, against dense algebra and numerical integration."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import laplace, norm

import mvgviz as mv
from mvgviz.design.privacy_loss import SpentMu, coin_odds, loss_density, mass_beyond, odds, pair_loss, spent_mu
from mvgviz.noise.mixtures import plan_epsilon
from mvgviz.pictures import privacy
from tests.datasets import make_dataset

GRAPH = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
MUS = [1e-7, 1e-3, 0.3, 1, 5, 14]
QUERIES = {
    "identity": mv.identity(make_dataset(4, 30, lower=-2, upper=1)), "mean": mv.mean(make_dataset(4, 30)),
    "covariance": mv.covariance(make_dataset(4, 30, lower=-2, upper=1)), "adjacency": mv.adjacency(GRAPH),
    "laplacian": mv.laplacian(GRAPH), "kernel": mv.rbf_kernel(make_dataset(2, 30), length=1),
}


def designed(query, rng, *, mode=None, rotated=True):
    size = query.cols if mode == "columns" else query.rows
    return mv.design_noise(query, epsilon=1, delta=1e-3, mode=mode, theta=mv.manual(rng.uniform(0.1, 1, size)),
                           directions=mv.random_rotation(size, rng=rng) if rotated else None)


@pytest.mark.parametrize("rotated", [True, False])
@pytest.mark.parametrize("mode", [None, "rows", "columns"])
@pytest.mark.parametrize("name", QUERIES)
def test_shares_and_mu_agree_with_dense_whitening(name, mode, rotated, rng):
    query = QUERIES[name]
    design = designed(query, rng, mode=mode, rotated=rotated)
    loss = pair_loss(query, design)
    difference = loss.pair.left @ loss.pair.right.T
    precision = np.kron(np.linalg.inv(design.col_covariance()), np.linalg.inv(design.row_covariance()))
    square = difference.T.ravel() @ precision @ difference.T.ravel()
    assert loss.mu == pytest.approx(math.sqrt(square), rel=1e-8)
    rows, cols = (np.diag(side.variances**-0.5) @ side.directions.matrix.T
                  for side in (design.row_side, design.col_side))
    white = rows @ difference @ cols.T
    assert loss.shares == pytest.approx(np.square(white).sum(axis=0 if mode == "columns" else 1) / square, abs=1e-10)
    assert loss.shares.sum() == pytest.approx(1)
    left, right = loss.attack_factors()
    assert np.sum(left @ right.T * difference) == pytest.approx(square, rel=1e-8)


def test_along_the_features_a_table_s_loss_is_divided_like_its_budget():
    query = mv.identity(make_dataset(3, 20, lower=0, upper=[1, 5, 9]))
    design = mv.design_noise(query, epsilon=1, delta=1e-4, theta=[0.5, 0.3, 0.2])
    assert pair_loss(query, design).shares == pytest.approx(design.theta)


def test_the_shape_is_that_of_the_noise_whatever_its_size():
    query = QUERIES["covariance"]
    one, larger, other = (pair_loss(query, mv.design_noise(query, epsilon=epsilon, delta=1e-3, theta=mv.manual(parts)))
                          for epsilon, parts in ((1, [4, 3, 2, 1]), (0.1, [4, 3, 2, 1]), (1, [1, 2, 3, 4])))
    assert one.shape() == larger.shape() != other.shape()


def test_the_kernel_s_worst_record_is_the_worst_of_all(rng):
    query = QUERIES["kernel"]
    design = designed(query, rng)
    m, best = design.row_side.precision(), 0.0
    drop = query.sensitivity / math.sqrt(2 * (query.rows - 1))
    for k in range(query.rows):
        d = np.zeros((query.rows, query.rows))
        d[k, :] = d[:, k] = drop
        d[k, k] = 0
        best = max(best, math.sqrt(np.trace(m @ d @ m @ d)))
    assert pair_loss(query, design).mu == pytest.approx(best)
    assert best < design.mu  # an upper bound, and the pair says so
    assert pair_loss(query, design).attained < 1


@pytest.mark.parametrize("mu", [0.01, 0.3, 2, 8])
@pytest.mark.parametrize("away", [-1, 0.5, 3])
def test_mass_beyond_epsilon_and_delta_are_integrals_of_the_density(mu, away):
    epsilon = abs(mu * mu / 2 + away * mu) + 1e-3
    end = mu * mu / 2 + 12 * mu
    mass, _ = quad(lambda x: loss_density(x, mu), epsilon, end, epsabs=1e-13)
    delta, _ = quad(lambda x: loss_density(x, mu) * -math.expm1(epsilon - x), epsilon, end, epsabs=1e-13)
    assert mass_beyond(epsilon, mu) == pytest.approx(mass, rel=1e-6)
    assert mv.gaussian_delta(epsilon, mu) == pytest.approx(delta, rel=1e-6)


def test_the_other_dataset_s_loss_is_the_mirror_image():
    x = np.linspace(-3, 3, 41)
    assert loss_density(x, 0.7, replaced=True) == pytest.approx(loss_density(-x, 0.7))
    assert loss_density(x, 0.7) / loss_density(x, 0.7, replaced=True) == pytest.approx(np.exp(x))  # it is a log ratio


@pytest.mark.parametrize(("mu", "expected"), [
    (0, (10_000, 500, 500)), (1e-7, (10_000, 500, 500)), (0.001, (10_000, 500, 501)), (0.02, (1_000, 50, 52)),
    (0.3, (100, 5, 9)), (1, (100, 5, 26)), (4, (100, 5, 99)), (5, (1_000, 1, 972)), (14, (10_000, 1, 10_000))])
def test_odds_are_said_in_the_smallest_crowd_that_tells(mu, expected):
    assert odds(mu) == expected
    crowd, accused, caught = expected
    assert caught == round(crowd * norm.cdf(norm.ppf(accused / crowd) + mu))


@pytest.mark.parametrize(("mu", "expected"), [
    (0, (5_000, 10_000)), (0.001, (5_002, 10_000)), (0.26, (56, 100)), (0.3, (56, 100)), (14, (10_000, 10_000))])
def test_a_guess_at_even_odds(mu, expected):
    assert coin_odds(mu) == expected


def test_private_directions_are_counted_in_once():
    data = make_dataset(3, 50)
    along = mv.private_eigenvectors(data, mu=0.2, rng=np.random.default_rng(0))
    query = mv.covariance(data)
    design = mv.design_noise(query, epsilon=1, delta=1e-3, directions=along, cover_directions=True)
    spent = spent_mu(design)
    assert spent.total == pytest.approx(design.total_mu)
    assert spent.after(1)[1] == pytest.approx(0.04 / design.total_mu**2)
    mu, share = spent.after(25)
    assert mu**2 == pytest.approx(25 * design.mu**2 + 0.04)
    assert share == pytest.approx(0.04 / mu**2)


def test_directions_that_are_not_private_leave_the_noise_alone():
    query = QUERIES["covariance"]
    design = mv.design_noise(query, epsilon=1, delta=1e-3, directions=mv.eigenvectors(query))
    assert math.isinf(design.total_mu)
    assert spent_mu(design) == SpentMu(noise=design.mu, directions=0)


@pytest.mark.slow
@pytest.mark.parametrize("mu", MUS)
@pytest.mark.parametrize("epsilon", [0.01, 1, 100])
@pytest.mark.parametrize("delta", [0.5, 1e-3, 1e-30])
def test_every_picture_draws_for_every_mu(mu, epsilon, delta):
    spent, asked = SpentMu(noise=mu, directions=0), {"epsilon": epsilon, "delta": delta}
    loss, curve, misses = (privacy.loss_picture(mu, epsilon=epsilon), privacy.curve_picture(mu, **asked),
                           privacy.tradeoff_picture(mu, **asked))
    for picture in (loss, curve, misses):
        assert all(np.isfinite([*trace.x, *trace.y]).all() for trace in picture.figure.data)
    assert all((trace.y >= 0).all() for trace in loss.figure.data)
    assert (curve.figure.data[0].y > 0).all()
    for picture in (loss, curve, misses, privacy.releases_picture(spent, **asked, count=10)):
        assert picture.takeaway.startswith("**")


def test_the_curve_starts_at_total_variation_and_passes_the_asked_point():
    mu = 0.4
    delta = mv.gaussian_delta(1, mu)
    picture = privacy.curve_picture(mu, epsilon=1, delta=delta)
    curve = picture.figure.data[0]
    assert curve.y[0] == mv.total_variation(mu)
    assert picture.takeaway.startswith("**Spends ε = 1 at δ = ")
    assert "no privacy" not in picture.takeaway
    assert np.interp(1, curve.x, np.log(curve.y)) == pytest.approx(math.log(delta), abs=1e-3)


def test_the_shaded_tail_has_the_area_of_its_name():
    tail, excess = privacy.loss_picture(0.5, epsilon=1.0).figure.data[2:]
    assert np.trapezoid(tail.y, tail.x) == pytest.approx(mass_beyond(1.0, 0.5), rel=0.02)
    assert np.trapezoid(excess.y, excess.x) == pytest.approx(mv.gaussian_delta(1.0, 0.5), rel=0.02)


def test_a_tiny_mu_is_the_diagonal_and_epsilon_is_out_of_the_picture():
    false_alarms, misses = privacy.best_attacks(1e-7)
    assert misses == pytest.approx(1 - false_alarms, abs=1e-6)
    assert len(privacy.loss_picture(1e-7, epsilon=1.0).figure.data) == 2
    assert privacy.curve_picture(1e-7, epsilon=1, delta=1e-3).figure.layout.xaxis.type == "log"


@pytest.mark.parametrize("epsilon", [0.1, 1, 5])
def test_the_best_attack_touches_what_was_asked_and_never_passes_it(epsilon):
    delta = 1e-3
    mu = mv.design_noise(QUERIES["mean"], epsilon=epsilon, delta=delta).mu
    false_alarms, misses = privacy.best_attacks(mu)
    gap = misses - np.interp(false_alarms, *privacy.fewest_misses(epsilon, delta))
    assert gap.min() > -1e-9
    assert np.sort(gap[(false_alarms > 1e-6) & (false_alarms < 0.9)])[0] < 1e-3
    marked = privacy.tradeoff_picture(mu, epsilon=epsilon, delta=delta).figure.data[-1]
    assert marked.y[0] == mv.tradeoff(marked.x[0], mu)


def test_the_attacker_of_one_box_is_that_of_laplace_noise_on_one_number():
    design = mv.design_noise(QUERIES["mean"], epsilon=1, delta=1e-6, family="box")
    spent = spent_mu(design)
    alarms = np.array([0.0, 0.01, 0.1, 0.3, 0.5, 0.8, 1.0])
    exact = laplace.cdf(laplace.isf(alarms), loc=1)
    assert spent.misses(alarms) == pytest.approx(exact, abs=2e-5)
    assert (spent.misses(alarms) <= exact + 1e-12).all()  # never said to be weaker than it is
    assert spent.advantage == pytest.approx(1 - math.exp(-0.5))
    assert coin_odds(spent) == (70, 100)
    assert odds(spent) == (100, 5, 14)
    assert spent.epsilon(1e-6) == pytest.approx(1 - 2e-6)


@pytest.mark.parametrize("family", ["box", "ellipse"])
def test_an_epsilon_whose_exponential_is_no_float_has_a_curve(family):
    spent = spent_mu(mv.design_noise(QUERIES["mean"], epsilon=1000.0, delta=1e-6, family=family))
    misses = spent.misses(np.array([0.0, 1e-300, 0.05, 1.0]))
    assert (misses >= 0).all()
    assert misses[-2:] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("releases", [2, 9, 200])
def test_pure_releases_never_cost_less_than_their_exact_sum_nor_more_than_adding_up(releases):
    spent = spent_mu(mv.design_noise(QUERIES["mean"], epsilon=0.1, delta=1e-6, family="box"))
    exact = plan_epsilon(1e-6, [0.1] * releases, 0.0)
    assert exact - 1e-3 * exact <= spent.epsilon(1e-6, releases) <= releases * 0.1 * (1 + 1e-9)


def test_two_ellipse_releases_cost_no_more_than_adding_up_the_epsilons_at_half_of_delta():
    data = mv.Dataset(matrix=np.zeros((40, 9)), features=[f"c{k}" for k in range(40)], lower=0, upper=1)
    spent = spent_mu(mv.design_noise(mv.mean(data), epsilon=1.0, delta=1e-6, family="ellipse"))
    assert spent.epsilon(1e-6, 2) <= 2 * spent.epsilon(5e-7) * (1 + 1e-12)
    assert spent.epsilon(1e-6, 2) < 2.1


def test_composition_is_exact_and_below_adding_up():
    spent, asked = SpentMu(noise=0.3, directions=0), {"epsilon": mv.gaussian_epsilon(1e-3, 0.3), "delta": 1e-3}
    traces = privacy.releases_picture(spent, **asked, count=16).figure.data
    assert traces[3].y[0] == pytest.approx(mv.gaussian_epsilon(1e-3, 1.2))
    added, exact = (trace.y for trace in (traces[0], traces[2]))
    assert exact[0] == pytest.approx(added[0])
    shown = np.isfinite(added)
    assert (exact[shown][1:] < added[shown][1:]).all()
    assert not shown[-1]  # 1 000 times 1/1 000: adding up says nothing any more


@pytest.mark.parametrize(("family", "delta"), [("box", 0), ("laplace", 0), ("ellipse", 0.016)])
def test_releases_of_another_family_add_their_own_delta_and_have_no_mu(family, delta):
    spent = spent_mu(mv.design_noise(QUERIES["mean"], epsilon=0.5, delta=1e-3, family=family))
    picture = privacy.releases_picture(spent, epsilon=0.5, delta=1e-3, count=16)
    assert f"adding up would say ε = 8.00 at δ = {delta}." in picture.takeaway
    assert "μ" not in picture.about
    assert "Balle" not in privacy.curve_picture(spent, epsilon=0.5, delta=1e-3).about
    assert np.isfinite(picture.figure.data[0].y[-1]) == (delta == 0)


def test_many_shares_are_summed_up_into_one_bar():
    shares = np.arange(1, 101) / 5050
    shown = privacy.largest_shares(shares)
    assert shown[0] == 99
    assert len(shown) == 20
    figure = privacy.shares_picture(shares, np.full(100, 0.01), names=[f"d{k}" for k in range(100)]).figure
    assert sum(figure.data[0].x) == pytest.approx(1)
    assert figure.layout.yaxis.ticktext[-1] == "the other 80 together"


def test_shares_too_small_to_see_are_not_drawn_singly():
    shown = privacy.largest_shares(mv.binary(50, priority=[3, 4], share=1 - 1e-6))
    assert len(shown) == 6
    assert set(shown[:2]) == {3, 4}
