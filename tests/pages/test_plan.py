"""The page Several questions: sliders and locks, the numbers, files, and releases of all or one."""

import json
import math
import re

import numpy as np
import pytest

from mvgviz import QuestionPlan, Scenario, gaussian_epsilon, gaussian_mu
from mvgviz.data import sample
from mvgviz.errors import InputError
from mvgviz.noise.mixtures import running_epsilon
from mvgviz.pictures.strip import error_fact
from mvgviz.provenance import Range
from mvgviz.release.files import to_metadata_json
from mvgviz.release.release import plan_together
from mvgviz.scenario.plan import build_plan, plan_noise
from mvgviz.ui import plans
from mvgviz.ui.menu import DATA, HOME, PLAN, RELEASE
from tests.pages.app import CSV, adjust, choose, opened, press, put, to, uploaded
from tests.pages.desk import box, desk
from tests.pages.shown import assert_says, clean, frame, keyed, link, said, spec, text

LIVER = Scenario.default_for("liver")


def page(**parameters):
    return clean(opened(PLAN.path, **{"data": "liver"} | parameters))


def shares(app):
    return [app.slider(key=f"plan_share_{k}").value for k in range(len(names(app)))]


def names(app):
    return [slider.label for slider in app.slider if slider.key.startswith("plan_share_")]


def released(app):
    box(app, "plan_sure_").check().run()
    return press(app, "plan_go")


def total(app):
    return desk(app).ledger.total("liver", delta=1e-6)


def table(app):
    return frame(app, "most noise")


def test_it_opens_with_two_questions_that_share_the_sidebar_s_budget():
    app = page()
    assert names(app) == [r"1\: covariance, 80 % to sgpt and drinks", r"2\: mean, 80 % to sgpt and drinks"]
    assert shares(app) == [50.0, 50.0]
    assert "2 questions together spend at most ε = 1 at δ = 10⁻⁶" in text(app)
    twice = gaussian_epsilon(1e-6, math.sqrt(2) * gaussian_mu(1, 1e-6))
    assert f"With the whole ε each, they would spend {twice:.3g}" in text(app)
    assert [trace["name"] for trace in spec(app)["data"]] == [
        "every division of the budget", "same noise on both", "lowest noise in all", "this plan"]


def test_the_table_is_the_engine_s():
    app = adjust(page(epsilon="0.5"), plan_share_0=80.0)
    plan = QuestionPlan.of(LIVER.changed(epsilon=0.5), LIVER.changed(query="mean")).moved(0, 0.8)
    setups, frame = build_plan(plan, sample("liver")), table(app)
    assert frame["share"].tolist() == ["80.00 %", "20.00 %"]
    assert frame["ε of its part"].tolist() == pytest.approx([question.epsilon for question in plan_noise(plan, setups)])
    assert frame["typical error"].tolist() == [error_fact(setup).text for setup in setups]
    assert frame["least noise"][1].startswith("drinks: ")
    assert "together spend at most ε = 0.5 at δ = 10⁻⁶." in text(app)


def test_the_bias_of_clipping_is_told_of_the_question_that_clips():
    app = page(query="mean", bound="own", radius="0.5")
    assert re.search(r"\*\*1\S*: mean, 80 % to .*Noise alone: clipping adds a bias of at most \d.* on sgpt", said(app))
    app = page(query="mean", bound="own", radius="9")  # longer than any record
    assert "clipping adds" not in text(app)


def test_moving_one_share_moves_the_others_that_are_not_locked():
    app = page()
    app.session_state["_scenario"] = LIVER.changed(query="identity")
    press(app, "plan_add")
    assert [label.split(" ")[1] for label in names(app)] == ["covariance,", "mean,", "table,"]
    before = shares(adjust(app, plan_lock_1=True))[1]
    assert shares(adjust(app, plan_share_0=10.0)) == pytest.approx([10.0, before, 90.0 - before], abs=0.1)
    assert app.slider(key="plan_share_1").disabled
    assert app.selectbox(key="plan_first_3").value == 0
    assert spec(adjust(app, plan_first_3=2))["layout"]["xaxis"]["title"]["text"].startswith("noise on table (3)")


def test_rules_divide_the_budget_and_leave_locked_shares_alone():
    app = press(page(), "plan_same")
    same = shares(app)
    assert 50 < shares(press(app, "plan_least"))[0] < max(same)
    kept = shares(adjust(app, plan_lock_0=True))
    assert shares(press(app, "plan_equal")) == kept
    assert shares(press(adjust(app, plan_lock_0=False), "plan_equal")) == [50.0, 50.0]


def test_a_rule_that_looked_at_the_data_is_not_covered():
    app = press(page(directions="eigenvectors"), "plan_least")
    assert "choices made after looking at results on the data" in " ".join(table(app)["not covered"])
    assert "choices" not in " ".join(table(press(app, "plan_equal"))["not covered"])


def test_questions_come_and_go_and_the_last_stays():
    app = press(page(), "plan_remove_0")
    assert len(names(app)) == 1
    assert_says(app, ["One question has all of ε = 1", "Add a second question"])
    assert app.button(key="plan_remove_0").disabled
    assert len(names(press(app, "plan_add"))) == 2
    adjust(app, plan_lock_0=True)
    app.button(key="plan_remove_1").click().run()
    assert [error.value[:29] for error in app.error] == ["Unlock another question first"]
    assert len(names(clean(app.run()))) == 2  # said once
    assert shares(press(app, "plan_anew")) == [50.0, 50.0]


def test_until_it_is_touched_the_plan_follows_the_sidebar_and_then_its_budget_alone_does():
    app = page()
    assert "80 % to mcv" in names(adjust(app, w_priority=[0]))[0]
    assert "80 % to mcv" in names(adjust(app, plan_share_0=70.0, w_priority=[1], w_epsilon=2.0))[0]
    assert "spend at most ε = 2 at" in text(app)
    assert shares(to(to(app, HOME), PLAN)) == [70.0, 30.0]
    assert "adjacency" in " ".join(names(adjust(app, w_data="karate")))
    assert shares(adjust(app, w_data="liver")) == [70.0, 30.0]


def test_a_theorem_s_question_is_not_planned_and_one_click_helps():
    app = page(guarantee="theorem1")
    assert "do not add up exactly" in text(app)
    assert not names(app)
    assert len(names(press(app, "plan_exact"))) == 2
    adjust(app, plan_share_0=70.0)
    clean(put(app, _scenario=LIVER.changed(guarantee="theorem2")))
    assert app.button(key="plan_add").disabled
    assert shares(app) == [70.0, 30.0]


def test_a_share_that_is_too_small_says_so_and_the_sliders_stay():
    app = page(epsilon="0.01")
    [error] = app.slider(key="plan_share_0").set_value(99.9).run().error
    assert error.value.startswith("Question 2 would get an epsilon below")
    assert len(table(adjust(app, plan_share_0=50.0))) == 2


def test_the_whole_plan_is_released_at_once_with_an_entry_each():
    app = page()
    box(app, "plan_sure_").check().run()
    adjust(app, plan_share_0=70.0)  # a changed plan takes the tick back
    assert not box(app, "plan_sure_").value
    assert app.button(key="plan_go").disabled
    assert "this spends **ε = 1.00 at δ = 10⁻⁶**" in box(app, "plan_sure_").label
    released(app)
    entries, made = desk(app).ledger.entries, desk(app).releases
    assert [entry.query for entry in entries] == [given.query for given in made] == ["covariance", "mean"]
    assert entries[1].total_epsilon == pytest.approx(1.0, rel=1e-9)
    assert np.array_equal(made[0].noisy, made[0].noisy.T)
    assert "released" in names(clean(app.run()))[0]
    assert not keyed(app, "button", "plan_go")
    assert "Released: 6 × 1" in text(to(app, RELEASE))
    assert len(desk(app).ledger.entries) == 2


def test_one_by_one_the_total_stays_the_plan_s_whatever_the_sidebar_says():
    app = released(adjust(page(), plan_share_0=70.0, plan_which_2_0=1))
    [entry] = desk(app).ledger.entries
    assert (entry.query, entry.mu) == ("mean", pytest.approx(math.sqrt(0.3) * gaussian_mu(1, 1e-6), rel=1e-9))
    assert "its budget stays ε = 1" in said(adjust(app, w_epsilon=5.0))
    assert app.slider(key="plan_share_1").disabled
    assert app.button(key="plan_remove_1").disabled
    assert "covariance, 80 % to sgpt and drinks" in text(released(app))
    assert total(app).epsilon == pytest.approx(1.0, rel=1e-9)


def test_over_the_cap_nothing_of_the_plan_is_released():
    app = page()
    desk(app).ledger.set_cap((0.9, 1e-6))
    app.run()
    [refusal] = [error.value for error in app.error]
    assert "would exceed the cap" in refusal
    assert app.button(key="plan_go").disabled
    app.selectbox(key="plan_which_2_0").set_value(0).run()  # alone it fits
    box(app, "plan_sure_").check().run()
    app.button(key="plan_go").click().run()
    assert "would exceed the cap" in app.error[0].value  # the other does not any more
    assert len(desk(app).ledger.entries) == 1


def test_the_callback_itself_releases_once_per_ticket(monkeypatch):
    plan, state = QuestionPlan.of(LIVER, LIVER.changed(query="mean")), {}
    monkeypatch.setattr(plans.st, "session_state", state)
    for name, value in (("scenario", LIVER), ("dataset", sample("liver")), ("version", "liver")):
        monkeypatch.setattr(plans.session, name, lambda value=value: value)
    monkeypatch.setattr(plans, "plan_setups", lambda plan: build_plan(plan, sample("liver")))
    now = plans.plan_ticket(plans.HeldPlan(plan=plan, features=()), (0, 1))
    plans.release_questions(now, (0, 1), (), None)
    assert state["_release_desk"].releases == []  # not ticked
    state[f"plan_sure_{now}"] = True
    for chosen in ((0,), (0, 1), (0, 1), (1,)):  # one ticket, for both
        plans.release_questions(now, chosen, (), None)
    assert len(state["_release_desk"].releases) == len(state["_release_desk"].ledger.entries) == 2
    assert plans.held_plan().waiting == ()


def test_a_refusal_while_drawing_leaves_nothing(monkeypatch):
    def refuse(*arguments, **options):
        raise InputError("rounding errors could reach a tenth")

    app = page()
    box(app, "plan_sure_").check().run()
    monkeypatch.setattr(plans, "release_together", refuse)
    app.button(key="plan_go").click().run()
    assert [error.value for error in app.error] == ["Rounding errors could reach a tenth"]
    assert desk(app).ledger.entries == ()
    assert len(names(clean(app.run()))) == 2


def test_what_was_read_from_the_data_has_to_be_accepted():
    app = to(uploaded(CSV), PLAN)
    box(app, "plan_sure_").check().run()
    assert app.button(key="plan_go").disabled
    box(app, "plan_accept_ranges").check().run()
    assert {entry.caveats for entry in desk(press(app, "plan_go")).ledger.entries} == {("ranges",)}


def test_a_plan_follows_the_names_of_its_features():
    app = clean(uploaded(CSV.replace(",name", ",size").replace(",p", ",").encode()))
    app.session_state["_open_files"].current.said.ranges.update(age=Range(0, 100))
    app.switch_page(PLAN.path).run()
    assert "to dose" in names(adjust(app, w_priority=[1], plan_share_0=70.0))[0]
    to(app, DATA).multiselect(key="upload_columns").set_value(["dose", "size"]).run()
    assert "to dose" in names(to(app, PLAN))[0]
    assert shares(app) == [70.0, 30.0]


def test_a_plan_goes_out_as_a_file_and_comes_back_and_a_bad_one_gets_a_sentence():
    plan = QuestionPlan.of(LIVER.changed(epsilon=2.0), LIVER.changed(query="identity")).moved(0, 0.9)
    app = choose(page(), plan.to_json(), "plan.json", key="plan_file")
    assert shares(clean(app)) == [90.0, 10.0]
    assert link(app) == {"data": "liver", "epsilon": "2"}
    assert "spend at most ε = 2" in text(app)
    assert {button.proto.label for button in app.get("download_button")} == {"Plan as JSON", "Save the study"}
    for content, message in (
            (b"", "must be JSON"), (QuestionPlan.of(Scenario()).to_json(), "choose that data first")):
        assert not choose(app, content, "plan.json", key="plan_file").exception
        assert message in " ".join(error.value for error in app.error)
        assert shares(app) == [90.0, 10.0]  # nothing is lost


def test_a_question_gets_another_family_and_the_plan_goes_into_the_ledger_as_two_pots():
    app = page()
    assert {one.key for one in app.selectbox if one.key.startswith("plan_family_")} == {"plan_family_1"}  # of the mean
    adjust(app, plan_family_1="box", plan_share_0=30.0)
    plan = QuestionPlan.of(LIVER, LIVER.changed(query="mean")).with_family(1, "box").moved(0, 0.3)
    setups = build_plan(plan, sample("liver"))
    assert table(clean(app))["ε of its part"].tolist() == pytest.approx([setup.scenario.epsilon for setup in setups])
    planned = plan_together(setups)
    assert planned.epsilon == pytest.approx(1.0, abs=1e-6)
    counted = running_epsilon(1e-6, planned.epsilon_pure, planned.mu)
    assert counted > 1.01
    assert f"The ledger counts ε = {counted:.3f}" in text(app)
    released(app)
    entries, made = desk(app).ledger.entries, desk(app).releases
    assert [(entry.family, entry.mu > 0, entry.epsilon_pure > 0) for entry in entries] == [
        ("gaussian", True, False), ("box", False, True)]
    spent = total(app)
    assert (spent.epsilon_pure, spent.mu, spent.epsilon) == pytest.approx((planned.epsilon_pure, planned.mu, counted))
    for given in made:  # each certificate says both
        words = json.loads(to_metadata_json(given))["guarantee"]["together"]
        assert words.startswith("2 answers released together: epsilon 1 at delta 1e-06, fixed in advance; a ledger")
        assert f"counts epsilon {counted:.6g}" in words


def test_beside_box_noise_nothing_of_a_plan_moves_once_a_part_is_released():
    app = released(adjust(page(), plan_family_1="laplace", plan_which_2_0=1))
    assert "its shares too" in said(app)
    assert app.slider(key="plan_share_0").disabled
    assert app.selectbox(key="plan_family_1").disabled
    assert app.button(key="plan_add").disabled
    assert app.button(key="plan_remove_0").disabled
    kept = shares(app)
    assert shares(press(app, "plan_equal")) == kept
    assert len(desk(released(app)).ledger.entries) == 2


def test_box_noise_cannot_join_a_plan_of_which_a_part_is_released():
    app = released(adjust(page(), plan_which_2_0=0))
    put(app, _scenario=LIVER.changed(query="mean", family="box")).button(key="plan_add").click().run()
    assert "only questions with Gaussian noise can join" in app.error[0].value
    assert len(names(app)) == 2


def test_a_plan_of_box_noise_alone_needs_no_delta():
    app = press(adjust(page(query="mean", family="box"), plan_family_0="laplace"), "plan_remove_1")
    press(put(app, _scenario=LIVER.changed(query="mean", family="box")), "plan_add")
    assert_says(app, ["2 questions together spend at most ε = 1 with δ = 0"], ["The ledger counts"])
    released(app)
    assert (total(app).epsilon, total(app).mu) == (pytest.approx(1.0), 0)


def test_an_ellipse_from_the_sidebar_becomes_gaussian_and_that_is_said():
    app = page(query="mean", family="ellipse")
    assert "A plan takes Gaussian, box and Laplace noise" in said(app)
    assert app.selectbox(key="plan_family_0").value == "gaussian"
