"""Slides: the pictures of a scenario and their takeaways."""

import dataclasses

import pytest

from mvgviz import Scenario, run_trials
from mvgviz.data import sample, samples
from mvgviz.report.slides import design_slides, utility_slide
from mvgviz.words.utility import result_words
from tests.datasets import make_dataset
from tests.unit.report.setups import setup_of


@pytest.mark.parametrize("name", samples())
def test_every_sample_has_its_pictures(name):
    slides = design_slides(setup_of(Scenario.default_for(name)))
    assert [slide.key for slide in slides] == [
        "shape", "gains", *([] if name == "karate" else ["trade_off"]), "privacy", "bounds"]
    for slide in slides:
        assert slide.figure.data
        assert slide.takeaway.startswith("**")
        assert "sidebar" not in slide.about


def test_one_direction_has_no_shape_to_show():
    setup = setup_of(Scenario(query="mean", allocation="uniform"), make_dataset(1, 10))
    assert [slide.key for slide in design_slides(setup)] == ["privacy", "bounds"]


def test_the_picture_of_utility_shows_the_trials_of_both_noises_and_no_others():
    results = run_trials(Scenario.default_for("liver"), sample("liver"), trials=20,
                         mechanisms=("mvg", "iid", "laplace"))
    slide = utility_slide(results)
    assert slide.key == "utility"
    assert slide.takeaway == result_words(results)
    assert [trace.name for trace in slide.figure.data] == ["directional", "directional, mean", "equal noise",
                                                          "equal noise, mean"]


def test_before_the_first_trial_there_is_no_picture_of_utility():
    results = run_trials(Scenario.default_for("liver"), sample("liver"), trials=5, cancelled=lambda: True)
    assert not results.complete
    assert utility_slide(results) is None
    reason = dataclasses.replace(results["mvg"], reason="it does not apply")
    assert utility_slide(dataclasses.replace(results, outcomes=(reason, results["iid"]))) is None
