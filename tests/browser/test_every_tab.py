"""Every page on a phone and on a projector, light and dark, by keyboard, in few words, and in an older browser."""

import pytest

from mvgviz.ui.menu import HOME, LESSON, PAGES, SHAPE
from tests.browser.chromium import arrived, at_rest, eventually, fetched, go, serious_findings, shoot

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


NEWER = """
for (const [owner, names] of [
  [globalThis, ["Float16Array", "AsyncDisposableStack", "DisposableStack", "SuppressedError", "Temporal",
                "CookieStore", "cookieStore", "URLPattern", "Observable"]],
  [Promise, ["try"]], [RegExp, ["escape"]], [Error, ["isError"]], [Math, ["f16round", "sumPrecise"]],
  [Array, ["fromAsync"]], [JSON, ["rawJSON", "isRawJSON"]], [Iterator, ["concat", "zip", "zipKeyed"]],
  [Uint8Array, ["fromBase64", "fromHex"]], [Uint8Array.prototype, ["toBase64", "toHex", "setFromBase64"]],
  [Set.prototype, ["union", "intersection", "difference", "symmetricDifference", "isSubsetOf", "isSupersetOf",
                   "isDisjointFrom"]],
  [Map.prototype, ["getOrInsert", "getOrInsertComputed"]], [Element.prototype, ["moveBefore", "setHTML"]],
  [Document.prototype, ["startViewTransition", "caretPositionFromPoint"]]]) {
  for (const name of names) delete owner[name];
}
"""
"""What the last two years brought: without it, one browser plays an older one, as far as it can.

That shows that neither our scripts nor Streamlit's need it; it shows nothing of an older engine's own faults, nor of
styles. A real older Chromium takes part when it stands first on the PATH: ``PATH=/older:$PATH pytest tests/browser``.
"""


@pytest.mark.look
def test_no_page_needs_what_the_last_two_years_brought(tab, address):
    errors = []
    tab.add_init_script(NEWER)
    tab.on("pageerror", lambda error: errors.append(str(error)))
    for path, picture in (("", ".rule svg"), ("shape", ".rule svg"), ("budget", ".frontier svg"),
                          ("privacy", ".js-plotly-plot .main-svg")):
        tab.goto(f"{address}/{path}")
        tab.wait_for_selector(picture)
        at_rest(tab)
    assert tab.evaluate("'union' in Set.prototype || 'try' in Promise") is False
    assert fetched(tab, tab.get_by_role("button", name="Save this chart as SVG").first)[1].endswith(".svg")
    assert errors == []


MOST = 120
ASIDE = ("[data-testid=stSidebar], header, button, label, input, textarea, select, summary, svg, [role=tab], "
         "[role=slider], [role=radiogroup], [role=listbox], [data-baseweb], [data-testid=stWidgetLabel], "
         "[data-testid=stTickBar], [data-testid=stDataFrame], .js-plotly-plot, .sr-only")
WORDS_IN_VIEW = """aside => {
  const walker = document.createTreeWalker(document.querySelector("[data-testid=stMain]"), NodeFilter.SHOW_TEXT);
  const words = [];
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (parent.closest(aside) || !parent.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    const box = range.getBoundingClientRect();
    if (box.width > 1 && box.height > 1 && box.top < innerHeight && box.bottom > 0) {
      words.push(...walker.currentNode.textContent.split(/\\s+/).filter(word => /[\\p{L}\\p{N}]/u.test(word)));
    }
  }
  return words;
}"""


@pytest.mark.look
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_opens_with_few_words(page, visit):
    tab = visit("" if page is HOME else page.name, waits_for="[data-testid=stMain] :is(h1, h2, h3)")
    tab.set_viewport_size({"width": 1366, "height": 768})
    seen = []

    def is_settled():
        at_rest(tab)
        tab.wait_for_timeout(1_000)
        seen.append(tab.evaluate(WORDS_IN_VIEW, ASIDE))
        return len(seen) > 2 and seen[-1] == seen[-2] == seen[-3]

    eventually(tab, is_settled)
    words = seen[-1]
    print(f"{page.name}: {len(words)} words")
    assert len(words) <= MOST, " ".join(words)
