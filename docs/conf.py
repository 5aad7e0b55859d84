"""How the pages are built: ``make docs``, without a network."""

import re
import sys
from pathlib import Path
from typing import Any

from plotly.offline import get_plotlyjs

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from mvgviz.report.lesson import lesson_html  # noqa: E402 - of this checkout
from mvgviz.version import VERSION  # noqa: E402
from tools import gallery  # noqa: E402

project, release = "mvgviz", VERSION
extensions = ["sphinx.ext.autodoc", "myst_parser"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"mvgviz {VERSION}"
html_copy_source = html_show_sphinx = html_show_copyright = False
myst_heading_anchors = 3

autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
maximum_signature_line_length = 100
_ARRAYS = {r"~numpy\._typing\S*_Buffer .*?\[complex \| bytes \| str\]": "ArrayLike",
           r"~numpy\.ndarray\[tuple\[~typing\.Any, \.\.\.\], ~numpy\.dtype\[~numpy\.float64\]\]": "ndarray"}


def setup(app: Any) -> None:
    """The README is the front page, the gallery is drawn anew; arrays are called so in signatures."""
    app.connect("source-read", _front)
    app.connect("source-read", _gallery)
    app.connect("source-read", _link)
    app.connect("build-finished", _plotly)
    app.connect("build-finished", _lesson)
    app.connect("autodoc-process-signature", _short)


def _front(app: Any, page: str, source: list[str]) -> None:
    """What the README links to outside of these pages is named without a link."""
    if page == "index":
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        readme = re.sub(r"\[([^]]*)\]\((?!https?:|#|docs/)[^)]*\)", r"\1", readme)
        source[0] = readme.replace("](docs/", "](") + "\n" + source[0]


def _gallery(app: Any, page: str, source: list[str]) -> None:
    if page == "gallery":
        source[0] += "\n" + gallery.page(gallery.drawings())


def _plotly(app: Any, error: Exception | None) -> None:
    """The gallery's script, from the package and not from a network."""
    if error is None:
        (Path(app.outdir) / "_static" / "plotly.min.js").write_text(get_plotlyjs(), encoding="utf-8")


def _link(app: Any, page: str, source: list[str]) -> None:
    """The lesson without a server lies beside the pages, not among the sources."""
    if page == "try":
        source[0] += '\n<p><a href="lesson.html"><strong>Open the lesson and the game</strong></a></p>\n'


def _lesson(app: Any, error: Exception | None) -> None:
    if error is None:
        (Path(app.outdir) / "lesson.html").write_text(lesson_html(), encoding="utf-8")


def _short(app: Any, kind: str, name: str, thing: Any, options: Any, *texts: str | None) -> tuple[str | None, ...]:
    for written, called in _ARRAYS.items():
        texts = tuple(text and re.sub(written, called, text) for text in texts)
    return texts
