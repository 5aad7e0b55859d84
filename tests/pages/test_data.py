"""Data & query: records inside an ellipse, what that saves and costs, and where it comes from."""

import json

import numpy as np
import pytest

from mvgviz import Scenario
from mvgviz.data import sample
from mvgviz.noise.accounting import gaussian_epsilon
from mvgviz.query.worst_pairs import worst_pair
from mvgviz.report.html import report_html
from mvgviz.scenario.resolve import build
from mvgviz.text import as_number
from mvgviz.ui.menu import BUDGET, DATA, HOME, PRIVACY, RELEASE, SHAPE
from tests.pages.app import CSV, change, opened, press, put, to, uploaded
from tests.pages.desk import box, go, released
from tests.pages.shown import assert_says, chart, charts, clean, component, link, numbers, said, strip, text


def pulled(**changes):
    setup = build(Scenario.default_for(changes.pop("data")).changed(**changes), sample("liver"))
    return setup.query.bound.count_outside(setup.table)


def test_before_it_is_chosen_the_page_says_what_it_would_do():
    app = clean(opened(DATA.path, data="liver"))
    count = pulled(data="liver", bound="even")
    assert f"{count} of 345 records would be clipped" in text(app)
    assert "(not private)" in text(app)
    assert "If you clip records to a typical size: **Noise on sgpt and drinks: 0.33× the noise" in text(app)
    assert "records" not in strip(app).replace("record replaced", "")
    app.selectbox(key="data_bound").set_value("even").run()
    assert link(clean(app)) == {"data": "liver", "bound": "even"}
    assert f"{count} of 345 records are clipped" in text(app)
    assert "records: </dt><dd class=\"\">clipped to a typical-size ellipse" in strip(app)
    assert "true answer after clipping" in text(app)


def test_the_histogram_counts_the_records_and_shows_the_line():
    app = opened(DATA.path, data="liver", bound="own", radius="1.3")
    drawn = next(one for one in charts(app) if one["data"][-1].get("name") == "clipped")
    assert numbers(drawn["data"][1]["y"]).sum() == pulled(data="liver", bound="own", radius=1.3)
    assert drawn["layout"]["shapes"][0]["x0"] == 1.3


def test_a_length_chosen_beside_the_lengths_counts_as_chosen_on_the_data():
    app = uploaded(CSV.encode())
    app.selectbox(key="data_bound").set_value("own").run()
    app.toggle(key="w_my_data").set_value(True).run()
    app.number_input(key="data_radius").set_value(1.4).run()
    assert link(clean(app))["from_data"] == "radius"
    assert "the clipping radius" in strip(app)
    to(app, RELEASE)
    assert "choices made after looking at results on the data" in text(clean(app))
    assert go(app).disabled


def test_a_length_from_the_sidebar_or_from_the_ranges_is_a_person_s_own():
    app = opened(DATA.path, everything=True, data="liver", bound="own")
    app.number_input(key="w_radius").set_value(1.4).run()
    assert link(clean(app)) == {"data": "liver", "bound": "own", "radius": "1.4"}
    assert link(press(app, "data_bound_all")) == {"data": "liver", "bound": "own", "radius": "1.733"}
    assert "0 of 345 records are clipped" in text(app)


@pytest.mark.parametrize(("parameters", "warned"), [
    ({"data": "movement_simulated", "query": "mean", "bound": "even"}, "For a mean of 10,176 records clipping costs"),
    ({"data": "movement_simulated", "bound": "even"}, "For second moments of 10,176 records clipping costs"),
    ({"data": "liver", "query": "moments", "bound": "even"}, "It hardly affects a regression from them"),
    ({"data": "liver", "query": "identity", "bound": "even"}, None)])
def test_where_the_pull_costs_more_than_it_saves_the_page_says_so(parameters, warned):
    found = " ".join(one.value for one in clean(opened(DATA.path, **parameters)).warning)
    assert found == "" if warned is None else warned in found


def test_a_graph_has_no_records_to_pull():
    app = clean(opened(DATA.path, data="karate", bound="even"))
    assert "inside an ellipse" not in text(app)
    assert "ellipse" not in strip(app)


@pytest.mark.parametrize("path", [HOME.path, DATA.path, SHAPE.path])
def test_where_a_bound_does_not_fit_there_is_a_sentence_and_a_way_out(path):
    app = opened(path, data="liver", directions="private", bound="even")
    assert "directions that are known before" in app.error[0].value
    assert link(press(app, "without_bound")) == {"data": "liver", "directions": "private"}


@pytest.mark.parametrize(("page", "parameters", "parts", "absent"), [
    (DATA, {"query": "identity", "mode": "columns"},
     ["A clipping bound shapes the noise over features"], []),
    (DATA, {"query": "moments", "bound": "even"}, ["made for regressions"], ["1 = a typical record"]),
    (PRIVACY, {"bound": "private"}, ["a known seed: not private"], []),
    (PRIVACY, {"bound": "even"}, [], ["known seed"]),
    (BUDGET, {"bound": "even"}, ["Noise alone: clipping adds a bias of at most"], [])])
def test_what_a_page_says_of_a_bound(page, parameters, parts, absent):
    app = opened(page.path, data="liver", **parameters)
    assert_says(app, parts, absent)
    if page is PRIVACY:
        assert ("drawn from a known seed: not private" in strip(app)) == (parameters["bound"] == "private")


def test_what_finding_the_length_spends_is_in_every_total():
    setup = build(Scenario.default_for("liver").changed(bound="private", epsilon=5.0), sample("liver"))
    assert_says(opened(PRIVACY.path, data="liver", bound="private", epsilon="5"), [
        f"together at most {as_number(setup.design.total_mu)}", "the best attack finds at most 27"])
    assert float(gaussian_epsilon(setup.delta, setup.design.total_mu)) == pytest.approx(5.0)
    assert "private clipping radius together: at most ε = 5.00" in report_html(setup, None, simulated=False)


def test_asking_for_joint_moments_lets_go_of_a_length_found_privately():
    app = opened(DATA.path, everything=True, data="liver", bound="private")
    app.selectbox(key="w_query").set_value("moments").run()
    assert link(clean(app))["bound"] == "even"
    assert "private" not in app.selectbox(key="data_bound").options


def test_a_bound_on_ranges_read_from_the_data_has_to_be_accepted():
    app = uploaded(CSV.encode())
    app.selectbox(key="data_bound").set_value("even").run()
    assert "typical-size ellipse, read from the data: not private" in strip(clean(app)).replace("&#x27;", "'")
    to(app, RELEASE)
    for caveat in ("ranges", "bound"):
        assert go(app).disabled
        box(app, f"release_accept_{caveat}_").check().run()
    entry = released(app).session_state["_release_desk"].ledger.entries[0]
    assert set(entry.caveats) == {"ranges", "bound"}


def test_positions_of_what_is_needed_follow_the_features():
    app = uploaded(b"a,b,c\n" + b"".join(b"%d,%d,%d\n" % (i, i * i % 7, i % 3) for i in range(40)))
    change(app, priority=(0, 2)).multiselect(key="upload_columns").set_value(["b", "c"]).run()
    assert clean(app).session_state["_scenario"].priority == (1,)


def test_the_sidebar_offers_joint_moments_and_only_the_features_to_favour():
    app = opened(DATA.path, everything=True, data="liver", directions="random", allocation="max-pnr")
    assert app.selectbox(key="w_query").options == [
        "The table itself", "Second moments (covariance)", "Mean and second moments together", "The mean record",
        "Cross-moments of two groups of columns", "Kernel matrix of the records"]
    app.selectbox(key="w_query").set_value("moments").run()
    assert link(clean(app)) == {"data": "liver", "query": "moments"}
    assert app.multiselect(key="w_priority").label == "Priority columns"
    assert "constant" not in app.multiselect(key="w_priority").options
    app.selectbox(key="w_allocation").set_value("manual").run()
    assert len(link(clean(app))["weights"].split("-")) == 6
    large = opened(everything=True, data="movement_simulated")
    assert "Kernel matrix of the records" not in large.selectbox(key="w_query").options


@pytest.mark.parametrize("query", ["identity", "mean", "covariance", "moments"])
def test_the_worst_neighbours_shown_lie_inside_the_ellipse(query):
    app = clean(opened(PRIVACY.path, data="liver", query=query, bound="even", scale="unit"))
    table = app.dataframe[0].value
    setup = build(Scenario.default_for("liver").changed(query=query, bound="even", scale="unit"), sample("liver"))
    data = setup.dataset
    ellipse = setup.query.bound.ellipse(setup.table.n_features)
    for column in ("Before", "After"):
        record = table[column].to_numpy(dtype=float, copy=True)
        record[: data.n_features] = (record[: data.n_features] - data.lower) / data.widths  # [0, 1]
        assert ellipse.lengths(record[:, None])[0] <= setup.query.bound.radius * (1 + 1e-9)
    assert list(table["Feature"]) == list(setup.table.features)


def test_the_inverse_question_and_the_splits_are_refused_with_a_reason():
    app = opened(BUDGET.path, data="liver", bound="even")
    for tab, reason in (("From noise to epsilon", "it supports records as they are"),
                        ("What gets through", "another ellipse")):
        assert reason in said(put(app, budget_tab=tab))


def test_what_one_record_can_change_is_what_it_can_change_inside_the_bound():
    setup = build(Scenario.default_for("liver").changed(query="mean", bound="even"), sample("liver"))
    app = clean(opened(DATA.path, data="liver", query="mean", bound="even"))
    moved = setup.query.sensitivity * worst_pair(setup.query).attained
    assert f"the answer moves by {moved:.4f}" in text(app) or f"the answer moves by {moved:.3g}" in text(app)
    assert "from one end of the ellipse to the other" in text(app)


def test_columns_that_are_no_features_are_named_and_left_out_with_a_button():
    rows = "".join(f"{i},{i % 20},{20 + i % 50}\n" for i in range(60))
    app = clean(uploaded(f"Unnamed: 0,patient_id,age\n{rows}".encode()))
    assert "numbers the records**: leave it out" in text(app)
    assert "one of its values occurs 3 times" in text(app)
    app.button(key="upload_leave_out").click().run()
    assert app.multiselect(key="upload_columns").value == ["age"]
    assert "leave it out" not in text(clean(app))


def wide(columns):
    header = ",".join(f"c{i}" for i in range(columns))
    rows = "".join(",".join(str((i * (k % 5) + i * i + k) % 11) for k in range(columns)) + "\n" for i in range(1, 12))
    return clean(uploaded(f"{header}\n{rows}"))


def test_of_very_many_columns_the_first_are_used_until_others_are_chosen():
    app = wide(2_100)
    assert app.toggle(key="upload_all_columns").disabled
    assert app.multiselect(key="upload_columns").value == [f"c{i}" for i in range(30)]
    assert "The first 30 of 2,100 columns" in text(app)
    app.multiselect(key="upload_columns").set_value(["c7", "c9"]).run()
    assert "**2 features × 11 records**" in said(app)


def test_of_many_columns_all_or_some_are_used():
    app = wide(70)
    assert app.toggle(key="upload_all_columns").value
    assert "upload_columns" not in [one.key for one in app.multiselect]
    assert "**70 features × 11 records**" in text(app)
    app.toggle(key="upload_all_columns").set_value(False).run()
    assert "**30 features × 11 records**" in said(app)


def test_neighbours_are_chosen_and_named():
    app = clean(opened(DATA.path, data="liver", query="mean"))
    assert "one record replaced" in strip(app)
    app.radio(key="w_neighbours").set_value("add-remove").run()
    assert link(clean(app))["neighbours"] == "add-remove"
    assert "one record added or removed" in strip(app)
    assert "number of places is public" in text(app)
    kernel = opened(DATA.path, data="liver", query="kernel", neighbours="add-remove")
    assert "none can be added or removed" in " ".join(element.value for element in kernel.error)
    kernel.radio(key="w_neighbours").set_value("replace").run()
    clean(kernel)


def test_the_path_changes_the_same_fields_as_the_sidebar_and_folds():
    app = clean(opened(DATA.path, data="liver"))
    assert app.session_state["path_Question"]
    assert not app.session_state["path_File"]
    app.selectbox(key="path_query").set_value("covariance").run()
    app.multiselect(key="path_priority").set_value([2]).run()
    app.select_slider(key="path_epsilon").set_value(2.0).run()
    assert link(clean(app)) | {"query": "", "priority_directions": "2", "epsilon": "2"} == link(app) | {"query": ""}
    assert app.session_state["_scenario"].query == "covariance"
    press(app, "path_on_Question")
    assert (app.session_state["path_Question"], app.session_state["path_Priority columns"]) == (False, True)


def test_the_normalised_scale_is_a_toggle_away():
    app = opened(DATA.path, data="liver", query="mean", everything=True)
    told, key = np.array(chart(app, "answer")["data"][0]["text"], dtype=float), "w_normalised"
    assert told.max() > 1
    assert "normalised" not in json.dumps(chart(clean(app.toggle(key=key).set_value(True).run()), "answer"))
    shown = np.array(chart(app, "answer")["data"][0]["text"], dtype=float)
    assert np.abs(shown).max() <= 1
    assert set(component(to(app, SHAPE), "rule")["factors"]) == {1}
