"""Every picture of the app, drawn once on data that comes with mvgviz: the list that page and tests share."""

import html
import tomllib
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go

import mvgviz as mv
from mvgviz.design.limits import bound_curves, exact_limit, limit_inputs
from mvgviz.design.privacy_loss import odds, pair_loss, spent_mu
from mvgviz.labels import SPLITS
from mvgviz.lesson import steps
from mvgviz.lesson.game import game
from mvgviz.paper.runs import direction_curves
from mvgviz.paper.runs import run as run_experiment
from mvgviz.paper.tables import EXPERIMENTS
from mvgviz.pictures.advice import falls, plot_waterfall
from mvgviz.pictures.bounds import (
    Edge,
    axis_title,
    curve_lines,
    place,
    plot_bound_curves,
    plot_design_space,
    plot_winner_map,
    second_name,
    short_second,
    winner_map,
)
from mvgviz.pictures.budget import (
    noise_factors,
    plot_noise_factors,
    plot_pnr,
    plot_signal_to_noise,
    plot_split,
    plot_survives,
    plot_water,
    pnr_numbers,
    signal_numbers,
    water_numbers,
)
from mvgviz.pictures.compare import needed, plot_frontier, plot_ranked, ranking, ranking_marks
from mvgviz.pictures.data import feature_histograms, length_numbers, plot_histograms, plot_lengths
from mvgviz.pictures.error_axis import reference_items
from mvgviz.pictures.lesson import (
    Plane,
    plot_aim,
    plot_bells,
    plot_clock,
    plot_cloud,
    plot_game,
    plot_shapes,
    plot_sizes,
    plot_trials,
)
from mvgviz.pictures.paper import plot_directions, plot_rows, row_dots
from mvgviz.pictures.plan import plot_pair, short_names, unit_of_noise
from mvgviz.pictures.privacy import (
    curve_numbers,
    found_label,
    largest_shares,
    loss_numbers,
    plot_composition,
    plot_curve,
    plot_loss,
    plot_scores,
    plot_shares,
    plot_tradeoff,
    tail_label,
)
from mvgviz.pictures.release import budget_numbers, plot_budget, plot_intervals, range_numbers
from mvgviz.pictures.shape import (
    leading_components,
    plot_component_outcomes,
    plot_ellipsoid,
    plot_matrix_outcomes,
)
from mvgviz.pictures.theme import (
    DATA,
    DIRECTIONAL,
    EXACT,
    IID,
    THEOREM1,
    THEOREM2,
    ellipse_numbers,
    plot_matrix,
    plot_noise_ellipse,
)
from mvgviz.pictures.trade_off import plot_trade_off, trade_off_picture
from mvgviz.pictures.utility import (
    SetRow,
    dot_numbers,
    error_curve,
    largest_loadings,
    matrix_pair,
    metric_words,
    plot_captured,
    plot_dots,
    plot_loadings,
    plot_one_of_pair,
    plot_parts,
    plot_predictions,
    plot_sets,
    plot_sweep,
    prediction_numbers,
    ranked_sets,
)
from mvgviz.release.audit import judge, simulate_scores
from mvgviz.scenario.plan_noise import pair_trade, plan_noise
from mvgviz.scenario.precision_budget import budget_table
from mvgviz.scenario.resolve import second_moments
from mvgviz.scenario.splits import compare_splits, equal_design, fill
from mvgviz.scenario.trade_off import trade_off_of
from mvgviz.trials.first_trial import first_trial
from mvgviz.trials.frontier import frontier
from mvgviz.trials.levers import levers
from mvgviz.trials.parts import part_errors, part_points
from mvgviz.trials.resumable import resume

Drawing = tuple[Callable[..., go.Figure], go.Figure]

LIVER = mv.sample("liver")
FEATURES = list(LIVER.features)
TRIALS = 40
_LESSON = Path(mv.__file__).parent / "ui" / "assets" / "steps.toml"


def drawings() -> list[Drawing]:
    """Each plot function with one figure that it draws, page by page."""
    pages = (_shared, _data, _shape, _budget, _bounds, _privacy, _utility, _compare, _plan, _paper, _release, _lesson)
    return [drawing for page in pages for drawing in page()]


def page(drawn: Iterable[Drawing]) -> str:
    """The pictures under their names, in Markdown with plotly's HTML; needs plotly.js on the page."""
    parts = []
    for room, some in groupby(drawn, key=lambda drawing: drawing[0].__module__.rsplit(".", 1)[0]):
        parts.append(f"## {str(import_module(room).__doc__).split(':')[0].rstrip('.')}")
        for plot, figure in some:
            said = str(plot.__doc__).splitlines()[0]
            parts += [f"### {plot.__name__}", f"{said} (`{plot.__module__}`)", _card(plot.__name__, said, figure)]
    return "\n\n".join(parts) + "\n"


def _card(name: str, said: str, figure: go.Figure) -> str:
    """A picture on white, whatever the theme of the page."""
    shown = go.Figure(figure).update_layout(template="plotly_white", paper_bgcolor="#fff", dragmode=False)
    drawn = shown.to_html(full_html=False, include_plotlyjs=False, div_id=f"drawn-{name}",
                          config={"displayModeBar": False, "responsive": True})
    return f'```{{raw}} html\n<div role="img" aria-label="{html.escape(said)}">{drawn}</div>\n```'


def _drawn(plot: Callable[..., go.Figure], *given: Any, **named: Any) -> Drawing:
    return plot, plot(*given, **named)


@cache
def _setup(**changes: Any) -> mv.Setup:
    """The usual scenario of the liver table: two needed features of six, second moments."""
    return mv.build(mv.Scenario.default_for("liver").changed(**changes), LIVER)


@cache
def _tried(*mechanisms: str, **changes: Any) -> mv.Results:
    return mv.run_trials(_setup(**changes).scenario, LIVER, mechanisms=mechanisms, trials=TRIALS)


def _shared() -> list[Drawing]:
    setup = _setup()
    numbers = ellipse_numbers(setup.design, setup.iid, plane=(0, 5), level=0.95,
                              normals=np.random.default_rng(0).standard_normal((2, 250)))
    return [
        _drawn(plot_noise_ellipse, numbers, names=("mcv × mcv", "drinks × drinks")),
        _drawn(plot_matrix, setup.design.noise_std(), row_labels=FEATURES, col_labels=FEATURES, row_title="feature",
               col_title="feature", value_title="typical error (standard deviation)")]


def _data() -> list[Drawing]:
    bounded = _setup(bound="even")
    return [_drawn(plot_histograms, feature_histograms(LIVER, list(range(LIVER.n_features)))),
            _drawn(plot_lengths, length_numbers(bounded.table, bounded.query.bound))]


def _shape() -> list[Drawing]:
    setup, table = _setup(), _setup(query="mean")
    answer = setup.query.value
    noisy = answer + mv.sample_noise(setup.design, rng=np.random.default_rng(3), trials=10)
    components = leading_components(np.concatenate([answer[None], noisy]))
    return [
        _drawn(plot_ellipsoid, table.design.directional_side.covariance_of([2, 4, 5]), table.iid.noise_std()[0, 0],
               names=("sgpt", "gammagt", "drinks")),
        _drawn(plot_matrix_outcomes, answer, noisy, value_title="answer", row_labels=FEATURES, col_labels=FEATURES),
        _drawn(plot_component_outcomes, components[0], components[1:], names=FEATURES)]


def _budget() -> list[Drawing]:
    setup = _setup()
    moments = second_moments(setup)
    table, scores = budget_table(setup, moments), pnr_numbers(compare_splits(setup, moments))
    factors, equal = noise_factors(table), equal_design(setup, "exact")
    water = water_numbers(fill(equal, setup.query, moments, "exact"), prices=equal.reach**2)
    signal = signal_numbers(table)
    return [
        _drawn(plot_noise_factors, factors, names=FEATURES),
        _drawn(plot_split, table.theta, list(range(table.size)), names=FEATURES),
        _drawn(plot_trade_off, trade_off_picture(trade_off_of(setup))),
        _drawn(plot_signal_to_noise, signal, names=[FEATURES[k] for k in signal.shown]),
        _drawn(plot_survives, scores.under("exact"), names=SPLITS),
        _drawn(plot_pnr, scores, names=SPLITS),
        _drawn(plot_water, water, names=[FEATURES[k] for k in water.shown], unit="height (part of μ²)")]


def _bounds() -> list[Drawing]:
    setup = _setup()
    inputs = limit_inputs(setup.query, epsilon=1.0, delta=setup.delta, sensitivity=setup.query.sensitivity)
    curves, second = bound_curves(inputs, "epsilon"), short_second(inputs)
    lines = curve_lines(curves, second=second_name(inputs), tail="printed", all_tails=True, as_noise=True)
    edges = [Edge(name="Theorem 1", colour=THEOREM1, limit=inputs.theorem1("printed").limit, width=6),
             Edge(name=second, colour=THEOREM2, limit=inputs.theorem2("printed").limit),
             Edge(name="Exact, equal noise", colour=EXACT, limit=exact_limit(inputs))]
    return [
        _drawn(plot_bound_curves, curves, lines, axis_title=axis_title(inputs, "epsilon"),
               value_title="typical error of an entry (standard deviation)"),
        _drawn(plot_winner_map, winner_map(inputs.rank, inputs.sensitivity / inputs.gamma), psd=inputs.psd,
               second=second),
        _drawn(plot_design_space, edges, [place(setup.design, name="this design", colour=DIRECTIONAL)])]


def _privacy() -> list[Drawing]:
    setup = _setup()
    spent, loss = spent_mu(setup.design), pair_loss(setup.query, setup.design)
    said, bells = odds(spent.total), loss_numbers(spent.total, 1.0)
    scores = simulate_scores(loss, trials=5_000, rng=np.random.default_rng(4))
    return [
        _drawn(plot_tradeoff, spent.total, epsilon=1.0, delta=setup.delta, marked=said.accused / said.out_of,
               said=found_label(*said)),
        _drawn(plot_loss, bells, label=tail_label(bells)),
        _drawn(plot_curve, curve_numbers(spent.total, epsilon=1.0, delta=setup.delta)),
        _drawn(plot_shares, loss.shares, setup.design.theta,
               labels=[FEATURES[k] for k in largest_shares(loss.shares)]),
        _drawn(plot_scores, judge(loss, scores, delta=setup.delta), loss.mu),
        _drawn(plot_composition, spent, epsilon=1.0, delta=setup.delta, chosen=10)]


def _utility() -> list[Drawing]:
    scenario, found = _setup().scenario, _tried("mvg", "iid")
    epsilons, title = (0.3, 1.0, 3.0), metric_words(found)
    swept = [(epsilon, _tried("mvg", "iid", epsilon=epsilon)) for epsilon in epsilons]
    curves = [error_curve([(epsilon, results[key]) for epsilon, results in swept], name=name, colour=colour)
              for key, name, colour in (("iid", "equal noise", IID), ("mvg", "directional", DIRECTIONAL))]
    sets = {(2, 5): "sgpt and drinks", (5,): "drinks", (0, 1): "mcv and alkphos"}
    rows = [SetRow(choice=choice, outcome=_tried("mvg", favoured=choice, needed=(2, 5))["mvg"], colour=DATA,
                   symbol="circle") for choice in sets]
    rows = ranked_sets([*rows, SetRow(choice=None, outcome=found["iid"], colour=IID, symbol="circle")])
    points, _ = part_points(mv.pose(scenario.changed(query="mean", task="reconstruction", trials=TRIALS), LIVER))
    parts = part_errors([each for each in resume(list(points.values())) if each is not None])
    predicted = first_trial(mv.pose(scenario, LIVER))
    pair = matrix_pair(predicted.true, predicted.noisy)
    spectral = first_trial(mv.pose(scenario.changed(task="first-component", judged="everything"), LIVER)).components
    return [
        _drawn(plot_dots, dot_numbers(found), title=title),
        _drawn(plot_sweep, curves, {epsilon: results.references for epsilon, results in swept}, own=1.0,
               span=(epsilons[0], epsilons[-1]), title=title),
        _drawn(plot_sets, rows, found.references, title=title,
               names=["equal noise" if row.choice is None else sets[row.choice] for row in rows]),
        _drawn(plot_parts, parts),
        _drawn(plot_one_of_pair, pair, pair.noisy, row_labels=FEATURES, col_labels=FEATURES, row_title="feature",
               col_title="feature", scale=True),
        _drawn(plot_predictions, prediction_numbers(predicted.predictions), name="drinks"),
        _drawn(plot_loadings, spectral, largest_loadings(spectral), names=FEATURES),
        _drawn(plot_captured, spectral)]


def _compare() -> list[Drawing]:
    names = ("mvg-exact", "gaussian-analytic", "laplace", "iid")
    found = _tried(*names)
    references, title = reference_items(found.references), metric_words(found)
    swept = [_tried(*names, epsilon=epsilon) for epsilon in (0.3, 1.0, 3.0)]
    curves = frontier(swept)
    wanted = found["mvg-exact"].mean
    steps_down = levers(_setup(trials=TRIALS).scenario, LIVER)
    return [
        _drawn(plot_ranked, ranking_marks(ranking(found)), references, title=title),
        _drawn(plot_frontier, needed(curves, wanted, guarantee="exact"), error=wanted, epsilon=1.0, title=title,
               references={results.scenario.epsilon: results.references for results in swept}),
        _drawn(plot_waterfall, falls(steps_down, FEATURES), references, title=title)]


def _plan() -> list[Drawing]:
    mean = _setup(query="mean", task="reconstruction").scenario
    plan = mv.QuestionPlan.of(_setup().scenario, mean)
    trade = pair_trade(plan_noise(plan, mv.build_plan(plan, LIVER)), 0, 1)
    names = short_names(plan)
    return [_drawn(plot_pair, trade, (names[0], names[1]), unit=unit_of_noise(plan))]


def _paper() -> list[Drawing]:
    experiment = EXPERIMENTS["III"]
    data = mv.sample(experiment.scenario.data)
    report = run_experiment(experiment, data, trials=4)
    curves, references, _ = direction_curves(experiment, data, trials=4)
    return [_drawn(plot_rows, report, row_dots(report)),
            _drawn(plot_directions, curves, references, symbol=experiment.symbol)]


def _release() -> list[Drawing]:
    """A seed's noise in place of a release's."""
    query = mv.mean(LIVER)
    design = mv.design_noise(query, epsilon=1, delta=1e-6)
    values = (query.value + mv.sample_noise(design, rng=np.random.default_rng(5)))[:, 0]
    reach = 1.96 * design.noise_std()[:, 0]
    ends = list(zip(LIVER.lower.tolist(), LIVER.upper.tolist(), strict=True))
    numbers = range_numbers(FEATURES, values.tolist(), (values - reach).tolist(), (values + reach).tolist(), ends=ends)
    mu = float(mv.gaussian_mu(1.0, 1e-6))
    return [_drawn(plot_intervals, numbers, title="released mean, in % of its range", lines=(0, 100)),
            _drawn(plot_budget, budget_numbers([0.5 * mu], mu, delta=1e-6, cap=(2.0, 1e-6)))]


def _lesson() -> list[Drawing]:
    hours, points = map(float, steps.MOVES)
    plane = Plane(names=("noise on sleep (hours)", "noise on score (points)"), moves=(hours, points), reach=37)
    circle, ellipse = steps.in_units(steps.circle()), steps.in_units(steps.ellipse(0.8))
    rows, cols = ([f"{size:.3g}" for size in sizes] for sizes in steps.edge_sizes("averages"))
    played = game(seed=1, shape="ellipse", epsilon=4.0)
    published = Plane(names=("published average sleep (hours)", "published average score (points)"),
                      moves=(hours, points), reach=9)
    return [
        _drawn(plot_clock, [text["title"] for text in tomllib.loads(_LESSON.read_text(encoding="utf-8"))["step"]],
               [step.minutes for step in steps.STEPS]),
        _drawn(plot_bells, 8.0, shift=hours, noise=steps.BUDGET_NOISE, span=0.9, names=("Ann 0 h", "Ann 12 h"),
               axis="published average sleep (hours)"),
        _drawn(plot_cloud, circle, plane, level=steps.LEVEL,
               normals=np.random.default_rng(3).standard_normal((2, 200))),
        _drawn(plot_shapes, circle, plane, level=steps.LEVEL, ellipse=ellipse),
        _drawn(plot_aim, circle, plane, angle=0, level=steps.LEVEL, ellipse=steps.in_units(steps.turned(0)),
               factor=steps.STEPS[3].answer(0).value, least=steps.least_along(steps.along(0))),
        _drawn(plot_sizes, steps.cell_sizes("averages"), row_sizes=rows, col_sizes=cols, asked=steps.TABLES["averages"],
               shown=True, row_names=steps.COLUMNS, col_names=("average",)),
        _drawn(plot_trials, steps.liver_pay("drinks"), shown=True),
        _drawn(plot_game, played, published, at=5, revealed=5, level=steps.LEVEL, border=False,
               names={"least": "Ann: 0 h and 0 points", "most": "Ann: 12 h and 100 points"})]
