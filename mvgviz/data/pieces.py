"""A table that does not fit into memory: ask it piece by piece, with the answer of the whole.

>>> import numpy as np
>>> from mvgviz import Dataset, Pieces
>>> parts = [Dataset(matrix=np.full((1, n), x), features=("a",), lower=-1, upper=1) for n, x in ((30, 0), (10, 1))]
>>> float(Pieces(parts).mean().value[0, 0])
0.25

The answers are sums over records, so those of the pieces add up; on a Dask cluster the workers ask them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial, reduce, wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeAlias

import numpy as np

from mvgviz.errors import InputError, refuse
from mvgviz.noise.sides import NoiseSide
from mvgviz.provenance import Category, Origin, Ranges, weakest
from mvgviz.query import queries
from mvgviz.query.counts import ReplacedCell
from mvgviz.query.dataset import Dataset
from mvgviz.query.frames import as_category, first_of_each, most_of_each, people
from mvgviz.query.group_means import ReplacedMember
from mvgviz.query.moments import MomentsQuery, moments
from mvgviz.query.neighbours import ReplacedColumn
from mvgviz.query.queries import Query
from mvgviz.query.record_bound import RecordBound
from mvgviz.validation import FloatArray, count, frozen, instance

P = ParamSpec("P")
_Loader: TypeAlias = Callable[[], Dataset | None]
_Ask: TypeAlias = Callable[[Dataset], Query]
_Reader: TypeAlias = Callable[[list[str]], Iterator[Any]]
"""Returns frames with these columns."""
Levels: TypeAlias = Mapping[str, Iterable[Any] | Category]
_SOURCE = "the pieces of a table must be a list of datasets, or a function that returns them for each question"
ROWS = 100_000
"""Records of a file in memory at once."""


@dataclass(frozen=True, kw_only=True)
class _Part:
    """The sum over the records of some pieces, how many there are, and what is public of one of them."""

    total: FloatArray = field(repr=False)
    records: int
    query: Query = field(repr=False)
    about: Dataset = field(repr=False)

    def plus(self, other: _Part) -> _Part:
        mine, theirs, both = self.about, other.about, (self.query, other.query)
        refuse((mine.features, mine.levels) != (theirs.features, theirs.levels)
               or not (np.array_equal(mine.lower, theirs.lower) and np.array_equal(mine.upper, theirs.upper)),
               "the pieces must have the same features in the same order, with the same ranges")
        query = replace(self.query, records_origin=weakest(query.records_origin for query in both),
                        ranges_origin=weakest(query.ranges_origin for query in both))
        return replace(self, total=self.total + other.total, records=self.records + other.records, query=query)


def _asked(ask: Callable[Concatenate[Dataset, P], Query]) -> Callable[Concatenate[Pieces, P], Query]:
    """Return a method that asks as this function asks the whole table."""
    @wraps(ask)
    def method(self: Pieces, /, *args: P.args, **options: P.kwargs) -> Query:
        return _whole(self._sum(partial(_ask_with, ask, args, options)))

    return method


def _ask_with(ask: Callable[..., Query], args: tuple[Any, ...], options: dict[str, Any], data: Dataset) -> Query:
    return ask(data, *args, **options)


class Pieces:
    """Datasets with the same features and ranges, in a list or from a function, read once for each question.

    ``cluster``: a ``dask.distributed.Client`` whose workers ask the pieces: functions that load a dataset.
    """

    def __init__(self, source: Iterable[Dataset | _Loader] | Callable[[], Iterator[Dataset | None]], *,
                 cluster: Any = None) -> None:
        if isinstance(source, str) or not (callable(source) or isinstance(source, Iterable)):
            raise InputError(_SOURCE)
        if not (cluster is None or hasattr(cluster, "submit")):
            raise InputError(f"cluster must be a dask.distributed.Client, got a {type(cluster).__name__}")
        self._source, self._cluster, self._at_most = source, cluster, 0

    @classmethod
    def from_parquet(cls, files: str | Path | Iterable[str | Path], *, ranges: Ranges, missing: str = "reject",
                     columns: Iterable[str] | None = None, levels: Levels | None = None, person: str | None = None,
                     at_most: int | None = None, rows: int = ROWS, cluster: Any = None) -> Pieces:
        """Read Parquet files, or all of a folder, with at most ``rows`` records in memory.

        Declare ``ranges`` or ``levels`` for all used columns; arguments as for :meth:`mvgviz.Dataset.from_frame`.
        """
        paths, use = _paths(files), _Use.of(ranges, missing, columns, levels, person, at_most)
        size = count("rows", rows)
        if cluster is None:
            return cls._of([partial(_batches, path, size) for path in paths], use, None)
        return cls._of([partial(_row_group, path, group) for path in paths
                        for group in range(_opened(path, use.read).num_row_groups)], use, cluster)

    @classmethod
    def from_dask(cls, frame: Any, *, ranges: Ranges, missing: str = "reject", columns: Iterable[str] | None = None,
                  levels: Levels | None = None, person: str | None = None, at_most: int | None = None,
                  cluster: Any = None) -> Pieces:
        """Read the partitions of a ``dask.dataframe`` one by one, or on the cluster; as :meth:`from_parquet`."""
        refuse(not hasattr(frame, "partitions"), f"frame must be a dask.dataframe, got a {type(frame).__name__}")
        return cls._of([partial(_partition, part) for part in frame.partitions],
                       _Use.of(ranges, missing, columns, levels, person, at_most), cluster)

    @classmethod
    def _of(cls, readers: list[_Reader], use: _Use, cluster: Any) -> Pieces:
        made = cls(partial(_in_turn, readers, use) if cluster is None else [_Read(each, use) for each in readers],
                   cluster=cluster)
        made._at_most = use.at_most
        return made

    mean, covariance = _asked(queries.mean), _asked(queries.covariance)
    joint_moments, counts = _asked(queries.joint_moments), _asked(queries.counts)
    cross_table, group_means = _asked(queries.cross_table), _asked(queries.group_means)
    cross_moments = _asked(queries.cross_moments)

    def moments(self, *, bound: RecordBound, constant: float | None = None, whole: bool = False,
                neighbours: str = "replace") -> MomentsQuery:
        """As :func:`mvgviz.moments` of the whole table."""
        ask = partial(moments, bound=bound, constant=constant, whole=whole, neighbours=neighbours)
        part = self._sum(partial(_moments_query, ask))
        return replace(ask(part.about), query=_whole(part))

    def count_outside(self, bound: RecordBound) -> int:
        """Return how many records the bound would clip: read from the data, not private."""
        return sum(instance("bound", bound, RecordBound).count_outside(piece) for piece in self._pieces())

    def _pieces(self) -> Iterator[Dataset]:
        source = self._source() if callable(self._source) else self._source
        if not isinstance(source, Iterable):
            raise InputError(_SOURCE)
        if self._cluster is not None:
            source = _counted(self._cluster, list(source))
        loaded = (piece() if callable(piece) else piece for piece in source)
        return (piece for piece in loaded if piece is not None)

    def _sum(self, ask: _Ask) -> _Part:
        """Return the sum over all records; raise `InputError` if there are none."""
        work = partial(_part, ask=ask, at_most=self._at_most)
        if self._cluster is not None:
            whole = _on_cluster(self._cluster, list(self._source), work)  # type: ignore[arg-type]
        else:
            waiting: list[_Part | None] = []  # add pairs of equal size first, so that rounding does not grow
            for position, piece in enumerate(self._pieces(), start=1):
                waiting.append(work(piece))
                while position % 2 == 0:
                    last = waiting.pop()
                    waiting[-1] = _added(waiting[-1], last)
                    position //= 2
            whole = reduce(lambda last, before: _added(before, last), reversed(waiting), None)
        if whole is None:
            raise InputError("a table in pieces must have at least one piece with records")
        return whole


def _added(one: _Part | None, other: _Part | None) -> _Part | None:
    return one.plus(other) if one is not None and other is not None else other if one is None else one


def _part(piece: Dataset | _Loader | None, *, ask: _Ask, at_most: int) -> _Part | None:
    """Return one piece's sum, None without records; keep only what is public of it."""
    data = piece() if callable(piece) else piece
    if data is None:
        return None
    refuse(instance("a piece of a table", data, Dataset).by_person and data.per_person > at_most,
           "datasets in pieces cannot count a person's records: others may lie in other pieces. from_parquet and "
           "from_dask count them with person= and at_most=")
    query = ask(data)
    record, levels = data.lower.copy(), [group[0] for group in data.levels]
    record[levels] = data.upper[levels]  # one that ranges and levels allow
    return _Part(total=query.value * (1 if _adds(query) else data.n_records), records=data.n_records,
                 query=replace(query, value=frozen(np.zeros_like(query.value))),
                 about=replace(data, matrix=record[:, None]))


def _adds(query: Query) -> bool:
    """Return whether an answer is a sum over records; others are averages."""
    return isinstance(query.neighbours, ReplacedCell | ReplacedMember)


def _moments_query(ask: Callable[[Dataset], MomentsQuery], data: Dataset) -> Query:
    return ask(data).query


def _whole(part: _Part) -> Query:
    """Return the answer of all records, and what one of them can change."""
    query = part.query
    body, more = query.neighbours, part.records / (query.n_records or part.records)
    if _adds(query):
        return replace(query, value=frozen(part.total), n_records=part.records, gamma=query.gamma * more)
    name = "divisor" if isinstance(body, ReplacedColumn) else "n_records"
    body = replace(body, **{name: getattr(body, name) * more})  # type: ignore[type-var]
    unit = NoiseSide.identity(query.rows)
    move = body.worst(unit, unit if query.symmetric else NoiseSide.identity(query.cols)).mu
    return replace(query, value=frozen(part.total / part.records), sensitivity=move, n_records=part.records,
                   printed_sensitivity=query.printed_sensitivity / more, neighbours=body)


def _on_cluster(client: Any, pieces: list[_Loader], work: Callable[[_Loader], _Part | None]) -> _Part | None:
    if not pieces:
        return None
    sums = [client.submit(work, piece, pure=False) for piece in _counted(client, pieces)]
    while len(sums) > 1:
        pairs = [client.submit(_added, one, other, pure=False)
                 for one, other in zip(sums[::2], sums[1::2], strict=False)]
        sums = [*pairs, *sums[2 * len(pairs):]]
    return client.gather(sums[0])  # type: ignore[no-any-return]


def _counted(client: Any, pieces: list[Any]) -> Iterator[Any]:
    """Yield the pieces, each with how many records of its people stand in earlier ones."""
    if not all(isinstance(piece, _Read) and piece.use.person is not None for piece in pieces):
        yield from pieces
        return
    seen: Counter[str] = Counter()
    for piece, waiting in zip(pieces, [client.submit(_people, piece, pure=False) for piece in pieces], strict=True):
        people = waiting.result()
        yield replace(piece, before=Counter({one: seen[one] for one in people if one in seen}))
        seen.update(people)


@dataclass(frozen=True, kw_only=True)
class _Use:
    """How every piece is used, with ranges and levels that no piece can change."""

    ranges: Ranges
    missing: str
    columns: list[str]
    levels: dict[str, Category]
    person: str | None
    at_most: int

    @classmethod
    def of(cls, ranges: Ranges, missing: str, columns: Iterable[str] | None, levels: Levels | None,
           person: str | None, at_most: int | None) -> _Use:
        refuse(not isinstance(ranges, Mapping), "ranges must map column names to pairs (low, high)")
        refuse(not isinstance(levels, Mapping | None), "levels must map column names to sequences of levels")
        if isinstance(columns, str) or not isinstance(columns, Iterable | None):
            raise InputError("columns must be a sequence of column names")
        known = {name: as_category(name, given) for name, given in (levels or {}).items()}
        chosen = [name for name in ((*ranges, *known) if columns is None else columns) if name != person]
        refuse(not set(chosen) <= {*ranges, *known}, "declare a range, or levels, for every column of a table in "
               "pieces: one piece does not show the range of the others")
        return cls(ranges={name: ranges[name] for name in chosen if name not in known}, missing=missing, columns=chosen,
                   levels={name: known[name] for name in chosen if name in known}, person=person,
                   at_most=most_of_each(person, at_most) or 1)

    @property
    def read(self) -> list[str]:
        """Return the columns to read."""
        return self.columns if self.person is None else [*self.columns, self.person]

    def dataset(self, frame: Any, seen: Counter[str]) -> Dataset | None:
        """Return a piece as a dataset, even of one record; None if it has none. Count its people in ``seen``."""
        if self.person is not None:
            frame = frame[first_of_each(frame[self.person], self.at_most, seen)]
        kept = frame[self.columns]
        kept = kept.dropna() if self.missing == "drop" else kept
        if not len(kept):
            return None
        data = Dataset.from_frame(kept if len(kept) > 1 else kept.iloc[[0, 0]], ranges=self.ranges,
                                  missing=self.missing, columns=self.columns, levels=self.levels)
        if len(kept) == 1:
            data = replace(data, matrix=data.matrix[:, :1])
        return data if self.person is None else replace(
            data, per_person=self.at_most, by_person=True, records_origin=Origin.READ)


@dataclass(frozen=True)
class _Read:
    """A piece that a worker reads; ``before``: how many records of its people stand in earlier pieces."""

    reader: _Reader
    use: _Use
    before: Counter[str] = field(default_factory=Counter)

    def __call__(self) -> Dataset | None:
        (frame,) = self.reader(self.use.read)
        return self.use.dataset(frame, self.before.copy())


def _in_turn(readers: list[_Reader], use: _Use) -> Iterator[Dataset | None]:
    seen: Counter[str] = Counter()
    return (use.dataset(frame, seen) for reader in readers for frame in reader(use.read))


def _people(piece: _Read) -> Counter[str]:
    person = str(piece.use.person)
    (frame,) = piece.reader([person])
    return Counter(people(frame[person]))


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


def _opened(path: Path, columns: list[str]) -> Any:
    from pyarrow import ArrowInvalid, parquet  # type: ignore[import-untyped]

    try:
        file = parquet.ParquetFile(path)
    except (ArrowInvalid, OSError):
        raise InputError(f"{path.name} is not a Parquet file, or is damaged") from None
    gone = [name for name in columns if name not in file.schema_arrow.names]
    if gone:
        raise InputError(f"{path.name} has no column named {gone[0]!r}")
    return file


def _batches(path: Path, rows: int, columns: list[str]) -> Iterator[Any]:
    with _opened(path, columns) as file:
        for batch in file.iter_batches(batch_size=rows, columns=columns):
            yield batch.to_pandas()


def _row_group(path: Path, group: int, columns: list[str]) -> Iterator[Any]:
    with _opened(path, columns) as file:
        yield file.read_row_group(group, columns=columns).to_pandas()


def _partition(part: Any, columns: list[str]) -> Iterator[Any]:
    yield part[columns].compute()
