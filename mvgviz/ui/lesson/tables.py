"""Steps 5 to 7 of the lesson: tables, promises, and trials on a real table."""

import plotly.graph_objects as go

from mvgviz.figures.lesson.steps import plot_bells, plot_sizes, plot_trials
from mvgviz.labels import GUARANTEES
from mvgviz.lesson import steps
from mvgviz.text import as_number
from mvgviz.ui.lesson.scene import scene

_PUPILS = ("Ann", "Ben", "Eva", "Ida", "Leo", "Tom")
_TABLES = {"people": "six pupils' own answers", "together": "how the questions go together"}
_WHICH = {
    "people": "Here each column is a pupil: all need the same protection, so every column has size **1**, and only the "
              "rows differ.",
    "together": "Here rows and columns are the same four questions, so the **same sizes** stand along both edges."}
_RULES = {key: label.name for key, label in GUARANTEES.items()} | {"exact": "Exact calculation"}
_PARTS = {"all": "All of it", "half": "About half of it", "tenth": "About a tenth of it",
          "nothing": "Less than a hundredth of it"}
_LIVER = {"drinks": "drinks", "sgpt, drinks": "one enzyme and drinks", "all but mcv": "all but cell size",
          "mcv, alkphos": "cell size and another enzyme"}
_PAID = {"yes": "Yes, the error is smaller", "no": "No, the error is larger", "unclear": "Too close to tell"}


# Step 5

def _sizes(table: str) -> tuple[go.Figure, str]:
    design = steps.table_noise(table)
    rows, cols = ([f"{size:.3g}" for size in sizes] for sizes in steps.edge_sizes(design))
    columns = steps.QUESTIONS if table == "together" else _PUPILS
    row, col = steps.TABLES[table]
    return plot_sizes(design, row_sizes=rows, col_sizes=cols, asked=steps.TABLES[table], row_names=steps.QUESTIONS,
                      col_names=columns), (
        f"A table of {design.rows} rows and {design.cols} columns. Row sizes: {', '.join(rows)}. Column "
        f"sizes: {', '.join(cols)}. Asked: the cell {steps.QUESTIONS[row]}, {columns[col]}.")


def _sizes_why(table: str) -> str:
    rows, cols = steps.edge_sizes(steps.table_noise(table))
    i, j = steps.TABLES[table]
    return f"{as_number(rows[i])} times {as_number(cols[j])} is {as_number(steps.STEPS[4].answer(table).value)}."


def _sizes_hint(table: str, given: float) -> str:
    rows, cols = steps.edge_sizes(steps.table_noise(table))
    i, j = steps.TABLES[table]
    if abs(given - rows[i] - cols[j]) < 0.05 * given:
        return "Multiply the two sizes, do not add them."
    return "Take the number at the left of its row and the number above its column, and multiply."


# Step 6

def _promise(guarantee: str) -> tuple[go.Figure, str]:
    mu = steps.promised(guarantee).mu
    figure = plot_bells(0.0, shift=1.0, noise=1 / mu, span=4 / mu, names=("neighbour A", "neighbour B"),
                        axis="published (one pupil changes 1)")
    return figure, f"{_RULES[guarantee]}: two bell curves, one unit apart and each {as_number(1 / mu)} wide."


def _promise_takes(guarantee: str) -> str:
    noise, least = (float(promise.direction_std()[0]) for promise in map(steps.promised, (guarantee, "exact")))
    if guarantee == "exact":
        return f"The **exact calculation** finds the least noise that keeps it: {as_number(noise)}."
    return (f"**{_RULES[guarantee]}** of the paper that proposed directional noise asks for {as_number(noise)}, "
            f"**{as_number(noise / least)} times** what the exact calculation finds.")


def _promise_why(guarantee: str) -> str:
    design = steps.promised(guarantee)
    spent = (f"Really spent: ε = {as_number(design.epsilon_spent(steps.DELTA), 2)} of {steps.EPSILON:g}; the best "
             f"attacker is right in {as_number(100 * steps.guess_rate(design.mu))} of 100 guesses.")
    if guarantee == "exact":
        return f"{spent} With less noise the promise would be broken."
    return f"{spent} The theorem's promise is true, but it is paid for with noise that nobody needed."


def _promise_hint(guarantee: str, given: str) -> str:
    order = steps.STEPS[5].answer(guarantee).options
    if order.index(given) < order.index(steps.STEPS[5].answer(guarantee).right):
        return "Less: can you tell the two curves apart at all?"
    return "More: the curves do not quite cover each other, and exact means that no noise is wasted."


# Step 7

def _trials(favourite: str) -> tuple[go.Figure, str]:
    found = steps.liver_pay(favourite)
    return plot_trials(found), (
        f"Average errors in half pints a day: no noise {found.no_noise:.1f}, directional {found.directional:.2f}, one "
        f"size {found.one_size:.2f}, an answer without data {found.no_data:.1f}, Theorem 1 {found.theorem1:.1f}.")


def _trials_why(favourite: str) -> str:
    found = steps.liver_pay(favourite)
    how = "less" if found.gain > 0 else "more"
    lesson = {"yes": "It favours what the prediction needs.", "no": "It favours what the prediction hardly needs.",
              "unclear": "Whoever favours nearly everything favours nothing."}[steps.STEPS[6].answer(favourite).right]
    return (f"The error is {as_number(abs(found.gain), 2)} half pints {how} than with noise of one size (give or take "
            f"{as_number(found.margin, 2)}). {lesson}")


TABLE_SCENES = (
    scene(5, shown=_TABLES.__getitem__, picture=_sizes, why=_sizes_why, hint=_sizes_hint,
          parts=lambda table: {"which": _WHICH[table]}),
    scene(6, shown=_RULES.__getitem__, picture=_promise, why=_promise_why, hint=_promise_hint,
          option=_PARTS.__getitem__, parts=lambda guarantee: {"takes": _promise_takes(guarantee)}),
    scene(7, shown=_LIVER.__getitem__, picture=_trials, why=_trials_why, option=_PAID.__getitem__,
          hint=lambda favourite, given: "Look at the blue dot with its bar: left of the dashed line, right of it, or "
                                        "on it?"))
