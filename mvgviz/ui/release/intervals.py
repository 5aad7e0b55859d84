"""How far the released numbers may lie from the answer: in a sentence, a table, a picture of a mean; and a fit."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from mvgviz.figures.release.intervals import MOST_LINES, coefficient_numbers, plot_intervals, range_numbers
from mvgviz.release.fitted import fitted_coefficients, labels, refusal
from mvgviz.release.release import Release
from mvgviz.scenario.resolve import Setup
from mvgviz.text import in_html, in_markdown, spreadsheet_cell
from mvgviz.ui import session
from mvgviz.ui.frame import chart, show_table
from mvgviz.words import intervals as words


@session.remembered(8)
def off_by(setup: Setup) -> str:
    """How far the numbers of a release will lie from the answer, as plain text."""
    return words.off_by(words.planned_widths(setup))


def draw_intervals(release: Release) -> None:
    """Of what was released; why there are none where the shape of the noise may not be told."""
    widths = words.released_widths(release)
    if widths is None:
        st.caption(f":material/visibility: {words.NOT_TOLD}")
        return
    takeaway = words.widths_sentence(widths, in_markdown)
    st.markdown("#### How far from the answer?")
    if release.query == "mean" and release.ranges is not None:
        _draw_mean(release, takeaway)
    else:
        st.markdown(takeaway)
        _draw_table(words.width_columns(widths))
    st.caption(words.covers_sentences(widths))
    if refusal(release) is None:
        _draw_fit(release)


def _draw_mean(release: Release, takeaway: str) -> None:
    columns, ranges = words.mean_columns(release), release.declared_ranges or release.ranges or {}
    picture, table = st.columns([3, 2], gap="large")
    part = f" The first {MOST_LINES} shown." if len(ranges) > MOST_LINES else ""
    with picture:
        numbers = range_numbers(*columns.values(), ends=[known[:2] for known in ranges.values()])
        chart(plot_intervals(numbers, title="released mean, in % of its range", lines=(0, 100)), f"{takeaway}{part}",
              key="release_mean")
    with table:
        _draw_table(columns)


def _draw_fit(release: Release) -> None:
    """A regression from what was released, for the label that is chosen."""
    names = labels(release)
    usual = None if release.scenario is None else release.scenario.label
    st.markdown("#### What would a regression say?")
    label: str | None = st.selectbox(
        "Feature to predict from the others", names, placeholder="Choose a feature", width=320,
        index=usual if usual is not None and usual < len(names) else None, key=f"release_label_{release.time}")
    if label is None:
        return
    fit = fitted_coefficients(release, label)
    picture, table = st.columns([3, 2], gap="large")
    part = f" The first {MOST_LINES} shown." if len(fit.features) > MOST_LINES else ""
    title = f"change of {in_html(label)}, in % of its range,<br>while a feature crosses its own"
    with picture:
        chart(plot_intervals(coefficient_numbers(fit), title=title, lines=(0,)),
              f"{words.coefficients_sentence(fit, in_markdown)}{part}", key="release_fit")
    with table:
        _draw_table(words.coefficient_columns(fit), key="release_coefficients")
    st.caption(words.ABOUT_FIT)


def _draw_table(columns: Mapping[str, Sequence[Any]], *, key: str = "release_widths") -> None:
    if columns:
        harmless = {"feature": [spreadsheet_cell(name) for name in columns["feature"]]}
        show_table({**columns, **harmless}, numbers=[head for head in columns if head != "feature"],
                   key=key)
