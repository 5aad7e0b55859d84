"""Designs worth trying for a task, one scenario each: query, calibration, bound, shape and use."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from mvgviz.noise.accounting import gaussian_mu
from mvgviz.query.dataset import Dataset
from mvgviz.query.queries import QUERIES
from mvgviz.query.record_bound import least_label_share
from mvgviz.scenario.resolve import delta_of
from mvgviz.scenario.scenario import DIRECTION_FIELDS, MOST_SHARE, SPLIT_FIELDS, Scenario

SHARES, FEW_SHARES = (0.5, 0.65, 0.8, 0.95, 0.99), (0.5, 0.8)
"""Shares of priority columns (the paper's tau): for a close search, and for every kind."""

RADII, FEW_RADII = ("none", "even", 0.6, 1.4, 1.733), ("none", "even")
"""Bounds: a scenario's own, or a radius (1: an even record). From sqrt 3 on a round one holds all records."""

ADVISED_FAMILIES = ("box",)
"""Beside Gaussian noise: families that a release can draw. Laplace noise is a box of one number."""

SEARCHED = ("query", "guarantee", "family", "tail", "mode", *DIRECTION_FIELDS, "private_share", *SPLIT_FIELDS, "bound",
            "radius", "priority", "post")
"""The fields in which candidates may differ."""

REDUCED = "reduced-gaussian"
_SETTINGS = ("share", "weights", "form", "angle", "plane", "private_share", "radius")
_PRIVATE_SHARE = 0.2
_PRIVATE_SPLIT = 0.65
_THEOREM_SHARE = 0.75
_OWN = ("rotation", "random", "upload")  # public directions that a person brought
_SHARE_STEPS, _RADIUS_STEPS = (-0.1, -0.05, 0.05, 0.1), (0.7, 0.85, 1.0, 1.2, 1.4)
_LEAST_RADIUS = 0.25  # less leaves hardly anything of the records


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One design. ``mechanism``: "mvg", the scenario's own noise, or ``REDUCED``, for priority columns alone."""

    scenario: Scenario
    mechanism: str = "mvg"
    is_current: bool = False

    @property
    def private(self) -> bool:
        """Whether directions and split are not read openly from the data."""
        directions, allocation = self.scenario.directions, self.scenario.allocation
        return directions != "eigenvectors" and (allocation != "max-pnr" or directions == "private")

    @property
    def kind(self) -> tuple[object, ...]:
        """Equal for designs that differ in numbers only."""
        scenario = self.scenario
        return (scenario.query, scenario.guarantee, scenario.noise_family, scenario.directions,
                scenario.allocation == "uniform", scenario.bound if scenario.bound in ("none", "private") else "public",
                "aware" in scenario.post, self.mechanism)

    @property
    def is_whole(self) -> bool:
        """Whether it releases all columns, so that a scenario says it."""
        return self.mechanism == "mvg"

    @property
    def can_be_best(self) -> bool:
        return self.private and self.is_whole


def serving_queries(scenario: Scenario) -> tuple[str, ...]:
    """The queries with the same truth on the scenario's task, so that their errors can be compared."""
    task = scenario.use
    other = task.of_directions and (scenario.kind.is_kernel or scenario.kind.has_constant)  # about the mean: others
    return (scenario.query,) if scenario.is_graph or other or not task.queries else (*task.queries[1:], task.queries[0])


def candidates(scenario: Scenario, dataset: Dataset, families: Iterable[str] = ()) -> list[Candidate]:
    """Return every kind of design for the scenario's task and budget, and its own where its query serves the task."""
    queries = serving_queries(scenario)
    found = distinct((tried for query in queries for tried in _kinds(scenario, query, dataset, families)),
                     scenario, dataset)
    if scenario.query in queries and not any(candidate.is_current for candidate in found.values()):
        return [Candidate(scenario=scenario, is_current=True), *found.values()]
    return list(found.values())


def closer(scenario: Scenario, dataset: Dataset, query: str) -> list[Candidate]:
    """Return every bound, share and use for one query."""
    tried = _grid(_base(scenario, query, dataset), scenario, size_of(query, dataset), RADII, SHARES)
    return list(distinct(tried, scenario, dataset).values())


def neighbours(candidate: Candidate, scenario: Scenario, dataset: Dataset) -> list[Candidate]:
    """Return small steps in radius, share, use and priorities around a candidate."""
    tried = _around(candidate, scenario, size_of(candidate.scenario.query, dataset))
    return list(distinct(tried, scenario, dataset).values())


def distinct(tried: Iterable[Candidate], scenario: Scenario, dataset: Dataset) -> dict[object, Candidate]:
    """Return candidates by :func:`key_of`; the current design is marked."""
    current = key_of(Candidate(scenario=scenario), dataset)
    found: dict[object, Candidate] = {}
    for candidate in tried:
        key = key_of(candidate, dataset)
        found.setdefault(key, Candidate(scenario=scenario, is_current=True) if key == current else candidate)
    return found


def key_of(candidate: Candidate, dataset: Dataset) -> object:
    """Equal for candidates with the same noise and the same use of the release."""
    needs = () if candidate.is_whole else candidate.scenario.needs
    return candidate.mechanism, needs, _design(candidate.scenario, dataset)


def size_of(query: str, dataset: Dataset) -> int:
    """How many features (or vertices, or records) the rows of an answer are."""
    return dataset.n_records if QUERIES[query].is_kernel else dataset.n_features


def some_of(positions: Iterable[int], size: int) -> tuple[int, ...]:
    """Return the positions below ``size`` if they are some but not all; else none."""
    kept = tuple(k for k in positions if k < size)
    return kept if len(kept) < size else ()


def priority_features_of(scenario: Scenario, size: int) -> tuple[int, ...]:
    """The features (or vertices, or records) that may get priority: some, not all; else the label, else none."""
    features = scenario.priority or scenario.priority_directions
    if not scenario.priority and scenario.directions not in ("standard", "rotation"):  # positions of other directions
        features = Scenario.default_for(scenario.data).priority_directions
    return some_of(features, size) or some_of(_label(scenario), size)


def _needs_directions(scenario: Scenario) -> bool:
    """Whether designs are judged along directions, the same for all."""
    return scenario.needs_along == "directions" and not scenario.use.predicts


def forgets_directions(candidate: Candidate, scenario: Scenario) -> bool:
    """Whether a scenario with this design loses the priority directions of ``scenario``."""
    needs = ("needs_along", "needs", *(name for name in DIRECTION_FIELDS if not scenario.is_idle(name)))
    return _needs_directions(scenario) and any(getattr(candidate.scenario, name) != getattr(scenario, name)
                                               for name in needs)


def _label(scenario: Scenario) -> tuple[int, ...]:
    return (scenario.label,) if scenario.label is not None and scenario.use.predicts else ()


def _with_label(features: tuple[int, ...], scenario: Scenario) -> tuple[int, ...]:
    return tuple(sorted({*features, *_label(scenario)})) if features else ()


def _base(scenario: Scenario, query: str, dataset: Dataset) -> Scenario:
    """Equal shares, exact, for a query; nothing else of a design."""
    priorities = priority_features_of(scenario, size_of(query, dataset))
    bare = _bare(scenario.changed(query=query, guarantee="exact", family="gaussian", mode="auto", directions="standard",
                                  bound="none", allocation="uniform", post=_uses(scenario)[0]),
                 priority_directions=scenario.priority_directions)
    return _derived(bare, scenario, priority_directions=priorities or scenario.priority_directions)


def _kinds(scenario: Scenario, query: str, dataset: Dataset, families: Iterable[str]) -> Iterator[Candidate]:
    size, base = size_of(query, dataset), _base(scenario, query, dataset)
    kind = base.kind
    priorities = priority_features_of(scenario, size)
    yield from _grid(base, scenario, size, FEW_RADII, FEW_SHARES)
    for other in (base.changed(family=family) for family in families):
        if not other.is_idle("family"):
            yield from _grid(other, scenario, size, ("none",), SHARES)
    priority = _with_label(priorities, scenario)
    if kind.degree and some_of(priority, size) and not _needs_directions(scenario):  # without the other features
        yield from (Candidate(scenario=_needing(base, priority, scenario).changed(post=post), mechanism=REDUCED)
                    for post in _uses(base))
    if kind.of_all_features and not kind.is_table:
        yield from _grid(base, scenario, size, ("private",), FEW_SHARES[-1:])
    if priorities and not kind.has_constant:
        yield _judged_alike(base.changed(allocation="least-error"), scenario, size)
    if scenario.directions == "rotation" or (scenario.directions in _OWN and not kind.has_constant):
        own = base.changed(directions=scenario.directions, angle=scenario.angle, plane=scenario.plane,
                           priority_directions=scenario.priority_directions)
        yield from _grid(own, scenario, size, FEW_RADII, SHARES)
        if _needs_directions(scenario):
            yield from (Candidate(scenario=own.changed(allocation="binary", post=post), mechanism=REDUCED)
                        for post in _uses(own))
    if kind.of_all_features and size > 1:
        strongest = tuple(range(min(max(len(priorities), 1), size - 1)))
        turned = base.changed(directions="private", private_share=_PRIVATE_SHARE, priority_directions=strongest)
        yield _judged_alike(turned.changed(allocation="max-pnr"), scenario, size)
        yield _judged_alike(turned.changed(allocation="binary", share=_PRIVATE_SPLIT), scenario, size)
    for theorem in () if kind.has_constant else ("theorem1", "theorem2") if kind.psd else ("theorem1",):
        printed = base.changed(guarantee=theorem)
        yield _judged_alike(printed, scenario, size)
        if priorities:
            yield _judged_alike(printed.changed(allocation="binary", share=_THEOREM_SHARE), scenario, size)


def _grid(base: Scenario, scenario: Scenario, size: int, radii: Iterable[float | str], shares: Iterable[float]
          ) -> Iterator[Candidate]:
    """Every radius with equal shares and with each share, with and without a fit that knows the noise."""
    radii, some = ("none",) if base.is_graph else radii, some_of(base.priority_directions, size)
    for radius, share, post in product(radii, (None, *shares) if some else (None,), _uses(base)):
        yield _judged_alike(_shaped(_bounded(base, radius), share).changed(post=post), scenario, size)


def _around(candidate: Candidate, scenario: Scenario, size: int) -> Iterator[Candidate]:
    """Steps in one setting each; for private directions and ``REDUCED`` in its use alone."""
    here = candidate.scenario
    uses = (here.changed(post=post) for post in _uses(here))
    if not candidate.is_whole or here.directions == "private":
        yield from (Candidate(scenario=tried, mechanism=candidate.mechanism) for tried in uses)
        return
    some, tried = some_of(here.priority_directions, size), [*uses]
    if some and here.allocation in ("uniform", "binary"):
        share = here.share if here.allocation == "binary" else len(some) / size
        tried += [_shaped(here, round(min(share + step, MOST_SHARE), 3)) for step in _SHARE_STEPS
                  if len(some) / size <= share + step]
        if here.directions == "standard" and here.allocation == "binary":
            priority = priority_features_of(scenario, size)
            sets = dict.fromkeys((priority, _with_label(priority, scenario), _label(scenario)))
            tried += [_derived(here, scenario, priority_directions=others) for others in sets if some_of(others, size)]
    if here.bound in ("even", "own"):
        radius = here.radius if here.bound == "own" else 1.0
        tried += [_bounded(here, float(f"{radius * step:.3g}")) for step in _RADIUS_STEPS
                  if radius * step >= _LEAST_RADIUS]
    yield from (_judged_alike(one, scenario, size) for one in tried)


def _uses(scenario: Scenario) -> list[tuple[str, ...]]:
    """Steps after the release: with and without a fit that knows the noise, where the task has one."""
    if "aware" not in scenario.use.post:
        return [scenario.post]
    return [(*scenario.post, "aware"), tuple(step for step in scenario.post if step != "aware")]


def _bounded(scenario: Scenario, bound: float | str) -> Scenario:
    return scenario.changed(**{"bound": bound} if isinstance(bound, str) else {"bound": "own", "radius": bound})


def _shaped(scenario: Scenario, share: float | None) -> Scenario:
    return scenario.changed(**{"allocation": "uniform"} if share is None else {"allocation": "binary", "share": share})


def _judged_alike(tried: Scenario, scenario: Scenario, size: int) -> Candidate:
    """A candidate with the scenario's priorities, spelled out where its own split implies others."""
    priority = priority_features_of(scenario, size)
    implied = tried.directions == "standard" and tried.priority_directions == (priority or scenario.priority_directions)
    implied |= _needs_directions(scenario)
    return Candidate(scenario=_needing(tried, scenario.priority or (() if implied else priority), scenario))


def _needing(tried: Scenario, priority: tuple[int, ...], scenario: Scenario) -> Scenario:
    """With these priorities; with the scenario's importance where they are the same."""
    same = (priority or tried.priority_directions) == scenario.needs and len(scenario.importance) == len(scenario.needs)
    return _derived(tried, scenario, priority=priority, importance=scenario.importance if same else ())


def _derived(tried: Scenario, scenario: Scenario, **change: Any) -> Scenario:
    """Return a candidate with these positions, marked as chosen on the data if the scenario's were."""
    read = {"priority", "priority_directions"} & set(scenario.from_data)
    return tried.chosen_on_data(**change) if read else tried.changed(**change)


def _design(scenario: Scenario, dataset: Dataset) -> Scenario:
    """One scenario for all with the same noise and use: one way to say equal shares, nothing idle."""
    used, size = scenario.use.post, size_of(scenario.query, dataset)
    scenario = scenario.changed(importance=() if scenario.is_idle("importance") else scenario.importance,
                                family=scenario.noise_family, priority=(),
                                post=tuple(step for step in scenario.post if step in used))
    if scenario.bound == "own" and scenario.radius == 1 and not scenario.kind.has_constant:  # that has its own length
        scenario = scenario.changed(bound="even")
    if scenario.is_idle("bound"):
        scenario = scenario.changed(bound="none")
    some = some_of(scenario.priority_directions, size)
    even = abs(scenario.share * size - len(some)) < 1e-9
    if some == (scenario.label,) and scenario.use.predicts and scenario.kind.has_constant and scenario.bound != "none":
        mu = float(gaussian_mu(scenario.epsilon, delta_of(scenario, dataset)))
        even |= scenario.share <= least_label_share(dataset.n_records, mu)  # what the label has anyway
    even &= scenario.allocation == "binary"
    if scenario.allocation in ("binary", "least-error") and some and not even:
        return _bare(scenario, priority_directions=some)
    equal = scenario.allocation != "max-pnr" and (scenario.allocation != "manual" or len(set(scenario.weights)) == 1)
    return _bare(scenario.changed(allocation="uniform") if equal else scenario, priority_directions=())


def _bare(scenario: Scenario, *, priority_directions: tuple[int, ...]) -> Scenario:
    plain = Scenario.default_for(scenario.data)
    cleared = {name: getattr(plain, name) for name in _SETTINGS if scenario.is_idle(name)}
    if scenario.mode == ("both" if scenario.kind.symmetric else "rows"):  # as "auto" has it
        cleared["mode"] = "auto"
    return scenario.changed(**cleared, priority_directions=priority_directions)
