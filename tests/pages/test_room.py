"""The tables of all visitors together stay below a cap, and a visitor who left takes the table along."""

import gc

import pytest

from mvgviz.data import read_table
from mvgviz.errors import InputError
from mvgviz.ui import files as room
from tests.pages.app import choose, uploaded
from tests.pages.shown import clean, text

TABLE = b"a,b\n" + b"1,2\n3,4\n" * 50


def test_a_table_counts_as_long_as_somebody_has_it(monkeypatch):
    gc.collect()
    before = room.held()
    table = room.keep_count(read_table(TABLE, name="own.csv"))
    assert room.held() == before + table.values.nbytes
    monkeypatch.setenv(room.ENVIRONMENT, str((room.held() + 10) / 1e6))
    room.check_room(10)
    with pytest.raises(InputError, match="no room for a file"):
        room.check_room(11)
    size = table.values.nbytes
    del table
    room.check_room(11 + size // 2)
    assert room.held() == before


def test_a_full_server_says_so_and_goes_on_with_the_data_it_had(monkeypatch):
    monkeypatch.setenv(room.ENVIRONMENT, "0")
    app = uploaded(TABLE)
    assert not app.exception
    assert "no room for a file" in app.error[0].value
    assert app.get("plotly_chart")


def test_another_file_takes_the_place_of_the_one_before(monkeypatch):
    """What the session read before makes room, whether or not both would fit."""
    gc.collect()
    monkeypatch.setenv(room.ENVIRONMENT, str((room.held() + 100_000) / 1e6))
    content = [f"a,b\n{chr(10).join(f'{i % 7},{i % 11}' for i in range(rows))}\n".encode() for rows in (4_000, 4_001)]
    app = uploaded(content[0], "first.csv")
    assert "2 features × 4,000 records" in text(clean(app))
    assert "2 features × 4,001 records" in text(clean(choose(app, content[1], "second.csv")))
