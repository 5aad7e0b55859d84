"""A scenario: one choice of everything, that travels as a link or as a JSON file.

>>> from mvgviz import Scenario
>>> Scenario.default_for("liver").changed(epsilon=0.5).to_query()
{'data': 'liver', 'epsilon': '0.5'}

Only what differs from the dataset's own defaults stands in a link. A link never holds data: of an uploaded table it has
a random identifier, of features and directions positions (counted from 0), not names. Choices that were made by looking
at the data are named in ``from_data``, so that whoever opens the link knows it too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import lru_cache
from typing import Any

from mvgviz.design.noise_design import GUARANTEES, MODES
from mvgviz.errors import InputError
from mvgviz.noise.bounds import TAILS
from mvgviz.query.dataset import Dataset
from mvgviz.query.queries import NEIGHBOURS, QUERIES, Query
from mvgviz.scenario.tasks import POST, TASKS, Task
from mvgviz.validation import count, fraction, instance, number, one_of, parsed_json, positive

VERSION = 1
UPLOAD = "upload-"
SCALES = ("declared", "symmetric", "unit")
DIRECTIONS = ("standard", "rotation", "eigenvectors", "private", "random", "upload")
ALLOCATIONS = ("uniform", "binary", "manual", "max-pnr", "least-error")
FORMS = ("relaxed", "unrelaxed")
BOUNDS = ("none", "even", "own", "private")
JUDGED = ("everything", "needed", "rest")
LEAST_SHARE, MOST_SHARE = 0.01, 0.99
"""Of the favoured directions together; every control keeps to it."""
LEAST_RADIUS, MOST_RADIUS = 1e-3, 1e3
DIRECTION_FIELDS = ("directions", "angle", "plane", "seed")
SPLIT_FIELDS = ("allocation", "favoured", "share", "weights", "form", "importance")
OTHER_FIELDS = ("query", "scale", "length", "epsilon", "delta", "guarantee", "tail", "mode", "private_share",
                "bound", "radius", "neighbours", "needed", "label", "task")
"""The fields that a release shows, by what they decide: directions, split, everything else. Each can be marked."""
_MARKED = (*DIRECTION_FIELDS, *SPLIT_FIELDS, *OTHER_FIELDS)
_WHO = ("favoured", "needed")  # one choice in two fields: its mark goes along

_DATA = re.compile(rf"[a-z][a-z0-9_]{{0,40}}|{UPLOAD}[0-9a-f]{{12}}")
_MOST_POSITIONS = 10_000


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """Everything that can be chosen; what it means for a dataset is worked out by ``build``.

    ``data``: a sample's name or "upload-" and a random identifier. ``scale``: ranges as declared, or mapped onto [-1,
    1] ("symmetric") or [0, 1] ("unit"). ``delta`` None is min(1e-6, 1/(100 n)). ``mode`` "auto": both sides for
    symmetric queries, else rows. ``neighbours``: one record is replaced, or added or removed ("add-remove", see
    ``mvgviz.query.queries``). ``angle`` in degrees. ``weights``: whole parts, for the manual split. ``form``: of
    max-PNR under a theorem. ``post``: the free post-processing of trials, from POST (see ``mvgviz.scenario.tasks``).
    ``bound``: records as the ranges have them ("none"), or pulled into an ellipse with the shape of the split, as long
    as an evenly spread record ("even"), ``radius`` times that ("own") or as all but a few records, which is found
    privately for a tenth of mu² ("private"). ``needed``: the features that are needed; none: what is favoured, features
    or other directions. ``importance``: how much each of the needed matters against the others, in whole parts in the
    order of their positions; none: all alike. ``judged``: errors are on the needed (on everything where nothing is), on
    everything, or on the rest.
    ``from_data``: the fields whose values were chosen by looking at the data. Two scenarios are equal when they choose
    the same, wherever the choices come from.
    """

    data: str = "two_features"
    query: str = "identity"
    scale: str = "symmetric"
    length: float = 1.0
    label: int | None = None
    epsilon: float = 1.0
    delta: float | None = None
    guarantee: str = "exact"
    tail: str = "printed"
    mode: str = "auto"
    neighbours: str = "replace"
    directions: str = "standard"
    angle: float = 30.0
    plane: tuple[int, int] = (0, 1)
    private_share: float = 0.2
    allocation: str = "binary"
    favoured: tuple[int, ...] = (0,)
    share: float = 0.8
    weights: tuple[int, ...] = ()
    form: str = "relaxed"
    bound: str = "none"
    radius: float = 1.0
    needed: tuple[int, ...] = ()
    importance: tuple[int, ...] = ()
    judged: str = "needed"
    task: str = "reconstruction"
    post: tuple[str, ...] = tuple(POST)
    trials: int = 100
    seed: int = 0
    from_data: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if not (isinstance(self.data, str) and _DATA.fullmatch(self.data)):
            raise InputError("data must be the name of a sample, or upload- and 12 hexadecimal digits")
        for name, choices in _CHOICES.items():
            one_of(name, getattr(self, name), choices)
        _refuse_names(label=[self.label], needed=self.needed, favoured=self.favoured)
        checked = {
            "length": positive("length", self.length, least=1e-6, most=1e6),
            "epsilon": positive("epsilon", self.epsilon, least=1e-3, most=1e3),
            "delta": None if self.delta is None else fraction("delta", self.delta),
            "angle": number("angle", self.angle),
            "private_share": fraction("private_share", self.private_share),
            "share": number("share", self.share),
            "label": None if self.label is None else count("label", self.label, at_least=0),
            "plane": _whole("plane", self.plane, at_least=0, distinct=True),
            "favoured": tuple(sorted(_whole("favoured", self.favoured, at_least=0, distinct=True))),
            "radius": positive("radius", self.radius, least=LEAST_RADIUS, most=MOST_RADIUS),
            "needed": tuple(sorted(_whole("needed", self.needed, at_least=0, distinct=True))),
            "weights": _whole("weights", self.weights, at_least=1),
            "importance": _whole("importance", self.importance, at_least=1),
            "post": _words("post", self.post, tuple(POST)),
            "trials": count("trials", self.trials),
            "seed": count("seed", self.seed, at_least=0),
            "from_data": _words("from_data", self.from_data, _MARKED),
        }
        if len(checked["plane"]) != 2:  # type: ignore[arg-type]
            raise InputError("plane must be a pair of positions")
        if self.needed and len(self.importance) not in (0, len(self.needed)):
            raise InputError(f"importance must have one part for each of the {len(self.needed)} needed, or none, "
                             f"got {len(self.importance)}")
        if not -360 <= self.angle <= 360:
            raise InputError(f"angle must lie between -360 and 360 degrees, got {self.angle:g}")
        if not LEAST_SHARE <= self.share <= MOST_SHARE:
            raise InputError(f"share must lie between {LEAST_SHARE:g} and {MOST_SHARE:g}, got {self.share:g}")
        if not self.trials <= 100_000:
            raise InputError(f"trials must be at most 100000, got {self.trials}")
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def is_upload(self) -> bool:
        """Whether the data is a person's own file, which no link holds."""
        return self.data.startswith(UPLOAD)

    @property
    def kind(self) -> type[Query]:
        """The kind of query, which knows all that does not depend on the data."""
        return QUERIES[self.query]

    @property
    def use(self) -> Task:
        """What the answer is used for."""
        return TASKS[self.task]

    @property
    def is_graph(self) -> bool:
        return self.kind.is_graph

    @property
    def needs(self) -> tuple[int, ...]:
        """The positions of what is needed, see ``needs_along``; none where nobody said."""
        along = self.directions == "standard" or self.needs_along == "directions"
        return self.needed or (self.favoured if along else ())

    @property
    def needs_along(self) -> str:
        """Whether needs are "features" (or vertices, or records), or other "directions" that the split favours."""
        other = self.directions != "standard" and not self.needed and self.mode != "columns"
        return "directions" if other and self.kind.degree and not self.is_idle("favoured") else "features"

    @property
    def needed_features(self) -> tuple[int, ...]:
        """What is needed where that is features."""
        return self.needs if self.needs_along == "features" else ()

    @property
    def need_weights(self) -> dict[int, float]:
        """How much each of the needed matters, the most important 1; all alike where parts do not fit the needed."""
        parts = self.importance if len(self.importance) == len(self.needs) else (1,) * len(self.needs)
        return {position: part / max(parts) for position, part in zip(self.needs, parts, strict=True)}

    @classmethod
    @lru_cache(maxsize=64)
    def default_for(cls, data: str) -> Scenario:
        """What a person most likely wants to see first of this data."""
        return cls(data=data, **_DEFAULTS.get(data, _UPLOAD_DEFAULTS))

    def changed(self, **changes: Any) -> Scenario:
        """The same scenario with some fields changed by a person.

        A mark stays, whatever the new value, until the field returns to its default or ``from_data`` says otherwise;
        it goes along from ``favoured`` to ``needed`` and back. How much each of the needed matters is forgotten where
        others become needed.
        """
        unknown = set(changes) - {known.name for known in fields(self)}
        if unknown:
            raise InputError(f"a scenario has no field {', '.join(sorted(unknown))}")
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
        return replace(new, from_data=tuple(marked))

    def moved_to(self, new: Scenario) -> dict[str, Any]:
        """The fields a release shows that ``new`` has otherwise, and not as the data's defaults have them.

        Of other data, all that are not the defaults: what is the same came along.
        """
        usual = self.default_for(new.data)
        before = self if new.data == self.data else usual
        return {name: value for name in _MARKED
                if (value := getattr(new, name)) not in (getattr(before, name), getattr(usual, name))}

    @classmethod
    def for_dataset(cls, dataset: Dataset, **changes: Any) -> Scenario:
        """The usual choices for a table of one's own, changed as by :meth:`on`; its label is the dataset's."""
        named = {} if dataset.label is None else {"label": dataset.label}
        return cls.default_for(f"{UPLOAD}{0:012x}").on(dataset, **named | changes)

    def on(self, dataset: Dataset, **changes: Any) -> Scenario:
        """As :meth:`changed`, but features may be given by name: ``on(data, label="dose", needed=["age", "dose"])``.

        ``importance`` may be a mapping from the needed to their parts. What is kept are positions, never names.
        """
        instance("dataset", dataset, Dataset)
        parts = changes.get("importance")
        if isinstance(parts, Mapping):
            given = {dataset.position(feature, "importance"): part for feature, part in parts.items()}
            needed = [dataset.position(feature, "needed") for feature in changes.get("needed", self.needed or given)]
            if set(needed) != set(given):
                raise InputError("importance must name each of the needed, and nothing else")
            changes |= {"needed": needed, "importance": tuple(given[position] for position in sorted(needed))}
        if changes.get("label") is not None:
            changes["label"] = dataset.position(changes["label"], "label")
        for name in ("needed", "favoured", "plane"):
            if name in changes and not isinstance(changes[name], str) and hasattr(changes[name], "__iter__"):
                changes[name] = tuple(dataset.position(feature, name) if isinstance(feature, str) else feature
                                      for feature in changes[name])
        return self.changed(**changes)

    def chosen_on_data(self, **changes: Any) -> Scenario:
        """The same scenario with some fields changed by looking at the data, which marks them."""
        marked = {name for name in changes if name in _MARKED}
        return self.changed(**changes, from_data=(*self.changed(**changes).from_data, *marked))

    def read_among(self, names: Iterable[str]) -> tuple[str, ...]:
        """Which of these fields matter here and were chosen by looking at the data."""
        return tuple(name for name in names if name in self.from_data and not self.is_idle(name))

    def is_idle(self, name: str) -> bool:
        """Whether this field changes nothing of a release, the others being as they are."""
        predicts = self.kind.has_constant and self.bound != "none"  # the label then has a share of the ellipse
        needs = {
            "angle": self.directions == "rotation", "plane": self.directions == "rotation",
            "private_share": self.directions == "private", "length": self.kind.is_kernel,
            "favoured": self.allocation in ("binary", "least-error"),
            "share": self.allocation in ("binary", "least-error"), "weights": self.allocation == "manual",
            "importance": self.allocation in ("binary", "least-error") and bool(self.importance),
            "form": self.allocation == "max-pnr" and self.guarantee != "exact", "tail": self.guarantee != "exact",
            "neighbours": not self.is_graph, "bound": not self.is_graph,
            "radius": self.bound == "own" and not self.is_graph, "needed": bool(self.needed),
            "seed": self.directions == "random", "label": predicts and self.label is not None, "task": predicts,
        }
        return not needs.get(name, True)

    def to_query(self) -> dict[str, str]:
        """URL parameters: the data, and what differs from its defaults."""
        usual = self.default_for(self.data)
        return {"data": self.data} | {name: _to_text(value) for name, value in vars(self).items()
                                      if value != getattr(usual, name)}

    @classmethod
    def from_query(cls, parameters: Mapping[str, str]) -> Scenario:
        """The scenario of URL parameters; refuses what it does not understand."""
        scenario, ignored = cls.read_query(parameters)
        if ignored:
            raise InputError(ignored[0])
        return scenario

    @classmethod
    def read_query(cls, parameters: Mapping[str, str]) -> tuple[Scenario, tuple[str, ...]]:
        """The scenario of a link as far as it can be understood, and sentences on what was ignored."""
        ignored: list[str] = []
        scenario = cls.default_for(cls.data)
        order = {"data": 0, "importance": 2, "from_data": 3}  # parts go with what is needed, marks come last
        for name, text in sorted(parameters.items(), key=lambda pair: order.get(pair[0], 1)):
            try:
                scenario = (cls.default_for(text) if name == "data"
                            else scenario.changed(**{name: _from_text(name, text)}))
            except InputError as error:
                ignored.append(str(error))
                if name == "from_data":  # what is not understood takes no other mark along
                    scenario = scenario.changed(from_data=tuple({*_MARKED} & {*text.split("-")}))
        return scenario, tuple(ignored)

    def to_json(self) -> str:
        """Every field, with the version of the format."""
        return json.dumps({"mvgviz": VERSION, "scenario": asdict(self)}, indent=2)

    @classmethod
    def from_json(cls, text: str | bytes) -> Scenario:
        """The scenario of a JSON text; refuses other versions, unknown fields and values out of range."""
        content = parsed_json(text, "a scenario file must be JSON, as downloaded from mvgviz")
        if not (isinstance(content, dict) and set(content) == {"mvgviz", "scenario"}
                and isinstance(content["scenario"], dict)):
            raise InputError('a scenario file must hold "mvgviz" (the version) and "scenario"')
        if content["mvgviz"] != VERSION:
            raise InputError(f"a scenario file must have version {VERSION}, got another")
        values = {name: tuple(value) if isinstance(value, list) else value
                  for name, value in content["scenario"].items()}
        return cls().changed(**values)


_CHOICES = {
    "query": tuple(QUERIES), "scale": SCALES, "guarantee": GUARANTEES, "tail": TAILS, "mode": ("auto", *MODES),
    "directions": DIRECTIONS, "allocation": ALLOCATIONS, "form": FORMS, "task": TASKS,
    "bound": BOUNDS, "judged": JUDGED, "neighbours": NEIGHBOURS,
}
_UPLOAD_DEFAULTS: dict[str, Any] = {"query": "covariance", "allocation": "uniform", "favoured": ()}
_DEFAULTS: dict[str, dict[str, Any]] = {
    "two_features": {"query": "mean", "judged": "needed"},
    "liver": {"query": "covariance", "favoured": (2, 5), "label": 5, "task": "linear-ridge", "judged": "needed"},
    "cardiotocography": {"query": "covariance", "scale": "unit", "favoured": (0, 7, 9), "bound": "even",
                         "task": "covariance-estimation", "judged": "needed"},
    "movement_simulated": {"query": "covariance", "favoured": (0, 3), "share": 0.5, "bound": "even",
                           "task": "first-component", "judged": "needed"},
    "karate": {"query": "laplacian", "favoured": (0,), "share": 0.08, "judged": "needed"},
}
_NUMBERS = {"length", "epsilon", "delta", "angle", "private_share", "share", "radius"}
_COUNTS = {"label", "trials", "seed"}
_SEQUENCES, _WORDS = {"plane", "favoured", "weights", "needed", "importance"}, {"post", "from_data"}
_EMPTY = "none"


def _to_text(value: Any) -> str:
    if value is None or value == ():
        return _EMPTY
    if isinstance(value, tuple):
        return "-".join(map(str, value))
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return str(value)


def _from_text(name: str, text: str) -> Any:
    """The value of one URL parameter; the field itself checks its range."""
    if not isinstance(text, str) or len(text) > 100_000:
        raise InputError(f"{name} in the link must be a short text")
    if text == _EMPTY and name in _NUMBERS | _COUNTS | _SEQUENCES | _WORDS:
        return None if name in _NUMBERS | _COUNTS else ()
    if name in _SEQUENCES:
        if not re.fullmatch(r"\d{1,9}(-\d{1,9})*", text, re.ASCII):
            raise InputError(f"{name} in the link must be numbers joined by -")
        return tuple(int(part) for part in text.split("-"))
    if name in _WORDS:
        return tuple(text.split("-"))
    if name in _NUMBERS | _COUNTS:
        try:
            return int(text) if name in _COUNTS else float(text)
        except ValueError:
            raise InputError(f"{name} in the link must be a number") from None
    return text


def _refuse_names(**given: Any) -> None:
    """A scenario holds positions: names need the dataset that has them."""
    for name, values in given.items():
        if isinstance(values, list | tuple) and any(isinstance(value, str) for value in values):
            raise InputError(f"{name} must be positions in a scenario; scenario.on(dataset, {name}=…) takes names")


def _whole(name: str, value: Any, *, at_least: int, distinct: bool = False) -> tuple[int, ...]:
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        raise InputError(f"{name} must be a sequence of whole numbers")
    entries = tuple(value)
    if len(entries) > _MOST_POSITIONS:
        raise InputError(f"{name} must have at most {_MOST_POSITIONS} entries, got {len(entries)}")
    numbers = tuple(count(name, item, at_least=at_least) for item in entries)
    if distinct and len(set(numbers)) != len(numbers):
        raise InputError(f"{name} must be different positions")
    return numbers


def _words(name: str, value: Any, choices: tuple[str, ...]) -> tuple[str, ...]:
    """Some of the choices, in their order."""
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        raise InputError(f"{name} must be a sequence of words from {', '.join(choices)}")
    chosen = {one_of(name, word, choices) for word in value}
    return tuple(word for word in choices if word in chosen)
