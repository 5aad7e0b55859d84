"""How many words a person meets on the first screen of a page, menus, controls and pictures aside."""

import pytest

from mvgviz.ui.menu import HOME, PAGES
from tests.browser.chromium import at_rest, eventually

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
