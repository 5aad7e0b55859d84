"""One session never sees another's data: marked tables, and every message that the server sends searched for them."""

import pytest

from mvgviz.ui.menu import BUDGET, RELEASE, SHAPE
from tests.browser.chromium import PICTURES, arrived, bring, go
from tests.browser.conftest import served


def mark(k):
    return f"mark{k:03d}zq"


class Visitor:
    """A browser of its own with a table of its own; ``heard``: all that the server told it."""

    def __init__(self, browser, address, k):
        self.k, self.heard, self.context = k, bytearray(), browser.new_context()
        self.tab = self.context.new_page()
        self.tab.on("websocket", lambda socket: socket.on("framereceived", self.hear))
        self.tab.goto(f"{address}/data")

    def hear(self, payload):
        self.heard += payload if isinstance(payload, bytes) else payload.encode()

    def bring(self):
        self.tab.wait_for_selector(PICTURES)
        rows = "".join(f"{self.k}{i % 9},{i % (5 + self.k)}\n" for i in range(60))
        bring(self.tab, f"{mark(self.k)},b\n{rows}", f"file-{mark(self.k)}.csv")


def assert_apart(browser, number, folder):
    """Sessions at once; ``folder``: where the server may put what it wants to put aside."""
    with served(TMPDIR=str(folder)) as address:
        visitors = [Visitor(browser, address, k) for k in range(number)]
        for one in visitors:
            one.bring()
        for one in visitors:
            one.tab.get_by_text("2 features × 60 records").wait_for()
        for page in (SHAPE, BUDGET, RELEASE):
            for one in visitors:  # all on their way before anybody is waited for
                go(one.tab, page)
            for one in visitors:
                arrived(one.tab, page)
        for one in visitors:
            assert mark(one.k).encode() in one.heard  # the search can find
            seen = [k for k in range(number) if k != one.k and mark(k).encode() in one.heard]
            assert seen == []
            one.context.close()
        assert left_in(folder) == []
    assert left_in(folder) == []


def left_in(folder):
    """Files with something of a table in them."""
    return [path.name for path in folder.rglob("*") if path.is_file() and b"mark0" in path.read_bytes()]


@pytest.mark.slow
def test_two_sessions_hear_nothing_of_each_other_and_no_file_is_left(browser, tmp_path):
    assert_apart(browser, 2, tmp_path)


@pytest.mark.soak
def test_thirty_sessions_hear_nothing_of_each_other(browser, tmp_path):
    assert_apart(browser, 30, tmp_path)
