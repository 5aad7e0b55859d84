"""A scenario: one choice of everything, that travels as a link or as a JSON file.

>>> from mvgviz import Scenario
>>> Scenario.default_for("liver").changed(epsilon=0.5).to_query()
{'data': 'liver', 'epsilon': '0.5'}

A link holds what differs from the dataset's defaults, never data: positions (from 0) instead of names. ``from_data``
names the choices that were made by looking at the data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Self

from mvgviz.design.noise_design import GUARANTEES, MODES
from mvgviz.errors import InputError, refuse
from mvgviz.noise.bounds import TAILS
from mvgviz.noise.families import CHOICES as FAMILIES
from mvgviz.query.counts import category_position
from mvgviz.query.dataset import Dataset
from mvgviz.query.queries import NEIGHBOURS, QUERIES, Query
from mvgviz.scenario import codec
from mvgviz.scenario.codec import declared, held
from mvgviz.scenario.tasks import POST, TASKS, Task
from mvgviz.validation import fraction, instance, positive, within

UPLOAD = "upload-"
SCALES = ("declared", "symmetric", "unit")
DIRECTIONS = ("standard", "rotation", "eigenvectors", "private", "random", "upload")
ALLOCATIONS = ("uniform", "binary", "manual", "max-pnr", "least-error")
FORMS = ("relaxed", "unrelaxed")
BOUNDS = ("none", "even", "own", "private")
JUDGED = ("everything", "priority", "other")
LEAST_SHARE, MOST_SHARE = 0.01, 0.99  # of the priority directions together; every control keeps to it
LEAST_RADIUS, MOST_RADIUS = 1e-3, 1e3
_WHO = ("priority_directions", "priority")  # one choice in two fields: its mark goes along
_FORMER = {"needed": "priority", "favoured": "priority_directions"}
"""Fields by the names that earlier links and files have."""
_DATA = re.compile(rf"[a-z][a-z0-9_]{{0,40}}|{UPLOAD}[0-9a-f]{{12}}")


def _data_name(_: str, value: Any) -> Any:
    refuse(not (isinstance(value, str) and _DATA.fullmatch(value)),
           "data must be the name of a sample, or upload- and 12 hexadecimal digits")
    return value


def _current(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a link or file under the names and values of this version."""
    found = {_FORMER.get(name, name): value for name, value in fields.items()}
    if isinstance(judged := found.get("judged"), str):
        found["judged"] = {"needed": "priority", "rest": "other"}.get(judged, judged)
    if isinstance(marks := found.get("from_data"), str | list):
        new = [_FORMER.get(mark, mark) if isinstance(mark, str) else mark
               for mark in (marks.split("-") if isinstance(marks, str) else marks)]
        found["from_data"] = "-".join(new) if isinstance(marks, str) else new
    return found


def _by_position(changes: dict[str, Any], name: str, position: Callable[[str, str], int]) -> None:
    """Put positions in the place of names, if there are any."""
    if name in changes and not isinstance(changes[name], str) and hasattr(changes[name], "__iter__"):
        changes[name] = tuple(position(each, name) if isinstance(each, str) else each for each in changes[name])


def _weighs(scenario: Scenario) -> bool:
    return scenario.allocation in ("binary", "least-error")


def _predicts(scenario: Scenario) -> bool:
    return scenario.kind.has_constant and scenario.bound != "none"  # the label then has a share of the ellipse


def _takes_family(scenario: Scenario) -> bool:
    """Whether another family than Gaussian noise can hide this answer."""
    if scenario.guarantee != "exact" or "private" in (scenario.directions, scenario.bound):
        return False
    if not FAMILIES[scenario.family].in_a_box:
        return scenario.mode != "columns"
    return ((scenario.kind.is_mean or scenario.kind.is_table) and scenario.mode in ("auto", "rows")
            and scenario.directions == "standard" and scenario.bound == "none")


@dataclass(frozen=True, kw_only=True)
class Scenario(codec.Saved):
    """Everything that can be chosen; ``build`` works out what it means for a dataset.

    ``data``: a sample's name or "upload-" and a random identifier. ``scale``: ranges as declared, or mapped onto [-1,
    1] ("symmetric") or [0, 1] ("unit"). ``delta`` None is min(1e-6, 1/(100 n)). ``mode`` "auto": both sides for
    symmetric queries, else rows. ``angle`` in degrees. ``weights``: whole parts, for the manual split. ``form``: of
    max-PNR under a theorem. ``post``: the free post-processing of trials.
    ``bound``: none, or records are clipped to an ellipse as long as an evenly spread record ("even"), ``radius`` times
    that ("own") or as all but a few records, found privately for a tenth of mu² ("private"). ``priority``: the priority
    features; none: the priority directions. ``importance``: how much each of them matters, in whole parts.
    ``category``: positions of the categories that are counted, or whose levels are the groups; none: the first.
    ``group``: columns, of the first group or whose means are asked; none: the first half, or all. ``judged``: errors
    are on priority columns, on everything, or on other columns.
    """

    called: ClassVar = "a scenario file"

    data: str = held("two_features", codec.Kind(_data_name))
    query: str = held("identity", codec.choice(QUERIES), "choices")
    scale: str = held("symmetric", codec.choice(SCALES), "choices")
    length: float = held(1.0, codec.real(positive, least=1e-6, most=1e6), "choices",
                         lambda its: "length" in its.kind.parameters)
    group: tuple[int, ...] = held((), codec.positions(), "choices", lambda its: "group" in its.kind.parameters)
    category: tuple[int, ...] = held((), codec.positions(), "choices", lambda its: "category" in its.kind.parameters)
    label: int | None = held(None, codec.position(), "choices", lambda its: _predicts(its) and its.label is not None)
    epsilon: float = held(1.0, codec.real(positive, least=1e-3, most=1e3), "choices")
    delta: float | None = held(None, codec.real(fraction), "choices")
    guarantee: str = held("exact", codec.choice(GUARANTEES), "choices")
    family: str = held("gaussian", codec.choice(FAMILIES), "choices", _takes_family)
    tail: str = held("printed", codec.choice(TAILS), "choices", lambda its: its.guarantee != "exact")
    mode: str = held("auto", codec.choice(("auto", *MODES)), "choices")
    neighbours: str = held("replace", codec.choice(NEIGHBOURS), "choices", lambda its: not its.is_graph)
    directions: str = held("standard", codec.choice(DIRECTIONS), "directions")
    angle: float = held(30.0, codec.real(within, least=-360, most=360, unit=" degrees"), "directions",
                        lambda its: its.directions == "rotation")
    plane: tuple[int, int] = held((0, 1), codec.positions(size=2), "directions",
                                  lambda its: its.directions == "rotation")
    private_share: float = held(0.2, codec.real(fraction), "choices", lambda its: its.directions == "private")
    allocation: str = held("binary", codec.choice(ALLOCATIONS), "split")
    priority_directions: tuple[int, ...] = held((0,), codec.positions(), "split", _weighs)
    share: float = held(0.8, codec.real(within, least=LEAST_SHARE, most=MOST_SHARE), "split", _weighs)
    weights: tuple[int, ...] = held((), codec.parts(), "split", lambda its: its.allocation == "manual")
    form: str = held("relaxed", codec.choice(FORMS), "split",
                     lambda its: its.allocation == "max-pnr" and its.guarantee != "exact")
    bound: str = held("none", codec.choice(BOUNDS), "choices", lambda its: not its.is_graph)
    radius: float = held(1.0, codec.real(positive, least=LEAST_RADIUS, most=MOST_RADIUS), "choices",
                         lambda its: its.bound == "own" and not its.is_graph)
    priority: tuple[int, ...] = held((), codec.positions(), "choices", lambda its: bool(its.priority))
    importance: tuple[int, ...] = held((), codec.parts(), "split", lambda its: _weighs(its) and bool(its.importance))
    judged: str = held("priority", codec.choice(JUDGED))
    task: str = held("reconstruction", codec.choice(TASKS), "choices", _predicts)
    post: tuple[str, ...] = held(tuple(POST), codec.words(lambda: POST))
    trials: int = held(100, codec.whole(at_most=100_000))
    seed: int = held(0, codec.whole(at_least=0), "directions", lambda its: its.directions == "random")
    from_data: tuple[str, ...] = held((), codec.words(lambda: MARKED), compare=False)

    def __post_init__(self) -> None:
        codec.check_fields(self)
        refuse(self.priority and len(self.importance) not in (0, len(self.priority)), "importance must have one part "
               f"for each of the {len(self.priority)} priority columns, or none, got {len(self.importance)}")

    @property
    def is_upload(self) -> bool:
        """Whether the data is a person's own file, which no link holds."""
        return self.data.startswith(UPLOAD)

    @property
    def kind(self) -> type[Query]:
        return QUERIES[self.query]

    @property
    def parameters(self) -> dict[str, Any]:
        """What the kind of query needs besides the table."""
        return {name: getattr(self, name) for name in self.kind.parameters}

    @property
    def use(self) -> Task:
        return TASKS[self.task]

    @property
    def noise_family(self) -> str:
        """The family of the noise: Gaussian where the chosen one does not fit."""
        return "gaussian" if self.is_idle("family") else self.family

    @property
    def is_graph(self) -> bool:
        return self.kind.is_graph

    @property
    def needs(self) -> tuple[int, ...]:
        """The positions of what has priority, see ``needs_along``; none where nobody chose."""
        along = self.directions == "standard" or self.needs_along == "directions"
        return self.priority or (self.priority_directions if along else ())

    @property
    def needs_along(self) -> str:
        """Whether "features" (or vertices, or records) have priority, or other "directions"."""
        other = self.directions != "standard" and not self.priority and self.mode != "columns"
        return "directions" if other and self.kind.degree and not self.is_idle("priority_directions") else "features"

    @property
    def priority_features(self) -> tuple[int, ...]:
        return self.needs if self.needs_along == "features" else ()

    @property
    def need_weights(self) -> dict[int, float]:
        """How much each priority column matters, the most important 1; all alike where parts do not fit them."""
        parts = self.importance if len(self.importance) == len(self.needs) else (1,) * len(self.needs)
        return {position: part / max(parts) for position, part in zip(self.needs, parts, strict=True)}

    @classmethod
    @lru_cache(maxsize=64)
    def default_for(cls, data: str) -> Scenario:
        """Return what a person most likely wants to see first of this data."""
        return cls(data=data, **_DEFAULTS.get(data, _UPLOAD_DEFAULTS))

    def changed(self, **changes: Any) -> Self:
        """Return the same scenario with some fields changed by a person.

        A mark stays until the field returns to its default; it goes along from ``priority_directions`` to ``priority``
        and back. Where others get priority, ``importance`` is forgotten.
        """
        unknown = set(changes) - set(declared(Scenario))
        refuse(unknown, f"a scenario has no field {', '.join(sorted(unknown))}")
        if "importance" not in changes and self.importance:
            needs = replace(self, importance=(), **changes).needs
            same = needs == self.needs and len(needs) == len(self.importance)
            changes["importance"] = self.importance if same else ()
        new = replace(self, **changes)
        if "from_data" in changes:
            return new
        moved = self.moved_to(new)
        marked = {name for name in self.from_data if name in moved or getattr(new, name) == getattr(self, name)}
        if any(name in self.from_data for name in _WHO):
            marked |= {name for name in moved if name in _WHO}
        return new if marked == set(new.from_data) else replace(new, from_data=tuple(marked))

    def moved_to(self, new: Scenario) -> dict[str, Any]:
        """Return the fields a release shows that ``new`` has otherwise (with other data: all), unless as by default."""
        usual = self.default_for(new.data)
        before = self if new.data == self.data else usual
        return {name: value for name in MARKED
                if (value := getattr(new, name)) not in (getattr(before, name), getattr(usual, name))}

    @classmethod
    def for_dataset(cls, dataset: Dataset, **changes: Any) -> Scenario:
        """Return the usual choices for your own table, changed as by :meth:`on`; the label is the dataset's."""
        named = {} if dataset.label is None else {"label": dataset.label}
        return cls.default_for(f"{UPLOAD}{0:012x}").on(dataset, **named | changes)

    def on(self, dataset: Dataset, **changes: Any) -> Scenario:
        """As :meth:`changed`, but columns may be given by name: ``on(data, label="dose", priority=["age", "dose"])``.

        Priority are rows of the answer: features, or the levels of a category. ``importance`` may map these to parts.
        """
        instance("dataset", dataset, Dataset)
        if changes.get("label") is not None:
            changes["label"] = dataset.position(changes["label"], "label")
        _by_position(changes, "group", dataset.position)
        _by_position(changes, "category", lambda name, _: category_position(dataset, name))
        asked = self.changed(**{name: changes[name] for name in ("query", "group", "category") if name in changes})
        rows = asked.kind.table_of(dataset, **asked.parameters) if asked.parameters else dataset
        parts = changes.get("importance")
        if isinstance(parts, Mapping):
            given = {rows.position(feature, "importance"): part for feature, part in parts.items()}
            priority = [rows.position(feature, "priority") for feature in changes.get("priority",
                                                                                      self.priority or given)]
            refuse(set(priority) != set(given), "importance must name each priority column, and nothing else")
            changes |= {"priority": priority, "importance": tuple(given[position] for position in sorted(priority))}
        for name in ("priority", "priority_directions", "plane"):
            _by_position(changes, name, rows.position)
        return self.changed(**changes)

    def chosen_on_data(self, **changes: Any) -> Scenario:
        """Return the same scenario with some fields changed by looking at the data, which marks them."""
        marked = {name for name in changes if name in MARKED}
        return self.changed(**changes, from_data=(*self.changed(**changes).from_data, *marked))

    def read_among(self, names: Iterable[str]) -> tuple[str, ...]:
        """Which of these fields matter here and were chosen by looking at the data."""
        return tuple(name for name in names if name in self.from_data and not self.is_idle(name))

    def is_idle(self, name: str) -> bool:
        """Return whether a release with the other fields as they are does not depend on this field."""
        return not declared(Scenario, "used")[name](self)

    def to_query(self) -> dict[str, str]:
        """URL parameters: the data, and what differs from its defaults."""
        usual = self.default_for(self.data)
        return {"data": self.data} | {name: codec.to_link(value) for name, value in vars(self).items()
                                      if value != getattr(usual, name)}

    @classmethod
    def from_query(cls, parameters: Mapping[str, str]) -> Scenario:
        """Return the scenario of URL parameters; refuses what it does not understand."""
        scenario, ignored = cls.read_query(parameters)
        if ignored:
            raise InputError(ignored[0])
        return scenario

    @classmethod
    def read_query(cls, parameters: Mapping[str, str]) -> tuple[Scenario, tuple[str, ...]]:
        """Return the scenario of a link as far as it can be understood, and sentences on what was ignored."""
        ignored: list[str] = []
        scenario = cls.default_for(cls.data)
        order = {"data": 0, "importance": 2, "from_data": 3}  # parts go with priority, marks come last
        for name, text in sorted(_current(parameters).items(), key=lambda pair: order.get(pair[0], 1)):
            try:
                scenario = (cls.default_for(text) if name == "data"
                            else scenario.changed(**{name: codec.from_link(cls, name, text)}))
            except InputError as error:
                ignored.append(str(error))
                if name == "from_data":  # what is not understood takes no other mark along
                    scenario = scenario.changed(from_data=tuple({*MARKED} & {*text.split("-")}))
        return scenario, tuple(ignored)

    def to_dict(self) -> dict[str, Any]:
        return {"mvgviz": codec.VERSION, "scenario": asdict(self)}

    @classmethod
    def from_dict(cls, content: Any) -> Self:
        codec.check_parts(content, cls.called, "mvgviz", scenario=dict)
        return cls().changed(**_current(content["scenario"]))


DIRECTION_FIELDS, SPLIT_FIELDS, OTHER_FIELDS = (
    tuple(name for name, decided in declared(Scenario, "part").items() if decided == part)
    for part in ("directions", "split", "choices"))
"""The fields that a release shows, by what they decide."""
MARKED: tuple[str, ...] = (*DIRECTION_FIELDS, *SPLIT_FIELDS, *OTHER_FIELDS)
_UPLOAD_DEFAULTS: dict[str, Any] = {"query": "covariance", "allocation": "uniform", "priority_directions": ()}
_DEFAULTS: dict[str, dict[str, Any]] = {
    "two_features": {"query": "mean"},
    "liver": {"query": "covariance", "priority_directions": (2, 5), "label": 5, "task": "linear-ridge"},
    "cardiotocography": {"query": "covariance", "scale": "unit", "priority_directions": (0, 7, 9), "bound": "even",
                         "task": "covariance-estimation"},
    "movement_simulated": {"query": "covariance", "priority_directions": (0, 3), "share": 0.5, "bound": "even",
                           "task": "first-component"},
    "karate": {"query": "laplacian", "share": 0.08},
}
_CHOSEN = ("query", "bound", "radius", "directions", "guarantee", "mode", "share")
"""What a person may have chosen by hand; a task then leaves it alone."""


def usual_settings(scenario: Scenario) -> dict[str, Any]:
    """Query, bound and split for the scenario's task; nothing for graphs and for tasks on records one by one."""
    task = scenario.use
    if scenario.is_graph or task.usual is None:
        return {}
    found = {"bound": "none", "directions": "standard", "guarantee": "exact", "mode": "auto",
             "allocation": "binary" if scenario.needs else "uniform"} | dict(task.usual)
    if task.of_directions and (scenario.judged == "everything" or not scenario.needs):
        del found["share"]
        found["allocation"] = "uniform"
    return found


def for_task(scenario: Scenario, task: str) -> dict[str, Any]:
    """Return what changes with another task: its usual settings, unless the person has chosen some of them by hand.

    A query that cannot serve the task gives way in any case, and so does a bound that the last task brought.
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
