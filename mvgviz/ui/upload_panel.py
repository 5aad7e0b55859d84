"""Bringing one's own file: what was detected, what to use of it, which ranges are known."""

from __future__ import annotations

import hashlib
import json

import pandas as pd
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from mvgviz.data import Table, propose_ranges, read_table, table_to_dataset
from mvgviz.errors import InputError
from mvgviz.ui import state
from mvgviz.ui.frame import show_error
from mvgviz.words import in_markdown, listed

_SEPARATORS = {None: "detected", ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}
_DECIMALS = {None: "detected", ".": "point", ",": "comma"}
_HEADERS = {None: "detected", True: "has a header", False: "has no header"}
_ORIENTATIONS = {"rows": "records in rows", "columns": "records in columns"}
_MISSING = {"reject": "refuse the file", "drop": "leave those records out"}
_TEXT_FORMATS = ("csv", "tsv", "text")


def draw_upload_panel() -> None:
    """The uploader and its corrections; a readable file becomes the session's data at once."""
    chosen = st.file_uploader("A table: CSV, TSV, Excel, Parquet, NPY or NPZ, up to 200 MB", key="upload_file")
    if chosen is None:
        own = state.upload()
        if own is not None:
            st.caption(f"In this session: {in_markdown(own.name)}, {own.dataset.n_features} features × "
                       f"{own.dataset.n_records:,} records.")
        return
    table = _choose_reading(chosen)
    if table is not None:
        try:
            _choose_use(table)
            return
        except InputError as error:
            show_error(error)
    st.caption("Nothing was lost: the app goes on with the data it had.")


@st.cache_resource(scope="session", max_entries=2, show_spinner=False)
def _read(_chosen: UploadedFile, file_id: str, separator: str | None, decimal: str | None, header: bool | None,
          member: str | None) -> Table:
    bar = st.progress(0.0, "Reading the file")
    _chosen.seek(0)
    try:
        return read_table(_chosen, name=_chosen.name, separator=separator, decimal=decimal, header=header,
                          member=member,
                          progress=lambda share: bar.progress(min(max(share, 0.0), 1.0), "Reading the file"))
    finally:
        bar.empty()


@st.cache_resource(scope="session", max_entries=4, show_spinner=False)
def _proposal(_table: Table, fingerprint: str, columns: tuple[str, ...], orientation: str
              ) -> dict[str, tuple[float, float]]:
    return propose_ranges(_table, columns or None, orientation=orientation)


def _choose_reading(file: UploadedFile) -> Table | None:
    """How the file is to be read: as detected, or as corrected; None, and a sentence, if it cannot be."""
    chosen = {key: st.session_state.get(f"upload_{key}") for key in ("separator", "decimal", "header", "member")}
    try:
        table = _read(file, file.file_id, **chosen)
    except InputError as error:
        show_error(error)
        table = None
    with st.expander("How the file was read", expanded=table is None):
        if table is not None:
            for note in table.notes:
                st.caption(in_markdown(note))
        if table is None or table.format in _TEXT_FORMATS:
            first, second, third = st.columns(3)
            first.selectbox("Separator", list(_SEPARATORS), format_func=_SEPARATORS.__getitem__, key="upload_separator")
            second.selectbox("Decimal mark", list(_DECIMALS), format_func=_DECIMALS.__getitem__, key="upload_decimal")
            third.selectbox("First line", list(_HEADERS), format_func=_HEADERS.__getitem__, key="upload_header")
        if table is not None and len(table.members) > 1:
            st.selectbox("Array or sheet", table.members, key="upload_member",
                         index=table.members.index(table.member) if table.member in table.members else 0)
    return table


def _choose_use(table: Table) -> None:
    """Which columns are features, what to do with gaps, and the range of each feature."""
    first, second = st.columns(2)
    orientation = first.radio("Layout", list(_ORIENTATIONS), format_func=_ORIENTATIONS.__getitem__, horizontal=True,
                              key="upload_orientation")
    missing = "reject"
    if table.rows_with_missing:
        missing = second.radio(f"{table.rows_with_missing:,} records have gaps", list(_MISSING), horizontal=True,
                               format_func=_MISSING.__getitem__, key="upload_missing")
    columns: list[str] | None = None
    if orientation == "rows" and not table.is_graph:
        columns = st.multiselect("Features to use", table.columns, default=list(table.columns), key="upload_columns")
        if not columns:
            raise InputError("choose at least one feature of the file")
    if table.text_columns:
        st.caption(f"Set aside, as they hold no numbers: {in_markdown(listed(list(table.text_columns)))}.")
    ranges = None if table.is_graph else _choose_ranges(table, columns, orientation)
    options = json.dumps([orientation, missing, columns, ranges])
    version = f"{table.fingerprint}-{hashlib.sha256(options.encode()).hexdigest()[:12]}"
    own = state.upload()
    if own is None or own.version != version:
        _take(table, version, orientation, columns, ranges, missing)
    if own is not None and own.clipped:
        st.caption(f"{own.clipped:,} values lay outside their ranges and were moved to the nearest end.")
    if columns:
        _choose_label(columns)


def _choose_ranges(table: Table, columns: list[str] | None, orientation: str
                   ) -> dict[str, tuple[float, float]] | None:
    """An editable table of ranges; declared as a whole, or read from the data and marked so."""
    proposal = _proposal(table, table.fingerprint, tuple(columns or ()), orientation)
    names = list(proposal)
    frame = pd.DataFrame({"feature": names, "lowest": [proposal[name][0] for name in names],
                          "highest": [proposal[name][1] for name in names]})
    declared = st.checkbox("I know these ranges without looking at the data", key="upload_declared",
                           help="Privacy rests on ranges that are public: a questionnaire's scale, a physical limit. "
                                "Until you say so they count as read from the data, which is not private.")
    edited = st.data_editor(frame, key="upload_ranges", hide_index=True, disabled=["feature"],
                            height=min(36 * (len(names) + 1) + 4, 256))
    if not declared:
        st.caption(":material/visibility: Ranges read from the data, rounded outwards: **not private**. "
                   "Type what you know and tick the box.")
    lows, highs = edited["lowest"].astype(float).tolist(), edited["highest"].astype(float).tolist()
    ranges = {name: (low, high) for name, low, high in zip(names, lows, highs, strict=True)}
    changed = {name: pair for name, pair in ranges.items() if declared or pair != proposal[name]}
    return changed or None


def _choose_label(columns: list[str]) -> None:
    """Which feature is to be predicted, for the tasks that predict one."""
    position = state.scenario().label
    current = columns[position] if position is not None and position < len(columns) else None
    st.selectbox("Label: the feature to be predicted, if any", [None, *columns],
                 format_func=lambda name: "none" if name is None else name,
                 **state.bound("upload_label", current,
                               lambda name: {"label": None if name is None else columns.index(name)}))


def _take(table: Table, version: str, orientation: str, columns: list[str] | None,
          ranges: dict[str, tuple[float, float]] | None, missing: str) -> None:
    """Make the table the session's data and start again with it."""
    dataset = table_to_dataset(table, orientation=orientation, columns=columns, ranges=ranges, missing=missing)
    clipped = 0
    if ranges and orientation == "rows":
        for name, (low, high) in ranges.items():
            values = table.values[:, table.columns.index(name)]
            clipped += int(((values < low) | (values > high)).sum())
    state.set_upload(state.Upload(name=table.name, fingerprint=table.fingerprint, version=version, dataset=dataset,
                                  clipped=clipped, is_graph=table.is_graph))
    st.rerun()
