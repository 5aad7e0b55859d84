"""Faults: a server killed, a tab closed, a line cut, a worker dead, memory short: a sentence, and a true ledger."""

import contextlib
import io
import os
import pathlib
import random
import re
import shutil
import socket
import sys
import threading
import time

import numpy as np
import psutil
import pytest
from playwright.sync_api import TimeoutError, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from mvgviz import Ledger
from mvgviz.ui.menu import DATA, RELEASE, UTILITY
from tests.browser import chromium
from tests.browser.chromium import PICTURES, at_rest, choose, go
from tests.browser.conftest import free_port, started

pytestmark = pytest.mark.faults
MARKS = (b"markzq", b"731955")
WIDE = 30  # columns, so that trials take long
TABLE = (f"markzq,{','.join(f'dose{k}' for k in range(1, WIDE))}\n" + "".join(
    f"{i % 50}.731955,{','.join(str((i * k) % 31) for k in range(1, WIDE))}\n" for i in range(400)))
WORDS = f"{WIDE} features × 400 records"
LINK = "data?data=upload-0123456789ab&trials=100000&epsilon=2"  # the next file that is chosen goes on from there


class Server:
    """The app with a ledger and a folder for temporary files of its own, which can be killed and comes back."""

    def __init__(self, folder, **environment):
        self.port, self.temporary, self.ledger = free_port(), folder / "tmp", folder / "ledger" / "ledger.sqlite"
        self.folder, self.address = folder, f"http://localhost:{self.port}"
        for place in (self.temporary, self.ledger.parent):
            place.mkdir()
        self.environment = environment | {"TMPDIR": str(self.temporary)}
        self.start()

    def start(self):
        with (self.folder / "log.txt").open("a") as log:  # searched for marks like every other file
            self.process = started(port=self.port, ledger=str(self.ledger), log=log, **self.environment)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def entries(self):
        return Ledger(self.ledger).entries

    def left(self):
        return files_with_marks(self.folder)


def files_with_marks(folder):
    """Files with something of the table in them."""
    return [path.name for path in folder.rglob("*") if path.is_file() and not path.is_symlink()
            and any(mark in path.read_bytes() for mark in MARKS)]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    one = Server(tmp_path_factory.mktemp("server"))
    yield one
    one.kill()


@pytest.fixture
def tab(browser):
    """With cookies of its own: they name a worker."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    yield page
    page.close()


def bring(tab, address):
    """A tab with the marked table."""
    tab.goto(f"{address}/{LINK}")
    tab.get_by_text("this file is not here").wait_for()
    choose(tab, TABLE)
    tab.get_by_text(WORDS).wait_for()


def turn_to(tab, page):
    """A click while the line comes back may be lost."""
    title = tab.get_by_role("heading", name=page.label, exact=True)
    for _ in range(4):
        go(tab, page)
        try:
            return title.wait_for(timeout=8_000)
        except TimeoutError:
            continue
    return title.wait_for()


def at_work(tab):
    turn_to(tab, UTILITY)
    tab.get_by_role("button", name="Stop").wait_for()


def says_away(tab):
    expect(tab.get_by_role("alert").filter(has_text="The server does not answer")).to_be_visible()
    assert "Streamlit" not in tab.get_by_role("dialog").inner_text()


def goes_on_with_the_study(tab):
    """Without a click: what happened is said, no other data stands there, and the study can be opened."""
    expect(tab.get_by_text("This tab still has the study")).to_be_visible()
    assert tab.locator(PICTURES).count() == 0
    tab.get_by_role("button", name="Open the study of").click()
    tab.get_by_text("The study is about mine.csv").wait_for()


def test_a_tab_that_is_closed_during_trials_ends_its_work(server, tab):
    bring(tab, server.address)
    at_work(tab)
    process = psutil.Process(server.process.pid)
    busy = seconds_of_work(process)
    tab.close()
    # On a busy machine the slice that had begun takes long.
    assert any(seconds_of_work(process) <= busy / 8 for _ in range(90))


def seconds_of_work(process, during=2.0):
    before = sum(process.cpu_times()[:2])
    time.sleep(during)
    return sum(process.cpu_times()[:2]) - before


class Line:
    """A line to the server that can be cut and mended, or made slow: ``most`` bytes a second to the browser."""

    def __init__(self, port):
        self.to, self.ends, self.whole, self.listening = port, [], True, socket.create_server(("127.0.0.1", 0))
        self.most = None
        self.port, self.threads = self.listening.getsockname()[1], []
        self.run(self.serve)

    def run(self, work, *given):
        self.threads.append(threading.Thread(target=work, args=given, daemon=True))
        self.threads[-1].start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listening.accept()
                if not self.whole:
                    near.close()
                    continue
                far = socket.create_connection(("localhost", self.to))
                self.ends += [near, far]
                self.run(self.carry, near, far)
                self.run(self.carry, far, near, True)

    def carry(self, one, other, back=False):
        with contextlib.suppress(OSError), one:
            while content := one.recv(4_096):
                if back and self.most:
                    time.sleep(len(content) / self.most)
                other.sendall(content)
        hang_up(other)

    def cut(self):
        self.whole = False
        for end in self.ends:
            hang_up(end)
        self.ends.clear()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.cut()
        hang_up(self.listening)
        self.listening.close()
        for thread in self.threads:
            thread.join()


def hang_up(end):
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)


def test_a_line_that_is_cut_and_mended_leaves_the_page_where_it_was(server, tab):
    with Line(server.port) as line:
        bring(tab, f"http://localhost:{line.port}")
        at_work(tab)
        before = tab.url
        line.cut()
        says_away(tab)
        line.whole = True
        expect(tab.get_by_role("dialog")).to_have_count(0)
        expect(tab.get_by_role("button", name="Stop")).to_be_visible()  # the trials go on
        tab.get_by_role("button", name="Stop").click()
        at_rest(tab)
        assert tab.url == before
        assert tab.get_by_text("The server restarted").count() == tab.get_by_text("This tab still has").count() == 0
        turn_to(tab, DATA)
        tab.get_by_text(WORDS).wait_for()
        assert tab.locator(".st-key-w_epsilon [data-testid=stSliderThumbValue]").inner_text() == "2"
        tab.close()


def test_on_a_slow_line_no_more_is_sent_than_arrives_and_stop_is_answered(server, tab):
    pictures = []
    tab.on("websocket", lambda socket: socket.on("framereceived", lambda raw: pictures.extend(
        [raw] * ForwardMsg.FromString(raw).delta.new_element.HasField("plotly_chart"))))
    with Line(server.port) as line:
        tab.goto(f"http://localhost:{line.port}/compare?data=liver&trials=100000")
        tab.get_by_role("button", name="Stop").wait_for()
        line.most = 25_000
        tab.wait_for_timeout(10_000)
        before = len(pictures)
        tab.get_by_role("button", name="Stop").click()
        tab.get_by_role("button", name="Go on").wait_for()
        assert len(pictures) - before <= 2  # what was on its way, and the last one
        line.most = None


def test_a_server_killed_during_trials_or_an_upload_is_told_and_leaves_no_file(server, tab):
    bring(tab, server.address)
    at_work(tab)
    server.kill()
    says_away(tab)
    assert server.left() == []
    server.start()
    goes_on_with_the_study(tab)
    tab.get_by_role("link", name="To Data & query").click()
    tab.get_by_text("A table: CSV").wait_for()
    slow = tab.context.new_cdp_session(tab)
    slow.send("Network.emulateNetworkConditions", {"offline": False, "latency": 0, "downloadThroughput": -1,
                                                   "uploadThroughput": 4e6})
    choose(tab, TABLE * 200)  # 5 MB
    asked = time.monotonic() + 1.2
    while time.monotonic() < asked:
        assert open_files_in(server.temporary, server.process.pid) == []
        time.sleep(0.01)
    server.kill()
    assert server.left() == []
    server.start()


def open_files_in(folder, pid):
    """Also those without a name."""
    found = []
    for number in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            found.append(os.readlink(number))
    return [path for path in found if path.startswith(str(folder))]


def ready_to_release(tab, address):
    tab.goto(f"{address}/release?data=liver")
    field = tab.locator(".st-key-population_liver input")
    field.fill("patients of 2024")
    field.press("Enter")
    tab.get_by_text("I understand that this spends").click()
    expect(tab.locator(".st-key-release_go button")).to_be_enabled()


def numbers_seen(tab):
    return tab.locator(".st-key-release_answer").count() > 0


def test_a_server_killed_at_a_release_leaves_no_numbers_without_an_entry(server, tab):
    chance = random.Random()  # another moment in each run
    for delay in (chance.uniform(0, 0.05), chance.uniform(0.05, 0.4), None):
        before = len(server.entries())
        ready_to_release(tab, server.address)
        tab.locator(".st-key-release_go button").click()
        if delay is None:
            tab.locator(".st-key-release_answer").wait_for()
        else:
            time.sleep(delay)
        server.kill()
        tab.wait_for_timeout(300)  # for what is on its way
        seen, made = numbers_seen(tab), server.entries()
        assert len(made) - before in ((1,) if seen else (0, 1))
        assert not seen or made[-1].is_finished
        server.start()
        assert server.entries() == made
    expect(tab.get_by_role("dialog")).to_have_count(0)
    tab.wait_for_timeout(500)
    assert numbers_seen(tab)  # paid for: the page does not take them away by itself
    turn_to(tab, UTILITY)
    expect(tab.get_by_text(re.compile("did not save are gone and stay spent: the ledger counts them"))).to_be_visible()
    turn_to(tab, RELEASE)
    expect(tab.get_by_role("button", name="All right")).to_be_visible()
    tab.get_by_role("button", name="All right").click()
    expect(tab.get_by_text("The server restarted")).to_have_count(0)


def test_a_tab_closed_at_a_release_leaves_the_ledger_true(server, tab):
    before = server.entries()
    ready_to_release(tab, server.address)
    tab.locator(".st-key-release_go button").click()
    tab.close()
    for _ in range(600):
        time.sleep(0.3)
        new = server.entries()[len(before):]
        if all(entry.is_finished for entry in new):
            break
    assert len(new) in (0, 1)
    assert all(entry.is_finished for entry in new)


@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")
def test_a_worker_that_dies_is_told_and_another_takes_over(tab, tmp_path):
    port = free_port()
    with (tmp_path / "log.txt").open("a") as log:
        front = started((sys.executable, "-m", "mvgviz", "serve", "--workers", "2"), port=port, log=log,
                        TMPDIR=str(tmp_path))
    try:
        bring(tab, f"http://localhost:{port}")
        at_work(tab)
        number = next(one["value"] for one in tab.context.cookies() if one["name"] == "mvgviz_worker")
        known = next(tmp_path.rglob("nginx.conf")).read_text()
        own = re.search(rf"\b{number} 127\.0\.0\.1:(\d+);", known)[1]
        next(child for child in psutil.Process(front.pid).children() if own in child.cmdline()).kill()
        goes_on_with_the_study(tab)
        tab.get_by_role("link", name="To Data & query").click()
        choose(tab, TABLE)
        tab.get_by_text(WORDS).wait_for()
        assert files_with_marks(tmp_path) == []
    finally:
        front.terminate()
        front.wait()


def of_bytes(rows, columns):
    """A compressed table of small numbers, each of which takes eight bytes when it is read."""
    kept = io.BytesIO()
    np.savez_compressed(kept, a=np.arange(rows * columns, dtype=np.int64).reshape(rows, columns).astype(np.int8) % 50)
    return kept.getvalue()


def test_memory_that_is_short_is_told_and_costs_nobody_anything(browser, tmp_path):
    server = Server(tmp_path, MVGVIZ_TABLES_MB="20", STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL="2")
    first, second = (browser.new_page() for _ in range(2))
    try:
        first.goto(f"{server.address}/data")
        second.goto(f"{server.address}/data")
        chromium.bring(first, of_bytes(250_000, 6), "twelve.npz")
        first.get_by_text("6 features × 250,000 records").wait_for()
        chromium.bring(second, TABLE)
        second.get_by_text(WORDS).wait_for()

        choose(second, of_bytes(250_001, 6), "more.npz")  # small as a file
        second.get_by_text("no room for a file of 12 MB").wait_for()
        second.get_by_text("Nothing was lost").wait_for()
        assert second.get_by_text(WORDS).count() == 1
        assert first.get_by_text("6 features × 250,000 records").count() == 1

        first.close()  # the table goes with the tab, though nobody else came or left
        for rows in range(250_002, 250_022):  # when the server has noticed
            choose(second, of_bytes(rows, 6), "again.npz")
            second.wait_for_timeout(3_000)
            if second.get_by_text(f"6 features × {rows:,} records").count():
                break
        second.get_by_text(f"6 features × {rows:,} records").wait_for()

        process = psutil.Process(server.process.pid)
        most = process.memory_info().vms + 40 * 2**20
        process.rlimit(psutil.RLIMIT_AS, (most, most))
        choose(second, of_bytes(1_500_000, 6), "large.npz")  # 9 MB, then 72
        second.get_by_text("too little memory").wait_for()
        second.get_by_text("Nothing was lost").wait_for()
        assert second.get_by_text(f"6 features × {rows:,} records").count() == 1
        assert server.process.poll() is None
    finally:
        second.close()
        server.kill()
