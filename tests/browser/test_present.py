"""The presenter's view on a projector."""

import pytest

from tests.browser.chromium import at_rest, box_of

OUTSIDE = """() => {
  const chart = document.querySelector('.js-plotly-plot').getBoundingClientRect();
  return [...document.querySelectorAll('.js-plotly-plot .annotation-text')].filter(label => {
    const box = label.getBoundingClientRect();
    return box.top < chart.top || box.left < chart.left || box.right > chart.right;
  }).map(label => label.textContent);
}"""


@pytest.mark.look
@pytest.mark.parametrize(("width", "height"), [(1920, 1080), (1280, 720)])
def test_every_slide_fills_the_screen_and_shows_all_its_labels(visit, width, height):
    tab = visit("present?data=liver&trials=20")
    tab.set_viewport_size({"width": width, "height": height})
    for number in range(1, 7):
        tab.get_by_text(f"{number} of 6", exact=True).wait_for()
        at_rest(tab)
        tab.wait_for_timeout(800)
        ways = box_of(tab.get_by_role("button", name="Leave"))
        assert height - 60 < ways["y"] + ways["height"] <= height
        assert box_of(tab.locator(".js-plotly-plot .main-svg").first)["height"] > 0.6 * height
        assert tab.evaluate(OUTSIDE) == []
        if number == 1:
            outlines = tab.locator(".js-plotly-plot .scatterlayer .lines path").all()
            assert max(box_of(outline)["height"] for outline in outlines) > 0.4 * height
        if number < 6:
            tab.keyboard.press("ArrowRight")
    assert tab.locator(".js-plotly-plot .annotation-text").count() == 4
