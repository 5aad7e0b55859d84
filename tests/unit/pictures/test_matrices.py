"""Matrices as pictures: their colours, their names, and a net around a ball."""

import re

import numpy as np
import pytest

import mvgviz as mv
from mvgviz.pictures.data import answer_picture
from mvgviz.pictures.release import mean_picture, released_picture, released_widths
from mvgviz.pictures.shape import ellipsoid_picture, ellipsoid_points, net_lines, outcomes_picture, plot_outcomes
from mvgviz.pictures.theme import IID, named_ticks, plot_matrix
from mvgviz.release.release import release
from tests.datasets import make_dataset, setup_of


def drawn(matrix, labels=(), **more):
    return plot_matrix(matrix, row_labels=list(labels), col_labels=list(labels), row_title="", col_title="",
                       value_title="", **more)


def test_what_is_never_below_zero_has_no_colours_for_it():
    assert drawn(np.array([[0.5, 2.0]])).data[0].zmin == 0
    assert drawn(np.array([[-0.5, 2.0]])).data[0].zmin == -2


@pytest.mark.parametrize("size", [1, 14, 24, 40])
def test_names_do_not_run_into_each_other(size):
    ticks = named_ticks([f"name {k}" for k in range(size)])
    assert ticks["ticktext"][0] == "name 0"
    assert ticks["ticktext"][-1] == f"name {ticks['tickvals'][-1]}"
    assert len(ticks["tickvals"]) <= 24
    assert len(ticks["tickvals"]) > size / 3
    assert len(drawn(np.ones((size, size)), [str(k) for k in range(size)]).layout.yaxis.tickvals) <= 24


def test_possible_outcomes_have_names_or_whole_numbers():
    truth, draws = np.ones((2, 3)), np.ones((4, 2, 3))
    figure = plot_outcomes(truth, draws, ["sleep", "score"], [])
    assert list(figure.layout.yaxis.ticktext) == ["sleep", "score"]
    assert list(figure.layout.xaxis.ticktext) == ["1", "2", "3"]


def test_a_picture_of_a_part_says_so():
    data = make_dataset(50, 70)
    table, whole = mv.identity(data), mv.mean(data.only(range(40)))
    assert answer_picture(table).takeaway == "**The true answer**, 50 × 70. Drawn: the first 40 × 60."
    assert answer_picture(whole).takeaway == "**The true answer**, 40 × 1."
    made = release(mv.mean(data), mv.design_noise(mv.mean(data), epsilon=1, delta=1e-6), ranges=data.ranges)
    assert released_picture(made).takeaway.endswith(" Drawn: the first 40 × 1.")
    assert mean_picture(made, released_widths(made)).takeaway.endswith(" Drawn: the first 40.")


def test_equal_noise_is_a_net_in_its_own_colour():
    net = net_lines(ellipsoid_points(np.eye(3)))
    assert np.linalg.norm(net[:, ~np.isnan(net[0])], axis=0) == pytest.approx(2.7955, abs=1e-4)
    assert np.isnan(net).any()
    setup = setup_of("liver", query="mean")
    ball = ellipsoid_picture(setup, [0, 1, 2], setup.dataset.features).figure.data[1]
    assert (ball.type, ball.line.color) == ("scatter3d", IID)


def test_numbers_in_a_map_are_large_enough_to_be_read_or_left_out():
    few, many = (drawn(np.ones((size, size))).data[0] for size in (6, 7))
    assert few.textfont.size >= 11
    assert few.text is not None
    assert many.text is None
    assert drawn(np.ones((6, 6)), height=300).data[0].text is None


def test_lines_without_names_are_counted_in_whole_numbers_and_one_alone_is_not():
    figure = drawn(np.ones((30, 1)))
    assert figure.layout.yaxis.dtick == 3
    assert figure.layout.yaxis.showticklabels
    assert not figure.layout.xaxis.showticklabels


@pytest.mark.parametrize(("epsilon", "verdict"), [
    (0.02, "The noise drowns the answer"), (0.1, "Noise and answer are about equal"),
    (0.3, "The answer shows through the noise"), (4, "The answer stands out clearly")])
def test_noise_drowns_an_answer_only_if_it_is_clearly_larger(epsilon, verdict):
    takeaway = outcomes_picture(setup_of("liver", query="mean", epsilon=epsilon)).takeaway
    assert takeaway.startswith(f"**{verdict}.**")
    assert ("drowns" in takeaway) == (float(re.search(r"noise is ([\d.]+)", takeaway)[1]) > 1.5)
