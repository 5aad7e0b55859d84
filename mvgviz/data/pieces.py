"""A table that does not fit into memory: ask it piece by piece, with the answer of the whole.

>>> import numpy as np
>>> from mvgviz import Dataset, Pieces, covariance
>>> rng = np.random.default_rng(0)
>>> parts = [Dataset(matrix=rng.uniform(-1, 1, (2, n)), features=("a", "b"), lower=-1, upper=1) for n in (30, 50)]
>>> whole = Dataset(matrix=np.hstack([part.matrix for part in parts]), features=("a", "b"), lower=-1, upper=1)
>>> asked = Pieces(parts).covariance()
>>> wanted = covariance(whole)
>>> bool(np.allclose(asked.value, wanted.value, rtol=1e-12)), asked.sensitivity == wanted.sensitivity
(True, True)

Means and second moments are sums over (clipped) records: the answers of the pieces, weighted by their numbers of
records, add up to the answer, and one record moves it less the more there are. On a Dask cluster the workers ask the
pieces and add the sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from mvgviz.errors import InputError
from mvgviz.noise.sides import NoiseSide
from mvgviz.provenance import Ranges, weakest
from mvgviz.query.dataset import Dataset
from mvgviz.query.moments import JoinedOuterProduct, MomentsQuery, moments
from mvgviz.query.neighbours import ReplacedColumn, ReplacedOuterProduct
from mvgviz.query.queries import Query, covariance, joint_moments, mean
from mvgviz.query.record_bound import RecordBound
from mvgviz.validation import FloatArray, count, frozen, instance

_Loader: TypeAlias = Callable[[], Dataset | None]
_EMPTY = "a table in pieces must have at least one piece with records"
_SOURCE = "the pieces of a table must be a list of datasets, or a function that returns them for each question"
ROWS = 100_000
"""Records of a file in memory at once."""


@dataclass(frozen=True, kw_only=True)
class _Part:
    """The sum over the records of some pieces, how many there are, and a query of one piece."""

    total: FloatArray = field(repr=False)
    records: int
    asked: Query | MomentsQuery = field(repr=False)
    header: tuple[object, ...]

    def plus(self, other: _Part) -> _Part:
        mine, theirs = _query(self.asked), _query(other.asked)
        if self.header != other.header:
            raise InputError("the pieces must have the same features in the same order, with the same ranges")
        asked = _with_query(self.asked, replace(
            mine, records_origin=weakest([mine.records_origin, theirs.records_origin]),
            ranges_origin=weakest([mine.ranges_origin, theirs.ranges_origin])))
        return replace(self, total=self.total + other.total, records=self.records + other.records, asked=asked)


class Pieces:
    """Datasets with the same features and ranges, read once for each question.

    ``source``: a list, or a function that returns the pieces. ``cluster``: a ``dask.distributed.Client`` whose workers
    ask the pieces; these are then functions without arguments that load a dataset.
    """

    def __init__(self, source: Iterable[Dataset | _Loader] | Callable[[], Iterator[Dataset | None]], *,
                 cluster: Any = None) -> None:
        if isinstance(source, str) or not (callable(source) or isinstance(source, Iterable)):
            raise InputError(_SOURCE)
        if not (cluster is None or hasattr(cluster, "submit")):
            raise InputError(f"cluster must be a dask.distributed.Client, got a {type(cluster).__name__}")
        self._source, self._cluster = source, cluster

    @classmethod
    def from_parquet(cls, files: str | Path | Iterable[str | Path], *, ranges: Ranges, missing: str = "reject",
                     columns: Iterable[str] | None = None, rows: int = ROWS, cluster: Any = None) -> Pieces:
        """Read Parquet files, or all of a folder, with at most ``rows`` records in memory.

        Declare ``ranges`` for all used columns. On a cluster every worker must see the files.
        """
        paths = _paths(files)
        settings = _settings(ranges, missing, columns)
        size = count("rows", rows)
        if cluster is None:
            return cls(partial(_batches, paths, size, settings))
        groups = [(path, group) for path in paths for group in range(_opened(path, settings).num_row_groups)]
        return cls([partial(_row_group, path, group, settings) for path, group in groups], cluster=cluster)

    @classmethod
    def from_dask(cls, frame: Any, *, ranges: Ranges, missing: str = "reject", columns: Iterable[str] | None = None,
                  cluster: Any = None) -> Pieces:
        """Read the partitions of a ``dask.dataframe`` one by one, or on the cluster."""
        if not hasattr(frame, "partitions"):
            raise InputError(f"frame must be a dask.dataframe, got a {type(frame).__name__}")
        settings = _settings(ranges, missing, columns)
        return cls([partial(_partition, part, settings) for part in frame.partitions], cluster=cluster)

    def mean(self, *, bound: RecordBound | None = None, neighbours: str = "replace") -> Query:
        """As :func:`mvgviz.mean` of the whole table."""
        return _query(self._asked(partial(mean, bound=bound, neighbours=neighbours)))

    def covariance(self, *, bound: RecordBound | None = None, neighbours: str = "replace") -> Query:
        """As :func:`mvgviz.covariance` of the whole table."""
        return _query(self._asked(partial(covariance, bound=bound, neighbours=neighbours)))

    def joint_moments(self, *, bound: RecordBound | None = None, neighbours: str = "replace") -> Query:
        """As the scenario's query "moments" of the whole table: the constant 1 joined to every record."""
        return _query(self._asked(partial(joint_moments, bound=bound, neighbours=neighbours)))

    def moments(self, *, bound: RecordBound, constant: float | None = None, whole: bool = False) -> MomentsQuery:
        """As :func:`mvgviz.moments` of the whole table."""
        asked = self._asked(partial(moments, bound=bound, constant=constant, whole=whole))
        assert isinstance(asked, MomentsQuery)
        return asked

    def count_outside(self, bound: RecordBound) -> int:
        """Return how many records the bound would clip: read from the data, not private."""
        return sum(instance("bound", bound, RecordBound).count_outside(piece) for piece in self._pieces())

    def _pieces(self) -> Iterator[Dataset]:
        source = self._source() if callable(self._source) else self._source
        if not isinstance(source, Iterable):
            raise InputError(_SOURCE)
        loaded = (piece() if callable(piece) else piece for piece in source)
        return (piece for piece in loaded if piece is not None)

    def _asked(self, ask: Callable[[Dataset], Query | MomentsQuery]) -> Query | MomentsQuery:
        if self._cluster is not None:
            return _whole(_on_cluster(self._cluster, list(self._source), ask))  # type: ignore[arg-type]
        waiting: list[_Part | None] = []  # add pairs of equal size first, so that rounding does not grow
        for position, piece in enumerate(self._pieces(), start=1):
            waiting.append(_sum(piece, ask))
            while position % 2 == 0:
                last = waiting.pop()
                waiting[-1] = _added(waiting[-1], last)
                position //= 2
        return _whole(reduce(lambda last, before: _added(before, last), reversed(waiting), None))


def _added(one: _Part | None, other: _Part | None) -> _Part | None:
    return one.plus(other) if one is not None and other is not None else other if one is None else one


def _sum(piece: Dataset | _Loader | None, ask: Callable[[Dataset], Query | MomentsQuery]) -> _Part | None:
    """Return one piece's sum, None without records; keep only what is public of its query."""
    data = piece() if callable(piece) else piece
    if data is None:
        return None
    if instance("a piece of a table", data, Dataset).per_person > 1:
        raise InputError("a table in pieces must have one record a person: another record may lie in another piece")
    asked = ask(data)
    query = _query(asked)
    held = replace(query, value=frozen(np.zeros_like(query.value)))
    if isinstance(asked, MomentsQuery):  # any record that ranges and levels allow
        record, levels = data.lower.copy(), [group[0] for group in data.levels]
        record[levels] = data.upper[levels]
        asked = replace(asked, dataset=replace(data, matrix=record[:, None]))
    header = (data.features, data.lower.tobytes(), data.upper.tobytes(), data.levels)
    return _Part(total=query.value * data.n_records, records=data.n_records, asked=_with_query(asked, held),
                 header=header)


def _whole(part: _Part | None) -> Query | MomentsQuery:
    """Return the answer of all records, and what one of them can change."""
    if part is None:
        raise InputError(_EMPTY)
    query = _query(part.asked)
    body, fewer = query.neighbours, part.records / (query.n_records or part.records)
    if isinstance(body, ReplacedColumn):
        body = replace(body, divisor=body.divisor * fewer)
    else:
        assert isinstance(body, ReplacedOuterProduct | JoinedOuterProduct)
        body = replace(body, n_records=body.n_records * fewer)
    unit = NoiseSide.identity(query.rows)
    move = body.worst(unit, unit if query.symmetric else NoiseSide.identity(query.cols)).mu
    whole = replace(query, value=frozen(part.total / part.records), sensitivity=move, n_records=part.records,
                    printed_sensitivity=query.printed_sensitivity / fewer, neighbours=body)
    return _with_query(part.asked, whole)


def _query(asked: Query | MomentsQuery) -> Query:
    return asked if isinstance(asked, Query) else asked.query


def _with_query(asked: Query | MomentsQuery, query: Query) -> Query | MomentsQuery:
    return query if isinstance(asked, Query) else replace(asked, query=query)


def _on_cluster(client: Any, pieces: list[_Loader], ask: Callable[[Dataset], Query | MomentsQuery]) -> _Part | None:
    if not pieces:
        return None
    sums = [client.submit(_sum, piece, ask, pure=False) for piece in pieces]
    while len(sums) > 1:
        pairs = [client.submit(_added, one, other, pure=False)
                 for one, other in zip(sums[::2], sums[1::2], strict=False)]
        sums = [*pairs, *sums[2 * len(pairs):]]
    return client.gather(sums[0])  # type: ignore[no-any-return]


def _settings(ranges: Ranges, missing: str, columns: Iterable[str] | None) -> dict[str, Any]:
    """Return how to use every piece, with ranges that no piece can change."""
    if not isinstance(ranges, Mapping):
        raise InputError("ranges must map column names to pairs (low, high)")
    if isinstance(columns, str) or not isinstance(columns, Iterable | None):
        raise InputError("columns must be a sequence of column names")
    chosen = tuple(ranges) if columns is None else tuple(columns)
    if not set(chosen) <= set(ranges):
        raise InputError("declare a range for every column of a table in pieces: one piece does not show the range of "
                         "the others")
    return {"ranges": {name: ranges[name] for name in chosen}, "missing": missing, "columns": chosen}


def _paths(files: str | Path | Iterable[str | Path]) -> list[Path]:
    if isinstance(files, str | Path):
        one = Path(files)
        found = sorted(one.glob("*.parquet")) if one.is_dir() else [one]
    else:
        named = list(files) if isinstance(files, Iterable) else [files]
        if not all(isinstance(file, str | Path) for file in named):
            raise InputError("files must name Parquet files, or a folder of them")
        found = [Path(file) for file in named]
    missing = [path.name for path in found if not path.is_file()]
    if missing or not found:
        raise InputError(f"no Parquet file found: {missing[0]}" if missing else "the folder has no Parquet file")
    return found


def _opened(path: Path, settings: dict[str, Any]) -> Any:
    from pyarrow import ArrowInvalid, parquet  # type: ignore[import-untyped]

    try:
        file = parquet.ParquetFile(path)
    except (ArrowInvalid, OSError):
        raise InputError(f"{path.name} is not a Parquet file, or is damaged") from None
    gone = [name for name in settings["columns"] if name not in file.schema_arrow.names]
    if gone:
        raise InputError(f"{path.name} has no column named {gone[0]!r}")
    return file


def _batches(paths: list[Path], rows: int, settings: dict[str, Any]) -> Iterator[Dataset | None]:
    for path in paths:
        with _opened(path, settings) as file:
            for batch in file.iter_batches(batch_size=rows, columns=list(settings["columns"])):
                yield _used(batch.to_pandas(), settings)


def _row_group(path: Path, group: int, settings: dict[str, Any]) -> Dataset | None:
    with _opened(path, settings) as file:
        return _used(file.read_row_group(group, columns=list(settings["columns"])).to_pandas(), settings)


def _partition(part: Any, settings: dict[str, Any]) -> Dataset | None:
    return _used(part.compute(), settings)


def _used(frame: Any, settings: dict[str, Any]) -> Dataset | None:
    """Return a piece as a dataset, even of one record; None if all have missing values."""
    kept = frame[list(settings["columns"])]
    kept = kept.dropna() if settings["missing"] == "drop" else kept
    if len(kept) != 1:
        return Dataset.from_frame(kept, **settings) if len(kept) else None
    data = Dataset.from_frame(kept.iloc[[0, 0]], **settings)
    return replace(data, matrix=data.matrix[:, :1])
