"""The advisor's part of the page Compare: what was tried, what is first and why, and a click to load any of it."""

import math
import zlib

import numpy as np
import streamlit as st

from mvgviz.figures.compare.ranking import plot_ranked
from mvgviz.figures.shared.error_axis import reference_items
from mvgviz.labels import TRIED_ON
from mvgviz.provenance import Origin, weakest
from mvgviz.query.dataset import Dataset
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_number, capitalised, in_markdown
from mvgviz.trials.advisor import FIRST_ROUND, Advice, Row, advise
from mvgviz.trials.candidates import SEARCHED, forgets_directions
from mvgviz.trials.stand_in import SEED, stand_in
from mvgviz.trials.tasks import TASKS
from mvgviz.ui import session
from mvgviz.ui.frame import chart, show_table
from mvgviz.ui.slices import Slice, begin, show_progress, trial_cache
from mvgviz.words import advice as words
from mvgviz.words.designs import design_words

BUTTONS, _MOST_KEPT = 5, 100
_CHOSEN, _ADVICE = "_compare_other", "_compare_advice"


def draw_advisor(setup: Setup, sensitivity: str, s2_words: str) -> None:
    """The designs tried for the task and budget, ranked."""
    left, right = st.columns([2, 3], gap="medium", vertical_alignment="bottom")
    with left:
        chosen = st.segmented_control("Choose on", list(TRIED_ON), default="stand-in", required=True,
                                      key="compare_place", format_func=TRIED_ON.__getitem__,
                                      help="What the trials of the advisor run on.")
    simulated, ranges = chosen != "data", setup.dataset.ranges_origin
    care = "" if ranges.is_covered else f" The ranges, however, are {ranges.words}."
    right.caption(words.ON_STAND_IN + care if simulated else words.ON_DATA)
    work = begin("compare_advisor", setup.scenario.to_json(), sensitivity, chosen)
    advice = _advice(setup, work, sensitivity, simulated=simulated)
    names = setup.dataset.features
    if not advice.rows:
        for line in words.dropped_words(advice):
            st.info(in_markdown(capitalised(line)) + ".", icon=":material/block:")
        show_progress(work, complete=advice.complete)
        return
    left, right = st.columns([3, 2], gap="medium")
    with left:
        references = [] if advice.references is None else reference_items(advice.references)
        task = TASKS[setup.scenario.task]
        chart(plot_ranked(words.advice_marks(advice, names), references,
                          title=task.metric if advice.references is None else task.metric_in(advice.references)),
              in_markdown(words.places(advice)), key="compare_advice")
    with right:
        slot = st.container()
        sentences = words.why(advice, names)
        if sentences is not None:
            so_far = "" if advice.complete else "*So far.* "
            st.markdown(f"{so_far}**{in_markdown(sentences[0])}** {in_markdown(sentences[1])}")
        origin = weakest([ranges, setup.dataset.records_origin]) if simulated else Origin.READ
        _draw_loading(advice, names, origin)
    st.caption(_tried_words(advice, s2_words))
    _draw_table(advice, names)
    with slot:
        show_progress(work, complete=advice.complete)


def _advice(setup: Setup, work: Slice, sensitivity: str, *, simulated: bool) -> Advice:
    """The advice as far as this slice comes; a finished one is kept."""
    key = f"{session.version()} {simulated} {sensitivity} {setup.scenario.to_json()}"
    kept: dict[str, Advice] = st.session_state.setdefault(_ADVICE, {})
    if key in kept:
        return kept[key]
    dataset = _stand_in(setup.dataset, setup.scenario.is_graph) if simulated else setup.dataset
    with work.turn(trial_cache(simulated=simulated)) as options:
        advice = advise(setup.scenario, dataset, sensitivity=sensitivity, uploaded=session.uploaded_directions(),
                        **options)
    if advice.complete:
        kept[key] = advice
        while len(kept) > _MOST_KEPT:
            del kept[next(iter(kept))]
    return advice


@session.remembered(2, session.data_version)
def _stand_in(dataset: Dataset, graph: bool) -> Dataset:
    return stand_in(dataset, rng=np.random.default_rng(SEED), graph=graph)


def _draw_loading(advice: Advice, names: tuple[str, ...], origin: Origin) -> None:
    """A button for each of the best, and any other one by name; ``origin``: of a choice made here."""
    st.caption("Load a design into the scenario with one click:" if origin.is_covered else words.LOADED_ON_DATA)
    if any(forgets_directions(row.candidate, session.scenario()) for row in advice.rows if _can_load(row)):
        st.caption(words.FORGETS_DIRECTIONS)
    rows = {place: row for place, row in enumerate(advice.rows, start=1) if math.isfinite(row.outcome.mean)}
    best = advice.kinds[:BUTTONS]
    kinds = [(place, row) for place, row in rows.items() if row in best]
    with st.container(gap="xsmall"):
        for at, (place, row) in enumerate(kinds):
            own, error = " (this design)" * row.candidate.is_current, in_markdown(as_number(row.outcome.mean))
            st.button(f"{place}\\. {in_markdown(str(design_words(row.candidate, names)))}: {error}{own}",
                      key=f"compare_load_{at}", on_click=_load, args=(row, origin), disabled=not _can_load(row),
                      help=_loading_help(row), width="stretch")
    rest = [(place, row) for place, row in rows.items() if (place, row) not in kinds]
    if rest:
        chosen = rest[_any_other([f"{place}. {design_words(row.candidate, names)}: {as_number(row.outcome.mean)}"
                                  for place, row in rest], [row for _, row in rest])][1]
        st.button("Load it", key="compare_load_other", on_click=_load, args=(chosen, origin),
                  disabled=not _can_load(chosen), help=_loading_help(chosen))


def _loading_help(row: Row) -> str | None:
    """What loading a design asks for, or changes besides the design."""
    if not row.candidate.is_whole:
        return words.ONLY_THE_NEEDED
    return words.FORGETS_DIRECTIONS if forgets_directions(row.candidate, session.scenario()) else None


def _can_load(row: Row) -> bool:
    return row.candidate.is_whole and not row.candidate.is_current


def _any_other(labels: list[str], rest: list[Row]) -> int:
    """The position chosen among the others; the design chosen before stays chosen where it stands now."""
    before = st.session_state.get(_CHOSEN)
    index = next((k for k, row in enumerate(rest) if row.candidate.scenario == before), 0)
    # A list with other entries is another control: the browser would go on showing an entry of the old one.
    key = f"compare_other_{zlib.crc32(chr(10).join(labels).encode()):08x}"
    chosen: int = st.selectbox("Any other", range(len(rest)), index=index, key=key, format_func=labels.__getitem__,
                               on_change=lambda: st.session_state.update(
                                   {_CHOSEN: rest[st.session_state[key]].candidate.scenario}))
    return chosen


def _load(row: Row, origin: Origin) -> None:
    """Every field that the advisor searches: what it leaves as it is, it has chosen too."""
    session.choose(origin, **{name: getattr(row.candidate.scenario, name) for name in SEARCHED})


def _tried_words(advice: Advice, s2_words: str) -> str:
    first = min(FIRST_ROUND, advice.trials)
    rounds = f"{first:,} trials each" + (f", the best {advice.trials:,}" if advice.trials > first else "")
    dropped = " ".join(f"{in_markdown(line)}." for line in words.dropped_words(advice))
    return f"{len(advice.rows)} designs tried, {rounds}; all with {s2_words}. {dropped}"


def _draw_table(advice: Advice, names: tuple[str, ...]) -> None:
    with st.expander("All designs tried", icon=":material/table:"):
        lines = []
        for at, row in enumerate(advice.rows):
            text = design_words(row.candidate, names)
            low, high = row.outcome.interval
            lines.append({"place": at + 1, "query": text.query, "guarantee": text.guarantee, "bound": text.bound,
                          "split": text.split, "use": text.use,
                          "mean error": row.outcome.mean, "95 % from": low, "95 % to": high,
                          "epsilon really spent": row.outcome.epsilon_spent, "trials": row.outcome.errors.size,
                          "this design": row.candidate.is_current})
        show_table(lines, numbers=("mean error", "95 % from", "95 % to", "epsilon really spent"), key="compare_designs")
