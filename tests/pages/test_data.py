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
from tests.pages.app import CSV, adjust, change, opened, press, put, to, uploaded
from tests.pages.desk import box, desk, go, released
from tests.pages.shown import (
    assert_says,
    chart,
    charts,
    clean,
    component,
    keyed,
    link,
    numbers,
    said,
    scenario,
    strip,
    text,
)

CLIP, CHANGE = "Clip records", "What one record can change"


def pulled(**changes):
    """How many records of liver are clipped."""
    setup = liver(**changes)
    return setup.query.bound.count_outside(setup.table)


def liver(**changes):
    return build(Scenario.default_for("liver").changed(**changes), sample("liver"))


def page(tab=CLIP, **parameters):
    return clean(opened(DATA.path, state={"data_tab": tab}, **{"data": "liver"} | parameters))


def test_before_it_is_chosen_the_page_says_what_it_would_do():
    app, count = page(), pulled(bound="even")
    assert_says(app, [f"{count} of 345 records would be clipped", "(not private)",
                      "If you clip records to a typical size: **Noise on priority columns: 0.33× the noise"])
    assert "records" not in strip(app).replace("record replaced", "")
    assert link(adjust(app, data_bound="even")) == {"data": "liver", "bound": "even"}
    assert f"{count} of 345 records are clipped" in text(app)
    assert "true answer after clipping" in text(put(app, data_tab="The answer"))
    assert "records: </dt><dd class=\"\">clipped to a typical-size ellipse" in strip(app)


def test_the_histogram_counts_the_records_and_shows_the_line():
    drawn = next(one for one in charts(page(bound="own", radius="1.3")) if one["data"][-1].get("name") == "clipped")
    assert numbers(drawn["data"][1]["y"]).sum() == pulled(bound="own", radius=1.3)
    assert drawn["layout"]["shapes"][0]["x0"] == 1.3


def test_a_length_chosen_beside_the_lengths_counts_as_chosen_on_the_data():
    app = put(uploaded(CSV), data_tab=CLIP)
    assert link(adjust(app, data_bound="own", w_my_data=True, data_radius=1.4))["from_data"] == "radius"
    assert "the clipping radius" in strip(app)
    assert "the clipping radius. That reveals something" in box(to(app, RELEASE), "release_accept_choices").label
    assert go(app).disabled


def test_a_length_from_the_sidebar_or_from_the_ranges_is_a_person_s_own():
    app = page(everything=True, bound="own")
    assert link(adjust(app, w_radius=1.4)) == {"data": "liver", "bound": "own", "radius": "1.4"}
    assert link(press(app, "data_bound_all")) == {"data": "liver", "bound": "own", "radius": "1.733"}
    assert "0 of 345 records are clipped" in text(app)


@pytest.mark.parametrize(("parameters", "warned"), [
    ({"data": "movement_simulated", "query": "mean"}, "For a mean of 10,176 records clipping costs"),
    ({"data": "movement_simulated"}, "For second moments of 10,176 records clipping costs"),
    ({"query": "moments"}, "A regression hardly feels it"), ({"query": "identity"}, "")])
def test_where_the_pull_costs_more_than_it_saves_the_page_says_so(parameters, warned):
    found = " ".join(one.value for one in page(bound="even", **parameters).warning)
    assert warned in found
    assert bool(warned) == bool(found)


def test_a_graph_has_no_records_to_pull():
    app = page("The answer", data="karate", bound="even")
    assert "ellipse" not in text(app) + strip(app)
    assert CLIP not in [tab.label for tab in app.tabs]


def test_where_a_bound_does_not_fit_there_is_a_sentence_and_a_way_out_on_every_page():
    app = opened(data="liver", directions="private", bound="even")
    for page in (HOME, DATA, SHAPE):
        assert "directions that are known before" in app.switch_page(page.path).run().error[0].value
    assert link(press(app, "without_bound")) == {"data": "liver", "directions": "private"}


@pytest.mark.parametrize(("page", "parameters", "parts", "absent"), [
    (DATA, {"query": "identity", "mode": "columns"}, ["A clipping bound shapes the noise over features"], []),
    (DATA, {"query": "moments", "bound": "even"}, ["made for regressions"], ["1 = an evenly spread record"]),
    (PRIVACY, {"bound": "private"}, ["a known seed: not private"], []),
    (PRIVACY, {"bound": "even"}, [], ["known seed"]),
    (BUDGET, {"bound": "even"}, ["Noise alone: clipping adds a bias of at most"], [])])
def test_what_a_page_says_of_a_bound(page, parameters, parts, absent):
    app = opened(page.path, data="liver", state={"data_tab": CLIP}, **parameters)
    assert_says(app, parts, absent)
    assert ("drawn from a known seed: not private" in strip(app)) == (parameters.get("bound") == "private")


def test_a_reason_stands_where_a_bound_leaves_no_inverse_question_and_no_splits():
    app = opened(BUDGET.path, data="liver", bound="even")
    for tab, reason in (("From noise to epsilon", "it supports records as they are"),
                        ("What gets through", "another ellipse")):
        assert reason in said(put(app, budget_tab=tab))


def test_what_finding_the_length_spends_is_in_every_total():
    setup = liver(bound="private", epsilon=5.0)
    assert_says(opened(PRIVACY.path, data="liver", bound="private", epsilon="5"), [
        f"together at most {as_number(setup.design.total_mu)}", "the best attack finds at most 27"])
    assert float(gaussian_epsilon(setup.delta, setup.design.total_mu)) == pytest.approx(5.0)
    assert "private clipping radius: at most ε = 5.00" in report_html(setup, None, simulated=False)


def test_asking_for_joint_moments_lets_go_of_a_length_found_privately():
    app = page(everything=True, bound="private")
    assert link(adjust(app, w_query="moments"))["bound"] == "even"
    assert "private" not in app.selectbox(key="data_bound").options


def test_a_bound_on_ranges_read_from_the_data_has_to_be_accepted():
    app = adjust(put(uploaded(CSV), data_tab=CLIP), data_bound="even")
    assert "typical-size ellipse, read from the data: not private" in strip(app).replace("&#x27;", "'")
    to(app, RELEASE)
    for caveat in ("ranges", "bound"):
        assert go(app).disabled
        box(app, f"release_accept_{caveat}_").check().run()
    assert set(desk(released(app)).ledger.entries[0].caveats) == {"ranges", "bound"}


def test_positions_of_what_is_needed_follow_the_features():
    app = uploaded(b"a,b,c\n" + b"".join(b"%d,%d,%d\n" % (i, i * i % 7, i % 3) for i in range(40)))
    assert scenario(adjust(change(app, priority=(0, 2)), upload_columns=["b", "c"])).priority == (1,)


def test_the_sidebar_offers_joint_moments_and_only_the_features_to_favour():
    app = opened(DATA.path, everything=True, data="liver", directions="random", allocation="max-pnr")
    assert app.selectbox(key="w_query").options == [
        "The table itself", "Second moments (covariance)", "Mean and second moments together", "The mean record",
        "Cross-moments of two groups of columns", "Kernel matrix of the records"]
    assert link(adjust(app, w_query="moments")) == {"data": "liver", "query": "moments"}
    assert app.multiselect(key="w_priority").label == "Priority columns"
    assert "constant" not in app.multiselect(key="w_priority").options
    assert len(link(adjust(app, w_allocation="manual"))["weights"].split("-")) == 6
    large = opened(everything=True, data="movement_simulated")
    assert "Kernel matrix of the records" not in large.selectbox(key="w_query").options


@pytest.mark.parametrize("query", ["identity", "mean", "covariance", "moments"])
def test_the_worst_neighbours_shown_lie_inside_the_ellipse(query):
    table = opened(PRIVACY.path, data="liver", query=query, bound="even", scale="unit").dataframe[0].value
    setup = liver(query=query, bound="even", scale="unit")
    data, ellipse = setup.dataset, setup.query.bound.ellipse(setup.table.n_features)
    for column in ("Before", "After"):
        record = table[column].to_numpy(dtype=float, copy=True)
        record[: data.n_features] = (record[: data.n_features] - data.lower) / data.widths  # [0, 1]
        assert ellipse.lengths(record[:, None])[0] <= setup.query.bound.radius * (1 + 1e-9)
    assert list(table["Feature"]) == list(setup.table.features)


def test_what_one_record_can_change_is_what_it_can_change_inside_the_bound():
    query = liver(query="mean", bound="even").query
    words, moved = text(page(CHANGE, query="mean", bound="even")), query.sensitivity * worst_pair(query).attained
    assert f"the answer moves by {moved:.4f}" in words or f"the answer moves by {moved:.3g}" in words
    assert "from one end of the ellipse to the other" in words


def test_columns_that_are_no_features_are_named_and_left_out_with_a_button():
    app = uploaded("Unnamed: 0,patient_id,age\n" + "".join(f"{i},{i % 20},{20 + i % 50}\n" for i in range(60)))
    assert_says(app, ["numbers the records**: leave it out", "one value occurs 3 times"])
    assert press(app, "upload_leave_out").multiselect(key="upload_columns").value == ["age"]
    assert "leave it out" not in text(app)


def wide(columns):
    header = ",".join(f"c{i}" for i in range(columns))
    rows = "".join(",".join(str((i * (k % 5) + i * i + k) % 11) for k in range(columns)) + "\n" for i in range(1, 12))
    return clean(uploaded(f"{header}\n{rows}"))


def test_of_many_columns_all_or_some_are_used_and_of_very_many_the_first_until_others_are_chosen():
    app = wide(70)
    assert app.toggle(key="upload_all_columns").value
    assert not keyed(app, "multiselect", "upload_columns")
    assert "**70 features × 11 records**" in text(app)
    assert "**30 features × 11 records**" in said(adjust(app, upload_all_columns=False))
    app = wide(2_100)
    assert app.toggle(key="upload_all_columns").disabled
    assert app.multiselect(key="upload_columns").value == [f"c{i}" for i in range(30)]
    assert "The first 30 of 2,100 columns" in text(app)
    assert "**2 features × 11 records**" in said(adjust(app, upload_columns=["c7", "c9"]))


def test_neighbours_are_chosen_and_named():
    app = page(CHANGE, query="mean")
    assert "one record replaced" in strip(app)
    assert link(adjust(app, w_neighbours="add-remove"))["neighbours"] == "add-remove"
    assert "one record added or removed" in strip(app)
    assert "largest number of records is public" in text(app)
    kernel = opened(DATA.path, data="liver", query="kernel", neighbours="add-remove")
    assert "none can be added or removed" in " ".join(element.value for element in kernel.error)
    adjust(kernel, w_neighbours="replace")


def test_the_path_changes_the_same_fields_as_the_sidebar_and_folds():
    app = page(query="mean")
    assert (app.session_state["path_Question"], app.session_state["path_File"]) == (True, False)
    adjust(app, path_query="covariance", path_priority=[2], path_epsilon=2.0)
    assert link(app) == {"data": "liver", "priority_directions": "2", "epsilon": "2"}
    press(app, "path_on_Question")
    assert (app.session_state["path_Question"], app.session_state["path_Priority columns"]) == (False, True)


def test_the_normalised_scale_is_a_toggle_away():
    def shown():
        return np.abs(np.array(chart(app, "answer")["data"][0]["text"], dtype=float)).max()

    app = opened(DATA.path, data="liver", query="mean", everything=True)
    assert shown() > 1
    assert "normalised" not in json.dumps(chart(adjust(app, w_normalised=True), "answer"))
    assert shown() <= 1
    assert set(component(to(app, SHAPE), "rule")["factors"]) == {1}
