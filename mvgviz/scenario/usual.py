"""The settings that did best for a task on many tables, before anyone looks at this one.

They follow from the task and from what is judged, never from the data: a bound as long as an evenly spread record
biases a mean or a covariance however many records there are, but hardly a regression (where pulling a record in only
lowers its weight) or directions.
"""

from typing import Any

from mvgviz.scenario.scenario import Scenario

_OF_DIRECTIONS = ("first-component", "covariance-estimation", "subspace")


def usual_settings(scenario: Scenario) -> dict[str, Any]:
    """Query, bound and split for the scenario's task; nothing for graphs and for tasks on records one by one."""
    if scenario.is_graph or scenario.task == "kernel-ridge":
        return {}
    plain = {"bound": "none", "directions": "standard", "guarantee": "exact", "mode": "auto"}
    some = {"allocation": "binary" if scenario.needs else "uniform"}
    if scenario.task == "linear-ridge":
        return plain | some | {"query": "moments", "bound": "even", "share": 0.5}
    if scenario.task in _OF_DIRECTIONS:
        everything = scenario.judged == "everything" or not scenario.needs
        split = {"allocation": "uniform"} if everything else {"allocation": "binary", "share": 0.8}
        return plain | split | {"query": "covariance", "bound": "even"}
    return plain | some | {"share": 0.8}
