"""The way from a file to a budget: a part each, folded into one line when it is done."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from mvgviz.data import Table, describe, read_table, samples
from mvgviz.data.delimited import SEPARATORS, HeaderUnclearError
from mvgviz.data.recognise import Identifier, identifiers
from mvgviz.data.table import MOST_FEATURES
from mvgviz.errors import InputError
from mvgviz.pictures.data import identifier_words
from mvgviz.provenance import Category, Origin
from mvgviz.query.frames import as_category
from mvgviz.scenario.resolve import delta_of
from mvgviz.scenario.scenario import Scenario
from mvgviz.scenario.source import MOST_TITLE, READING, DataSource
from mvgviz.text import as_number, as_probability, in_markdown, listed
from mvgviz.ui import session, sidebar
from mvgviz.ui.cache import cached, of_session
from mvgviz.ui.columns_form import (
    CATEGORY,
    ORDERED,
    draw_anew,
    draw_form,
    gaps_in,
    proposal_of,
    rows_in_use,
    suggested,
    use_of,
)
from mvgviz.ui.files import OpenFile, check_room, keep_count, open_files, size_of
from mvgviz.ui.frame import show_error
from mvgviz.ui.menu import RELEASE
from mvgviz.ui.release_desk import release_desk
from mvgviz.ui.study import named_file, take_over, waiting
from mvgviz.ui.visitors import choose_file

_CORRECTIONS: tuple[tuple[str, str, dict[Any, str]], ...] = (
    ("Separator", "separator", {None: "detected"} | SEPARATORS),
    ("Decimal mark", "decimal", {None: "detected", ".": "point", ",": "comma"}),
    ("First line", "header", {None: "detected", True: "has a header", False: "has no header"}))
_LISTED, _FIRST = 60, 30  # columns that are all listed; of more, those in use at first where not all can be
_ORIENTATIONS = {"rows": "records in rows", "columns": "records in columns"}
_MISSING = {  # as a control offers it, and what follows from it
    "middle": ("fill with the middle of the range",
               "In a category with an equal part of each level. That biases the answer."),
    "drop": ("drop those rows", ":material/visibility: The published record count then reveals how many records had "
             "gaps: **not private**."),
    "reject": ("refuse the file", "")}
_KEPT = "Nothing was lost: the data from before is still open."
_NO_MEMORY = "the server has too little memory for this file now. Choose fewer records or columns, or try again later"
_NEXT = dict(pairwise(("File", "Who is a person", "Columns and ranges", "Question", "Priority columns", "Budget")))
_NO_FILE = "Use your own file"


@contextmanager
def _part(name: str, summary: str, *, is_open: bool = False, goes_on: bool = True, asks: bool = False
          ) -> Iterator[None]:
    """One part of the way, with a button to the next; ``is_open``: until the person opens or folds it.

    ``asks``: it has a button of its own that comes first. An open part shows no summary: Streamlit draws a box with
    another label from scratch, and whoever types in it would lose the cursor.
    """
    opens: dict[tuple[str, str], bool] = st.session_state.setdefault("_path_open", {})
    own = session.scenario().data, name
    now = opens.get(own, is_open)
    shown = f": {summary}" if summary and (summary == _NO_FILE or not now) else ""
    with st.expander(f"**{name}**{shown}", **session.control(f"path_{name}", now, partial(opens.__setitem__, own))):
        yield
        if goes_on and name in _NEXT:
            st.button("Continue", key=f"path_on_{name}", type="secondary" if asks else "primary",
                      on_click=lambda: opens.update({own: False, (own[0], _NEXT[name]): True}))


def draw_question() -> None:
    """Draw what is asked, which columns have priority and what may be spent: fields of the sidebar."""
    scenario = session.scenario()
    with _part("Question", scenario.kind.choice, is_open=not scenario.is_upload):
        sidebar.draw_query("What do you ask of the data?", "path")
    names = sidebar.direction_names()
    if 1 < len(names) <= 2_000:
        chosen = [names[k] for k in sidebar.priorities_among(names)]
        with _part("Priority columns", in_markdown(listed(chosen)) if chosen else "all the same"):
            sidebar.draw_priorities("Which columns have priority?", names, "path")
    data = session.dataset_here()
    if data is None:
        return
    with _part("Budget", f"ε = {as_number(scenario.epsilon)}, δ = {as_probability(delta_of(scenario, data))}"):
        sidebar.draw_epsilon("path")
        sidebar.draw_delta("path")
    st.page_link(RELEASE.path, label="Go on to the release", icon=RELEASE.icon)


def draw_upload_panel() -> None:
    """Draw the parts of file, people and columns; a readable file becomes the session's data at once."""
    own, data, table = session.upload(), session.scenario().data, None
    title = in_markdown(own.dataset.title or own.name) if own is not None else ""
    in_use = own is not None and own.data_name == data
    with _part("File", title if in_use else _NO_FILE, goes_on=in_use,
               is_open=open_files().current is None and session.scenario().is_upload):
        opened = _choose_file()
        if own is not None and not in_use and opened is not None and own.data_name == opened.data_name:
            st.button(f"Use {title}", key="upload_use", type="primary", on_click=session.put,
                      args=(Scenario.default_for(own.data_name),))
        elif opened is not None:
            table = _choose_reading(opened)
            if table is not None:
                st.text_input("Name of the data (published)", max_chars=MOST_TITLE, **_kept(opened, "title"),
                              help="Every release publishes this name and the names of the columns. At first it is the "
                                   "file's: change it if that is secret.")
    if opened is None or table is None:
        return
    try:
        _take_study(opened, table)
        _choose_use(opened, table)
    except (InputError, MemoryError) as error:
        show_error(error if isinstance(error, InputError) else InputError(_NO_MEMORY))
        st.caption(_KEPT)


def _choose_file() -> OpenFile | None:
    chosen = choose_file("A table: CSV, TSV, Excel, Parquet, NPY or NPZ, up to 200 MB", key="upload_file")
    linked, opened = session.scenario(), open_files().current
    given = (chosen.file_id, chosen.name, chosen.getvalue()) if chosen is not None else (
        named_file() if opened is None else None)
    if given is not None:
        opened = open_files().open(*given, wanted=linked.data if linked.is_upload else None)
    if opened is None or opened.content is None:
        return None
    study = waiting()
    if study is not None and opened.study is not study:
        opened.study, opened.reading = study, dict(study.source.reading)
        opened.orientation, opened.missing = study.source.orientation, study.source.missing
        opened.title = study.source.title or opened.title
    if chosen is None:
        st.caption(f"In this session: **{in_markdown(opened.name)}**. Choose another file to replace it.")
    return opened


@cached(2, of_session, key=lambda opened: (opened.data_name, *sorted(opened.reading.items())))
def _read(opened: OpenFile) -> Table:
    assert opened.content is not None
    check_room(len(opened.content), of_session().clear)
    bar = st.progress(0.0, "Reading the file")
    try:
        table = read_table(opened.content, name=opened.name, **opened.reading, texts=None,
                           progress=lambda share: bar.progress(share, "Reading the file"))
        check_room(size_of(table), of_session().clear)  # of a compressed file more than its own size
        return keep_count(table)
    except MemoryError:
        raise InputError(_NO_MEMORY) from None
    finally:
        bar.empty()


_identifiers = cached(2, of_session)(identifiers)


def _kept(opened: OpenFile, name: str) -> dict[str, Any]:
    held = (opened.reading if name in READING else
            vars(opened.said if name in ("columns", "person", "at_most") else opened))
    return session.control(f"upload_{name}", held.get(name), lambda new: held.update({name: new}))


def _choose_reading(opened: OpenFile) -> Table | None:
    table = wrong = None
    try:
        table = _read(opened)
        sheets = table.members if table.format == "xlsx" else ()
    except InputError as error:
        sheets, wrong = error.members, error
    if len(sheets) > 1 and "member" not in opened.reading:
        st.selectbox("Which sheet?", sheets, index=None, **_kept(opened, "member"))
        return None
    if isinstance(wrong, HeaderUnclearError):
        _ask_header(opened, wrong.rows)
    elif wrong is not None:
        show_error(wrong)
        st.caption(_KEPT)
    if table is None and "member" in opened.reading:
        st.button("Another sheet", key="upload_other_sheet", on_click=opened.reading.clear)
    with st.expander("How the file was read", expanded=table is None):
        if table is not None:
            for note in table.notes:
                st.caption(in_markdown(note))
        if table is None or table.format == "csv":
            for column, (label, name, options) in zip(st.columns(3), _CORRECTIONS, strict=True):
                column.selectbox(label, list(options), format_func=options.__getitem__, **_kept(opened, name))
        if table is not None and len(table.members) > 1:
            opened.reading.setdefault("member", table.member)
            st.selectbox("Array or sheet", table.members, **_kept(opened, "member"))
    return table


def _ask_header(opened: OpenFile, rows: tuple[tuple[str, ...], ...]) -> None:
    """Ask whether the first row holds names: else a record's text would become published names."""
    st.markdown("**Does the first row hold names?** Every release publishes the names.")
    width = max(map(len, rows))
    padded = [(*row, *[""] * (width - len(row))) for row in rows]
    plain = [f"column {k}" for k in range(1, width + 1)]
    for place, answer, label, names, shown in zip(
            st.columns(2, gap="large"), (True, False), ("Yes, they are names", "No, it is a record"),
            ([f"{k}: {name}" for k, name in enumerate(padded[0], start=1)], plain), (padded[1:], padded), strict=True):
        with place:
            st.dataframe(pd.DataFrame(shown, columns=names), hide_index=True)
            st.button(label, key=f"upload_header_{answer}", on_click=opened.reading.update, args=({"header": answer},))


def _take_study(opened: OpenFile, table: Table) -> None:
    study = waiting()
    if study is not None:
        study.source.check(table)
    for other in open_files().read(opened, table):  # what holds the same records counts as the same people from now on
        release_desk().count_together(opened.data_name, other)
    opened.looked = session.has_looked(opened.data_name)
    if study is not None:
        source = study.source
        levels: dict[str, Category] = {name: as_category(name, one) for name, one in (source.levels or {}).items()}
        if opened.looked:
            levels = {name: replace(one, origin=Origin.READ) for name, one in levels.items()}
        vars(opened.said).update(
            columns=None if source.columns is None else list(source.columns), ranges={}, levels=levels,
            units=dict(source.units or {}), person=source.person or "", at_most=source.at_most or 1,
            kinds={name: ORDERED if one.ordered else CATEGORY for name, one in levels.items()
                   if one.ordered or name not in table.true_false})
        opened.take_ranges(source.ranges or {})
        draw_anew()
        take_over(study, opened.data_name, same_file=source.name == opened.name)
    if opened.study is not None and (saved := opened.study.source.name) != opened.name:
        st.caption(f":material/visibility: The study was saved with **{in_markdown(saved)}**. This is "
                   f"**{in_markdown(opened.name)}**, with the same columns: say again who its records are about.")


def _choose_use(opened: OpenFile, table: Table) -> None:
    said, own = opened.said, session.upload()
    repeated = [each for each in _identifiers(table) if each.most > 1 and not each.numbers_records]
    rows = f"at most {said.at_most} row{'s' * (said.at_most > 1)} each"
    one = f"{in_markdown(said.person)}, {rows}" if said.person else "one row each"
    asks = bool(repeated) and opened.study is None
    with _part("Who is a person", one, is_open=asks, asks=asks and not said.person and opened.orientation == "rows"):
        _choose_person(opened, table, repeated)
        _choose_people(opened)
    size = "" if own is None else (
        f"{own.dataset.n_features} feature{'s' * (own.dataset.n_features > 1)}, {own.dataset.n_records:,} records")
    with _part("Columns and ranges", size, is_open=not asks):
        first, second = st.columns(2)
        first.radio("Layout", list(_ORIENTATIONS), format_func=_ORIENTATIONS.__getitem__, horizontal=True,
                    **_kept(opened, "orientation"))
        if table.empty_rows and opened.orientation == "rows":
            st.caption(f":material/visibility: {table.empty_rows:,} empty rows between the records were dropped. If "
                       "they were records, the record count reveals how many: **not private**.")
        columns = _choose_columns(opened, table)
        incomplete = table.rows_with_missing if columns is None else int(
            np.any([gaps_in(rows_in_use(opened, table), name) for name in columns], axis=0).sum())
        if incomplete:
            second.radio(f"Rows with gaps: {incomplete:,}", list(_MISSING), horizontal=True,
                         format_func=lambda key: _MISSING[key][0], **_kept(opened, "missing"))
            second.caption(_MISSING[opened.missing][1])
        for why, aside in (("too much text", table.text_columns), ("empty", table.empty_columns)):
            if aside:
                st.caption(f"Left out, {why}: {in_markdown(listed(list(aside)))}.")
        if not table.is_graph:
            draw_form(opened, table, proposal_of(opened, table, columns))
        _use(opened, table, columns)
        own = session.upload()
        if size:
            st.caption(size)
        if columns and own is not None:
            names, label = list(own.dataset.features), session.scenario().label
            st.selectbox("Label: the feature to predict, if any", [None, *names],
                         format_func=lambda name: "none" if name is None else name, **session.bound(
                             "upload_label", names[label] if label is not None and label < len(names) else None,
                             lambda name: {"label": None if name is None else names.index(name)}))


def _choose_person(opened: OpenFile, table: Table, repeated: list[Identifier]) -> None:
    said, own = opened.said, session.upload()
    if not said.person:
        for words in identifier_words([each for each in repeated if each.name not in (said.columns or ())]):
            st.caption(f":material/badge: {words}")
    if opened.orientation != "rows" or table.is_graph:
        return
    first = [each.name for each in repeated]
    others = [name for name in (*table.texts, *table.columns) if name not in first]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if first and not said.person:
            st.button(f"Rows with the same {in_markdown(first[0])} are one person", key="upload_use_person",
                      type="primary", on_click=setattr, args=(said, "person", first[0]))
        st.selectbox("Who is a person?", ["", *first, *others], width=320, format_func=lambda name: (
            f"Rows with the same {name}" if name else "One row is one person"), **_kept(opened, "person"))
        if said.person:
            st.number_input("At most this many rows each", 1, 10_000, width=220, **_kept(opened, "at_most"))
    if said.person and own is not None and own.source.person == said.person:
        left = table.n_rows - own.dataset.n_records
        st.caption(f"{left:,} of {table.n_rows:,} rows were dropped: the answer is about the first of each person. The "
                   "guarantee covers the whole person.")


def _choose_columns(opened: OpenFile, table: Table) -> list[str] | None:
    if opened.orientation != "rows" or table.is_graph:
        return None
    size = len(table.columns)
    if opened.said.columns is None:
        opened.said.columns = suggested(table) if size <= _LISTED else list(
            table.columns[: size if size <= MOST_FEATURES else _FIRST])
    if size <= _LISTED or not _use_all(opened, table):
        st.multiselect("Columns to use", [*table.columns, *table.texts], **_kept(opened, "columns"))
    chosen: list[str] = opened.said.columns
    found = {each.name: each for each in _identifiers(table) if each.name in chosen}
    for words in identifier_words([*found.values()]):
        st.caption(f":material/badge: {words}")
    if found and len(chosen) > len(found):
        st.button(f"Leave {'it' if len(found) == 1 else 'them'} out", key="upload_leave_out",
                  on_click=setattr, args=(opened.said, "columns", [name for name in chosen if name not in found]))
    if not chosen:
        raise InputError("choose at least one column of the file")
    return [name for name in chosen if name != opened.said.person]


def _use_all(opened: OpenFile, table: Table) -> bool:
    size, said = len(table.columns), opened.said
    used = st.toggle(f"Use all {size:,} columns", disabled=size > MOST_FEATURES, **session.control(
        "upload_all_columns", len(said.columns) == size,
        lambda new: setattr(said, "columns", list(table.columns[: size if new else _FIRST]))))
    if not used and said.columns == list(table.columns[:_FIRST]):
        st.caption(f"The first {_FIRST} of {size:,} columns are in use, {MOST_FEATURES:,} at most.")
    return used


def _use(opened: OpenFile, table: Table, columns: list[str] | None) -> None:
    """Make the table the session's data and run again, whenever its use has changed."""
    chosen: dict[str, Any] = {"columns": columns} if table.is_graph else use_of(opened, table, columns)
    use = repr([opened.reading, opened.orientation, opened.missing, opened.title, chosen])
    own = session.upload()
    if use == opened.used and own is not None and own.data_name == opened.data_name:
        return
    source = DataSource(name=opened.name, title=opened.title, orientation=opened.orientation, missing=opened.missing,
                        **chosen, **opened.reading)
    dataset = source.dataset(table)  # refused, it leaves what is in use alone
    opened.used, opened.edits = use, opened.edits + 1
    session.set_upload(session.Upload(
        data_name=opened.data_name, version=f"{opened.data_name} {opened.edits}", dataset=dataset, source=source,
        is_graph=table.is_graph))
    st.rerun()


def _choose_people(opened: OpenFile) -> None:
    others, desk, own = open_files().others(), release_desk(), opened.data_name
    known = {name: describe(name).title for name in samples()} | {name: file.name for name, file in others.items()}
    joined = [known[name] for name in known if name in desk.same_people(own)]
    if joined:
        st.caption(f":material/group: Counts together with {in_markdown(listed(joined))}: the same people, one budget.")
    free = [name for name in others if name not in desk.same_people(own)]
    if not free:
        return
    alike = [others[name].name for name in free if others[name].features == opened.features]
    hint = f" The same columns are in: {in_markdown(listed(alike))}." if alike else ""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        other = st.selectbox("About the same people as", free, format_func=lambda name: others[name].name,
                             key=f"upload_people_{own}", width=320)
        st.button("Count them together", key="upload_join", icon=":material/group:", on_click=desk.attempt,
                  args=(desk.count_together, own, other))
    st.caption(f"Files about the same people share one budget, for good. Only you can know that they are.{hint}")
