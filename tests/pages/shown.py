"""What a page shows, without a browser."""

import base64
import json

import numpy as np


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


def facts(app):
    """What is written as HTML."""
    return "".join(one.value for one in app.get("html"))


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


def scenario(app):
    return app.session_state["_scenario"]


def own(app):
    """The table that was brought."""
    return app.session_state["_upload"]
