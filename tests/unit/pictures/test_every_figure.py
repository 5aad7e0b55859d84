"""The gallery has every picture, and each can be drawn and says something."""

import pkgutil
import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import mvgviz.pictures
from mvgviz.pictures.theme import PRIMARY
from tools import gallery

ROOT = Path(mvgviz.pictures.__file__).parents[2]


def every_picture():
    """All functions of the room that draw a picture, or a figure of the lesson, by where they live."""
    modules = [import_module(found.name) for found in pkgutil.iter_modules(
        mvgviz.pictures.__path__, "mvgviz.pictures.")]
    return {f"{module.__name__}.{name}" for module in modules for name, thing in vars(module).items()
            if getattr(thing, "__module__", "") == module.__name__
            and (name.endswith("_picture") or (name.startswith("plot_") and module.__name__.endswith(".lesson")))}


def called(draw):
    return f"{draw.__module__}.{draw.__name__}"


@pytest.mark.slow
def test_every_picture_is_drawn_once_with_something_on_it_and_says_something():
    drawn = gallery.drawings()
    assert sorted(called(draw) for draw, _ in drawn) == sorted(every_picture())
    for draw, picture in drawn:
        assert picture.figure.data, called(draw)
        assert picture.text_alternative, called(draw)
        assert draw.__doc__.splitlines()[0].strip(), called(draw)
    page = gallery.page(drawn)
    assert all(f'id="drawn-{draw.__name__}"' in page for draw, _ in drawn)
    assert "http" not in page


def test_colours_stand_in_the_theme_alone():
    kinds = {".py", ".css", ".js", ".html"}
    files = [path for room in ("mvgviz", "pages") for path in (ROOT / room).rglob("*") if path.suffix in kinds]
    coloured = [path.name for path in files if re.search(r"(?<!&)#(?:[0-9a-fA-F]{3}){1,2}\b", path.read_text("utf-8"))]
    assert coloured == ["theme.py"]
    configured = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert configured["theme"]["light"]["primaryColor"] == PRIMARY  # which Streamlit reads before any of this
