"""Every page and every tab on a phone and on a projector, light and dark; and every control by keyboard."""

import pytest

from mvgviz.ui.menu import LESSON, PAGES, SHAPE
from tests.browser.chromium import arrived, at_rest, go, serious_findings, shoot

SMALLEST = 11
_CHECKED = {"light": "phone", "dark": "projector"}
"""Where axe looks at each theme."""
_TEXTS_BELOW = """(least) => {
    const found = [];
    const look = (root) => {
        for (const one of root.querySelectorAll("*")) {
            if (one.shadowRoot) look(one.shadowRoot);
            const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
            if (!own || !one.checkVisibility?.() || one.closest(".katex, sub, sup, tspan[dy], "
                + "[data-testid=stIconMaterial], canvas, style, script, [aria-hidden=true]")) continue;
            const place = one.getScreenCTM?.();
            const scale = place ? Math.hypot(place.a, place.b) : 1;
            const size = parseFloat(getComputedStyle(one).fontSize) * scale;
            if (size < least - 0.05 && one.getBoundingClientRect().width > 0)
                found.push(`${size.toFixed(1)} px: ${one.textContent.trim().slice(0, 60)}`);
        }
    };
    look(document.querySelector("[data-testid=stMain]"));
    return found;
}"""
_FOCUSED = """() => {
    let one = document.activeElement;
    while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement;
    window.walked.add(one);
    return window.walked.size > 20 && one === document.body;
}"""
_UNREACHED = """() => {
    const missed = [];
    const look = (root) => {
        for (const one of root.querySelectorAll("*")) {
            if (one.shadowRoot) look(one.shadowRoot);
            if (!one.matches("button, a[href], input, select, textarea, summary, [role=slider], [role=tab]")) continue;
            if (one.disabled || one.tabIndex < 0 || !one.checkVisibility?.({visibilityProperty: true})) continue;
            if (one.matches("[type=radio], [role=radio], [type=file]")) continue;
            if (one.closest("[aria-hidden=true], .modebar")) continue;
            if (!window.walked.has(one)) missed.push(one.outerHTML.slice(0, 160));
        }
    };
    look(document.querySelector("[data-testid=stMain]"));
    return missed;
}"""


def to_page(tab, page):
    """By the menu, which is closed again where it covers the page."""
    at_rest(tab)
    narrow = tab.viewport_size["width"] < 700
    if narrow:
        tab.get_by_test_id("stExpandSidebarButton").click()
        tab.wait_for_selector("[data-testid=stSidebar][data-collapsed=false]")
    go(tab, page)
    arrived(tab, page)
    if narrow:
        tab.get_by_test_id("stSidebarCollapseButton").locator("button").click()
        tab.wait_for_function("document.querySelector('[data-testid=stSidebar]').getBoundingClientRect().right <= 0")


def views(tab, page):
    """Each tab of a page, opened in turn; for others the page once."""
    group = {SHAPE: ".st-key-shape_panel", LESSON: ".st-key-lesson_steps"}.get(page)
    places = tab.get_by_test_id("stMain").get_by_role("tab") if group is None else tab.locator(f"{group} [role=radio]")
    for k in range(max(places.count(), 1)):
        if places.count():
            places.nth(k).click(force=True)
            tab.wait_for_timeout(300)
            at_rest(tab)
        yield k


@pytest.mark.look
@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("screen", ["phone", "projector"])
def test_every_tab_is_sound_in_both_themes(visit, screen, half):
    tab = visit(screen=screen)
    found = []
    for page in PAGES[half::2]:
        to_page(tab, page)
        for k in views(tab, page):
            name = f"{page.label}-{k + 1}-{screen}"
            assert tab.get_by_role("heading", name=page.label, exact=True).is_visible(), name
            assert tab.locator("[data-testid=stException]").count() == 0, name
            if not tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth"):
                found.append((name, "wider than the screen"))
            for scheme in ("light", "dark"):
                tab.emulate_media(color_scheme=scheme)
                shoot(tab, f"{name}-{scheme}")
                if screen == _CHECKED[scheme]:  # names and roles are the same on both, colours in each theme
                    found += [(name, scheme, *finding) for finding in serious_findings(tab)]
            found += [(name, small) for small in tab.evaluate(_TEXTS_BELOW, SMALLEST)]
    assert not found, "\n".join(map(str, found))


@pytest.mark.look
@pytest.mark.parametrize("half", [0, 1])
def test_every_control_is_reached_by_tab_alone(visit, half):
    tab = visit()
    found = []
    for page in PAGES[half::2]:
        to_page(tab, page)
        tab.evaluate("() => { window.walked = new Set(); document.activeElement?.blur(); }")
        for _ in range(250):
            tab.keyboard.press("Tab")
            if tab.evaluate(_FOCUSED):
                break
        found += [(page.label, missed) for missed in tab.evaluate(_UNREACHED)]
    assert not found, "\n".join(map(str, found))
