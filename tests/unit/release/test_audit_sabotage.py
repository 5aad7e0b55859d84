"""Noise that is not what the design says is caught, whichever sampler drew it and however large the answer."""

from dataclasses import replace

import numpy as np
import pytest

import mvgviz as mv
from mvgviz.design import sampling
from mvgviz.design.privacy_loss import pair_loss
from mvgviz.release import secure_noise as hardened
from mvgviz.release.audit import attacks_per_release, judge, release_scores, simulate_scores
from mvgviz.release.noise_check import FALSE_ALARMS, NoiseTally, PairTally, _arranged, moving_together
from tests.datasets import make_dataset

pytestmark = pytest.mark.slow

DELTA = 1e-2
EPSILON = 1.0
GRAPH = np.triu(np.random.default_rng(3).integers(0, 2, (60, 60)), 1)


def designed(query, *, mode=None, rotated=True, share=0.8):
    size = query.cols if mode == "columns" else query.rows
    rng = np.random.default_rng(5)
    return query, mv.design_noise(query, epsilon=EPSILON, delta=DELTA, mode=mode,
                                  theta=mv.binary(size, priority=[0], share=share),
                                  directions=mv.random_rotation(size, rng=rng) if rotated else None)


SMALL = {
    "covariance": designed(mv.covariance(make_dataset(3, 40))),
    "table": designed(mv.identity(make_dataset(4, 30)), rotated=False),
    "square table": designed(mv.identity(make_dataset(5, 5)), rotated=False),
    "table by columns": designed(mv.identity(make_dataset(3, 4)), mode="columns"),
}
LARGE = {
    "table 21 × 2126": designed(mv.identity(make_dataset(21, 2_126, lower=0)), rotated=False),
    "rotated table": designed(mv.identity(make_dataset(21, 2_126, lower=0))),
    "covariance 51 × 51": designed(mv.covariance(make_dataset(51, 60, lower=0)), rotated=False),
    "laplacian 60 × 60": designed(mv.laplacian(GRAPH + GRAPH.T)),
    "kernel 55 × 55": designed(mv.rbf_kernel(make_dataset(2, 55), length=1)),
}
SLOW = ("table 21 × 2126", "rotated table")  # a second for each hardened release
MEDIUM = {
    "table 21 × 126": designed(mv.identity(make_dataset(21, 126, lower=0))),
    "covariance 34 × 34": designed(mv.covariance(make_dataset(34, 60, lower=0))),
}
BOTH = SMALL | MEDIUM | LARGE
each = pytest.mark.parametrize("name", SMALL | LARGE)
each_quick = pytest.mark.parametrize("name", [name for name in BOTH if name not in SLOW])
honest_sampler, honest_noise = sampling.sample_noise, hardened.add_noise


def sampled(name, trials=None, seed=1):
    return sampled_of(*BOTH[name], trials or (5_000 if name in SMALL else 500), seed)


def sampled_of(query, design, trials=5_000, seed=1):
    loss = pair_loss(query, design)
    return judge(loss, simulate_scores(loss, trials=trials, rng=np.random.default_rng(seed)), delta=DELTA)


def released(name, trials=None):
    return released_of(*BOTH[name], trials or (200 if name in SMALL else 4))


def released_of(query, design, trials=100, **how):
    loss = pair_loss(query, design)
    return judge(loss, release_scores(loss, query, trials=trials, **how), delta=DELTA)


def caught(result):
    return not result.check.as_claimed or result.epsilon_lower > EPSILON


# The sampler of trials and pictures


@each
def test_an_honest_sampler_passes(name):
    result = sampled(name)
    assert result.check.as_claimed
    assert result.epsilon_lower <= EPSILON


def other_way(design, **keywords):
    """The most precise directions get the most noise."""
    sides = [replace(side, variances=side.variances[::-1]) for side in (design.row_side, design.col_side)]
    return honest_sampler(replace(design, row_side=sides[0], col_side=sides[1]), **keywords)


def round_noise(design, *, rng, trials):
    """Noise of the same total power, the same in every entry."""
    power = np.mean(np.square(design.noise_std()))
    return np.sqrt(power) * rng.standard_normal((trials, design.rows, design.cols))


def uniform_noise(design, *, rng, trials):
    """The right covariance, the wrong distribution."""
    flat = rng.uniform(-np.sqrt(3), np.sqrt(3), (trials, design.rows, design.cols))
    return sampling.colour(design.row_side, design.col_side, flat)


SABOTAGES = {
    **{f"times {factor}": lambda design, factor=factor, **given: factor * honest_sampler(design, **given)
       for factor in (0, 0.5, 0.9)},
    "round": round_noise,
    "the other way": other_way,
    "one seed": lambda design, *, rng, trials: honest_sampler(design, rng=np.random.default_rng(7), trials=trials),
    "one draw": lambda design, *, rng, trials: np.repeat(honest_sampler(design, rng=rng, trials=1), trials, axis=0),
    "one column": lambda design, **given: np.repeat(honest_sampler(design, **given)[:, :, :1], design.cols, axis=2),
}


@each
@pytest.mark.parametrize("sabotage", SABOTAGES)
def test_a_sabotaged_sampler_is_caught(name, sabotage, monkeypatch):
    monkeypatch.setattr(sampling, "sample_noise", SABOTAGES[sabotage])
    result = sampled(name)
    assert caught(result)
    assert result.check.words


@each
def test_sides_that_are_swapped_are_caught(name, monkeypatch):
    design = BOTH[name][1]
    if design.row_side is design.col_side or design.rows != design.cols:
        return
    monkeypatch.setattr(sampling, "colour", lambda rows, cols, normals: sampling._colour_columns(
        rows, sampling._colour_rows(cols, normals)))
    assert caught(sampled(name))


def test_noise_of_another_distribution_is_caught_where_the_attack_sees_single_entries(monkeypatch):
    query = mv.identity(make_dataset(1, 50))
    monkeypatch.setattr(sampling, "sample_noise", uniform_noise)
    assert not sampled_of(query, mv.design_noise(query, epsilon=EPSILON, delta=DELTA)).check.as_claimed


def test_zero_noise_is_called_so_and_halved_noise_by_its_size(monkeypatch):
    monkeypatch.setattr(sampling, "sample_noise", SABOTAGES["times 0"])
    assert sampled("table 21 × 2126").check.words == "there is no noise"
    monkeypatch.setattr(sampling, "sample_noise", SABOTAGES["times 0.5"])
    assert "the noise is 0.50 times what is claimed" in sampled("table 21 × 2126").check.words


def test_noise_too_large_along_the_attack_and_too_small_elsewhere_is_caught(monkeypatch):
    # The attack alone would see nothing wrong: its lower bound stays under the claim.
    query = mv.identity(make_dataset(3, 40))
    design = mv.design_noise(query, epsilon=EPSILON, delta=DELTA, theta=mv.manual([98, 1, 1]))

    def twisted(design, **keywords):
        return honest_sampler(design, **keywords) * np.array([1.5, 0.3, 1])[:, None]

    monkeypatch.setattr(sampling, "sample_noise", twisted)
    result = sampled_of(query, design)
    assert result.epsilon_lower < EPSILON
    assert not result.check.as_claimed


# Noise of the right size in every direction, which should be independent and is not


def correlated(axis, one, other, rho):
    """Two rows (axis 1) or two columns (axis 2) of each draw of whitened noise move together."""
    def twist(white):
        parts = np.moveaxis(white, axis, 0)
        parts[other] = rho * parts[one] + np.sqrt(1 - rho**2) * parts[other]
        return white
    return twist


def shared(axis, rho):
    """All rows or all columns have a part in common, up to the sign: each pair is correlated a little."""
    def twist(white):
        size = white.shape[axis]
        signs = np.expand_dims(np.random.default_rng(4).choice([-1, 1], size), 2 - axis)
        common = white.mean(axis=axis, keepdims=True) * np.sqrt(size)
        return np.sqrt(1 - rho) * white + np.sqrt(rho) * signs * common[::-1]  # of another draw
    return twist


def nearly_symmetric(white):
    return 0.8 * white + 0.6 * np.where(np.eye(white.shape[1], dtype=bool), white[::-1], white.transpose(0, 2, 1))


def balanced(white):
    """The noise of all columns sums to nothing."""
    return white - white.mean(axis=2, keepdims=True)


def twisted_sampler(twist):
    def sample(design, *, rng, trials):
        white = twist(rng.standard_normal((trials, design.rows, design.cols)))
        return sampling.colour(design.row_side, design.col_side, white)
    return sample


@pytest.mark.parametrize(("name", "twist", "words"), [
    ("covariance", correlated(1, 0, 2, 0.3), "row directions 1 and 3 of the noise move together, correlation 0."),
    ("covariance", correlated(2, 0, 1, -0.3), "column directions 1 and 2 of the noise move against each other, "),
    ("table", correlated(2, 0, 1, 0.99), "column directions 1 and 2 of the noise move together, correlation 0.99 "),
    ("table", correlated(1, 1, 3, -0.2), "row directions 2 and 4 of the noise move against each other, "),
    ("square table", correlated(1, 0, 1, 0.4), "row directions 1 and 2 of the noise move together, "),
    ("table by columns", correlated(2, 1, 3, 0.2), "column directions 2 and 4 of the noise move together, "),
    ("table 21 × 2126", correlated(2, 0, 1, 0.99), "column directions 1 and 2 of the noise move together, "),
    ("table 21 × 2126", correlated(2, 4, 1_999, 0.99), "column directions 5 and 2000 of the noise move together, "),
    ("rotated table", correlated(2, 19, 20, -0.95), "column directions 20 and 21 of the noise move against each "),
    ("rotated table", correlated(1, 3, 6, 0.2), "row directions 4 and 7 of the noise move together, correlation 0."),
    ("covariance 51 × 51", correlated(1, 0, 50, 0.1), "row directions 1 and 51 of the noise move together, "),
    ("laplacian 60 × 60", correlated(2, 30, 31, -0.6), "column directions 31 and 32 of the noise move against each "),
    ("kernel 55 × 55", shared(1, 0.02), "row directions of the noise are not independent, correlations of 0.0"),
    ("table 21 × 2126", shared(2, 0.05), " directions of the noise are not independent, "),
    ("square table", nearly_symmetric, "entries ("), ("covariance 34 × 34", nearly_symmetric, "entries ("),
    ("table", balanced, "in the sum of all columns the noise is 0.00 times what is claimed"),
    ("table 21 × 2126", balanced, "in the sum of all columns the noise is 0.00 times what is claimed")])
def test_noise_that_moves_together_is_caught_and_named(name, twist, words, monkeypatch):
    monkeypatch.setattr(sampling, "sample_noise", twisted_sampler(twist))
    check = sampled(name).check
    assert not check.as_claimed
    assert words in check.words


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("size", "cols", "trials", "rho"), [(34, 34, 500, 0.6), (21, 21, 1_000, -0.9),
                                                              (21, 1, 10_000, 0.36)])
def test_two_rows_that_move_together_are_caught_each_time(size, cols, trials, rho, seed, monkeypatch):
    asked = mv.covariance(make_dataset(size, 60)) if cols > 1 else mv.mean(make_dataset(size, 60))
    monkeypatch.setattr(sampling, "sample_noise", twisted_sampler(correlated(1, 0, 1, rho)))
    assert not sampled_of(*designed(asked), trials, seed).check.as_claimed


def test_tallies_of_parts_add_up_to_that_of_all():
    design = BOTH["rotated table"][1]
    noise = honest_sampler(design, rng=np.random.default_rng(1), trials=5)
    whole, parts = NoiseTally(design).add(noise), NoiseTally(design).add(noise[:2]).add(noise[2:])
    for name, pairs in whole.pairs.items():
        assert parts.pairs[name].products == pytest.approx(pairs.products)
        assert parts.pairs[name].largest == pytest.approx(pairs.largest)
        assert np.array_equal(parts.pairs[name].kept, pairs.kept)
    assert parts.sums == pytest.approx(whole.sums)


@pytest.mark.parametrize("size", [3, 512, 513, 600, 2_126, 30_000, 30_001])
def test_neighbouring_columns_always_share_a_group(size):
    groups = _arranged(size)
    place = np.full((len(groups), size), -1)
    for row, order in zip(place, groups, strict=True):
        row[order] = np.arange(len(order))[:, None]
        assert len(np.unique(order)) == order.size
    assert ((place[:, 1:] == place[:, :-1]) & (place[:, 1:] >= 0)).any(axis=0).all()


def test_the_correlation_of_a_pair_is_that_of_the_definition():
    values = np.random.default_rng(1).standard_normal((50, 600))
    tally = PairTally(600).add(values)
    scale = np.linalg.norm(values, axis=0)
    expected = values.T @ values / np.outer(scale, scale)
    assert tally.largest.correlation == pytest.approx(expected[tally.largest.first, tally.largest.second])
    assert abs(tally.largest_found.correlation) == pytest.approx(np.abs(np.triu(expected, 1)).max())
    assert tally.largest_found.pairs == 600 * 599 // 2


# The hardened sampler of a release


@each_quick
def test_an_honest_release_passes(name):
    result = released(name)
    assert result.check.p_value > 1e-9  # fresh noise each time: the chance of failing by luck
    assert result.epsilon_lower <= 2 * EPSILON


def test_the_hardened_audit_measures_epsilon():
    query, design = SMALL["table"]
    assert 0.3 * EPSILON < released_of(query, design, 15_000).epsilon_lower < 1.3 * EPSILON
    assert mv.gaussian_epsilon(DELTA, pair_loss(query, design).mu) == pytest.approx(EPSILON)


def partly_silent(values, plan, **keywords):
    noisy = honest_noise(values, plan, **keywords)
    noisy[: values.size // 4] = values[: values.size // 4]
    return noisy


def one_chunk(values, plan, **keywords):
    noise = honest_noise(values[: values.size // 2], plan) - values[: values.size // 2]
    return values + np.resize(noise, values.size)


RELEASE_SABOTAGES = {
    "halved": lambda values, plan, **given: (values + honest_noise(values, plan, **given)) / 2,
    "zero": lambda values, plan, **given: values,
    "partly silent": partly_silent,
    "one seed": lambda values, plan, **given: values + np.random.default_rng(7).standard_normal(values.size),
    "one chunk": one_chunk,
}


@each_quick
@pytest.mark.parametrize("sabotage", RELEASE_SABOTAGES)
def test_a_sabotaged_release_is_caught(name, sabotage, monkeypatch):
    monkeypatch.setattr(hardened, "add_noise", RELEASE_SABOTAGES[sabotage])
    assert caught(released(name))


def test_zero_noise_in_a_large_table_is_caught(monkeypatch):
    monkeypatch.setattr(hardened, "add_noise", RELEASE_SABOTAGES["zero"])
    assert released("table 21 × 2126").check.words == "there is no noise"


def twisted_release(shape, twist):
    def add(values, plan, **keywords):
        noise = honest_noise(values, plan, **keywords) - values
        return values + twist(noise.reshape(1, *shape)).ravel()
    return add


@pytest.mark.parametrize(("name", "twist"), [
    ("covariance", correlated(1, 0, 2, 0.5)), ("covariance", correlated(2, 0, 1, -0.5)),
    ("table", correlated(2, 0, 1, 0.99)), ("table", correlated(1, 1, 3, -0.5)),
    ("table 21 × 126", correlated(2, 0, 1, 0.99)), ("laplacian 60 × 60", correlated(1, 0, 1, 0.6)),
    ("laplacian 60 × 60", correlated(2, 30, 31, -0.6))])
def test_released_noise_that_moves_together_is_caught(name, twist, monkeypatch):
    monkeypatch.setattr(hardened, "add_noise", twisted_release(BOTH[name][1].noise_std().shape, twist))
    assert "of the noise move" in released(name).check.words


@each_quick
def test_released_noise_of_the_wrong_shape_is_caught(name, monkeypatch):
    def round_answer(rows, cols, matrix):
        size = np.sqrt(np.mean(rows.variances) * np.mean(cols.variances))
        return size * matrix

    monkeypatch.setattr(hardened, "colour", round_answer)
    monkeypatch.setattr(hardened, "whiten", lambda rows, cols, matrix: matrix / np.sqrt(
        np.mean(rows.variances) * np.mean(cols.variances)))
    assert caught(released(name))


def used_again(change):
    """Every other release has the noise of the one before, changed."""
    kept = []

    def add(values, plan, **keywords):
        if kept:
            return values + change(kept.pop())
        kept.append(honest_noise(values, plan, **keywords) - values)
        return values + kept[0]
    return add


def half_again(change):
    """Half of a release has the noise of the other half, changed."""
    def add(values, plan, **keywords):
        half = values.size // 2
        noise = honest_noise(values, plan, **keywords) - values
        noise[-half:] = change(noise[:half])
        return values + noise
    return add


@each_quick
@pytest.mark.parametrize("again", [used_again, half_again], ids=lambda f: f.__name__)
@pytest.mark.parametrize("change", [lambda noise: noise, lambda noise: -noise, lambda noise: -noise[::-1]],
                         ids=["the same", "opposite", "opposite and backwards"])
def test_noise_that_is_used_twice_is_caught_whatever_its_sign(name, again, change, monkeypatch):
    monkeypatch.setattr(hardened, "add_noise", again(change))
    assert released(name).check.p_value < 1e-30


@pytest.mark.parametrize("trials", [5_000, 100])
@each
def test_draws_that_are_used_twice_with_opposite_signs_are_caught(name, trials, monkeypatch):
    def opposite(design, *, rng, trials):
        half = honest_sampler(design, rng=rng, trials=-(-trials // 2))
        return np.concatenate([half, -half])[:trials]

    monkeypatch.setattr(sampling, "sample_noise", opposite)
    if name in SMALL or trials == 100:
        assert sampled(name, trials).check.p_value < 1e-30


@pytest.mark.parametrize("share", [-0.4, 0.4])
@pytest.mark.parametrize("name", SMALL)
def test_noise_with_a_part_of_the_noise_before_is_caught(name, share, monkeypatch):
    last = []

    def add(values, plan, **keywords):
        noise = honest_noise(values, plan, **keywords) - values
        if last:
            noise = share * last.pop() + np.sqrt(1 - share**2) * noise
        last.append(noise)
        return values + noise

    monkeypatch.setattr(hardened, "add_noise", add)
    assert released(name, 400).check.p_value < 1e-9


def silent_where_large(limit):
    return lambda values, plan, **keywords: np.where(
        np.abs(values) > limit, values, honest_noise(values, plan, **keywords))


def silent_when_large(limit):
    return lambda values, plan, **keywords: (
        values if np.abs(values).max() > limit else honest_noise(values, plan, **keywords))


@each_quick
@pytest.mark.parametrize("limit", [3, 100, 2_000])
@pytest.mark.parametrize("silent", [silent_where_large, silent_when_large])
def test_a_sampler_that_adds_nothing_to_large_answers_is_caught(name, silent, limit, monkeypatch):
    monkeypatch.setattr(hardened, "add_noise", silent(limit))
    assert released(name).check.p_value < 1e-30


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(("low", "high"), [(1, 60), (70, 1_000)])
@pytest.mark.parametrize("largest", [False, True])
def test_a_sampler_that_adds_nothing_to_answers_of_some_size_is_caught(name, low, high, largest, monkeypatch):
    def silent(values, plan, **keywords):
        sizes = np.abs(values).max() if largest else np.abs(values)
        return np.where((low < sizes) & (sizes <= high), values, honest_noise(values, plan, **keywords))

    monkeypatch.setattr(hardened, "add_noise", silent)
    result = released(name, 120 * attacks_per_release(SMALL[name][1]))  # 60 answers of one size: a quarter are silent
    assert result.check.p_value < 1e-9


@pytest.mark.parametrize("silent", [silent_where_large, silent_when_large])
def test_one_that_adds_nothing_to_the_largest_answers_there_can_be_is_caught(silent, monkeypatch):
    data = make_dataset(3, 200_000, lower=900, upper=1_000)
    query = mv.mean(data)
    design = mv.design_noise(query, epsilon=EPSILON, delta=DELTA)
    largest = hardened.whiten(design.row_side, design.col_side, np.full((3, 1), 1_000.0)).max()
    assert largest > 1e5
    monkeypatch.setattr(hardened, "add_noise", silent(0.9 * largest))
    assert released_of(query, design, largest=data.largest_values).check.p_value < 1e-30


def test_a_large_table_is_attacked_at_every_record_of_two_releases():
    query, design = LARGE["table 21 × 2126"]
    loss = pair_loss(query, design)
    scores = release_scores(loss, query, trials=4_000)
    assert (scores.releases, scores.absent.size) == (2, 2 * 2_126)
    assert judge(loss, scores, delta=DELTA).check.p_value > 1e-9


def test_a_plan_that_promises_less_noise_is_not_believed(monkeypatch):
    honest = hardened.hardening
    monkeypatch.setattr(hardened, "hardening", lambda **given: replace(honest(**given), noise_std=0.5))
    assert caught(released("covariance"))


def test_the_audit_of_a_release_does_not_use_the_answer():
    query, design = SMALL["covariance"]
    assert released_of(replace(query, value=np.full((3, 3), np.inf)), design).check.p_value > 1e-9


# False alarms


@pytest.mark.soak
@pytest.mark.parametrize("name", SMALL)
def test_sound_noise_is_doubted_about_as_rarely_as_stated(name):
    doubted = sum(not sampled(name, trials=200, seed=seed).check.as_claimed for seed in range(1_000))
    assert FALSE_ALARMS == 1e-3
    assert doubted <= 4  # of 1 000: 1 expected at most; five or more have a chance of 0.4 %


@pytest.mark.parametrize(("samples", "size"), [(4, 3), (4, 40), (12, 3), (12, 30), (40, 40), (200, 12), (8, 600)])
def test_correlations_of_sound_noise_are_doubted_no_more_often_than_stated(samples, size):
    rng = np.random.default_rng(9)
    level, checks = 0.01, 2_000 if size < 100 else 200
    doubted = np.zeros(3)
    for _ in range(checks):
        tally = PairTally(size).add(rng.standard_normal((samples, size)))
        found = [finding.p_value < level for finding in moving_together("row directions", tally, size)]
        doubted[: len(found)] += found
    assert (doubted <= checks * level + 3 * np.sqrt(checks * level)).all()
