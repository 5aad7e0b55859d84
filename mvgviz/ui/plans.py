"""The session's plans, one for each data, and the one place where a plan is released.

Until a person touches it a plan follows the sidebar: its question, and one more to show what sharing means. Then its
questions are kept as they are; epsilon and delta follow the sidebar until a part of the plan is released. From there on
its budget and what was released stay, or the total would no longer be the plan's.
"""

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from mvgviz.noise.directions import Directions
from mvgviz.query.dataset import Dataset
from mvgviz.release.release import release_together
from mvgviz.scenario.plan import QuestionPlan, are_equal, build_plan
from mvgviz.scenario.resolve import Setup
from mvgviz.scenario.scenario import Scenario
from mvgviz.ui import session
from mvgviz.ui.cache import cached
from mvgviz.ui.release_desk import bar_of_noise, release_desk

_PLANS = "_plans"
_PARTNERS = {"mean": "covariance", "adjacency": "laplacian", "laplacian": "adjacency"}


@dataclass(frozen=True, kw_only=True)
class HeldPlan:
    """A plan; ``features``: of the data it was made for; ``locked`` and ``released``: positions of questions.

    One that was opened from a study has no features until it is touched: it is about those there are.
    """

    plan: QuestionPlan
    features: tuple[str, ...] | None = None
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


def kept_plan() -> QuestionPlan | None:
    """The person's own plan of questions about the scenario's data, if there is one."""
    held = _plans().get(session.scenario().data)
    return None if held is None else held.plan


def put_plan(data: str, plan: QuestionPlan | None) -> None:
    """A plan that was opened takes the place of the one there was; None forgets it."""
    _plans().pop(data, None)
    if plan is not None:
        _plans()[data] = HeldPlan(plan=plan)


def held_plan() -> HeldPlan | None:
    """The plan for the scenario's data; None where nothing is planned and the sidebar's question cannot be."""
    scenario, features = session.scenario(), session.dataset().features
    held = _plans().get(scenario.data)
    if held is None:
        exact = scenario.guarantee == "exact"
        return HeldPlan(plan=QuestionPlan.of(scenario, _partner(scenario)), features=features) if exact else None
    plan = held.plan
    if held.features not in (None, features):  # positions follow the names
        plan = replace(plan, scenarios=tuple(
            session.carried(question, held.features or (), features) for question in plan.scenarios))
    return replace(held, plan=plan if held.released else plan.with_budget(scenario), features=features)


def keep(held: HeldPlan, **changes: Any) -> None:
    """From now on the plan is the person's own; shares changed after results on their file were shown are marked."""
    new = replace(held, **changes)
    if session.has_looked(new.plan.data) and new.plan.parts != held.plan.parts and not are_equal(new.plan.parts):
        new = replace(new, plan=replace(new.plan, shares_read=True))
    _plans()[new.plan.data] = new


def plan_setups(plan: QuestionPlan) -> tuple[Setup, ...]:
    """The design of every question."""
    return _built(plan, session.dataset(), session.uploaded_directions())


@cached(1, session.here)
def _built(plan: QuestionPlan, data: Dataset, directions: Directions | None) -> tuple[Setup, ...]:
    return build_plan(plan, data, uploaded=directions)


def plan_ticket(held: HeldPlan, chosen: tuple[int, ...]) -> str:
    """Good for one release of these questions of the data and plan as they are now."""
    return release_desk().ticket(session.version(), held.plan.to_json(), chosen)


def release_questions(given: str, chosen: tuple[int, ...], accept: tuple[str, ...], spot: DeltaGenerator) -> None:
    """The button's callback: these questions or none, if the ticket is still good; a refusal is kept as a sentence."""
    desk = release_desk()
    with desk.turn:
        held, plans = held_plan(), _plans()
        if held is None or given != plan_ticket(held, chosen) or not st.session_state.get(f"plan_sure_{given}"):
            return
        desk.refusal = None
        with desk.refusing():
            setups = [plan_setups(held.plan)[k] for k in chosen]
            show = bar_of_noise(setups, spot)
            made = release_together(setups, accept=accept, ledger=desk.ledger, progress=show,
                                    population=desk.population(held.plan.data))
            desk.releases.extend(made)
            plans[held.plan.data] = replace(held, released=held.released | set(chosen))
            if show is not None:
                spot.empty()


def _plans() -> dict[str, HeldPlan]:
    return st.session_state.setdefault(_PLANS, {})  # type: ignore[no-any-return]


def _partner(scenario: Scenario) -> Scenario:
    """Another question of the same records, to begin with; a bound would bias a mean, however many they are."""
    other = scenario.changed(query=_PARTNERS.get(scenario.query, "mean"), mode="auto", bound="none")
    if scenario.kind.is_kernel or scenario.mode == "columns":  # there positions are those of records
        other = other.changed(directions="standard", allocation="uniform")
    return other
