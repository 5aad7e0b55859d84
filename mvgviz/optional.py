"""Libraries that only some functions use, imported on demand."""

from importlib import import_module
from typing import Any

from mvgviz.errors import InputError


def optional(library: str) -> Any:
    """Return the library; raise `InputError` with how to install it."""
    try:
        return import_module(library)
    except ModuleNotFoundError as error:
        if error.name != library:
            raise
        raise InputError(f"this needs {library}, which is not installed: pip install {library}") from None


def plots() -> Any:
    """Return ``mvgviz.plot`` (needs plotly), for methods of rooms below the pictures."""
    optional("plotly")
    return import_module("mvgviz.plot")
