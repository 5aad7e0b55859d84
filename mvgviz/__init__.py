"""mvgviz: matrix-variate Gaussian noise for differential privacy, printed bound and exact limit.

The engine needs numpy and scipy only. Every name that a program needs can be had from here; those that bring more
libraries along (files, releases) are imported when they are first asked for.
"""

from importlib import import_module
from typing import Any

from mvgviz.design.allocation import WaterFilling, binary, least_error, manual, max_pnr, uniform, water_filling
from mvgviz.design.least_possible import LeastPossible, least_possible
from mvgviz.design.noise_design import NoiseDesign, design_noise, smallest_epsilon
from mvgviz.design.power_to_noise import log_pnr, mutual_information, pnr
from mvgviz.design.sampling import Gram, sample_gram, sample_noise
from mvgviz.design.trade_off import TradeOff, frontier
from mvgviz.errors import InputError
from mvgviz.noise.accounting import compose_mu, gaussian_delta, gaussian_epsilon, gaussian_mu, total_variation, tradeoff
from mvgviz.noise.bounds import Bound, theorem1, theorem2, theorem2_any, theorem2_wins
from mvgviz.noise.directions import Directions, from_matrix, random_rotation, rotation, standard_basis
from mvgviz.optional import plots
from mvgviz.query.dataset import Dataset
from mvgviz.query.moments import moments
from mvgviz.query.queries import (
    Query,
    adjacency,
    counts,
    covariance,
    cross_moments,
    cross_table,
    custom,
    group_means,
    identity,
    laplacian,
    mean,
    rbf_kernel,
)
from mvgviz.query.record_bound import RecordBound, private_radius, private_spreads
from mvgviz.query.second_moments import eigenvectors, private_eigenvectors
from mvgviz.scenario.plan import QuestionPlan
from mvgviz.scenario.scenario import Scenario
from mvgviz.trials.results import Outcome, Results
from mvgviz.trials.run import run_trials, sweep
from mvgviz.version import VERSION

__version__ = VERSION

_LATER = {
    "Category": "provenance",
    "DataSource": "scenario.source", "Ledger": "release.ledger", "Origin": "provenance", "Pieces": "data.pieces",
    "Range": "provenance", "Release": "release.answer", "Session": "release.session", "Setup": "scenario.resolve",
    "Study": "scenario.study", "build": "scenario.resolve", "build_plan": "scenario.plan",
    "along_directions": "scenario.own_units", "clipping_of": "scenario.bound", "combine": "release.combine",
    "MeansByGroup": "release.combine", "means_by_group": "release.combine",
    "ledger_from_environment": "release.ledger", "load_table": "data", "own_mechanism": "trials.mechanisms",
    "own_task": "trials.tasks", "plan": "release.release", "pose": "trials.problem", "read_table": "data",
    "release_setup": "release.release", "release_together": "release.release", "sample": "data",
    "samples": "data", "table_to_dataset": "data", "to_csv": "release.files", "to_intervals_csv": "release.files",
    "to_metadata_json": "release.files", "to_npy": "release.files",
}


def __getattr__(name: str) -> Any:
    if name == "plot":
        return plots()
    if name not in _LATER:
        raise AttributeError(f"module 'mvgviz' has no attribute {name!r}")
    return getattr(import_module(f"mvgviz.{_LATER[name]}"), name)

__all__ = [
    "Bound", "Dataset", "Directions", "Gram", "InputError", "LeastPossible", "NoiseDesign", "Outcome", "Query",
    "QuestionPlan", "RecordBound", "Results", "Scenario", "TradeOff", "WaterFilling", "adjacency", "binary",
    "compose_mu", "counts", "covariance", "cross_moments", "cross_table", "custom", "design_noise", "eigenvectors",
    "from_matrix", "frontier", "gaussian_delta", "gaussian_epsilon", "gaussian_mu", "group_means", "identity",
    "laplacian", "least_error", "least_possible", "log_pnr", "manual", "max_pnr", "mean", "moments",
    "mutual_information", "pnr", "private_eigenvectors", "private_radius", "private_spreads", "random_rotation",
    "rbf_kernel", "rotation", "run_trials", "sample_gram", "sample_noise", "smallest_epsilon", "standard_basis",
    "sweep", "theorem1", "theorem2", "theorem2_any", "theorem2_wins", "total_variation", "tradeoff", "uniform",
    "water_filling", *_LATER,
]
