"""The session's plans, one for each data, and the one place where a plan is released.

Until a person touches it a plan follows the sidebar: its question, and one more to show what sharing means. Then its
questions are kept as they are; epsilon and delta follow the sidebar until a part of the plan is released. From there on
its budget and what was released stay, or the total would no longer be the plan's.
"""

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from mvgviz.errors import InputError
from mvgviz.noise.directions import Directions
from mvgviz.query.dataset import Dataset
from mvgviz.release.release import release_together
from mvgviz.scenario.plan import QuestionPlan, are_equal, build_plan
from mvgviz.scenario.resolve import Setup
from mvgviz.scenario.scenario import Scenario
from mvgviz.ui import session
from mvgviz.ui.cache import cached
from mvgviz.ui.progress import show_progress
from mvgviz.ui.session_releases import session_releases

_DRAWING, _LONG = "Drawing the noise …", 20_000
_PARTNERS = {"mean": "covariance", "adjacency": "laplacian", "laplacian": "adjacency"}


@dataclass(frozen=True, kw_only=True)
class HeldPlan:
    """A plan; ``features``: of the data it was made for; ``locked`` and ``released``: positions of questions."""

    plan: QuestionPlan
    features: tuple[str, ...]
    locked: frozenset[int] = frozenset()
    released: frozenset[int] = frozenset()

    @property
    def fixed(self) -> frozenset[int]:
        """Questions whose share must not move."""
        return self.locked | self.released

    @property
    def waiting(self) -> tuple[int, ...]:
        """Questions that are not released."""
        return tuple(k for k in range(len(self.plan)) if k not in self.released)


def held_plan() -> HeldPlan | None:
    """The plan for the scenario's data; None where nothing is planned and the sidebar's question cannot be."""
    scenario, features = session.scenario(), session.dataset().features
    held: HeldPlan | None = _plans().get(scenario.data)
    opened = session.opened_plan()
    if held is None and opened is not None:
        held = HeldPlan(plan=opened, features=features)
    if held is None and scenario.guarantee != "exact":
        return None
    if held is None:
        return HeldPlan(plan=QuestionPlan.of(scenario, _partner(scenario)), features=features)
    if held.features != features:  # positions follow the names
        asked = tuple(session.carried(question, held.features, features) for question in held.plan.scenarios)
        held = replace(held, plan=replace(held.plan, scenarios=asked), features=features)
    return held if held.released else replace(held, plan=held.plan.with_budget(scenario))


def keep(held: HeldPlan, **changes: Any) -> None:
    """From now on the plan is the person's own; shares changed after results on their file were shown are marked."""
    new = replace(held, **changes)
    if session.has_looked(new.plan.data) and new.plan.parts != held.plan.parts and not are_equal(new.plan.parts):
        new = replace(new, plan=replace(new.plan, shares_read=True))
    _plans()[new.plan.data] = new


def start_anew() -> None:
    """Forget the plan for the scenario's data; what was released stays in the ledger."""
    session.put_plan(session.scenario().data, None)


def plan_setups(plan: QuestionPlan) -> tuple[Setup, ...]:
    """The design of every question."""
    return _built(plan, session.dataset(), session.uploaded_directions())


@cached(1, session.here)
def _built(plan: QuestionPlan, data: Dataset, directions: Directions | None) -> tuple[Setup, ...]:
    return build_plan(plan, data, uploaded=directions)


def plan_ticket(held: HeldPlan, chosen: tuple[int, ...]) -> str:
    """Good for one release of these questions of the data and plan as they are now."""
    desk = session_releases()
    text = f"{len(desk.releases)} {session.version()} {held.plan.to_json()} {chosen}"
    return hashlib.blake2b(text.encode(), key=desk.key, digest_size=8).hexdigest()


def release_questions(given: str, chosen: tuple[int, ...], accept: tuple[str, ...], spot: DeltaGenerator) -> None:
    """The button's callback: these questions or none, if the ticket is still good; a refusal is kept as a sentence."""
    desk = session_releases()
    with desk.turn:
        held, plans = held_plan(), _plans()
        if held is None or given != plan_ticket(held, chosen) or not st.session_state.get(f"plan_sure_{given}"):
            return
        desk.refusal = None
        try:
            setups, show = [plan_setups(held.plan)[k] for k in chosen], None
            if sum(setup.design.rows * setup.design.cols for setup in setups) > _LONG:
                show = show_progress(spot.progress(0.0, _DRAWING), _DRAWING)
            made = release_together(setups, accept=accept, ledger=desk.ledger, progress=show,
                                    population=desk.population(held.plan.data))
            desk.releases.extend(made)
            plans[held.plan.data] = replace(held, released=held.released | set(chosen))
            if show is not None:
                spot.empty()
        except InputError as error:
            desk.refusal = error


def _plans() -> dict[str, HeldPlan]:
    return st.session_state.setdefault(session.PLANS, {})  # type: ignore[no-any-return]


def _partner(scenario: Scenario) -> Scenario:
    """Another question of the same records, to begin with; a bound would bias a mean, however many they are."""
    other = scenario.changed(query=_PARTNERS.get(scenario.query, "mean"), mode="auto", bound="none")
    if scenario.kind.is_kernel or scenario.mode == "columns":  # there positions are those of records
        other = other.changed(directions="standard", allocation="uniform")
    return other
