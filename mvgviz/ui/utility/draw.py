"""The tab "True against noisy" of the page Utility: one draw, by task."""

from collections.abc import Callable
from functools import partial

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from mvgviz.figures.budget.noise import SignalNumbers, plot_signal_to_noise, signal_numbers
from mvgviz.figures.shared.matrix_map import MOST_COLS
from mvgviz.figures.utility import one_draw
from mvgviz.scenario.names import names_of_coordinates
from mvgviz.scenario.precision_budget import budget_table
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_number, in_markdown
from mvgviz.trials.first_trial import Components, FirstTrial, Predictions, first_trial
from mvgviz.trials.question import Problem
from mvgviz.trials.tasks import TASKS
from mvgviz.ui import session
from mvgviz.ui.frame import chart
from mvgviz.ui.slices import problem
from mvgviz.words.budget import Names, short_label
from mvgviz.words.utility import SHOWN_TO_HOLDER, draw_words

_NAMED = 24
_first_trial = session.remembered(8)(first_trial)


def draw_one_draw(setup: Setup) -> None:
    """True and noisy answer in the same colours, and what the task makes of them."""
    posed = problem(setup)
    trial = _first_trial(posed)
    st.caption(f":material/visibility_lock: {SHOWN_TO_HOLDER}")
    if not np.isfinite(trial.noisy).all():
        st.info("The noise is too large to be drawn.", icon=":material/block:")
        return
    pair, labels = one_draw.matrix_pair(trial.true, trial.noisy), _labels(posed, trial)
    draw_use = _use(setup, posed, trial)
    columns = st.columns([8, 9] if draw_use is None else [8, 9, 9], gap="medium")
    with columns[0]:
        chart(_matrix(pair, labels, noisy=False), _true_words(trial, pair), key="utility_true")
    with columns[1]:
        chart(_matrix(pair, labels, noisy=True), draw_words(trial, pair, TASKS[setup.scenario.task].symbol),
              key="utility_noisy")
    if draw_use is not None:
        with columns[2]:
            draw_use()


def _use(setup: Setup, posed: Problem, trial: FirstTrial) -> Callable[[], None] | None:
    """The picture of what the task makes of the answer; None where there is none."""
    if trial.predictions is not None:
        return partial(_draw_predictions, setup, trial.predictions)
    if trial.components is not None:
        first = setup.scenario.task == "first-component"
        return partial(_draw_loadings, posed, trial.components) if first else partial(_draw_captured, trial.components)
    signal = signal_numbers(budget_table(setup, session.moments(setup)))
    return None if signal is None else partial(_draw_signal, setup, signal)


def _labels(posed: Problem, trial: FirstTrial) -> tuple[list[str], list[str], str, str]:
    """Names of rows and columns that are shown, and what they are called together."""
    query, (rows, cols) = posed.query, trial.true.shape
    row = "vertex" if query.is_graph else "record" if query.row_names is None else "feature"
    names = [short_label(name) for name in names_of_coordinates(query, "rows", trial.shape[0])[:MOST_COLS]]
    named = query.row_names is not None and len(names) <= _NAMED
    down = names if named else _thinned(len(names))
    if query.symmetric or trial.what == "moments":
        return down[:rows], down[:cols], row, row
    return down[:rows], ["mean"] if cols == 1 else _thinned(min(cols, MOST_COLS)), row, "" if cols == 1 else "record"


def _thinned(count: int) -> list[str]:
    """Numbers from 1, about eight of them, blanks between."""
    every = -(-count // 8)
    return [str(k + 1) if k % every == 0 else "" for k in range(count)]


def _matrix(pair: one_draw.MatrixPair, labels: tuple[list[str], list[str], str, str], *, noisy: bool) -> go.Figure:
    shown = pair.noisy if noisy else pair.true
    rows, cols = shown.shape
    return one_draw.plot_one_of_pair(pair, shown, row_labels=labels[0][:rows], col_labels=labels[1][:cols],
                            row_title=labels[2], col_title=labels[3], scale=noisy)


def _true_words(trial: FirstTrial, pair: one_draw.MatrixPair) -> str:
    what = "second moments of the table, which is all this task uses" if trial.what == "moments" else "answer"
    rows, cols = pair.true.shape
    part = f" The first {rows} × {cols} of {trial.shape[0]:,} × {trial.shape[1]:,} are drawn." if (
        (rows, cols) != trial.shape) else ""
    return f"**True {what}.**{part}"


def _draw_predictions(setup: Setup, found: Predictions) -> None:
    numbers = one_draw.prediction_numbers(found)
    name = setup.dataset.features[found.label]
    rmse = [float(np.sqrt(np.square(values - found.labels).mean())) for values in (found.clean, found.noisy)]
    outside = f" {numbers.outside} noisy predictions leave the picture." if numbers.outside else ""
    part = f" The first {len(numbers.labels)} of {found.labels.size:,} are drawn." if len(
        numbers.labels) < found.labels.size else ""
    chart(one_draw.plot_predictions(numbers, name=short_label(name)),
          f"**Predictions** of {in_markdown(name)} on records held out: off by {as_number(rmse[1])} (RMSE), without "
          f"privacy {as_number(rmse[0])}.{outside}{part}", key="utility_predictions")


def _draw_loadings(posed: Problem, parts: Components) -> None:
    shown, total = one_draw.largest_loadings(parts), parts.first.size
    names = names_of_coordinates(posed.query, "rows", total)
    part = f" The {len(shown)} largest of {total} loadings are drawn." if len(shown) < total else ""
    chart(one_draw.plot_loadings(parts, shown, names=[short_label(names[k]) for k in shown]),
          f"**First component:** {as_number(parts.angle, 2)}° from the true one.{part}", key="utility_loadings")


def _draw_captured(parts: Components) -> None:
    figure = one_draw.plot_captured(parts)
    drawn, every = len(figure.data[0].x), parts.captured.size
    part = f" The first {drawn} of {every}." if drawn < every else ""
    total = float(parts.eigenvalues[0])
    share = f", {as_number(100 * float(parts.captured[0]) / total, 2)} % of what the true one does" if total > 0 else ""
    chart(figure, f"**The first noisy component** captures {as_number(float(parts.captured[0]))}{share}.{part}",
          key="utility_captured")


def _draw_signal(setup: Setup, numbers: SignalNumbers) -> None:
    """Signal-to-noise along each direction."""
    part = f" {len(numbers.shown)} of {numbers.total} are drawn." if len(numbers.shown) < numbers.total else ""
    chart(plot_signal_to_noise(numbers, names=Names(setup).labels(numbers.shown)),
          f"**Signal above noise** in {numbers.above} of {numbers.total} directions (equal noise: "
          f"{numbers.iid_above}).{part}", key="utility_signal")
