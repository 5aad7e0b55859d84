"""Hold a session's uploaded table, caches and scenario, which the address bar mirrors and every control changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from urllib.parse import urlencode

import numpy as np
import streamlit as st

from mvgviz.data import sample, samples
from mvgviz.errors import InputError
from mvgviz.noise.directions import Directions, from_matrix
from mvgviz.pictures.sentences import ON_DATA, ON_SIMULATED, of_people
from mvgviz.provenance import Origin, weakest
from mvgviz.query.dataset import Dataset
from mvgviz.query.queries import Query
from mvgviz.scenario.resolve import Setup, ask, build, second_moments
from mvgviz.scenario.scenario import Scenario
from mvgviz.scenario.source import DataSource
from mvgviz.trials.simulated import SEED, simulated_data
from mvgviz.ui.cache import Cache, cached, of_server, of_session
from mvgviz.ui.door import is_demo
from mvgviz.ui.history import History
from mvgviz.ui.streamlit_internals import send_in_full
from mvgviz.ui.visitors import held
from mvgviz.validation import FloatArray

_SCENARIO, _WRITTEN, _TOUCHED, NOTICES = "_scenario", "_written", "_touched", "_notices"
_PAGE, _LEFT, SLIDE, _HISTORY = "_page", "_left", "_slide", "_history"
_ALONE = "_part_alone"
_SHOWN, _RELEASES = "_shown_data", "_releases_here"
_UPLOAD, _DIRECTIONS, _STATED_FOR = "_upload", "_directions", "_directions_stated_for"
# Parameters of an address that name a place on a page, not a part of the scenario.
PLACES = ("step", "value", "slide", "game", "shape", "budget", "big", "pupil")


@dataclass(frozen=True, kw_only=True, eq=False)
class Upload:
    """The session's table; ``source``: its name, and how it was read and used, for programs."""

    data_name: str  # what the scenario calls it, random
    version: str  # changes when its columns or ranges do
    dataset: Dataset = field(repr=False)
    source: DataSource = field(repr=False)
    is_graph: bool = False

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def is_current(self) -> bool:
        return self.data_name == scenario().data

    @property
    def use(self) -> tuple[object, ...]:
        """Which records and features; ranges and levels have their own origins."""
        return self.dataset.features, replace(self.source, title="", ranges=None, levels=None, units=None)


def adopt_link() -> None:
    """Take the scenario from the address on the first run and after an edit; after a control the address may be old."""
    parameters = {name: text for name, text in st.query_params.to_dict().items() if name not in PLACES}
    first = _SCENARIO not in st.session_state
    touched = st.session_state.pop(_TOUCHED, False)
    if first or (parameters and not touched and parameters != st.session_state.get(_WRITTEN)):
        new, ignored = Scenario.read_query(parameters)
        if new.data not in samples() and (is_demo() or not new.is_upload):
            new = Scenario.default_for(Scenario.data)
            ignored = *ignored, "the link names data that is not here; you see the first example"
        kept = held(new if first else marked(new))
        if kept.directions != new.directions:
            ignored = *ignored, "its directions are in a file"
        st.session_state.update({_SCENARIO: kept, NOTICES: ignored})


def note_part(*, alone: bool) -> None:
    """Note whether a part of the page is drawn alone; that takes an edited link, as the whole page did."""
    st.session_state[_ALONE] = alone
    if alone:
        send_in_full()
        adopt_link()


def note_page(path: str, *, aside: bool, releases: bool) -> None:
    """Remember this run's page; on coming to one ``aside``, also the page and scenario left for it.

    It begins at its first slide, or its link's. ``releases``: the page releases answers, so it needs the data.
    """
    st.session_state.update({_RELEASES: releases, _ALONE: False})
    before = st.session_state.get(_PAGE)
    if aside and before not in (None, path):
        st.session_state[_LEFT] = before, scenario()
        st.session_state.pop(SLIDE, None)
    st.session_state[_PAGE] = path


def come_back(otherwise: str) -> None:
    """Go back to the page and the scenario that were left for this one."""
    path, kept = st.session_state.pop(_LEFT, (otherwise, scenario()))
    put(kept)
    st.switch_page(path, query_params=kept.to_query())


def write_link(**place: str) -> None:
    """Mirror the scenario and the page's ``place`` in the address bar; note the scenario for undo."""
    history().record(scenario(), has_looked)
    parameters = scenario().to_query()
    if st.query_params.to_dict() != parameters | place:
        st.query_params.from_dict(parameters | place)
    st.session_state[_WRITTEN] = parameters


def link() -> str:
    """Return the address that restores this screen."""
    return f"{(st.context.url or '').split('?')[0]}?{urlencode(scenario().to_query())}"


def scenario() -> Scenario:
    """Return the session's scenario."""
    return st.session_state[_SCENARIO]  # type: ignore[no-any-return]


def update(**changes: Any) -> None:
    """Change fields of the scenario (from a callback, or before the controls are drawn)."""
    put(marked(scenario().changed(**changes)))


def marked(new: Scenario) -> Scenario:
    """Return the scenario that replaces this one, with its marks.

    After results on the person's file were shown, changes are marked, and so is what comes along from other data.
    """
    old = scenario()
    if not has_looked(new.data):
        return new
    kept = {name: getattr(new, name) for name in old.from_data
            if old.data == new.data and getattr(new, name) == getattr(old, name)}
    return new.chosen_on_data(**kept | old.moved_to(new))


def choose(origin: Origin, /, **changes: Any) -> None:
    """Change fields to values with this origin; mark those read from the data."""
    if origin.is_covered:
        update(**changes)
    else:
        put(scenario().chosen_on_data(**changes))


def take_over(setup: Setup, /, **changes: Any) -> None:
    """Change fields to what follows from results of ``setup``."""
    before = scenario()
    choose(origin_of_results(setup), **changes)
    history().take(before, scenario())


def origin_of_results(setup: Setup) -> Origin:
    """Return the origin of a choice made on these results: read from a shown file, else the weakest of its parts."""
    return Origin.READ if setup.scenario.is_upload and shows_data() else weakest(setup.looked_at.values())


def would_choose(*names: str) -> None:
    """Take the person's word that these marked fields do not come from the data."""
    put(scenario().changed(from_data=tuple(name for name in scenario().from_data if name not in names)))


def shows_data() -> bool:
    """Whether results are about the data: always for bundled tables, for a file once its holder asks."""
    return not scenario().is_upload or _shown().get(scenario().data, False)


def normalised() -> bool:
    """Whether pictures use the normalised scale, not the data's units: only with all controls."""
    return bool(st.session_state.get("_all") and st.session_state.get("_normalised"))


def show_data(on: bool) -> None:
    """Show results on the person's file, or on simulated data again; what was seen stays seen."""
    if on or scenario().data in _shown():
        _shown()[scenario().data] = on


def has_looked(data: str) -> bool:
    """Whether results on this file were shown in the session; bundled tables are public."""
    return data in _shown()


def note_look(data: str) -> None:
    """Note that something else of this file was shown, so later choices are marked."""
    _shown().setdefault(data, False)


def count_as_seen(data: str, other: str) -> None:
    """Note that two files hold the same records, so results of one tell about the other."""
    if {data, other} & _shown().keys():
        st.session_state[_SHOWN] = {data: False, other: False} | _shown()


def _shown() -> dict[str, bool]:
    """Return the files whose results were shown in this session, and whether they are now."""
    return st.session_state.setdefault(_SHOWN, {})  # type: ignore[no-any-return]


def is_simulated() -> bool:
    """Whether this page is about simulated data; a page that releases never is."""
    return not shows_data() and not st.session_state.get(_RELEASES, False)


def put(new: Scenario) -> None:
    """Replace the scenario."""
    st.session_state.update({_SCENARIO: held(new), _TOUCHED: True})


def history() -> History:
    """Return the session's last scenarios."""
    return st.session_state.setdefault(_HISTORY, History())  # type: ignore[no-any-return]


def go_back_to(place: int | None) -> None:
    """Put one of the last scenarios back, with its marks; ignore a click on an old list."""
    if place is not None:
        put(history().go(place))


def draw_back_to_mine() -> None:
    """Offer the former scenario while a design that was taken over stands."""
    kept = history()
    if kept.mine is not None and kept.taken == scenario() != kept.mine:
        st.button("Back to mine", key="w_mine", icon=":material/undo:", on_click=put, args=(kept.mine,),
                  help="Your scenario before you used this design")


def control(key: str, value: Any, take: Callable[[Any], object]) -> dict[str, Any]:
    """Return ``key`` and ``on_change`` of a control: every run sets ``value``, and ``take`` gets what a person sets."""
    if not st.session_state.get(_ALONE) or st.session_state.get(key) != value:  # else a later move would be undone
        st.session_state[key] = value
    return {"key": key, "on_change": lambda: take(st.session_state[key])}


def bound(key: str, value: Any, change: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """Return the same for a control of the scenario; ``change``: the fields that follow."""
    return control(key, value, lambda new: update(**change(new)))


def bound_field(name: str, where: str = "w") -> dict[str, Any]:
    """Return the same for a control of one field; its key begins with ``where``."""
    return bound(f"{where}_{name}", getattr(scenario(), name), lambda value: {name: value})


def upload() -> Upload | None:
    """Return the session's uploaded table, if any."""
    return st.session_state.get(_UPLOAD)


def promised(text: str) -> str:
    """Return the text with "person" for "record" if the promise covers all records of a person."""
    own = upload()
    return of_people(text) if own is not None and own.data_name == scenario().data and own.dataset.by_person else text


def set_upload(new: Upload) -> None:
    """Keep an uploaded table and turn to it; choices for the same data stay."""
    old = upload()
    st.session_state[_UPLOAD] = new
    if old is not None and old.version != new.version:  # results hold the old table in memory
        of_session().clear()
    if scenario().data != new.data_name:
        usual = Scenario.default_for(new.data_name)
        put(usual.changed(query="laplacian") if new.is_graph else usual)
    elif old is not None and old.data_name == new.data_name and new.use != old.use:
        follow = partial(carried, before=old.dataset.features, after=new.dataset.features)
        history().carry(new.data_name, follow)
        put(follow(scenario()))


def carried(scenario: Scenario, before: tuple[str, ...], after: tuple[str, ...]) -> Scenario:
    """Return the scenario for another use of the same data; its query is marked after results were shown."""
    new = scenario if before == after else _following(scenario, before, after)
    return new.chosen_on_data(query=new.query) if has_looked(new.data) else new


def _following(scenario: Scenario, before: tuple[str, ...], after: tuple[str, ...]) -> Scenario:
    """Let positions follow the names of the features, and drop the others."""
    moved = {position: after.index(name) for position, name in enumerate(before) if name in after}
    followed = {name: tuple(moved[k] for k in getattr(scenario, name) if k in moved)
                for name in ("priority", "group", "priority_directions", "plane")}
    changes: dict[str, Any] = {"label": None if scenario.label is None else moved.get(scenario.label), "category": (),
                               "priority": followed["priority"], "group": followed["group"]}
    if scenario.directions == "standard":
        changes["priority_directions"] = followed["priority_directions"]
    if scenario.importance:
        parts = dict(zip(scenario.needs, scenario.importance, strict=False))
        changes["importance"] = tuple(parts[k] for k in sorted(parts, key=lambda k: moved.get(k, -1)) if k in moved)
    if scenario.directions == "rotation":
        plane = followed["plane"]
        changes |= {"plane": plane} if len(plane) == 2 else {"directions": "standard", "plane": (0, 1)}
    if scenario.allocation == "manual" and len(before) != len(after):
        changes |= {"allocation": "uniform", "weights": ()}
    return scenario.changed(**changes, from_data=scenario.from_data)


def uploaded_directions() -> Directions | None:
    """Return directions from a file, if any; a statement of their origin holds for one data."""
    kept: Directions | None = st.session_state.get(_DIRECTIONS)
    if kept is None or st.session_state.get(_STATED_FOR) == scenario().data or not kept.origin.is_covered:
        return kept
    return from_matrix(kept.matrix, origin=Origin.READ)


def set_uploaded_directions(new: Directions) -> None:
    """Keep directions from a file; the same ones keep their stated origin."""
    old = uploaded_directions()
    if old is None or old.digest != new.digest:
        st.session_state[_DIRECTIONS] = new


def state_directions_origin(origin: Origin) -> None:
    """Take the person's word on the origin of the directions from a file."""
    own = uploaded_directions()
    if own is not None:
        st.session_state.update({_DIRECTIONS: from_matrix(own.matrix, origin=origin), _STATED_FOR: scenario().data})


class FileNotHereError(InputError):
    """The scenario is about a file that this session does not have."""


def dataset() -> Dataset:
    """Return the scenario's data, or simulated data; raise `FileNotHereError` when another session uploaded it."""
    own = upload()
    if not scenario().is_upload:
        return sample(scenario().data)
    if own is None or not own.is_current:
        raise FileNotHereError("this file is not here. Choose it again on Data & query: a reload or a restart of the "
                               "server forgets it. Links and studies hold your choices, never a record")
    return _simulated(own) if is_simulated() else own.dataset


def dataset_here() -> Dataset | None:
    """Return the same; None where it is not here."""
    try:
        return dataset()
    except InputError:
        return None


def version() -> str:
    """Name everything outside the scenario that results depend on: the data as it is, and directions."""
    directions = uploaded_directions()
    return f"{data_version()} {'' if directions is None else f'{directions.origin} {directions.digest}'}"


def data_version() -> str:
    """Name the data as it is now; the name changes with an upload's columns and ranges."""
    own, simulated = upload(), " simulated" if is_simulated() else ""
    return f"{own.version}{simulated}" if own is not None and own.is_current else scenario().data


def here(*given: object) -> Cache:
    """Return where to keep results: of bundled data for all sessions, of a file for this one."""
    asked = [scenario(), *(getattr(one, "scenario", None) for one in given)]
    private = uploaded_directions() is not None or any(one is not None and one.is_upload for one in asked)
    return of_session() if private else of_server()


def computed_on() -> str:
    """Say where this page's numbers come from."""
    return ON_SIMULATED if is_simulated() else ON_DATA


@cached(2, of_session)
def _simulated(own: Upload) -> Dataset:
    return simulated_data(own.dataset, rng=np.random.default_rng(SEED), graph=own.is_graph)


@cached(6, here, key=lambda: (dataset(), scenario().query, scenario().scale, scenario().neighbours,
                              *scenario().parameters.values()))
def query() -> Query:
    """Return the scenario's query of its data."""
    return ask(scenario(), dataset())


def setup() -> Setup:
    """Return the scenario's design and equal noise; note a look where the person's own records shape the noise."""
    made = _setup(scenario(), dataset(), uploaded_directions())
    shaped = (made.scenario.directions in ("eigenvectors", "private") or made.scenario.bound == "private"
              or made.design.theta_origin is not Origin.DECLARED)
    if made.scenario.is_upload and shaped and not is_simulated():
        note_look(made.scenario.data)
    return made


@cached(40, here)
def _setup(chosen: Scenario, data: Dataset, directions: Directions | None) -> Setup:
    return build(chosen, data, query=query(), uploaded=directions)


@cached(6, here, key=lambda setup: (setup.dataset, setup.query, setup.box, setup.scenario.scale))
def moments(setup: Setup) -> FloatArray | None:
    """Return the data's second moments, where the query has any."""
    return second_moments(setup)
