"""Libraries that only some things need, imported when they are needed, or missed in one sentence."""

from importlib import import_module
from typing import Any

from mvgviz.errors import InputError


def optional(library: str) -> Any:
    """The library, or an InputError that says how to get it."""
    try:
        return import_module(library)
    except ModuleNotFoundError as error:
        if error.name != library:
            raise
        raise InputError(f"{library} is needed for this and is not installed: pip install {library}") from None


def plots() -> Any:
    """``mvgviz.plot``, for methods of rooms that stand before the pictures; needs plotly."""
    optional("plotly")
    return import_module("mvgviz.plot")
