import math

import pytest

from mvgviz import Scenario, build, sample
from mvgviz.noise.families import CHOICES, FAMILIES
from mvgviz.pictures import families
from tests.datasets import setup_of

HERO = families.Case(21, 1, 0.8, 1.0, 1e-6)


# Noise on priority columns at the noise that the Gaussian split has on others, computed elsewhere to three digits.
@pytest.mark.parametrize(("priority", "size", "gaussian", "ellipse", "laplace", "box"), [
    (1, 2, 4.72, 1.76, 1.66, 1.66), (2, 6, 6.68, 3.80, 4.04, 2.40), (1, 21, 4.72, 3.86, 4.28, 2.00),
    (3, 21, 8.18, 6.68, 11.6, 3.59)])
def test_noise_on_priority_columns_at_the_same_noise_on_others(priority, size, gaussian, ellipse, laplace, box):
    case = families.Case(size, priority, 0.8, 1.0, 1e-6)
    found = {name: families.noise_of(family, case) for name, family in FAMILIES.items()}
    assert found == pytest.approx({"gaussian": gaussian, "ellipse": ellipse, "laplace": laplace, "box": box}, rel=5e-3)


# The same with the others in an ellipse, where that needs less than a box.
@pytest.mark.parametrize(("priority", "size", "mixed"), [(1, 2, 1.66), (3, 21, 3.59), (1, 100, 2.39), (3, 300, 4.43)])
def test_box_and_ellipse_is_best_where_others_are_many(priority, size, mixed):
    case = families.Case(size, priority, 0.8, 1.0, 1e-6)
    assert families.noise_of(CHOICES["box-ellipse"], case) == pytest.approx(mixed, rel=5e-3)
    best, gain = families.best_family(case)
    assert best.name == ("box-ellipse" if size >= 100 else "box")
    said = families.advice_words(case, 1)
    assert f"{best.word} noise has" in said
    assert "stay with Gaussian noise" in families.advice_words(case, 30)
    assert gain == pytest.approx(families.noise_of(FAMILIES["gaussian"], case) / mixed, rel=5e-3)


def test_box_and_ellipse_has_the_noise_of_the_design():
    scenario = Scenario.default_for("cardiotocography").changed(
        query="mean", family="box-ellipse", bound="none", allocation="binary", priority_directions=(0,), share=0.7,
        epsilon=0.3)
    setup = build(scenario, sample("cardiotocography"))
    unit = setup.table.widths / setup.table.n_records
    found = CHOICES["box-ellipse"].split(1, 20, 0.7, 0.3, setup.delta)
    assert setup.design.noise_std()[:2, 0] / unit[:2] == pytest.approx(tuple(found), rel=1e-9)
    assert setup.design.delta_spent(1e-9) <= CHOICES["box-ellipse"].advantage(21, 0.3, setup.delta)


def test_gaussian_noise_wins_after_a_few_releases():
    assert [families.last_release(families.Case(size, 0, 0.5, 1.0, 1e-6)) for size in (1, 6, 21, 41)] == [8, 5, 2, 1]
    assert families.best_family(families.Case(21, 0, 0.5, 1.0, 1e-6), 3)[0].name == "gaussian"
    assert math.isnan(families.noise_of(FAMILIES["ellipse"], HERO, 2))


def test_the_advice_names_its_price():
    said = families.advice_words(HERO, 1)
    assert "box noise has 0.42× the Gaussian noise on priority columns" in said
    assert "right 70 times in 100, against 55" in said
    assert "stay with Gaussian noise" in families.advice_words(HERO, 30)


@pytest.mark.parametrize("case", [HERO, families.Case(6, 2, 0.5, 0.1, 0.01), families.Case(300, 299, 0.9, 10.0, 1e-9)])
def test_pictures_say_what_they_show(case):
    for picture in (families.family_split_picture(case), families.family_map_picture(case),
                    families.family_curves_picture(case), families.family_releases_picture(case, 3)):
        assert picture.takeaway
        assert "nan" not in picture.takeaway.lower()
    assert [row[0] for row in families.width_rows(case)] == ["Gaussian", "Ellipse (l2)", "Box", "Laplace"]


def test_a_scenario_gives_its_columns_and_its_promise():
    setup = setup_of("liver", query="mean", task="reconstruction", epsilon=2.0)
    assert families.case_of(setup) == families.Case(6, 2, 0.8, 2.0, setup.delta)
    assert families.fits_box(setup)


def test_the_price_names_what_other_columns_pay_in_a_design_that_is_built():
    scenario = Scenario.default_for("liver").changed(
        query="mean", family="box", allocation="binary", priority_directions=(0, 1), share=0.99)
    setup = build(scenario, sample("liver"))
    equal = build(scenario.changed(family="gaussian", allocation="uniform"), sample("liver"))
    paid = setup.design.noise_std()[5, 0] / equal.design.noise_std()[5, 0]
    assert families.others_noise(FAMILIES["box"], families.case_of(setup)) == pytest.approx(paid, rel=1e-6)


def test_families_whose_curves_are_one_are_all_seen():
    """With one priority column and another, box noise, Laplace noise and the box beside an ellipse."""
    figure = families.family_split_picture(families.Case(2, 1, 0.8, 1.0, 1e-6)).figure
    lines = {trace.name: trace for trace in figure.data if trace.mode == "lines"}
    one = [lines[family.title] for family in CHOICES.values() if family.in_a_box]
    assert all(trace.x == pytest.approx(one[0].x) and trace.y == pytest.approx(one[0].y, rel=1e-3) for trace in one)
    assert len({trace.line.dash for trace in one}) == len(one) == 3
