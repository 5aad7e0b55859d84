"""What a command says on the side: stderr, so that stdout has the results alone."""

import sys
from pathlib import Path

from mvgviz.errors import InputError

BAD_INPUT, STOPPED = 2, 130
"""Exit codes."""


def say(text: str) -> None:
    """One line on stderr, at once."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def read_bytes(path: Path) -> bytes:
    """A small file, or a sentence."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
