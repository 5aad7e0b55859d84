"""The life of the server: warmed when it starts, swept every minute, quick to send, nothing written to the disk."""

import asyncio
import contextlib
import gc
import importlib
import logging
import os
import pkgutil
import socket
import webbrowser
from collections.abc import AsyncIterator
from pathlib import Path

import plotly.graph_objects as go
import streamlit as st
from starlette.formparsers import MultiPartParser
from streamlit import runtime

from mvgviz import ui
from mvgviz.data import sample
from mvgviz.scenario.scenario import Scenario

ENTRY = Path(__file__).with_name("entry.py")
BROWSER = "MVGVIZ_BROWSER"
"""The variable that names the address to show when the server is there."""
_NEVER = 2**40  # bytes
_MINUTE = 60.0
_LOG = logging.getLogger(__name__)


@contextlib.asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[None]:
    """Prepare the server and keep it tidy until it ends."""
    import pandas  # noqa: F401  # now: a chart that is drawn while another thread imports it meets half of it

    # An upload on its way stays in memory: of more than 1 MB Starlette would make a temporary file.
    MultiPartParser.spool_max_size = _NEVER
    _send_at_once()
    task = asyncio.create_task(_keep_tidy())
    task.add_done_callback(_tell_failure)
    yield
    task.cancel()


async def _keep_tidy() -> None:
    """Warm the server, then drop every minute the tables of visitors who left, even where nobody else comes."""
    if url := os.environ.get(BROWSER):
        await asyncio.to_thread(webbrowser.open, url)  # Streamlit does so for plain scripts only
    await asyncio.to_thread(_warm)
    freeze_imports()
    while True:
        await asyncio.sleep(_MINUTE)
        let_go()


def _tell_failure(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        _LOG.error("the server is no longer kept tidy", exc_info=error)


def _warm() -> None:
    """Import what the pages need, and draw and read once, before the first visitor waits for it."""
    go.Figure(go.Scatter(x=[0], y=[0])).to_json()
    sample(Scenario().data)
    for module in pkgutil.walk_packages(ui.__path__, f"{ui.__name__}."):
        importlib.import_module(module.name)


def _send_at_once() -> None:
    """Send small messages without waiting for word that the last one arrived: up to 40 ms of every reply.

    asyncio sees to that for sockets that it opens itself; Streamlit opens its own. The option is inherited by every
    connection of a socket that listens.
    """
    for held in gc.get_objects():
        if type(held) is socket.socket and held.fileno() >= 0 and held.type == socket.SOCK_STREAM and (
                held.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)):
            held.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def let_go() -> None:
    """Forget sessions whose pages left long ago: Streamlit itself does so only when another page leaves."""
    manager = getattr(runtime.get_instance(), "_session_mgr", None) if runtime.exists() else None
    left = getattr(getattr(manager, "_session_storage", None), "_cache", None)
    lock = getattr(manager, "_storage_lock", None)
    if left is None or lock is None:
        return
    with lock:
        gone = left.expire()
    if gone:
        gone.clear()
        gc.collect()


def freeze_imports() -> None:
    """Take what is imported out of later collections of garbage; a visitor who is here would stay in memory with it."""
    if runtime.exists() and not runtime.get_instance()._session_mgr.list_active_sessions():
        gc.collect()
        gc.freeze()
