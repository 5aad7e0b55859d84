"""A scenario as a Python program or a notebook that needs no app: design, trials and, on demand, one release.

>>> from mvgviz import Scenario
>>> from mvgviz.report.script import python_script
>>> from mvgviz.scenario.source import DataSource
>>> program = python_script(Scenario.default_for("liver"), source=DataSource(name="liver"))
>>> "data='liver'" in program
True

Both are cut from one template, ``templates/program.py``, which is a program itself: ``if FROM_FILE:`` and the like
are decided, assignments get their values, and the parts between ``# %%`` are the notebook's cells.

Names of files and columns are data: they stand in the program as quoted literals only. The values of a file never do.
"""

import ast
import json
import re
import textwrap
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from mvgviz.provenance import Category, Origin, Range
from mvgviz.scenario.scenario import Scenario
from mvgviz.scenario.source import DataSource
from mvgviz.version import VERSION

_TEMPLATE = Path(__file__).parent / "templates" / "program.py"
_ARGUMENTS = {", **USE": ("orientation", "missing", "levels", "person", "at_most", "units", "title"),
              ", **READING": ("separator", "decimal", "header", "member", "texts")}


def python_script(scenario: Scenario, *, source: DataSource) -> str:
    """Return a program: ``python program.py [data file] [--trials N] [--release out.csv]``."""
    top, imports, *rest = [text for kind, text in _cells(scenario, source, in_notebook=False)
                           if kind in ("code", "program")]
    return "\n\n".join([top, imports, "\n\n\n".join(rest)]) + "\n"


def notebook(scenario: Scenario, *, source: DataSource) -> str:
    """Return the same as a notebook (JSON text, nbformat 4): a few cells with a sentence each."""
    shown = [cell for cell in _cells(scenario, source, in_notebook=True) if cell[0] in ("code", "markdown")]
    cells: list[dict[str, Any]] = []
    for position, (kind, text) in enumerate(shown):
        cells.append({"cell_type": kind, "id": f"cell-{position}", "metadata": {},
                      "source": text.splitlines(keepends=True)})
        if kind == "code":
            cells[-1] |= {"execution_count": None, "outputs": []}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {"cells": cells, "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
               "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _cells(scenario: Scenario, source: DataSource, *, in_notebook: bool) -> list[tuple[str, str]]:
    own = scenario.data.startswith("upload-")
    text = _TEMPLATE.read_text(encoding="utf-8").replace("VERSION", VERSION)
    text = text if own else text.replace("[data file] ", "")
    text = text.replace("import argparse\nimport sys\n", "") if in_notebook else text
    text = _decided(text, {"FROM_FILE": own, "WITH_DIRECTIONS": scenario.directions == "upload",
                           "IN_NOTEBOOK": in_notebook})
    text = re.sub(r"\n{4,}", "\n\n\n", text)  # where a branch is gone
    usual = DataSource(name="")
    for place, names in _ARGUMENTS.items():
        text = text.replace(place, "".join(f", {name}={_code(getattr(source, name))}" for name in names
                                           if getattr(source, name) != getattr(usual, name)))
    kinds = re.split(r"^# %% (.*)\n", f"# %% program\n{text}", flags=re.MULTILINE)[1:]
    values = _values(scenario, source)
    return [(kind, re.sub(r"(?<!\n)\n(?!\n)", " ", re.sub(r"^# ?", "", cell.strip(), flags=re.MULTILINE))
             if kind == "markdown" else _assigned(cell.strip(), values))
            for kind, cell in zip(kinds[::2], kinds[1::2], strict=True)]


def _decided(text: str, flags: Mapping[str, bool]) -> str:
    """A program in which what hangs on a flag (``if FLAG:``, ``a if FLAG else b``) is replaced by what it comes to."""
    for node in ast.walk(ast.parse(text)):
        if not (isinstance(node, ast.If | ast.IfExp) and isinstance(node.test, ast.Name) and node.test.id in flags):
            continue
        chosen = node.body if flags[node.test.id] else node.orelse
        if isinstance(chosen, ast.expr):
            before, after = ast.get_source_segment(text, node), ast.get_source_segment(text, chosen)
            return _decided(text.replace(str(before), str(after)), flags)
        lines = text.splitlines(keepends=True)
        branch = "".join(lines[chosen[0].lineno - 1:chosen[-1].end_lineno]) if chosen else ""
        lines[node.lineno - 1:node.end_lineno] = textwrap.indent(textwrap.dedent(branch), " " * node.col_offset)
        return _decided("".join(lines), flags)
    return text


def _assigned(text: str, values: Mapping[str, str]) -> str:
    lines = text.split("\n")
    for node in ast.parse(text).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name), *_], value=value) if name in values:
                line = lines[node.lineno - 1]
                lines[node.lineno - 1] = line[:value.col_offset] + values[name] + line[value.end_col_offset:]
    return "\n".join(lines)


def _values(scenario: Scenario, source: DataSource) -> dict[str, str]:
    chosen = "".join(f"    {field.name}={getattr(scenario, field.name)!r},\n" for field in fields(scenario))
    ranges = None if source.ranges is None else _listing(
        [f"{name!r}: {_code(Range(*ends))}" for name, ends in source.ranges.items()], "{}")
    columns = None if source.columns is None else _listing(list(map(repr, source.columns)), "[]")
    return {"SCENARIO": f"mv.Scenario(\n{chosen})", "FILE": repr(source.name), "COLUMNS": str(columns),
            "RANGES": str(ranges), "DIRECTIONS": repr(source.directions),
            "DIRECTIONS_ORIGIN": f"mv.Origin.{source.directions_origin.name}"}


def _code(value: Any) -> str:
    if isinstance(value, Category):
        return f"mv.Category({value.levels!r}, mv.Origin.{value.origin.name}, ordered={value.ordered})"
    if isinstance(value, Range):
        ends = f"{value.low!r}, {value.high!r}"
        return f"({ends})" if value.origin is Origin.DECLARED else f"mv.Range({ends}, mv.Origin.{value.origin.name})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name!r}: {_code(one)}" for name, one in value.items()) + "}"
    return repr(value)


def _listing(texts: list[str], brackets: str) -> str:
    line = f"{brackets[0]}{', '.join(texts)}{brackets[1]}"
    lines = "".join(f"    {text},\n" for text in texts)
    return line if len(line) <= 100 else f"{brackets[0]}\n{lines}{brackets[1]}"
