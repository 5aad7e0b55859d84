"""Keep the session's plans, one for each data, and release them.

An untouched plan holds the sidebar's question and one more. A touched plan keeps its questions; its epsilon and delta
follow the sidebar until a part is released. Then its budget stays, so that the total holds.
"""

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from mvgviz.release.release import release_together
from mvgviz.scenario.plan import QuestionPlan, are_equal, build_plan
from mvgviz.scenario.resolve import Setup
from mvgviz.scenario.scenario import Scenario
from mvgviz.ui import session
from mvgviz.ui.cache import cached
from mvgviz.ui.release_desk import bar_of_noise, release_desk
from mvgviz.ui.visitors import refuse_release

_PLANS = "_plans"
_PARTNERS = {"mean": "covariance", "adjacency": "laplacian", "laplacian": "adjacency"}


@dataclass(frozen=True, kw_only=True)
class HeldPlan:
    """A plan; ``features``: of its data, None after opening a study; ``locked`` and ``released``: positions."""

    plan: QuestionPlan
    features: tuple[str, ...] | None = None
    locked: frozenset[int] = frozenset()
    released: frozenset[int] = frozenset()

    @property
    def is_final(self) -> bool:
        """Return whether nothing may change: box or Laplace noise is counted in advance, with all shares."""
        return bool(self.released) and any(self.plan.pure)

    @property
    def fixed(self) -> frozenset[int]:
        return frozenset(range(len(self.plan))) if self.is_final else self.locked | self.released

    @property
    def waiting(self) -> tuple[int, ...]:
        return tuple(k for k in range(len(self.plan)) if k not in self.released)


def kept_plan() -> QuestionPlan | None:
    """Return the person's plan for the scenario's data, if any."""
    held = _plans().get(session.scenario().data)
    return None if held is None else held.plan


def put_plan(data: str, plan: QuestionPlan | None, features: tuple[str, ...] | None = None) -> None:
    """Replace the plan by an opened one, marked as choices are; None forgets it."""
    _plans().pop(data, None)
    if plan is not None:
        read = plan.shares_read or (session.has_looked(data) and not are_equal(plan.parts))
        _plans()[data] = HeldPlan(features=features, plan=replace(
            plan, scenarios=tuple(map(session.marked, plan.scenarios)), shares_read=read))


def held_plan() -> HeldPlan | None:
    """Return the plan for the scenario's data; None without one where the sidebar's question does not fit."""
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
    """Keep a changed plan; mark shares changed after results on the person's file were shown."""
    new = replace(held, **changes)
    if session.has_looked(new.plan.data) and new.plan.parts != held.plan.parts and not are_equal(new.plan.parts):
        new = replace(new, plan=replace(new.plan, shares_read=True))
    _plans()[new.plan.data] = new


@cached(1, session.here, key=lambda plan: (plan, session.dataset(), session.uploaded_directions()))
def plan_setups(plan: QuestionPlan) -> tuple[Setup, ...]:
    """Return the design of every question."""
    return build_plan(plan, session.dataset(), uploaded=session.uploaded_directions())


def plan_ticket(held: HeldPlan, chosen: tuple[int, ...]) -> str:
    """Return a ticket for one release of these questions of the data and plan as they are now."""
    return release_desk().ticket(session.version(), held.plan.to_json(), chosen)


def release_questions(given: str, chosen: tuple[int, ...], accept: tuple[str, ...], spot: DeltaGenerator) -> None:
    """Release all these questions or none, if the ticket is still good; keep a refusal for the page."""
    desk = release_desk()
    with desk.turn:
        held = held_plan()
        if held is None or given != plan_ticket(held, chosen) or not st.session_state.get(f"plan_sure_{given}"):
            return
        with desk.refusing():
            refuse_release()
            setups = [plan_setups(held.plan)[k] for k in chosen]
            desk.releases.extend(release_together(
                setups, accept=accept, ledger=desk.ledger, progress=bar_of_noise(setups, spot),
                population=desk.population(held.plan.data)))
            _plans()[held.plan.data] = replace(held, released=held.released | set(chosen))


def _plans() -> dict[str, HeldPlan]:
    return st.session_state.setdefault(_PLANS, {})  # type: ignore[no-any-return]


def _partner(scenario: Scenario) -> Scenario:
    """Return another question of the same records; clipping would bias a mean, however many they are."""
    other = scenario.changed(query=_PARTNERS.get(scenario.query, "mean"), mode="auto", bound="none")
    if scenario.kind.is_kernel or scenario.mode == "columns":  # there positions are those of records
        other = other.changed(directions="standard", allocation="uniform")
    return other
