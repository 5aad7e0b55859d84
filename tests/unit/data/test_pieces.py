"""A table in pieces: the same question, the same numbers, the same promise as in memory."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import mvgviz as mv
from mvgviz import Category, Dataset, InputError, Origin, Pieces, RecordBound, design_noise
from mvgviz.query import queries

RNG = np.random.default_rng(5)
MATRIX = RNG.uniform([[-1], [0], [20]], [[1], [5], [90]], (3, 1_003))
RANGES = {"a": (-1.0, 1.0), "b": (0.0, 5.0), "c": (20.0, 90.0)}
LOW, HIGH = np.array(list(RANGES.values())).T


def table(matrix, **choice):
    return Dataset(matrix=matrix, features=tuple(RANGES), lower=LOW, upper=HIGH, **choice)


WHOLE = table(MATRIX)
CUTS = [1, 2, 40, 41, 500, 730]
PARTS = [table(part) for part in np.split(MATRIX, CUTS, axis=1)]
ROUND = RecordBound(radius=1.2, weights=1 / HIGH)


def same(found, wanted):
    assert np.allclose(found.value, wanted.value, rtol=1e-12, atol=0)
    for name in ("sensitivity", "printed_sensitivity", "gamma"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-13)
    for name in ("name", "n_records", "row_names", "neighbour_rule", "psd", "symmetric", "records_origin"):
        assert getattr(found, name) == getattr(wanted, name)
    designs = [design_noise(query, epsilon=0.7, delta=1e-6, theta=[0.7, *[0.3 / (query.rows - 1)] * (query.rows - 1)])
               for query in (found, wanted)]
    assert designs[0].mu == pytest.approx(designs[1].mu, rel=1e-12)
    assert np.allclose(designs[0].direction_std(), designs[1].direction_std(), rtol=1e-12)


@pytest.mark.parametrize("bound", [None, ROUND], ids=["ranges", "bound"])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("name", ["mean", "covariance", "joint_moments"])
def test_pieces_come_to_the_same_query(name, neighbours, bound):
    ask = getattr(queries, name)
    if name == "joint_moments" and bound is not None:
        bound = RecordBound(radius=1.2, weights=np.append(1 / HIGH, 1.0))
    wanted = ask(WHOLE, bound=bound, neighbours=neighbours)
    same(getattr(Pieces(PARTS), name)(bound=bound, neighbours=neighbours), wanted)


def test_moments_are_read_back_the_same():
    wanted, found = mv.moments(WHOLE, bound=ROUND), Pieces(PARTS).moments(bound=ROUND)
    same(found.query, wanted.query)
    design = design_noise(wanted.query, epsilon=1, delta=1e-6)
    noisy = wanted.query.value + 1e-3
    assert np.allclose(found.read(noisy, design).mean, wanted.read(noisy, design).mean, rtol=1e-12)
    assert Pieces(PARTS).count_outside(ROUND) == ROUND.count_outside(WHOLE)


def test_what_is_known_of_people_and_gaps_stays_known():
    odd = [*PARTS[:-1], table(PARTS[-1].matrix, records_origin=Origin.READ)]
    assert Pieces(odd).covariance().records_origin is Origin.READ
    assert Pieces(odd[::-1]).covariance().records_origin is Origin.READ
    read = [*PARTS[:-1], table(PARTS[-1].matrix, range_origins=Origin.READ)]
    assert Pieces(read).mean().ranges_origin is Origin.READ


WIDER = Dataset(matrix=PARTS[-1].matrix, features=tuple(RANGES), lower=LOW - 100, upper=HIGH + 100)


@pytest.mark.parametrize(("parts", "words"), [
    ([*PARTS[:-1], WIDER], "same ranges"), ([WIDER, *PARTS[:-1]], "same ranges"), ([], "at least one piece"),
    ([table(PARTS[-1].matrix, per_person=2)], "may lie in other pieces"),
    ([table(PARTS[-1].matrix, by_person=True)], "may lie in other pieces"),
    ([PARTS[0], PARTS[1].only([0, 1])], "same features"),
    *((wrong, "the pieces of a table must be a list|a piece of a table must be a Dataset")
      for wrong in (None, 5, "ab", [5], lambda: 5, lambda: [5]))])
def test_unlike_pieces_persons_and_what_is_no_pieces_are_refused(parts, words):
    with pytest.raises(InputError, match=words):
        Pieces(parts).mean()


def test_nobody_s_record_is_kept():
    kept = Pieces(PARTS).moments(bound=ROUND).dataset.matrix
    assert not any(np.array_equal(kept[:, 0], record) for record in MATRIX.T)


@pytest.fixture
def folder(tmp_path):
    for k, part in enumerate(np.split(MATRIX, [300, 720], axis=1)):
        parquet.write_table(pa.table(dict(zip((*RANGES, "other"), (*part, part[0]), strict=True))),
                            tmp_path / f"part-{k}.parquet", row_group_size=170)
    return tmp_path


def test_parquet_files_are_asked_batch_by_batch(folder):
    pieces = Pieces.from_parquet(folder, ranges=RANGES, rows=97)
    same(pieces.covariance(bound=ROUND), mv.covariance(WHOLE, bound=ROUND))
    same(pieces.mean(), mv.mean(WHOLE))  # a second question begins anew
    assert max(part.n_records for part in pieces._pieces()) == 97


@pytest.mark.parametrize("rows", [299, 141])
def test_a_last_batch_of_one_record_counts(folder, rows):
    same(Pieces.from_parquet(folder, ranges=RANGES, rows=rows).mean(), mv.mean(WHOLE))
    assert Pieces.from_parquet(folder, ranges=RANGES, columns=["b"], rows=rows).mean().row_names == ("b",)


def test_records_with_gaps_are_left_out_piece_by_piece(tmp_path):
    values = np.arange(12.0).reshape(6, 2)
    values[[0, 1, 4], 0] = np.nan  # the first batch has none left, the last has one
    parquet.write_table(pa.table({"a": values[:, 0], "b": values[:, 1]}, ), tmp_path / "gaps.parquet")
    found = Pieces.from_parquet(tmp_path, ranges={"a": (0, 20), "b": (0, 20)}, missing="drop", rows=2).mean()
    assert found.value.ravel().tolist() == values[[2, 3, 5]].mean(axis=0).tolist()
    assert (found.n_records, found.records_origin) == (3, Origin.READ)


VISITS = pd.DataFrame({
    "who": RNG.choice(["ann", 1, "1.0", " 01", *range(2, 60)], 300).astype(str),
    "dose": np.where(RNG.random(300) < 0.05, np.nan, RNG.uniform(-0.5, 5.5, 300)), "age": RNG.integers(20, 90, 300),
    "sex": RNG.choice(["f", "m", "x", None], 300), "ward": RNG.choice(["a", "b"], 300),
    "stage": RNG.integers(1, 4, 300),
})
USE = {"ranges": {"age": (0, 120), "dose": (0, 5)}, "person": "who",
       "levels": {"sex": ["f", "m", "other"], "ward": ["a", "b"], "stage": Category([1, 2, 3], ordered=True)}}
ASKED = {name: getattr(queries, name) for name in (
    "mean", "covariance", "joint_moments", "counts", "cross_table", "group_means", "cross_moments")}


def in_memory(**use):
    return Dataset.from_frame(VISITS, **{"columns": ["age", "dose", "sex", "ward", "stage"]} | USE | use)


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    """Three files, in which a person's records are scattered."""
    folder = tmp_path_factory.mktemp("visits")
    for k, part in enumerate(np.split(np.arange(300), [120, 121])):
        VISITS.iloc[part].to_parquet(folder / f"part-{k}.parquet", row_group_size=50)
    return folder


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize(("at_most", "missing", "rows"), [(1, "drop", 7), (3, "middle", 40), (9, "drop", 300)])
def test_persons_and_levels_come_to_the_same_query(visits, name, neighbours, at_most, missing, rows):
    use = {"at_most": at_most, "missing": missing}
    found = Pieces.from_parquet(visits, rows=rows, **USE, **use)
    same(getattr(found, name)(neighbours=neighbours), ASKED[name](in_memory(**use), neighbours=neighbours))


def test_a_clipped_table_of_persons_comes_to_the_same_moments(visits):
    use, bound = {"at_most": 3, "missing": "middle"}, RecordBound(radius=1.0, weights=[1 / 120, 1 / 5, *[1.0] * 6])
    wanted = mv.moments(in_memory(**use), bound=bound, neighbours="add-remove")
    pieces = Pieces.from_parquet(visits, **USE, **use)
    same(pieces.moments(bound=bound, neighbours="add-remove").query, wanted.query)
    assert pieces.count_outside(bound) == bound.count_outside(in_memory(**use))


@pytest.fixture(scope="module")
def cluster():
    """Two workers of one thread each."""
    distributed = pytest.importorskip("distributed")
    with warnings.catch_warnings():  # what Dask and its event loop warn of while opening and closing is their own
        warnings.filterwarnings("ignore", module=r"distributed|tornado|dask|asyncio")
        with (distributed.LocalCluster(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None,
                                       silence_logs=50) as local, distributed.Client(local) as client):
            yield client


@pytest.mark.slow
def test_a_cluster_adds_the_sums_where_the_pieces_are(folder, cluster):
    same(Pieces.from_parquet(folder, ranges=RANGES, cluster=cluster).covariance(), mv.covariance(WHOLE))
    same(Pieces([lambda part=part: part for part in PARTS], cluster=cluster).mean(bound=ROUND),
         mv.mean(WHOLE, bound=ROUND))


@pytest.mark.slow
@pytest.mark.parametrize("source", ["parquet", "dask"])
def test_a_cluster_knows_persons_and_levels(visits, source, cluster):
    use = {"at_most": 2, "missing": "drop"}
    read = Pieces.from_parquet if source == "parquet" else Pieces.from_dask
    files = visits if source == "parquet" else pytest.importorskip("dask.dataframe").from_pandas(VISITS, npartitions=5,
                                                                                                  sort=False)
    pieces, whole = read(files, cluster=cluster, **USE, **use), in_memory(**use)
    for name, ask in ASKED.items():
        same(getattr(pieces, name)(neighbours="add-remove"), ask(whole, neighbours="add-remove"))
    bound = RecordBound(radius=1.2)
    assert pieces.count_outside(bound) == bound.count_outside(whole)


def test_nonsense_is_one_sentence(folder, tmp_path):
    (folder / "bad.table").write_bytes(b"PAR1 nothing")
    for call, words in ((lambda: Pieces.from_parquet(tmp_path / "none.parquet", ranges=RANGES), "no Parquet file"),
                        (lambda: Pieces.from_parquet(folder, ranges={"a": (-1, 1)}, columns=["b"]), "declare a range"),
                        (lambda: Pieces.from_parquet(folder, ranges=RANGES | {"z": (0, 1)}).mean(), "no column"),
                        (lambda: Pieces.from_parquet(folder / "bad.table", ranges=RANGES).mean(), r"bad\.table is not"),
                        (lambda: Pieces.from_parquet(5, ranges=RANGES), "files must name Parquet files"),
                        (lambda: Pieces.from_parquet(folder, ranges=RANGES, person="other"), "at_most go together"),
                        (lambda: Pieces.from_parquet(folder, ranges=RANGES, levels=5), "levels must map"),
                        (lambda: Pieces.from_dask(5, ranges=RANGES), r"frame must be a dask\.dataframe"),
                        (lambda: Pieces(PARTS, cluster=5), "cluster must be a dask"),
                        (lambda: Pieces(PARTS).count_outside(5), "bound must be a RecordBound")):
        with pytest.raises(InputError, match=words):
            call()
