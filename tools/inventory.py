"""Print what the product offers, as text that a later commit's can be compared with.

    python tools/inventory.py names             # commands, flags, public names, file formats
    python tools/inventory.py pages [FIRST LAST]  # every page for thirty links: controls, charts, sentences

Run it before and after a change of structure, and look at the difference.
"""

import argparse
import inspect
import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

import mvgviz
from mvgviz.command.main import _parser
from mvgviz.data import samples
from mvgviz.ui.menu import PAGES, PRESENT
from mvgviz.ui.server import ENTRY

FEW = {"trials": "12"}
LINKS = [
    {}, *({"data": name} for name in samples()),
    *({"data": "liver", "query": query} for query in ("identity", "mean", "moments", "kernel")),
    {"data": "karate", "query": "adjacency"},
    *({"data": "liver", "directions": kind} for kind in ("rotation", "eigenvectors", "private", "random")),
    *({"data": "cardiotocography", "allocation": kind} for kind in ("uniform", "manual", "max-pnr", "least-error")),
    *({"data": "liver", "query": query, "bound": kind} for query in ("covariance", "mean") for kind in ("even", "own")),
    {"data": "liver", "query": "moments", "bound": "private"},
    {"data": "liver", "guarantee": "theorem1"}, {"data": "liver", "guarantee": "theorem2"},
    {"data": "liver", "neighbours": "add-remove"}, {"data": "cardiotocography", "priority": "0-3",
                                                    "judged": "priority"},
    {"data": "liver", "task": "linear-ridge"}, {"data": "two_features", "scale": "unit", "epsilon": "0.3"},
]


def names() -> Iterator[str]:
    """Every command with its flags, every public name with its signature, every field that is stored."""
    yield from _flags(_parser(), "mvgviz")
    for name in sorted(mvgviz.__all__):
        value = getattr(mvgviz, name)
        yield f"public {name}{_signature(value)}"
        for method in sorted(set(dir(value)) if inspect.isclass(value) else ()):
            if not method.startswith("_"):
                yield f"public {name}.{method}{_signature(getattr(value, method))}"
    for name, value in json.loads(mvgviz.Scenario().to_json()).items():
        yield f"scenario {name} = {json.dumps(value)}"


def _flags(parser: argparse.ArgumentParser, name: str) -> Iterator[str]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command, inner in action.choices.items():
                yield from _flags(inner, f"{name} {command}")
        else:
            yield f"command {name} {'/'.join(action.option_strings) or action.dest}: {action.help}"


def _signature(value: Any) -> str:
    try:
        return str(inspect.signature(value)) if callable(value) else ""
    except (TypeError, ValueError):
        return ""


def pages(first: int, last: int) -> Iterator[str]:
    """Each page for each link, everything that is drawn in its order."""
    for number, link in list(enumerate(LINKS))[first:last]:
        for page in (*PAGES, PRESENT):
            app = AppTest.from_file(str(ENTRY), default_timeout=300)
            app.query_params.update(link | FEW)
            app.session_state["_all"] = True
            if page is not PAGES[0]:
                app.switch_page(page.path)
            app.run()
            while any(button.label == "Stop" for button in app.button):
                app._run(app._tree.get_widget_states())
            head = f"{number:02} {'&'.join(f'{key}={value}' for key, value in link.items())} {page.label}"
            yield from (f"{head} | {line}" for line in _lines(app))


def _lines(app: AppTest) -> Iterator[str]:
    for element in app:
        kind = element.type
        if kind == "plotly_chart":
            figure = json.loads(element.proto.spec)
            layout = figure["layout"]
            axes = [layout[axis].get("title", {}).get("text", "") for axis in sorted(layout) if "axis" in axis]
            yield f"chart {axes}"
            yield from (f"  trace {trace.get('type')} {trace.get('name', '')}: {_numbers(trace)}"
                        for trace in figure["data"])
        elif kind == "bidi_component":
            given = json.loads(element.proto.json or "null")
            yield f"component {element.proto.component_name} {_rounded(given | {'session': ''})}"
        else:
            said = getattr(element, "label", "") or ""
            value = getattr(element, "value", None)
            body = getattr(getattr(element, "proto", None), "body", "")
            if hasattr(value, "to_csv"):
                value = value.to_csv(float_format="%.6g")
            if said or value or body:
                yield f"{kind} {said!r} {_rounded(value if value is not None else body)!r}".replace("\n", " ")


def _numbers(trace: dict[str, Any]) -> str:
    """How many numbers each axis of a trace has, and their sum to five digits."""
    return ", ".join(f"{key} {_sum(trace[key])}" for key in ("x", "y", "z", "values") if key in trace)


def _sum(values: Any) -> str:
    if isinstance(values, dict):  # an array as Plotly packs it
        import base64

        values = np.frombuffer(base64.b64decode(values["bdata"]), dtype=np.dtype(values["dtype"]))
    flat = np.asarray(values, dtype=object).ravel()
    numbers = [float(value) for value in flat if isinstance(value, int | float | np.number)]
    return f"{flat.size} of {sum(numbers):.5g}" if numbers else f"{flat.size} {'/'.join(map(str, flat[:6]))}"


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: _rounded(entry) for key, entry in value.items()}
    return [_rounded(entry) for entry in value] if isinstance(value, list | tuple) else value


if __name__ == "__main__":
    what, *span = sys.argv[1:] or ["names"]
    lines = names() if what == "names" else pages(*(map(int, span) if span else (0, len(LINKS))))
    for line in lines:
        print(line)
