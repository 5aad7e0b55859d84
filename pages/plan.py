"""Several questions: divide one budget over several answers, and release them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import streamlit as st

from mvgviz.errors import InputError, refuse
from mvgviz.noise.accounting import zcdp_rho
from mvgviz.noise.families import CHOICES
from mvgviz.pictures import plan as words
from mvgviz.pictures.sentences import clipping_words, open_parts
from mvgviz.pictures.strip import error_fact
from mvgviz.provenance import weakest
from mvgviz.release.release import plan_together
from mvgviz.scenario import plan as plans
from mvgviz.scenario.own_units import product_unit, unit_of
from mvgviz.scenario.plan import QuestionNoise, QuestionPlan
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_number, at_delta, in_markdown, listed, spreadsheet_cell
from mvgviz.ui import session
from mvgviz.ui.frame import chart, offer_file, open_page, show_error, show_table
from mvgviz.ui.menu import PLAN, RELEASE
from mvgviz.ui.plans import HeldPlan, held_plan, keep, plan_setups, plan_ticket, put_plan, release_questions
from mvgviz.ui.release_controls import draw_go, draw_population
from mvgviz.ui.release_desk import release_desk
from mvgviz.ui.visitors import choose_file

_FILE, _REFUSED = "plan_file", "_plan_refused"
_ALL = -1


def draw_questions(held: HeldPlan, names: Sequence[str]) -> None:
    plan = held.plan
    for k, (share, name) in enumerate(zip(plan.shares, names, strict=True)):
        out = k in held.released
        label = f"{in_markdown(name)}{' · released' if out else ''}"
        name_place, family = st.columns([2, 1], vertical_alignment="center")
        name_place.markdown(label)  # a slider's own label fades with it
        asked = plan.scenarios[k]
        fitting = {one: CHOICES[one].title for one in plans.PLANNED if not asked.changed(family=one).is_idle("family")}
        if len(fitting) > 1:
            family.selectbox(f"Noise of {label}", fitting, format_func=fitting.__getitem__, **session.control(
                f"plan_family_{k}", asked.noise_family, partial(_change_family, held, k)),
                             label_visibility="collapsed", disabled=bool(held.released))
        slider, tools = st.columns([3, 2], vertical_alignment="bottom")
        slider.slider(label, 0.1, 99.9, step=0.1, format="%.1f%%", label_visibility="collapsed",
                      disabled=k in held.fixed or len(plan) == 1, **session.control(
                          f"plan_share_{k}", min(max(round(100 * share, 1), 0.1), 99.9), partial(_move, held, k)))
        with tools, st.container(horizontal=True, vertical_alignment="center"):
            st.checkbox(":material/lock:", disabled=out or held.is_final, width="content",
                        help="Keep this share when another moves. All sum to 100 %.",
                        **session.control(f"plan_lock_{k}", k in held.fixed, partial(_lock, held, k)))
            st.button(":material/delete:", key=f"plan_remove_{k}", type="tertiary",
                      disabled=out or held.is_final or len(plan) == 1, on_click=_remove, args=(held, k),
                      help=f"Take {in_markdown(name)} out of the plan")


def draw_changes(held: HeldPlan, noise: Sequence[QuestionNoise], setups: Sequence[Setup], current: str) -> None:
    exact, full = session.scenario().guarantee == "exact", len(held.plan) >= plans.MOST_QUESTIONS
    with st.container(horizontal=True):
        st.button("Add the sidebar's question", key="plan_add", icon=":material/add:", on_click=_add, args=(held,),
                  disabled=not exact or full or held.is_final, help=f"Now: {in_markdown(current)}")
        for key, label, weights in (
                ("equal", "Equal shares", lambda: [1.0] * len(held.plan)),
                ("same", "Same noise", lambda: plans.same_noise(noise, held.fixed)),
                ("least", "Least noise in all", lambda: plans.least_noise(noise, locked=held.fixed))):
            st.button(label, key=f"plan_{key}", on_click=_share, args=(held, weights, () if key == "equal" else setups),
                      type="tertiary", disabled=key != "equal" and not noise)
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.popover("Plan as a file", icon=":material/description:"):
            offer_file("Plan as JSON", "plan.json", "application/json", held.plan.to_json, key="plan_json")
            choose_file("Open a plan (JSON, as downloaded here)", type="json", max_upload_size=1, key=_FILE,
                        on_change=_take)
            st.caption("The file holds your choices, never your data.")
        st.button("Start over", key="plan_anew", type="tertiary", on_click=put_plan,
                  args=(session.scenario().data, None), help="Forget this plan. Releases stay in the ledger.")
    if not exact:
        draw_only_exact()
    elif session.scenario().noise_family not in plans.PLANNED:
        st.caption("A plan takes Gaussian, box and Laplace noise: the sidebar's question gets Gaussian noise in it.")
    if held.released:
        st.caption(":material/lock: A part of this plan is released, so its budget stays "
                   f"ε = {held.plan.epsilon:g}{', its shares too' * held.is_final}.")
    if (refused := st.session_state.pop(_REFUSED, None)) is not None:
        show_error(refused)


def draw_only_exact() -> None:
    st.info(words.ONLY_EXACT)
    st.button("Use the exact guarantee", key="plan_exact", on_click=session.update, kwargs={"guarantee": "exact"})


def draw_noise(plan: QuestionPlan, noise: Sequence[QuestionNoise], setups: Sequence[Setup], names: Sequence[str]
               ) -> None:
    care = any(open_parts(setup) for setup in setups)
    rows: list[dict[str, object]] = [{
        "question": spreadsheet_cell(name), "share": f"{100 * question.share:.2f} %", "μ": question.mu or None,
        "ρ": zcdp_rho(question.mu) or None, "ε of its part": question.epsilon,
        "typical error": spreadsheet_cell(error_fact(setup).text),
        "least noise": _at(question.least, setup), "most noise": _at(question.most, setup),
        **({"not covered": listed(open_parts(setup))} if care else {})}
        for name, question, setup in zip(names, noise, setups, strict=True)]
    show_table(rows, numbers=("μ", "ρ", "ε of its part"), key="plan_table")
    st.caption(f"{words.total_words(noise)} Typical error: on priority columns, if there are any.")
    for name, setup in zip(names, setups, strict=True):
        if clipped := clipping_words(setup, name=in_markdown):
            st.caption(f"**{in_markdown(name)}.** {clipped}")


def _pair(names: Sequence[str]) -> tuple[int, int]:
    if len(names) == 2:
        return 0, 1
    left, right = st.columns(2)
    first = left.selectbox("Noise across", range(len(names)), format_func=names.__getitem__,
                           key=f"plan_first_{len(names)}")
    others = [k for k in range(len(names)) if k != first]
    second = right.selectbox("Noise up", others, format_func=names.__getitem__, key=f"plan_second_{len(names)}_{first}")
    return first, second


def _at(feature: tuple[str, float], setup: Setup) -> str:
    name, std = feature
    known = setup.query.degree and name in setup.dataset.features
    unit = unit_of(setup, setup.dataset.features.index(name)) if known else ""
    unit = product_unit(unit, unit) if setup.query.degree == 2 else unit
    return spreadsheet_cell(f"{name}: {as_number(std)} {unit}".rstrip())


def _move(held: HeldPlan, k: int, percent: float) -> None:
    keep(held, plan=held.plan.moved(k, percent / 100, locked=held.fixed))


def _lock(held: HeldPlan, k: int, on: bool) -> None:
    keep(held, locked=held.locked | {k} if on else held.locked - {k})


def _change_family(held: HeldPlan, k: int, family: str) -> None:
    plan = held.plan.with_family(k, family)
    marked = plan.scenarios[k].chosen_on_data(family=plan.scenarios[k].family)
    looked = session.has_looked(plan.data)
    keep(held, plan=replace(plan, scenarios=(*plan.scenarios[:k], marked, *plan.scenarios[k + 1:])) if looked else plan)


def _remove(held: HeldPlan, k: int) -> None:
    with _refusing():
        keep(held, plan=held.plan.removed(k, locked=held.fixed), locked=plans.without(held.locked, k),
             released=plans.without(held.released, k))


def _add(held: HeldPlan) -> None:
    with _refusing():
        plan = held.plan.added(session.scenario(), locked=held.fixed)
        refuse(held.released and any(plan.pure), "a part of this plan is released, so only questions with Gaussian "
               "noise can join it; choose Gaussian noise, or start over")
        keep(held, plan=plan)


def _share(held: HeldPlan, weights: Callable[[], Sequence[float]], seen: Sequence[Setup]) -> None:
    """Divide by a rule; mark the shares where the rule used noise that was read from the data."""
    read = not all(weakest(setup.looked_at.values()).is_covered for setup in seen)
    keep(held, plan=held.plan.shared(weights(), locked=held.fixed, read=read))


def _take() -> None:
    if (chosen := st.session_state.get(_FILE)) is None:
        return
    with _refusing():
        plan, own = QuestionPlan.from_json(chosen.getvalue()), session.scenario()
        refuse(plan.data != own.data, f"the plan is about {plan.data}, not {own.data}; choose that data first")
        put_plan(plan.data, plan, session.dataset().features)
        session.put(session.marked(plans.under_budget_of(plan.scenarios[0], own)))


@contextmanager
def _refusing() -> Iterator[None]:
    """Keep a refusal for the next run."""
    try:
        yield
    except InputError as error:
        st.session_state[_REFUSED] = error


def draw_plan_release(held: HeldPlan, setups: Sequence[Setup], names: Sequence[str]) -> None:
    st.markdown("#### Release")
    if held.released:
        st.caption(f":material/check: Released: {in_markdown(listed([names[k] for k in sorted(held.released)]))}.")
        st.page_link(RELEASE.path, label="The noisy answers and the ledger", icon=RELEASE.icon)
    if not held.waiting:
        return
    options = [_ALL, *held.waiting] if len(held.waiting) > 1 else list(held.waiting)
    all_words = f"{'All that is left' if held.released else 'The whole plan'}, {len(held.waiting)} answers at once"
    one = st.selectbox("What to release now", options, key=f"plan_which_{len(held.plan)}_{len(held.released)}",
                       format_func=lambda k: all_words if k == _ALL else names[k])
    chosen, desk = held.waiting if one == _ALL else (one,), release_desk()
    planned = plan_together([setups[k] for k in chosen])
    try:
        named = draw_population(held.plan.data)
        totals = desk.totals(held.plan.data, planned)
    except InputError as error:  # of the ledger
        show_error(error)
        return
    st.caption(words.ledger_words(totals, questions=len(chosen), lasts=desk.ledger.lasts)
               + words.two_pots(planned.delta, planned.epsilon_pure, planned.mu))
    draw_go("Release once" if len(chosen) == 1 else f"Release all {len(chosen)} at once", release_questions,
            [setups[k].scenario for k in chosen], key="plan", now=plan_ticket(held, chosen), planned=planned,
            spends=f"ε = {as_number(planned.epsilon)} {at_delta(planned.delta, pure=not planned.mu)}", named=named,
            chosen=chosen)


def draw_plan(setup: Setup, held: HeldPlan) -> None:
    plan, data = held.plan, setup.dataset
    names = [f"{k + 1}: {words.question_name(asked, data.features)}" for k, asked in enumerate(plan.scenarios)]
    setups: Sequence[Setup] = ()
    noise: Sequence[QuestionNoise] = ()
    try:
        setups = plan_setups(plan)
        noise = plans.plan_noise(plan, setups)
    except InputError as error:
        show_error(error)
    if noise:
        st.markdown(words.plan_words(plan, noise, setups[0].delta))
    left, right = st.columns([2, 3], gap="large")
    with left:
        draw_questions(held, names)
        draw_changes(held, noise, setups, words.question_name(setup.scenario, data.features))
    if noise:
        with right:
            if len(plan) < 2:
                st.info("Add a second question to see what it takes from the first.", icon=":material/call_split:")
            else:
                chart(words.pair_picture(plan, noise, _pair(words.short_names(plan))), key="plan_pair")
        draw_noise(plan, noise, setups, names)
        draw_plan_release(held, setups, names)


setup, held = open_page(PLAN), held_plan()
if held is None:
    draw_only_exact()
else:
    draw_plan(setup, held)
