"""The lesson's pages and its game: steps of the same form, a place in the address, answers that check themselves."""

import json
import re

import numpy as np
import pytest

from mvgviz.lesson.game import GUESSES, ROUNDS, game
from mvgviz.lesson.steps import STEPS, token_of
from mvgviz.pictures.scenes import SCENES, note_of
from mvgviz.ui.menu import ATTACKER, DATA, HOME, LESSON, LESSON_NOTES, PAGES
from tests.pages.app import CONTROLS, adjust, opened, press, to
from tests.pages.shown import assert_says, clean, link, said, spec, text

NUMBERS = range(1, len(STEPS) + 1)
END = re.compile(r"[.!?](?=\s|$)")


def at_step(number, **parameters):
    """A fresh session that followed a deep link to a step."""
    return opened(LESSON.path, step=str(number), **parameters)


def control(app, number):
    kind = "select_slider" if SCENES[number - 1].ordered else "segmented_control"
    return getattr(app, kind)(key=f"lesson_control_{number}")


def ghost(app):
    return next(one for one in app.slider if one.key.startswith("lesson_guess_"))


def guessed(app, given):
    """The app after a guess."""
    ghost(app).set_value(given).run()
    app.button(key="lesson_reveal").click().run()
    return clean(app)


def right_and_wrong(number, value):
    answer, ghost = STEPS[number - 1].answer(value), SCENES[number - 1].ghost(value)
    steps = round((answer.value - ghost.least) / ghost.step)
    return min(round(ghost.least + steps * ghost.step, 2), ghost.most), ghost.start


def is_at(app, number):
    return f"#### {SCENES[number - 1].title}" in [one.value for one in clean(app).markdown]


def traces(app):
    return [one.get("name") for one in spec(app)["data"]]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_deep_link_opens_a_step_of_one_question_one_chart_and_formulas_and_shows_no_control_yet(number):
    scene, start = SCENES[number - 1], STEPS[number - 1].start
    app = at_step(number, data="liver", epsilon="0.3")
    assert is_at(app, number)
    assert sorted(one.key for kind in CONTROLS for one in app.get(kind)) == sorted(["lesson_steps", ghost(app).key])
    assert len(app.get("plotly_chart")) == 1
    assert len(app.latex) == len(scene.formulas) >= 2
    assert not [one.value for one in app.latex if re.search(r"=\s*(\\tfrac\s*\d+|[\d.]+)(?!\w)", one.value)]
    assert ghost(app).label == scene.question(start)  # read aloud: no asterisks
    assert "  \n".join(scene.sentences(start)) in [one.value for one in app.markdown]
    assert link(app) == {"data": "liver", "epsilon": "0.3"} | ({"step": str(number)} if number > 1 else {})
    assert "ignored" not in text(app)
    assert not [block for block in app.get("html") if "<dl" in block.proto.body]  # no strip


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: str(scene.step.number))
def test_each_step_has_three_short_sentences_and_a_readable_picture_at_every_value(scene):
    pictures = set()
    for value in scene.step.values:
        sentences = [sentence.replace("*", "") for sentence in scene.sentences(value)]
        assert len(sentences) == 3
        for plain in sentences:
            assert len(END.findall(plain)) == 1, plain
            assert plain.endswith(".")
            assert len(plain.split()) <= 22, plain
            assert "—" not in plain
        picture, waiting = scene.picture(value), scene.before(value, scene.ghost(value).start)
        pictures.add(picture.figure.to_json())
        for one in (picture, waiting):
            spec = json.loads(one.figure.to_json())
            assert spec["layout"]["font"]["size"] >= 16
            assert spec["layout"]["paper_bgcolor"] == "rgba(0,0,0,0)"
            assert spec["layout"]["showlegend"]
            assert all(trace.get("name") for trace in spec["data"] if trace["type"] != "heatmap")
        assert len(picture.takeaway) > 30
        assert waiting.takeaway != picture.takeaway
    assert len(pictures) == len(scene.step.values)  # the picture follows the control


@pytest.mark.parametrize("number", NUMBERS)
def test_nothing_shows_the_answer_before_the_guess_and_guess_and_truth_stand_together_after_it(number):
    scene = SCENES[number - 1]
    for value in (scene.step.values[0], scene.step.values[-1]):
        token = None if value == scene.step.start else token_of(value)
        app = clean(at_step(number, **({"value": token} if token else {})))  # a link holds the control too
        assert link(app).get("value") == token
        answer = scene.step.answer(value)
        assert traces(app).count("your guess") == 1
        assert scene.ghost(value).shown % answer.value not in said(app)
        assert scene.why(value) not in said(app)
        assert not [*app.success, *app.warning, *app.info]
        waiting = traces(app)
        right, wrong = right_and_wrong(number, value)
        guessed(app, wrong)
        assert scene.hint(value, wrong) in app.warning[0].value
        assert scene.why(value) in app.warning[0].value
        assert scene.ghost(value).shown % wrong in app.warning[0].value
        assert traces(app).count("your guess") == 1
        assert control(app, number).value == value
        truth = spec(app)
        app.button(key="lesson_again").click().run()
        assert traces(clean(app)) == waiting
        guessed(app, right)
        assert app.success[0].value.endswith(scene.why(value))
        assert spec(app) != truth  # the ghost is elsewhere


def test_the_ghost_stays_while_the_control_moves_and_while_one_is_elsewhere():
    app = guessed(at_step(2), 1.2)
    control(app, 2).set_value(0.5).run()
    assert traces(clean(app)).count("your guess (80 %)") == 1
    assert app.info[0].value == SCENES[1].why(0.5)
    assert traces(press(press(app, "lesson_next"), "lesson_back")).count("your guess (80 %)") == 1
    control(app, 2).set_value(0.8).run()
    assert "**You said 1.20×.**" in app.warning[0].value


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: str(scene.step.number))
def test_a_right_guess_lies_on_the_answer_in_the_picture(scene):
    """Where the ghost's handle is then, something of the answer is: a bar's end, an outline, a mark, a dot."""
    for value in (scene.step.values[0], scene.step.start):
        found, figure = scene.ghost(value), scene.picture(value).figure
        at, move = np.array(found.handle[:2]), np.array(found.handle[2:])
        handle = at + scene.step.answer(value).value * move
        spans = np.array([np.ptp(figure.layout[f"{axis}axis{found.axes}"].range) for axis in "xy"])
        moves = move != 0  # a bar and a track are met along the way that the ghost goes
        points = [point for trace in figure.data if (trace.xaxis or "x") == f"x{found.axes}" and trace.type != "heatmap"
                  and trace.name != "the mixture" for point in zip(trace.x, trace.y, strict=True)
                  if None not in point]
        assert min(np.abs((np.array(points) - handle) / spans)[:, moves].max(axis=1)) < 0.01, (value, handle)


def test_one_line_shows_what_was_tried_and_the_end_sums_up_and_offers_a_second_hour():
    app = press(guessed(at_step(1), 50), "lesson_next")
    guessed(app, 1.6)
    steps = app.segmented_control(key="lesson_steps")
    assert [option.content for option in steps.proto.options] == ["1 •", "2 ✓", "3", "4", "5"]
    steps.set_value(5).run()
    assert "2 of 5 questions tried, 1 answered right." in text(clean(app))
    summary = next(block.proto.body for block in app.get("html") if 'class="summary"' in block.proto.body)
    assert summary.count("<li>") == 5
    assert [scene.takeaway in summary for scene in SCENES[:5]] == [True, True, False, False, False]
    assert (summary.count("● answered"), summary.count("◐ tried"), summary.count("○ still open")) == (1, 1, 3)
    assert app.button(key="lesson_next").disabled
    assert link(press(app, "lesson_more_9"))["step"] == "9"
    assert [option.content for option in app.segmented_control(key="lesson_steps").proto.options] == list("ABCD")


@pytest.mark.parametrize(("old", "number", "value"), [
    ({"step": "3", "value": "0.8"}, 2, 0.8), ({"step": "5", "value": "people"}, 8, "people"),
    ({"step": "6", "value": "exact"}, 6, "exact")])
def test_an_older_link_opens_the_step_that_has_its_value(old, number, value):
    app = opened(LESSON.path, **old)
    assert is_at(app, number)
    assert ghost(app).key == f"lesson_guess_{number}_{token_of(value)}"
    assert "ignored" not in text(app)


@pytest.mark.parametrize("guarantee", STEPS[5].values)
def test_promise_and_curve_have_one_width(guarantee):
    said = next(line for line in SCENES[5].sentences(guarantee) if " h" in line)
    picture = SCENES[5].picture(guarantee)
    width = re.search(r"noise of ([0-9.]+) h", said)[1]
    curve = picture.figure.data[0]
    above = [x for x, y in zip(curve.x, curve.y, strict=True) if y >= 0.6065]  # one standard deviation to either side
    assert (max(above) - min(above)) / 2 == pytest.approx(float(width), rel=0.05)


def test_takeaways_and_reasons_tell_sizes_count_one_as_one_and_promise_only_an_axis_to_gain():
    said = " ".join(SCENES[n].picture(value).takeaway + SCENES[n].question(value) + SCENES[n].why(value)
                    for n in (0, 1, 2, 3, 4, 5, 7, 8) for value in STEPS[n].values)
    assert not re.search(r"(?<![.0-9])1 (?:minutes|points|rows|columns|hours)\b", said)
    for n in (1, 2):  # alternatives of the shapes
        for value in STEPS[n].values:
            assert len(re.findall(r"[0-9.]+ (?:hours|points)", SCENES[n].picture(value).takeaway)) >= 2
    assert all("takes back" in SCENES[3].why(angle) for angle in (30, 45, 60))
    assert "no shape of Gaussian noise beats" in SCENES[3].takeaway


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: str(scene.step.number))
def test_a_question_gives_no_value_away_and_its_hints_are_true_at_every_value(scene):
    for value in scene.step.values:
        assert set(re.findall(r"\d+ ?[°%]", scene.question(value))) <= {scene.shown(value)}
    low = {2: (0.5, "little"), 4: (0, "makes")}.get(scene.step.number)
    assert not low or low[1] not in scene.hint(low[0], -1.0)  # equal shares; a box that all corners touch
    inside = "releases (95 % inside)" in [one.name for one in scene.picture(scene.step.start).figure.data]
    assert inside == (scene.step.number == 2)  # an outline is there


def test_the_answers_are_not_one_click_from_the_questions():
    assert PAGES[-1] is LESSON_NOTES  # of the menu: the last, under a heading of its own
    assert [page for page in PAGES if page.section == LESSON_NOTES.section] == [LESSON_NOTES]
    assert "lesson_notes" not in [one.proto.page for one in at_step(3).get("page_link")]


def test_the_step_is_kept_in_the_address_by_every_way_to_move():
    app = clean(opened(LESSON.path))
    assert link(app) == {"data": "two_features"}
    assert link(press(app, "lesson_next")) == {"data": "two_features", "step": "2"}
    assert link(adjust(app, lesson_steps=5)) == {"data": "two_features", "step": "5"}
    assert app.button(key="lesson_next").disabled
    assert link(press(app, "lesson_back"))["step"] == "4"
    app.query_params["step"] = "3"  # what the browser's own button does
    assert is_at(app.run(), 3)
    del app.query_params["step"]
    assert is_at(app.run(), 1)
    assert link(adjust(app, lesson_steps=1)) == {"data": "two_features"}
    assert app.button(key="lesson_back").disabled


@pytest.mark.parametrize("place", ["0", "10", "three", "1.5"])
def test_a_step_that_is_not_there_is_said_and_the_first_opens(place):
    app = at_step(place)
    assert is_at(app, 1)
    assert "the steps are 1 to 9" in text(app)
    assert "step" not in link(app)
    assert "ignored" not in text(to(app, HOME))  # another page does not complain


def test_a_value_that_is_not_there_is_said():
    app = at_step(4, value="17")
    assert "the values of step 4 are 0, 15, 30, 45, 60, 75, 90" in said(app)
    assert ghost(app).key == "lesson_guess_4_45"
    assert not app.button(key="lesson_next").proto.shortcut  # of the big screen alone


def test_the_scenario_goes_through_the_lesson_untouched():
    app = to(opened(HOME.path, data="liver", epsilon="0.3"), LESSON)
    guessed(press(app, "lesson_next"), 2.0)
    control(app, 2).set_value(0.6).run()
    press(app, "lesson_next")
    assert control(press(app, "lesson_back"), 2).value == 0.6  # kept while the lesson goes on
    assert link(app) == {"data": "liver", "epsilon": "0.3", "step": "2", "value": "0.6"}
    assert link(to(app, DATA)) == {"data": "liver", "epsilon": "0.3"}
    assert app.select_slider(key="w_epsilon").value == 0.3


def test_the_plane_is_drawn_in_steps_of_what_one_pupil_changes_and_bells_keep_their_peaks():
    assert SCENES[1].picture(0.8).figure.layout.yaxis.scaleratio == pytest.approx(12 / 100)
    for number in (1, 6):
        for value in STEPS[number - 1].values:
            for trace in SCENES[number - 1].picture(value).figure.data:
                assert trace.xaxis == "x2" or max(trace.y) > 0.99


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.label)
def test_no_line_but_the_guess_is_dotted(scene):
    figure = scene.before(scene.step.start, scene.ghost(scene.step.start).start).figure
    drawn = [trace.to_plotly_json() for trace in figure.data]
    assert [one["name"] for one in drawn if one.get("line", {}).get("dash") == "dot"] == ["your guess"]
    assert "dot" not in [shape.line.dash for shape in figure.layout.shapes]


def test_the_notes_have_timing_questions_mistakes_and_all_answers():
    app = opened(LESSON_NOTES.path)
    for scene in SCENES:
        number, minutes = scene.step.number, scene.step.minutes
        begin, note = 3 * ((number - 1) % 5), note_of(number)
        assert_says(app, [f"minute {begin} to {begin + minutes} · {minutes} minutes", f"**Ask.** {note.ask}",
                          f"**Show.** {note.show}", *(f"* {wrong} {reply}" for wrong, reply in note.mistakes)])
        assert len(note.mistakes) >= 2
        assert "{" not in note.show
    written = [block.proto.body for block in app.get("html")]
    tables = [body for body in written if 'class="key"' in body]
    assert [table.count("<td>") for table in tables] == [len(step.values) for step in STEPS]
    assert "1.58×" in tables[1]
    assert "@media print" in " ".join(written)


def played(app, guesses):
    for guess in guesses:
        app.button(key=f"game_{guess}").click().run()
    return clean(app)


def test_whoever_says_the_truth_hits_ten_of_ten():
    rounds = game(seed=3, shape="circle", epsilon=4).rounds
    app = played(opened(ATTACKER.path, game="3"), [each.truth for each in rounds])
    assert_says(app, ["You: **10 of 10** right", "best attacker is right in **66 of 100** rounds"])
    assert not [one for one in app.button if one.key == "game_least"]


def test_the_best_guess_hits_as_often_as_the_page_says_with_each_shape():
    app = opened(ATTACKER.path, game="5")
    for shape in ("circle", "ellipse", "box"):
        right = game(seed=5, shape=shape, epsilon=4)
        played(app, [each.best for each in right.rounds])
        assert f"You: **{right.best_hits} of 10** right" in text(app)
        assert f"right in **{right.best_hits} of {ROUNDS}** rounds" in text(app)
        app.button(key="game_other").click().run()
    assert link(app) == {"data": "two_features", "game": "5"}


def test_each_round_says_who_it_was():
    first = game(seed=1, shape="circle", epsilon=4).rounds[0]
    app = played(opened(ATTACKER.path), [first.truth])
    assert app.success[0].value.startswith("Right. Ann:")
    wrong = next(guess for guess in GUESSES if guess != first.truth)
    assert played(opened(ATTACKER.path), [wrong]).warning[0].value.startswith("Wrong. Ann:")


def test_the_link_holds_game_shape_and_budget():
    app = clean(opened(ATTACKER.path, game="42", shape="ellipse", budget="1", big="1"))
    assert link(app) == {"data": "two_features", "game": "42", "shape": "ellipse", "budget": "1", "big": "1"}
    assert "55 of 100" in text(app)
    assert min(spec(app)["layout"][axis]["tickfont"]["size"] for axis in ("xaxis", "yaxis")) >= 20  # for the last row
    assert all(one.proto.wrap for one in app.segmented_control)  # no choice is cut off on a phone
    assert link(adjust(app, game_budget="10"))["budget"] == "10"


def test_a_game_that_is_not_there_is_said():
    for parameters in ({"game": "-1"}, {"game": "x"}, {"shape": "square"}, {"budget": "2"}, {"game": "123456"}):
        app = clean(opened(ATTACKER.path, **parameters))
        assert "A part of the link was ignored: games are 0 to 9999" in text(app)
        assert link(app) == {"data": "two_features"}
