"""A real server is driven by nobody but pages of its own: foreign names and foreign pages are refused."""

import signal
import sys
import urllib.parse

import pytest

from tests.browser.conftest import free_port, served, started
from tests.browser.provider import log_in, provider, write_secrets
from tests.doors import STREAM, answer, assert_guarded


def port_of(address):
    return urllib.parse.urlsplit(address).port


def test_a_foreign_name_or_page_reaches_nothing(address):
    port = port_of(address)
    assert_guarded(port, own=f"localhost:{port}")


@pytest.mark.parametrize("name", ["127.0.0.1", "10.1.2.3", "[::1]", "[fe80::1]", "LOCALHOST", "app.localhost"])
def test_numbers_and_names_of_this_computer_pass(name, address):
    port = port_of(address)
    for path, passes in (("/", 200), (STREAM, 101)):
        assert answer(port, path, host=f"{name}:{port}", origin=f"http://{name}:{port}")[0] == passes


def test_nobody_can_put_the_app_into_a_frame(address):
    headers = answer(port_of(address), host="localhost")[1]
    assert headers.get_all("X-Frame-Options") == ["SAMEORIGIN"]
    assert headers.get_all("X-Content-Type-Options") == ["nosniff"]
    assert headers.get_all("Referrer-Policy") == ["same-origin"]


@pytest.mark.slow
def test_ctrl_c_ends_it_without_a_word(tmp_path):
    def heard():  # also where this run itself is in the background, where Ctrl-C is not heard
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    with (tmp_path / "said.txt").open("w") as said:
        server = started(port=free_port(), log=said, preexec_fn=heard)
        server.send_signal(signal.SIGINT)
        assert server.wait() == 0
    assert "Traceback" not in (tmp_path / "said.txt").read_text()


@pytest.mark.slow
def test_names_that_were_said_pass():
    command = (sys.executable, "-m", "mvgviz", "--allow-host", "class.example", "--allow-host", "other.example")
    with served(command, MVGVIZ_PUBLIC_URL="https://public.example/mvgviz") as address:
        for name in ("class.example", "other.example", "public.example"):
            assert_guarded(port_of(address), own=name)


@pytest.mark.slow
def test_a_host_that_runs_the_script_says_its_name_in_a_variable():
    port = free_port()
    server = started((sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true", "--server.port",
                      str(port), "--"), port=port, MVGVIZ_ALLOW_HOSTS="a.example, b.example")
    try:
        for name in ("a.example", "b.example"):
            assert_guarded(port, own=name)
    finally:
        server.terminate()
        server.wait()


@pytest.mark.slow
def test_a_deep_link_as_first_request_shows_nothing_before_the_login_and_its_page_after_it(browser, tmp_path):
    port = free_port()
    with provider() as known:
        write_secrets(known, f"http://localhost:{port}", tmp_path)
        with served((sys.executable, "-m", "mvgviz", "--login"), cwd=tmp_path, port=port) as address:
            tab = browser.new_page()
            log_in(tab, address)
            tab.close()
