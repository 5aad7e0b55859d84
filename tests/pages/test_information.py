"""The page Information: its sentences against numbers worked out elsewhere, and its two controls."""

import math

import pytest
from scipy import integrate, optimize, special

from mvgviz.ui.menu import INFORMATION
from tests.pages.app import adjust, opened
from tests.pages.shown import assert_says, chart, clean, numbers, text


def information(tab="One number", **parameters):
    return clean(opened(INFORMATION.path, state={"information_tab": tab}, **parameters))


def test_the_page_tells_an_average_and_a_worst_case_apart_and_follows_the_promise():
    app = information(epsilon="0.3")
    assert_says(app, ["It bounds no worst case", "Use and leakage are one number"])
    std = optimize.brentq(lambda std: special.ndtr(0.5 / std - 0.3 * std) - math.exp(0.3) * special.ndtr(
        -0.5 / std - 0.3 * std) - 1e-6, 1, 100)
    told = [float(text(app).split(start)[1].split(" bits")[0]) for start in ("one number: ", "one person: ")]
    assert told[0] == pytest.approx(math.log2(1 + 25 / std**2) / 2, rel=0.05)  # the count is nearly normal, and so is
    assert told[1] == pytest.approx(math.log2(1 + 0.25 / std**2) / 2, rel=0.05)  # what is little beside the noise


def test_gaussian_noise_lets_least_through_at_the_same_size_and_box_most_at_the_same_promise():
    def heights(app):
        return {one["name"]: numbers(one["y"]) for one in chart(app, "information_noises")["data"]}

    app = information("Least leakage")
    assert all((curve >= 1 - 1e-12).all() for curve in heights(app).values())
    assert "Gaussian noise lets the least through" in text(app)
    assert app.segmented_control(key="information_same").proto.wrap  # beside the picture there is little room
    curves = heights(adjust(app, information_same="promise"))
    assert all((curves["Box"] >= curve - 1e-12).all() for curve in curves.values())
    assert "box noise lets the most through" in text(app)


@pytest.mark.parametrize("budget", [{"epsilon": "0.001", "delta": "0.9"}, {"epsilon": "1000", "delta": "1e-30"}])
def test_extreme_promises(budget):
    for app in (information(**budget), adjust(information("Least leakage", **budget), information_same="promise")):
        assert "nan" not in text(app).lower().split()


def test_answers_of_more_records_lack_less():
    app = information("Sums are normal")
    said = {}
    for records in (5, 5_000):
        assert f"with {records:,} records a table" in text(adjust(app, information_records=records))
        said[records] = float(text(app).split("second moment ")[1].split(" ")[0])
    assert said[5] > 0.2 > 0.02 > said[5_000]


def test_small_laplace_noise_lets_less_of_one_yes_or_no_through_and_large_noise_more():
    def bits(density, std):  # of yes or no, each as likely: the divergence of either density from their mean
        def gap(at):
            here, mixed = density(at, std), (density(at, std) + density(at - 1, std)) / 2
            return here * math.log2(here / mixed) if here > 0 else 0.0
        return integrate.quad(gap, -12, 13, points=[0, 1], limit=500)[0]

    def gaussian(at, std):
        return math.exp(-(at / std) ** 2 / 2) / (std * math.sqrt(2 * math.pi))

    def laplace(at, std):
        return math.exp(-math.sqrt(2) * abs(at) / std) / (std * math.sqrt(2))

    drawn = {one["name"]: one for one in chart(information("What the proofs need"), "information_counter")["data"]}
    stds, ratios = (numbers(drawn["Laplace"][axis]) for axis in "xy")
    assert ratios.min() < 0.96 < 1.4 < ratios.max()
    for k in (0, 12, 25):
        expected = bits(laplace, stds[k]) / bits(gaussian, stds[k])
        assert ratios[k] == pytest.approx(expected, rel=1e-3)
