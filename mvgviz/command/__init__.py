"""The command ``mvgviz``: the app, a study without it, its slides, the paper's experiments, an audit, kept releases.

Print results to stdout and everything else to stderr. Exit codes: 0; 1 when an audit refutes a claim; 2 with one
sentence for an error; 130 after Ctrl-C, with the finished part printed.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from mvgviz.errors import InputError
from mvgviz.version import install_words

CAUGHT, BAD_INPUT, STOPPED = 1, 2, 130  # exit codes


def say(text: str) -> None:
    """Print one line to stderr at once."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def say_tenths(words: str) -> Callable[..., None]:
    """Return a function (done, total) that prints ``words`` after every tenth of the work."""
    said = 0

    def progress(done: float, total: float = 1) -> None:
        nonlocal said
        tenths = int(10 * done // max(total, 1))
        if tenths > said:
            said = tenths
            say(words.format(done, total))

    return progress


def needed(module: str, words: str, extra: str = "app") -> Any:
    """Return a module; raise `InputError` with how to install what it lacks."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise InputError(f"{words} {error.name}: {install_words(extra)}") from None


def read_bytes(path: Path) -> bytes:
    """Return a small file; raise `InputError` when it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def write_bytes(path: Path, content: str | bytes) -> None:
    """Write a file and its folder; raise `InputError` when that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
