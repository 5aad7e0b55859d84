"""Precision budget: theta, noise and signal by direction, what each split lets through, and the inverse question."""

import numpy as np
import pandas as pd
import streamlit as st

from mvgviz.figures.budget.noise import noise_factors, plot_noise_factors, plot_signal_to_noise, signal_numbers
from mvgviz.figures.budget.split import largest_directions, plot_split
from mvgviz.scenario.precision_budget import BudgetTable, budget_table, table_csv
from mvgviz.text import delta_words, spreadsheet_cell
from mvgviz.ui.budget.panels import draw_inverse, draw_loadings, draw_pnr, moments
from mvgviz.ui.frame import Setup, chart, open_page
from mvgviz.ui.menu import BUDGET
from mvgviz.words.budget import NOT_PRIVATE, Names, largest_share, promise, who_gains
from mvgviz.words.provenance import noise_care

TABS = ("Direction by direction", "What gets through", "From noise to epsilon")
ROWS = 1_000


def draw_noise(setup: Setup, table: BudgetTable, names: Names) -> None:
    """Noise against i.i.d. noise: the page's question."""
    numbers = noise_factors(table)
    part = f" The {len(numbers.shown)} with least and most noise are drawn." if len(numbers.shown) < table.size else ""
    chart(plot_noise_factors(numbers, names=names.labels(numbers.shown)),
          who_gains(setup, names, numbers) + part, key="budget_noise",
          about="The standard deviation of the noise along each direction, divided by that of i.i.d. noise with the "
                "same guarantee. Left of the line a direction gains, right of it it pays. The cost of finding private "
                "directions is counted: i.i.d. noise needs none and has the whole budget.")


def draw_split(setup: Setup, table: BudgetTable, names: Names) -> None:
    """The shares, as a bar or a treemap."""
    shown = largest_directions(table.theta)
    what = ("1/v (v the noise variance), weighted by how far one record can reach: together μ²"
            if table.precision_is == "1/v" else "1/v² (v the noise variance), which the paper calls precision")
    chart(plot_split(table.theta, shown, names=names.labels(shown)), largest_share(names, table),
          key="budget_split",
          about=f"theta: how the precision budget is divided. Under this guarantee it is the sum of {what}. Strong "
                "colour: more than an equal share.")


def draw_signal(setup: Setup, table: BudgetTable, names: Names) -> None:
    """Signal-to-noise, where the signal has a meaning."""
    numbers = signal_numbers(table)
    if numbers is None:
        return
    silent = f" {numbers.silent} without any signal are not drawn." if numbers.silent else ""
    part = f" The {len(numbers.shown)} largest are drawn." if len(numbers.shown) + numbers.silent < table.size else ""
    signal = ("the answer's own entry along the direction" if setup.query.name == "covariance"
              else "the root mean square of the values along the direction")
    chart(plot_signal_to_noise(numbers, names=names.labels(numbers.shown)),
          f"**Signal above noise** in {numbers.above} of {numbers.total} directions (i.i.d.: {numbers.iid_above}). "
          f"{NOT_PRIVATE}{part}{silent}", key="budget_signal",
          about=f"Signal: {signal}. Noise: its standard deviation along the same direction. {NOT_PRIVATE}")


def draw_directions(setup: Setup, table: BudgetTable, names: Names) -> None:
    """Every number, sortable, and what the directions are made of."""
    order = np.sort(np.argsort(-table.theta, kind="stable")[:ROWS])
    columns = {"theta": table.theta, f"precision {table.precision_is}": table.precision, "variance v": table.variance,
               "standard deviation": table.std, "i.i.d. standard deviation": table.iid_std, "factor": table.factor}
    if table.signal is not None and table.signal_to_noise is not None:
        columns |= {"signal (not private)": table.signal, "signal / noise (not private)": table.signal_to_noise}
    frame = pd.DataFrame({"direction": [spreadsheet_cell(names(int(k))) for k in order]}
                         | {name: column[order] for name, column in columns.items()})
    st.dataframe(frame, hide_index=True, key="budget_table", height="auto" if len(frame) <= 9 else 360, column_config={
        name: st.column_config.NumberColumn(format="%.4g") for name in columns})
    both = " With noise on both sides it is that of the answer's entry (k, k), which is v." if (
        setup.design.mode == "both") else ""
    part = f" The {ROWS:,} largest shares of {table.size:,}; the file has all." if table.size > ROWS else ""
    st.caption(f"Theta divides the sum of {table.precision_is} under this guarantee (1/v² under a theorem, 1/v under "
               f"the exact limit), so look at the standard deviations beside it.{both}{part}")
    st.download_button("All numbers as CSV", key="budget_csv", file_name="precision_budget.csv", mime="text/csv",
                       icon=":material/download:", on_click="ignore",
                       data=lambda: table_csv(table, [names(k) for k in range(table.size)],
                                              care=noise_care(setup)).encode())
    st.caption("What was measured on the data is not in the file.")
    left, right = st.columns(2, gap="large")
    with left:
        draw_signal(setup, table, names)
    with right:
        draw_loadings(setup, table)


setup = open_page(BUDGET)
table, names = budget_table(setup, moments(setup)), Names(setup)
st.markdown(promise(setup, epsilon=setup.scenario.epsilon,
                    delta=delta_words(setup.delta, setup.dataset.n_records)))
left, right = st.columns(2, gap="large")
with left:
    draw_noise(setup, table, names)
with right:
    draw_split(setup, table, names)
tabs = st.tabs(TABS, key="budget_tab", on_change="rerun")
for tab, draw in zip(tabs, (draw_directions, draw_pnr, draw_inverse), strict=True):
    if tab.open:
        with tab:
            draw(setup, table, names)
