"""A session that holds a budget."""

import math
from dataclasses import replace

import numpy as np
import pytest

import mvgviz as mv
from mvgviz.query.queries import joint_moments
from tests.datasets import make_dataset

DATA = make_dataset(3, 40)


def begun(**choice):
    return mv.Session(DATA, **({"budget": (1.0, 1e-5), "population": "people", "ledger": mv.Ledger()} | choice))


def test_shares_spend_the_budget_to_the_last_digit_and_no_more():
    with begun() as session:
        for asked, share in ((mv.mean(DATA), 0.25), (mv.covariance(DATA), 0.5)):
            made = session.release(asked, session.design(asked, share=share))
            assert made.mu == pytest.approx(math.sqrt(share) * mv.gaussian_mu(1.0, 1e-5), rel=1e-9)
        rest = session.release(mv.mean(DATA), session.design(mv.mean(DATA)))
        assert rest.mu == pytest.approx(0.5 * mv.gaussian_mu(1.0, 1e-5), rel=1e-6)
        assert session.spent.epsilon == pytest.approx(1.0, rel=1e-6)
        assert session.spent.mu <= mv.gaussian_mu(1.0, 1e-5) * (1 + 1e-9)
        assert session.left < 1e-3
        for share in (0.01, 1.0):
            with pytest.raises(mv.InputError, match=r"is left of the session's 1|nothing is left"):
                session.design(mv.mean(DATA), share=share)
        assert len(session.ledger.entries) == len(session.releases) == 3


def test_a_design_made_elsewhere_is_refused_before_any_noise_if_it_is_too_dear():
    with begun() as session:
        dear = mv.design_noise(mv.mean(DATA), epsilon=1.01, delta=1e-5)
        with pytest.raises(mv.InputError, match="ask for a smaller share"):
            session.release(mv.mean(DATA), dear)
        assert session.ledger.entries == ()


def test_the_ledger_of_a_file_outlives_the_session_and_its_cap_binds(tmp_path):
    ledger = mv.Ledger(tmp_path / "ledger.sqlite", cap=(1.2, 1e-5))
    with begun(ledger=ledger) as session:
        session.release(mv.mean(DATA), session.design(mv.mean(DATA)))
    again = mv.Ledger(tmp_path / "ledger.sqlite", cap=(1.2, 1e-5))
    assert again.total("people", delta=1e-5).epsilon == pytest.approx(1.0, rel=1e-6)
    with begun(ledger=again) as session, pytest.raises(mv.InputError, match="cap"):
        session.release(mv.mean(DATA), session.design(mv.mean(DATA)))


def test_private_directions_are_paid_for_out_of_the_budget():
    with begun() as session:
        asked = mv.covariance(DATA)
        along = mv.private_eigenvectors(DATA, epsilon=0.5, delta=1e-5, rng=np.random.default_rng(0))
        dear = mv.design_noise(asked, epsilon=1.0, delta=1e-5, directions=along)
        assert dear.mu <= mv.gaussian_mu(1.0, 1e-5) * (1 + 1e-9)  # the noise alone would fit
        with pytest.raises(mv.InputError, match="smaller share"):
            session.release(asked, dear)


def test_what_fails_while_it_is_drawn_is_spent(monkeypatch):
    def broken(*given, **choice):
        raise MemoryError

    with begun() as session:
        design = session.design(mv.mean(DATA), share=0.5)
        monkeypatch.setattr("mvgviz.release.release.noisy_answer", broken)
        with pytest.raises(MemoryError):
            session.release(mv.mean(DATA), design)
        assert session.spent.mu == pytest.approx(design.mu)
        assert session.releases == ()


@pytest.mark.parametrize(("first", "second"), [("replace", "add-remove"), ("add-remove", "replace")])
def test_a_session_has_one_kind_of_neighbours(first, second):
    with begun() as session:
        asked, other = mv.mean(DATA, neighbours=first), mv.mean(DATA, neighbours=second)
        design = mv.design_noise(other, epsilon=0.1, delta=1e-5)
        session.release(asked, session.design(asked, share=0.3))
        for use in (lambda: session.design(other, share=0.3), lambda: session.release(other, design)):
            with pytest.raises(mv.InputError, match="one kind of neighbours"):
                use()


def test_after_the_end_nothing_is_released():
    with begun() as session:
        design = session.design(mv.mean(DATA))
    for use in (lambda: session.release(mv.mean(DATA), design), lambda: session.design(mv.mean(DATA))):
        with pytest.raises(mv.InputError, match="the session is over"):
            use()


def test_directions_and_split_are_the_caller_s():
    with begun() as session:
        design = session.design(mv.identity(DATA), theta=[0.8, 0.1, 0.1])
        assert design.direction_std()[0] < design.direction_std()[1]
        assert np.allclose(design.theta, [0.8, 0.1, 0.1])


@pytest.mark.parametrize("wrong", [
    {"budget": 1}, {"budget": (1, 2, 3)}, {"budget": (0, 1e-5)}, {"budget": (1, 1)}, {"population": ""},
    {"population": None}, {"ledger": "file"}, {"data": "liver"}])
def test_nonsense_is_one_sentence(wrong):
    with pytest.raises(mv.InputError):
        mv.Session(wrong.pop("data", DATA), **({"budget": (1, 1e-5), "population": "p", "ledger": mv.Ledger()} | wrong))


@pytest.mark.parametrize("other", [make_dataset(3, 41), make_dataset(4, 40), replace(DATA, per_person=2)],
                         ids=["records", "features", "people"])
def test_a_query_of_other_data_is_refused(other):
    with begun() as session:
        for use in (session.design, lambda query: session.release(query, mv.design_noise(query, epsilon=1, delta=0.1))):
            with pytest.raises(mv.InputError, match="differ from the session's data"):
                use(mv.mean(other))
        assert session.ledger.entries == ()
        session.design(joint_moments(DATA))


def test_nonsense_is_said_in_a_sentence():
    with begun() as session:
        asked = mv.mean(DATA)
        design = session.design(asked, share=0.1)
        for choice, words in (({"epsilon": 1.0}, "the session's budget"), ({"delta": 1e-5}, "the session's budget"),
                              *(({"share": share}, "share must be") for share in (-1, 0, 1.5, math.nan))):
            with pytest.raises(mv.InputError, match=words):
                session.design(asked, **choice)
        for choice, words in (({"accept": 5}, "accept must hold names"), ({"accept": None}, "accept must hold names"),
                              ({"name": 5}, "needs a name for the data"), ({"ranges": 5}, "ranges must map"),
                              ({"ranges": {"a": 5}}, "must be a pair"), ({"progress": 5}, "progress must be")):
            with pytest.raises(mv.InputError, match=words):
                session.release(asked, design, **choice)
        assert session.ledger.entries == ()


def test_a_session_shows_itself_without_what_it_released():
    with begun() as session:
        session.release(mv.mean(DATA), session.design(mv.mean(DATA), share=0.25))
        assert repr(session) == "Session(budget=(1.0, 1e-05), population='people', 1 releases)"


def test_a_session_answers_counts_and_means_by_group_of_its_own_data_alone():
    def table(*levels):
        return mv.Dataset(matrix=[[1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 1], [20, 50, 90]], lower=0,
                          features=(*levels, "pets=no", "pets=yes", "age"), upper=[1, 1, 1, 1, 99],
                          levels=[(0, 1), (2, 3)])

    data, other = table("sex=f", "sex=m"), table("eye=blue", "eye=brown")
    with mv.Session(data, budget=(1.0, 1e-5), population="people", ledger=mv.Ledger()) as session:
        for ask in (mv.counts, mv.cross_table, mv.group_means):
            assert session.release(ask(data), session.design(ask(data), share=0.2)).query == ask(data).name
            with pytest.raises(mv.InputError, match="differ from the session's data"):
                session.design(ask(other), share=0.2)
