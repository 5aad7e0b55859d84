"""The ranges of a file's features in a table: a tick says that what was typed is known.

A proposal stays the data's, whoever accepts it; so does an end that nobody typed.
"""

from collections.abc import Mapping
from functools import partial

import pandas as pd
import streamlit as st

from mvgviz.errors import InputError
from mvgviz.provenance import Origin, Range, weakest
from mvgviz.scenario.ranges import fitting, ranges_from_text, ranges_to_csv, ranges_to_json
from mvgviz.text import in_markdown, listed
from mvgviz.ui.data.open_files import OpenFile
from mvgviz.ui.frame import offer_file, show_error

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
