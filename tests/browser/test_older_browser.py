"""A browser two versions old, as far as one browser can play another: what the last two years brought is taken away.

That shows that neither our scripts nor Streamlit's need it; it shows nothing of an older engine's own faults, nor of
styles. A real older Chromium takes part when it stands first on the PATH: ``PATH=/older:$PATH pytest tests/browser``.
"""

import pytest

from tests.browser.chromium import at_rest, fetched

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


@pytest.fixture
def older(tab):
    tab.add_init_script(NEWER)
    return tab


@pytest.mark.look
def test_no_page_needs_what_the_last_two_years_brought(older, address):
    errors = []
    older.on("pageerror", lambda error: errors.append(str(error)))
    for path, picture in (("", ".rule svg"), ("shape", ".rule svg"), ("budget", ".frontier svg"),
                          ("privacy", ".js-plotly-plot .main-svg")):
        older.goto(f"{address}/{path}")
        older.wait_for_selector(picture)
        at_rest(older)
    assert older.evaluate("'union' in Set.prototype || 'try' in Promise") is False
    assert fetched(older, older.get_by_role("button", name="Save this chart as SVG").first)[1].endswith(".svg")
    assert errors == []
