"""Designs worth trying for a task: queries, guarantees, directions and splits, one scenario each."""

from collections.abc import Iterator
from dataclasses import dataclass

from mvgviz.query.dataset import Dataset
from mvgviz.scenario.scenario import DIRECTION_FIELDS, SPLIT_FIELDS, Scenario
from mvgviz.trials.question import REGRESSIONS

SHARES = (0.55, 0.65, 0.75, 0.85, 0.95)
"""Of the budget, what the favoured features get (the paper's tau): those of the paper's experiments."""

SEARCHED = ("query", "guarantee", "tail", "mode", *DIRECTION_FIELDS, "private_share", *SPLIT_FIELDS)
"""The fields in which candidates may differ."""

_SETTINGS = ("share", "weights", "form", "angle", "plane", "private_share")
_PSD = ("covariance", "kernel", "laplacian")
_PRIVATE_SHARE = 0.2
_PRIVATE_SHARES = (0.65, 0.95)
_THEOREM_SHARE = 0.75
_OWN = ("rotation", "random", "upload")  # directions that a person brought, all public


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One design: the scenario that has it. ``is_current``: it is the design as it stands."""

    scenario: Scenario
    is_current: bool = False

    @property
    def private(self) -> bool:
        """Whether neither directions nor split are read openly from the data."""
        directions, allocation = self.scenario.directions, self.scenario.allocation
        return directions != "eigenvectors" and (allocation != "max-pnr" or directions == "private")


def serving_queries(scenario: Scenario) -> tuple[str, ...]:
    """The queries whose errors on the scenario's task can be compared: those with the same truth."""
    if scenario.is_graph or scenario.task == "reconstruction":
        return (scenario.query,)
    if scenario.task == "kernel-ridge":
        return ("identity",)
    if scenario.query == "kernel" and scenario.task not in REGRESSIONS:
        return ("kernel",)
    return ("covariance", "identity")


def candidates(scenario: Scenario, dataset: Dataset) -> list[Candidate]:
    """What can be tried for the scenario's task and budget, each different from the others.

    What the scenario says of its own design (share, guarantee, split) does not change the list,
    except that the design as it stands is always in it where its query serves the task.
    """
    current = _design(scenario, _size(scenario.query, dataset))
    found: dict[Scenario, Scenario] = {}
    for query in serving_queries(scenario):
        size = _size(query, dataset)
        for tried in _designs(scenario, query, size):
            found.setdefault(_design(tried, size), tried)
    listed = [Candidate(scenario=scenario if design == current else tried, is_current=design == current)
              for design, tried in found.items()]
    if current not in found and scenario.query in serving_queries(scenario):
        listed.insert(0, Candidate(scenario=scenario, is_current=True))
    return listed


def _size(query: str, dataset: Dataset) -> int:
    return dataset.n_records if query == "kernel" else dataset.n_features


def favoured_features(scenario: Scenario, size: int) -> tuple[int, ...]:
    """Which features (or vertices, or records) a split may favour: some, not all; else the label, else none."""
    features = scenario.favoured
    if scenario.directions not in ("standard", "rotation"):  # there the positions are those of other directions
        features = Scenario.default_for(scenario.data).favoured
    for some in (features, () if scenario.label is None or scenario.task not in REGRESSIONS else (scenario.label,)):
        kept = tuple(k for k in some if k < size)
        if 0 < len(kept) < size:
            return kept
    return ()


def _designs(scenario: Scenario, query: str, size: int) -> Iterator[Scenario]:
    favoured = favoured_features(scenario, size)
    base = _bare(scenario.changed(query=query, guarantee="exact", mode="auto", directions="standard",
                                  allocation="uniform"), favoured=favoured or scenario.favoured)
    splits = [(base, "uniform", base.share)]
    if favoured:
        splits += [(base, "binary", share) for share in SHARES] + [(base, "least-error", base.share)]
    if scenario.directions in _OWN:
        own = base.changed(directions=scenario.directions, angle=scenario.angle, plane=scenario.plane,
                           favoured=scenario.favoured)
        shares = SHARES if 0 < len([k for k in own.favoured if k < size]) < size else ()
        splits += [(own, "uniform", own.share), *((own, "binary", share) for share in shares)]
    if query in ("identity", "mean", "covariance") and size > 1:
        strongest = tuple(range(min(max(len(favoured), 1), size - 1)))
        turned = base.changed(directions="private", private_share=_PRIVATE_SHARE, favoured=strongest)
        splits += [(turned, "max-pnr", base.share), *((turned, "binary", share) for share in _PRIVATE_SHARES)]
    for theorem in ("theorem1", "theorem2") if query in _PSD else ("theorem1",):
        printed = base.changed(guarantee=theorem)
        splits += [(printed, "uniform", base.share)] + ([(printed, "binary", _THEOREM_SHARE)] if favoured else [])
    for noise, allocation, share in splits:
        yield noise.changed(allocation=allocation, share=share)


def _design(scenario: Scenario, size: int) -> Scenario:
    """The scenario that stands for all with the same noise: one way to say equal shares, nothing idle."""
    some = tuple(k for k in scenario.favoured if k < size)
    if scenario.allocation in ("binary", "least-error") and 0 < len(some) < size:
        return _bare(scenario, favoured=some)
    equal = scenario.allocation != "max-pnr" and (scenario.allocation != "manual" or len(set(scenario.weights)) == 1)
    return _bare(scenario.changed(allocation="uniform") if equal else scenario, favoured=())


def _bare(scenario: Scenario, *, favoured: tuple[int, ...]) -> Scenario:
    """The scenario without the settings that its own choices make idle."""
    plain = Scenario.default_for(scenario.data)
    cleared = {name: getattr(plain, name) for name in _SETTINGS if scenario.is_idle(name)}
    if scenario.mode == ("both" if scenario.query in (*_PSD, "adjacency") else "rows"):  # as "auto" would have it
        cleared["mode"] = "auto"
    return scenario.changed(**cleared, favoured=favoured)
