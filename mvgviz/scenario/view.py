"""What a page, a report or a slide has to work with."""

from __future__ import annotations

from dataclasses import dataclass

from mvgviz.query.dataset import Dataset
from mvgviz.scenario.resolve import Setup
from mvgviz.scenario.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class View:
    """A scenario, its data and its design."""

    scenario: Scenario
    dataset: Dataset
    setup: Setup
