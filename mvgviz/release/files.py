"""A release as files: the noisy matrix (CSV, NPY), an interval for each number (CSV), the certificate (JSON)."""

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from mvgviz.errors import refuse
from mvgviz.labels import GAPS
from mvgviz.noise.sides import NoiseSide
from mvgviz.optional import optional
from mvgviz.provenance import Range
from mvgviz.query.record_bound import RecordBound
from mvgviz.release.answer import Release
from mvgviz.release.combine import means_by_group
from mvgviz.release.intervals import LEVEL, OUTSIDE, covered_words, lines, row_widths
from mvgviz.text import csv_text, spreadsheet_cell
from mvgviz.validation import FloatArray

MOST_INTERVALS = 100_000
"""Up to so many numbers the file of intervals has a line for each number, beyond a line for each row."""


def to_csv(release: Release, row_names: Sequence[str] | None = None, col_names: Sequence[str] | None = None) -> str:
    """Return the noisy matrix with names, in the data's units if known, a table with records in rows; no formulas."""
    matrix = release.in_units
    rows, cols = (tuple(usual if given is None else given)
                  for given, usual in zip((row_names, col_names), release.names, strict=True))
    refuse((len(rows), len(cols)) != matrix.shape or not all(isinstance(name, str) for name in (*rows, *cols)),
           f"give {matrix.shape[0]} names of rows and {matrix.shape[1]} of columns, got {len(rows)} and {len(cols)}")
    if release.kind.is_table:
        matrix, rows, cols = matrix.T, cols, rows
    lines = ([cell(name), *map(repr, values.tolist())] for name, values in zip(rows, matrix, strict=True))
    return csv_text(chain([["", *map(cell, cols)]], lines))


def to_intervals_csv(release: Release, level: float = LEVEL) -> str:
    """Return a line for each number: value, interval and the effect of clipping, in the data's units if known.

    Beyond ``MOST_INTERVALS`` numbers: a line for each row of the answer with the largest half width in it.
    """
    noise = release.known_noise
    if release.noisy.size <= MOST_INTERVALS:
        return columns_csv(_lines(release, level, f" {level:g}"))
    columns = {f"half width {level:g}": row_widths(noise, release.data_units, level)}
    columns |= {name: most.max(axis=1) for name, most in clipped_columns(release).items()}
    return columns_csv({_row_head(release): list(release.names[0])} | {
        name: column.tolist() for name, column in columns.items()})


def interval_frame(release: Release, level: float) -> Any:
    """Return the lines of :func:`to_intervals_csv`, one for each number, as a pandas frame."""
    return optional("pandas").DataFrame(_lines(release, level))


def columns_csv(columns: Mapping[str, Sequence[str] | Sequence[float]]) -> str:
    """Return columns by heading as CSV: no text is a formula, and numbers have all their digits."""
    cells = ([cell(one) if isinstance(one, str) else repr(one) for one in column] for column in columns.values())
    return csv_text([list(columns), *map(list, zip(*cells, strict=True))])


def _row_head(release: Release) -> str:
    return "feature" if release.row_names else "row"


def _lines(release: Release, level: float, suffix: str = "") -> dict[str, list[Any]]:
    """Return value and interval of each number by heading; no interval if the noise is not private."""
    columns = {"value": release.in_units}
    if release.entry_noise is not None:
        widths = release.half_widths(level, in_units=True)
        columns |= {f"lower{suffix}": release.in_units - widths, f"upper{suffix}": release.in_units + widths}
    heads = _row_head(release), "record" if release.kind.is_table else "column"
    return lines(release.names, columns | clipped_columns(release), heads)


def clipped_columns(release: Release) -> dict[str, FloatArray]:
    """Return how far clipping moved each number at most, by heading; empty if there was none or it is not private."""
    if release.most_clipped is None:
        return {}
    most = np.broadcast_to(release.most_clipped.max(axis=1)[:, None], release.noisy.shape)
    return {"clipping adds at most": most if release.data_units is None else release.data_units.widths(most)}


def to_npy(release: Release) -> bytes:
    """Return the noisy matrix, rows × cols, as an NPY file."""
    file = io.BytesIO()
    np.save(file, release.noisy, allow_pickle=False)
    return file.getvalue()


def to_metadata_json(release: Release) -> str:
    """Return the certificate: everything about the release but its numbers."""
    if release.certificate:
        return release.certificate
    rows, cols = release.noisy.shape
    of_data = release.ranges if release.declared_ranges is None else release.declared_ranges
    csv_layout = "records in rows, features in columns" if release.kind.is_table else "as the NPY"
    csv_layout += ", in the units of the query" if release.data_units is None else ", in the data's units"
    content = {
        "mvgviz_release": 3,
        "time": release.time,
        "query": {
            "name": release.query, "rows": rows, "cols": cols, "records": release.n_records,
            "row_names": release.row_names, "col_names": release.col_names,
            "neighbours": release.neighbour_rule, "sensitivity": release.sensitivity},
        "guarantee": {
            "words": release.guarantee, "epsilon": release.epsilon, "delta": release.delta, "mu": release.mu,
            "rho": release.rho, "mu_is": release.mu_is, "epsilon_pure": release.epsilon_pure,
            "together": release.together,
            "epsilon_asked": release.epsilon_asked, "calibrated_by": release.calibrated_by,
            "caveats_accepted": release.caveats, "not_covered": release.not_covered},
        "noise": {
            "family": release.family, "design": release.design, "mode": release.mode, "rows": _side(release.row_noise),
            "cols": _side(release.col_noise), "larger_than_designed_by_factor": release.hardening.noise_std,
            "symmetrised": release.symmetrised},
        "intervals": _intervals(release),
        "origins": {**release.origins, "chosen_on_the_data": release.chosen_on_data},
        "ranges": {
            "of_the_numbers_asked": _ends(release.ranges), "of_the_data": _ends(of_data),
            "origins": _origins(release.ranges), "origins_of_the_data": _origins(of_data)},
        "prepared": {
            "gaps": release.gaps, "words": GAPS.get(release.gaps, ""), "records_per_person": release.per_person,
            "protects": "" if release.per_person is None else
            f"a whole person: {'1 record' if release.per_person == 1 else f'{release.per_person:,} records'} at most"},
        "record_bound": _bound(release.bound),
        "taken_as_public": _taken_as_public(release),
        "layout": {"npy": f"{rows} × {cols}, rows as in row_names", "csv": csv_layout},
        "data": release.data,
        "title": release.title,
        "units": release.units,
        "scenario": None if release.scenario is None else json.loads(release.scenario.to_json()),
        "hardening": asdict(release.hardening),
        "versions": {"mvgviz": release.version, "opendp": release.opendp_version},
    }
    return json.dumps(content, indent=2, allow_nan=False)


def _taken_as_public(release: Release) -> str:
    count = "the number of records (or of vertices, or of places for records), "
    return (f"{count * ('records' not in release.caveats)}the names, kinds and order of the columns, the declared "
            "ranges, and every choice not listed as read from the data")


def _intervals(release: Release) -> dict[str, Any] | None:
    """Return what intervals follow from: a number for each row and each column, not for each entry."""
    noise, units = release.entry_noise, release.data_units
    if noise is None:
        return None
    covers = covered_words(release.kind, bounded="bound" in release.origins, gaps=release.gaps)
    covers += f"; {OUTSIDE}" * (release.kind.degree == 1)
    entry = "rows[i] * cols[j]"
    if noise.symmetrised:
        entry += " on the diagonal, elsewhere sqrt((rows[i] * cols[j])**2 + (rows[j] * cols[i])**2"
        entry += ") / 2" if noise.shared is None else " + 2 * R[i][j] * C[i][j]) / 2, R and C the noise's covariances"
    return {
        "words": f"in {100 * LEVEL:g} % of releases the number without noise lies within the half width of the "
                 f"released one, for each number alone; {covers}",
        "clipping_adds_at_most": None if release.most_clipped is None else release.most_clipped.max(axis=1).tolist(),
        "level": LEVEL, "half_width_in_std": _compact(noise.per_row()), "rounding_in_std": noise.rounding,
        "std_of_entry": entry, "entries_share_noise": noise.shared is not None,
        "std_rows": _compact(noise.rows), "std_cols": _compact(noise.cols),
        "std_layout": "rows and columns of the NPY; one number stands for all, null means too many to list",
        "data_units": None if units is None else {
            "words": "number in the data's units: offset[i] + factor[i] * cols[j] * number; half width: times "
                     "factor[i] * cols[j]; second moments stay about the point mapped onto 0 (the middle or the lower "
                     "end of each range), sums by group about the middle",
            "offset": units.offset.tolist(), "factor": units.factor.tolist(), "cols": units.cols.tolist()}}


def _bound(bound: RecordBound | None) -> dict[str, Any] | None:
    """Return the clipping bound, with its numbers only if they reveal nothing of the data."""
    if bound is None:
        return None
    numbers = {name: np.asarray(getattr(bound, name)).tolist() if bound.is_public else None
               for name in ("radius", "weights", "centre")}
    return {"words": "each record x was clipped first: moved towards the centre c until ||diag(weights) (x - c)|| <= "
                     "radius", "origin": bound.origin, "mu_spent_on_its_radius": bound.mu} | numbers


def _compact(values: FloatArray) -> float | list[float] | None:
    """Return one number if all are the same, None if there are too many."""
    if values.min() == values.max():
        return float(values[0])
    return values.tolist() if values.size <= 40_000 else None


def cell(name: str) -> str:
    """Return a name on one line that is no formula; a lone carriage return would begin a new line."""
    return spreadsheet_cell(" ".join(name.split()))


def _ends(ranges: Mapping[str, Range] | None) -> dict[str, list[float]] | None:
    return None if ranges is None else {name: [known.low, known.high] for name, known in ranges.items()}


def _origins(ranges: Mapping[str, Range] | None) -> dict[str, str] | None:
    return None if ranges is None else {name: known.origin for name, known in ranges.items()}


def _side(side: NoiseSide | None) -> dict[str, Any] | None:
    """``W diag(variances) Wᵀ``: W is None for the standard basis."""
    return None if side is None else {
        "variances": side.variances.tolist(),
        "directions": None if side.is_diagonal else side.directions.matrix.tolist()}


def to_means_csv(release: Release) -> str:
    """Return means by group with their intervals, in the data's units."""
    return columns_csv(means_by_group(release).columns())


_FILES: tuple[tuple[str, str, str, str, Callable[..., str | bytes]], ...] = (
    ("Means by group as CSV", "means", "_means.csv", "text/csv", to_means_csv),
    ("Answer as CSV", "csv", ".csv", "text/csv", to_csv),
    ("Intervals as CSV", "intervals", "_intervals.csv", "text/csv", to_intervals_csv),
    ("Answer for Python (NPY)", "npy", ".npy", "application/octet-stream", to_npy),
    ("Certificate as JSON", "json", ".json", "application/json", to_metadata_json))


def files_of(number: int, release: Release) -> Iterator[tuple[str, str, str, str, Callable[[], str | bytes]]]:
    """Yield label, key, name, type and content of each file of a release."""
    called = re.sub(r"[^\w.-]+", "_", release.title or release.data or "data")
    stem = f"release_{number}_{called}_{release.query.replace(' ', '_')}"
    for label, key, end, mime, content in _FILES:
        if (release.entry_noise is not None or content not in (to_intervals_csv, to_means_csv)) and (
                release.kind.by_group or content is not to_means_csv):
            yield label, key, f"{stem}{end}", mime, partial(content, release)


def zipped(releases: Sequence[Release]) -> bytes:
    """Return every file of every release in one archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for place, release in enumerate(releases, 1):
            for _, _, name, _, content in files_of(release.number or place, release):
                packed.writestr(name, content())
    return file.getvalue()
