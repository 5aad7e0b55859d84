"""Make the tutorial's notebook from its page: ``python tools/make_tutorial.py``.

Blocks of python become code cells, the text block after one is what it prints, and the rest is prose.
"""

import json
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "tutorial.md"
NOTEBOOK = PAGE.with_suffix(".ipynb")

_BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
_TO_ITSELF = re.compile(r"; the same page is a notebook, \[tutorial\.ipynb\]\(tutorial\.ipynb\)")


def notebook(page: str) -> str:
    """The notebook (JSON text, nbformat 4) of a page in Markdown."""
    cells: list[dict[str, Any]] = []

    def add(kind: str, text: str, **more: Any) -> None:
        if text.strip():
            cells.append({"cell_type": kind, "id": f"cell-{len(cells)}", "metadata": {},
                          "source": text.strip().splitlines(keepends=True), **more})

    end, page = 0, _TO_ITSELF.sub("", page)
    for block in _BLOCK.finditer(page):
        code, printed = block.groups()
        add("markdown", page[end:block.start()])
        output = {"name": "stdout", "output_type": "stream", "text": (printed or "").splitlines(keepends=True)}
        add("code", code, execution_count=None, outputs=[output] if printed else [])
        end = block.end()
    add("markdown", page[end:])
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {"cells": cells, "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
               "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    NOTEBOOK.write_text(notebook(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(NOTEBOOK)
