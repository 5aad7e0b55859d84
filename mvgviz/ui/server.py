"""What Streamlit's server would leave about: uploads on their way, sessions of pages that left."""

import gc

from starlette.formparsers import MultiPartParser
from streamlit import runtime

_NEVER = 2**40  # bytes


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
