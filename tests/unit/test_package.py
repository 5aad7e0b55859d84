"""The package as a whole: what it exports, what it loads, how it refuses nonsense."""

import ast
import functools
import math
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import mvgviz
from mvgviz import InputError
from mvgviz.noise.families import CHOICES
from mvgviz.query.queries import QUERIES
from tests.datasets import make_dataset

ROOT = pathlib.Path(mvgviz.__file__).parent


def test_importing_the_engine_loads_no_user_interface():
    code = "import sys, mvgviz; print(sorted({'streamlit', 'plotly', 'pandas', 'scipy.stats', 'scipy.optimize'} " \
           "& set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


BOUND = {"epsilon": 1, "delta": 0.1, "gamma": 1, "sensitivity": 1}
DATA = make_dataset(2, 6)
CALLS = {  # what is given by position, and by name
    "theorem1": ((2, 3), BOUND), "theorem2": ((2,), BOUND), "theorem2_any": ((2, 3), BOUND),
    "theorem2_wins": ((), {"rank": 2, "ratio": 1}), "gaussian_delta": ((), {"epsilon": 1, "mu": 1}),
    "gaussian_mu": ((), {"epsilon": 1, "delta": 0.1}), "gaussian_epsilon": ((), {"delta": 0.1, "mu": 1}),
    "tradeoff": ((), {"alpha": 0.1, "mu": 1}), "compose_mu": ((), {"mus": [1]}),
    "design_noise": ((mvgviz.identity(DATA),), {"epsilon": 1, "delta": 0.1}),
    "private_eigenvectors": ((DATA,), {"epsilon": 1, "delta": 0.1}),
    "smallest_epsilon": ((mvgviz.identity(DATA),), {"delta": 0.1, "target_std": [1, 1]}),
    "max_pnr": ((), {"eigenvalues": [1, 2], "budget": 1}), "least_error": ((), {"weights": [1, 2]}),
    "manual": ((), {"weights": [1, 2]}), "rotation": ((2, (0, 1)), {"angle": 1}),
    "rbf_kernel": ((DATA,), {"length": 1}), "custom": ((), {"matrix": [[1.0]], "sensitivity": 1, "gamma": 2}),
    "adjacency": ((), {"matrix": [[0, 1], [1, 0]]}), "laplacian": ((), {"matrix": [[0, 1], [1, 0]]}),
    "from_matrix": ((), {"w": [[1.0]]}), "standard_basis": ((), {"k": 2}), "uniform": ((), {"k": 2}),
}
TAKES_ARRAYS = ("gaussian_delta", "gaussian_mu", "gaussian_epsilon", "tradeoff", "compose_mu", "theorem2_wins")
NEGATIVE = [("rotation", "angle", -1), ("gaussian_delta", "epsilon", -1)]
NONSENSE = [math.nan, math.inf, -math.inf, -1, "three", None, [], [math.nan], object(), 1j, [[1, 2], [3]], {}]


@pytest.mark.parametrize("name", CALLS)
def test_nonsense_gets_an_input_error_that_names_the_argument(name):
    given, arguments = CALLS[name]
    more = {"rng": np.random.default_rng(0)} if name == "private_eigenvectors" else {}
    call = functools.partial(getattr(mvgviz, name), *given, **more, **arguments)
    call()
    for argument in arguments:
        for value in NONSENSE:
            if (name, argument, value) in NEGATIVE or (value == [] and name in TAKES_ARRAYS):
                continue  # legitimate
            called = {"w": "directions", "rank": "ratio|rank"}.get(argument, argument)
            with pytest.raises(InputError, match=called):
                call(**{argument: value})


def test_the_picture_of_the_rooms_is_what_the_code_says():
    done = subprocess.run([sys.executable, "tools/draw_rooms.py", "--check"], cwd=ROOT.parent, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_first_page_is_drawn_without_the_libraries_that_read_files():
    code = ("import sys; from streamlit.testing.v1 import AppTest; "
            "app = AppTest.from_file(sys.argv[1]).run(timeout=600); assert not app.exception; "
            "print(sorted({'openpyxl', 'mvgviz.data.delimited'} & set(sys.modules)))")
    done = subprocess.run([sys.executable, "-c", code, str(ROOT / "ui" / "entry.py")], capture_output=True, text=True,
                          check=True, cwd=ROOT.parent)
    assert done.stdout.strip() == "[]"


def test_no_room_but_query_asks_for_the_name_of_a_query():
    def words(node):
        return {inner.value for inner in ast.walk(node) if isinstance(inner, ast.Constant)} & set(QUERIES)

    def asks(node):
        return any((isinstance(inner, ast.Attribute) and inner.attr in ("query", "name")) or
                   (isinstance(inner, ast.Name) and inner.id in ("query", "name")) for inner in ast.walk(node))

    modules = [path for path in (*ROOT.rglob("*.py"), *(ROOT.parent / "pages").glob("*.py"))
               if path.parent.name != "query"]
    found = [f"{path.name}:{node.lineno}" for path in modules for node in ast.walk(ast.parse(path.read_text("utf-8")))
             if isinstance(node, ast.Compare) and asks(node) and words(node)]
    assert len(modules) > 100
    assert not found


def asking_for_families(code):
    """Return the lines that compare with, look up or import a family of noise.

    A shape in the lesson, the lowest possible noise among all, and colours have words of their own.
    """
    names = {*CHOICES, *(f"{name}-noise" for name in CHOICES)}
    classes = {type(family).__name__ for family in CHOICES.values()}
    equal = ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn
    tree = ast.parse(code)

    def asks(node):
        if isinstance(node, ast.Compare):
            return any(isinstance(one, equal) for one in node.ops)
        if isinstance(node, ast.Assign | ast.AnnAssign):
            keys = filter(None, node.value.keys) if isinstance(node.value, ast.Dict) else ()
            return said(keys, ast.Constant, "value") & names
        if isinstance(node, ast.Call):
            return getattr(node.func, "attr", "") in {"startswith", "endswith", "count", "index", "removeprefix"}
        looked_up = node.value if isinstance(node, ast.Subscript | ast.Attribute) else None
        return isinstance(node, ast.Match) or isinstance(looked_up, ast.Dict)

    def said(nodes, kind, field):
        return {getattr(inner, field) for node in nodes for inner in ast.walk(node) if isinstance(inner, kind)}

    found = [node.lineno for node in ast.walk(tree) if asks(node) and said([node], ast.Constant, "value") & names
             and not said([node], ast.Name, "id") & {"shape", "among", "FAMILY_COLOURS", "SHAPE_NAMES", "_TWINS"}]
    return found + [node.lineno for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
                    and "families" in (node.module or "") and classes & {one.name for one in node.names}]


@pytest.mark.parametrize("code", [
    "if design.family.name == 'box': pass", "found = {'box': 1, 'laplace': 2}[name]", "WORDS = {'box': 1}; WORDS[name]",
    "if name.startswith('box'): pass", "if mechanism.key == 'laplace-noise': pass", "name in ('box', 'laplace')",
    "from mvgviz.noise.families.box import Box\nisinstance(family, Box)", "match name:\n  case 'box': pass"])
def test_every_spelling_of_a_question_for_a_family_is_found(code):
    assert asking_for_families(code)


def test_no_room_but_the_families_compares_with_the_name_of_a_family_of_noise():
    modules = [path for path in (*ROOT.rglob("*.py"), *(ROOT.parent / "pages").glob("*.py"))
               if path.parent.name != "families"]
    assert len(modules) > 100
    assert not [(path.name, found) for path in modules if (found := asking_for_families(path.read_text("utf-8")))]
    compared = re.compile(rf"[=!]=\s*[\"'](?:{'|'.join(CHOICES)})[\"']|family\.name")
    assert not [path.name for path in ROOT.rglob("*.html") if compared.search(path.read_text("utf-8"))]


def test_every_benchmark_and_tool_finds_what_it_uses():
    names = sorted(path.stem for folder in ("benchmarks", "tools") for path in (ROOT.parent / folder).glob("*.py")
                   if path.stem != "peers")  # which has an environment of its own
    code = f"import sys; sys.path[:0] = ['benchmarks', 'tools']\nimport {', '.join(names)}"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT.parent, capture_output=True, text=True, check=False)
    assert len(names) > 12
    assert done.returncode == 0, done.stderr


def test_the_benchmarks_of_regressions_run_on_a_table():
    code = ("import sys; sys.path.insert(0, 'benchmarks'); import levers, regression; levers.TRIALS = 2; "
            "regression.TRIALS = 2; levers.regressions(range(1)); print(regression.row(1, 'right'))")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Liver: " in done.stdout
    assert "Row(" in done.stdout


def test_the_workflows_call_what_the_makefile_has_on_every_system_and_version():
    yaml = pytest.importorskip("yaml")
    top = ROOT.parent
    jobs = {name: job for file in (top / ".github" / "workflows").glob("*.yml")
            for name, job in yaml.safe_load(file.read_text("utf-8"))["jobs"].items()}
    runs = " ".join(step.get("run", "") for job in jobs.values() for step in job["steps"])
    targets = re.findall(r"(?m)^([\w-]+):", (top / "Makefile").read_text("utf-8"))
    assert {"test", "audit", "faults", "dist", "bench", "docs", "debian"} <= set(re.findall(r"\bmake (\w+)", runs)) <= {
        *targets}
    assert jobs["systems"]["strategy"]["matrix"] == {"system": ["ubuntu-latest", "macos-latest", "windows-latest"],
                                                     "python": ["3.11", "3.12", "3.13", "3.14"]}


def test_the_citation_is_of_this_version_and_names_the_theory():
    yaml = pytest.importorskip("yaml")
    held = yaml.safe_load((ROOT.parent / "CITATION.cff").read_text("utf-8"))
    assert held["version"] == mvgviz.__version__
    assert {"title", "authors", "license", "message", "references"} <= held.keys()
    assert any("General Gaussian noise" in one["title"] for one in held["references"])


def test_the_page_about_other_packages_has_the_tables_that_the_script_prints():
    script, page = (
        (ROOT.parent / place).read_text("utf-8") for place in ("benchmarks/peers.py", "docs/peers.md"))
    heads = re.findall(r"(?m)^\| ([A-Z].*: .*) \| records \| columns \| (.*) \|$", page)
    assert len(heads) == 3
    for title, names in heads:
        assert f'("{title}"' in script
        assert "(" + ", ".join(f'"{name}"' for name in names.split(" | ")) + ")" in script
        rows = re.findall(r"(?m)^\| (\w+: \w+) \|(?: [\d,.–> ]+ \|)+$", page.partition(title)[2].partition("\n\n")[0])
        assert len(rows) == 6, title
    for table, label in {tuple(row.split(": ")) for row in rows}:
        assert table in script
        assert label in script
