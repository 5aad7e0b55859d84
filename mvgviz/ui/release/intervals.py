"""How far the released numbers may lie from the answer: a sentence, a table and, for a mean, a picture."""

import streamlit as st

from mvgviz.figures.release.intervals import MOST_LINES, plot_intervals, range_numbers
from mvgviz.release.release import Release
from mvgviz.scenario.resolve import Setup
from mvgviz.text import in_markdown, spreadsheet_cell
from mvgviz.ui import session
from mvgviz.ui.frame import chart, show_table
from mvgviz.words import intervals as words


@session.remembered(8)
def off_by(setup: Setup) -> str:
    """How far the numbers of a release will lie from the answer, as plain text."""
    return words.within(words.planned_widths(setup), most=3)


def draw_intervals(release: Release) -> None:
    """Of what was released; why there are none where the shape of the noise may not be told."""
    widths = words.released_widths(release)
    if widths is None:
        st.caption(f":material/visibility: {words.NOT_TOLD}")
        return
    takeaway, columns = words.widths_sentence(widths, in_markdown), words.width_columns(widths)
    st.markdown("#### How far from the answer?")
    if release.query == "mean" and release.ranges is not None:
        picture, table = st.columns([3, 2], gap="large")
        with picture:
            _draw_mean(release, takeaway)
    else:
        st.markdown(takeaway)
        table = st.container()
    if columns:
        names, *numbers = columns
        with table:
            show_table(columns | {names: [spreadsheet_cell(str(name)) for name in columns[names]]}, numbers=numbers,
                       key="release_widths")
    st.caption(words.covers_sentences(widths))


def _draw_mean(release: Release, takeaway: str) -> None:
    values, halves, units = release.noisy, release.half_widths(), release.own_units
    ranges = release.declared_ranges or release.ranges or {}
    if units is not None:
        values, halves = units.of(values), units.factor[:, None] * halves
    numbers = range_numbers(tuple(ranges), values[:, 0], halves[:, 0], [ends[:2] for ends in ranges.values()])
    part = f" The first {MOST_LINES} shown." if len(ranges) > MOST_LINES else ""
    chart(plot_intervals(numbers, title="released mean and 95 % interval, in % of the declared range", lines=(0, 100)),
          f"{takeaway}{part}", key="release_mean")
