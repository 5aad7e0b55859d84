"""Several releases as one: the cap before any noise, all or nothing, and a ledger that adds up to the plan."""

import importlib
import threading

import pytest

from mvgviz import InputError, QuestionPlan, Scenario, gaussian_mu
from mvgviz.data import sample
from mvgviz.release.ledger import Ledger
from mvgviz.release.release import plan_together, release_setup, release_together
from mvgviz.scenario.plan import build_plan
from mvgviz.scenario.resolve import build
from tests.datasets import make_dataset

release_module = importlib.import_module("mvgviz.release.release")
LIVER = Scenario.default_for("liver")


def asked(*scenarios):
    return build_plan(QuestionPlan.of(*scenarios).moved(0, 0.6), sample("liver"))


@pytest.fixture
def drawn(monkeypatch):
    """The shape of every answer that was drawn."""
    answers, draw = [], release_module.noisy_answer

    def watched(*args, **options):
        answers.append(args[0].shape)
        return draw(*args, **options)

    monkeypatch.setattr(release_module, "noisy_answer", watched)
    return answers


def test_the_ledger_s_total_is_the_plan_s_at_once_or_one_by_one(drawn):
    questions = asked(LIVER, LIVER.changed(query="mean", directions="private"),
                      LIVER.changed(query="mean", bound="private"))
    together, single = (Ledger(cap=(1.0, 1e-6)) for _ in range(2))
    made = release_together(questions, ledger=together)
    for question in reversed(questions):
        release_setup(question, ledger=single)
    mu = float(gaussian_mu(1.0, 1e-6))
    assert plan_together(questions).mu == pytest.approx(mu, rel=1e-12)
    for ledger in (together, single):
        assert len(ledger.entries) == 3
        assert ledger.total("liver", delta=1e-6).mu == pytest.approx(mu, rel=1e-12)
        assert ledger.total("liver", delta=1e-6).epsilon == pytest.approx(1.0, rel=1e-9)
    assert [entry.query for entry in together.entries] == [given.query for given in made]
    assert [given.noisy.shape for given in made] == drawn[:3]
    assert [(entry.mu, entry.time) for entry in together.entries] == [(given.mu, given.time) for given in made]
    assert (made[0].noisy == made[0].noisy.T).all()
    with pytest.raises(InputError, match="exceed the cap"):
        together.check("liver", 1e-3)


def test_over_the_cap_nothing_is_drawn_though_each_alone_would_fit(drawn):
    questions, ledger = asked(LIVER, LIVER.changed(query="mean")), Ledger(cap=(0.95, 1e-6))
    for question in questions:
        ledger.check("liver", plan_together([question]).mu)
    with pytest.raises(InputError, match="would reach 1;"):
        release_together(questions, ledger=ledger)
    assert drawn == []
    assert ledger.entries == ()


@pytest.mark.parametrize(("fails", "left"), [("draw", ["reserved", "reserved"]), ("progress", [])])
def test_where_the_second_fails_no_answer_is_given_and_both_count_unless_stopped(monkeypatch, drawn, fails, left):
    questions, ledger, draw = asked(LIVER, LIVER.changed(query="mean")), Ledger(), release_module._drawn

    def broken(ready, **options):
        if ready.announced.query == "mean" and fails == "draw":
            raise InputError("cannot be released safely")
        return draw(ready, **options)

    def progress(share):
        if share > 0.99 and fails == "progress":
            raise KeyboardInterrupt

    monkeypatch.setattr(release_module, "_drawn", broken)
    with pytest.raises(InputError if fails == "draw" else KeyboardInterrupt):
        release_together(questions, ledger=ledger, progress=progress)
    assert drawn[0] == (6, 6)
    assert [entry.state for entry in ledger.entries] == left


def test_progress_goes_from_nothing_to_all_and_never_back():
    seen = []
    release_together(asked(LIVER, LIVER.changed(query="mean"), LIVER.changed(query="identity")), progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1)


def test_what_one_question_reads_from_the_data_has_to_be_accepted_for_all(drawn):
    questions = asked(LIVER, LIVER.changed(query="mean", directions="eigenvectors"))
    assert plan_together(questions).caveats == ("directions",)
    ledger = Ledger()
    with pytest.raises(InputError, match="accept: directions"):
        release_together(questions, ledger=ledger)
    assert ledger.entries == ()
    release_together(questions, accept=["directions"], ledger=ledger)
    assert [entry.caveats for entry in ledger.entries] == [(), ("directions",)]


def test_only_questions_of_the_same_records_at_one_delta_are_released_together():
    one = build(LIVER, sample("liver"))
    with pytest.raises(InputError, match="at least one question"):
        plan_together([])
    with pytest.raises(InputError, match="the same delta"):
        plan_together([one, build(LIVER.changed(delta=1e-4), sample("liver"))])
    with pytest.raises(InputError, match="the same data"):
        plan_together([one, build(Scenario(), make_dataset(2, 10_000))])


def test_nobody_takes_what_a_plan_was_granted_while_it_draws():
    questions, ledger = asked(LIVER, LIVER.changed(query="mean")), Ledger(cap=(1.0, 1e-6))
    refused = []

    def other():
        try:
            ledger.enter(time="t", data="liver", query="q", neighbour_rule="r", design="d", mu=0.05, delta=1e-6)
        except InputError as error:
            refused.append(error)

    rival = threading.Thread(target=other)
    begun = []

    def progress(share):
        if not begun:
            begun.append(rival.start())

    assert len(release_together(questions, ledger=ledger, progress=progress)) == 2
    rival.join()
    assert len(ledger.entries) == 2
    assert len(refused) == 1
