"""The gallery has every picture, and each can be drawn and says something."""

import pkgutil
from importlib import import_module

import pytest

import mvgviz.pictures
from tools import gallery


def every_picture():
    """All functions of the room that draw a picture, or a figure of the lesson, by where they live."""
    modules = [import_module(found.name) for found in pkgutil.iter_modules(
        mvgviz.pictures.__path__, "mvgviz.pictures.")]
    return {f"{module.__name__}.{name}" for module in modules for name, thing in vars(module).items()
            if getattr(thing, "__module__", "") == module.__name__
            and (name.endswith("_picture") or (name.startswith("plot_") and module.__name__.endswith(".lesson")))}


def called(draw):
    return f"{draw.__module__}.{draw.__name__}"


def test_the_gallery_knows_every_picture():
    known = [thing for name, thing in vars(gallery).items() if name.startswith("plot_") or name.endswith("_picture")]
    assert {called(draw) for draw in known} == every_picture()


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
