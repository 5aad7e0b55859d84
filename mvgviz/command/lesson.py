"""``mvgviz lesson``: the lesson and its game as one HTML page that needs no server."""

import argparse

from mvgviz.command import say, write_bytes
from mvgviz.report.lesson import lesson_html


def lesson(chosen: argparse.Namespace) -> int:
    """Write the page."""
    write_bytes(chosen.out, lesson_html())
    say(f"lesson: {chosen.out}; open it in a browser or put it on any web space")
    return 0
