"""The life of the app's server."""

import asyncio

import pytest
from starlette.datastructures import MutableHeaders
from starlette.requests import Request

from mvgviz.ui import door, server
from mvgviz.ui.door import Door, _is_own, allowed_names, is_known
from mvgviz.ui.visitors import _keep_place
from tests.calls import awaited


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
    assert awaited(live()) == "lived"
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


@pytest.mark.parametrize(("url", "listens", "told", "others"), [
    ("http://localhost:8501/lesson", "localhost", {}, None), ("http://[::1]:8501/lesson", "::1", {}, None),
    ("http://a.localhost/lesson", "127.0.0.1", {}, None), ("http://127.0.0.1:8501/lesson", "", {}, None),
    ("http://192.168.1.5:8501/lesson", "192.168.1.5", {}, "http://192.168.1.5:8501/lesson"),
    ("https://class.example/mvgviz/lesson", "localhost", {}, "https://class.example/mvgviz/lesson"),
    ("http://localhost:8501/lesson", "0.0.0.0", {}, "http://10.1.2.3:8501/lesson"),
    ("http://[::1]:8501/lesson", "::", {}, "http://10.1.2.3:8501/lesson"),
    ("http://localhost/lesson", "class.example", {}, "http://class.example/lesson"),
    ("http://localhost:8501/lesson", "fe80::2", {}, "http://[fe80::2]:8501/lesson"),
    ("http://localhost:8501/lesson", "127.0.0.1", {"FRONT": "0.0.0.0"}, "http://10.1.2.3:8501/lesson"),
    ("http://localhost:8501/lesson", "127.0.0.1", {"FRONT": "localhost"}, None),
    ("http://localhost:8501/lesson", "localhost", {"PUBLIC_URL": "https://p.example:8/app/"},
     "https://p.example:8/app/lesson"),
    ("http://10.0.0.1:8501/app/lesson", "::", {"PUBLIC_URL": "p.example/app"}, "http://p.example/app/lesson")])
def test_the_address_for_others_is_one_that_they_can_open(url, listens, told, others, monkeypatch):
    for name in ("FRONT", "PUBLIC_URL"):
        monkeypatch.delenv(f"MVGVIZ_{name}", raising=False)
    for name, value in told.items():
        monkeypatch.setenv(f"MVGVIZ_{name}", value)
    monkeypatch.setattr(door, "_own_address", lambda: "10.1.2.3")
    assert door.for_others(url, listens) == others
    monkeypatch.setattr(door, "_own_address", lambda: "")  # in no network
    assert door.for_others(url, listens) == (None if "10.1.2.3" in (others or "") else others)


@pytest.mark.parametrize(("origin", "own"), [
    ("http://localhost:1", True), ("https://LOCALHOST:1", True), ("chrome-extension://localhost:1", False),
    ("localhost:1", False), ("null", False), ("http://localhost:2", False), ("http://localhost:1.evil.example", False),
    ("http://told.example:7", True), ("ftp://told.example", False), ("http://told.example@evil.example", False),
    ("http://evil.example/://localhost:1", False)])
def test_which_pages_are_its_own(origin, own, monkeypatch):
    monkeypatch.setenv("MVGVIZ_ALLOW_HOSTS", "told.example")
    assert _is_own(origin, "localhost:1") is own


@pytest.mark.parametrize(("value", "method", "answered"), [
    ("1", "PUT", 403), ("1", "POST", 403), ("1", "DELETE", 403), ("1", "GET", 200), ("1", "HEAD", 200),
    ("0", "PUT", 200), ("", "PUT", 200)])
def test_a_demo_takes_nothing_in(value, method, answered, monkeypatch):
    monkeypatch.setenv("MVGVIZ_DEMO", value)
    said = []

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message):
        said.append(message)

    scope = {"type": "http", "method": method, "headers": [(b"host", b"localhost")]}
    awaited(Door(app)(scope, None, send))
    assert said[0]["status"] == answered


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
