"""The app without a browser: opening it, and what a person does in it."""

import pathlib

from streamlit.testing.v1 import AppTest

from mvgviz import Scenario
from mvgviz.scenario.source import DataSource
from mvgviz.ui import menu
from mvgviz.ui.menu import DATA, HOME
from mvgviz.ui.server import ENTRY
from mvgviz.ui.session import Upload
from tests.pages.shown import clean, scenario, text

ROOT = pathlib.Path(__file__).parents[2]
TABS = {
    **dict.fromkeys((HOME, menu.PLAN), ("", [""])),
    DATA: ("data_tab", ["The answer", "What one record can change", "Clip records", "The records"]),
    menu.BOUNDS: ("bounds_tab", ["Curves", "Every design", "By hand"]),
    menu.FAMILIES: ("families_tab", ["Same promise, same attacker", "Which family wins", "Several releases",
                                     "The numbers"]),
    menu.INFORMATION: ("information_tab", ["One number", "Least leakage", "Sums are normal", "What the proofs need"]),
    menu.SHAPE: ("shape_panel", ["Ellipse", "Three features", "Covariances", "Possible outcomes"]),
    menu.BUDGET: ("budget_tab",
                  ["Priority and other", "Direction by direction", "What gets through", "From noise to epsilon"]),
    menu.PRIVACY: ("privacy_section", ["The worst neighbours", "The loss", "Audit by simulation",
                                     "Several releases"]),
    menu.UTILITY: ("utility_section", ["Priority and other", "Over epsilon", "Choice of directions",
                                       "True against noisy"]),
    menu.COMPARE: ("compare_section", ["All mechanisms", "Same error", "Lever by lever"]),
    menu.RELEASE: ("release_tab", ["Release", "Report, script, link"])}
"""The pages that show a scenario: the key of their tabs, and the tabs."""
CONTROLS = ("checkbox", "toggle", "selectbox", "multiselect", "slider", "select_slider", "number_input", "button_group",
            "radio", "text_input")


def opened(path=HOME.path, *, everything=False, state=None, **parameters):
    """The app on a page, as a fresh session that followed a link; ``state``: tabs and switches as they stand."""
    app = AppTest.from_file(str(ENTRY), default_timeout=600)
    for name, value in parameters.items():
        app.query_params[name] = value
    for name, value in ((state or {}) | ({"_all": True} if everything else {})).items():
        app.session_state[name] = value
    return (app if path == HOME.path else app.switch_page(path)).run()


def walk(app, *, turn=0, refusals=()):
    """Through all pages; which of a page's tabs is open follows from the turn. Gives what each shows."""
    for page, (key, tabs) in TABS.items():
        if key:
            app.session_state[key] = tabs[turn % len(tabs)]
        app.switch_page(page.path).run()
        assert not app.exception, page
        assert {one.value for one in app.error} <= set(refusals), page
        assert "nan" not in text(app).lower().split(), page
        yield page


def put(app, **state):
    """The page after tabs, switches or other parts of the session were put so."""
    for name, value in state.items():
        app.session_state[name] = value
    return app.run()


def adjust(app, **controls):
    """Set controls, each by its key and before the page runs again."""
    for key, value in controls.items():
        next(one for kind in CONTROLS for one in app.get(kind) if one.key == key).set_value(value).run()
    return clean(app)


def press(app, key):
    return clean(app.button(key=key).click().run())


def to(app, page):
    return clean(app.switch_page(page.path).run())


def change(app, **changes):
    """Another scenario, as controls would make it."""
    return put(app, _scenario=scenario(app).changed(**changes), _touched=True)


def choose(app, content, name="mine.csv", *, key="upload_file"):
    """Give a file to a control that takes one."""
    content = content.encode() if isinstance(content, str) else content
    return app.file_uploader(key=key).set_value((name, content, "text/csv")).run()


def bring(app, content, name="mine.csv"):
    """Choose a file on the page Data & query."""
    return clean(choose(app.switch_page(DATA.path).run(), content, name))


def uploaded(content, name="mine.csv"):
    return choose(opened(DATA.path), content, name)


def with_table(page, dataset, **changes):
    """A page in a session that has this table as its own, without reading a file; the scenario changed so."""
    table = Upload(data_name="upload-000000000000", version="0", dataset=dataset, source=DataSource(name="own.csv"))
    asked = Scenario.default_for(table.data_name).changed(**changes)
    return put(opened(), _upload=table, _scenario=asked, _touched=True).switch_page(page.path).run()


CSV = "age,dose,name\n" + "".join(f"{20 + i % 50},{i % 7}.5,p{i}\n" for i in range(60))
