"""What a session holds: its uploaded table, its caches, and its scenario, which the address bar mirrors.

The scenario is the only truth: every control shows a field of it and changes it in a callback.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import numpy as np
import streamlit as st

from mvgviz.data import sample, samples
from mvgviz.errors import InputError
from mvgviz.noise.directions import Directions, from_matrix
from mvgviz.pictures.sentences import ON_DATA, ON_SIMULATED
from mvgviz.provenance import Origin, weakest
from mvgviz.query.dataset import Dataset
from mvgviz.query.queries import Query
from mvgviz.scenario.resolve import Setup, ask, build, second_moments
from mvgviz.scenario.scenario import Scenario
from mvgviz.scenario.source import DataSource
from mvgviz.trials.stand_in import SEED, stand_in
from mvgviz.ui.cache import Cache, cached, of_server, of_session
from mvgviz.validation import FloatArray

_SCENARIO, _WRITTEN, _TOUCHED, _NOTICES = "_scenario", "_written", "_touched", "_notices"
_PAGE, _LEFT, SLIDE = "_page", "_left", "_slide"
_SHOWN, _RELEASES = "_shown_data", "_releases_here"
_UPLOAD, _DIRECTIONS, _STATED_FOR = "_upload", "_directions", "_directions_stated_for"
PLACES = ("step", "value", "slide", "game", "shape", "budget", "big")
"""Parameters of an address that say where on a page one is; no part of the scenario."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Upload:
    """A table of the session's own; ``source``: its name, and how it was read and used, for programs."""

    data_name: str  # what the scenario calls it, random
    version: str  # changes when its columns or ranges do
    dataset: Dataset = field(repr=False)
    source: DataSource = field(repr=False)
    clipped: int = 0
    is_graph: bool = False

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def is_current(self) -> bool:
        """Whether the scenario is about it."""
        return self.data_name == scenario().data


def adopt_link() -> None:
    """Take the scenario from the address bar on the first run, or when the address was changed by hand.

    A run that a control started ignores the address, which may still be the one before.
    """
    parameters = {name: text for name, text in st.query_params.to_dict().items() if name not in PLACES}
    first = _SCENARIO not in st.session_state
    touched = st.session_state.pop(_TOUCHED, False)
    if first or (parameters and not touched and parameters != st.session_state.get(_WRITTEN)):
        scenario, ignored = Scenario.read_query(parameters)
        if not scenario.is_upload and scenario.data not in samples():
            scenario, ignored = Scenario(), (*ignored, "the link names data that is not here")
        st.session_state.update({_SCENARIO: scenario, _NOTICES: ignored})


def came_by_link() -> bool:
    """Whether the address says what to show."""
    return any(name not in PLACES for name in st.query_params.to_dict())


def note_page(path: str, *, aside: bool, releases: bool) -> None:
    """Remember the page of this run, before its link is adopted; coming to one ``aside``, also what was left for it.

    It begins at its first slide, or at that of its link. ``releases``: the page releases answers, so it needs the data.
    """
    st.session_state[_RELEASES] = releases
    before = st.session_state.get(_PAGE)
    if aside and before not in (None, path):
        st.session_state[_LEFT] = before, scenario()
        st.session_state.pop(SLIDE, None)
    st.session_state[_PAGE] = path


def come_back(otherwise: str) -> None:
    """To the page, and the scenario, that were left for this one."""
    path, kept = st.session_state.pop(_LEFT, (otherwise, scenario()))
    put(kept)
    st.switch_page(path, query_params=kept.to_query())


def write_link(**place: str) -> None:
    """Mirror the scenario, and a page's own ``place``, in the address bar."""
    parameters = scenario().to_query()
    if st.query_params.to_dict() != parameters | place:
        st.query_params.from_dict(parameters | place)
    st.session_state[_WRITTEN] = parameters


def link() -> str:
    """The address that restores this screen."""
    return f"{(st.context.url or '').split('?')[0]}?{urlencode(scenario().to_query())}"


def notices() -> tuple[str, ...]:
    """Sentences on what a link held that was ignored; said once."""
    return tuple(st.session_state.pop(_NOTICES, ()))


def scenario() -> Scenario:
    """The session's scenario."""
    return st.session_state[_SCENARIO]  # type: ignore[no-any-return]


def update(**changes: Any) -> None:
    """Change fields of the scenario (from a callback, or before the controls are drawn).

    After results on the person's own file were shown, what changes is marked; so is what comes along from other data.
    """
    old, new = scenario(), scenario().changed(**changes)
    put(new.chosen_on_data(**old.moved_to(new)) if has_looked(new.data) else new)


def choose(origin: Origin, /, **changes: Any) -> None:
    """Change fields of the scenario to values with this origin: those read from the data are marked."""
    if origin.is_covered:
        update(**changes)
    else:
        put(scenario().chosen_on_data(**changes))


def take_over(setup: Setup, /, **changes: Any) -> None:
    """Change fields of the scenario to what follows from results of ``setup``."""
    choose(origin_of_results(setup), **changes)


def origin_of_results(setup: Setup) -> Origin:
    """Results on the person's file, and those of marked or read choices, are as little covered as these are."""
    return Origin.READ if setup.scenario.is_upload and shows_data() else weakest(setup.looked_at.values())


def would_choose(*names: str) -> None:
    """The person says that these marked fields would have been chosen without the data."""
    put(scenario().changed(from_data=tuple(name for name in scenario().from_data if name not in names)))


def shows_data() -> bool:
    """Whether results are about the data: bundled tables are public, a file's holder has to ask."""
    return not scenario().is_upload or _shown().get(scenario().data, False)


def show_data(on: bool) -> None:
    """Results about the person's own file from now on, or about simulated data again; what was seen stays seen."""
    if on or scenario().data in _shown():
        _shown()[scenario().data] = on


def has_looked(data: str) -> bool:
    """Whether results on this file were shown in the session; bundled tables are public."""
    return data in _shown()


def count_as_seen(data: str, other: str) -> None:
    """Two files hold the same records: results of one tell about the other."""
    if {data, other} & _shown().keys():
        st.session_state[_SHOWN] = {data: False, other: False} | _shown()


def _shown() -> dict[str, bool]:
    """Files whose results were shown in this session, and whether they are now."""
    return st.session_state.setdefault(_SHOWN, {})  # type: ignore[no-any-return]


def is_simulated() -> bool:
    """Whether this page is about simulated data; a page that releases never is."""
    return not shows_data() and not st.session_state.get(_RELEASES, False)


def put(new: Scenario) -> None:
    """Replace the scenario."""
    st.session_state.update({_SCENARIO: new, _TOUCHED: True})


def bound(key: str, value: Any, change: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """The ``key`` and ``on_change`` of a control that shows ``value`` and changes the scenario.

    The value is set anew on every run, so that a link, a reset or a button moves the control too.
    """
    st.session_state[key] = value
    return {"key": key, "on_change": lambda: update(**change(st.session_state[key]))}


def bound_field(name: str) -> dict[str, Any]:
    """The ``key`` and ``on_change`` of a control that shows a field of the scenario and changes it as it is."""
    return bound(f"w_{name}", getattr(scenario(), name), lambda value: {name: value})


def upload() -> Upload | None:
    """The session's uploaded table, if any."""
    return st.session_state.get(_UPLOAD)


def set_upload(new: Upload) -> None:
    """Keep an uploaded table and turn to it; what was chosen for the same data stays chosen."""
    old = upload()
    st.session_state[_UPLOAD] = new
    if old is not None and old.version != new.version:  # what was worked out holds the old table in memory
        of_session().clear()
    if scenario().data != new.data_name:
        usual = Scenario.default_for(new.data_name)
        put(usual.changed(query="laplacian") if new.is_graph else usual)
    elif old is not None and old.data_name == new.data_name and old.dataset.features != new.dataset.features:
        put(carried(scenario(), old.dataset.features, new.dataset.features))


def carried(scenario: Scenario, before: tuple[str, ...], after: tuple[str, ...]) -> Scenario:
    """The scenario for other features of the same data: positions follow the names, what is gone is let go.

    After results on the data were shown, other features are a query that was chosen by looking.
    """
    moved = {position: after.index(name) for position, name in enumerate(before) if name in after}
    changes: dict[str, Any] = {"label": None if scenario.label is None else moved.get(scenario.label)}
    if scenario.directions == "standard":
        changes["favoured"] = tuple(moved[k] for k in scenario.favoured if k in moved)
    changes["needed"] = tuple(moved[k] for k in scenario.needed if k in moved)
    if scenario.importance:
        parts = dict(zip(scenario.needs, scenario.importance, strict=False))
        changes["importance"] = tuple(parts[k] for k in sorted(parts, key=lambda k: moved.get(k, -1)) if k in moved)
    if scenario.directions == "rotation":
        kept = tuple(moved[k] for k in scenario.plane if k in moved)
        changes |= {"plane": kept} if len(kept) == 2 else {"directions": "standard", "plane": (0, 1)}
    if scenario.allocation == "manual" and len(before) != len(after):
        changes |= {"allocation": "uniform", "weights": ()}
    new = scenario.changed(**changes, from_data=scenario.from_data)
    return new.chosen_on_data(query=new.query) if has_looked(new.data) else new


def uploaded_directions() -> Directions | None:
    """Directions the session read from a file, if any; what was stated of them was stated for one data."""
    kept: Directions | None = st.session_state.get(_DIRECTIONS)
    if kept is None or st.session_state.get(_STATED_FOR) == scenario().data or not kept.origin.is_covered:
        return kept
    return from_matrix(kept.matrix, origin=Origin.READ)


def set_uploaded_directions(new: Directions) -> None:
    """Keep directions from a file; the very same ones keep what was said of their origin."""
    old = uploaded_directions()
    if old is None or old.digest != new.digest:
        st.session_state[_DIRECTIONS] = new


def state_directions_origin(origin: Origin) -> None:
    """The person says where the directions from a file come from."""
    own = uploaded_directions()
    if own is not None:
        st.session_state.update({_DIRECTIONS: from_matrix(own.matrix, origin=origin), _STATED_FOR: scenario().data})


class FileNotHereError(InputError):
    """The scenario is about a file that this session does not have."""


def dataset() -> Dataset:
    """The scenario's data, or simulated data in its place; an InputError when it was uploaded in another session."""
    own = upload()
    if not scenario().is_upload:
        return sample(scenario().data)
    if own is None or not own.is_current:
        raise FileNotHereError("this is about a file that is not here: a link and a study hold your choices, never "
                               "your data, and a file is gone when its page is loaded anew or the server was "
                               "restarted; choose it again on the page Data & query")
    return _simulated(own) if is_simulated() else own.dataset


def version() -> str:
    """A name for everything outside the scenario that results depend on: the data as it is, and directions."""
    directions = uploaded_directions()
    return f"{data_version()} {'' if directions is None else f'{directions.origin} {directions.digest}'}"


def data_version() -> str:
    """A name for the data as it is now; it changes with an upload's columns and ranges."""
    own, simulated = upload(), " simulated" if is_simulated() else ""
    return f"{own.version}{simulated}" if own is not None and own.is_current else scenario().data


def here(*given: object) -> Cache:
    """Where results are kept: those of bundled data for all, those that a file has a part in for this session."""
    asked = [scenario(), *(getattr(one, "scenario", None) for one in given)]
    private = uploaded_directions() is not None or any(one is not None and one.is_upload for one in asked)
    return of_session() if private else of_server()


def computed_on() -> str:
    """A sentence on where this page's numbers come from."""
    return ON_SIMULATED if is_simulated() else ON_DATA


@cached(2, of_session)
def _simulated(own: Upload) -> Dataset:
    return stand_in(own.dataset, rng=np.random.default_rng(SEED), graph=own.is_graph)


def query() -> Query:
    """The scenario's query of its data."""
    return _query(dataset(), scenario())


@cached(6, here, key=lambda data, chosen: (data, chosen.query, chosen.scale, chosen.neighbours,
                                            0.0 if chosen.is_idle("length") else chosen.length))
def _query(data: Dataset, chosen: Scenario) -> Query:
    return ask(chosen, data)


def setup() -> Setup:
    """The scenario worked out: its design, and equal noise at the same budget.

    Where the noise is shaped by the person's own records, which a page that releases shows, they were looked at.
    """
    made = _setup(scenario(), dataset(), uploaded_directions())
    shaped = (made.scenario.directions in ("eigenvectors", "private") or made.scenario.bound == "private"
              or made.design.theta_origin is not Origin.DECLARED)
    if made.scenario.is_upload and shaped and not is_simulated():
        _shown().setdefault(made.scenario.data, False)
    return made


@cached(40, here)
def _setup(chosen: Scenario, data: Dataset, directions: Directions | None) -> Setup:
    return build(chosen, data, query=query(), uploaded=directions)


@cached(6, here, key=lambda setup: (setup.dataset, setup.query, setup.box, setup.scenario.scale))
def moments(setup: Setup) -> FloatArray | None:
    """The data's second moments, where the query has any."""
    return second_moments(setup)
