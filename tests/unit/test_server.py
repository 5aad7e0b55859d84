"""The life of the app's server."""

import asyncio

import pytest
from starlette.datastructures import MutableHeaders
from starlette.requests import Request

from mvgviz.ui import server
from mvgviz.ui.door import _is_own, allowed_names, is_known
from mvgviz.ui.login import _keep_place


def test_a_server_that_is_no_longer_kept_tidy_says_so_and_lives(monkeypatch, caplog):
    swept = []

    def sweep():
        swept.append(1)
        raise ZeroDivisionError

    async def live():
        async with server.lifespan(None):
            while not swept:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.01)
        return "lived"

    monkeypatch.setattr(server, "_warm", lambda: None)
    monkeypatch.setattr(server, "_MINUTE", 0)
    monkeypatch.setattr(server, "let_go", sweep)
    assert asyncio.run(live()) == "lived"
    assert "no longer kept tidy" in caplog.text


@pytest.mark.parametrize(("host", "known"), [
    ("localhost", True), ("localhost.", True), ("127.0.0.1:8501", True), ("[::1]:8501", True), ("[::1", False),
    ("", False), ("::1", False), ("1.2.3", False), ("2130706433", False), ("a@localhost", False),
    ("evil.example", False), ("localhost@evil.example", False), ("localhost/.evil.example", False),
    ("told.example:1", True), ("TOLD.example.", True), ("not.told.example", False), ("public.example", True),
    ("[::1]evil.example", False), ("[::1].evil.example", False), ("evil.example[::1]", False),
    ("[::1%evil.example]", False), ("evil.example .localhost", False), ("evil.example\tx.localhost", False),
    ("evil.example;.localhost", False), ("localhost:evil.example", False), ("localhost:1:2", False),
    ("localhost..", False), (".localhost", False), ("a.localhost", True), ("127.0.0.1.", True), ("localhost:", True)])
def test_which_hosts_are_known(host, known, monkeypatch):
    monkeypatch.setenv("MVGVIZ_ALLOW_HOSTS", "told.example,other")
    monkeypatch.setenv("MVGVIZ_PUBLIC_URL", "https://public.example:8443/app")
    assert is_known(host) is known


@pytest.mark.parametrize("url", ["https://public.example:8443/app", "public.example", "HTTPS://PUBLIC.example./"])
def test_the_public_address_tells_its_name(url, monkeypatch):
    monkeypatch.setenv("MVGVIZ_PUBLIC_URL", url)
    assert allowed_names() == ["public.example"]


@pytest.mark.parametrize(("origin", "own"), [
    ("http://localhost:1", True), ("https://LOCALHOST:1", True), ("chrome-extension://localhost:1", False),
    ("localhost:1", False), ("null", False), ("http://localhost:2", False), ("http://localhost:1.evil.example", False),
    ("http://told.example:7", True), ("ftp://told.example", False), ("http://told.example@evil.example", False),
    ("http://evil.example/://localhost:1", False)])
def test_which_pages_are_its_own(origin, own, monkeypatch):
    monkeypatch.setenv("MVGVIZ_ALLOW_HOSTS", "told.example")
    assert _is_own(origin, "localhost:1") is own


@pytest.mark.parametrize(("left", "led_to"), [
    ("https://here/shape?data=liver&share=0.8", "/shape?data=liver&share=0.8"), ("https://here//evil.example", "/"),
    ("https://here/\\\\evil.example", "/"), ("https://here/%0d%0aX:1", "/%0d%0aX:1?"), ("", "/"), ("nonsense", "/")])
def test_after_the_login_one_is_led_to_pages_of_this_server_alone(left, led_to):
    def asked(path, **headers):
        return Request({"type": "http", "path": path, "server": ("here", 80), "scheme": "http", "query_string": b"",
                        "headers": [(name.encode(), value.encode()) for name, value in headers.items()]})

    out, back = MutableHeaders(), MutableHeaders({"location": "/"})
    _keep_place(asked("/auth/login", referer=left), out)
    _keep_place(asked("/oauth2callback", cookie=out["set-cookie"].split(";")[0]), back)
    assert back["location"] == led_to
