"""Retired phrases stay out of everything that a person reads: screens, exports, docs."""

import ast
import re
from pathlib import Path

import pytest

import mvgviz

TOP = Path(mvgviz.__file__).parent.parent
RETIRED = (
    r"(?:what (?:is|was)|the|those|all that is) needed", r"needed (?:columns|directions|entries|features)",
    r"favoured", r"the rest(?! of)", r"stand-ins?", r"pull(?:s|ed|ing)? (?:records? )?(?:in|into)", r"record bounds?",
    r"answer without data", r"without privacy", r"own units", r"anew", r"(?:is|are|was|were) told",
    r"held against", r"of one's own", r"leaves? the house", r"whoever",
    r"as far as can be seen", r"least possible", r"nobody's (?:data|records)", r"the dropped ones", r"the claim stands",
    r"noise not looked at", r"each as likely", r"no structure")
FOUND = re.compile(rf"\b(?:{'|'.join(RETIRED)})\b", re.IGNORECASE)


def prose(path):
    """Yield line and text of all that a file says to a person: in Python the strings with a blank, no docstrings."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".js":
        source = re.sub(r"(^|\s)//.*|/\*.*?\*/", "", source)
    if path.suffix != ".py":
        yield from enumerate(source.splitlines(), start=1)
        return
    tree = ast.parse(source)
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in node.values}
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
            yield node.lineno, " ".join(text.split())
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            text = " ".join(node.value.split())
            if " " in text:
                yield node.lineno, text


def read_by_people():
    product = [TOP / "app.py", *(TOP / "pages").rglob("*.py"), *(
        path for path in (TOP / "mvgviz").rglob("*") if path.suffix in (".py", ".toml", ".js", ".html"))]
    return [*product, TOP / "README.md", *(TOP / "docs").glob("*.md")]


def test_no_retired_phrase_is_left():
    hits = [f"{path.relative_to(TOP)}:{line}: {text[max(found.start() - 40, 0):found.end() + 30]!r}"
            for path in read_by_people() for line, text in prose(path) for found in FOUND.finditer(text)]
    assert hits == []


@pytest.mark.parametrize(("name", "source", "found"), [
    ("a.py", '"""Held against."""\nx = f"Noise on what {\'is\'} is\\n needed: what is needed"\n', ["what is needed"]),
    ("a.py", 'def f():\n    """Anew."""\n    return {"favoured": "Favoured columns"}\n', ["Favoured"]),
    ("a.js", "// anew\nsay('Draw anew');\n", ["anew"]),
    ("a.md", "It needed a restart; pulled into it.\n", ["pulled into"])])
def test_phrases_are_found_in_strings_and_not_in_comments(tmp_path, name, source, found):
    path = tmp_path / name
    path.write_text(source, encoding="utf-8")
    assert [hit.group() for _, text in prose(path) for hit in FOUND.finditer(text)] == found
