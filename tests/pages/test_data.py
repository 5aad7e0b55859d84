"""Data & query: records inside an ellipse, what that saves and costs, and where it comes from."""

import base64

import numpy as np
import pytest

from mvgviz import Scenario
from mvgviz.data import sample
from mvgviz.query.worst_pairs import worst_pair
from mvgviz.scenario.resolve import build
from mvgviz.ui.menu import BUDGET, DATA, HOME, PRIVACY, RELEASE, SHAPE
from tests.pages.app import CSV, box, clean, go, link, opened, released, spec, strip, text, uploaded


def pulled(**changes):
    setup = build(Scenario.default_for(changes.pop("data")).changed(**changes), sample("liver"))
    return setup.query.bound.count_outside(setup.table)


def test_before_it_is_chosen_the_page_says_what_it_would_do():
    app = clean(opened(DATA.path, data="liver"))
    count = pulled(data="liver", bound="even")
    assert f"{count} of 345 records would be pulled in" in text(app)
    assert "(not private)" in text(app)
    assert "With an ellipse as long as an evenly spread record: **Noise on sgpt and drinks: 0.33× what" in text(app)
    assert "records" not in strip(app).replace("record replaced", "")
    app.selectbox(key="data_bound").set_value("even").run()
    assert link(clean(app)) == {"data": "liver", "bound": "even"}
    assert f"{count} of 345 records are pulled in" in text(app)
    assert "records: </dt><dd class=\"\">pulled into an ellipse as long as an evenly spread record" in strip(app)
    assert "inside an ellipse" in text(app)


def test_the_histogram_counts_the_records_and_shows_the_line():
    app = opened(DATA.path, data="liver", bound="own", radius="1.3")
    drawn = next(one for one in (spec(app, k) for k in range(4)) if one["data"][-1].get("name") == "pulled in")
    heights = np.frombuffer(base64.b64decode(drawn["data"][1]["y"]["bdata"]), dtype=drawn["data"][1]["y"]["dtype"])
    assert heights.sum() == pulled(data="liver", bound="own", radius=1.3)
    assert drawn["layout"]["shapes"][0]["x0"] == 1.3


def test_a_length_chosen_beside_the_lengths_counts_as_chosen_on_the_data():
    app = uploaded(CSV.encode())
    app.selectbox(key="data_bound").set_value("own").run()
    app.toggle(key="w_my_data").set_value(True).run()
    app.number_input(key="data_radius").set_value(1.4).run()
    assert link(clean(app))["from_data"] == "radius"
    assert "the bound&#x27;s length" in strip(app)
    app.switch_page(RELEASE.path).run()
    assert "choices made after looking at results on the data" in text(clean(app))
    assert go(app).disabled


def test_a_length_from_the_sidebar_or_from_the_ranges_is_a_person_s_own():
    app = opened(DATA.path, everything=True, data="liver", bound="own")
    app.number_input(key="w_radius").set_value(1.4).run()
    assert link(clean(app)) == {"data": "liver", "bound": "own", "radius": "1.4"}
    app.button(key="data_bound_all").click().run()
    assert link(clean(app)) == {"data": "liver", "bound": "own", "radius": "1.733"}
    assert "0 of 345 records are pulled in" in text(app)


@pytest.mark.parametrize(("parameters", "warned"), [
    ({"data": "movement_simulated", "query": "mean", "bound": "even"}, "For a mean of 10,176 records the pull costs"),
    ({"data": "movement_simulated", "bound": "even"}, "For second moments of 10,176 records the pull costs"),
    ({"data": "liver", "query": "moments", "bound": "even"}, "A regression from them is hardly touched"),
    ({"data": "liver", "query": "identity", "bound": "even"}, None)])
def test_where_the_pull_costs_more_than_it_saves_the_page_says_so(parameters, warned):
    app = clean(opened(DATA.path, **parameters))
    said = " ".join(one.value for one in app.warning)
    assert said == "" if warned is None else warned in said


def test_a_graph_has_no_records_to_pull():
    app = clean(opened(DATA.path, data="karate", bound="even"))
    assert "inside an ellipse" not in text(app)
    assert "ellipse" not in strip(app)


@pytest.mark.parametrize("path", [HOME.path, DATA.path, SHAPE.path])
def test_where_a_bound_does_not_fit_there_is_a_sentence_and_a_way_out(path):
    app = opened(path, data="liver", directions="private", bound="even")
    assert "directions that are known before" in app.error[0].value
    app.button(key="without_bound").click().run()
    assert link(clean(app)) == {"data": "liver", "directions": "private"}


def test_without_a_fitting_bound_the_page_says_why():
    app = clean(opened(DATA.path, data="liver", query="identity", mode="columns"))
    assert "A record bound gives noise over features the shape of the records" in text(app)


def test_a_bound_on_ranges_read_from_the_data_has_to_be_accepted():
    app = uploaded(CSV.encode())
    app.selectbox(key="data_bound").set_value("even").run()
    assert "evenly spread record, read from the data: not private" in strip(clean(app)).replace("&#x27;", "'")
    app.switch_page(RELEASE.path).run()
    for caveat in ("ranges", "bound"):
        assert go(app).disabled
        box(app, f"release_accept_{caveat}_").check().run()
    entry = released(app).session_state["_release_desk"].ledger.entries[0]
    assert set(entry.caveats) == {"ranges", "bound"}


def test_positions_of_what_is_needed_follow_the_features():
    app = uploaded(b"a,b,c\n" + b"".join(b"%d,%d,%d\n" % (i, i * i % 7, i % 3) for i in range(40)))
    app.session_state["_scenario"] = app.session_state["_scenario"].changed(needed=(0, 2))
    app.multiselect(key="upload_columns").set_value(["b", "c"]).run()
    assert clean(app).session_state["_scenario"].needed == (1,)


def test_the_sidebar_offers_joint_moments_and_only_the_features_to_favour():
    app = opened(DATA.path, everything=True, data="liver", directions="random", allocation="max-pnr")
    assert app.selectbox(key="w_query").options == [
        "The table itself", "Second moments (covariance)", "Mean and second moments together", "The mean record",
        "Kernel matrix of the records"]
    app.selectbox(key="w_query").set_value("moments").run()
    assert link(clean(app)) == {"data": "liver", "query": "moments"}
    assert app.multiselect(key="w_favoured").label == "Which columns must be precise?"
    assert "constant" not in app.multiselect(key="w_favoured").options
    app.selectbox(key="w_allocation").set_value("manual").run()
    assert len(link(clean(app))["weights"].split("-")) == 6


def test_a_large_table_has_no_kernel_matrix():
    app = opened(DATA.path, everything=True, data="movement_simulated")
    assert "Kernel matrix of the records" not in app.selectbox(key="w_query").options


@pytest.mark.parametrize("query", ["identity", "mean", "covariance", "moments", "kernel"])
@pytest.mark.parametrize("path", [DATA.path, SHAPE.path, BUDGET.path, PRIVACY.path])
def test_pages_know_bounded_records_and_joint_moments(path, query):
    clean(opened(path, data="liver", query=query, bound="even"))
    if query == "moments":
        clean(opened(path, data="liver", query=query))


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
    assert "Noise alone: clipping adds a bias of at most" in text(clean(app))
    for tab, reason in (("From noise to epsilon", "worked out for records as they are"),
                        ("What gets through", "another ellipse")):
        app.session_state["budget_tab"] = tab
        assert reason in text(clean(app.run()))


def test_what_one_record_can_change_is_what_it_can_change_inside_the_bound():
    setup = build(Scenario.default_for("liver").changed(query="mean", bound="even"), sample("liver"))
    app = clean(opened(DATA.path, data="liver", query="mean", bound="even"))
    moved = setup.query.sensitivity * worst_pair(setup.query).attained
    assert f"the answer moves by {moved:.4f}" in text(app) or f"the answer moves by {moved:.3g}" in text(app)
    assert "from one end of the ellipse to the other" in text(app)


def test_columns_that_are_no_features_are_named_and_left_out_with_a_button():
    rows = "".join(f"{i},{i % 20},{20 + i % 50}\n" for i in range(60))
    app = clean(uploaded(f"Unnamed: 0,patient_id,age\n{rows}".encode()))
    assert "numbers the records** and is no feature" in text(app)
    assert "one of its values occurs 3 times" in text(app)
    app.button(key="upload_leave_out").click().run()
    assert app.multiselect(key="upload_columns").value == ["age"]
    assert "is no feature" not in text(clean(app))


def test_of_very_many_columns_the_first_are_used_until_others_are_chosen():
    header = ",".join(f"c{i}" for i in range(2_100))
    rows = "".join(",".join(str((i * (k % 5) + i * i + k) % 11) for k in range(2_100)) + "\n" for i in range(1, 12))
    app = clean(uploaded(f"{header}\n{rows}".encode()))
    assert app.toggle(key="upload_all_columns").disabled
    assert app.multiselect(key="upload_columns").value == [f"c{i}" for i in range(30)]
    assert "The first 30 of 2,100 columns" in text(app)
    app.multiselect(key="upload_columns").set_value(["c7", "c9"]).run()
    assert "**2 features × 11 records**" in text(clean(app))


def test_of_many_columns_all_or_some_are_used():
    header = ",".join(f"c{i}" for i in range(70))
    rows = "".join(",".join(str((i * (k % 5) + i * i + k) % 11) for k in range(70)) + "\n" for i in range(1, 12))
    app = clean(uploaded(f"{header}\n{rows}".encode()))
    assert app.toggle(key="upload_all_columns").value
    assert "upload_columns" not in [one.key for one in app.multiselect]
    assert "**70 features × 11 records**" in text(app)
    app.toggle(key="upload_all_columns").set_value(False).run()
    assert "**30 features × 11 records**" in text(clean(app))


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
