"""The lesson without a server: opened from a file, offline; what it shows is what the engine computes."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from mvgviz.command.main import main
from mvgviz.lesson.game import EPSILONS, ROUNDS, SHAPES, game
from mvgviz.lesson.steps import MAIN
from mvgviz.pictures.lesson import game_picture
from mvgviz.pictures.scenes import SCENES
from mvgviz.report.lesson import GAMES, _plain, handout_html
from mvgviz.text import as_text
from tests.browser.chromium import box_of, shoot

LESSON = SCENES[:MAIN]
SHOWN = """() => document.getElementById("picture").data.map(({ name, x, y }) =>
    ({ name, x: [...x], y: [...y] }))"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """The page as a file, made once."""
    path = tmp_path_factory.mktemp("lesson") / "lesson.html"
    assert main(["lesson", "--out", str(path)]) == 0
    return f"file://{path}"


@pytest.fixture
def visit(browser, file):
    """Opens a place of the page without a network; at the end nothing was asked for, nothing failed."""
    opened = []

    def go(place, *, width=1366, height=768, scheme="light"):
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        wrong = []
        page.context.set_offline(True)
        page.on("request", lambda request: wrong.append(request.url) if not request.url.startswith("file:") else None)
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(f"{file}#{place}")
        expect(page.locator("#picture .main-svg").first).to_be_visible()
        opened.append((page, wrong))
        return page

    yield go
    for page, wrong in opened:
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert wrong == []
        page.close()


def assert_shows(page, picture):
    """The picture on the page has the traces of the engine's, point by point."""
    shown, right = page.evaluate(SHOWN), _plain(picture.figure.to_dict()["data"])
    assert [one["name"] for one in shown] == [one["name"] for one in right]
    for one, other in zip(shown, right, strict=True):
        for axis in "xy":
            for a, b in zip(one[axis], other[axis], strict=True):
                assert a == b or a == pytest.approx(b, rel=1e-4, abs=1e-4), (one["name"], axis)


def test_guess_reveal_and_control_show_what_the_engine_computes(visit):
    page = visit("1")
    for scene in LESSON:
        page.get_by_role("link", name=f"Step {scene.label}", exact=True).click()
        expect(page.get_by_role("heading", level=2).first).to_have_text(scene.title)
        assert_is_the_engine_s(page, scene)


def assert_is_the_engine_s(page, scene):
    value = scene.step.start
    ghost, answer, other = scene.ghost(value), scene.step.answer(value), scene.step.values[0]
    assert other != value
    assert scene.ghost(value).shown % answer.value not in page.locator("main").inner_text()
    slider = page.locator("#desk input")
    slider.focus()
    slider.press("ArrowRight")
    given = float(slider.input_value())
    assert given == pytest.approx(ghost.start + ghost.step)
    assert_shows(page, scene.before(value, given))
    expect(page.locator("#desk label b")).to_have_text(ghost.shown % given)
    slider.press("Tab")
    page.keyboard.press("Enter")  # on Reveal
    reply = page.locator("#desk .reply")
    expect(reply).to_contain_text(as_text(scene.why(value)))
    expect(reply).to_have_class("reply right" if answer.accepts(given) else "reply wrong")
    if not answer.accepts(given):
        expect(reply).to_contain_text(as_text(scene.hint(value, given)))
    assert_shows(page, scene.after(value, value, given))
    control = page.locator("#control input")
    if scene.ordered:
        control.fill("0")
    else:
        control.first.check()
    expect(reply).to_contain_text(as_text(scene.why(other)))
    assert_shows(page, scene.after(other, value, given))
    for line in scene.sentences(other):
        expect(page.locator("#sentences")).to_contain_text(as_text(line))


def test_the_page_takes_for_right_what_the_engine_does(visit):
    page = visit("1")
    for k, scene in enumerate(LESSON):
        for j, value in enumerate(scene.step.values):
            ghost, answer = scene.ghost(value), scene.step.answer(value)
            guesses = [round(ghost.least + i * ghost.step, 6)
                       for i in range(round((ghost.most - ghost.least) / ghost.step) + 1)]
            found = page.evaluate("([k, j, guesses]) => guesses.map((one) => isRight(steps[k].values[j], one))",
                                  [k, j, guesses])
            assert found == [answer.accepts(guess) for guess in guesses]
            assert any(found), (scene.label, value)


def test_the_ghost_is_dragged_in_the_picture(visit):
    page = visit("2", width=390, height=844)
    guess, handle = page.locator("#desk input"), page.locator("#handle")
    before, spot = float(guess.input_value()), box_of(handle)
    page.mouse.move(spot["x"] + spot["width"] / 2, spot["y"] + spot["height"] / 2)
    page.mouse.down()
    page.mouse.move(spot["x"] + spot["width"] / 2, spot["y"] + spot["height"] / 2 - 30, steps=5)
    page.mouse.up()
    given = float(guess.input_value())
    assert given > before
    after = box_of(handle)
    assert after["y"] + after["height"] / 2 == pytest.approx(spot["y"] + spot["height"] / 2 - 30, abs=4)
    assert_shows(page, SCENES[1].before(SCENES[1].step.start, given))


def test_a_game_is_played_by_keys_and_shows_the_engine_s_rounds(visit):
    page = visit("game")
    for shape in SHAPES:
        played = game(seed=1, shape=shape, epsilon=4.0)
        for number, each in enumerate(played.rounds):
            expect(page.get_by_text(f"Round {number + 1} of {ROUNDS}")).to_be_visible()
            if number in (0, 4):
                picture = game_picture(played, said=number)
                assert_shows(page, picture)
                assert page.locator("#picture").get_attribute("aria-label") == picture.takeaway
            page.keyboard.press("1" if each.best == "least" else "2")
        expect(page.locator("#desk")).to_contain_text(f"You: {played.best_hits} of {ROUNDS} right")
        assert_shows(page, game_picture(played, said=ROUNDS))
        page.get_by_role("button", name="Now with the").click()
    expect(page.locator("#desk")).to_contain_text("Ten rounds")  # the first shape again, as it was left
    page.get_by_role("button", name="Another game").click()
    assert_shows(page, game_picture(game(seed=2, shape=SHAPES[0], epsilon=4.0), said=0))
    for shape in SHAPES:
        for epsilon in EPSILONS:
            found = page.evaluate("(at) => game.tables[at].games", f"{shape} {epsilon:g}")
            assert len(found) == GAMES
            for seed in (1, GAMES):
                rounds = game(seed=seed, shape=shape, epsilon=epsilon).rounds
                assert [one[0] for one in found[seed - 1]] == [each.truth for each in rounds]
                for one, each in zip(found[seed - 1], rounds, strict=True):
                    assert one[1:] == pytest.approx(each.point, rel=1e-4)


@pytest.mark.parametrize(("width", "height", "scheme"), [(390, 844, "dark"), (1366, 768, "light")])
def test_picture_and_question_stand_on_one_screen_and_everybody_can_read_them(visit, width, height, scheme):
    page = visit("1", width=width, height=height, scheme=scheme)
    for place in ("2", "3", "4", "5", "game", "1"):
        page.get_by_role("link", name="Game" if place == "game" else f"Step {place}", exact=True).click()
        expect(page.get_by_role("heading", level=2).first).to_have_text(
            "Play the attacker" if place == "game" else LESSON[int(place) - 1].title)
        for part in ("#picture", "#desk button >> visible=true"):
            box = box_of(page.locator(part).first)
            assert box["y"] + box["height"] <= height, (place, part)
        if place in ("2", "game"):
            found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
            assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
        shoot(page, f"lesson-page-{place}-{width}-{scheme}")
        if place == "game":
            for _ in range(ROUNDS):
                page.keyboard.press("1")
            box = box_of(page.get_by_role("button", name="Now with the ellipse"))
            assert box["y"] + box["height"] <= height


@pytest.mark.parametrize("whole", [True, False], ids=["lesson", "handout"])
def test_the_handout_prints_on_two_pages_with_all_pictures(browser, file, tmp_path, whole):
    if not whole:
        path = tmp_path / "handout.html"
        path.write_text(handout_html("https://class.example/lesson?pupil=1"), encoding="utf-8")
    page = browser.new_page()
    page.goto(file if whole else f"file://{path}")
    assert len(re.findall(rb"/Type\s*/Page[^s]", page.pdf(format="A4"))) == 2
    assert len(re.findall(rb"/Type\s*/Page[^s]", page.pdf(format="A4", prefer_css_page_size=True))) == 2
    page.emulate_media(media="print")
    assert page.locator(".draw .main-svg").count() >= MAIN
    for part in page.locator(".side, .text").all():  # nothing is cut off
        assert part.evaluate("node => node.scrollHeight <= node.clientHeight + 1"), part.inner_text()
    for scene, given in zip(LESSON, ("0.42 h", "80 %", "45°", "45°", "21"), strict=True):  # what a guess starts from
        expect(page.locator("#handout")).to_contain_text(scene.takeaway)
        expect(page.locator("div.text").nth(LESSON.index(scene))).to_contain_text(given)
    assert page.get_by_alt_text("QR code of the lesson").count() == (not whole)
    page.close()
