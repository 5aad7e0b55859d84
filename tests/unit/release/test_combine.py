"""Averages of releases: against weights worked out by hand, and their coverage."""

from dataclasses import replace

import numpy as np
import pytest

import mvgviz as mv
from mvgviz import Dataset, InputError, Ledger, Scenario, build, combine, release_setup, sample
from mvgviz.pictures.release import average_words
from mvgviz.pictures.sentences import released_clipping
from mvgviz.release.combine import same_question
from mvgviz.release.release import release

DATA = sample("liver")


def setup_of(**changes):
    return build(Scenario.default_for("liver").changed(**{"query": "mean", **changes}), DATA)


def test_the_more_precise_release_counts_more():
    rough, fine = (release_setup(setup_of(epsilon=epsilon), ledger=Ledger()) for epsilon in (0.5, 2.0))
    both = combine(rough, fine)
    for i in range(6):
        stds = np.array([one.known_noise.std[i, 0] for one in (rough, fine)])
        weights = stds**-2 / (stds**-2).sum()
        assert both.values[i, 0] == pytest.approx(weights @ [rough.noisy[i, 0], fine.noisy[i, 0]], rel=1e-12)
        assert both.std[i, 0] == pytest.approx((stds**-2).sum() ** -0.5)
    assert (both.half_widths() < fine.half_widths()).all()
    frame = both.columns()
    assert frame["row"] == list(DATA.features)
    middle = fine.data_units.of(both.values)[:, 0]
    np.testing.assert_allclose(frame["value"], middle)
    assert both.to_csv().splitlines()[0] == "row,column,value,lower,upper"
    assert both.epsilon > 2


def test_intervals_of_an_average_hold_as_often_as_they_say():
    setup, ledger = setup_of(), Ledger()
    held = [np.abs(both.values - setup.query.value) <= both.half_widths(0.8) for both in (
        combine(*(release_setup(setup, ledger=ledger) for _ in range(3))) for _ in range(60))]
    assert 0.73 < np.mean(held) < 0.87  # 360 numbers at 0.8: three standard deviations


def test_different_questions_are_refused():
    mean = release_setup(setup_of(), ledger=Ledger())
    for other in (release_setup(setup_of(query="covariance"), ledger=Ledger()),
                  release_setup(setup_of(scale="declared"), ledger=Ledger()),
                  release_setup(setup_of(neighbours="add-remove"), ledger=Ledger()), replace(mean, n_records=344),
                  replace(mean, title="Another file"), replace(mean, data="other"), replace(mean, gaps="middle")):
        with pytest.raises(InputError, match="these releases asked different questions"):
            combine(mean, other)
    with pytest.raises(InputError, match="at least two"):
        combine(mean)
    with pytest.raises(InputError, match="given twice"):
        combine(mean, mean)


def test_kernels_of_different_length_are_different_questions():
    few = replace(DATA, matrix=DATA.matrix[:, :20])
    kernels = [release_setup(build(Scenario.default_for("liver").changed(query="kernel", length=length), few),
                             ledger=Ledger()) for length in (1.0, 2.0)]
    with pytest.raises(InputError, match="different questions"):
        combine(*kernels)
    assert same_question(kernels[0], tuple(kernels)) == (kernels[0],)


@pytest.mark.parametrize("query", ["counts", "group_means"])
def test_counts_of_another_category_are_another_question(query):
    """Both have the levels true and false, in the same places."""
    given = [release_setup(build(Scenario.for_dataset(data, query=query), data), ledger=Ledger()) for data in (
        Dataset(matrix=np.vstack([np.eye(2), [30, 50]]), features=(f"{name}=false", f"{name}=true", "age"), lower=0,
                upper=[1, 1, 100], levels=[(0, 1)], title="survey") for name in ("smokes", "drinks"))]
    assert "smokes=true" in given[0].names[query == "group_means"]
    with pytest.raises(InputError, match="different questions"):
        combine(*given)


def test_a_question_that_the_certificate_does_not_tell_is_refused(tmp_path):
    turned = setup_of(bound="own", radius=0.5, directions="rotation", angle=20)
    ledger = Ledger(tmp_path / "l.sqlite")
    fresh = [release_setup(turned, ledger=ledger, population="a") for _ in range(2)]
    table = Dataset(matrix=np.eye(2), features=("sex=f", "sex=m"), lower=0, upper=1, levels=[(0, 1)])
    counted, elsewhere, named = ([made(query) for _ in range(2)] for query in (
        mv.counts(table), mv.custom(np.eye(2), sensitivity=1, gamma=2), mv.mean(DATA)))
    assert combine(*named).epsilon > 1
    nameless = [replace(one, data=None) for one in named]
    for pair, words in ((fresh, "does not show the clipping bound"),
                        (ledger.releases("a"), "does not show the clipping bound"),
                        (counted, "it has no scenario"), (elsewhere, "computed elsewhere"), (nameless, "no name")):
        with pytest.raises(InputError, match=words):
            combine(*pair)
        assert same_question(pair[0], tuple(pair)) == ()


def made(query):
    return release(query, mv.design_noise(query, epsilon=1, delta=1e-6), data="a", ledger=Ledger())


def test_what_a_ledger_kept_is_averaged_with_what_is_new(tmp_path):
    ledger = Ledger(tmp_path / "l.sqlite")
    for changes in ({}, {"bound": "even"}, {"query": "kernel"}):
        table = replace(DATA, matrix=DATA.matrix[:, :20])
        setup = build(Scenario.default_for("liver").changed(**{"query": "mean", **changes}), table)
        new = [release_setup(setup, ledger=ledger, population=str(changes)) for _ in range(2)]
        assert combine(ledger.releases(str(changes))[0], new[1]).epsilon == pytest.approx(
            ledger.total(str(changes), delta=new[0].delta).epsilon)


def test_an_average_of_clipped_records_says_how_far_clipping_moved_it():
    both = combine(*(release_setup(setup_of(bound="even"), ledger=Ledger()) for _ in range(2)))
    one = both.releases[0]
    assert both.columns()["clipping adds at most"] == list(one.to_frame()["clipping adds at most"])
    assert both.to_csv().splitlines()[0] == "row,column,value,lower,upper,clipping adds at most"
    assert average_words(both, one).endswith(released_clipping(one))
    assert "clipping adds" in released_clipping(one)
