"""Mutation testing: small mistakes are put into the mathematics one at a time; do the tests of that module notice?

    python tools/mutate.py                       every mutant of every module: hours
    python tools/mutate.py --sample 40           forty of each module, the same each time
    python tools/mutate.py accounting --sample 40 --minutes 10
    python tools/mutate.py --report              what is known so far

A mistake (a mutant) is one comparison, sum, product, number, condition or answer changed, in a copy of the package.
What was found is kept in .mutation/results.json, so that a run goes on where the last one stopped: a mutant is asked
about again when its module has changed, or when it survived and the tests have changed. docs/mutation.md explains
survivors.
"""

import argparse
import ast
import contextlib
import hashlib
import importlib
import json
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import time
from typing import NamedTuple

ROOT = pathlib.Path(__file__).parents[1]
RESULTS = ROOT / ".mutation" / "results.json"
# What is changed, and the tests that should notice: paths in mvgviz and in tests/unit.
MODULES = {
    "accounting": ("noise/accounting.py", ["noise/test_accounting.py"]),
    "bounds": ("noise/bounds.py", ["noise/test_bounds.py"]),
    "allocation": ("design/allocation.py", ["design/test_allocation.py"]),
    "neighbours": ("query/neighbours.py", ["query/test_neighbours.py", "query/test_adjacency.py",
                                           "query/test_worst_pairs.py"]),
    "design": ("design/noise_design.py", ["design/test_noise_design.py", "query/test_record_bound.py"]),
    "sampling": ("design/sampling.py", ["design/test_sampling.py"]),
    "record_bound": ("query/record_bound.py", ["query/test_record_bound.py", "release/test_private_bound.py"]),
    "bounded_neighbours": ("query/bounded_neighbours.py", ["query/test_bounded_neighbours.py",
                                                           "query/test_record_bound.py", "query/test_adjacency.py"]),
    "secure_noise": ("release/secure_noise.py", ["release/test_secure_noise.py", "release/test_release.py"]),
    "ledger": ("release/ledger.py", ["release/test_ledger.py", "release/test_ledger_file.py"]),
    "ledger_file": ("release/ledger_file.py", ["release/test_ledger_file.py", "release/test_ledger.py"]),
    "session": ("release/session.py", ["release/test_session.py"]),
}
# Loaded once, before the copies: what tests import and nobody changes.
PRELOADED = ("numpy", "scipy.optimize", "scipy.special", "scipy.stats", "mpmath", "pandas", "sqlite3", "dp_accounting")
SWAPS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
         ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub,
         ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
         ast.Pow: ast.Mult, ast.And: ast.Or, ast.Or: ast.And}


class Mutant(NamedTuple):
    """One change: the bytes from ``start`` to ``end`` of a module become ``after``."""

    line: int
    start: int
    end: int
    before: str
    after: str


def changed(node):
    """The expressions that may stand in an expression's place."""
    match node:
        case ast.Compare(left, ops, rights):
            for place, one in enumerate(ops):
                yield ast.Compare(left, [*ops[:place], SWAPS[type(one)](), *ops[place + 1:]], rights)
        case ast.BinOp(left, op, right) if type(op) in SWAPS and not any(map(is_text, (left, right))):
            yield ast.BinOp(left, SWAPS[type(op)](), right)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(SWAPS[type(op)](), values)
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield operand
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value)):
            yield from (ast.Constant(value + 1), ast.Constant(value - 1))
        case ast.Constant(float(value)):
            yield ast.Constant(2 * value if value else 1.0)
        case ast.IfExp(test, body, orelse) if not is_turned(test):
            yield ast.IfExp(ast.UnaryOp(ast.Not(), test), body, orelse)


def is_turned(test):
    """Whether the condition is turned around by a change of its own."""
    return isinstance(test, ast.UnaryOp) or (isinstance(test, ast.Compare) and isinstance(
        test.ops[0], ast.Eq | ast.NotEq | ast.Is | ast.IsNot | ast.In | ast.NotIn))


def is_text(node):
    """Whether this is a string."""
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def expressions(node):
    """Every expression that computes something, with what may stand in its place: no messages, types or decorators."""
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr) or (
            isinstance(node, ast.keyword) and node.arg == "repr"):
        return
    if isinstance(node, ast.expr):
        yield from ((node, other) for other in changed(node))
    if isinstance(node, ast.If | ast.While) and not is_turned(node.test):
        yield node.test, ast.UnaryOp(ast.Not(), node.test)
    if isinstance(node, ast.Return) and node.value and not is_none(node.value):
        yield node.value, ast.Constant(None)
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from expressions(child)


def is_none(node):
    """Whether this is a bare None."""
    return isinstance(node, ast.Constant) and node.value is None


def mutants(source):
    """Every change of a module, in order."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    found = set()
    for node, other in expressions(ast.parse(source)):
        start, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        found.add(Mutant(node.lineno, start, end, ast.unparse(node), ast.unparse(ast.fix_missing_locations(other))))
    return sorted(found)


def mutated(source, mutant):
    """The module with this change, as bytes."""
    code = source.encode()
    return code[:mutant.start] + f"({mutant.after})".encode() + code[mutant.end:]


def run_tests(folder, paths, seconds, *, first):
    """pytest in a child of this process, in the copy: its exit code, None when it took too long."""
    child = os.fork()
    if child == 0:
        os.setsid()
        silent = os.open(os.devnull if not first else folder / "baseline.txt", os.O_WRONLY | os.O_CREAT)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        os.chdir(folder)
        sys.path.insert(0, str(folder))
        sys.dont_write_bytecode = not first  # two changes within a second would be taken for one
        import pytest
        code = 3
        with contextlib.suppress(BaseException):
            code = int(pytest.main([*paths, "-x", "-q", "-p", "no:cacheprovider", "-n", "0", "-m", "not slow"]))
        os._exit(code)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def digest(*paths):
    """A short name for what these files hold."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:16]


def run(name, folder, results, *, sample, seed, deadline):
    """Ask about the mutants of one module that are not known yet."""
    file, tests = MODULES[name]
    copied = folder / "mvgviz" / file
    paths = [f"mvgviz/{file}", *(f"tests/unit/{test}" for test in tests)]
    source = copied.read_text(encoding="utf-8")
    every = mutants(source)
    chosen = every if sample is None else random.Random(f"{seed} {name}").sample(every, min(sample, len(every)))
    module, test_digest = digest(copied), digest(*(folder / one for one in paths[1:]))
    kept = results.setdefault(name, {"file": f"mvgviz/{file}", "found": {}})
    if kept.get("module") != module:
        kept["found"] = {}
    kept |= {"module": module, "mutants": len(every)}
    keys = {f"{mutant.start}-{mutant.end} {mutant.after}": mutant for mutant in every}
    left = {key: mutant for key, mutant in keys.items() if (
        not known["killed"] and known["tests"] != test_digest if (known := kept["found"].get(key)) else
        mutant in chosen)}
    if not left:
        return
    started = time.monotonic()
    if run_tests(folder, paths, 600, first=True) != 0:
        sys.exit(f"{name}: its tests fail without any change\n{(folder / 'baseline.txt').read_text()[-3000:]}")
    seconds = 20 + 4 * (time.monotonic() - started)
    for bytecode in copied.parent.glob(f"__pycache__/{copied.stem}.*.pyc"):
        bytecode.unlink()
    for key, mutant in sorted(left.items(), key=lambda item: item[1]):
        if time.monotonic() > deadline:
            break
        copied.write_bytes(mutated(source, mutant))
        code = run_tests(folder, paths, seconds, first=False)
        kept["found"][key] = {"line": mutant.line, "before": mutant.before, "after": mutant.after, "killed": code != 0,
                              "late": code is None, "tests": test_digest}
        save(results)
        if code == 0:
            print(f"survived: {place(kept, kept['found'][key])}", flush=True)
    copied.write_text(source, encoding="utf-8")


def place(kept, found):
    """Where a change is, and what it changes."""
    return f"{kept['file']}:{found['line']}: {found['before']} → {found['after']}"


def save(results):
    """Write down what is known, whole or not at all."""
    RESULTS.parent.mkdir(exist_ok=True)
    part = RESULTS.with_suffix(".part")
    part.write_text(json.dumps(results, indent=1, ensure_ascii=False), encoding="utf-8")
    part.replace(RESULTS)


def report(results, names):
    """The share that was noticed, by module, and every survivor."""
    for name in names:
        if kept := results.get(name):
            found = list(kept["found"].values())
            killed, late = (sum(one.get(how, False) for one in found) for how in ("killed", "late"))
            print(f"{name}: {killed} of {len(found)} killed ({killed / max(len(found), 1):.0%}), {late} of them by "
                  f"taking too long; {kept['mutants']} mutants in all")
            for one in sorted((one for one in found if not one["killed"]), key=lambda one: one["line"]):
                print(f"    {place(kept, one)}")
        else:
            print(f"{name}: not run")


def main():
    """Run and report, as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", metavar="module", help=", ".join(MODULES))
    parser.add_argument("--sample", type=int, help="so many mutants of each module")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=24 * 60, help="stop after these")
    parser.add_argument("--report", action="store_true", help="run nothing")
    given = parser.parse_args()
    names = given.modules or list(MODULES)
    if unknown := set(names) - set(MODULES):
        parser.error(f"no such module: {', '.join(sorted(unknown))}; there are {', '.join(MODULES)}")
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    deadline = time.monotonic() + 60 * given.minutes
    if not given.report:
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        for one in PRELOADED:
            importlib.import_module(one)
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary).resolve()
            for part in ("mvgviz", "sample_data", "tests"):
                shutil.copytree(ROOT / part, folder / part)
            shutil.copy(ROOT / "pyproject.toml", folder)
            for name in names:
                run(name, folder, results, sample=given.sample, seed=given.seed, deadline=deadline)
    report(results, names)


if __name__ == "__main__":
    main()
