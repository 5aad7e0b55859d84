"""Files whose size is the attack, each given to what reads it; run as a program with little memory to have.

    python -m tests.unit.data.huge_files 1024 1

Prints a line of JSON for each: its name, what was said of it, seconds, and the memory that was taken at most.
"""

import io
import json
import pathlib
import resource
import struct
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from mvgviz import InputError, Ledger, QuestionPlan, Scenario, Study
from mvgviz.data import read_table
from mvgviz.scenario.ranges import ranges_from_text
from tests.unit.data import bad_files as bad

MB = 2**20
LIVER = Scenario.default_for("liver")


def json_files(part):
    """Texts that are JSON, or nearly, and mean nothing good; ``part`` of their full size."""
    study = json.loads(Study.of_sample(LIVER).to_json())
    question = json.loads(LIVER.to_json())
    spend = {"data": "x", "query": "mean", "neighbour_rule": "r", "design": "d", "mu": 0.1, "delta": 1e-6,
             "caveats": [], "time": "2026-01-01T00:00:00+00:00"}
    return {
        "nested lists": "[" * 3_000_000,
        "nested objects": '{"a":' * 600_000,
        "nested and closed": "[" * 100_000 + "]" * 100_000,
        "many empty lists": "[" + "[]," * round(1_300_000 * part) + "[]]",
        "too long": " " * (5 * MB) + "{}",
        "many ranges": json.dumps({f"a{i}": [0, 1] for i in range(20_001 + round(100_000 * part))}),
        "one range many times": "feature,lowest,highest\n" + "".join(f"a{i % 9_999},0,1\n" for i in range(19_999)),
        "one long cell": "feature,lowest,highest\n" + "a" * (3 * MB) + ",0,1\n",
        "many positions": json.dumps({"mvgviz": 1, "scenario": question["scenario"] | {
            "priority_directions": [1] * round(1_300_000 * part)}}),
        "many questions": json.dumps({"mvgviz_plan": 1, "shares_read": False, "questions": [
            {"parts": 1} | question] * round(2_500 * part)}),
        "a deep study": json.dumps(study)[:-1] + ', "x": ' + "[" * 900 + "]" * 900 + "}",
        "long notes": json.dumps(study | {"notes": "x" * (3 * MB)}),
        "a number beyond all": json.dumps({"mvgviz": 1, "scenario": question["scenario"] | {"epsilon": 10**400}}),
        "a spend beyond all": json.dumps({"releases": [spend | {"mu": 10**400}]}),
        "many releases": json.dumps({"releases": [spend | {"mu": k / 1e9 + 0.1} for k in range(9_000)]}),
        "a long name": json.dumps({"releases": [spend | {"population": "x" * (3 * MB)}]}),
    }


def tables(part):
    """Tables: bombs, pickles, single lines without end; ``part`` of their full size."""
    million = round(MB * part)
    if part == 1:
        yield "npz bomb", bad.npz_bomb(1_500 * MB)
        yield "npz that lies", bad.lying(bad.npz_bomb(600 * MB))
        yield "xlsx bomb", bad.xlsx_bomb(300 * MB)
    yield "xlsx of deep elements", bad.repacked(bad.as_xlsx([["x"], [1], [2]]), {
        "xl/worksheets/sheet1.xml": b"<worksheet>" + b"<a>" * (20 * million)})
    one, text = b"<row><c><v>1</v></c></row>", b'<c t="s"><v>0</v></c>'
    yield "xlsx of deep texts", bad.with_texts(one, b"<a>" * (20 * million))
    yield "xlsx of strings", bad.with_texts(one * 2, b"<si><t>a</t></si>" * 100_000 + b"</sst>")
    yield "xlsx of one text everywhere", bad.with_texts(
        b"<row>%s</row>" % (b"<c><v>1</v></c>" + text * 500) * 500, b"<si><t>%s</t></si></sst>" % (b"x" * 30_000))
    yield "zip of many", bad.as_zip({f"{k}.npy": b"" for k in range(10_001)})
    yield "parquet bomb", parquet_bomb()
    yield "npy of objects", bad.as_npy(np.array([["x", 1]], dtype=object))
    yield "npy that promises", np_header((10**9, 10**9)) + bytes(100)
    yield "npy of a long header", b"\x93NUMPY\x02\x00" + struct.pack("<I", 150 * million) + b"(" * (150 * million)
    yield "pickle", b"\x80\x04\x95" + bytes(100)
    yield "one line of a letter", b"x" * (200 * million)
    yield "one line of numbers", b"1," * (100 * million)
    yield "one quotation", b'a,b\n"' + b"x" * (199 * million)
    yield "quotation marks", b'"' * (200 * million)
    yield "blank lines", b"\n" * (200 * million)
    yield "comments", b"a,b\n1,2\n3,4\n" + b"#\n" * (50 * million)
    yield "utf-16 line", "x".encode("utf-16") + "1;".encode("utf-16-le") * (49 * million)
    yield "over the limit", bytes(201 * MB)


def parquet_bomb():
    """A small file in which one value stands for many hundred millions."""
    stream = io.BytesIO()
    one = pa.table({f"c{k}": pa.DictionaryArray.from_arrays(pa.array(np.zeros(2**20, np.int32)), pa.array([1.5]))
                    for k in range(4)})
    with pyarrow.parquet.ParquetWriter(stream, one.schema) as writer:
        for _ in range(60):
            writer.write_table(one)
    return stream.getvalue()


def np_header(shape):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return stream.getvalue()


READERS = {"study": Study.from_json, "scenario": Scenario.from_json, "plan": QuestionPlan.from_json,
           "ranges": ranges_from_text, "ledger": lambda text: Ledger().import_json(text)}


def cases(part):
    for name, text in json_files(part).items():
        for reader, read in READERS.items():
            yield f"{reader}: {name}", read, text
    for name, content in tables(part):
        yield f"table: {name}", read_table, content


def peak():
    """Megabytes that this process has ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main(megabytes, part, only=""):
    """Each file with so much memory to be had beside what holds the file itself."""
    for name, read, content in cases(part):
        if only in name:
            taken = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (taken + megabytes * MB, resource.RLIM_INFINITY))
            print(json.dumps({"name": name} | tried(read, content)), flush=True)
            del content
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def tried(read, content):
    start = time.perf_counter()
    try:
        said = str(read(content) and "")
    except InputError as error:
        said = str(error)
    except BaseException as error:  # noqa: BLE001 - a crash is what is looked for
        said = f"! {type(error).__name__}: {error}"
    return {"said": said[:300], "seconds": round(time.perf_counter() - start, 2), "megabytes": peak()}


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), *sys.argv[3:])
