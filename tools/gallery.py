"""Every picture of the app, drawn once on data that comes with mvgviz: the list that page and tests share."""

import html
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from itertools import groupby
from typing import Any

import numpy as np
import plotly.graph_objects as go

import mvgviz as mv
from mvgviz.design.limits import limit_inputs
from mvgviz.design.privacy_loss import pair_loss, spent_mu
from mvgviz.lesson import steps
from mvgviz.lesson.game import game
from mvgviz.paper.runs import direction_curves
from mvgviz.paper.runs import run as run_experiment
from mvgviz.paper.tables import EXPERIMENTS
from mvgviz.pictures.advice import advice_picture, levers_picture
from mvgviz.pictures.bounds import curves_picture, map_picture, space_picture
from mvgviz.pictures.budget import (
    loadings_picture,
    noise_picture,
    pnr_picture,
    signal_picture,
    split_picture,
    water_picture,
)
from mvgviz.pictures.compare import frontier_picture, ranking, ranking_picture
from mvgviz.pictures.data import answer_picture, change_picture, histograms_picture, length_numbers, lengths_picture
from mvgviz.pictures.families import (
    case_of,
    family_curves_picture,
    family_map_picture,
    family_releases_picture,
    family_split_picture,
)
from mvgviz.pictures.information import (
    counter_picture,
    lacking_picture,
    noises_picture,
    one_number_picture,
    sums_picture,
)
from mvgviz.pictures.ledger import budget_numbers, budget_picture
from mvgviz.pictures.lesson import (
    Plane,
    game_picture,
    plot_bells,
    plot_columns,
    plot_releases,
    plot_sizes,
    plot_trials,
)
from mvgviz.pictures.paper import directions_picture, row_dots, rows_picture
from mvgviz.pictures.plan import pair_picture
from mvgviz.pictures.privacy import (
    audit_picture,
    audit_words,
    curve_picture,
    loss_picture,
    releases_picture,
    shares_picture,
    tradeoff_picture,
)
from mvgviz.pictures.release import (
    fit_picture,
    mean_picture,
    released_picture,
    released_widths,
)
from mvgviz.pictures.shape import (
    component_picture,
    covariance_picture,
    ellipse_numbers,
    ellipse_picture,
    ellipsoid_picture,
    outcomes_picture,
    std_picture,
)
from mvgviz.pictures.theme import DATA, IID, PAPER, Picture, ellipse_outline
from mvgviz.pictures.trade_off import trade_off_picture
from mvgviz.pictures.utility import (
    LANES,
    captured_picture,
    component_loadings_picture,
    dots_picture,
    error_curve,
    parts_picture,
    predictions_picture,
    sets_picture,
    sweep_picture,
)
from mvgviz.query.worst_pairs import worst_pair
from mvgviz.release.audit import judge, simulate_scores
from mvgviz.release.fitted import fitted_coefficients
from mvgviz.scenario.plan import plan_noise
from mvgviz.scenario.precision_budget import budget_table, compare_splits, equal_design
from mvgviz.scenario.resolve import fill, second_moments
from mvgviz.scenario.tasks import TASKS
from mvgviz.scenario.trade_off import trade_off_of
from mvgviz.trials.advisor import advise
from mvgviz.trials.first_trial import first_trial
from mvgviz.trials.levers import levers
from mvgviz.trials.run import part_errors, part_problems, resume
from mvgviz.trials.sweeps import frontier

Drawing = tuple[Callable[..., Picture | go.Figure | None], Picture]

LIVER = mv.sample("liver")
FEATURES = list(LIVER.features)
TRIALS = 40


def drawings() -> list[Drawing]:
    """Each function that draws with one picture of its own, page by page."""
    pages = (_data, _shape, _budget, _bounds, _families, _privacy, _utility, _compare, _plan, _paper, _information,
             _release, _lesson)
    return [drawing for page in pages for drawing in page()]


def page(drawn: Iterable[Drawing]) -> str:
    """The pictures under their names, in Markdown with plotly's HTML; needs plotly.js on the page."""
    parts = []
    for room, some in groupby(drawn, key=lambda drawing: drawing[0].__module__):
        parts.append(f"## {str(import_module(room).__doc__).split(':')[0].rstrip('.')}")
        for draw, picture in some:
            parts += [f"### {draw.__name__}", f"{str(draw.__doc__).splitlines()[0]} (`{draw.__module__}`)",
                      _card(draw.__name__, picture), picture.takeaway, picture.about]
    return "\n\n".join(filter(None, parts)) + "\n"


def _card(name: str, picture: Picture) -> str:
    """A picture on white, whatever the theme of the page."""
    shown = go.Figure(picture.figure).update_layout(template="plotly_white", paper_bgcolor=PAPER, dragmode=False)
    drawn = shown.to_html(full_html=False, include_plotlyjs=False, div_id=f"drawn-{name}",
                          config={"displayModeBar": False, "responsive": True})
    alt = html.escape(picture.text_alternative)
    return f'```{{raw}} html\n<div role="img" aria-label="{alt}">{drawn}</div>\n```'


def _drawn(draw: Callable[..., Picture | go.Figure | None], *given: Any, **named: Any) -> Drawing:
    found = draw(*given, **named)
    assert found is not None
    return draw, Picture(found, str(draw.__doc__).splitlines()[0]) if isinstance(found, go.Figure) else found


@cache
def _setup(**changes: Any) -> mv.Setup:
    """The usual scenario of the liver table: two needed features of six, second moments."""
    return mv.build(mv.Scenario.default_for("liver").changed(**changes), LIVER)


@cache
def _tried(*mechanisms: str, **changes: Any) -> mv.Results:
    return mv.run_trials(_setup(**changes).scenario, LIVER, mechanisms=mechanisms, trials=TRIALS)


def _data() -> list[Drawing]:
    setup, bounded = _setup(), _setup(bound="even")
    assert bounded.query.bound is not None
    return [_drawn(histograms_picture, LIVER, range(LIVER.n_features)), _drawn(answer_picture, setup.query),
            _drawn(change_picture, setup.query, worst_pair(setup.query)),
            _drawn(lengths_picture, length_numbers(bounded.table, bounded.query.bound), LIVER.n_records, chosen=True)]


def _shape() -> list[Drawing]:
    setup = _setup()
    numbers = ellipse_numbers(setup.design, setup.iid, plane=(0, 5), level=0.95,
                              normals=np.random.default_rng(0).standard_normal((2, 250)))
    return [_drawn(ellipse_picture, numbers, ("mcv × mcv", "drinks × drinks")),
            _drawn(ellipsoid_picture, _setup(query="mean"), [2, 4, 5], FEATURES), _drawn(std_picture, setup),
            _drawn(covariance_picture, setup.design.row_side, "Sigma, over rows", FEATURES),
            _drawn(outcomes_picture, setup), _drawn(component_picture, setup)]


def _budget() -> list[Drawing]:
    setup, turned = _setup(), _setup(directions="eigenvectors")
    moments = second_moments(setup)
    assert moments is not None
    table, equal = budget_table(setup, moments), equal_design(setup, "exact")
    return [
        _drawn(noise_picture, setup, table), _drawn(split_picture, setup, table),
        _drawn(signal_picture, setup, table), _drawn(loadings_picture, turned),
        _drawn(pnr_picture, setup, compare_splits(setup, moments)),
        _drawn(water_picture, setup, fill(equal, setup.query, moments, "exact"), prices=equal.reach**2, form="exact",
               guarantee="exact"),
        _drawn(trade_off_picture, setup, trade_off_of(setup))]


def _bounds() -> list[Drawing]:
    setup = _setup()
    inputs = limit_inputs(setup.query, epsilon=1.0, delta=setup.delta, sensitivity=setup.query.sensitivity)
    words = "the tight s₂"
    return [_drawn(curves_picture, inputs, "epsilon", tail="printed", as_noise=True, all_tails=True, s2_words=words),
            _drawn(map_picture, inputs, tail="printed", s2_words=words), _drawn(space_picture, setup, inputs, [])]


def _privacy() -> list[Drawing]:
    setup = _setup()
    spent, loss = spent_mu(setup.design), pair_loss(setup.query, setup.design)
    mu, asked = spent.total, {"epsilon": 1.0, "delta": setup.delta}
    found = judge(loss, simulate_scores(loss, trials=5_000, rng=np.random.default_rng(4)), delta=setup.delta)
    return [_drawn(tradeoff_picture, mu, **asked), _drawn(loss_picture, mu, epsilon=1.0),
            _drawn(curve_picture, mu, **asked),
            _drawn(shares_picture, loss.shares, setup.design.theta, names=FEATURES),
            _drawn(audit_picture, found, loss.mu, audit_words(setup, loss, found, broken=False)),
            _drawn(releases_picture, spent, **asked, count=10)]


def _utility() -> list[Drawing]:
    setup, found, epsilons = _setup(), _tried("mvg", "iid"), (0.3, 1.0, 3.0)
    swept = [_tried("mvg", "iid", epsilon=epsilon) for epsilon in epsilons]
    span = epsilons[0], epsilons[-1]
    own = _tried("mvg", priority_directions=(5,), priority=(2, 5))["mvg"]
    curves = [error_curve(name, colour, {each.scenario.epsilon: each[key] for each in swept})
              for key, (name, colour) in LANES.items()]
    sets = [*curves, error_curve("drinks", DATA, {1.0: own})]
    table = _setup(query="mean", task="reconstruction", trials=TRIALS)
    points, _ = part_problems(mv.pose(table.scenario, LIVER))
    parts = part_errors(resume(list(points.values())))
    predicted = first_trial(mv.pose(setup.scenario, LIVER)).predictions
    assert predicted is not None
    spectral = mv.pose(setup.scenario.changed(task="first-component", judged="everything"), LIVER)
    components = first_trial(spectral).components
    assert components is not None
    return [
        _drawn(dots_picture, found), _drawn(sweep_picture, swept, own=1.0, span=span),
        _drawn(sets_picture, sets, found.references, own=1.0, title=found.metric),
        _drawn(parts_picture, table, parts, on_data=False), _drawn(predictions_picture, predicted, "drinks"),
        _drawn(component_loadings_picture, components, spectral.query), _drawn(captured_picture, components)]


def _compare() -> list[Drawing]:
    names = ("mvg-exact", "gaussian-analytic", "laplace", "iid")
    found, swept = _tried(*names), [_tried(*names, epsilon=epsilon) for epsilon in (0.3, 1.0, 3.0)]
    scenario = _setup(trials=TRIALS).scenario
    waterfall = levers(scenario, LIVER)
    assert waterfall is not None
    advice = advise(_setup(query="mean", task="reconstruction").scenario, LIVER)
    return [
        _drawn(ranking_picture, ranking(found)),
        _drawn(frontier_picture, frontier(swept), error=found["mvg-exact"].mean, scenario=scenario, title=found.metric,
               references={each.scenario.epsilon: each.references for each in swept}),
        _drawn(levers_picture, waterfall, FEATURES, title=found.metric),
        _drawn(advice_picture, advice, FEATURES, TASKS["reconstruction"])]


def _families() -> list[Drawing]:
    case = case_of(_setup(query="mean", task="reconstruction"))
    return [_drawn(family_split_picture, case), _drawn(family_map_picture, case), _drawn(family_curves_picture, case),
            _drawn(family_releases_picture, case, 1)]


def _plan() -> list[Drawing]:
    plan = mv.QuestionPlan.of(_setup().scenario, _setup(query="mean", task="reconstruction").scenario)
    return [_drawn(pair_picture, plan, plan_noise(plan, mv.build_plan(plan, LIVER)), (0, 1))]


def _paper() -> list[Drawing]:
    experiment = EXPERIMENTS["III"]
    data = mv.sample(experiment.scenario.data)
    report = run_experiment(experiment, data, trials=4)
    curves, references, _ = direction_curves(experiment, data, trials=4)
    return [_drawn(rows_picture, report, row_dots(report)),
            _drawn(directions_picture, curves, references, symbol=experiment.symbol)]


def _information() -> list[Drawing]:
    return [_drawn(one_number_picture, 1.0, 1e-6), _drawn(noises_picture, "covariance", 1.0, 1e-6),
            _drawn(lacking_picture), _drawn(sums_picture, 50), _drawn(counter_picture)]


def _release() -> list[Drawing]:
    """Of a real release, which no seed repeats."""
    ledger = mv.Ledger(cap=(4.0, 1e-6))
    mean, moments = (mv.release_setup(_setup(query=query, task=task), ledger=ledger, population="patients")
                     for query, task in (("mean", "reconstruction"), ("covariance", "linear-ridge")))
    widths = released_widths(mean)
    assert widths is not None
    return [_drawn(budget_picture, budget_numbers(ledger, "patients", mean), "What the next one would spend."),
            _drawn(released_picture, mean), _drawn(mean_picture, mean, widths),
            _drawn(fit_picture, fitted_coefficients(moments, "drinks"))]


def _lesson() -> list[Drawing]:
    hours, points = map(float, steps.MOVES)
    plane = Plane(names=("on sleep (hours)", "on score (points)"), moves=(hours, points), reach=37)
    equal = ("equal noise", IID, ellipse_outline(steps.in_units(steps.circle()), steps.LEVEL))
    played = game(seed=1, shape="ellipse", epsilon=4.0)
    return [
        _drawn(plot_bells, 8.0, shift=hours, noise=steps.BUDGET_NOISE, span=0.9, names=("Ann 0 h", "Ann 12 h")),
        _drawn(plot_releases, [equal], plane),
        _drawn(plot_columns, 21, 21, gain=steps.among(21), epsilon=steps.EPSILON),
        _drawn(plot_sizes, steps.cell_sizes("averages"), *steps.edge_sizes("averages"), asked=steps.TABLES["averages"],
               shown=True, row_names=steps.COLUMNS, col_names=("average",)),
        _drawn(plot_trials, steps.liver_pay("drinks"), shown=True),
        _drawn(game_picture, played, said=5)]
