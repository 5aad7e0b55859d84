"""Release & report, without a browser: the click that counts once, refusals, the ledger, files in and out."""

import math
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from mvgviz import Scenario, gaussian_epsilon, gaussian_mu
from mvgviz.data import sample
from mvgviz.errors import InputError
from mvgviz.pictures.ledger import (
    AGAIN,
    SHOWN_SINGLY,
    budget_numbers,
    budget_picture,
    budget_ticks,
    budget_words,
    room_words,
)
from mvgviz.provenance import Origin
from mvgviz.release.ledger import Ledger
from mvgviz.release.release import Plan
from mvgviz.scenario.resolve import build
from mvgviz.text import as_number
from mvgviz.ui import release_desk
from mvgviz.ui.menu import DATA, HOME, RELEASE
from tests.pages.app import adjust, change, opened, put, to, uploaded
from tests.pages.desk import box, desk, go, on_exports, released
from tests.pages.shown import assert_says, clean, facts, frame, keyed, said, text

CSV = "age,=dose\n" + "".join(f"{20 + i % 50},{i % 7}.5\n" for i in range(60))


def page(**parameters):
    return opened(RELEASE.path, **{"data": "liver"} | parameters)


def test_one_over_n_is_cautioned_against_before_a_release():
    caution = "a mechanism could publish one record, chosen at random, as it is and still pass"
    assert caution not in facts(page())
    assert caution in facts(page(delta=str(1 / 345)))


def test_a_large_epsilon_is_cautioned_against_beside_the_slider_and_above_the_tick():
    app = page(epsilon="100")
    assert "Almost no privacy: when one record changes" in app.warning[0].value
    assert text(app).count("Almost no privacy") == 2
    assert "Almost no privacy" not in text(change(app, epsilon=9.0))


def test_one_tick_and_one_click_make_one_release_and_one_entry():
    app = clean(page())
    assert "Reloading or closing the tab deletes it" in text(app)
    assert app.get("download_button")[0].key != "release_everything"
    assert go(app).disabled
    assert "this spends **ε = 1.00 at δ = 10⁻⁶** of the privacy budget" in box(app, "release_sure_").label
    box(app, "release_sure_").check().run()
    assert not go(app).disabled
    assert desk(app).ledger.entries == ()
    go(app).click().run()
    [entry], [made] = desk(clean(app)).ledger.entries, desk(app).releases
    assert (entry.data, entry.query, entry.caveats) == ("liver", "covariance", ())
    assert entry.epsilon == pytest.approx(1, rel=1e-6)
    assert made.noisy.shape == (6, 6)
    assert np.array_equal(made.noisy, made.noisy.T)  # symmetric unless one says otherwise
    true = build(Scenario.default_for("liver"), sample("liver")).query.value
    assert not np.isclose(made.noisy, true, rtol=1e-10, atol=0).any()  # by luck: below 1e-7
    twice = gaussian_epsilon(1e-6, math.sqrt(2) * gaussian_mu(1, 1e-6))
    assert_says(app, ["Released: 6 × 6 numbers, with noise",
                      f"the total becomes ε = {as_number(float(twice))}"])  # with the next one
    for _ in range(2):  # one download of everything stands first, on both tabs
        assert "Not kept: download now" in next(one.value for one in app.main.markdown if one.value)
        assert app.get("download_button")[0].key == "release_everything"
        on_exports(app)
    adjust(app, w_epsilon=2.0, w_share=60)  # neither sliders nor pages draw again
    for one in (HOME, DATA, RELEASE):
        to(app, one)
    assert "Released: 6 × 6" in said(put(app, release_tab="Release"))
    assert (len(desk(app).ledger.entries), desk(app).releases, go(app).disabled) == (1, [made], True)


@pytest.fixture
def callback(monkeypatch):
    """Makes the session that the button's callback finds: its releases, and its state."""
    def ready(scenario):
        held, data = release_desk.Desk(), sample(scenario.data)
        state = {"_release_desk": held}
        monkeypatch.setattr(release_desk.st, "session_state", state)
        for name, value in (("scenario", scenario), ("setup", build(scenario, data)), ("dataset", data),
                            ("data_version", scenario.data), ("uploaded_directions", None)):
            monkeypatch.setattr(release_desk.session, name, lambda value=value: value)
        return held, state

    return ready


def test_the_callback_itself_releases_once_per_ticket(callback, monkeypatch):
    held, state = callback(Scenario.default_for("liver"))
    first = release_desk.ticket()
    release_desk.release_once(first, (), False, None)
    assert held.releases == []  # not ticked
    state[f"release_sure_{first}"] = True
    for _ in range(3):
        release_desk.release_once(first, (), False, None)
    assert len(held.releases) == len(held.ledger.entries) == 1
    other = Scenario.default_for("liver").changed(epsilon=2.0)
    monkeypatch.setattr(release_desk.session, "scenario", lambda: other)
    release_desk.release_once(first, (), False, None)
    assert len(held.releases) == 1


def test_an_interrupted_release_spends_nothing_and_can_be_asked_again(callback):
    held, state = callback(Scenario.default_for("cardiotocography").changed(query="identity", bound="none"))
    shares = []

    class Bar:
        def progress(self, share, words):
            shares.append(share)
            if share > 0.3:
                raise KeyboardInterrupt
            return self

    now = release_desk.ticket()
    state[f"release_sure_{now}"] = True
    with pytest.raises(KeyboardInterrupt):
        release_desk.release_once(now, (), False, Bar())
    assert shares[0] == 0
    assert len(shares) > 2
    assert held.releases == []
    assert held.ledger.entries == ()
    assert release_desk.ticket() == now


def test_what_is_not_private_must_be_accepted_one_by_one():
    app = page(directions="eigenvectors", allocation="max-pnr")
    box(app, "release_sure_").check().run()
    assert go(app).disabled
    assert "Tick the 2 boxes above to continue." in text(app)
    assert "The shape of the noise reveals how the records vary" in box(app, "release_accept_directions").label
    box(app, "release_accept_directions").check().run()
    assert go(app).disabled
    box(app, "release_accept_split").check().run()
    assert not go(app).disabled
    app.select_slider(key="w_epsilon").set_value(2.0).run()  # another scenario takes the ticks back
    assert go(app).disabled
    assert not box(app, "release_sure_").value
    for tick in ("release_sure_", "release_accept_directions", "release_accept_split"):
        box(app, tick).check().run()
    go(clean(app)).click().run()
    assert desk(clean(app)).ledger.entries[0].caveats == ("directions", "split")
    assert_says(app, ["Not private: directions read from the data", "This release has no intervals"])
    assert not any("interval" in one.proto.label for one in app.get("download_button"))


def test_over_the_cap_it_refuses_before_any_noise():
    app = adjust(page(), release_capped=True, release_cap_epsilon=1.2)
    assert "The cap allows 1 like it, this one included." in text(app)
    box(app, "release_sure_").check().run()
    go(app).click().run()
    assert go(app).disabled
    assert box(app, "release_sure_").disabled
    [refusal] = [element.value for element in app.error]
    assert "exceed the cap" in refusal
    assert len(desk(app).ledger.entries) == 1
    to(app, HOME)
    app.switch_page(RELEASE.path).run()
    assert desk(app).ledger.cap == (1.2, pytest.approx(1e-6))
    assert app.number_input(key="release_cap_epsilon").value == 1.2
    assert desk(adjust(app, release_capped=False)).ledger.cap is None


def test_a_cap_is_divided_between_pure_and_gaussian_noise():
    app = page(query="mean", bound="none", family="box", epsilon="0.3")
    released(adjust(app, release_capped=True, release_cap_epsilon=1.0, release_cap_pure=0.3))
    ledger = desk(app).ledger
    assert [entry.epsilon_pure for entry in ledger.entries] == [0.3]
    data = ledger.entries[0].population
    assert ledger.pure_part(data) == app.number_input(key="release_cap_pure").value == 0.3
    assert ledger.would_exceed(data, 0.01, epsilon_pure=0.01)  # the pure pot is empty
    assert ledger.rooms(data) == pytest.approx((gaussian_mu(0.7, 1e-6), 1.0))


def refusing(words):
    """What says so instead of working."""
    def refuse(*given, **options):
        raise InputError(words)

    return refuse


def test_what_cannot_be_released_says_so_once_before_the_click_or_after_it(monkeypatch):
    app = page()
    box(app, "release_sure_").check().run()
    monkeypatch.setattr(release_desk, "release_setup", refusing("a release needs the library OpenDP"))
    go(app).click().run()
    assert [element.value for element in app.error] == ["A release needs the library OpenDP"]
    assert desk(app).ledger.entries == ()
    assert not app.run().error
    monkeypatch.setattr(release_desk, "hardening_for", refusing("rounding errors could reach a tenth"))
    app = page(epsilon="0.37")
    assert [element.value for element in app.error] == ["Rounding errors could reach a tenth"]
    assert go(app).disabled


@pytest.mark.parametrize("parameters", [
    {"data": "liver", "directions": "private", "guarantee": "theorem1"}, {"data": "liver", "directions": "private"},
    {"data": "liver", "directions": "rotation"}, {"data": "liver", "query": "mean", "directions": "random"},
    {"data": "karate", "query": "adjacency"}, {"data": "two_features", "query": "identity"}])
def test_every_kind_of_design_and_query_can_be_released(parameters):
    [made] = desk(released(page(**parameters))).releases
    assert made.origins["directions"] is (Origin.PAID if "private" in parameters.values() else Origin.DECLARED)
    assert made.epsilon <= 1 + 1e-9
    assert made.noisy.shape == build(made.scenario, sample(made.data)).query.value.shape


def test_an_uploaded_table_is_released_from_the_session_with_its_provenance():
    app = to(uploaded(CSV), RELEASE)
    assert go(app).disabled
    assert "published under the name **mine**" in box(app, "release_sure_").label
    box(app, "release_accept_ranges").check().run()
    assert_says(released(app), ["ranges read from the data"], ["upload-"])  # people know it by its name
    [made], [entry] = desk(app).releases, desk(app).ledger.entries
    assert made.data.startswith("upload-")
    assert made.title == entry.title == "mine"
    assert made.origins["ranges"] is Origin.READ


def test_the_ledger_adds_up_exactly_over_two_releases():
    app = released(released(page()))
    (first, second), made = desk(app).ledger.entries, desk(app).releases
    assert second.total_mu == pytest.approx(math.sqrt(2) * first.mu)
    assert not np.array_equal(made[0].noisy, made[1].noisy)
    assert f"ε = {second.total_epsilon:.4g}" in text(app)
    assert app.selectbox(key="release_shown_2").value == 2
    assert len(desk(adjust(app, release_shown_2=1)).releases) == len(made) == 2


def test_the_second_tab_offers_report_programs_json_and_link_and_a_file_s_report_is_simulated_until_its_holder_asks():
    app = on_exports(page(data="two_features", trials="3"))
    labels = {button.proto.label for button in app.get("download_button")}
    assert labels == {"Report as HTML", "Python program", "Notebook", "Scenario as JSON", "Save the study"}
    assert "data=two_features&trials=3" in app.code[0].value
    assert "measured on the data itself: not private" in said(app)  # a bundled table, which is public
    app = on_exports(to(change(uploaded(CSV), trials=3), RELEASE))
    assert "errors come from simulated records" in text(app)
    assert "**Not private:** ranges read from the data." in text(app)
    assert "measured on the data itself: not private" in said(adjust(app, w_my_data=True))


def entered(ledger, mu=0.0, **pure):
    ledger.enter(time="t", data="x", query="mean", neighbour_rule="r", design="d", mu=mu, delta=1e-5, **pure)


def planned(mu, delta=1e-5, **pure):
    return Plan(mu=mu, neighbour_rule="r", epsilon=1.0, delta=delta, caveats=(), entries=1, **pure)


def test_the_bar_s_lengths_are_squares_of_mu_and_its_ticks_their_epsilon():
    ledger = Ledger(cap=(3.0, 1e-5))
    for mu in (0.3, 0.4):
        entered(ledger, mu)
    numbers = budget_numbers(ledger, "x", planned(0.5))
    pot = numbers.gaussian
    assert pot.before == pytest.approx((0.09, 0.16))
    assert pot.after == pytest.approx(0.5)
    assert numbers.epsilon_after == pytest.approx(gaussian_epsilon(1e-5, math.sqrt(0.5)))
    assert pot.cap == pytest.approx(gaussian_mu(3.0, 1e-5) ** 2)
    for square, epsilon in budget_ticks(numbers)[1:]:
        assert gaussian_epsilon(1e-5, math.sqrt(square)) == pytest.approx(epsilon)
    assert pot.left == pytest.approx(pot.cap - 0.5 if pot.cap > 0.5 else 0)
    drawn = budget_picture(numbers, "").figure
    assert sum(bar.x[0] for bar in drawn.data if bar.name == "released already") == pytest.approx(0.25)


def fill(ledger, mu):
    """Releases until the ledger refuses: how many."""
    made = 0
    while not ledger.would_exceed("x", mu):
        assert budget_numbers(ledger, "x", planned(mu)).more > 0
        entered(ledger, mu)
        made += 1
    return made


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_the_bar_counts_what_the_ledger_would_let_through(epsilon):
    mu, ledger = float(gaussian_mu(0.5, 1e-5)), Ledger(cap=(epsilon, 1e-5))
    fresh = budget_numbers(ledger, None, planned(mu)).more
    assert fill(ledger, mu) == fresh
    assert budget_numbers(ledger, "x", planned(mu)).more == 0


def test_the_bar_leaves_out_what_box_noise_has_spent_or_may_spend():
    mu = float(gaussian_mu(0.5, 1e-5))
    ledger = Ledger(cap=(2.0, 1e-5), pure=0.5)
    numbers = budget_numbers(ledger, "x", planned(mu))
    assert numbers.gaussian.cap == pytest.approx(gaussian_mu(1.5, 1e-5) ** 2)
    assert "Box" not in budget_words("ε", numbers, lasts=False)
    entered(ledger, epsilon_pure=0.5)
    numbers = budget_numbers(ledger, "x", planned(mu))
    assert numbers.epsilon_after == pytest.approx(1.0)
    assert fill(ledger, mu) == numbers.more > 0
    ledger.set_cap((2.0, 1e-5), "y", pure=0.25)
    ledger.join("x", "y")
    over = budget_numbers(ledger, "x", planned(mu))
    assert (over.more, over.gaussian.left) == (0, 0)
    assert "exceeds the cap" in budget_words("ε", over, lasts=False)
    total = ledger.total("x", delta=1e-5).epsilon
    for words in (budget_words("ε", over, lasts=False), room_words(over)):
        assert words.count("Box or Laplace noise spent ε = 0.500 of it.") == 1
        assert f"ε = {as_number(total)}" in words
    assert "ε of Gaussian noise" in budget_picture(over, "").figure.layout.xaxis.title.text


def test_pure_noise_has_a_bar_of_its_own_that_ends_where_the_ledger_refuses():
    ledger = Ledger(cap=(1.0, 1e-5))
    box = planned(0.0, epsilon_pure=0.3)
    for made in range(3):
        numbers = budget_numbers(ledger, "x", box)
        assert (numbers.pure.cap, numbers.more) == (1.0, 3 - made)
        entered(ledger, epsilon_pure=0.3)
    over = budget_numbers(ledger, "x", box)
    assert over.more == 0
    with pytest.raises(InputError, match="exceed the cap"):
        entered(ledger, epsilon_pure=0.3)
    figure = budget_picture(over, "").figure  # no Gaussian noise, no bar of squares of mu
    assert [(bar.name, bar.base[0], bar.x[0]) for bar in figure.data] == [
        (name, pytest.approx(0.3 * k), 0.3) for k, name in enumerate(["released already"] * 3 + ["this release"])]
    assert figure.layout.xaxis.title.text == "ε of box and Laplace noise, with δ = 0"
    assert figure.layout.xaxis.range[1] > 1.2
    assert [line.x0 for line in figure.layout.shapes] == [1.0]
    fresh = budget_numbers(Ledger(cap=(1.0, 1e-5)), "x", box)
    assert "The cap allows 3 like it, this one included." in budget_words("ε", fresh, lasts=False)


def test_beside_gaussian_noise_the_bars_are_two_and_pure_noise_ends_at_its_part():
    ledger = Ledger(cap=(2.0, 1e-5), pure=0.5)
    entered(ledger, float(gaussian_mu(0.5, 1e-5)))
    numbers = budget_numbers(ledger, "x", planned(0.0, epsilon_pure=0.2))
    assert (numbers.pure.cap, numbers.more) == (0.5, 2)
    assert numbers.epsilon_after == pytest.approx(0.7)
    figure = budget_picture(numbers, "").figure
    assert [line.x0 for line in figure.layout.shapes] == pytest.approx([gaussian_mu(1.5, 1e-5) ** 2, 0.5])
    named = [bar.name for bar in figure.data if bar.showlegend is not False]
    assert sorted(named) == ["left under the cap", "released already", "this release"]
    assert figure.data[-2].xaxis == "x2"


def test_many_releases_become_one_segment_no_cap_sketches_a_few_more_and_too_little_still_has_an_axis():
    ledger = Ledger()
    for _ in range(SHOWN_SINGLY + 1):
        entered(ledger, 0.1)
    many, little = budget_numbers(ledger, "x", planned(0.1)), budget_numbers(Ledger(), "x", planned(1e-6, delta=0.1))
    assert (len(many.gaussian.before), many.more) == (1, None)
    assert [bar.name for bar in budget_picture(many, "").figure.data].count("the same again") == AGAIN
    assert (budget_ticks(little), little.epsilon_after) == ([(0.0, 0.0)], 0)
    budget_picture(little, "")


def test_two_threads_of_a_session_with_one_ticket_make_one_release(monkeypatch):
    held = release_desk.Desk()
    begun = threading.Barrier(2)

    def slow(setup, *, ledger, **_):
        time.sleep(0.2)
        ledger.entries.append("entered")

    monkeypatch.setattr(held, "ledger", types.SimpleNamespace(entries=[], lasts=False))
    monkeypatch.setattr(release_desk, "release_desk", lambda: held)
    monkeypatch.setattr(release_desk, "ticket", lambda: str(len(held.ledger.entries)))
    monkeypatch.setattr(release_desk, "release_setup", slow)
    design = types.SimpleNamespace(rows=2, cols=2)
    monkeypatch.setattr(release_desk, "session", types.SimpleNamespace(
        setup=lambda: types.SimpleNamespace(design=design, scenario=Scenario())))
    monkeypatch.setattr(release_desk, "st", types.SimpleNamespace(session_state={"release_sure_0": True}))

    def click(_):
        begun.wait()
        release_desk.release_once("0", (), False, None)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(click, range(2)))
    assert held.ledger.entries == ["entered"]


def test_what_is_released_has_intervals_on_the_page_and_a_file():
    app = released(page(query="mean", task="reconstruction"))
    assert "a number is off by" in facts(app)
    clipped = facts(page(data="two_features", bound="own", radius="0.3"))
    assert "noise moves a number by" in clipped
    assert "a number is off by" not in clipped
    assert_says(app, ["In 95 % of releases a released number differs from the answer by at most ± 6.44 on mcv",
                      "This covers the noise alone, for these records clipped to their ranges"])
    everything, *parts = (button.proto.label for button in app.get("download_button"))
    assert everything == "Download everything released"
    assert "Intervals as CSV" in parts
    told, made = frame(app, "lower"), desk(app).releases[0]
    halves = sample("liver").widths / 2 * made.half_widths()[:, 0]
    np.testing.assert_allclose(told["upper"] - told["released"], halves, rtol=1e-9)


def test_second_moments_are_fitted_for_the_label_that_is_chosen():
    app = released(page())
    [label] = keyed(app, "selectbox", "release_label_")
    assert label.value == "drinks"
    assert_says(app, ["of drinks", "cover noise alone"])
    assert list(frame(app, "coefficient")["feature"]) == list(sample("liver").features[:5])
    assert "drinks" in list(frame(clean(label.set_value("mcv").run()), "coefficient")["feature"])
    assert len(desk(app).ledger.entries) == 1
