"""The life of the server: warmed when it starts, swept every minute, quick to send, nothing written to the disk."""

import asyncio
import contextlib
import importlib
import logging
import os
import pkgutil
import webbrowser
from collections.abc import AsyncIterator
from pathlib import Path

import plotly.graph_objects as go
import streamlit as st

from mvgviz import ui
from mvgviz.data import sample
from mvgviz.scenario.scenario import Scenario
from mvgviz.ui.menu import HOME, PAGES, PRESENT
from mvgviz.ui.streamlit_internals import freeze_imports, keep_uploads_in_memory, let_go, page_routes, send_at_once

ENTRY = Path(__file__).with_name("entry.py")
ROUTES = page_routes({page.name: page.charts for page in (*PAGES, PRESENT) if page is not HOME})
BROWSER = "MVGVIZ_BROWSER"  # names the address to show when the server is there
_MINUTE = 60.0
_LOG = logging.getLogger(__name__)


@contextlib.asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[None]:
    """Prepare the server and keep it tidy until it ends."""
    import pandas  # noqa: F401  # now: a chart that is drawn while another thread imports it meets half of it

    keep_uploads_in_memory()
    send_at_once()
    task = asyncio.create_task(_keep_tidy())
    task.add_done_callback(_tell_failure)
    yield
    task.cancel()


async def _keep_tidy() -> None:
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
    go.Figure(go.Scatter(x=[0], y=[0])).to_json()
    sample(Scenario().data)
    for module in pkgutil.walk_packages(ui.__path__, f"{ui.__name__}."):
        importlib.import_module(module.name)
