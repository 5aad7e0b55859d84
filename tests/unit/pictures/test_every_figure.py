"""The gallery has every picture, and each can be drawn."""

import pkgutil
from importlib import import_module

import pytest

import mvgviz.pictures
from tools import gallery


def every_plot():
    """All functions ``plot_…`` of the room, by where they live."""
    modules = [import_module(found.name) for found in pkgutil.iter_modules(
        mvgviz.pictures.__path__, "mvgviz.pictures.")]
    return {f"{module.__name__}.{name}" for module in modules for name, thing in vars(module).items()
            if name.startswith("plot_") and thing.__module__ == module.__name__}


def called(plot):
    return f"{plot.__module__}.{plot.__name__}"


def test_the_gallery_knows_every_plot():
    known = [thing for name, thing in vars(gallery).items() if name.startswith("plot_")]
    assert {called(plot) for plot in known} == every_plot()


@pytest.mark.slow
def test_every_plot_is_drawn_once_with_something_on_it_and_a_sentence_about_it():
    drawn = gallery.drawings()
    assert sorted(called(plot) for plot, _ in drawn) == sorted(every_plot())
    for plot, figure in drawn:
        assert figure.data, called(plot)
        assert plot.__doc__.splitlines()[0].strip(), called(plot)
    page = gallery.page(drawn)
    assert all(f'id="drawn-{plot.__name__}"' in page for plot, _ in drawn)
    assert "http" not in page
