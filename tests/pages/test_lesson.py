"""The lesson's pages: seven steps of the same form, a place in the address, answers that check themselves."""

import json
import re

import pytest

from mvgviz.lesson.steps import STEPS, token_of
from mvgviz.pictures.scenes import SCENES, note_of
from mvgviz.ui.menu import DATA, HOME, LESSON, LESSON_NOTES, PAGES
from mvgviz.ui.screen import handout
from tests.pages.app import clean, component, link, opened, press, text, to

NUMBERS = range(1, 8)
END = re.compile(r"[.!?](?=\s|$)")


def at_step(number, **parameters):
    """A fresh session that followed a deep link to a step."""
    return opened(LESSON.path, step=str(number), **parameters)


def control(app, number):
    kind = "select_slider" if SCENES[number - 1].ordered else "segmented_control"
    return getattr(app, kind)(key=f"lesson_control_{number}")


def key_of(number, value):
    return f"lesson_answer_{number}_{token_of(value)}"


def question(app, number, value):
    kind = ("radio" if STEPS[number - 1].answer(value).options else
            "slider" if SCENES[number - 1].ghost else "number_input")
    return getattr(app, kind)(key=key_of(number, value))


def answered(app, number, value, given):
    """The app after an answer; a ghost is dragged and then revealed."""
    question(app, number, value).set_value(given)
    app.run()
    if SCENES[number - 1].ghost and [one for one in app.button if one.key == "lesson_reveal"]:
        app.button(key="lesson_reveal").click().run()
    return clean(app)


def right_and_wrong(number, value):
    answer = STEPS[number - 1].answer(value)
    if answer.options:
        return answer.right, next(option for option in answer.options if option != answer.right)
    return (round(answer.value * 20) / 20, 0.5) if SCENES[number - 1].ghost else (round(answer.value, 3),
                                                                                  round(3 * answer.value, 3))


@pytest.mark.parametrize("number", NUMBERS)
def test_a_deep_link_opens_a_step_of_one_control_one_chart_one_question_and_formulas(number):
    scene = SCENES[number - 1]
    app = clean(at_step(number, data="liver", epsilon="0.3"))
    keys = [widget.key for kind in ("slider", "select_slider", "selectbox", "segmented_control", "radio", "checkbox",
                                    "number_input", "multiselect", "text_input", "toggle") for widget in app.get(kind)]
    assert sorted(keys) == sorted(["lesson_steps", f"lesson_control_{number}", key_of(number, STEPS[number - 1].start)])
    assert len(app.get("plotly_chart")) == 1
    assert len(app.latex) == len(scene.formulas) >= 2
    assert f"step {number} of 7" in text(app)
    shown = [one.value for one in app.markdown]
    assert f"#### {scene.title}" in shown
    assert "  \n".join(scene.sentences(STEPS[number - 1].start)) in shown
    assert link(app) == {"data": "liver", "epsilon": "0.3"} | ({"step": str(number)} if number > 1 else {})
    assert "ignored" not in text(app)
    assert not [block for block in app.get("html") if "<dl" in block.proto.body]  # no strip


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: str(scene.step.number))
def test_each_step_has_three_sentences_and_a_readable_picture_at_every_value(scene):
    pictures = set()
    for value in scene.step.values:
        sentences = [sentence.replace("*", "") for sentence in scene.sentences(value)]
        assert len(sentences) == 3
        for plain in sentences:
            assert len(END.findall(plain)) == 1, plain
            assert plain.endswith(".")
            assert "—" not in plain
        picture = scene.picture(value)
        pictures.add(picture.figure.to_json())
        spec = json.loads(picture.figure.to_json())["layout"]
        assert spec["font"]["size"] >= 16
        assert spec["paper_bgcolor"] == "rgba(0,0,0,0)"
        assert len(picture.takeaway) > 30
        assert scene.before(value, 1.0).takeaway != picture.takeaway
    assert len(pictures) == len(scene.step.values)  # the picture follows the control


@pytest.mark.parametrize("number", NUMBERS)
def test_questions_check_themselves_for_one_picture_and_the_picture_waits_for_a_guess(number):
    app = at_step(number)
    for value in (STEPS[number - 1].values[0], STEPS[number - 1].values[-1]):
        control(app, number).set_value(value)
        clean(app.run())
        assert not app.success
        assert not app.warning  # an answer is for one picture
        waiting = app.get("plotly_chart")[0].proto.spec
        right, wrong = right_and_wrong(number, value)
        answered(app, number, value, wrong)
        assert not app.success
        assert app.warning[0].value == f"**Not yet.** {SCENES[number - 1].hint(value, wrong)}"
        answered(app, number, value, right)
        assert not app.warning
        assert app.success[0].value == f"**Right.** {SCENES[number - 1].why(value)}"
        assert app.get("plotly_chart")[0].proto.spec != waiting
        expected = None if value == STEPS[number - 1].start else token_of(value)
        fresh = clean(at_step(number, **({"value": expected} if expected else {})))  # a link holds the control too
        assert control(fresh, number).value == value
        assert link(app).get("value") == link(fresh).get("value") == expected
    assert link(app).get("step", "1") == str(number)


def test_answers_are_kept_for_each_step_and_each_value_of_its_control():
    app = answered(at_step(6), 6, "theorem1", "little")
    control(app, 6).set_value("exact").run()
    assert question(app, 6, "exact").value is None
    answered(app, 6, "exact", "half")
    press(app, "lesson_next")
    press(app, "lesson_back")
    assert question(app, 6, "exact").value == "half"
    assert app.warning[0].value.startswith("**Not yet.**")
    control(app, 6).set_value("theorem1").run()
    assert question(app, 6, "theorem1").value == "little"
    assert app.success[0].value.startswith("**Right.**")


def test_whoever_does_not_guess_can_look():
    app = at_step(1)
    app.button(key="lesson_reveal").click().run()
    assert app.info[0].value == SCENES[0].why(STEPS[0].start)
    assert "0 of 7 questions answered right" in dots(clean(app))


def dots(app):
    return next(block.proto.body for block in app.get("html") if 'class="dots"' in block.proto.body)


def test_dots_show_what_was_tried_and_the_end_sums_up():
    app = answered(at_step(1), 1, STEPS[0].start, "55")
    app.button(key="lesson_next").click().run()
    answered(app, 2, 1.0, "70")
    assert dots(app).count('class="right') == dots(app).count('class="tried') == 1
    app.segmented_control(key="lesson_steps").set_value(7).run()
    assert "2 of 7 questions tried, 1 answered right." in text(clean(app))
    summary = next(block.proto.body for block in app.get("html") if 'class="summary"' in block.proto.body)
    assert summary.count("<li>") == 7
    assert (summary.count("● answered"), summary.count("◐ tried"), summary.count("○ still open")) == (1, 1, 5)


def test_the_last_step_ends_with_one_column_among_many():
    gains = component(clean(at_step(7)), "lesson_columns")["gains"]
    assert [gain["columns"] for gain in gains] == list(range(2, 22))
    assert (gains[-1]["short"], gains[-1]["spent"]) == ("0.24", "5.4")


@pytest.mark.parametrize("number", NUMBERS)
def test_every_wrong_answer_gets_a_hint_that_is_not_the_answer(number):
    scene = SCENES[number - 1]
    for value in scene.step.values:
        answer = scene.step.answer(value)
        wrong = ([option for option in answer.options if option != answer.right] if answer.options else
                 [0.01, answer.value / 2, 2 * answer.value, 3.5, 500.0])
        for given in wrong:
            assert not answer.accepts(given)
            hint = scene.hint(value, given)
            assert len(hint) > 20
            assert (scene.option(answer.right) if answer.options else f"{answer.value:.3g}") not in hint


def test_hints_know_the_usual_mistakes():
    assert "do not add" in SCENES[4].hint("together", 2.5)
    assert "width" in SCENES[2].hint(0.8, 0.8)
    assert "Not so tall" in SCENES[2].hint(0.8, 2.0)
    assert "Taller" in SCENES[2].hint(0.8, 1.2)


@pytest.mark.parametrize(("number", "value"), [(n, value) for n in (2, 3, 4) for value in STEPS[n - 1].values])
def test_alternatives_of_the_shapes_tell_their_sizes(number, value):
    words = SCENES[number - 1].picture(value).takeaway
    assert len(re.findall(r"[0-9.]+ (?:hours|points)", words)) >= 2


@pytest.mark.parametrize("guarantee", STEPS[5].values)
def test_promise_and_curve_have_one_width(guarantee):
    said = next(line for line in SCENES[5].sentences(guarantee) if " h" in line)
    picture = SCENES[5].picture(guarantee)
    width = re.search(r"each ([0-9.]+) hours wide", picture.takeaway)[1]
    assert f" {width} h" in said
    curve = picture.figure.data[0]
    above = [x for x, y in zip(curve.x, curve.y, strict=True) if y >= 0.6065]  # one standard deviation to either side
    assert (max(above) - min(above)) / 2 == pytest.approx(float(width), rel=0.05)


def test_one_of_a_thing_is_not_many():
    said = " ".join(SCENES[n].picture(value).takeaway + SCENES[n].question(value) + SCENES[n].why(value)
                    for n in range(6) for value in STEPS[n].values)
    assert not re.search(r"(?<![.0-9])1 (?:minutes|points|rows|columns|hours)\b", said)


def test_only_an_axis_is_promised_to_gain():
    for angle in (30, 45, 60):
        assert "next to nothing" in SCENES[3].why(angle)
    assert "no shape beats" in SCENES[3].takeaway


def test_the_answers_are_not_one_click_from_the_questions():
    app = at_step(3)
    inside = [one.proto.page for one in app.get("page_link")]
    assert PAGES[-1] is LESSON_NOTES  # of the menu: the last, under a heading of its own
    assert [page for page in PAGES if page.section == LESSON_NOTES.section] == [LESSON_NOTES]
    assert "lesson_notes" not in inside


def test_the_step_is_kept_in_the_address_by_every_way_to_move():
    app = clean(opened(LESSON.path))
    assert link(app) == {"data": "two_features"}
    assert link(press(app, "lesson_next")) == {"data": "two_features", "step": "2"}
    app.segmented_control(key="lesson_steps").set_value(5).run()
    assert link(clean(app)) == {"data": "two_features", "step": "5"}
    assert link(press(app, "lesson_back"))["step"] == "4"
    app.segmented_control(key="lesson_steps").set_value(1).run()
    assert link(clean(app)) == {"data": "two_features"}
    assert app.button(key="lesson_back").disabled
    assert at_step(7).button(key="lesson_next").disabled


def test_going_back_in_the_browser_goes_back_in_the_lesson():
    app = at_step(3)
    app.button(key="lesson_next").click().run()
    app.query_params["step"] = "3"  # what the browser's own button does
    app.run()
    assert "step 3 of 7" in text(clean(app))
    del app.query_params["step"]
    app.run()
    assert "step 1 of 7" in text(clean(app))


@pytest.mark.parametrize("place", ["0", "8", "three", "-1", "1.5", ""])
def test_a_step_that_is_not_there_is_said_and_the_first_opens(place):
    app = clean(at_step(place))
    assert "the steps are 1 to 7" in text(app)
    assert "step 1 of 7" in text(app)
    assert "step" not in link(app)
    assert "ignored" not in text(to(app, HOME))  # another page does not complain


def test_a_value_that_is_not_there_is_said():
    app = clean(at_step(4, value="17"))
    assert "the values of step 4 are 0, 15, 30, 45, 60, 75, 90" in text(app)
    assert control(app, 4).value == 0


def test_the_big_screen_has_arrow_keys_and_stays_while_one_goes_on():
    app = clean(at_step(4, value="75", big="1"))
    assert link(app) == {"data": "two_features", "step": "4", "value": "75", "big": "1"}
    assert [app.button(key=f"lesson_{way}").proto.shortcut for way in ("back", "next")] == ["left", "right"]
    assert link(press(app, "lesson_next")) == {"data": "two_features", "step": "5", "big": "1"}
    assert link(press(app, "lesson_big")) == {"data": "two_features", "step": "5"}
    assert not app.button(key="lesson_next").proto.shortcut


def test_the_handout_is_one_page_with_everything_inside():
    page = handout("http://localhost:8501/lesson")
    assert page.count("<li>") == 7
    assert page.count("<svg") == page.count("<img") == 1
    known = ("http://localhost:8501/lesson", "http%3A%2F%2Fwww.w3.org%2F2000%2Fsvg")
    assert "http" not in page.replace(known[0], "").replace(known[1], "")
    assert all(scene.takeaway.split("'")[0] in page for scene in SCENES)
    assert "<script" not in page


def test_the_scenario_goes_through_the_lesson_untouched():
    app = opened(HOME.path, data="liver", epsilon="0.3")
    app.switch_page(LESSON.path).run()
    press(app, "lesson_next")
    control(app, 2).set_value(4.0).run()
    press(app, "lesson_next")
    press(app, "lesson_back")
    assert control(app, 2).value == 4.0  # kept while the lesson goes on
    assert link(app) == {"data": "liver", "epsilon": "0.3", "step": "2", "value": "4"}
    assert link(to(app, DATA)) == {"data": "liver", "epsilon": "0.3"}
    assert app.select_slider(key="w_epsilon").value == 0.3


def test_the_plane_is_drawn_in_steps_of_what_one_pupil_changes():
    figure = SCENES[1].picture(1.0).figure
    assert figure.layout.yaxis.scaleratio == pytest.approx(12 / 100)


def test_the_bells_never_lose_their_peaks():
    for number in (1, 6):
        for value in STEPS[number - 1].values:
            for trace in SCENES[number - 1].picture(value).figure.data:
                assert max(trace.y) > 0.99


def test_the_notes_have_timing_questions_mistakes_and_all_answers():
    app = clean(opened(LESSON_NOTES.path))
    said = text(app)
    begin = 0
    for scene in SCENES:
        note = note_of(scene.step.number)
        assert f"minute {begin} to {begin + scene.step.minutes} · {scene.step.minutes} minutes" in said
        begin += scene.step.minutes
        assert f"**Ask.** {note.ask}" in said
        assert f"**Show.** {note.show}" in said
        assert len(note.mistakes) >= 2
        assert all(f"* {wrong} {reply}" in said for wrong, reply in note.mistakes)
        assert "{" not in note.show
    assert begin == 20
    tables = [block.proto.body for block in app.get("html") if 'class="key"' in block.proto.body]
    assert [table.count("<td>") for table in tables] == [len(step.values) for step in STEPS]
    assert "36 minutes" in tables[1]
    assert len(app.get("plotly_chart")) == 1
    assert "@media print" in " ".join(block.proto.body for block in app.get("html"))
