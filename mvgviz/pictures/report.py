"""A report in sentences: Markdown with bold and backslash escapes alone, also as HTML or plain text; names escaped."""

import math
from itertools import islice
from typing import NamedTuple

from mvgviz.data import describe
from mvgviz.design.limits import exact_limit, iid_std, limit_inputs
from mvgviz.design.privacy_loss import spent_mu
from mvgviz.labels import GAPS, GUARANTEES, JUDGED, MODES, REFERENCES, SCALES, SPLITS, TAILS
from mvgviz.noise.accounting import gaussian_epsilon
from mvgviz.noise.families import CHOICES
from mvgviz.pictures import release, sentences
from mvgviz.pictures.bounds import second_name
from mvgviz.pictures.budget import Names
from mvgviz.pictures.error_axis import mean_words
from mvgviz.pictures.sentences import DELTA_IS, bound_words, open_parts, thing
from mvgviz.pictures.trade_off import least_sentence
from mvgviz.pictures.utility import NOT_PRIVATE
from mvgviz.provenance import Origin
from mvgviz.scenario.resolve import CONSTANT_SHARE, Setup, paper_delta
from mvgviz.scenario.tasks import POST
from mvgviz.text import (
    as_number,
    as_probability,
    at_most,
    capitalised,
    delta_caution,
    epsilon_caution,
    in_markdown,
    listed,
)
from mvgviz.trials.problem import split_records
from mvgviz.trials.results import Results

_ORIGINS = {Origin.DECLARED: Origin.DECLARED.words, Origin.READ: "**read from the data, not private**"}
_MOST_RANGES = 30
ON_SIMULATED = ("**Measured on simulated data** with the same ranges and record count. On the real records the error "
               "may be larger or smaller. Directions or shares read from the data, if any, come from simulated data.")
_REFERENCES = (
    "T. Chanyaswad, A. Dytso, H. V. Poor, P. Mittal. MVG mechanism: differential privacy under matrix-valued query. "
    "CCS 2018. (Theorems 1 and 2.)",
    "B. Balle, Y.-X. Wang. Improving the Gaussian mechanism for differential privacy. ICML 2018. (The exact limit.)",
    "J. Dong, A. Roth, W. J. Su. Gaussian differential privacy. Journal of the Royal Statistical Society B, 2022. "
    "(Odds, and several releases.)",
    "C. Dwork, A. Roth. The algorithmic foundations of differential privacy. 2014. (What the guarantee means.)",
    "M. Hardt, K. Talwar. On the geometry of differential privacy. STOC 2010. (Box noise.)")


def data_title(setup: Setup) -> str:
    """Return what the data is called."""
    if setup.scenario.is_upload:
        return setup.dataset.title or f"an uploaded file ({setup.scenario.data})"
    return describe(setup.scenario.data).title


def asked_items(setup: Setup) -> list[tuple[str, str]]:
    """Return what was asked of which data: names and sentences."""
    scenario, query, data = setup.scenario, setup.query, setup.dataset
    length = f", length {scenario.length:g}" if scenario.kind.is_kernel else ""
    items = [("Question", f"{scenario.kind.question}{length}"),
             ("Answer", f"a matrix, {query.rows:,} × {query.cols:,}"), ("Data", in_markdown(data_title(setup)))]
    if query.is_graph:
        items.append(("Vertices", f"{query.rows:,}"))
    else:
        kept = "" if data.records_origin.is_covered else ", **not private**"
        items += [("Number of records", f"{data.n_records:,}{kept}"),
                  ("Features", f"{data.n_features:,}: {listed([in_markdown(name) for name in data.features], 8)}"),
                  ("Ranges", f"{data.ranges_origin.words}; the numbers asked about are {SCALES[scenario.scale]}")]
        if query.bound is not None:
            items.append(("Clipping", f"{bound_words(scenario)}, before anything else"))
    if scenario.is_upload:
        return items
    info = describe(scenario.data)
    care = " Several can belong to one person: protecting one does not protect the person." * info.not_person_level
    return [*items, ("One edge" if query.is_graph else "One record", f"{in_markdown(info.record)}.{care}"),
            ("Source", f"{in_markdown(info.source)}. Licence: {in_markdown(info.licence)}.")]


def references(setup: Setup) -> list[str]:
    """Publications as plain text, at the end that of the data where there is one."""
    citation = "none" if setup.scenario.is_upload else describe(setup.scenario.data).citation
    return [*_REFERENCES, *([] if citation.startswith("none") else [f"{citation}. (The data.)"])]


def range_rows(setup: Setup) -> tuple[list[tuple[str, str, str]], int]:
    """Feature, lowest, highest value as text; and how many more features there are."""
    data = setup.dataset
    names, lowest, highest, _ = release.ranges_table(data).values()
    rows = list(zip(map(in_markdown, names), lowest, highest, strict=True))[:_MOST_RANGES]
    return rows, data.n_features - len(rows)


class WidthTable(NamedTuple):
    """How far released numbers will be from the answer: sentences, a table, how many more features there are."""

    said: list[str]
    heads: list[str]
    rows: list[list[str]]
    more: int


def width_table(setup: Setup) -> WidthTable:
    """Return the intervals that a release of this design will have."""
    widths = release.planned_widths(setup)
    clipped = sentences.clipping_words(setup, name=in_markdown)
    said = list(filter(None, [release.widths_sentence(widths, in_markdown), clipped,
                              release.covers_sentences(widths), least_sentence(setup)]))
    if setup.scenario.directions == "private":
        said.append("A release draws new private directions. Its certificate has the intervals for them.")
    columns = release.with_dates(release.width_columns(widths))
    heads, lines = list(columns), zip(*columns.values(), strict=True)
    rows = [[in_markdown(cell) if isinstance(cell, str) else as_number(cell) for cell in line]
            for line in islice(lines, _MOST_RANGES)]
    return WidthTable(said=said, heads=heads, rows=rows, more=len(widths.names or ()) - len(rows))


def spent_words(setup: Setup) -> str:
    """Epsilon asked and epsilon really spent."""
    most, spent = at_most(setup.design.mu_is), spent_mu(setup.design)
    if setup.design.is_pure:
        return f"**Asked and spent: ε = {setup.scenario.epsilon:g} with δ = 0.**"
    together = "" if not (spent.directions or spent.bound) else (
        f" With the private {'directions' if spent.directions else 'clipping radius'}: {most}ε = "
        f"{as_number(float(gaussian_epsilon(setup.delta, spent.total)))}.")
    return (f"**Asked: ε = {setup.scenario.epsilon:g} at δ = {as_probability(setup.delta)}. Really spent by the noise: "
            f"{most}ε = {as_number(setup.epsilon_spent)}.**{together}")


def promise_sentences(setup: Setup) -> list[str]:
    """Return the guarantee in plain words."""
    epsilon = setup.scenario.epsilon
    digits = epsilon / math.log(10)
    factor = as_number(math.exp(epsilon)) if digits < 300 else f"10 to the power {digits:.0f}"
    added = setup.query.is_graph or setup.scenario.neighbours == "add-remove"
    change = f"add or remove any one {thing(setup)}" if added else (
        f"replace any one {thing(setup)} by any other within the ranges")
    delta = "δ is 0" if setup.design.is_pure else f"plus δ = {as_probability(setup.delta)}"
    return [
        f"**{capitalised(change)}: the chance of any result grows at most e^ε = {factor} times, {delta}.** No "
        f"guess about one {thing(setup)} improves more than that. {epsilon_caution(epsilon, thing(setup))}".rstrip(),
        spent_words(setup),
        f"**These numbers cover the noise only.** Not covered: {listed(open_parts(setup))}." if open_parts(setup) else
        "The guarantee holds whatever an attacker knows, and whatever anyone does with the answer later."]


def assumption_sentences(setup: Setup) -> list[str]:
    """Return what the guarantee rests on, and what it does not cover."""
    scenario, design, data = setup.scenario, setup.design, setup.dataset
    person = (f"{capitalised(sentences.used_of_each(data))}, so the whole person is protected."
              if thing(setup) == "person" else
              f"A person with several {'ties' if setup.query.is_graph else 'records'} is protected less.")
    said = [f"**Neighbours:** {setup.neighbour_rule}. {sentences.neighbour_words(design.neighbour_rule)} {person}"]
    if not setup.query.is_graph:
        said.append("**Ranges:** chosen without looking at the data; values outside were clipped to "
                    "them." if data.ranges_origin.is_covered else
                    f"**Ranges: {data.ranges_origin.value}, not private.** The guarantee does not cover them.")
        if data.gaps:
            said.append(f"**Gaps:** {GAPS[data.gaps]}.")
        if setup.query.bound is not None:
            origin = setup.origins["bound"]
            care = sentences.seen_words(setup, "bound") if origin.is_covered else f"**{origin.words}**"
            said.append(f"**Clipping:** {bound_words(scenario)}, {care}. The answer is about the clipped records: that "
                        "biases means and second moments, however many records there are.")
        said.append("**Number of records:** public, taken as known to everyone." if data.records_origin.is_covered else
                    f"**Number of records: not private.** It depends on the data: {sentences.dropped_words(data)}.")
    tail = "" if scenario.guarantee == "exact" else f", with {TAILS[scenario.tail].in_sentence}"
    trial = " It cannot be drawn exactly, so it is only for trials." * bool(design.family.trials_only)
    paid = (f"released privately on {100 * scenario.private_share:.0f} % of the budget. Those shown here come from a "
            "known seed; a release draws new ones")
    chosen = sentences.chosen_on_data(scenario)
    adds = "the ε of box and Laplace noise add up, " if design.is_pure else ""
    return [*said, _delta_words(setup),
            f"**Noise calibrated** {GUARANTEES[scenario.guarantee].calibrated}{tail}; "
            f"directional over {MODES[design.mode].sides}.",
            *([f"**Family of noise:** {CHOICES[scenario.noise_family].word} noise.{trial}"] if design.blocks else []),
            "**Worst neighbours:** their distance is exact." if design.mu_is == "exact" or design.is_pure else
            "**Worst neighbours:** their distance is an **upper bound**; the noise may spend less.",
            f"**Directions:** {in_markdown(design.directional_side.directions.label)}, "
            f"{_ORIGINS.get(setup.origins['directions'], paid)}.", _split_words(setup),
            *([f"**Chosen after looking at results on the data, not private:** {listed(chosen)}."] if chosen else []),
            f"**One answer.** Each further release of the same records spends more; {adds}the μ of Gaussian noise add "
            "up as squares."]


def _delta_words(setup: Setup) -> str:
    delta, n = setup.delta, setup.dataset.n_records
    counted = "vertices" if setup.query.is_graph else "records"
    source = (f"the smaller of 10⁻⁶ and 1/(100 n), n the number of {counted}" if setup.scenario.delta is None else
              f"one over the number of {counted}, as in the paper" if delta == paper_delta(n) else "as chosen")
    caution = delta_caution(delta, n, thing(setup))
    own = "0 for this noise. Gaussian noise, for comparison, has " if setup.design.is_pure else ""
    return f"**Delta:** {own}{as_probability(delta)}, {source}.{f' **{caution}**' * bool(caution)} It is {DELTA_IS}."


def _split_words(setup: Setup) -> str:
    scenario, kind, joined = setup.scenario, SPLITS[setup.scenario.allocation], setup.query.has_constant
    size = setup.design.theta.size - joined
    priorities = [k for k in scenario.priority_directions if k < size]
    if scenario.allocation in ("binary", "least-error"):
        weighed = scenario.allocation == "least-error" and not joined
        kind = (f"{100 * scenario.share:.0f} % {'of the weight' if weighed else 'of the budget'} for "
                f"{Names(setup).few(priorities)}" if 0 < len(priorities) < size else SPLITS["uniform"])
    if joined:
        kind = f"{100 * CONSTANT_SHARE:.0f} % for the constant; of what is left, {kind}"
    return (f"**Shares of the budget:** {kind}, "
            f"{_ORIGINS.get(setup.origins['split'], 'from the private release of the directions')}.")


def priority_words(setup: Setup) -> str:
    """Return the names of what has priority, with their weights where they differ."""
    names = setup.direction_names if setup.scenario.needs_along == "directions" else setup.query.row_names
    weights = setup.scenario.need_weights
    counts = [f" (weight {part})" for part in setup.scenario.importance] if len(set(weights.values())) > 1 else []
    listing = [(in_markdown(names[k]) if names is not None else f"no. {k + 1}") + (counts[i] if counts else "")
               for i, k in enumerate(weights) if k < setup.query.rows]
    return f"priority: {listed(listing, 8)}" if listing else "no priority column"


def sharing_warnings(setup: Setup, results: Results | None, *, simulated: bool) -> list[str]:
    """Return what in the report was computed on private data; empty where nothing was."""
    looked = {"the errors of the answer were measured on the records themselves":
              results is not None and any(outcome.errors.size for outcome in results.outcomes),
              "the directions shown come from a known seed, which undoes their noise":
                  setup.design.directions_origin is Origin.PAID,
              "the clipping radius comes from a known seed, which undoes its noise; the noise shown depends on it":
                  setup.origins.get("bound") is Origin.PAID}
    return [words for words, holds in looked.items() if holds and not simulated] + open_parts(setup)


def limit_rows(setup: Setup) -> list[tuple[str, str, str, str]]:
    """Return each guarantee's equal noise with the tight sensitivity: deviation, against the exact one, epsilon."""
    query, tail = setup.query, setup.scenario.tail
    problem = limit_inputs(query, epsilon=setup.scenario.epsilon, delta=setup.delta, sensitivity=query.sensitivity)
    exact = iid_std(problem, exact_limit(problem))
    return [(name, as_number(std), as_number(std / exact),
             as_number(float(gaussian_epsilon(problem.delta, problem.sensitivity / std))))
            for name, limit in (("Theorem 1 (general)", problem.theorem1(tail).limit),
                                (second_name(problem), problem.theorem2(tail).limit),
                                ("Exact limit", exact_limit(problem))) for std in [iid_std(problem, limit)]]


def error_rows(setup: Setup, results: Results) -> list[tuple[str, str, str]]:
    """Return each mechanism's mean error, interval and epsilon; then the reference errors."""
    designs = {"mvg": setup.design, "iid": setup.iid}
    rows = []
    for outcome in results.outcomes:
        key = outcome.mechanism.key
        most, spent = at_most(designs[key].mu_is) if key in designs else "", outcome.epsilon_spent
        if key == "mvg" and setup.design.blocks:
            spent = setup.design.epsilon_spent(results.delta)
        error = mean_words(outcome) if outcome.errors.size else in_markdown(outcome.reason or "no trial yet")
        rows.append((in_markdown(outcome.mechanism.label), error,
                     "" if spent is None else f"{most}{as_number(spent)}"))
    return rows + [(label, as_number(value), "") for key, label in REFERENCES.items()
                   for value in [getattr(results.references, key)] if math.isfinite(value)]


def measured_sentences(setup: Setup, results: Results, *, simulated: bool) -> list[str]:
    """Return how the errors were measured, and on which records."""
    task, judged = results.task, results.judged_on
    steps = [words for step, words in POST.items() if step in task.post and step in results.scenario.post]
    some = "" if judged == "everything" else f" Measured on {JUDGED[judged]} alone ({priority_words(setup)})."
    bound = "" if setup.query.bound is None else (
        " Measured against the unclipped records, so the error includes the bias of clipping.")
    said = [ON_SIMULATED if simulated else f"**{NOT_PRIVATE}**", f"Use: {task.label}. Rule: {task.rule}.{some}{bound}",
            f"No-data baseline: {results.references.trivial_is}.",
            f"Free post-processing, after the noise: {'; '.join(steps) or 'none'}."]
    if task.predicts and not setup.query.is_graph:
        learned, rest = split_records(setup.dataset)
        said.append(f"Learned from {learned.n_records:,} records and measured on {rest.n_records:,} held out, "
                    f"at δ = {as_probability(results.delta)}.")
    return said if results.complete else [*said, "**Some trials did not finish.**"]
