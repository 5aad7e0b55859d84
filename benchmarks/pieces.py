"""A table in pieces: time and peak memory of one pass over Parquet files, against the same in memory.

    python benchmarks/pieces.py                       # 10⁶ × 20, beside the same table in memory
    python benchmarks/pieces.py --records 10000000    # 10⁷ × 20, in pieces alone

Memory is that of the process that asks, above what it had before. Nothing here fails.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import pyarrow as pa
from pyarrow import parquet

FEATURES = 20
PER_FILE = 1_000_000
MOST_IN_MEMORY = 1_000_000
RANGES = {f"x{i}": (-1.0, 1.0) for i in range(FEATURES)}


def write(folder: pathlib.Path, records: int) -> None:
    """Files of a million records, in groups of a hundred thousand."""
    rng = np.random.default_rng(0)
    for k, start in enumerate(range(0, records, PER_FILE)):
        size = min(PER_FILE, records - start)
        columns = {name: rng.uniform(-1, 1, size) for name in RANGES}
        parquet.write_table(pa.table(columns), folder / f"{k:04}.parquet", row_group_size=100_000, compression="none")


def ask(folder: pathlib.Path, *, in_pieces: bool) -> tuple[float, float]:
    """Seconds, and megabytes above the start; run in a process of its own."""
    import resource  # not on Windows

    import mvgviz as mv

    bound = mv.RecordBound(radius=2.0)
    mv.covariance(mv.Dataset(matrix=np.zeros((2, 3)), features=("a", "b"), lower=-1, upper=1))  # all is imported
    import pandas as pd

    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    if in_pieces:
        mv.Pieces.from_parquet(folder, ranges=RANGES).covariance(bound=bound)
    else:
        frame = pd.concat([pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))])
        mv.covariance(mv.Dataset.from_frame(frame, ranges=RANGES), bound=bound)
    return time.perf_counter() - start, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def main() -> None:
    """One line for each way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--ask", choices=("pieces", "memory"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.ask:
        print(*ask(chosen.folder, in_pieces=chosen.ask == "pieces"))
        return
    with tempfile.TemporaryDirectory() as name:
        write(pathlib.Path(name), chosen.records)
        ways = ("pieces", "memory") if chosen.records <= MOST_IN_MEMORY else ("pieces",)
        found = {way: [float(part) for part in subprocess.run(
            [sys.executable, __file__, "--ask", way, "--folder", name], capture_output=True, text=True,
            check=True).stdout.split()] for way in ways}
    for way, (seconds, megabytes) in found.items():
        table = chosen.records * FEATURES * 8 / 2**20
        print(f"second moments of {chosen.records:,} × {FEATURES} in {way}: {seconds:.1f} s, peak {megabytes:.0f} MB "
              f"({megabytes / table:.2f} of the table)")


if __name__ == "__main__":
    main()
