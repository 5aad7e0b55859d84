"""The columns of a file in one form: kind, range or levels, unit. Drawn once, so that nothing typed is lost.

What a person types is declared, even where it equals the proposal. A proposal counts as read from the data, even if a
person accepts it. So does an end that nobody typed, and what is typed after a look at what ranges do to the data.
"""

import math
import re
import weakref
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from mvgviz.data import Table, propose_ranges
from mvgviz.data.recognise import are_dates, holds_dates, levels_of
from mvgviz.data.table import is_missing
from mvgviz.errors import InputError, refuse
from mvgviz.provenance import Category, Origin, Range, weakest
from mvgviz.query.frames import OTHER, as_date, as_day, first_of_each, level_text
from mvgviz.scenario.ranges import fitting, range_of, ranges_from_text, ranges_to_csv, ranges_to_json
from mvgviz.text import as_number, in_markdown, listed
from mvgviz.ui import session
from mvgviz.ui.assets import asset
from mvgviz.ui.cache import cached, of_session
from mvgviz.ui.files import OpenFile, keep_count
from mvgviz.ui.frame import offer_file, show_error
from mvgviz.ui.visitors import choose_file

NUMBER, TRUE_FALSE, CATEGORY, ORDERED, DATE, OUT = "number", "true/false", "category", "ordered", "date", "left out"
_BY_LEVEL = (TRUE_FALSE, CATEGORY, ORDERED)
_ROUND, _FILE, _ANSWER, _KEY = "_range_round", "upload_ranges_file", "_range_file_answer", "upload_form"
_CELLS = ("low", "high")
_SHOWN = 200  # rows of the form; ranges of more columns come from a file
_QUOTE, _MARKS = '"', re.compile(r'[,;\t\r\n"]')
_LEVEL = re.compile(r'\s*"((?:[^"]|"")*)"\s*(?:[,;\t\n]|$)|([^,;\t\n]+)')
_component = st.components.v2.component(
    "mvgviz_columns", css=asset("columns_form.css"), js=asset("columns_form.js"),
    html='<div class="form" role="table" aria-label="Columns and ranges"></div>')

Proposal = Mapping[str, Any]  # by column: two ends, numbers or dates as text, a category, or None


def kind_of(opened: OpenFile, table: Table, name: str) -> str:
    """Return what a column is used as: as the person chose, else as its cells look; numbers where it is a row."""
    usual = TRUE_FALSE if name in table.true_false else NUMBER
    if name in table.texts:
        usual = DATE if _holds_dates(table, name) else CATEGORY
    return opened.said.kinds.get(name, usual) if opened.orientation == "rows" else NUMBER


_holds_dates, _numbers_proposed = cached(32, of_session)(holds_dates), cached(4, of_session)(propose_ranges)


def suggested(table: Table) -> list[str]:
    """Return the columns in use at first: numbers, dates, and text of few values."""
    few = [name for name in table.texts if _holds_dates(table, name) or len(_levels(table, name) or ()) > 1]
    return [*table.columns, *few]


@cached(64, of_session)
def _levels(table: Table, name: str) -> tuple[str, ...] | None:
    return levels_of(table.cells(name))


def _category_of(opened: OpenFile, table: Table, name: str) -> Category | None:
    """Return the declared levels of a column used as a category; true and false need no typing."""
    kind = kind_of(opened, table, name)
    usual = Category(("false", "true") if name in table.true_false else ("0", "1")) if kind == TRUE_FALSE else None
    return opened.said.levels.get(name, usual) if kind in _BY_LEVEL else None


@cached(32, of_session)
def _days(table: Table, name: str) -> tuple[str, str] | None:
    try:
        years = [as_date(cell).year for cell in set(table.cells(name)) if not is_missing(cell)]
    except (TypeError, ValueError):
        return None
    return (f"{min(years):04}-01-01", f"{max(years):04}-12-31") if years else None


def proposal_of(opened: OpenFile, table: Table, columns: list[str] | None) -> dict[str, Any]:
    """Return what the rows in use suggest for each column. It shows what the data is like: not private."""
    used = rows_in_use(opened, table)
    numbers = None if columns is None else tuple(
        name for name in columns if name in used.columns and not gaps_in(used, name).all())
    found: dict[str, Any] = {} if numbers == () else dict(
        _numbers_proposed(used, numbers, orientation=opened.orientation))
    for name in columns or ():
        kind = kind_of(opened, table, name)
        if kind in (CATEGORY, ORDERED):  # no row may hold another level, also one that is not in use
            levels = _levels(table, name)
            found[name] = None if levels is None else Category(levels, Origin.READ, kind == ORDERED)
        elif kind in (DATE, TRUE_FALSE):
            found[name] = _days(used, name) if kind == DATE else None
    return found if columns is None else {name: found.get(name) for name in columns}


def rows_in_use(opened: OpenFile, table: Table) -> Table:
    """Return the table with the rows that are used of each person; all of them where a row is one, or no record."""
    said = opened.said
    return _first_rows(table, said.person, said.at_most) if said.person and opened.orientation == "rows" else table


@cached(1, of_session)
def _first_rows(table: Table, person: str, at_most: int) -> Table:
    try:
        first = first_of_each(pd.Series(table.cells(person), dtype=object), at_most, Counter())
    except InputError:  # the panel says why
        return table
    return keep_count(replace(table, values=table.values[first], row_names=None,
                              texts={name: cells[first] for name, cells in table.texts.items()}))


def use_of(opened: OpenFile, table: Table, columns: list[str] | None) -> dict[str, Any]:
    """Return arguments of :func:`table_to_dataset`; columns that are not ready are left out.

    Raise `InputError` for one that does not fit: else a single record would decide which columns are released.
    """
    said = opened.said
    if columns is None:
        return {"columns": None, "ranges": dict(said.ranges) or None}
    kinds = {name: kind_of(opened, table, name) for name in columns if name != said.person}
    notes = {name: _lacks_or_misfits(opened, table, name) for name in kinds}
    for name, (_, misfit) in notes.items():
        refuse(misfit, f"column {name} does not fit. {misfit}")
    ready = [name for name, (lacks, _) in notes.items() if not lacks]
    refuse(not ready, "no column is ready: type levels or a range, or use the proposals.")
    ranges = {name: span for name, span in said.ranges.items()
              if kinds.get(name) in (NUMBER, DATE) or (name not in kinds and name in table.columns)}
    levels = {name: category for name in ready if (category := _category_of(opened, table, name)) is not None}
    units = {name: unit for name, unit in said.units.items() if kinds.get(name) == NUMBER and unit}
    return {"columns": ready, "ranges": ranges or None, "levels": levels or None, "units": units or None,
            "person": said.person or None, "at_most": said.at_most if said.person else None}


def _lacks_or_misfits(opened: OpenFile, table: Table, name: str) -> tuple[str, str]:
    """Return what a column needs before it can be used, else what in it does not fit what the person typed."""
    kind, category = kind_of(opened, table, name), _category_of(opened, table, name)
    if kind == DATE and name not in opened.said.ranges:
        return "Left out until it has a range.", ""
    if kind in _BY_LEVEL and (category is None or len(tuple(category.levels)) < 2):
        return "Not used until it has two or more levels, such as F, M.", ""
    if kind == DATE and (rows := _undated(table, name)):
        return "", (f"Cells that are no dates such as 2024-03-05 or 05.03.2024: {len(rows):,}, the first in row "
                    f"{table.file_row(rows[0])}. Correct the file, or leave the column out.")
    if category is not None and OTHER not in category.levels and (
            others := _unnamed(table, name, tuple(category.levels))):
        return "", f"Values not in your list: {others:,}. Add them, add '{OTHER}', or leave the column out."
    return "", ""


@cached(64, of_session)
def _undated(table: Table, name: str) -> list[int]:
    return [k for k, cell in enumerate(table.cells(name)) if not is_missing(str(cell)) and not are_dates([str(cell)])]


@cached(64, of_session)
def _unnamed(table: Table, name: str, levels: tuple[str, ...]) -> int:
    texts = (level_text(cell) for cell in table.cells(name) if cell == cell)
    return sum(text not in levels and not is_missing(text) for text in texts)


def draw_form(opened: OpenFile, table: Table, proposal: Proposal) -> None:
    """Draw a row for each column and take what the person types into what is said of the file."""
    said, names = opened.said, list(proposal)[:_SHOWN]
    by_name = opened.orientation == "rows"
    looked = rows_in_use(opened, table) if by_name and st.toggle(
        "Show how ranges affect my data (not private)", key="upload_look", on_change=session.note_look,
        args=(opened.data_name,), help="Ranges that you type afterwards count as read from the data.") else None
    its = weakref.ref(table)  # Streamlit keeps the functions below longer than the session keeps the table

    def taken() -> None:
        sent, read = st.session_state[_KEY].rows, its()
        if sent and read is not None and sent["seq"] != said.seen:
            said.seen = sent["seq"]
            take_rows(opened, read, sent["rows"])

    rows = [_row(opened, table, name, proposal[name], looked=looked, by_name=by_name) for name in names]
    _component(key=_KEY, on_rows_change=taken, data={
        "rows": rows, "seen": said.seen,
        "round": f"{opened.data_name} {opened.read_as} {'|'.join(names)} {st.session_state.get(_ROUND, 0)}"},
        on_accept_change=lambda: _accept(opened, {(name := st.session_state[_KEY].accept): proposal.get(name)}))
    known = [_category_of(opened, table, name) if kind_of(opened, table, name) in _BY_LEVEL else said.ranges.get(name)
             for name in proposal if not _lacks_or_misfits(opened, table, name)[0]]
    unknown = sum(span is None or not span.origin.is_covered for span in known)
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.popover("Use all proposals", key="upload_ask_all"):
            st.markdown("Proposals come from your data: **not private**.")
            st.button("Use them", key="upload_know_all", on_click=_accept, args=(opened, dict(proposal)))
        st.button("Clear all", key="upload_know_none", on_click=_clear, args=(opened, [
            name for name in proposal if kind_of(opened, table, name) != TRUE_FALSE]))
        _draw_files(opened, proposal)
    if unknown:
        st.caption(f":material/visibility: Ranges from the data: {unknown:,} of {len(known):,}, **not private**.")
    if len(proposal) > len(names):
        st.caption(f"These are the first {_SHOWN} columns. Load the ranges of the others from a file.")


def _row(opened: OpenFile, table: Table, name: str, proposed: Any, *, looked: Table | None, by_name: bool
         ) -> dict[str, Any]:
    said, kind, category = opened.said, kind_of(opened, table, name), _category_of(opened, table, name)
    low, high = cells_of(opened, name)
    kinds = [NUMBER] if not by_name else [CATEGORY, ORDERED, DATE, OUT] if name in table.texts else [
        NUMBER, TRUE_FALSE, CATEGORY, ORDERED, OUT]
    of_levels = kind in _BY_LEVEL
    span = category if of_levels else said.ranges.get(name)
    note = "".join(_lacks_or_misfits(opened, table, name))
    if name in said.half and not of_levels:
        note = " ".join(filter(None, [_wrong(said.half[name], table.decimal or ".", dates=kind == DATE),
                                      note or "Until then the range is read from the data."]))
    if not note and (span is None or not span.origin.is_covered):
        note = f"{(Origin.READ if span is None else span.origin).words.capitalize()}."
    if looked is not None:
        ends = said.ranges.get(name, Range(*proposed)) if proposed and not of_levels else None
        note = " · ".join(part for part in (note, effect(looked, name, ends, opened.missing)) if part)
    return {"name": name, "kind": kind, "kinds": kinds, "low": low, "high": high, "unit": said.units.get(name, ""),
            "levels": "" if category is None else levels_text(category.levels), "note": note,
            "hints": [_text(end) for end in proposed] if isinstance(proposed, tuple) else ["", ""],
            "levelsHint": levels_text(proposed.levels) if isinstance(proposed, Category) else "",
            "proposed": proposed is not None}


def _wrong(texts: tuple[str, str], decimal: str, *, dates: bool) -> str:
    for text in filter(None, texts):
        end = _end(text, decimal, dates=dates)
        if end is None or not (are_dates([str(end)]) if dates else math.isfinite(float(end))):
            return f"{text} is not a {'date, such as 2024-03-05' if dates else f'number, such as 1{decimal}5'}."
    return "The lowest value must be below the highest." if all(texts) else "Type a lowest and a highest value."


def cells_of(opened: OpenFile, name: str) -> tuple[str, str]:
    """Return the two cells of a range: as typed, the known ends, or nothing."""
    span = opened.said.ranges.get(name)
    return opened.said.half.get(name, ("", "") if span is None else (_text(span.low), _text(span.high)))


def _text(end: float | str) -> str:
    return end if isinstance(end, str) else f"{end:.15g}"


@cached(64, of_session)
def gaps_in(table: Table, name: str) -> Any:
    """Return which records have a gap in a column."""
    if name in table.texts:
        return np.array([is_missing(cell) for cell in table.texts[name].tolist()], dtype=np.bool_)
    return np.isnan(table.values[:, table.columns.index(name)])


@cached(256, of_session)
def effect(table: Table, name: str, ends: Range | None, missing: str) -> str:
    """Say how many values are clipped and missing, and how far both move the mean."""
    gaps, dates = gaps_in(table, name), ends is not None and isinstance(ends.low, str)
    if name in table.texts and not dates:
        return f"{100 * gaps.mean():.1f} % gaps"
    if ends is None:
        return ""
    low, high = (as_day(str(end)) if dates else end for end in ends[:2])
    there = (np.array([as_day(cell) for gap, cell in zip(gaps, table.cells(name), strict=True) if not gap]) if dates
             else table.values[~gaps, table.columns.index(name)])
    if not there.size or not low < high:
        return ""
    used, middle = np.clip(there, low, high), missing == "middle"
    mean = (used.sum() + middle * gaps.sum() * (low + high) / 2) / (gaps.size if middle else there.size)
    clipped = np.mean((there < low) | (there > high))
    return (f"{100 * clipped:.1f} % clipped, {100 * gaps.mean():.1f} % gaps, mean moves by "
            f"{as_number(float(mean - there.mean()))}{' days' * dates}")


def take_rows(opened: OpenFile, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Take what the form holds now; an unchanged row keeps its origins."""
    said, names = opened.said, {*table.columns, *table.texts}
    for row in rows:
        name = str(row["name"])
        if opened.orientation == "rows":
            if name not in names:
                continue
            if _take_kind(opened, table, name, str(row["kind"])):
                continue  # its cells are those of the other kind
            if row["kind"] != TRUE_FALSE:
                _take_levels(opened, name, str(row["levels"]))
            said.units[name] = " ".join(str(row["unit"]).split())[:40]
        _take_ends(opened, name, (str(row["low"]).strip(), str(row["high"]).strip()), row["typed"],
                   decimal=table.decimal or ".", dates=kind_of(opened, table, name) == DATE)


def _take_kind(opened: OpenFile, table: Table, name: str, kind: str) -> bool:
    said, before = opened.said, kind_of(opened, table, name)
    if kind == before or kind not in (NUMBER, TRUE_FALSE, CATEGORY, ORDERED, DATE, OUT):
        return False
    if kind == OUT:
        said.columns = [other for other in said.columns or () if other != name]
    else:
        said.kinds[name] = kind
        if ORDERED in (kind, before) and name in said.levels:
            said.levels[name] = replace(said.levels[name], ordered=kind == ORDERED)
        if kind == TRUE_FALSE:
            said.levels.pop(name, None)
            category = _category_of(opened, table, name)
            assert category is not None
            said.levels[name] = replace(category, origin=Origin.READ if opened.looked else Origin.DECLARED)
        draw_anew()
    return True


def _take_levels(opened: OpenFile, name: str, text: str) -> None:
    """Take the levels typed; a list that the data proposed keeps that origin when it is edited."""
    said, before = opened.said, opened.said.levels.get(name)
    levels, known = levels_in(text), () if before is None else before.levels
    if levels == known or text == "".join(levels_text(known).splitlines()):  # a browser's input has one line
        return
    if before is not None and not before.origin.is_covered:
        said.read_levels.setdefault(name, set()).update(before.levels)
    if not levels:
        said.levels.pop(name, None)
        return
    read = opened.looked or said.read_levels.get(name, set()) & set(levels)
    said.levels[name] = Category(levels, Origin.READ if read else Origin.DECLARED,
                                    said.kinds.get(name) == ORDERED)


def levels_text(levels: Iterable[str]) -> str:
    """Write levels between commas, in quotes where one holds a separator, a quote or outer blanks."""
    return ", ".join(f'"{level.replace(_QUOTE, 2 * _QUOTE)}"' if level != level.strip() or _MARKS.search(level)
                     else level for level in levels)


def levels_in(text: str) -> tuple[str, ...]:
    """Read levels between commas, semicolons, tabs or lines, each once."""
    found = (quoted.replace(2 * _QUOTE, _QUOTE) or plain.strip() for quoted, plain in _LEVEL.findall(text))
    return tuple(dict.fromkeys(level for level in found if level))


def _take_ends(opened: OpenFile, name: str, texts: tuple[str, str], cells: Iterable[str], *, decimal: str, dates: bool
               ) -> None:
    """Take the two texts of a range; ``cells``: those of "low" and "high" that the person typed in."""
    ends = [_end(text, decimal, dates=dates) for text in texts]
    typed = opened.said.typed.setdefault(name, set())
    new = {(cell, end) for cell, end in zip(_CELLS, ends, strict=True) if cell in cells and end is not None} - typed
    if texts == cells_of(opened, name) and not new:
        return
    typed |= new
    span = None
    if None not in ends:
        with suppress(InputError):
            span = range_of(name, stated((ends[0], ends[1]), opened.said.ranges.get(name), typed=typed,
                                         proposed=opened.said.proposed.get(name, ()), usual=opened.stated))
    opened.let_go(name)
    if span is not None and span.low < span.high:
        opened.said.ranges[name] = span
    elif any(texts):
        opened.said.half[name] = texts


def _end(text: str, decimal: str, *, dates: bool) -> float | str | None:
    """Return the end of a range that a text says; None where it says none. No separators of thousands."""
    if not text or (not dates and decimal == "." and "," in text):
        return None
    with suppress(InputError, ValueError):
        if not dates:
            return float(text.replace(",", "."))
        return as_date(text).date().isoformat() if text.count(".") == 2 else text  # a year or a month stays
    return None


def stated(ends: tuple[Any, Any], before: Range | None, *, typed: Collection[tuple[str, Any]] = (),
           proposed: Collection[Any] = (), usual: Origin = Origin.DECLARED) -> Range:
    """Return a range with the weakest origin of its ends: typed ones have the usual, others from the data their own.

    ``typed``: cells, "low" or "high", with what was typed there: the other cell may have the same from the data.
    """
    if before is not None and before[:2] == ends and before.origin.is_covered:
        return before
    read = before[:2] if before is not None and not before.origin.is_covered else ()
    return Range(*ends, weakest(usual if (cell, end) in typed else before.origin if before and end in read else
                                Origin.ACCEPTED if end in proposed else usual
                                for cell, end in zip(_CELLS, ends, strict=True)))


def _accept(opened: OpenFile, proposal: Proposal) -> None:
    """Accept what the data proposes where the person has typed nothing."""
    said = opened.said
    for name, proposed in proposal.items():
        said.half.pop(name, None)
        if isinstance(proposed, Category):
            said.levels.setdefault(name, proposed)
        elif proposed is not None:
            span = said.ranges.get(name, Range(proposed[0], proposed[1], Origin.READ))
            said.ranges[name] = span._replace(origin=Origin.ACCEPTED) if span.origin is Origin.READ else span
    draw_anew()


def _clear(opened: OpenFile, names: Iterable[str]) -> None:
    for name in names:
        opened.let_go(name)
        _take_levels(opened, name, "")
    draw_anew()


def draw_anew() -> None:
    """Discard the drawn form, so that the next run draws it from what is known then."""
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1


def _draw_files(opened: OpenFile, proposal: Proposal) -> None:
    with st.popover("Ranges as a file", icon=":material/swap_vert:", key="upload_ranges_files"):
        known = {name: opened.said.ranges.get(name, Range(ends[0], ends[1], Origin.READ))
                 for name, ends in proposal.items() if isinstance(ends, tuple) and not isinstance(ends[0], str)}
        for label, name, mime, content in (("As CSV", "ranges.csv", "text/csv", ranges_to_csv),
                                           ("As JSON", "ranges.json", "application/json", ranges_to_json)):
            offer_file(label, name, mime, partial(content, known), key=f"upload_{name}")
        choose_file("Take ranges from a file (CSV or JSON)", type=["csv", "tsv", "txt", "json"], max_upload_size=4,
                    key=_FILE, on_change=_take_file, args=(opened, tuple(proposal)))
    answer = st.session_state.get(_ANSWER)  # as long as the file is in the box
    if isinstance(answer, InputError):
        show_error(answer)
    elif answer:
        st.caption(answer)


def _take_file(opened: OpenFile, features: tuple[str, ...]) -> None:
    chosen = st.session_state.get(_FILE)
    st.session_state[_ANSWER] = None
    if chosen is None:
        return
    try:
        taken, others = fitting(ranges_from_text(chosen.getvalue()), features)
        refuse(not taken, f"no range in the file names a column of your data; they name {listed(others)}")
    except InputError as error:
        st.session_state[_ANSWER] = error
        return
    opened.take_ranges(taken)
    skipped = f" No column has these names: {in_markdown(listed(others))}." if others else ""
    st.session_state[_ANSWER] = f"{len(taken):,} of {len(features):,} ranges were taken from the file.{skipped}"
    draw_anew()
