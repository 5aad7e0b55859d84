"""A release as files: the noisy matrix (CSV, NPY), an interval for each number (CSV), what is to be known (JSON)."""

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from mvgviz.errors import InputError
from mvgviz.noise.sides import NoiseSide
from mvgviz.optional import optional
from mvgviz.provenance import Range
from mvgviz.query.record_bound import RecordBound
from mvgviz.release.intervals import LEVEL, covered_words
from mvgviz.release.release import Release
from mvgviz.text import csv_text, spreadsheet_cell
from mvgviz.validation import FloatArray

_FORMAT = 2
_TAKEN_AS_PUBLIC = ("the number of records (or vertices; of places, where a record may be absent), the names and the "
                   "order of the columns, the declared ranges and every choice not listed as read from the data")
MOST_INTERVALS = 100_000
"""Numbers that get a line of their own in the file of intervals; in a larger one each row of the answer gets one."""
_MOST_STD = 40_000  # numbers in the JSON
_DATA_UNITS = " (data's units)"


def to_csv(release: Release, row_names: Sequence[str] | None = None, col_names: Sequence[str] | None = None) -> str:
    """The noisy matrix with names; a table (identity query) has its records in rows, like a file of data.

    Names that a spreadsheet would read as a formula get an apostrophe; numbers are plain, to the last digit.
    """
    matrix = release.noisy
    usual_rows, usual_cols = release.names
    rows = _names("row_names", row_names, usual_rows, matrix.shape[0])
    cols = _names("col_names", col_names, usual_cols, matrix.shape[1])
    if release.kind.is_table:
        matrix, rows, cols = matrix.T, cols, rows
    lines = ([_cell(name), *map(repr, values.tolist())] for name, values in zip(rows, matrix, strict=True))
    return csv_text(chain([["", *map(_cell, cols)]], lines))


def to_intervals_csv(release: Release, level: float = LEVEL) -> str:
    """A line for each released number: its value and the ends of its interval; in the data's own units too, if known.

    Of more than ``MOST_INTERVALS`` numbers: a line for each row of the answer (each feature of a table) with the
    largest half width in it, which is that of every number in the row where the noise is the same in all columns.
    Where records were clipped to a bound, at the end how far that moved the numbers of the row at most.
    """
    noise, units = release.known_noise, release.data_units
    if release.noisy.size <= MOST_INTERVALS:
        names, columns = _names_of_numbers(release, _cell), _interval_columns(release, level, f" {level:g}")
    else:
        widths = noise.per_std(level) * noise.largest_std()
        names, columns = {_row_head(release): [*map(_cell, release.names[0])]}, {f"half width {level:g}": widths}
        if units is not None:
            columns |= {f"half width {level:g}{_DATA_UNITS}": widths * units.factor}
        columns |= _clipped(release)
    numbers = (map(repr, column.ravel().tolist()) for column in columns.values())
    return csv_text(chain([[*names, *columns]], map(list, zip(*names.values(), *numbers, strict=True))))


def interval_frame(release: Release, level: float) -> Any:
    """The lines of :func:`to_intervals_csv` as a pandas frame, one for each number."""
    columns = _interval_columns(release, level)
    return optional("pandas").DataFrame(
        _names_of_numbers(release) | {name: column.ravel() for name, column in columns.items()})


def _names_of_numbers(release: Release, written: Callable[[str], str] = str) -> dict[str, list[str]]:
    """The row and the column of each released number, by head."""
    rows, cols = ([written(name) for name in names] for names in release.names)
    return {_row_head(release): [row for row in rows for _ in cols],
            "record" if release.kind.is_table else "column": cols * len(rows)}


def _row_head(release: Release) -> str:
    return "feature" if release.row_names else "row"


def _interval_columns(release: Release, level: float, suffix: str = "") -> dict[str, FloatArray]:
    """Value and ends of each number's interval, rows × cols, by head; without ends where the noise may not be told."""
    columns, units = {"value": release.noisy}, release.data_units
    if release.entry_noise is not None:
        widths = release.half_widths(level)
        columns |= {f"lower{suffix}": release.noisy - widths, f"upper{suffix}": release.noisy + widths}
    if units is not None:
        columns |= {f"{name}{_DATA_UNITS}": units.of(values) for name, values in columns.items()}
    clipped = {name: np.repeat(most, release.noisy.shape[1]) for name, most in _clipped(release).items()}
    return columns | clipped


def _clipped(release: Release) -> dict[str, FloatArray]:
    """How far clipping moved the numbers of each row at most, by head; none where it moved none or may not be told."""
    if release.most_clipped is None:
        return {}
    most = np.broadcast_to(release.most_clipped.max(axis=1), len(release.noisy))
    columns, units = {"clipping adds at most": most}, release.data_units
    return columns if units is None else columns | {f"clipping adds at most{_DATA_UNITS}": most * units.factor}


def to_npy(release: Release) -> bytes:
    """The noisy matrix, rows × cols, as a file of numpy's own."""
    file = io.BytesIO()
    np.save(file, release.noisy, allow_pickle=False)
    return file.getvalue()


def to_metadata_json(release: Release) -> str:
    """Everything about the release but its numbers."""
    rows, cols = release.noisy.shape
    csv_layout = "records in rows, features in columns" if release.kind.is_table else "as the NPY"
    content = {
        "mvgviz_release": _FORMAT,
        "time": release.time,
        "query": {
            "name": release.query, "rows": rows, "cols": cols, "records": release.n_records,
            "row_names": release.row_names, "col_names": release.col_names,
            "neighbours": release.neighbour_rule, "sensitivity": release.sensitivity},
        "guarantee": {
            "words": release.guarantee, "epsilon": release.epsilon, "delta": release.delta, "mu": release.mu,
            "mu_is": release.mu_is, "epsilon_asked": release.epsilon_asked, "calibrated_by": release.calibrated_by,
            "caveats_accepted": release.caveats, "not_covered": release.not_covered},
        "noise": {
            "design": release.design, "mode": release.mode, "rows": _side(release.row_noise),
            "cols": _side(release.col_noise), "larger_than_designed_by_factor": release.hardening.noise_std,
            "symmetrised": release.symmetrised},
        "intervals": _intervals(release),
        "origins": {**release.origins, "chosen_on_the_data": release.chosen_on_data},
        "ranges": {
            "of_the_numbers_asked": _ends(release.ranges),
            "of_the_data": _ends(release.ranges if release.declared_ranges is None else release.declared_ranges),
            "origins": None if release.ranges is None else {name: it.origin for name, it in release.ranges.items()}},
        "record_bound": _bound(release.bound),
        "taken_as_public": _TAKEN_AS_PUBLIC,
        "layout": {"npy": f"{rows} × {cols}, rows as in row_names", "csv": csv_layout},
        "data": release.data,
        "scenario": None if release.scenario is None else json.loads(release.scenario.to_json()),
        "hardening": asdict(release.hardening),
        "versions": {"mvgviz": release.version, "opendp": release.opendp_version},
    }
    return json.dumps(content, indent=2, allow_nan=False)


def _intervals(release: Release) -> dict[str, Any] | None:
    """What each number's interval follows from: one number for each row and each column, not one for each entry."""
    noise, units = release.entry_noise, release.data_units
    if noise is None:
        return None
    covers, entry = covered_words(release.kind, bounded="bound" in release.origins), "rows[i] * cols[j]"
    if noise.symmetrised:
        entry += " on the diagonal, elsewhere sqrt((rows[i] * cols[j])**2 + (rows[j] * cols[i])**2"
        entry += ") / 2" if noise.shared is None else " + 2 * R[i][j] * C[i][j]) / 2, R and C the noise's covariances"
    return {
        "words": "the answer that was asked lies within half a width of a released number in "
                 f"{100 * LEVEL:g} % of releases, each number by itself; {covers}",
        "clipping_adds_at_most": None if release.most_clipped is None else release.most_clipped.max(axis=1).tolist(),
        "level": LEVEL, "half_width_in_std": noise.per_std(), "std_of_entry": entry,
        "std_rows": _compact(noise.rows), "std_cols": _compact(noise.cols),
        "std_layout": "rows and columns of the NPY; one number stands for all of them, null for too many to list",
        "data_units": None if units is None else {
            "words": "offset + factor * number, for each row; half widths times factor",
            "offset": units.offset.tolist(), "factor": units.factor.tolist()}}


def _bound(bound: RecordBound | None) -> dict[str, Any] | None:
    """What records were pulled into first; its numbers only where they tell nothing of the data."""
    if bound is None:
        return None
    told = bound.origin.is_covered and bound.directions is None
    return {
        "words": "records were drawn towards the centre c until ||diag(weights) (x - c)|| <= radius, before anything "
                 "was asked", "origin": bound.origin, "mu_spent_on_its_radius": bound.mu,
        "radius": bound.radius if told else None, "weights": np.asarray(bound.weights).tolist() if told else None,
        "centre": np.asarray(bound.centre).tolist() if told else None}


def _compact(values: FloatArray) -> float | list[float] | None:
    """One number where all are the same, None where there are too many."""
    if values.min() == values.max():
        return float(values[0])
    return values.tolist() if values.size <= _MOST_STD else None


def _names(what: str, given: Sequence[str] | None, usual: Sequence[str], size: int) -> Sequence[str]:
    names = usual if given is None else tuple(given)
    if len(names) != size or not all(isinstance(name, str) for name in names):
        raise InputError(f"{what} must be {size} names, got {len(names)}")
    return names


def _cell(name: str) -> str:
    """On one line (a lone carriage return would begin a new one, unquoted), and no formula."""
    return spreadsheet_cell(" ".join(name.split()))


def _ends(ranges: Mapping[str, Range] | None) -> dict[str, list[float]] | None:
    return None if ranges is None else {name: [known.low, known.high] for name, known in ranges.items()}


def _side(side: NoiseSide | None) -> dict[str, Any] | None:
    """``W diag(variances) Wᵀ``: W is None for the standard basis."""
    return None if side is None else {
        "variances": side.variances.tolist(),
        "directions": None if side.is_diagonal else side.directions.matrix.tolist()}


_FILES: tuple[tuple[str, str, str, str, Callable[..., str | bytes]], ...] = (
    ("Noisy answer as CSV", "csv", ".csv", "text/csv", to_csv),
    ("An interval for each number, as CSV", "intervals", "_intervals.csv", "text/csv", to_intervals_csv),
    ("Noisy answer as NPY", "npy", ".npy", "application/octet-stream", to_npy),
    ("What is to be known about it, as JSON", "json", ".json", "application/json", to_metadata_json))
"""Label, key, end of the name, type and content."""


def files_of(number: int, release: Release) -> Iterator[tuple[str, str, str, str, Callable[[], str | bytes]]]:
    """Label, key, name, type and content of each file of a session's release."""
    stem = f"release_{number}_{release.data}_{release.query.replace(' ', '_')}"
    for label, key, end, mime, content in _FILES:
        if content is not to_intervals_csv or release.entry_noise is not None:
            yield label, key, f"{stem}{end}", mime, partial(content, release)


def zipped(releases: Sequence[Release]) -> bytes:
    """Every file of every release in one archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for number, release in enumerate(releases, 1):
            for _, _, name, _, content in files_of(number, release):
                packed.writestr(name, content())
    return file.getvalue()
