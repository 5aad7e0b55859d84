"""What leans on Streamlit's inside still finds there what it looks for."""

import gc
import io
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
