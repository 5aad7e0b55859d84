"""What Streamlit's server would leave about, or drop: uploads on their way, sessions of pages that left, pictures."""

import gc
import threading
import time

from starlette.formparsers import MultiPartParser
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

_NEVER = 2**40  # bytes
_GLANCE, _PATIENCE = 0.002, 1.0  # seconds


def keep_in_memory() -> None:
    """An upload on its way stays in memory: of more than 1 MB Starlette would make a temporary file."""
    MultiPartParser.spool_max_size = _NEVER


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


def wait_until_sent() -> None:
    """Wait, for a while, until what this page drew is on its way: where it runs again at once, Streamlit drops it."""
    context = get_script_run_ctx()
    manager = getattr(runtime.get_instance(), "_session_mgr", None) if runtime.exists() else None
    seen = manager.get_active_session_info(context.session_id) if manager and context else None
    loop = getattr(getattr(seen, "session", None), "_event_loop", None)
    queue = getattr(getattr(seen, "session", None), "_browser_queue", None)
    if loop is None or queue is None:  # nobody looks any more
        return
    end, drawn = time.monotonic() + _PATIENCE, threading.Event()
    loop.call_soon_threadsafe(drawn.set)  # in the order of calls: after all that was drawn
    drawn.wait(_PATIENCE)
    while len(queue) and time.monotonic() < end:
        time.sleep(_GLANCE)
