"""What a person says of their data and their choices arrives at every claim; what the data says is never theirs."""

import io
import json
import re
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pandas as pd
import pytest

from mvgviz import Scenario, Study, gaussian_mu
from mvgviz.data import load_table, read_table, sample
from mvgviz.pictures.rule import rule_model
from mvgviz.provenance import Category, Origin, Range
from mvgviz.release.files import to_metadata_json
from mvgviz.report.script import python_script
from mvgviz.scenario.plan import QuestionPlan
from mvgviz.scenario.ranges import ranges_to_csv
from mvgviz.scenario.resolve import build
from mvgviz.scenario.source import DataSource
from mvgviz.text import as_number
from mvgviz.trials.run import TrialCache
from mvgviz.ui import frontier
from mvgviz.ui import rule_picture as rule_scenario
from mvgviz.ui.columns_form import cells_of, kind_of, levels_in, levels_text, stated, take_rows
from mvgviz.ui.menu import BUDGET, COMPARE, DATA, HOME, PLAN, PRESENT, RELEASE, SHAPE, UTILITY
from tests.pages.app import CSV, ROOT, adjust, bring, change, choose, opened, press, put, to, uploaded
from tests.pages.desk import box, desk, go, on_exports, released
from tests.pages.shown import clean, component, facts, keyed, link, own, scenario, strip, text

OTHER = "height,weight,age\n" + "".join(f"{150 + i},{50 + i % 30},{30 + i % 9}\n" for i in range(40))
TURNED = "0.6,-0.8\n0.8,0.6\n"


def held(app):
    return app.session_state["_open_files"].current


def give(app, **ranges):
    """Ranges as typed and ticked in the table."""
    held(app).said.ranges.update(ranges)
    return clean(put(app, _range_round=len(ranges) + len(held(app).said.ranges)))  # draws the table of ranges anew


def origins(app):
    return own(app).dataset.range_origins


def marks(app):
    """The choices that count as made on the data."""
    return scenario(clean(app)).from_data


def plan(app):
    [kept] = app.session_state["_plans"].values()
    return kept.plan


def open_study(app, study):
    return choose(app, study.to_json(), "study.json", key="study_file")


# Files: ranges


def test_what_was_stated_of_one_file_is_not_stated_of_the_next():
    app = give(uploaded(CSV), age=Range(0, 100), dose=Range(0, 10))
    assert "ranges: </dt><dd class=\"\">chosen without looking at the data" in strip(app)
    assert own(bring(app, OTHER, "other.csv")).dataset.features == ("height", "weight", "age")  # read whole
    assert own(app).dataset.ranges_origin is Origin.READ
    assert "not private" in strip(app)
    bring(app, CSV)  # the same file again is still known
    assert own(app).dataset.ranges_origin is Origin.DECLARED


def test_a_removed_feature_takes_only_its_own_range_along_and_comes_back_with_it():
    app = give(bring(opened(), OTHER), height=Range(100, 250), weight=Range(30, 200, Origin.READ))
    change(app, allocation="binary", priority_directions=(2,), label=0)
    assert own(adjust(app, upload_columns=["weight", "age"])).dataset.ranges["weight"] == Range(30, 200, Origin.READ)
    assert (scenario(app).priority_directions, scenario(app).label) == ((1,), None)  # age, wherever it stands
    adjust(app, upload_columns=["height", "weight", "age"])
    assert own(app).dataset.ranges["height"] == Range(100, 250, Origin.DECLARED)
    assert origins(app) == (Origin.DECLARED, Origin.READ, Origin.READ)


def fill(app, *rows):
    """Fill the form, and see to it that nothing is refused."""
    give_to_the_form(app, *rows)
    return clean(app.run())


def give_to_the_form(app, *rows):
    """Rows as the form sends them: name, lowest, highest, and more by name; cells that differ were typed."""
    opened, table = held(app), read_table(held(app).content, texts=None)
    usual = {"unit": "", "levels": ""}
    take_rows(opened, table, [{
        **usual, "name": name, "low": low, "high": high, "kind": kind_of(opened, table, name),
        "typed": [cell for cell, text, shown in zip(("low", "high"), (low, high), cells_of(opened, name), strict=True)
                  if text != shown], **more} for name, low, high, *rest in rows for more in (rest or [{}])])


def test_typing_both_ends_declares_a_range_and_half_a_range_is_none():
    app = fill(bring(opened(), OTHER), ("height", "100", "250"), ("weight", "30", ""), ("age", "90", "10"))
    assert origins(app) == (Origin.DECLARED, Origin.READ, Origin.READ)
    assert held(app).said.half == {"weight": ("30", ""), "age": ("90", "10")}  # nothing typed is lost
    fill(app, ("height", "100", "250"), ("weight", "30", "200"), ("age", "0", "1,5"))
    assert own(app).dataset.ranges["weight"] == Range(30, 200)
    assert own(app).dataset.ranges["age"].origin is Origin.READ


def notes(app):
    return {row["name"]: row["note"] for row in component(app, "upload_form")["rows"]}


def test_the_form_says_what_is_wrong_with_a_range_and_what_a_range_does_to_dates():
    app = fill(bring(opened(), VISITS, "visits.csv"), ("age", "9,5", "20"), ("visit", "5/3/2024", "2024-12-31"))
    assert notes(app)["age"] == "9,5 is not a number, such as 1.5. Until then the range is read from the data."
    assert notes(app)["visit"] == "5/3/2024 is not a date, such as 2024-03-05. Left out until it has a range."
    fill(app, ("age", "20", "nan"), ("visit", "2025-01-01", "2024-01-01"))
    assert "nan is not a number" in notes(app)["age"]
    assert notes(app)["visit"] == "The lowest value must be below the highest. Left out until it has a range."
    fill(app, ("age", "0", "120"), ("visit", "2024-03-01", "2024-12-31"))
    adjust(app, upload_look=True)
    days = pd.to_datetime(pd.read_csv(io.StringIO(VISITS))["visit"])
    moved = (days.clip(lower=pd.Timestamp("2024-03-01")) - days).mean() / pd.Timedelta(days=1)
    early = (days < "2024-03-01").mean()
    assert notes(app)["visit"] == f"{100 * early:.1f} % clipped, 0.0 % gaps, mean moves by {as_number(moved)} days"


def test_the_effect_of_a_range_is_that_on_the_rows_in_use():
    app = fill(bring(opened(), "who,x\na,1\nb,2\nc,3\na,999\n"), ("x", "0", "10"))
    adjust(app, upload_person="who", upload_look=True)
    assert notes(app)["x"] == "0.0 % clipped, 0.0 % gaps, mean moves by 0"


def test_a_column_that_is_not_used_yet_has_no_range_from_the_data():
    app = bring(opened(), "sex,x\nf,1\nm,2\nf,3\n")
    assert "Ranges from the data: 1 of 1" in text(app)
    fill(app, ("sex", "", "", {"levels": "f, m"}))
    assert "Ranges from the data: 1 of 2" in text(app)


def test_read_ranges_are_called_not_private_wherever_ranges_are_spoken_of():
    app = clean(uploaded(CSV))
    assert set(notes(app).values()) == {"Read from the data: not private."}
    for tab in ("The answer", "What one record can change"):
        said = text(put(app, data_tab=tab))
        assert "Ranges were read from the data: **not private**" in said
        assert "declared" not in said
        assert "Ranges were read from the data" not in text(put(declared(), data_tab=tab))


def test_an_end_that_nobody_typed_stays_the_datas():
    app = press(bring(opened(), OTHER), "upload_know_all")
    low = f"{own(app).dataset.ranges['height'].low:g}"
    assert own(fill(app, ("height", low, "999"))).dataset.ranges["height"].origin is Origin.ACCEPTED
    assert own(fill(app, ("height", "1", "998"))).dataset.ranges["height"].origin is Origin.DECLARED
    assert stated((0.0, 2.0), Range(0.0, 1.0, Origin.READ)).origin is Origin.READ
    app = press(bring(opened(), OTHER), "upload_know_all")
    for high in (low, f"{low}0"):  # the first digits of an end that is typed slowly are the other end
        fill(app, ("height", low, high))
    assert own(app).dataset.ranges["height"].origin is Origin.ACCEPTED
    app = press(bring(opened(), OTHER), "upload_know_all")  # half a range leaves the other end as it was
    high = f"{own(app).dataset.ranges['height'].high:g}"
    fill(app, ("height", "", high))
    assert own(fill(app, ("height", "1", high))).dataset.ranges["height"].origin is Origin.ACCEPTED


def test_what_a_person_types_is_theirs_even_where_it_equals_the_proposal():
    app = bring(opened(), OTHER)
    low, high = (f"{end:.15g}" for end in own(app).dataset.ranges["height"][:2])
    assert own(fill(app, ("height", low, high))).dataset.ranges["height"].origin is Origin.DECLARED
    app = press(bring(opened(), OTHER), "upload_know_all")
    assert own(fill(app, ("height", low, high))).dataset.ranges["height"].origin is Origin.ACCEPTED  # accepted alone
    assert own(fill(app, ("height", low, high, {"typed": ["high"]}))).dataset.ranges["height"].origin is Origin.ACCEPTED
    assert own(fill(app, ("height", low, high, {"typed": ["low"]}))).dataset.ranges["height"].origin is Origin.DECLARED
    app = press(bring(opened(), OTHER), "upload_know_all")  # cleared and typed again, after other ends
    for ends in (("", ""), (low, high)):
        fill(app, ("height", *ends))
    assert own(app).dataset.ranges["height"].origin is Origin.DECLARED
    app = press(adjust(bring(opened(), OTHER), upload_look=True), "upload_know_all")  # but not after a look
    assert own(fill(app, ("height", low, high, {"typed": ["low", "high"]}))).dataset.ranges["height"].origin is (
        Origin.ACCEPTED)


def test_ranges_typed_after_looking_at_what_they_do_are_not_declared():
    app = fill(bring(opened(), OTHER), ("height", "160", "170"))
    assert "outside" not in text(app)  # how many records are is for who looks
    assert own(app).dataset.ranges["height"].origin is Origin.DECLARED
    app = fill(adjust(bring(opened(), OTHER), upload_look=True), ("height", "100", "250"))
    assert own(app).dataset.ranges["height"].origin is Origin.ACCEPTED


VISITS = "patient_id,sex,region,visit,age\n" + "".join(
    f"p{i % 60},{'fm'[i % 2]},{('north', 'south')[i % 3 == 0]},2024-{1 + i % 12:02}-01,"
    f"{'' if i % 9 == 0 else 20 + i % 50}\n"
    for i in range(150))


def test_text_ids_categories_and_dates_become_a_dataset_and_a_study_that_opens_again():
    app = clean(uploaded(VISITS, "visits.csv"))
    assert "one value occurs 3 times" in text(app)
    assert own(app).dataset.features == ("age",)
    assert "30 of 150 rows were dropped" in text(adjust(app, upload_person="patient_id", upload_at_most=2))
    fill(app, ("age", "0", "120", {"unit": "years"}), ("sex", "", "", {"levels": "f; m"}),
         ("visit", "2024-01-01", "2025-12-31"))
    data = own(press(app, "upload_know_all")).dataset
    assert data.features == ("age", "sex=f", "sex=m", "region=north", "region=south", "visit")
    assert data.range_origins == (*[Origin.DECLARED] * 3, *[Origin.READ] * 2, Origin.DECLARED)
    assert (data.per_person, data.n_records, data.units[0], data.title) == (2, 120, "years", "visits")
    assert "mv.Category(('north', 'south'), mv.Origin.READ" in python_script(scenario(app), source=own(app).source)
    study = Study(scenario=scenario(app), source=own(app).source)
    again = bring(open_study(opened(DATA.path), study), VISITS, "visits.csv")
    assert own(again).dataset.range_origins == data.range_origins
    assert np.array_equal(own(again).dataset.matrix, data.matrix)
    assert own(again).source == own(app).source


def test_the_form_proposes_ranges_from_the_rows_that_are_used():
    rows = "".join(f"p{i // 2},{1 + i % 7 if i % 2 == 0 else 500},{'2024' if i % 2 == 0 else '1970'}-03-05\n"
                   for i in range(80))
    app = adjust(clean(uploaded(f"who,dose,seen\n{rows}")), upload_person="who", upload_at_most=1)
    hints = {row["name"]: row["hints"] for row in component(app, "upload_form")["rows"]}
    assert tuple(map(float, hints["dose"])) == own(app).dataset.ranges["dose"][:2]
    assert hints["seen"] == ["2024-01-01", "2024-12-31"]


def test_the_form_is_about_the_rows_that_are_used():
    rows = "".join(f"{i // 2},{30 + i % 7 if i % 2 == 0 else 500},{'' if i % 2 == 0 else i}\n" for i in range(20))
    app = adjust(clean(uploaded(f"who,dose,late\n{rows}")), upload_columns=["dose"], upload_person="who")
    adjust(app, upload_look=True)
    assert notes(app)["dose"].endswith("0.0 % clipped, 0.0 % gaps, mean moves by 0")
    app.multiselect(key="upload_columns").set_value(["dose", "late"]).run()  # none of the rows in use has a value
    assert "none, in every record of 'late'" in app.error[0].value
    assert set(notes(app)) == {"dose", "late"}
    fill(app, ("late", "0", "20"))
    assert own(app).dataset.n_records == 10
    adjust(app, upload_orientation="columns")
    assert list(notes(app)) == list(own(app).dataset.features)


def test_a_column_can_be_true_or_false_a_category_or_left_out(tmp_path):
    rows = "".join(f"{i % 2},{1 + i % 3},{i % 7}\n" for i in range(40))
    app = fill(clean(uploaded(f"smokes,grade,dose\n{rows}")), ("smokes", "", "", {"kind": "true/false"}),
               ("grade", "", "", {"kind": "ordered"}), ("dose", "", "", {"kind": "left out"}))
    assert own(app).dataset.features == ("smokes=0", "smokes=1")
    assert own(app).dataset.ranges["smokes=1"] == Range(0, 1)
    assert own(fill(app, ("grade", "", "", {"levels": "1, 2, 3"}))).dataset.ranges["grade"] == Range(0, 2)

    rows = "".join(f"{('TRUE', 'FALSE', '')[i % 3]},{20 + i % 40}\n" for i in range(90))  # a category at once
    (tmp_path / "mine.csv").write_text(f"smokes,age\n{rows}", encoding="utf-8")
    app = clean(uploaded(f"smokes,age\n{rows}"))
    assert own(app).dataset.features == ("smokes=false", "smokes=true", "age")
    assert own(app).dataset.ranges["smokes=true"] == Range(0, 1)  # the two words of the format, not the data's
    data, source = own(press(app, "upload_know_none")).dataset, own(app).source
    assert data.matrix[:2].mean(axis=1).tolist() == [0.5, 0.5]
    assert source.dataset(source.read(tmp_path / "mine.csv")).matrix.tolist() == data.matrix.tolist()
    assert own(fill(app, ("smokes", "", "", {"kind": "number"}))).dataset.features == ("smokes", "age")


def test_levels_of_the_data_stay_so_when_one_is_added_and_survive_the_form_with_their_commas():
    rows = "".join(f'"{("Paris, F", "Bonn, D")[i % 2]}",{20 + i % 30}\n' for i in range(60))
    app = press(clean(uploaded(f"place,age\n{rows}")), "upload_know_all")
    sent = levels_text(own(app).source.levels["place"].levels)
    fill(app, ("place", "", "", {"levels": sent}), ("age", "0", "120"))
    assert own(app).source.levels["place"] == Category(("Bonn, D", "Paris, F"), Origin.READ)
    fill(app, ("place", "", "", {"levels": f"{sent}, Rome"}))
    assert own(app).source.levels["place"] == Category(("Bonn, D", "Paris, F", "Rome"), Origin.READ)
    assert "place=Rome" in own(app).dataset.features


def test_levels_are_read_as_they_are_written():
    levels = ("a", "b, c", 'd "e" f', " g", "h;i", "5\tj", '"', "k l")
    assert levels_in(levels_text(levels)) == levels
    assert levels_in('f; m\tx, "y, z" ,, f') == ("f", "m", "x", "y, z")


def test_a_value_that_is_no_declared_level_is_refused_and_leaves_no_column_out():
    """One record would else decide which columns a release has."""
    content = "sex,age\n" + "".join(f"{'fm'[i % 2]},{20 + i % 40}\n" for i in range(61))
    app = fill(clean(uploaded(content + "x,30\n")), ("age", "0", "120"))
    held(app).said.levels["sex"] = Category(("f", "m"))
    assert "Column sex does not fit" in app.run().error[0].value
    fill(app, ("sex", "", "", {"levels": "f, m, other"}))
    assert own(app).dataset.features == ("age", "sex=f", "sex=m", "sex=other")


def test_a_proposal_that_is_accepted_untouched_stays_one_in_certificate_study_and_program():
    app = press(bring(opened(), OTHER), "upload_know_all")
    assert origins(app) == (Origin.ACCEPTED,) * 3
    assert "proposed from the data, accepted: not private" in strip(app)
    source = own(app).source
    assert "mv.Origin.ACCEPTED" in python_script(scenario(app), source=source)
    assert DataSource.from_dict(json.loads(json.dumps(source.to_dict()))) == source
    box(to(app, RELEASE), "release_accept_ranges").check().run()
    [made] = desk(released(app)).releases
    assert '"ranges": "proposed from the data, accepted"' in to_metadata_json(made)
    assert own(press(to(app, DATA), "upload_know_none")).dataset.ranges_origin is Origin.READ


LONGER = "height,weight,age\n" + "".join(f"{151 + i},{54 + i % 30},{31 + i % 9}\n" for i in range(55))


def test_ranges_read_from_another_file_are_not_known_because_a_button_says_so():
    app = bring(opened(), OTHER)
    saved = ranges_to_csv(own(app).dataset.ranges)
    longer = choose(bring(opened(), LONGER), saved, "ranges.csv", key="upload_ranges_file")
    assert origins(press(longer, "upload_know_all")) == (Origin.ACCEPTED,) * 3
    press(app, "upload_know_all")  # nor where a study brings them
    app = open_study(opened(DATA.path), Study(scenario=scenario(app), source=own(app).source))
    press(bring(app, LONGER), "upload_know_none")
    assert origins(press(app, "upload_know_all")) == (Origin.ACCEPTED,) * 3


def test_the_panel_can_be_used_after_a_visit_to_another_page():
    app = give(bring(opened(), OTHER), height=Range(100, 250))
    assert to(to(app, HOME), DATA).multiselect(key="upload_columns").value == ["height", "weight", "age"]
    adjust(app, upload_columns=["height", "age"])
    assert own(app).dataset.ranges["height"] == Range(100, 250, Origin.DECLARED)
    assert own(adjust(app, upload_orientation="columns")).dataset.n_features == 40


# Gaps


GAPS = CSV.replace("\n25,", "\n,").replace("name", "note")


def without_gaps():
    """A file with gaps whose ranges are known."""
    return give(clean(uploaded(GAPS)), age=Range(0, 100), dose=Range(0, 10))


def test_gaps_are_filled_by_a_public_rule_and_the_number_of_records_stays():
    app = without_gaps()
    data = own(app).dataset
    assert (data.n_records, data.records_origin) == (60, Origin.DECLARED)
    assert np.count_nonzero(data.matrix[0] == 50) >= 2
    to(app, RELEASE)
    assert "the number of records (60)" in facts(app)
    assert not keyed(app, "checkbox", "release_accept")


def test_records_left_out_for_their_gaps_are_a_caveat_everywhere():
    app = adjust(without_gaps(), upload_missing="drop")
    assert own(app).dataset.n_records == 58
    assert re.search("record count: .*depends on the data: not private", strip(app))
    box(to(app, RELEASE), "release_accept_records").check().run()
    [made] = desk(released(app)).releases
    assert made.caveats == desk(app).ledger.entries[0].caveats == ("records",)
    assert '"records": "read from the data"' in to_metadata_json(made)


@pytest.mark.parametrize(("content", "origin"), [
    ("a,b\n1,2\n,\n3,5\n4,4\n", Origin.READ), ("a,b\n1,2\n3,5\n4,4\n,\n", Origin.READ),
    ("a,b\n1,2\n#3,4,5\n3,5\n4,4\n", Origin.READ), ("a,b\n1,2\n3,5\n4,4\n\n\n", Origin.DECLARED),
    ("# a note\na,b\n1,2\n3,5\n4,4\n", Origin.DECLARED), ("a\n1\n\n3\n4\n", Origin.READ),
    ("a\n1\n3\n4\n\n", Origin.DECLARED)])
def test_rows_that_may_have_been_records_are_a_caveat(content, origin):
    assert own(clean(uploaded(content))).dataset.records_origin is origin


def test_leaving_records_out_is_a_caveat_whether_there_are_any_or_not():
    for missing, origin in (("drop", Origin.READ), ("middle", Origin.DECLARED)):
        assert load_table(CSV.encode(), missing=missing).records_origin is origin


def test_an_exported_program_repeats_how_the_file_was_read_and_used(tmp_path):
    app = give(clean(uploaded(GAPS.replace(",", ";").replace(".", ",").encode())), age=Range(0, 100))
    program = python_script(scenario(adjust(app, upload_missing="drop", upload_separator=";")), source=own(app).source)
    assert "missing='drop'" in program
    assert "separator=';'" in program
    assert "RANGES = {'age': (0.0, 100.0)}" in program
    (tmp_path / "mine.csv").write_text(GAPS.replace(",", ";").replace(".", ","), encoding="utf-8")
    space = {"__name__": "program"}
    exec(program, space)
    data = space["load"](tmp_path / "mine.csv")
    assert np.array_equal(data.matrix, own(app).dataset.matrix)
    assert data.range_origins == own(app).dataset.range_origins


# Choices


def declared():
    """A file whose ranges are known."""
    return give(bring(opened(), OTHER), height=Range(100, 250), weight=Range(30, 200), age=Range(0, 120))


def look(app):
    """Ask for results on one's own file."""
    return adjust(app, w_my_data=True)


def advised(app):
    change(app, trials=2, task="covariance-estimation", query="identity")
    return clean(put(to(app, COMPARE), compare_section="Advisor"))


def load_first(app):
    return press(app, next(one.key for one in keyed(app, "button", "compare_load_") if not one.disabled))


def test_a_design_advised_on_the_data_is_no_declared_one_until_the_person_makes_it_theirs():
    app = load_first(advised(look(declared())))
    assert {"query", "allocation", "guarantee"} <= set(marks(app))
    assert "chosen after looking at the data" in strip(app)
    assert link(app)["from_data"]
    assert go(to(app, RELEASE)).disabled
    for one in keyed(app, "checkbox", "release_accept"):
        box(app, one.key).check().run()
    [made] = desk(released(app)).releases
    assert {"split", "choices"} <= set(made.caveats)
    assert desk(app).ledger.entries[0].caveats == made.caveats
    marked = marks(app)
    assert set(made.chosen_on_data) <= set(marked)
    assert marks(press(app, "w_own_query")) == tuple(name for name in marked if name != "query")
    while kept := keyed(app, "button", "w_own_"):
        kept[0].click().run()
    assert scenario(app).read_among(marks(app)) == ()
    assert not keyed(app, "checkbox", "release_accept")


def test_a_design_advised_on_simulated_data_is_declared_where_its_ranges_are():
    assert marks(load_first(advised(declared()))) == ()
    assert marks(load_first(advised(clean(uploaded(OTHER)))))


def test_what_follows_from_marked_choices_is_marked():
    app = declared()
    put(app, _scenario=scenario(app).chosen_on_data(allocation="binary", priority_directions=(1,)))
    put(app, data_tab="Clip records")
    assert {"bound", "radius"} <= set(marks(press(app, "data_bound_all")))  # a length
    app = declared()  # a design that is advised
    put(app, _scenario=scenario(app).chosen_on_data(allocation="binary", priority_directions=(1,)))
    assert {"priority_directions", "allocation", "bound"} <= set(marks(load_first(advised(app))))
    assert not scenario(app).priority or "priority" in marks(app)


def test_the_best_set_on_the_data_or_along_marked_directions_is_no_declared_one():
    few = {"trials": 4, "query": "identity", "priority": (1,)}
    seen = change(look(declared()), task="reconstruction", judged="priority", **few)
    along = declared()
    put(along, _scenario=scenario(along).chosen_on_data(directions="rotation", angle=33.0, plane=(0, 2)).changed(**few))
    for app in (seen, along):
        to(put(app, utility_section="Choice of directions"), UTILITY)
        assert "priority_directions" in marks(press(app, "utility_take"))
    assert build(scenario(seen), own(seen).dataset).origins["split"] is Origin.READ


# Choosing after looking


def picture(app):
    slides = [block.proto.body for block in app.get("html") if "<section" in block.proto.body]
    return [chart.proto.spec for chart in app.get("plotly_chart")] + slides


def test_results_of_a_file_are_simulated_until_its_holder_asks():
    app, pages = change(declared(), trials=2, query="identity"), (DATA, SHAPE, BUDGET, UTILITY, COMPARE, PRESENT)
    put(app, shape_panel="Possible outcomes", budget_tab="What gets through")

    def pictures(of_data):
        for page in pages:
            clean(put(to(app, page), _slide=2))  # the answer
            assert app.toggle(key="w_my_data").value is of_data  # one switch for all pages
            yield picture(app)

    before = list(pictures(False))
    look(app)
    assert [page.label for page, one, other in zip(pages, before, pictures(True), strict=True) if one == other] == []


def test_simulated_results_tell_nothing_of_the_records():
    """Two files with the same ranges and number of records show the same pictures."""
    other = OTHER.splitlines()[0] + "\n" + "".join(f"{240 - i},{31 + i % 3},{7 + 2 * i}\n" for i in range(40))
    known = {"height": Range(100, 250), "weight": Range(30, 200), "age": Range(0, 120)}
    shown = []
    for content in (OTHER, other):
        app = give(bring(opened(), content), **known)
        shown.append([picture(app), *(picture(to(app, page)) for page in (BUDGET, SHAPE))])
    assert shown[0] == shown[1]


def test_a_choice_after_looking_is_marked_and_one_before_is_not():
    app = adjust(declared(), w_epsilon=2.0)
    assert marks(app) == marks(look(app)) == ()
    assert marks(adjust(app, w_priority=[1])) == ("allocation", "priority_directions")
    assert "epsilon" in marks(adjust(app, w_my_data=False, w_epsilon=3.0))  # what was seen stays seen
    assert "epsilon" not in marks(adjust(app, w_epsilon=1.0))  # the default tells nothing
    app = adjust(declared(), upload_look=True)  # what ranges do to the records is a result too
    assert marks(adjust(app, w_epsilon=2.0)) == ("epsilon",)


def test_epsilon_that_comes_along_from_other_data_is_marked_after_looking():
    app = look(declared())
    mine = scenario(app).data
    assert marks(adjust(app, w_data="liver", w_epsilon=2.0)) == ()
    assert marks(adjust(app, w_data=mine)) == ("epsilon",)
    assert scenario(app).epsilon == 2.0


def test_a_new_draw_of_random_directions_after_looking_is_marked():
    app = press(change(look(declared()), directions="random", query="identity"), "w_draw")
    assert marks(app) == ("seed",)
    assert build(scenario(app), own(app).dataset).origins["directions"] is Origin.READ


def test_a_label_that_shapes_the_ellipse_is_marked_after_looking():
    app = change(look(declared()), query="moments", bound="even", task="linear-ridge", label=0)
    assert marks(adjust(app, upload_label="age")) == ("label",)
    assert build(scenario(app), own(app).dataset).origins["choices"] is Origin.READ
    assert scenario(app).changed(query="mean").read_among(marks(app)) == ()


def test_columns_left_out_gaps_and_a_link_after_looking_mark_what_they_change():
    app = adjust(declared(), upload_columns=["height", "weight"])
    assert marks(look(app)) == ()
    assert marks(adjust(app, upload_columns=["height", "age"])) == ("query",)
    del app.query_params["from_data"]  # as the browser's Back does
    app.query_params["epsilon"] = "3.5"
    assert (set(marks(app.run())), scenario(app).epsilon) == ({"epsilon", "query"}, 3.5)
    app = look(adjust(without_gaps(), upload_missing="drop"))
    assert marks(app) == ()
    assert marks(adjust(app, upload_missing="middle")) == ("query",)


def test_what_is_said_of_a_file_after_looking_is_not_declared():
    app = fill(look(bring(opened(), OTHER)), ("height", "140", "190"), ("age", "0", "120"))
    choose(app, ranges_to_csv({"weight": Range(30, 200)}), "ranges.csv", key="upload_ranges_file")
    assert origins(clean(app)) == (Origin.ACCEPTED,) * 3
    app = fill(look(clean(uploaded(VISITS))), ("sex", "", "", {"levels": "f, m"}))
    assert own(app).source.levels["sex"].origin is Origin.READ


def wished(app):
    """A plan for this data, with an epsilon and shares of its own."""
    asked = scenario(app).changed(epsilon=3.0)
    return QuestionPlan(scenarios=(asked.changed(query="mean"), asked), parts=(8_000, 2_000))


def test_a_study_or_a_plan_that_is_opened_after_looking_is_marked():
    studied, planned = declared(), look(declared())
    study = Study(scenario=wished(studied).scenarios[1], source=own(studied).source, plan=wished(studied))
    bring(clean(open_study(look(studied), study)), OTHER)
    assert origins(studied) == (Origin.ACCEPTED,) * 3
    choose(to(planned, PLAN), wished(planned).to_json(), "plan.json", key="plan_file")
    for app in (studied, planned):
        assert "epsilon" in marks(app)
        assert plan(app).shares_read
        assert "query" in plan(app).scenarios[0].from_data


def test_shares_of_a_plan_that_are_moved_after_looking_are_marked():
    app = adjust(to(look(declared()), PLAN), plan_share_0=77.0)
    assert plan(app).shares_read
    assert not plan(press(app, "plan_equal")).shares_read


def test_noise_shaped_by_the_records_was_looked_at_where_a_page_shows_it():
    app = to(change(declared(), query="mean", directions="eigenvectors"), RELEASE)
    assert marks(adjust(app, w_epsilon=2.0)) == ("epsilon",)


def test_looking_at_a_bundled_table_marks_nothing():
    app = opened(UTILITY.path, data="liver", trials="2")
    assert not keyed(app, "toggle", "w_my_data")
    assert marks(adjust(app, w_epsilon=2.0)) == ()


def test_a_release_is_of_the_data_whatever_is_shown():
    app = declared()
    [made] = desk(released(change(to(app, RELEASE), query="mean", epsilon=1000.0, scale="declared"))).releases
    assert np.allclose(made.noisy[:, 0], own(app).dataset.matrix.mean(axis=1), rtol=0.05)


def test_a_file_with_the_same_records_was_seen_too():
    app = bring(look(declared()), OTHER.replace("age", "years"), "other.csv")
    assert not app.toggle(key="w_my_data").value
    assert marks(adjust(app, w_epsilon=2.0)) == ("epsilon",)


def test_moving_the_point_on_the_frontier_keeps_the_mark(monkeypatch):
    """A set in ``priority_directions`` that was chosen on the data, and a share that follows from it."""
    held = {"_scenario": Scenario.default_for("liver").chosen_on_data(query="mean", priority_directions=(3,),
                                                                      allocation="manual", weights=(1, 1, 1, 5, 1, 1))}
    held["point"] = SimpleNamespace(moved=0.6)
    monkeypatch.setattr(frontier, "_component", lambda **given: given["on_moved_change"]())
    monkeypatch.setattr(frontier.st, "session_state", held)
    frontier.draw_frontier(build(held["_scenario"], sample("liver")), key="point")
    assert held["_scenario"].share == 0.6
    assert {"allocation", "priority_directions", "share"} <= set(held["_scenario"].from_data)


@pytest.mark.parametrize("choice", [{"allocation": "max-pnr"}, {"directions": "eigenvectors"},
                                    {"directions": "private"}, {"directions": "private", "allocation": "max-pnr"}])
def test_what_is_read_from_the_data_is_no_declared_choice_when_taken_over_as_parts(choice):
    app = opened(BUDGET.path, state={"budget_tab": "From noise to epsilon"}, data="liver", query="mean", **choice)
    assert {"weights", "epsilon"} <= set(scenario(press(app, "budget_take")).from_data)
    assert "weights" in scenario(app).changed(weights=(1,) * 6).from_data
    assert "weights" not in scenario(app).changed(weights=()).from_data


@pytest.mark.parametrize("choice", [{"directions": "eigenvectors"}, {"directions": "private"},
                                    {"allocation": "max-pnr"}])
@pytest.mark.parametrize("data", ["two_features", "liver"])
def test_a_drag_takes_the_origin_of_what_it_takes_over_along(data, choice, monkeypatch):
    one, table = Scenario.default_for(data).changed(**choice), sample(data)
    taken = {}
    monkeypatch.setattr(rule_scenario.session, "choose", lambda origin, **changes: taken.update(origin=origin))
    for asked, origin in ((one, Origin.READ), (Scenario.default_for(data), Origin.DECLARED)):
        setup = build(asked, table)
        model = rule_model(setup.design, (0, 1), of_directions=False, split=setup.split)
        rule_scenario.take_change(setup, model, (0, 1), theta=(0.6, 0.3), angle=0.25, turned=True, epsilon=None)
        assert taken["origin"] is origin


def test_a_mark_survives_another_dataset_and_the_order_of_a_link():
    app = opened(data="liver", epsilon="0.37", from_data="epsilon")
    for data in ("karate", "liver"):
        adjust(app, w_data=data)
    assert marks(app) == ("epsilon",)
    assert Scenario.from_query({"from_data": "share", "share": "0.7"}).from_data == ("share",)
    kept, [ignored] = Scenario.read_query({"from_data": "share-later", "share": "0.7"})
    assert kept.from_data == ("share",)
    assert "'later'" in ignored


def test_one_over_a_number_of_records_that_follows_from_gaps_is_marked():
    app = adjust(choose(opened(DATA.path, everything=True), GAPS), upload_missing="drop")
    assert marks(adjust(press(app, "w_one_over_n"), upload_missing="middle")) == ("delta",)


# One table, one budget


def test_two_files_with_the_same_records_are_told_apart():
    """What was said of one, and what was computed of it, is not the other's, though they share one budget."""
    rows = [line.split(",")[:2] for line in CSV.splitlines()]
    other = "\n".join([",".join(rows[0]), *(f"{age},{30 * float(dose)}" for age, dose in rows[1:])])
    app = to(press(clean(uploaded(CSV)), "upload_know_all"), RELEASE)
    assert own(bring(app, other, "other.csv")).dataset.ranges_origin is Origin.READ
    assert keyed(to(app, RELEASE), "checkbox", "release_accept_ranges")
    assert own(bring(app, CSV)).name == "mine.csv"
    assert own(app).dataset.upper[1] == 7
    assert len({one.data_name for one in app.session_state["_open_files"]._files.values()}) == 2


def workbook(*sheets):
    file = io.BytesIO()
    with pd.ExcelWriter(file) as writer:
        for name, frame in sheets:
            frame.to_excel(writer, sheet_name=name, index=False)
    return file.getvalue()


def test_what_was_said_of_one_sheet_is_not_said_of_another():
    first = pd.DataFrame({"age": np.arange(20.0, 60) % 47, "dose": np.arange(40.0) % 7})
    second = pd.DataFrame({"age": 200 + np.arange(30.0) ** 1.5, "height": np.arange(30.0) % 11})
    app = clean(uploaded(workbook(("one", first), ("two", second)), "book.xlsx"))
    assert "_upload" not in app.session_state  # the sheet is asked first
    adjust(press(adjust(app, upload_member="one"), "upload_know_all"), upload_member="two")
    assert own(app).dataset.features == ("age", "height")
    assert own(app).dataset.ranges_origin is Origin.READ
    assert own(app).source.ranges is None
    adjust(press(adjust(app, upload_orientation="columns"), "upload_know_all"), upload_member="one")
    assert own(app).dataset.n_features == 40


@pytest.mark.parametrize("notes", [["Please do not change", "As of May"], ["who", "Ann", "Bob"], []])
def test_the_sheet_is_asked_before_anything_is_said_of_the_first(notes):
    age = pd.DataFrame({"age": np.arange(20.0, 60) % 47})
    app = clean(uploaded(workbook(("notes", pd.DataFrame(notes).T), ("ages", age)), "book.xlsx"))
    assert not keyed(app, "button", "upload_header")
    assert own(adjust(app, upload_member="ages")).dataset.features == ("age",)


def test_the_path_is_that_of_the_data_in_use():
    app = clean(uploaded(CSV))
    assert "mine" in app.expander(key="path_File").label
    assert "Use your own file" in adjust(app, w_data="liver").expander(key="path_File").label
    assert not keyed(app, "multiselect", "upload_columns")  # the file's parts say nothing of liver
    assert scenario(press(app, "upload_use")).data == own(app).data_name
    assert keyed(clean(app), "multiselect", "upload_columns")
    app = choose(app, "", "empty.csv")
    assert "is empty" in app.error[0].value
    assert "mine" in app.expander(key="path_File").label  # that is still in use


def test_a_column_that_is_empty_or_holds_no_dates_is_said_with_its_place():
    dates = "".join(f"{20 + i % 40},,{'2024-01-0' + str(1 + i % 9) if i % 30 else 'soon'}\n" for i in range(61))
    app = clean(uploaded(f"age,nothing,seen\n{dates}"))
    assert "Left out, empty: nothing." in text(app)
    fill(app, ("age", "0", "120"), ("seen", "", "", {"kind": "date"}))
    give_to_the_form(app, ("seen", "2024-01-01", "2024-12-31", {"kind": "date"}))
    app.run()
    assert "that are no dates such as 2024-03-05 or 05.03.2024: 3, the first in row 2." in (
        app.error[0].value.replace("\\", ""))


def test_records_in_columns_are_known_again_with_a_feature_less_and_a_sample_as_a_file():
    wide, app, names = pd.DataFrame(np.random.default_rng(3).uniform(size=(4, 12))), opened(), []
    for table in (wide, wide.iloc[1:]):
        bring(app, table.to_csv(index=False, header=False), f"{len(table)}.csv")
        names.append(own(adjust(app, upload_orientation="columns")).data_name)
    assert names[0] in desk(app).ledger.same_people(names[1])
    bring(app, (ROOT / "sample_data" / "liver.csv").read_text(encoding="utf-8"), "liver.csv")
    assert "liver" in desk(app).ledger.same_people(own(app).data_name)


@pytest.mark.parametrize("again", [CSV + "\n\n\n", CSV.replace(",", ";"), "".join(
    line.split(",")[0] + "," + line.split(",")[2] + "\n" for line in CSV.splitlines())])
def test_the_same_table_saved_otherwise_spends_the_same_budget(again):
    app = to(press(clean(uploaded(CSV)), "upload_know_all"), RELEASE)
    ledger, first = desk(app).ledger, own(app).data_name
    ledger.set_cap((1.0, 1e-5))
    ledger.enter(time="t", data=first, query="mean", neighbour_rule="one record replaced", design="d",
                 mu=float(gaussian_mu(1.0, 1e-5)), delta=1e-5)
    assert first in ledger.same_people(own(bring(app, again, "again.csv")).data_name)
    app.switch_page(RELEASE.path).run()
    assert "would exceed the cap" in " ".join(element.value for element in app.error)


def test_the_same_people_are_known_by_their_text():
    app = look(clean(uploaded(VISITS)))
    first = own(app).data_name
    bring(app, "\n".join(",".join(line.split(",")[1:3]) for line in VISITS.splitlines()), "texts.csv")
    press(app.button(key="upload_header_True").click().run(), "upload_know_all")
    assert first in desk(app).ledger.same_people(own(app).data_name)
    assert "epsilon" in marks(adjust(app, w_epsilon=2.0))


def test_two_files_declared_to_be_about_the_same_people_count_together():
    app = clean(uploaded(CSV))
    first, second = own(app).data_name, own(bring(app, OTHER, "other.csv")).data_name
    assert first != second
    assert "Only you can know" in text(app)
    assert desk(press(app, "upload_join")).ledger.same_people(first) == {first, second}
    assert "Counts together with mine" in text(app)


def test_a_link_to_a_file_takes_the_file_that_is_brought():
    app = clean(choose(opened(DATA.path, data="upload-0123456789ab", epsilon="2"), CSV))
    assert (own(app).data_name, scenario(app).epsilon) == ("upload-0123456789ab", 2)
    assert own(bring(app, OTHER, "other.csv")).data_name != "upload-0123456789ab"


# Directions from a file


def with_directions(app, content=TURNED):
    return clean(choose(app, content, "w.csv", key="w_direction_file"))


def test_directions_from_a_file_are_read_from_the_data_until_the_person_says_otherwise():
    app = with_directions(opened(RELEASE.path, everything=True, data="two_features", directions="upload"))
    assert keyed(app, "checkbox", "release_accept_directions")
    assert not keyed(adjust(app, w_directions_known=True), "checkbox", "release_accept_directions")
    box(app, "release_sure_").check().run()
    for _ in range(3):  # the same ones at every rerun
        assert box(app.run(), "release_sure_").value
    go(app).click().run()
    assert len(desk(clean(app)).releases) == 1
    adjust(app, w_directions="standard")
    assert adjust(app, w_directions="upload").checkbox(key="w_directions_known").value  # the same file: still known
    with_directions(app, "0.8,-0.6\n0.6,0.8\n")
    assert not app.checkbox(key="w_directions_known").value


def test_trials_along_directions_from_a_file_go_on_where_they_stopped():
    def kept():
        return [found for results in app.session_state["_cache"]._results.values() for [found] in results.values()
                if isinstance(found, TrialCache)]

    app = with_directions(opened(UTILITY.path, everything=True, data="two_features", directions="upload", trials="50"))
    [before] = kept()
    assert before
    app.run()
    assert kept() == [before]


# Links


def test_a_link_is_encoded():
    app = clean(opened(RELEASE.path, data="two_features", query="kernel", length="1e+06", from_data="epsilon-query"))
    on_exports(app)
    address = app.code[0].value
    parameters = dict(parse_qsl(urlsplit(address).query))
    assert Scenario.from_query(parameters) == scenario(app)
    assert Scenario.from_query(parameters).from_data == ("query", "epsilon")


# Names


def test_a_first_row_that_may_be_a_record_is_asked_about_and_nothing_is_used_until_then():
    content = "f,unknown,45\n" + "".join(f"{'mf'[i % 2]},{i},{40 + i % 7}\n" for i in range(30))
    app = bring(opened(), content)
    assert "Does the first row hold names?" in text(app)
    assert [list(frame.value.columns) for frame in app.dataframe[:2]] == [
        ["1: f", "2: unknown", "3: 45"], ["column 1", "column 2", "column 3"]]
    assert "_upload" not in app.session_state
    assert own(press(app, "upload_header_True")).dataset.features == ("unknown", "45")
    assert own(app).source.header is True
    assert "header=True" in python_script(scenario(app), source=own(app).source)
