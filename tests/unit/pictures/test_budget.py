"""Pictures of the precision budget: gains and pays, the split, the water, the scores."""

import numpy as np
import pytest

from mvgviz.pictures import budget as pictures
from mvgviz.scenario import precision_budget as budgets
from mvgviz.scenario.resolve import fill, second_moments
from mvgviz.text import spreadsheet_cell
from tests.unit.scenario.test_precision_budget import setup_of


@pytest.mark.parametrize("name", ["=x", "+x", "-x", "@x", "\tx", "\rx", "  =x", "x", "a=b", "1-2", "'x", ""])
def test_only_names_that_read_as_formulas_get_an_apostrophe(name):
    assert spreadsheet_cell(name) == (name if name in ("x", "a=b", "1-2", "'x", "") else f"'{name}")


def a_table(theta, factor, signal=None):
    ones = np.ones(len(theta))
    return budgets.BudgetTable(theta=np.array(theta), precision=ones, precision_is="1/v", variance=ones,
                               std=np.array(factor) * 2.0, iid_std=2 * ones, signal=signal, own=ones,
                               units=[""] * len(theta))


def test_gains_and_pays_are_told_apart():
    table = a_table([0.5, 0.2, 0.2, 0.1], [0.6, 1.0, 1.8, 0.5])
    assert pictures.gains_and_pays(table) == ([3, 0], [2])
    figure = pictures.noise_picture(setup_of(), table).figure
    assert figure.layout.xaxis.type == "log"
    assert list(figure.data[1].text) == ["0.6×", "1×", "1.8×", "0.5×"]


def test_no_more_than_forty_are_drawn():
    factors, setup = np.geomspace(0.1, 10, 3000), setup_of()
    table = a_table(np.full(3000, 1 / 3000), factors, signal=np.r_[0.0, np.ones(2999)])
    noise, signal = pictures.noise_picture(setup, table), pictures.signal_picture(setup, table)
    assert list(noise.figure.data[1].x) == [*factors[:20], *factors[-20:]]
    assert "The 40 with least and most noise are drawn." in noise.takeaway
    assert list(signal.figure.data[2].x) == pytest.approx(0.5 / factors[1:41])
    assert signal.takeaway == (
        f"**Signal above noise** in {(0.5 / factors[1:] > 1).sum()} of 3000 directions (equal noise: 0). The 40 "
        "largest are drawn.")
    parts = pictures.split_picture(setup, table).figure.data
    assert (len(parts), parts[-1].name) == (12, "the other 2,989")


@pytest.mark.parametrize("size", [1, 12, 13, 200])
def test_the_split_is_a_bar_of_everything_in_letters_that_can_be_read(size):
    figure = pictures.split_picture(setup_of(), a_table(np.full(size, 1 / size), np.ones(size))).figure
    assert figure.layout.uniformtext.minsize >= 11
    for row in (0, 1):
        assert sum(trace.x[row] for trace in figure.data) == pytest.approx(100)


def test_percents_read_well():
    assert [pictures.percent(x) for x in (1.0, 0.99999, 0.4, 1 / 6, 2.1e-5, 1e-9)] == [
        "100 %", "over 99.9 %", "40 %", "16.7 %", "0.0021 %", "1.0e-07 %"]


def test_wet_directions_reach_the_level_and_dry_ones_stand_above():
    setup = setup_of(query="identity", allocation="uniform", epsilon=3.0)
    filled = fill(setup.design, setup.query, np.diag([4.0, 1.0, 1e-3, 0.0]), "exact")
    prices = setup.query.neighbours.reach(setup.design.row_directions) ** 2
    numbers = pictures.water_numbers(filled, prices=prices)
    wet = ~numbers.dry
    assert numbers.dry.sum() == filled.dry.sum() >= 2
    assert numbers.ground[wet] + numbers.water[wet] == pytest.approx(numbers.surface)
    assert (numbers.ground[numbers.dry] > numbers.surface).all()
    assert np.isfinite(numbers.ground).all()
    if not numbers.from_lowest:
        assert numbers.surface == pytest.approx(filled.level)
    figure = pictures.plot_water(numbers, names=list("abcd"), unit="height")
    assert "dry: the floor" in [trace.name for trace in figure.data]


def test_thin_water_is_measured_from_the_lowest_ground():
    equal = setup_of(allocation="uniform", guarantee="theorem1")
    numbers = pictures.water_numbers(fill(equal.design, equal.query, np.diag([4.0, 1.0, 0.5, 0.1]), "relaxed"))
    assert numbers.from_lowest
    assert numbers.ground.min() == 0
    assert 0 < numbers.surface < numbers.top


def test_the_unrelaxed_form_has_no_level():
    equal = setup_of(allocation="uniform", guarantee="theorem1")
    filled = fill(equal.design, equal.query, np.diag([4.0, 1.0, 0.5, 0.1]), "unrelaxed")
    numbers = pictures.water_numbers(filled)
    assert numbers.surface is None
    assert numbers.water == pytest.approx(filled.rho)
    assert "level" not in [trace.name for trace in pictures.plot_water(numbers, names=list("abcd"), unit="u").data]


def test_scores_are_drawn_one_line_a_split():
    setup = setup_of()
    figure = pictures.plot_pnr(budgets.compare_splits(setup, second_moments(setup)))
    assert figure.layout.xaxis.type == "log"
    assert [trace.name for trace in figure.data] == ["Theorem 1, as printed", "exact limit", "this design"]
    assert len(figure.data[0].x) == 5
    assert len(figure.data[1].x) == 4
