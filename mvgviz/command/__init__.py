"""The command ``mvgviz``: the app, a study without it, the paper's experiments, an audit.

Results on stdout, everything else on stderr. Exit code 0; 1 where an audit refutes a claim; 2 where something has to be
mended, with one sentence; 130 when stopped with Ctrl-C, after what was finished is printed.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from mvgviz.errors import InputError

CAUGHT, BAD_INPUT, STOPPED = 1, 2, 130
"""Exit codes."""


def say(text: str) -> None:
    """One line on stderr, at once."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def say_tenths(words: str) -> Callable[..., None]:
    """A function of what is done, and of how much that is in all, which says these words at every tenth of the work."""
    said = 0

    def progress(done: float, total: float = 1) -> None:
        nonlocal said
        tenths = int(10 * done // max(total, 1))
        if tenths > said:
            said = tenths
            say(words.format(done, total))

    return progress


def read_bytes(path: Path) -> bytes:
    """A small file, or a sentence."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
