"""Precision budget: theta, noise and signal by direction, what each split lets through, and the inverse question."""

import numpy as np
import streamlit as st

from mvgviz.figures.budget.noise import noise_factors, plot_noise_factors, plot_signal_to_noise, signal_numbers
from mvgviz.figures.budget.splits import largest_directions, plot_split
from mvgviz.scenario.precision_budget import BudgetTable, budget_table, table_csv
from mvgviz.scenario.resolve import Setup
from mvgviz.text import spreadsheet_cell
from mvgviz.ui import session
from mvgviz.ui.budget.panels import draw_inverse, draw_loadings, draw_pnr, draw_trade_off
from mvgviz.ui.frame import chart, draw_open_tab, offer_file, open_page, show_table
from mvgviz.ui.menu import BUDGET
from mvgviz.words.budget import Names, about_signal, about_split, largest_share, promise, signal_words, who_gains
from mvgviz.words.provenance import noise_care

ROWS = 1_000


def draw_noise(setup: Setup, table: BudgetTable, names: Names) -> None:
    """Noise against equal noise: the page's question."""
    numbers = noise_factors(table)
    part = f" The {len(numbers.shown)} with least and most noise are drawn." if len(numbers.shown) < table.size else ""
    chart(plot_noise_factors(numbers, names=names.of_noise(numbers.shown)), who_gains(setup, names, numbers) + part,
          key="budget_noise")


def draw_split(setup: Setup, table: BudgetTable, names: Names) -> None:
    """The shares, as a bar or a treemap."""
    shown = largest_directions(table.theta)
    chart(plot_split(table.theta, shown, names=names.labels(shown)), largest_share(names, table), key="budget_split",
          about=about_split(setup, table))


def draw_signal(setup: Setup, table: BudgetTable, names: Names) -> None:
    """Signal-to-noise, where the signal has a meaning."""
    numbers = signal_numbers(table)
    if numbers is not None:
        chart(plot_signal_to_noise(numbers, names=names.labels(numbers.shown)), signal_words(numbers),
              key="budget_signal", about=about_signal(setup))


def draw_directions(setup: Setup, table: BudgetTable, names: Names) -> None:
    """Every number, sortable, and what the directions are made of."""
    order = np.sort(np.argsort(-table.theta, kind="stable")[:ROWS])
    columns = {"theta": table.theta, f"precision {table.precision_is}": table.precision, "variance v": table.variance,
               "typical error": table.std, "typical error, equal noise": table.iid_std, "factor": table.factor}
    if table.signal is not None and table.signal_to_noise is not None:
        columns |= {"signal (not private)": table.signal, "signal / noise (not private)": table.signal_to_noise}
    show_table({"direction": [spreadsheet_cell(names(int(k))) for k in order]}
               | {name: column[order] for name, column in columns.items()}, numbers=columns, key="budget_table",
               height="auto" if len(order) <= 9 else 360)
    both = " With noise on both sides it is that of the answer's entry (k, k), which is v." if (
        setup.design.mode == "both") else ""
    part = f" The {ROWS:,} largest shares of {table.size:,}; the file has all." if table.size > ROWS else ""
    st.caption(f"Theta divides the sum of {table.precision_is} under this guarantee (1/v² under a theorem, 1/v under "
               f"the exact limit), so look at the typical errors (standard deviations) beside it.{both}{part}")
    offer_file("All numbers as CSV", "precision_budget.csv", "text/csv", key="budget_csv", content=lambda: table_csv(
        table, [names(k) for k in range(table.size)], care=noise_care(setup)))
    st.caption("What was measured on the data is not in the file.")
    left, right = st.columns(2, gap="large")
    with left:
        draw_signal(setup, table, names)
    with right:
        draw_loadings(setup, table)


setup = open_page(BUDGET)
table, names = budget_table(setup, session.moments(setup)), Names(setup)
st.markdown(promise(setup))
for column, draw in zip(st.columns(2, gap="large"), (draw_noise, draw_split), strict=True):
    with column:
        draw(setup, table, names)
draw_open_tab({"Needed and rest": draw_trade_off, "Direction by direction": draw_directions,
               "What gets through": draw_pnr, "From noise to epsilon": draw_inverse}, setup, table, names,
              key="budget_tab")
