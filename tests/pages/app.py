"""The app without a browser: opening it, and reading what it shows."""

import json
import pathlib

from streamlit.testing.v1 import AppTest

from mvgviz.ui.menu import DATA, HOME
from mvgviz.ui.server import ENTRY

ROOT = pathlib.Path(__file__).parents[2]


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


def strip(app):
    """The line that says what is asked and what is spent."""
    return next(block.proto.body for block in app.get("html") if "<dl" in block.proto.body)


def spec(app, position=0):
    return json.loads(app.get("plotly_chart")[position].proto.spec)


def component(app, name):
    """What a picture of ours, drawn by the browser, was given."""
    return next(json.loads(one.proto.json) for one in app.get("bidi_component") if one.proto.id.endswith(name))


def uploaded(content, name="mine.csv"):
    app = opened(DATA.path)
    app.file_uploader(key="upload_file").set_value((name, content, "text/csv"))
    return app.run()


CSV = "age,dose,name\n" + "".join(f"{20 + i % 50},{i % 7}.5,p{i}\n" for i in range(60))


def turn(app, section):
    app.session_state["compare_section"] = section
    return app.run()


def desk(app):
    return app.session_state["_release_desk"]


def box(app, start):
    """The tick box whose key starts so; the rest of the key is the ticket."""
    return next(one for one in app.checkbox if one.key.startswith(start))


def go(app):
    return app.button(key="release_go")


def released(app):
    box(app, "release_sure_").check().run()
    go(app).click().run()
    return clean(app)


def on_exports(app):
    app.session_state["release_tab"] = "Report, script, link"
    return app.run()
