"""The rule in a real browser: its formulas are the engine's, its handles move by mouse and keys, frame by frame."""

import math
import re
from dataclasses import asdict

import numpy as np
import pytest
from playwright.sync_api import expect

from mvgviz import Scenario, build, design_noise, gaussian_delta, gaussian_mu, identity, mean, rotation
from mvgviz.design.least_possible import least_possible
from mvgviz.design.needs import needs_of
from mvgviz.pictures.rule import rule_model, theorem_plane
from mvgviz.ui.rule_picture import _camel, _sent, record_picture, taken_share
from tests.browser.chromium import ROOT, assert_accessible, at_rest, box_of, dragged, eventually, shoot
from tests.datasets import make_dataset

DATA = make_dataset(4, 30, lower=[-1, 0, -2, 1], upper=[1, 3, 1, 4])
THETA = (0.4, 0.3, 0.2, 0.1)
PLANE = (0, 1)


@pytest.fixture
def formulas(empty_page):
    """Calls the pure module in an empty page: the body of a function of the module ``f`` and of what is given."""
    code = (ROOT / "mvgviz" / "ui" / "assets" / "formulas.js").read_text()

    def call(body, given):
        return empty_page.evaluate(
            f"""async ([code, given]) => {{
                const f = await import(URL.createObjectURL(new Blob([code], {{type: "text/javascript"}})));
                {body}
            }}""", [code, given])

    return call


def design_of(query, theta=THETA, angle=0.0, data=DATA, **choices):
    directions = rotation(data.n_features, PLANE, angle) if angle else None
    usual = {"epsilon": 1, "delta": 1e-3, "theta": theta, "directions": directions}
    return design_noise(query(data), **usual | choices)


def sent_of(design, **choices):
    return _sent(rule_model(design, PLANE, of_directions=False, **choices), 0.001)


def test_mu_and_delta_are_the_engine_s(formulas):
    cases = [(epsilon, delta) for epsilon in (1e-3, 0.01, 0.1, 1, 3, 10, 100, 1e3)
             for delta in (1e-12, 1e-6, 1e-3, 0.1, 0.4)]
    found = formulas("""return given.map(([epsilon, delta]) => {
        const mu = f.gaussianMu(epsilon, delta);
        return [mu, f.gaussianDelta(epsilon, mu)];
    });""", cases)
    for (epsilon, delta), (mu, back) in zip(cases, found, strict=True):
        assert mu == pytest.approx(float(gaussian_mu(epsilon, delta)), rel=1e-9)
        assert back == pytest.approx(float(gaussian_delta(epsilon, mu)), rel=1e-9)


@pytest.mark.parametrize("query", [identity, mean])
def test_a_drag_is_what_the_engine_computes_afterwards(formulas, query):
    """Shares, angle and epsilon together: a new design by the engine, another formula than the browser's."""
    moves = [((0.4, 0.3), 0.0, 1.0), ((0.65, 0.05), 0.2, 0.3), ((0.2, 0.5), -0.9, 5.0), ((0.35, 0.35), 1.5, 0.01)]
    found = formulas("""return given[1].map(([theta, angle, epsilon]) => {
        const [model] = given, std = f.deviations(model, theta, angle, f.gaussianMu(epsilon, model.delta));
        return [std, f.touching(model.changes.corners, std, angle).radius];
    });""", [sent_of(design_of(query, angle=0.2)), moves])
    for (theta, angle, epsilon), (std, radius) in zip(moves, found, strict=True):
        after = design_of(query, (*theta, *THETA[2:]), angle, epsilon=epsilon)
        assert std == pytest.approx(np.sqrt(after.row_variances[:2]).tolist(), rel=1e-9)
        assert radius < after.mu


def test_with_two_features_the_ellipse_touches_at_mu_and_the_rest_follows(formulas):
    data = make_dataset(2, 30, lower=[-1, 0], upper=[1, 3])
    for angle in (0.0, 0.4, -1.2):
        design = design_of(mean, (0.8, 0.2), angle, data)
        least = [least_possible(mean(data), needs_of((k,), 2), design.mu).noise * (2, 3)[k] for k in (0, 1)]
        found = formulas("""const [model, angle] = given, std = f.deviations(model, model.theta, angle);
            const touch = f.touching(model.changes.corners, std, angle);
            return [touch.radius, touch.at.length, [0, Math.PI / 2, 0.7].map((line) => f.noiseAlong(std, angle, line)),
                    [0, Math.PI / 2, 0.7].map((line) => f.reachAlong(model.changes.corners, line))];""",
                         [sent_of(design), angle])
        uses = np.array([[1, 0], [0, 1], [math.cos(0.7), math.sin(0.7)]])
        noise = np.sqrt(np.einsum("ui,ij,uj->u", uses, design.row_covariance(), uses))
        assert found[0] == pytest.approx(design.mu, rel=1e-9)
        assert found[1] == (2 if angle else 4)
        assert found[2] == pytest.approx(noise.tolist(), rel=1e-9)
        assert [reach / design.mu for reach in found[3][:2]] == pytest.approx(least, rel=1e-9)
        assert found[3][2] == pytest.approx((2 * math.cos(0.7) + 3 * math.sin(0.7)) / 30, rel=1e-9)


@pytest.mark.parametrize("guarantee", ["exact", "theorem1"])
def test_a_theorem_s_ellipse_follows_shares_and_epsilon(formulas, guarantee):
    exact, asked = design_of(mean), design_of(mean, guarantee="theorem1")
    plane = theorem_plane(asked, exact, PLANE, of_directions=False, name="Theorem 1")
    found = formulas("return f.asTheorem(given[0], given[1], [0.2, 0.5], 0, 3).std;",
                     [sent_of(exact), _camel(asdict(plane))])
    after = design_of(mean, (0.2, 0.5, 0.2, 0.1), guarantee="theorem1", epsilon=3)
    assert found == pytest.approx(np.sqrt(after.row_variances[:2]).tolist(), rel=1e-9)
    sent = sent_of(design_of(mean, guarantee=guarantee))
    own = formulas("return f.deviations(given, [0.2, 0.5], 0);", sent)
    same = design_of(mean, (0.2, 0.5, 0.2, 0.1), guarantee=guarantee)
    assert own == pytest.approx(np.sqrt(same.row_variances[:2]).tolist(), rel=1e-9)


def bounded(**changes):
    return build(Scenario(scale="declared", bound="own", radius=0.8, allocation="manual", weights=(4, 3, 2, 1)).changed(
        **changes), DATA)


def test_the_browser_pulls_records_in_as_the_engine_does(formulas):
    before = bounded(query="mean")
    after = bounded(query="mean", weights=(6, 1, 2, 1), directions="rotation", angle=25.0)
    model = rule_model(before.design, PLANE, of_directions=False, split=before.split)
    shown = record_picture(before, model, PLANE, ("a", "b"), of_directions=False, show=True)
    found = formulas("""const [model, records, angle] = given;
        return [records.map((record) => f.partOf(model, 0.8, record, [0.6, 0.1], angle)),
                f.deviations(model, [0.6, 0.1], angle)];""",
                     [_sent(model, 0.001), shown["points"], math.radians(25)])
    parts = after.query.bound.ellipse(4).parts(DATA.matrix)
    assert (parts < 1).any()
    assert found[0] == pytest.approx(parts.tolist(), rel=1e-9)
    engine = rule_model(after.design, PLANE, of_directions=False, split=after.split)
    assert found[1] == pytest.approx(engine.std, rel=1e-9)


def test_changes_of_bounded_records_are_inside_ellipse_and_ranges_and_reach_the_corners_in_any_units(formulas):
    corners = np.array(formulas("return f.boundedCorners([3, 1], 0.5, [2, 4]);", None)).T
    c, s = math.cos(0.5), math.sin(0.5)
    inside = np.hypot((c * corners[0] + s * corners[1]) / 3, (-s * corners[0] + c * corners[1]) / 1)
    edge = np.maximum(inside, np.maximum(np.abs(corners[0]) / 2, np.abs(corners[1]) / 4))
    assert edge == pytest.approx(1, rel=1e-12)
    # The ranges end before the ellipse does: a corner of theirs is the furthest.
    found = formulas("return f.reachAlong(f.boundedCorners([9e6, 2], 0, [1e6, 1e-3]), Math.atan2(1, 1e-9));", None)
    assert found == pytest.approx(1e6 * 1e-9 + 1e-3, rel=1e-6)


def test_what_the_browser_shows_of_a_drag_is_a_step_the_scenario_takes(formulas):
    asked = [0.0, 0.0101, 0.33333, 0.5004, 0.8666, 0.9896, 0.9999]
    found = formulas("""return given.map((share) => f.taken({least: 0.01, step: 0.001, groups: [1, 1]}, 0,
        [share, 1 - share]));""", asked)
    assert [round(first, 9) for first, _ in found] == [0.01, 0.01, 0.333, 0.5, 0.867, 0.99, 0.99]
    for first, second in found:
        assert taken_share(max(first, second)) == pytest.approx(max(first, second), abs=1e-12)
        assert first + second == pytest.approx(1)


# The picture itself.

def grip(tab, name):
    return tab.locator(f".rule .handle[data-name={name}]")


@pytest.mark.parametrize(("path", "screen", "scheme"), [("", "wide", "light"), ("shape", "phone", "dark")])
def test_pulling_an_axis_moves_the_picture_alone_and_letting_go_tells_the_server(visit, path, screen, scheme):
    tab = visit(path, screen=screen, scheme=scheme, waits_for=".rule svg")
    frames, numbers, before = [], tab.locator(".rule .numbers"), tab.url
    tab.locator(".rule .picture").evaluate("""(picture) => { window.__drawn = 0; new MutationObserver(() => {
        window.__drawn += 1; }).observe(picture, {childList: true}); }""")
    with dragged(tab, grip(tab, "pull0"), 0, 0):
        spot = box_of(grip(tab, "pull0"))
        x, y = spot["x"] + spot["width"] / 2, spot["y"] + spot["height"] / 2
        for k in range(1, 13):
            tab.mouse.move(x - 2 * k, y)
            tab.evaluate("() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
            frames.append(numbers.inner_text())
        assert len(set(frames)) >= 8
        assert tab.evaluate("window.__drawn") >= 8
        assert tab.locator("[data-testid=stApp]").get_attribute("data-test-script-state") == "notRunning"
        assert tab.url == before
        expect(tab.locator(".rule .touch")).to_have_count(4)
        shoot(tab, f"rule-during-drag-{screen}-{scheme}")
    tab.wait_for_url("**share=**")
    at_rest(tab)
    expect(numbers).to_have_text(frames[-1])  # the engine's answer is what the browser had drawn


def test_the_diamond_turns_the_ellipse_and_two_corners_touch(visit):
    tab = visit("shape", waits_for=".rule svg")
    numbers = tab.locator(".rule .numbers")
    with dragged(tab, grip(tab, "turn"), -60, -40):
        expect(tab.locator(".rule .touch")).to_have_count(2)
        assert "directions=rotation" not in tab.url  # the browser alone so far
        during = numbers.inner_text()
        shoot(tab, "rule-turned")
    tab.wait_for_url("**directions=rotation**")
    at_rest(tab)
    axes = re.compile(r"first axis: ([\d.]+) × equal noise · along the second: ([\d.]+)")
    drawn, computed = (axes.search(text).groups() for text in (during, numbers.inner_text()))
    assert [float(value) for value in computed] == pytest.approx([float(value) for value in drawn], rel=1e-3)


@pytest.mark.parametrize("page", ["home", "shape?data=liver", "shape?directions=rotation&angle=60"])
def test_on_a_phone_no_label_lies_under_a_handle_or_another_label(visit, page):
    tab = visit(page.removeprefix("home"), waits_for=".rule svg")
    tab.set_viewport_size({"width": 390, "height": 844})
    at_rest(tab)
    boxes = [{**box, "y": box["y"] + 5, "height": box["height"] - 10}  # letters fill the middle of their box
             for box in map(box_of, tab.locator(".rule .label").all())]
    for name in ("pull0", "pull1"):
        box = box_of(tab.locator(f".rule .handle[data-name={name}]"))
        boxes.append({"x": box["x"] + 9, "y": box["y"] + 9, "width": 18, "height": 18})
    for i, one in enumerate(boxes[:2]):
        for other in boxes[i + 1:]:
            apart = (one["x"] + one["width"] < other["x"] or other["x"] + other["width"] < one["x"]
                     or one["y"] + one["height"] < other["y"] + 1 or other["y"] + other["height"] < one["y"] + 1)
            assert apart, (one, other)


@pytest.mark.parametrize(("widths", "shares"), [(-0.8, ("99.0 %", "1.0 %")), (20, ("1.0 %", "99.0 %"))])
def test_a_handle_pulled_to_its_limit_shows_what_is_taken(visit, widths, shares):
    tab = visit("shape", waits_for=".rule svg")
    labels, frame = tab.locator(".rule .label"), box_of(tab.locator(".rule svg"))
    with dragged(tab, grip(tab, "pull0"), widths * frame["width"], 0, steps=4):
        for k, share in enumerate(shares):
            expect(labels.nth(k)).to_contain_text(share)
        during = labels.all_inner_texts()
    tab.wait_for_url("**share=0.99**")
    at_rest(tab)
    assert labels.all_inner_texts() == during


@pytest.mark.parametrize("screen", ["wide", pytest.param("phone", marks=pytest.mark.look)])
def test_every_handle_is_moved_by_keys_and_says_its_value(visit, screen):
    tab = visit("shape", screen=screen, waits_for=".rule svg")
    share = tab.get_by_role("slider", name="Share of the budget along sleep")
    expect(share).to_have_attribute("aria-valuenow", "80")
    expect(share).to_have_attribute("aria-valuetext", re.compile("80.0 %: 0.79 times equal noise along sleep, 1.6 t"))
    share.press("ArrowUp")
    share.press("ArrowUp")
    expect(share).to_have_attribute("aria-valuenow", "82")
    tab.wait_for_url("**share=0.82**")
    at_rest(tab)
    expect(share).to_be_focused()
    line = tab.get_by_role("slider", name="Direction of your mixture")
    expect(line).to_have_attribute("aria-valuenow", "90")
    for _ in range(45):
        line.press("ArrowDown")
    expect(line).to_have_attribute("aria-valuenow", "45")
    expect(line).to_have_attribute("aria-valuetext", re.compile("at best 1 times"))
    expect(tab.get_by_text("equal noise is the best Gaussian noise here")).to_be_visible()
    turn = tab.get_by_role("slider", name="Angle of the ellipse")
    turn.press("ArrowRight")
    expect(turn).to_have_attribute("aria-valuenow", "1")
    tab.wait_for_url("**directions=rotation**")
    if screen == "wide":
        assert_accessible(tab)


def test_home_tells_sizes_in_the_data_s_own_units_and_epsilon_moves_within_a_frame(visit):
    """One pupil of 120 moves the average sleep by 12 h/120 and the average score by 100/120."""
    tab = visit(waits_for=".rule svg")
    at_rest(tab)
    alt = tab.locator(".rule svg").get_attribute("aria-label")
    assert re.search(r"what one record can change: ± 0\.1 h by ± 0\.833 points, inside the ellipse of 0\.237 "
                     r"typical errors, whose half axes are 0\.112 h and 1\.86 points", alt)
    assert tab.locator(".rule .plane .title").all_text_contents() == ["on sleep (h)", "on score (points)"]
    ticks = [float(text) for text in tab.locator(".rule .plane .tick").all_text_contents()]
    assert max(ticks) == 2
    assert 0.1 in ticks
    assert "0.472 h" in tab.locator(".rule .label").nth(0).text_content()
    assert_theorem_1_leaves_the_box_a_dot(tab)
    slider, numbers = tab.get_by_label("Privacy budget ε"), tab.locator(".rule .numbers")
    before = numbers.inner_text()
    slider.focus()
    numbers.evaluate("""numbers => new MutationObserver(() => { window.__first ??= location.href; }).observe(numbers,
        {childList: true, subtree: true, characterData: true})""")
    slider.press("ArrowRight")
    expect(numbers).not_to_have_text(before)
    assert "epsilon" not in tab.evaluate("window.__first")  # before the server knew of it
    slider.press("PageUp")
    tab.evaluate("() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    during = numbers.inner_text()
    tab.wait_for_url("**epsilon=**")
    at_rest(tab)
    expect(numbers).to_have_text(during)


def assert_theorem_1_leaves_the_box_a_dot(tab):
    button = tab.get_by_role("button", name="As Theorem 1 asks")
    wide = box_of(tab.locator(".rule .changes").last)["width"]
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(tab.locator(".rule .numbers")).to_contain_text(re.compile(r"Theorem 1 asks for \d+ times this noise"))
    expect(tab.locator(".rule .lost")).to_be_visible()
    eventually(tab, lambda: box_of(tab.locator(".rule .changes").last)["width"] < wide / 8)
    shoot(tab, "rule-theorem")
    button.click()
    expect(tab.locator(".rule .touch")).to_have_count(4)


def test_records_and_noise_are_dragged_as_one_shape(visit):
    tab = visit("shape?data=two_features&bound=even", waits_for=".rule .records ellipse")
    numbers = tab.locator(".rule .numbers")
    before = numbers.inner_text()
    with dragged(tab, grip(tab, "records1"), 0, -12, steps=4):
        expect(numbers).not_to_have_text(before)
        during = numbers.inner_text()
        shoot(tab, "rule-records-during-drag")
    tab.wait_for_url("**share=**")
    expect(numbers).to_have_text(during)  # noise and records, to the digits shown


def test_on_a_table_of_six_the_share_of_all_that_is_needed_is_pulled(visit):
    tab = visit("?data=liver&query=mean", waits_for=".rule svg")
    at_rest(tab)
    expect(grip(tab, "pull0")).to_have_attribute("aria-valuenow", "80")
    grip(tab, "pull0").press("ArrowDown")
    tab.wait_for_url("**share=0.79**")
    assert "allocation" not in tab.url


def test_box_noise_moves_as_the_engine_s_and_its_outline_goes_through_the_corners_of_the_grey_box(formulas):
    """One needed against three others: the density at the outline by the definition of the noise, from the blocks."""
    def design(share, epsilon=1.0):
        return design_of(mean, (share, *[(1 - share) / 3] * 3), family="box", epsilon=epsilon)

    model = sent_of(design(0.4), groups=(1, 3))
    moves = [(0.4, 1.0), (0.7, 1.0), (0.15, 3.0)]
    found = formulas("""return given[1].map(([share, epsilon]) => {
        const [model] = given, theta = f.thetaOf(model, share);
        return [f.deviations(model, theta, 0, epsilon), f.pureCorners(model, theta)];
    });""", [model, moves])
    for (share, epsilon), (std, corners) in zip(moves, found, strict=True):
        after = design(share, epsilon)
        assert std == pytest.approx(np.sqrt(after.row_variances[:2]).tolist(), rel=1e-9)
        reach = model["changes"]["box"]
        assert reach == pytest.approx((DATA.widths[:2] / DATA.n_records).tolist())
        for x, y in (*corners, reach):
            fall = sum(block.epsilon * max((abs(z) / r for k, z, r in zip((0, 1), (x, y), reach, strict=True)
                                            if k in block.rows), default=0.0) for block in after.blocks)
            assert fall == pytest.approx(epsilon)
    box = sent_of(design_of(mean, (0.25,) * 4, family="box"))
    assert formulas("return f.pureCorners(given, given.theta);", box)[0] == pytest.approx(box["changes"]["box"])


@pytest.mark.parametrize(("path", "free"), [
    ("shape?family=box", True), ("?family=ellipse", True), ("shape?family=laplace", True), ("?family=laplace", True),
    ("shape?family=box&allocation=uniform", False)])
def test_with_other_families_a_handle_moves_the_share_as_the_engine_says_or_is_not_there(visit, path, free):
    """A box of the priority columns and one of the others have one share between them."""
    tab = visit(f"{path}&data=liver&query=mean", waits_for=".rule svg")
    at_rest(tab)
    handle, numbers = grip(tab, "pull0"), tab.locator(".rule .numbers")
    if not free:
        expect(handle).to_be_hidden()
        assert path.startswith("?") or "Change the share in the sidebar" in tab.locator("body").inner_text()
        return
    handle.press("ArrowUp")
    handle.press("ArrowUp")
    during = numbers.inner_text()
    tab.wait_for_url(re.compile("share=|weights="))
    at_rest(tab)
    expect(numbers).to_have_text(during)
