"""The app without a browser: opening it, and reading what it shows."""

import base64
import json
import pathlib

import numpy as np
from streamlit.testing.v1 import AppTest

from mvgviz import Scenario
from mvgviz.scenario.source import DataSource
from mvgviz.ui.menu import (
    BOUNDS,
    BUDGET,
    COMPARE,
    DATA,
    FAMILIES,
    HOME,
    INFORMATION,
    PLAN,
    PRIVACY,
    RELEASE,
    SHAPE,
    UTILITY,
)
from mvgviz.ui.server import ENTRY
from mvgviz.ui.session import Upload

ROOT = pathlib.Path(__file__).parents[2]
TABS = {
    HOME: ("", [""]), DATA: ("", [""]), BOUNDS: ("", [""]), PLAN: ("", [""]), FAMILIES: ("", [""]),
    INFORMATION: ("", [""]),
    SHAPE: ("shape_panel", ["Ellipse", "Three features", "Covariances", "Possible outcomes"]),
    BUDGET: ("budget_tab",
             ["Priority and other", "Direction by direction", "What gets through", "From noise to epsilon"]),
    PRIVACY: ("privacy_section", ["The worst neighbours", "Audit by simulation", "Several releases"]),
    UTILITY: ("utility_section", ["Priority and other", "Over epsilon", "Choice of directions", "True against noisy"]),
    COMPARE: ("compare_section", ["All mechanisms", "Same error", "Lever by lever"]),
    RELEASE: ("release_tab", ["Release", "Report, script, link"])}
"""The pages that show a scenario: the key of their tabs, and the tabs."""


def opened(path=HOME.path, *, everything=False, state=None, **parameters):
    """The app on a page, as a fresh session that followed a link; ``state``: tabs and switches as they stand."""
    app = AppTest.from_file(str(ENTRY), default_timeout=600)
    for name, value in parameters.items():
        app.query_params[name] = value
    for name, value in ((state or {}) | ({"_all": True} if everything else {})).items():
        app.session_state[name] = value
    return (app if path == HOME.path else app.switch_page(path)).run()


def clean(app):
    assert not app.exception
    assert [element.value for element in app.error] == []
    return app


def link(app):
    return {name: values[0] if isinstance(values, list) else values for name, values in app.query_params.items()}


def text(app):
    return " ".join(element.value for kind in ("markdown", "caption", "info", "error", "warning")
                    for element in app.get(kind))


def said(app):
    """The text as it is read, without Markdown's backslashes."""
    return text(clean(app)).replace("\\", "")


def assert_says(app, parts, absent=()):
    words = said(app)
    assert [part for part in parts if part not in words] == []
    assert [part for part in absent if part in words] == []


def strip(app):
    """The line that says what is asked and what is spent."""
    return next(block.proto.body for block in app.get("html") if "<dl" in block.proto.body)


def charts(app):
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def spec(app, position=0):
    return charts(app)[position]


def chart(app, key):
    """The Plotly spec of the chart with this key."""
    return next(json.loads(one.proto.spec) for one in app.get("plotly_chart") if one.proto.id.endswith(f"-{key}"))


def numbers(values):
    """The numbers of a trace, which Plotly may have packed."""
    if not isinstance(values, dict):
        return np.array(values, dtype=float)
    flat = np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
    return flat.reshape([int(n) for n in values["shape"].split(",")]) if "shape" in values else flat


def frame(app, column):
    """The table that has this column."""
    return next(one.value for one in app.dataframe if column in one.value.columns)


def component(app, name):
    """What a picture of ours, drawn by the browser, was given."""
    return next(json.loads(one.proto.json) for one in app.get("bidi_component") if one.proto.id.endswith(name))


def keyed(app, kind, start):
    """The controls of a kind whose keys start so; the rest of a key may be a ticket or a round."""
    return [one for one in app.get(kind) if str(one.key).startswith(start)]


def put(app, **state):
    """The page after tabs, switches or other parts of the session were put so."""
    for name, value in state.items():
        app.session_state[name] = value
    return app.run()


def press(app, key):
    return clean(app.button(key=key).click().run())


def to(app, page):
    return clean(app.switch_page(page.path).run())


def scenario(app):
    return app.session_state["_scenario"]


def change(app, **changes):
    """Another scenario, as controls would make it."""
    return put(app, _scenario=scenario(app).changed(**changes), _touched=True)


def own(app):
    """The table that was brought."""
    return app.session_state["_upload"]


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


def desk(app):
    return app.session_state["_release_desk"]


def box(app, start):
    """The tick box whose key starts so; the rest of the key is the ticket."""
    return keyed(app, "checkbox", start)[0]


def go(app):
    return app.button(key="release_go")


def released(app):
    box(app, "release_sure_").check().run()
    go(app).click().run()
    return clean(app)


def on_exports(app):
    return put(app, release_tab="Report, script, link")
