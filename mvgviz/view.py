"""What a page, a report or a slide has to work with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mvgviz.build import Setup, build
from mvgviz.dataset import Dataset
from mvgviz.directions import Directions
from mvgviz.queries import FLIPPED_EDGE
from mvgviz.scenario import Scenario
from mvgviz.stand_in import SEED, stand_in


@dataclass(frozen=True, kw_only=True)
class View:
    """A scenario, its data and its design."""

    scenario: Scenario
    dataset: Dataset
    setup: Setup


def simulated_view(view: View, *, uploaded: Directions | None = None) -> View:
    """The same scenario on a stand-in: nothing in it was computed from the records, only from ranges and sizes."""
    graph = view.setup.query.neighbour_rule == FLIPPED_EDGE
    dataset = stand_in(view.dataset, rng=np.random.default_rng(SEED), graph=graph)
    return View(scenario=view.scenario, dataset=dataset, setup=build(view.scenario, dataset, uploaded=uploaded))
