"""Slides: the pictures of a scenario and their takeaways."""

import dataclasses

import numpy as np
import pytest

from mvgviz import Scenario, run_trials
from mvgviz.data import sample, samples
from mvgviz.pictures.shape import ellipse_numbers, priority_and_other
from mvgviz.pictures.trade_off import others_sentence
from mvgviz.pictures.utility import priority_names, result_words
from mvgviz.report.html import design_slides, utility_slide
from mvgviz.text import as_factor
from tests.datasets import make_dataset
from tests.unit.report.setups import setup_of


def test_noise_on_both_sides_is_told_of_entries_by_their_names():
    shape, gains = map(design_slides(setup_of(Scenario.default_for("liver"))).get, ("shape", "gains"))
    assert "on sgpt × sgpt and 3.3× on mcv × mcv" in shape.takeaway
    assert shape.figure.layout.xaxis.title.text == "noise on sgpt × sgpt"
    assert gains.figure.layout.yaxis.ticktext[0] == "mcv × mcv"
    one_side = design_slides(setup_of(Scenario.default_for("two_features")))["gains"]
    assert "×" not in one_side.figure.layout.yaxis.ticktext[0]


def small_fonts(part, path=""):
    """Sizes of letters below 11 pixels, anywhere in a figure."""
    if isinstance(part, dict):
        return [found for name, value in part.items() for found in small_fonts(value, f"{path}.{name}")]
    if isinstance(part, list | tuple):
        return [found for value in part for found in small_fonts(value, path)]
    return [path] if path.endswith((".minsize", "font.size")) and part < 11 else []


@pytest.mark.parametrize("name", samples())
def test_every_sample_has_its_pictures_with_numbers_large_enough_to_be_read(name):
    slides = design_slides(setup_of(Scenario.default_for(name)))
    assert list(slides) == ["shape", "gains", *["trade_off"] * (name != "karate"), "privacy", "bounds"]
    for slide in slides.values():
        assert slide.figure.data
        assert slide.takeaway.startswith("**")
        assert "sidebar" not in slide.about
        assert small_fonts(slide.figure.to_dict()) == []


def test_one_direction_has_no_shape_to_show():
    setup = setup_of(Scenario(query="mean", allocation="uniform"), make_dataset(1, 10))
    assert list(design_slides(setup)) == ["privacy", "bounds"]


def test_the_picture_of_utility_shows_the_trials_of_both_noises_and_no_others():
    results = run_trials(Scenario.default_for("liver"), sample("liver"), trials=20,
                         mechanisms=("mvg", "iid", "laplace"))
    setup = setup_of(Scenario.default_for("liver"))
    slide = utility_slide(setup, results, simulated=False)
    assert slide.takeaway == f"{result_words(results, priority_names(setup))} {others_sentence(setup)}"
    assert utility_slide(setup, results, simulated=True).takeaway.startswith("**On simulated data: ")
    assert [trace.name for trace in slide.figure.data] == ["directional", "directional, mean", "equal noise",
                                                          "equal noise, mean"]


def test_before_the_first_trial_there_is_no_picture_of_utility():
    results = run_trials(Scenario.default_for("liver"), sample("liver"), trials=5, cancelled=lambda: True)
    assert not results.complete
    setup = setup_of(Scenario.default_for("liver"))
    assert utility_slide(setup, results, simulated=False) is None
    reason = dataclasses.replace(results["mvg"], reason="it does not apply")
    unsuited = dataclasses.replace(results, outcomes=(reason, results["iid"]))
    assert utility_slide(setup, unsuited, simulated=False) is None


@pytest.mark.parametrize(("name", "changes"), [
    *((name, {}) for name in samples()), ("liver", {"query": "mean", "priority": (3,), "allocation": "manual",
                                                    "weights": (1, 1, 1, 30, 9, 1)}),
    ("liver", {"query": "mean", "directions": "rotation", "angle": 20.0, "plane": (3, 4), "priority_directions": (4,)}),
    ("liver", {"query": "mean", "priority_directions": (), "allocation": "manual", "weights": (5, 5, 5, 5, 1, 5)})])
def test_the_plane_of_the_first_slide_shows_a_direction_that_gains_and_one_that_pays(name, changes):
    setup = setup_of(Scenario.default_for(name).changed(**changes))
    turned = setup.scenario.needs_along == "directions"
    priority, other = priority_and_other(setup, of_directions=turned)
    found = ellipse_numbers(setup.design, setup.iid, plane=(priority, other), level=0.95, normals=np.zeros((2, 1)),
                            of_directions=turned).factors
    assert other not in setup.scenario.needs
    if name == "movement_simulated":  # inside its bound every direction gains
        assert found[0] <= found[1] < 1
    else:
        assert found[0] < 1 < found[1]
        assert as_factor(found[1]) in design_slides(setup)["shape"].takeaway
