"""Parquet files: only the columns of numbers, and those whose text is to be kept, are decoded."""

import re
from collections.abc import Iterable
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
from pyarrow import parquet

from mvgviz.data.columns import floats
from mvgviz.data.source import Source, damaged, megabytes
from mvgviz.data.table import Table, clean_names, listed
from mvgviz.errors import InputError
from mvgviz.validation import FloatArray

_BLOCK = 65_536
_INDEX = re.compile(r"__index_level_\d+__")


def read_parquet(source: Source, *, texts: Iterable[str] = ()) -> Table:
    """A Parquet file as a table."""
    try:
        return _read(source, set(texts))
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise damaged(source.name) from None


def _read(source: Source, wanted: set[str]) -> Table:
    file = parquet.ParquetFile(source.stream)
    schema, n_rows = file.schema_arrow, file.metadata.num_rows
    names = clean_names(schema.names, source.name)
    numeric = [i for i, field in enumerate(schema) if _is_numeric(field.type) and not _INDEX.fullmatch(field.name)]
    others = sorted({i for i, field in enumerate(schema) if not pa.types.is_null(field.type)} - {*numeric})
    if not n_rows >= 1:
        raise InputError(f"{source.name} has no records: at least two are needed.")
    kept = [i for i in others if names[i] in wanted]
    others = [i for i in others if i not in kept]
    if not numeric and not kept:
        raise InputError(f"{source.name} has no column of numbers: choose another file.")
    expanded = sum(file.metadata.row_group(i).total_byte_size for i in range(file.metadata.num_row_groups))
    if not expanded <= 4 * source.max_bytes:
        raise InputError(f"{source.name} expands to more than {megabytes(4 * source.max_bytes)}: keep fewer columns.")
    source.check_cells(n_rows, len(numeric) + len(kept))
    values = _values(file, [schema.names[i] for i in numeric], n_rows, source)
    filled = np.array([not np.isnan(column).all() for column in values.T])
    if not filled.any() and not kept:
        raise InputError(f"{source.name} has no numbers: every numeric column is empty.")
    used = [i for i, is_filled in zip(numeric, filled, strict=True) if is_filled]
    empty = sorted({*range(len(names))} - {*used, *others, *kept})
    notes = ["Read from a Parquet file."]
    for positions, words in ((others, "they hold no plain numbers"), (empty, "they are empty")):
        if positions:
            quoted = listed([names[i] for i in positions], [i + 1 for i in positions])
            notes.append(f"Set aside because {words}: {quoted}.")
    return Table(name=source.name, format="parquet", header=True, columns=tuple(names[i] for i in used),
                 values=values if filled.all() else values[:, filled],
                 texts={names[i]: _written(file.read(columns=[schema.names[i]]).column(0)) for i in kept},
                 text_columns=tuple(names[i] for i in others),
                 empty_columns=tuple(names[i] for i in empty), notes=tuple(notes))


def _values(file: Any, names: list[str], n_rows: int, source: Source) -> FloatArray:
    values = np.empty((n_rows, len(names)))
    row = 0
    for batch in file.iter_batches(batch_size=_BLOCK, columns=names, use_threads=False):
        if not row + batch.num_rows <= n_rows:
            break
        for slot, name in enumerate(names):
            column = batch.column(name)
            decoded = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
            # whole numbers beyond 2**53 are rounded
            values[row : row + batch.num_rows, slot] = floats(pc.cast(decoded, pa.float64(), safe=False))
        row += batch.num_rows
        source.report(row / n_rows)
    if row != n_rows:
        raise damaged(source.name)
    return values


def _written(column: Any) -> Any:
    """The cells of a column as text, dates as 2024-03-05."""
    cells = ("" if cell is None else cell.isoformat() if isinstance(cell, date) else str(cell).strip()
             for cell in column.to_pylist())
    return np.array(list(cells), dtype=object)


def _is_numeric(kind: Any) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return any(test(kind) for test in (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean,
                                       pa.types.is_decimal))
