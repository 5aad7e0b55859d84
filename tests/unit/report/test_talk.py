"""The talk: its numbers against formulas of their own, its words, and whose data it tells about."""

import html
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from mvgviz import Dataset, Scenario
from mvgviz.data import sample, samples
from mvgviz.design.families import with_family
from mvgviz.pictures.strip import right_guesses
from mvgviz.provenance import Origin
from mvgviz.query.frames import DAYS
from mvgviz.report.talk import answer_rows, axis_of, slides, talk_html
from mvgviz.trials.simulated import on_simulated_data
from tests.unit.report.setups import setup_of

UPLOAD = Scenario.default_for("upload-0123456789ab").changed(query="mean", priority=(1,))


def said(slide):
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", slide)).split())


def table(shift=0.0, **options):
    """Two columns of which nothing but the ranges and the number of records is to be told."""
    rows = np.random.default_rng(int(shift)).uniform(0, 1, (2, 90)) * [[10], [200]]
    return Dataset(matrix=rows, features=("Größe <b>", "*pulse* at rest"), units=("m/s", "1/min"), lower=[0, 0],
                   upper=[10, 200], title="Ward 7", **options)


def on(data, simulated, **changes):
    setup = setup_of(UPLOAD.changed(**changes), data)
    return slides(on_simulated_data(setup) if simulated else setup, simulated=simulated)


def laplace():
    setup = setup_of(Scenario.default_for("liver").changed(query="mean", bound="none", scale="declared"))
    return replace(setup, design=with_family(setup.design, "laplace"), iid=with_family(setup.iid, "laplace"))


def test_dates_and_columns_without_a_unit_read_well():
    rows = np.random.default_rng(0).uniform(0, 1, (2, 90)) * [[1000], [1]] + [[18_600], [0]]
    visits = Dataset(matrix=rows, features=("seen", "share"), units=(DAYS, ""), lower=[18_600, 0], upper=[19_600, 1],
                     title="Visits", by_person=True)
    told = [said(slide) for slide in on(visits, simulated=False, query="mean", priority=(),
                                        priority_directions=(0,), allocation="binary")]
    assert "of 90 people" in told[0]
    assert "About whom 90 people" in told[0]
    assert re.search(r"202\d-\d\d-\d\d", told[2])
    assert "days on seen" in told[4]
    for words in ("since 1970", "data units", "mixed units", "one record", "()"):
        assert words not in " ".join(told)


def test_error_bars_are_the_noise_around_the_answer_in_the_datas_own_units():
    data, setup = sample("liver"), setup_of(Scenario.default_for("liver").changed(query="mean", bound="none"))
    rows, width = answer_rows(setup), data.upper - data.lower
    for row in rows:
        k = data.features.index(row.name)
        on_scale = width[k] / 2  # ranges were mapped onto [-1, 1]
        assert row.unit == data.units[k]
        assert row.at == pytest.approx(data.matrix[k].mean())
        for found, design in ((row.ours, setup.design), (row.equal, setup.iid)):
            assert found == pytest.approx(stats.norm.ppf(0.975) * design.noise_std()[k, 0] * on_scale)
    assert [row.priority for row in rows[:3]] == [True, True, False]  # what has priority first, then who pays most
    paid = [round(row.ours / row.equal, 6) for row in rows[2:]]
    assert paid == sorted(paid, reverse=True)
    squares = answer_rows(setup_of(Scenario.default_for("liver").changed(bound="none", scale="declared")))[0]
    k = data.features.index("sgpt")
    assert (squares.name, squares.unit) == ("sgpt × sgpt", "(U/L)²")
    assert squares.at == pytest.approx(np.mean(data.matrix[k] ** 2))


def test_the_attacker_is_that_of_the_noise_and_is_never_understated():
    setup = setup_of(Scenario.default_for("liver"))
    for releases in (1, 4):
        exact = 100 * stats.norm.cdf(setup.design.mu * np.sqrt(releases) / 2)
        assert exact <= right_guesses(setup, releases) < exact + 1
    pure = right_guesses(laplace())  # an epsilon that several numbers divide is as bad as one that has all of it
    assert pure == np.ceil(100 * (0.5 + -np.expm1(-0.5) / 2))
    assert right_guesses(laplace(), 20) == 100


def test_noise_that_is_not_gaussian_has_its_own_bars_outline_and_promise():
    setup = laplace()
    rng, drawn = np.random.default_rng(5), np.empty((setup.design.rows, 40_000))
    for block in setup.design.blocks:
        part = np.empty((len(block.rows), drawn.shape[1]))
        block.family.fill(rng, part)
        drawn[list(block.rows)] = part * setup.design.noise_std()[list(block.rows)]
    for row in answer_rows(setup):
        assert np.mean(np.abs(drawn[row.place]) <= row.ours) == pytest.approx(0.95, abs=0.006)
    pages = list(map(said, slides(setup, simulated=False)))
    assert "directional Laplace noise" in pages[2]
    assert "rectangle" in pages[3]
    assert "outline" not in pages[3]
    assert "delta" not in pages[4]
    gaussian = setup_of(setup.scenario)
    assert "gains the same" in slides(gaussian, simulated=False)[3]
    assert "With equal noise the attacker of slide 2 is right at most 55 times" in slides(
        replace(setup, iid=gaussian.iid), simulated=False)[3]
    assert not re.search("gauss|ellipse", " ".join(pages), re.IGNORECASE)
    assert "delta" in said(slides(setup_of(Scenario.default_for("liver")), simulated=False)[4])


@pytest.mark.parametrize("name", samples())
def test_a_slide_says_no_theorem_no_symbol_and_one_thing(name):
    for slide in slides(setup_of(Scenario.default_for(name)), simulated=False):
        assert slide.count("<h1") == slide.count('class="notes"') == 1
        assert not re.search(r"[εδμσθΣρ]|theorem|lemma|\bMVG\b", said(slide), re.IGNORECASE)


def test_one_tie_moves_a_vertex_by_one_tie():
    first = slides(setup_of(Scenario.default_for("karate")), simulated=False)[0]
    assert "One tie can move vertex 1 by 1 tie" in said(first)


def test_names_are_those_that_were_typed_and_harmless():
    text = talk_html(setup_of(UPLOAD, table()), simulated=False)
    assert "<b>," not in text
    assert "Größe &lt;b&gt;" in text
    assert "\\" not in text.split("<script>")[0]
    assert "*pulse* at rest" in text


def test_simulated_slides_tell_nothing_of_the_records_and_others_say_that_they_are_not_private():
    one, other = (on(table(shift), True) for shift in (1, 2))
    assert one == other
    assert all("simulated data" in slide for slide in one)
    assert "not private" not in " ".join(map(said, one))
    one, other = (on(table(shift), False) for shift in (1, 2))
    for slide, twin in zip(one, other, strict=True):
        assert slide == twin or "not private: computed on the data itself" in slide
    assert one[2] != other[2]
    public = list(map(said, slides(setup_of(Scenario.default_for("liver")), simulated=False)))
    assert "public data" in public[2]


def test_what_no_promise_covers_is_on_the_slides_of_the_attacker_and_of_the_decision():
    pages = on(table(range_origins=Origin.READ), True)
    assert "Not covered: ranges read from the data" in pages[1]
    assert "Not covered by this promise: ranges read from the data" in pages[4]
    assert all("not private" in page for page in pages)
    shaped = on(table(), False, query="covariance", directions="eigenvectors", priority_directions=(0,))
    assert all("not private" in page for page in shaped)


def test_clipping_is_in_the_headlines_of_what_it_moves():
    pages = list(map(said, slides(setup_of(Scenario.default_for("cardiotocography")), simulated=False)))
    assert "but clipping adds a bias" in pages[2]
    for page in (pages[2], pages[4]):
        assert "Noise alone: clipping adds a bias of at most" in page


def test_one_number_has_nobody_who_pays_and_a_cap_is_told():
    one = setup_of(Scenario(query="mean", allocation="uniform"), Dataset(
        matrix=np.ones((1, 20)), features=("only",), lower=0, upper=3))
    pages = list(map(said, slides(one, simulated=False, left="the cap has room for ε = 2")))
    assert "nobody else pays" in pages[3]
    assert "the cap has room for epsilon = 2" in pages[4]


@pytest.mark.parametrize(("low", "high"), [
    (0, 1), (-3, 3), (1e9, 1e9 + 1), (-2e-12, 5e-12), (-7e18, 7e18), (99.5, 101)])
def test_ticks_are_few_inside_and_read_apart(low, high):
    axis = axis_of(low, high)
    values, labels = zip(*axis.ticks, strict=True)
    assert 2 <= len(set(labels)) == len(labels) <= 5
    assert axis.low < min(values) < max(values) < axis.high
