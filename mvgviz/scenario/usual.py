"""The settings that did best for a task on many tables, before anyone looks at this one.

They follow from the task and from what is judged, never from the data: a bound as long as an evenly spread record
biases a mean or a covariance however many records there are, but hardly a regression (where pulling a record in only
lowers its weight) or directions.
"""

from typing import Any

from mvgviz.scenario.scenario import Scenario

_CHOSEN = ("query", "bound", "radius", "directions", "guarantee", "mode", "share")
"""What a person may have chosen by hand; a task then leaves it alone."""


def usual_settings(scenario: Scenario) -> dict[str, Any]:
    """Query, bound and split for the scenario's task; nothing for graphs and for tasks on records one by one."""
    task = scenario.use
    if scenario.is_graph or task.usual is None:
        return {}
    plain = {"bound": "none", "directions": "standard", "guarantee": "exact", "mode": "auto"}
    found = plain | {"allocation": "binary" if scenario.needs else "uniform", **task.usual}
    if task.of_directions and (scenario.judged == "everything" or not scenario.needs):
        del found["share"]
        found["allocation"] = "uniform"
    return found


def for_task(scenario: Scenario, task: str) -> dict[str, Any]:
    """What changes with another task: its usual settings, unless the person has chosen some of them by hand.

    A query that cannot serve the task gives way in any case, and so does a bound that the last task brought where it
    would only bias an answer.
    """
    asked, usual = scenario.changed(task=task), usual_settings(scenario.changed(task=task))
    opened = scenario.default_for(scenario.data)
    known = (opened, opened.changed(**usual_settings(scenario)))
    own_split = scenario.allocation not in ("binary", *(other.allocation for other in known))
    if usual and not own_split and any(all(getattr(scenario, name) == getattr(other, name) or scenario.is_idle(name)
                                           for name in _CHOSEN) for other in known):
        return {"task": task} | usual
    queries = asked.use.queries
    if queries == ("identity",) and not (asked.is_graph or asked.kind.is_table):
        least = {"guarantee": "theorem1"} if asked.guarantee == "theorem2" else {}
        return {"task": task, "query": "identity", "mode": "auto"} | least
    if "covariance" in queries and not asked.kind.has_moments:
        return {"task": task, "query": "covariance", "mode": "auto"}
    from_before = {"even"} if scenario.use.usual is None else set()  # it has no usual bound of its own
    brought = scenario.bound in {other.bound for other in known} | from_before
    return {"task": task} | ({"bound": "none"} if brought and usual.get("bound") == "none" != scenario.bound else {})
