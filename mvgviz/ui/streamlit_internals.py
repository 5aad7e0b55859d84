"""All that leans on how Streamlit and Starlette work inside: checked with Streamlit 1.67 and Starlette 1.10.

Each function has its reason and a test in tests/unit/test_streamlit_internals.py. What is not a name in Python: the
selectors of ``assets/*.css`` and ``*.js`` (``data-testid``, ``.st-key-…``), which tests/browser walks through.
"""

import contextlib
import gc
import socket
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import streamlit
from starlette.formparsers import MultiPartParser
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

_NEVER = 2**40  # bytes
_STATIC = Path(streamlit.__file__).with_name("static")
# Else the browser looks for the server below the page's own address first, and 0.1 s later where it is.
SERVER_IS_HERE = 'window.__streamlit = {BACKEND_BASE_URL: new URL(".", location).href}'


def page_routes(pages: Mapping[str, bool]) -> list[Route]:
    """Return routes that answer for ``pages`` with Streamlit's own HTML, told where the server is.

    Those that are True also load the script for charts, 4.7 MB, while they connect: else it is asked for when the first
    chart has arrived.
    """
    plain = f"<script>{SERVER_IS_HERE}</script>"
    charts = "".join(f'<script type="module" crossorigin src="./static/js/{file.name}"></script>'
                     for file in _STATIC.glob("static/js/PlotlyChart.*.js"))
    before, head, after = (_STATIC / "index.html").read_text(encoding="utf-8").partition("</head>")
    return [Route(f"/{name}", partial(_answer, f"{before}{plain}{charts if draws else ''}{head}{after}"))
            for name, draws in pages.items()]


async def _answer(text: str, request: Request) -> HTMLResponse:
    return HTMLResponse(text, headers={"Cache-Control": "no-cache"})


def keep_uploads_in_memory() -> None:
    """Write no upload to the disk: of more than 1 MB Starlette would make a temporary file."""
    MultiPartParser.spool_max_size = _NEVER


def send_at_once() -> None:
    """Send small messages without waiting for word that the last one arrived: up to 40 ms of every reply.

    asyncio sees to that for sockets that it opens itself; Streamlit opens its own. The option is inherited by every
    connection of a socket that listens.
    """
    for held in gc.get_objects():
        if type(held) is socket.socket and held.fileno() >= 0 and held.type == socket.SOCK_STREAM:
            with contextlib.suppress(OSError):  # not every system says which of them listen
                if held.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                    held.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def send_in_full() -> None:
    """Refer to no message that the browser had when it asked: a part that waited for its run finds it gone.

    The browser then stays at "running" until it is reloaded.
    """
    context = get_script_run_ctx()
    if context is not None:
        context.cached_message_hashes = frozenset()


def let_go() -> None:
    """Forget sessions whose pages left long ago: Streamlit itself does so only when another page leaves."""
    manager = _manager()
    if manager is None:
        return
    with manager._storage_lock:
        gone = manager._session_storage._cache.expire()
    if gone:
        gone.clear()
        gc.collect()


def visitors() -> int:
    """How many sessions are open now."""
    manager = _manager()
    return 0 if manager is None else len(manager.list_active_sessions())


def _manager() -> Any:
    """Return Streamlit's keeper of sessions; None in a page's test without a server."""
    return getattr(runtime.get_instance(), "_session_mgr", None) if runtime.exists() else None


def freeze_imports() -> None:
    """Take what is imported out of later collections of garbage; a visitor who is here would stay in memory with it."""
    if runtime.exists() and not visitors():
        gc.collect()
        gc.freeze()
