"""What leans on Streamlit's inside still finds there what it looks for."""

import base64
import gc
import hashlib
import io
import pathlib
import socket
import weakref
from types import SimpleNamespace

import pytest
from starlette.datastructures import Headers
from starlette.formparsers import MultiPartParser
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from streamlit.testing.v1 import AppTest

from mvgviz.ui import streamlit_internals as internals
from mvgviz.ui.menu import PAGES
from mvgviz.ui.server import ROUTES
from tests.calls import awaited


def test_what_listens_sends_at_once_and_hands_that_on(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.socket() as other:
        internals.send_at_once()
        assert not other.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        with socket.create_connection(listening.getsockname()), listening.accept()[0] as accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        monkeypatch.setattr(socket, "SO_ACCEPTCONN", 9_999)  # refused, as macOS refuses the real one
        internals.send_at_once()


def test_an_upload_is_never_a_file(monkeypatch):
    monkeypatch.setattr(MultiPartParser, "spool_max_size", 1)
    internals.keep_uploads_in_memory()

    async def sent():
        yield b'--x\r\nContent-Disposition: form-data; name="a"; filename="a.csv"\r\n\r\n'
        yield b"1" * 2_000_000 + b"\r\n--x--"

    headers = Headers({"content-type": "multipart/form-data; boundary=x"})
    form = awaited(MultiPartParser(headers, sent()).parse())
    with form["a"].file as file:
        assert isinstance(file._file, io.BytesIO)


def test_a_part_that_is_drawn_alone_refers_to_nothing_that_the_browser_may_have_dropped():
    def script():
        import streamlit as st
        from streamlit.runtime.scriptrunner import get_script_run_ctx

        from mvgviz.ui.streamlit_internals import send_in_full

        get_script_run_ctx().cached_message_hashes = frozenset({"kept"})
        send_in_full()
        st.text(len(get_script_run_ctx().cached_message_hashes))

    assert AppTest.from_function(script).run().text[0].value == "0"
    internals.send_in_full()  # outside of a run there is nothing to do


@pytest.fixture
def manager(monkeypatch):
    """Streamlit's own keeper of sessions, in a runtime that has nothing else; sessions that left are kept no time."""
    kept = WebsocketSessionManager(session_storage=MemorySessionStorage(ttl_seconds=0), uploaded_file_manager=None,
                                   script_cache=None, message_enqueued_callback=None)
    monkeypatch.setattr(internals.runtime, "exists", lambda: True)
    monkeypatch.setattr(internals.runtime, "get_instance", lambda: SimpleNamespace(_session_mgr=kept))
    return kept


def test_a_session_whose_page_left_is_forgotten(manager):
    class Session:
        id = "one"

    left = Session()
    seen = weakref.ref(left)
    manager._session_storage.save(SimpleNamespace(session=left))
    del left
    assert seen() is not None
    internals.let_go()
    assert seen() is None


def test_what_is_imported_is_frozen_only_while_nobody_is_here(manager, monkeypatch):
    frozen = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(1))
    internals.freeze_imports()
    assert frozen == [1]
    monkeypatch.setattr(manager, "list_active_sessions", lambda: ["somebody"])
    internals.freeze_imports()
    assert frozen == [1]
    assert internals.visitors() == 1


def html_of(route):
    """What a page's route answers."""
    answer = awaited(route.endpoint(None))
    assert answer.headers["cache-control"] == "no-cache"
    return answer.body.decode()


def test_every_page_but_home_is_told_where_the_server_is_before_streamlit_looks():
    assert {route.path for route in ROUTES} == {f"/{page.name}" for page in PAGES[1:]} | {"/present"}
    own = (internals._STATIC / "index.html").read_text()
    for route in ROUTES:
        before, told, after = html_of(route).partition(f"<script>{internals.SERVER_IS_HERE}</script>")
        assert told
        assert own.startswith(before)
        assert own.endswith(after[after.index("</head>"):])
    scripts = "".join(file.read_text() for file in internals._STATIC.glob("static/js/index.*.js"))
    assert "window.__streamlit" in scripts
    assert "BACKEND_BASE_URL" in scripts


def test_a_page_that_opens_with_a_chart_loads_its_script_at_once():
    (script,) = internals._STATIC.glob("static/js/PlotlyChart.*.js")
    tag = f'<script type="module" crossorigin src="./static/js/{script.name}"></script></head>'
    drawing, plain = internals.page_routes({"drawing": True, "plain": False})
    assert tag in html_of(drawing)
    assert script.name not in html_of(plain)


def test_a_streamlit_without_that_script_still_opens_the_page(tmp_path, monkeypatch):
    (tmp_path / "index.html").write_text("<head></head><body></body>")
    monkeypatch.setattr(internals, "_STATIC", tmp_path)
    (route,) = internals.page_routes({"drawing": True})
    assert html_of(route) == f"<head><script>{internals.SERVER_IS_HERE}</script></head><body></body>"


def test_the_front_lets_that_script_run():
    digest = base64.b64encode(hashlib.sha256(internals.SERVER_IS_HERE.encode()).digest()).decode()
    front = pathlib.Path(__file__).parents[2] / "deploy" / "nginx.conf"
    assert f"'sha256-{digest}'" in front.read_text(encoding="utf-8")
