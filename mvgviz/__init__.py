"""mvgviz: matrix-variate Gaussian noise for differential privacy, printed bound and exact limit.

The engine needs numpy and scipy only; pictures and pages live in ``mvgviz.figures``
and ``mvgviz.ui``.
"""

from mvgviz.accounting import (
    compose_mu,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_mu,
    total_variation,
    tradeoff,
)
from mvgviz.allocation import (
    WaterFilling,
    binary,
    least_error,
    manual,
    max_pnr,
    uniform,
    water_filling,
)
from mvgviz.bounds import Bound, theorem1, theorem2, theorem2_any, theorem2_wins
from mvgviz.data_directions import eigenvectors, private_eigenvectors
from mvgviz.dataset import Dataset
from mvgviz.design import NoiseDesign, design_noise
from mvgviz.directions import Directions, from_matrix, random_rotation, rotation, standard_basis
from mvgviz.errors import InputError
from mvgviz.information import log_pnr, mutual_information, pnr
from mvgviz.inverse import smallest_epsilon
from mvgviz.queries import (
    Query,
    adjacency,
    covariance,
    custom,
    identity,
    laplacian,
    mean,
    rbf_kernel,
)
from mvgviz.sampling import Gram, sample_gram, sample_noise
from mvgviz.scenario import Scenario
from mvgviz.trials import Outcome, Results, run_trials, sweep

__version__ = "0.1.0"

__all__ = [
    "Bound", "Dataset", "Directions", "Gram", "InputError", "NoiseDesign", "Outcome", "Query", "Results",
    "Scenario",
    "WaterFilling",
    "adjacency", "binary", "compose_mu", "covariance", "custom", "design_noise", "eigenvectors",
    "from_matrix", "gaussian_delta", "gaussian_epsilon", "gaussian_mu", "identity", "laplacian",
    "least_error", "log_pnr", "manual", "max_pnr", "mean", "mutual_information", "pnr",
    "private_eigenvectors", "random_rotation", "rbf_kernel", "rotation", "run_trials", "sample_gram",
    "sample_noise", "smallest_epsilon", "standard_basis", "sweep", "theorem1", "theorem2", "theorem2_any",
    "theorem2_wins", "total_variation", "tradeoff", "uniform", "water_filling",
]
