"""Bringing one's own file: how it is read, what is used of it, which ranges are known, whose data it is."""

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from mvgviz.data import Table, describe, propose_ranges, read_table, samples, table_to_dataset
from mvgviz.data.delimited import SEPARATORS, HeaderUnclearError
from mvgviz.data.recognise import identifiers
from mvgviz.data.table import MOST_FEATURES
from mvgviz.errors import InputError
from mvgviz.pictures.data import identifier_words
from mvgviz.provenance import Origin, Range, weakest
from mvgviz.scenario.ranges import fitting, ranges_from_text, ranges_to_csv, ranges_to_json
from mvgviz.scenario.source import DataSource
from mvgviz.text import in_markdown, listed
from mvgviz.ui import session
from mvgviz.ui.cache import cached, of_session
from mvgviz.ui.files import OpenFile, check_room, keep_count, open_files
from mvgviz.ui.frame import offer_file, show_error
from mvgviz.ui.release_desk import release_desk
from mvgviz.ui.study import named_file, take_over, waiting

_CORRECTIONS: tuple[tuple[str, str, dict[Any, str]], ...] = (
    ("Separator", "separator", {None: "detected"} | SEPARATORS),
    ("Decimal mark", "decimal", {None: "detected", ".": "point", ",": "comma"}),
    ("First line", "header", {None: "detected", True: "has a header", False: "has no header"}))
_LISTED, _FIRST = 60, 30  # columns that are all listed; of more, those in use at first where not all can be
_READING = ("separator", "decimal", "header", "member")
_ORIENTATIONS = {"rows": "records in rows", "columns": "records in columns"}
_MISSING = {"middle": "fill with the middle of the range", "drop": "leave those records out",
            "reject": "refuse the file"}
_MISSING_WORDS = {
    "middle": "Every gap becomes the middle of its feature's range, whatever the other records hold: the number of "
              "records stays that of the file, which is taken as known to everyone.",
    "drop": ":material/visibility: Which records have gaps then shows in the number of records, which is published: "
            "**not private**. A release asks you to accept that.",
    "reject": ""}


def draw_upload_panel() -> None:
    """The uploader and its corrections; a readable file becomes the session's data at once."""
    chosen = st.file_uploader("A table: CSV, TSV, Excel, Parquet, NPY or NPZ, up to 200 MB", key="upload_file")
    linked, opened = session.scenario(), open_files().current
    given = None if chosen is None else (chosen.file_id, chosen.name, chosen.getvalue())
    if chosen is None and opened is None:
        given = named_file()
    if given is not None:
        opened = open_files().open(*given, wanted=linked.data if linked.is_upload else None)
    if opened is None or opened.content is None:
        return
    study = waiting()
    if study is not None and opened.study is not study:
        opened.study, opened.reading = study, dict(study.source.reading)
        opened.orientation, opened.missing = study.source.orientation, study.source.missing
    if chosen is None:
        st.caption(f"In this session: **{in_markdown(opened.name)}**. Choose another file to replace it.")
    table = _choose_reading(opened)
    if table is not None:
        try:
            _choose_use(opened, table)
            return
        except InputError as error:
            show_error(error)
        except MemoryError:
            show_error(_no_memory())
    st.caption("Nothing was lost: the app goes on with the data it had.")


@cached(2, of_session, key=lambda opened: (opened.data_name, *sorted(opened.reading.items())))
def _read(opened: OpenFile) -> Table:
    assert opened.content is not None
    check_room(len(opened.content), of_session().clear)
    bar = st.progress(0.0, "Reading the file")
    try:
        table = read_table(opened.content, name=opened.name, **opened.reading,
                           progress=lambda share: bar.progress(share, "Reading the file"))
        check_room(table.values.nbytes, of_session().clear)  # of a compressed file more than its own size
        return keep_count(table)
    except MemoryError:
        raise _no_memory() from None
    finally:
        bar.empty()


def _no_memory() -> InputError:
    return InputError("the server has too little memory for this file now: choose fewer records or columns, try again "
                      "later, or open mvgviz on a computer with more")


_proposal, _identifiers = cached(4, of_session)(propose_ranges), cached(2, of_session)(identifiers)


def _kept(opened: OpenFile, name: str) -> dict[str, Any]:
    """The ``key`` and ``on_change`` of a control that shows and changes what was said of the file."""
    key = f"upload_{name}"
    held = opened.reading if name in _READING else opened.said if name == "columns" else vars(opened)
    st.session_state[key] = held.get(name)
    return {"key": key, "on_change": lambda: held.update({name: st.session_state[key]})}


def _choose_reading(opened: OpenFile) -> Table | None:
    """How the file is to be read: as detected, or as corrected; None, and a sentence, if it cannot be."""
    try:
        table = _read(opened)
    except HeaderUnclearError as error:
        _ask_header(opened, error.rows)
        table = None
    except InputError as error:
        show_error(error)
        table = None
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
    """One record's text must not become published names: both readings, and the person says which is right."""
    st.markdown("**Does the first row hold names?** They are published with every release.")
    width = max(map(len, rows))
    padded = [(*row, *[""] * (width - len(row))) for row in rows]
    plain = [f"column {k}" for k in range(1, width + 1)]
    for place, answer, label, names, shown in zip(
            st.columns(2, gap="large"), (True, False), ("Yes, they are names", "No, it is a record"),
            ([f"{k}: {name}" for k, name in enumerate(padded[0], start=1)], plain), (padded[1:], padded), strict=True):
        with place:
            st.dataframe(pd.DataFrame(shown, columns=names), hide_index=True)
            st.button(label, key=f"upload_header_{answer}", on_click=opened.reading.update, args=({"header": answer},))


def _choose_use(opened: OpenFile, table: Table) -> None:
    """Which columns are features, what to do with gaps, and the range of each feature."""
    study = waiting()
    if study is not None:
        study.source.check(table)
    for other in open_files().read(opened, table):  # what holds the same records counts as the same people from now on
        release_desk().count_together(opened.data_name, other)
    if study is not None:
        used = study.source.columns
        opened.said.update(columns=None if used is None else list(used), ranges={})
        opened.take_ranges(study.source.ranges or {})
        draw_anew()
        take_over(study, opened.data_name, same_file=study.source.name == opened.name)
    used_by = opened.study
    if used_by is not None and used_by.source.name != opened.name:
        st.caption(f":material/visibility: The study was saved with **{in_markdown(used_by.source.name)}**; this is "
                   f"**{in_markdown(opened.name)}**, which has the same columns. Who it is about has to be said anew.")
    first, second = st.columns(2)
    first.radio("Layout", list(_ORIENTATIONS), format_func=_ORIENTATIONS.__getitem__, horizontal=True,
                **_kept(opened, "orientation"))
    if table.rows_with_missing:
        second.radio(f"{table.rows_with_missing:,} records have gaps", list(_MISSING), horizontal=True,
                     format_func=_MISSING.__getitem__, **_kept(opened, "missing"))
        second.caption(_MISSING_WORDS[opened.missing])
    if table.empty_rows and opened.orientation == "rows":
        st.caption(f":material/visibility: {table.empty_rows:,} rows between the records have nothing in them and were "
                   "left out. If they were records, their number shows: remove those rows, or accept that on release.")
    columns = _choose_columns(opened, table)
    if table.text_columns:
        st.caption(f"Set aside, as they hold no numbers: {in_markdown(listed(list(table.text_columns)))}. Python "
                   "takes categories and dates (`mv.load_table` with `levels=` and ranges of dates).")
    if not table.is_graph:
        draw_ranges(opened, _proposal(table, tuple(columns) if columns else None, orientation=opened.orientation))
    _use(opened, table, columns)
    own = session.upload()
    if own is not None and own.clipped:
        st.caption(f"{own.clipped:,} values lay outside their ranges and were moved to the nearest end.")
    _choose_people(opened)
    if columns:
        _choose_label(columns)


def _choose_columns(opened: OpenFile, table: Table) -> list[str] | None:
    """The features used, where they are columns; all of them until the person leaves some out."""
    if opened.orientation != "rows" or table.is_graph:
        return None
    size = len(table.columns)
    if opened.said["columns"] is None:
        opened.said["columns"] = list(table.columns[: size if size <= MOST_FEATURES else _FIRST])
    if size <= _LISTED or not _use_all(opened, table):
        st.multiselect("Features to use", table.columns, **_kept(opened, "columns"))
    chosen: list[str] = opened.said["columns"]
    _draw_identifiers(opened, table)
    if not chosen:
        raise InputError("choose at least one feature of the file")
    return chosen


def _use_all(opened: OpenFile, table: Table) -> bool:
    """Of many columns all are used without a word for each, or some that are searched for by name."""
    size, key = len(table.columns), "upload_all_columns"
    st.session_state[key] = len(opened.said["columns"]) == size
    st.toggle(f"Use all {size:,} columns", key=key, disabled=size > MOST_FEATURES, on_change=lambda: opened.said.update(
        columns=list(table.columns[: size if st.session_state[key] else _FIRST])))
    if not st.session_state[key] and opened.said["columns"] == list(table.columns[:_FIRST]):
        most = f" At most {MOST_FEATURES:,} can be used." if size > MOST_FEATURES else ""
        st.caption(f"The first {_FIRST} of {size:,} columns; search for others by name.{most}")
    return bool(st.session_state[key])


def _draw_identifiers(opened: OpenFile, table: Table) -> None:
    """What among the features in use numbers the records or names people, and one button that leaves it out."""
    used = set(opened.said["columns"])
    found = [each for each in _identifiers(table) if each.name in used]
    for words in identifier_words(found):
        st.caption(f":material/badge: {words}")
    if found and len(used) > len(found):
        names = {each.name for each in found}
        st.button(f"Leave {'it' if len(found) == 1 else 'them'} out", key="upload_leave_out", on_click=lambda: (
            opened.said.update(columns=[name for name in opened.said["columns"] if name not in names])))


def _use(opened: OpenFile, table: Table, columns: list[str] | None) -> None:
    """Make the table the session's data, and start again with it, whenever its use has changed."""
    ranges = dict(opened.ranges) if not table.is_graph else {}
    use = json.dumps([opened.reading, opened.orientation, opened.missing, columns, ranges])
    own = session.upload()
    if use == opened.used and own is not None and own.data_name == opened.data_name:
        return
    dataset = table_to_dataset(table, orientation=opened.orientation, columns=columns, ranges=ranges,
                               missing=opened.missing)
    clipped = 0
    if opened.orientation == "rows":
        for name, (low, high, _) in ranges.items():
            values = table.values[:, table.columns.index(name)]
            clipped += int(((values < low) | (values > high)).sum())
    opened.used, opened.edits = use, opened.edits + 1
    source = DataSource(name=opened.name, columns=None if columns is None else tuple(columns), ranges=ranges or None,
                        orientation=opened.orientation, missing=opened.missing, **opened.reading)
    session.set_upload(session.Upload(data_name=opened.data_name, version=f"{opened.data_name} {opened.edits}",
                                  dataset=dataset, source=source, clipped=clipped, is_graph=table.is_graph))
    st.rerun()


def _choose_people(opened: OpenFile) -> None:
    """Files about the same people share one budget: known by their records, or by what the person says."""
    others, desk, own = open_files().others(), release_desk(), opened.data_name
    known = {name: describe(name).title for name in samples()} | {name: file.name for name, file in others.items()}
    joined = [known[name] for name in known if name in desk.same_people(own)]
    if joined:
        st.caption(f":material/group: Counts together with {in_markdown(listed(joined))}: the same people, one budget.")
    free = [name for name in others if name not in desk.same_people(own)]
    if not free:
        return
    alike = [others[name].name for name in free if others[name].features == opened.features]
    hint = f" Its columns have the same names as those of {in_markdown(listed(alike))}." if alike else ""

    def join() -> None:
        with desk.refusing():
            desk.count_together(own, other)

    with st.container(horizontal=True, vertical_alignment="bottom"):
        other = st.selectbox("About the same people as", free, format_func=lambda name: others[name].name,
                             key=f"upload_people_{own}", width=320)
        st.button("Count them together", key="upload_join", on_click=join,
                  icon=":material/group:", help="What is released of either then spends one budget, for good.")
    st.caption(f"Two files about the same people share one budget, and no program can know that they are.{hint}")


def _choose_label(columns: list[str]) -> None:
    """Which feature is to be predicted, for the tasks that predict one."""
    position = session.scenario().label
    current = columns[position] if position is not None and position < len(columns) else None
    st.selectbox("Label: the feature to be predicted, if any", [None, *columns],
                 format_func=lambda name: "none" if name is None else name, **session.bound(
                     "upload_label", current, lambda name: {"label": None if name is None else columns.index(name)}))


# The ranges of a file's features in a table: a tick says that what was typed is known. A proposal stays the data's,
# whoever accepts it; so does an end that nobody typed.

_FRAMES, _ROUND, _FILE, _TOLD = "_range_frames", "_range_round", "upload_ranges_file", "_range_file_told"
_KNOWN = "known"
_HELP = ("Privacy rests on ranges that are known without looking at the data: a questionnaire's scale, a physical "
         "limit. A tick says so for the numbers that you typed beside it. A number proposed from the data stays not "
         "private; if you know it, take it from a file of ranges.")

Proposal = Mapping[str, tuple[float, float]]


def draw_ranges(opened: OpenFile, proposal: Proposal) -> None:
    """Show every feature's range and take what the person says of it into ``opened.ranges``."""
    key = _key(opened, proposal)
    frames = st.session_state.setdefault(_FRAMES, {})
    if key not in st.session_state or key not in frames:  # drawn anew: from what is known by now
        frames.clear()
        frames[key] = frame_of(proposal, opened.ranges)
    number = st.column_config.NumberColumn(format="%g", required=True)
    known = st.column_config.CheckboxColumn("I know it", help=_HELP)
    edited = st.data_editor(frames[key], key=key, hide_index=True, disabled=["feature"],
                            height=min(36 * (len(proposal) + 1) + 4, 256),
                            column_config={"lowest": number, "highest": number, _KNOWN: known})
    opened.ranges.update(given_ranges(edited, proposal, opened.ranges, opened.proposed))
    for name in proposal:
        if name in opened.ranges and opened.ranges[name] == (*proposal[name], Origin.READ):
            del opened.ranges[name]  # untouched
    unknown = [name for name in proposal if name not in opened.ranges or not opened.ranges[name].origin.is_covered]
    with st.container(horizontal=True, vertical_alignment="center"):
        ticked = [name for name in proposal if _is_ticked(opened.ranges.get(name))]
        st.button("I know all these ranges", key="upload_know_all", on_click=_state_all, help=_HELP,
                  args=(opened, dict(proposal)), kwargs={"known": True}, disabled=len(ticked) == len(proposal))
        st.button("I know none of them", key="upload_know_none", on_click=_state_all, args=(opened, dict(proposal)),
                  kwargs={"known": False}, disabled=not ticked)
        _draw_files(opened, proposal)
    if unknown:
        some = "Ranges" if len(unknown) == len(proposal) else f"{len(unknown):,} of {len(proposal):,} ranges"
        st.caption(f":material/visibility: {some} proposed from the data: **not private**. "
                   "Type what you know and tick it.")


def frame_of(proposal: Proposal, ranges: Mapping[str, Range]) -> pd.DataFrame:
    """What stands in the table: the person's ranges, else what the data suggests, which nobody declared."""
    known = [ranges.get(name, Range(*ends, Origin.READ)) for name, ends in proposal.items()]
    rows = [(name, float(span.low), float(span.high), _is_ticked(span))
            for name, span in zip(proposal, known, strict=True)]
    return pd.DataFrame(rows, columns=["feature", "lowest", "highest", _KNOWN])


def given_ranges(edited: pd.DataFrame, proposal: Proposal, before: Mapping[str, Range],
                 proposed: Mapping[str, tuple[float, ...]]) -> dict[str, Range]:
    """The ranges of the edited table by feature; what is as it was ``before`` keeps its origin.

    ``proposed``: ends that are no person's, beside those of the ``proposal``.
    """
    found = {}
    columns = (edited[name].tolist() for name in ("lowest", "highest", _KNOWN))
    for name, low, high, known in zip(proposal, *columns, strict=True):
        if pd.isna(low) or pd.isna(high):
            raise InputError(f"the range of {name!r} needs two numbers: type both")
        found[name] = _stated((float(low), float(high)), (*proposal[name], *proposed.get(name, ())), before.get(name),
                              known=known is True)
    return found


def _stated(ends: tuple[float, float], proposed: tuple[float, ...], before: Range | None, *, known: bool) -> Range:
    """A range with the weakest origin of its ends: of those that the person says to know, the typed are declared."""
    if before is not None and before[:2] == ends and _is_ticked(before) is known:
        return before
    typed = weakest(Origin.ACCEPTED if end in proposed else Origin.DECLARED for end in ends)
    return Range(*ends, typed if known else Origin.READ)


def _is_ticked(span: Range | None) -> bool:
    return span is not None and span.origin is not Origin.READ


def _key(opened: OpenFile, proposal: Proposal) -> str:
    """Another file, other features or a button draw the table anew."""
    shown = abs(hash((opened.data_name, opened.read_as, tuple(proposal), st.session_state.get(_ROUND, 0))))
    return f"upload_ranges_{shown}"


def _state_all(opened: OpenFile, proposal: Proposal, *, known: bool) -> None:
    """The person says of every range shown, as it stands, whether it is known."""
    for name, ends in proposal.items():
        before = opened.ranges.get(name, Range(*ends, Origin.READ))
        proposed = (*ends, *opened.proposed.get(name, ()))
        opened.ranges[name] = _stated((before.low, before.high), proposed, before, known=known)
    draw_anew()


def draw_anew() -> None:
    """The next time the table is drawn from what is known of the ranges, not from what was typed into it."""
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1


def _draw_files(opened: OpenFile, proposal: Proposal) -> None:
    """Ranges as a file: out as they stand, in from a table or JSON, by the names of the features."""
    with st.popover("Ranges as a file", icon=":material/swap_vert:", key="upload_ranges_files"):
        known = {name: opened.ranges.get(name, Range(*ends, Origin.READ)) for name, ends in proposal.items()}
        for label, name, mime, content in (("As CSV", "ranges.csv", "text/csv", ranges_to_csv),
                                           ("As JSON", "ranges.json", "application/json", ranges_to_json)):
            offer_file(label, name, mime, partial(content, known), key=f"upload_{name}")
        st.file_uploader("Take ranges from a file (CSV or JSON)", type=["csv", "tsv", "txt", "json"], max_upload_size=4,
                         key=_FILE, on_change=_take_file, args=(opened, tuple(proposal)))
    told = st.session_state.get(_TOLD)  # as long as the file is in the box
    if isinstance(told, InputError):
        show_error(told)
        st.caption("Nothing was lost: the ranges are as they were.")
    elif told:
        st.caption(told)


def _take_file(opened: OpenFile, features: tuple[str, ...]) -> None:
    """Only when a file was chosen; what is not about these features is told, and left."""
    chosen = st.session_state.get(_FILE)
    st.session_state[_TOLD] = None
    if chosen is None:
        return
    try:
        taken, others = fitting(ranges_from_text(chosen.getvalue()), features)
        if not taken:
            raise InputError(f"none of the ranges is about a feature of this file; they are about {listed(others)}")
    except InputError as error:
        st.session_state[_TOLD] = error
        return
    opened.take_ranges(taken)
    rest = f"; left aside, as no feature has these names: {in_markdown(listed(others))}" if others else ""
    st.session_state[_TOLD] = f"{len(taken):,} of {len(features):,} ranges were taken from the file{rest}."
    draw_anew()
