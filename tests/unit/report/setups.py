"""A scenario worked out, on its sample if there is no other dataset."""

from mvgviz.data import sample
from mvgviz.scenario.resolve import build


def setup_of(scenario, dataset=None):
    return build(scenario, sample(scenario.data) if dataset is None else dataset)
