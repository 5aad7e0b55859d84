"""The pages of the reference name everything that is public, once."""

import re
from pathlib import Path

import mvgviz
import mvgviz.plot

REFERENCE = Path(mvgviz.__file__).parents[1] / "docs" / "reference.md"


def listed():
    return re.findall(r"^\.\. auto\w+:: mvgviz\.(\S+)$", REFERENCE.read_text(encoding="utf-8"), re.MULTILINE)


def test_every_public_name_is_in_the_reference_once():
    pictures = [f"plot.{name}" for name in mvgviz.plot.__all__]
    assert sorted(listed()) == sorted([*mvgviz.__all__, *pictures])


def test_every_public_name_says_what_it_is():
    assert [name for name in mvgviz.__all__ if not getattr(mvgviz, name).__doc__] == []


def test_every_page_of_the_documentation_is_in_its_index():
    docs = REFERENCE.parent
    listed_pages = re.findall(r"^[\w-]+$", (docs / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed_pages) == sorted(page.stem for page in docs.glob("*.md") if page.stem != "index")
