"""Pictures of levers: what each gained, in words, a table and a waterfall."""

import math

import pytest

from mvgviz.data import sample
from mvgviz.pictures.advice import best_kept, falls, levers_picture, levers_sentence, plot_waterfall, table_rows
from mvgviz.pictures.error_axis import reference_items
from mvgviz.trials.levers import levers
from tests.unit.trials.test_levers import LIVER, MOVEMENT


@pytest.fixture(scope="module")
def found():
    return levers(LIVER, sample("liver"))


def test_the_sentence_says_what_each_lever_gained_and_what_one_costs(found):
    sentence = levers_sentence(found)
    assert sentence.startswith("From an error of ")
    costly = levers(MOVEMENT.changed(share=0.95), sample("movement_simulated"))
    assert next(step for step in costly.steps if step.lever == "shape").factor < 0.5
    assert "the shape" in best_kept(costly).split("The design is better without ")[1]
    assert not any(bar.gains for bar in falls(costly, ()) if bar.label.startswith("The shape"))


def test_a_lever_that_is_not_used_is_not_named():
    small = levers(MOVEMENT.changed(trials=3, allocation="uniform", post=("subtract",)), sample("movement_simulated"))
    said = levers_picture(small, sample("movement_simulated").features, title="error").takeaway
    assert "the use" not in said
    assert "the shape" not in said


def test_the_table_ranks_the_design_with_and_without_each_lever(found):
    rows = table_rows(found)
    assert len(rows) == 1 + len(found.without)
    assert [row["mean error"] for row in rows] == sorted(row["mean error"] for row in rows)
    own = next(row for row in rows if row["design"].startswith("this design"))
    assert own["times this design's error"] == 1
    for row in rows:
        assert row["times this design's error"] == pytest.approx(row["mean error"] / own["mean error"])


def test_the_waterfall_goes_from_bar_to_bar(found):
    bars = falls(found, sample("liver").features)
    assert [bar.before for bar in bars[1:-1]] == [step.outcome.mean for step in found.steps[:-1]]
    assert bars[0].before is None
    assert bars[-1].before is None
    assert bars[-1].after == found.design.outcome.mean
    figure = plot_waterfall(bars, reference_items(found.references), title="error")
    drawn = next(trace for trace in figure.data if trace.type == "bar")
    for low, length, bar in list(zip(drawn.base, drawn.x, bars, strict=True))[1:-1]:
        assert [low, low + length] == pytest.approx(sorted([bar.before, bar.after]))
    assert figure.layout.xaxis.type == "linear"
    assert any("no privacy" in (trace.name or "") for trace in figure.data)


def test_errors_far_apart_stand_on_a_log_axis():
    far = levers(MOVEMENT.changed(trials=5), sample("movement_simulated"))
    assert far.total > 100
    figure = plot_waterfall(falls(far, ("a", "b", "c", "<d>")), [], title="error")
    assert figure.layout.xaxis.type == "log"
    assert all(math.isfinite(low) and low > 0 for low in next(t for t in figure.data if t.type == "bar").base)
    assert "<d>" not in str(figure.to_dict())
