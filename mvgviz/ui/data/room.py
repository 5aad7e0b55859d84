"""Room for tables: what all sessions of the server have read together stays below a cap."""

import gc
import os
import weakref
from collections.abc import Callable

from mvgviz.data import Table
from mvgviz.errors import InputError
from mvgviz.ui.streamlit_internals import let_go

ENVIRONMENT, USUAL = "MVGVIZ_TABLES_MB", 2_000.0
_HELD: "weakref.WeakSet[Table]" = weakref.WeakSet()
"""Tables that some session still has: one that left takes its own along."""


def check_room(size: int, forget: Callable[[], object] = bool) -> None:
    """Refuse a file of so many bytes where the server has no room for it; ``forget`` lets go of one's own tables."""
    most = room()
    if held() + size <= most:
        return
    forget()
    let_go()
    gc.collect()  # what nobody has any more may not be gone yet
    if held() + size > most:
        raise InputError(f"this server has no room for a file of {size / 1e6:,.0f} MB now: the tables of all visitors "
                         f"together may take {most / 1e6:,.0f} MB; try again later, or open mvgviz on your computer")


def no_memory() -> InputError:
    """Where Python could not get the memory that it asked for."""
    return InputError("the server has too little memory for this file now: choose fewer records or columns, try again "
                      "later, or open mvgviz on a computer with more")


def keep_count(table: Table) -> Table:
    """The table, counted as long as it is there."""
    _HELD.add(table)
    return table


def held() -> int:
    """Bytes of all tables that are there."""
    return sum(table.values.nbytes for table in list(_HELD))


def room() -> float:
    """Bytes that all tables together may take, as whoever runs the server says in megabytes."""
    try:
        return 1e6 * float(os.environ.get(ENVIRONMENT, USUAL))
    except ValueError:
        return 1e6 * USUAL
