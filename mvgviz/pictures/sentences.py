"""Sentences that several pictures and pages say: glossary, neighbours, designs, origins, clipping."""

import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mvgviz.labels import ALLOCATIONS, BOUNDS, DIRECTIONS, GUARANTEES
from mvgviz.noise.families import CHOICES
from mvgviz.provenance import Origin, Range, weakest
from mvgviz.query.dataset import Dataset
from mvgviz.query.queries import REPLACED_RECORD, Query
from mvgviz.release.answer import Release
from mvgviz.release.ledger import CAVEATS
from mvgviz.scenario.bound import clipping_of
from mvgviz.scenario.own_units import units_of_noise
from mvgviz.scenario.resolve import Setup
from mvgviz.scenario.scenario import Scenario
from mvgviz.text import as_number, listed
from mvgviz.trials.candidates import Candidate
from mvgviz.validation import FloatArray


@dataclass(frozen=True, kw_only=True)
class Word:
    """``behind``: what the literature calls it; ``forms``: how else it is written here."""

    term: str
    plain: str
    behind: str = ""
    forms: tuple[str, ...] = ()

    def is_in(self, text: str) -> bool:
        lowered = text.lower()
        return any(form.lower() in lowered and re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text, re.IGNORECASE)
                   for form in (self.term, *self.forms))

    @property
    def sentence(self) -> str:
        return f"**{self.term}:** {self.plain}{f' (In the literature: {self.behind}.)' if self.behind else ''}"


def _entries(file: str, key: str) -> list[dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_name(file).read_text(encoding="utf-8"))[key]  # type: ignore[no-any-return]


WORDS = tuple(Word(**entry | {"forms": tuple(entry.get("forms", ()))}) for entry in _entries("glossary.toml", "word"))


def others_words() -> str:
    """Return what others chose for epsilon, whom that protects and the source, a line each."""
    return "\n".join(f"* ε = {use['epsilon']:g}: {use['who']} ({use['protects']}; {use['source']})"
                     for use in _entries("others.toml", "use"))


def meaning(term: str) -> str:
    """Return an entry's plain sentence as a part of another sentence."""
    plain = next(word.plain for word in WORDS if word.term == term)
    return f"{plain[0].lower()}{plain[1:-1]}"


DELTA_IS = meaning("delta (δ)")


def words_in(text: str) -> list[Word]:
    """Return the entries that a text uses, in the glossary's order."""
    return [word for word in WORDS if word.is_in(text)]


EMPTY_PLACE = ("One dataset has a record that the other lacks. A missing record counts as the middle of every range "
               "(as nothing in second moments and counts). The largest number of records is public.")


def neighbour_words(rule: str, record: str = "record") -> str:
    """Say which two datasets the promise is about."""
    if rule == REPLACED_RECORD:
        return f"Neighbours have equally many {record}s. One {record} is replaced by any other within the ranges."
    more = f" {EMPTY_PLACE}" if rule.endswith("removed") and "record" in rule else (
        " The number of records of each person is not hidden." * rule.endswith("replaced"))
    return f"Neighbours differ by {rule}.{more}"


def span_words(values: FloatArray, said: Callable[[float], str] = as_number) -> str:
    """"0.3", or "0.3 to 0.5" where they read apart."""
    return " to ".join(dict.fromkeys(said(float(end)) for end in (values.min(), values.max())))


class DesignWords(NamedTuple):
    """Query, calibration, clipping, split and use of the answer, each empty where there is nothing to say."""

    query: str
    guarantee: str
    bound: str
    split: str
    use: str

    def __str__(self) -> str:
        return ", ".join(filter(None, self))


def design_words(candidate: Candidate, names: Sequence[str]) -> DesignWords:
    """Name a design; ``names``: of the features."""
    scenario, bound = candidate.scenario, ""
    split = split_words(scenario, names)
    if not candidate.is_whole:
        turned = DIRECTIONS[scenario.directions][1].format(angle=scenario.angle)
        split = (f"only {_named(scenario.needs, names)}" if scenario.needs_along == "features" else
                 f"{turned}, only {_priority_words(scenario, names)}")
    elif scenario.bound != "none" and not scenario.is_graph:
        round_one = scenario.kind.is_kernel or (scenario.directions == "standard" and _is_equal(scenario, names))
        bound = ("round bound" if round_one else "ellipse") + {
            "own": f" × {scenario.radius:g}", "private": ", length found privately"}.get(scenario.bound, "")
    return DesignWords(scenario.kind.title, noise_words(scenario), bound,
                       split + " (not private)" * (not candidate.private),
                       "without noise correction" * ("aware" in scenario.use.post and "aware" not in scenario.post))


def noise_words(scenario: Scenario) -> str:
    """Name the noise in a list of designs: Gaussian noise by its guarantee, other noise by its family."""
    family = CHOICES[scenario.noise_family]
    return GUARANTEES[scenario.guarantee].name if family.spends_mu else f"{family.word} noise"


def _is_equal(scenario: Scenario, names: Sequence[str]) -> bool:
    if scenario.allocation in ("binary", "least-error"):
        some = [k for k in scenario.priority_directions if scenario.kind.is_kernel or k < len(names)]
        return not 0 < len(some) < (math.inf if scenario.kind.is_kernel else len(names))
    return scenario.allocation == "uniform"


def split_words(scenario: Scenario, names: Sequence[str]) -> str:
    """Say how a scenario turns and divides its noise; ``names``: of the features."""
    turned = DIRECTIONS[scenario.directions][1].format(angle=scenario.angle)
    what = ALLOCATIONS["uniform" if _is_equal(scenario, names) else scenario.allocation].design
    what = what.format(percent=100 * scenario.share, priority_directions=_priority_words(scenario, names))
    return ", ".join(filter(None, [turned, what]))


def _priority_words(scenario: Scenario, names: Sequence[str]) -> str:
    if scenario.directions in ("private", "eigenvectors"):
        k = len(scenario.priority_directions)
        return "the strongest" if k == 1 else f"the {k} strongest"
    known = scenario.directions == "standard" and not scenario.kind.is_kernel
    return _named(scenario.priority_directions, names if known else ())


def _named(positions: Sequence[int], names: Sequence[str]) -> str:
    return listed([names[k] if k < len(names) else f"no. {k + 1}" for k in positions], most=3)


FIELDS = {
    "directions": "the kind of directions", "angle": "the angle", "plane": "the plane that is turned",
    "seed": "the seed of random directions",
    "allocation": "the kind of split", "priority_directions": "the priority directions", "share": "their share",
    "weights": "the parts", "importance": "the weights of the priority columns",
    "form": "the form of the paper's best split", "query": "the query and its columns",
    "scale": "the mapping of the ranges",
    "length": "the kernel's length", "group": "the groups of columns", "category": "the category",
    "epsilon": "epsilon", "delta": "delta", "guarantee": "the guarantee",
    "family": "the family of noise", "tail": "the theorem's tail", "mode": "the sides of the noise",
    "private_share": "the directions' share of the budget", "bound": "the clipping bound",
    "radius": "the clipping radius", "neighbours": "what neighbours differ by",
    "priority": "the priority columns", "label": "the label", "task": "the task"}
"""A scenario's fields in words."""
RANGES_READ = " Ranges were read from the data: **not private**."
ON_DATA, ON_SIMULATED = "Computed on the data itself: not private.", "Computed on simulated data."


def thing(setup: Setup) -> str:
    """Return what the promise is about: neighbours differ by one."""
    return "edge" if setup.query.is_graph else "person" if setup.dataset.by_person else "record"


def of_people(text: str) -> str:
    """Turn a promise about one record into one about one person."""
    return re.sub(r"\b([Oo]ne) record\b", r"\1 person", text)


def used_of_each(data: Dataset) -> str:
    """Say how many records of a person are used."""
    return f"at most {data.per_person:,} record{'s' * (data.per_person > 1)} per person can be used"


def dropped_words(data: Dataset) -> str:
    """Say why the number of records depends on the data."""
    reasons = ["records with gaps were dropped"] * (data.gaps == "drop") + [used_of_each(data)] * data.by_person
    return " and ".join(reasons) or "some records were dropped"


_FOR_REGRESSIONS = ("Clip records to an ellipse made for regressions",
                    "clipped to an ellipse made for regressions: precise for the label, wider with more records")


def bound_choices(kind: type[Query]) -> dict[str, str]:
    """Return a control's choices; for joint moments the length follows from the number of records."""
    choices = {key: choice for key, (choice, _) in BOUNDS.items()}
    if kind.has_constant:
        del choices["private"]
        choices["even"] = _FOR_REGRESSIONS[0]
    return choices


def bound_words(scenario: Scenario) -> str:
    """Say how records are clipped before the query; without the word "records", for a list."""
    kept = "none" if scenario.is_graph else scenario.bound
    if kept == "even" and scenario.kind.has_constant:
        return _FOR_REGRESSIONS[1]
    return BOUNDS[kept][1].format(radius=scenario.radius).removeprefix("records ")


def chosen_on_data(scenario: Scenario) -> list[str]:
    """Name the choices that were made by looking at the data and matter here."""
    return [FIELDS[name] for name in scenario.read_among(scenario.from_data)]


def seen_words(setup: Setup, part: str) -> str:
    """Say where a part comes from; until a release, private parts are drawn from a known seed."""
    origin = setup.origins[part]
    return origin.words + " (here drawn from a known seed: not private)" * (origin is Origin.PAID)


def origin_items(setup: Setup) -> list[tuple[str, str, bool]]:
    """Return name, origin and whether care is needed, of everything that the guarantee rests on."""
    origins = setup.origins
    items = [(part, seen_words(setup, part), not origins[part].is_covered)
             for part in ("directions", "split", "ranges") if part != "ranges" or not setup.query.is_graph]
    if "bound" in origins:
        items.append(("records", f"{bound_words(setup.scenario)}, {seen_words(setup, 'bound')}",
                      not origins["bound"].is_covered))
    if not origins["records"].is_covered:
        items.append(("record count", "depends on the data: not private", True))
    if chosen := chosen_on_data(setup.scenario):
        items.append(("chosen after looking at the data", f"{listed(chosen)}: not private", True))
    return items


def open_parts(setup: Setup) -> list[str]:
    """Name what no guarantee covers here."""
    return [words for key, words in CAVEATS.items()
            if key in setup.origins and not setup.origins[key].is_covered]


def noise_care(setup: Setup) -> str:
    """Return what to write behind exported numbers of the noise; empty where they reveal nothing."""
    if not weakest(setup.origins.values()).is_covered:
        return f" ({Origin.READ.words})"
    return "" if setup.looked_at == setup.origins else " (private parts drawn from a known seed: not private)"


def clipping_words(setup: Setup, *, on_data: bool = False, name: Callable[[str], str] = str) -> str:
    """Say what clipping adds, empty where nothing; ``on_data``: on the data, too; ``name`` escapes names."""
    found = clipping_of(setup)
    here = f" (on this data {_amount(setup, found.here, name)}: not private)" if on_data and found is not None else ""
    return "" if found is None else f"Noise alone: clipping adds a bias of {clipping_amount(setup, name=name)}{here}."


def clipping_amount(setup: Setup, *, name: Callable[[str], str] = str) -> str | None:
    """Return such as "at most 1.2 h on sleep", which is public; None where nothing inside the ranges is clipped."""
    found = clipping_of(setup)
    return None if found is None else f"at most {_amount(setup, found.most, name)}"


def other_clipping(setup: Setup) -> str | None:
    """Return the same on the other columns, in percent."""
    found, priority = clipping_of(setup), setup.scenario.priority_features
    if found is None:
        return None
    others = [k for k in range(setup.dataset.n_features) if k not in priority]
    return f"at most {_told(type(setup.query), found.most, setup.table.ranges, setup.dataset.ranges, others)}"


def released_clipping(release: Release, name: Callable[[str], str] = str) -> str:
    """Return the same of a release, from what is public about it."""
    bound, ranges = release.bound, release.ranges
    if bound is None or (release.most_clipped is None and bound.origin.is_covered and ranges is not None):
        return ""
    if release.most_clipped is None or ranges is None:
        return "Noise alone: the bias from clipping is not stated here."
    priority = () if release.scenario is None else release.scenario.priority_features
    amount = _told(release.kind, release.most_clipped, ranges, release.declared_ranges or ranges, priority, (), name)
    return f"Noise alone: clipping adds a bias of at most {amount}."


def _amount(setup: Setup, bias: FloatArray, name: Callable[[str], str]) -> str:
    return _told(type(setup.query), bias, setup.table.ranges, setup.dataset.ranges, setup.scenario.priority_features,
                 units_of_noise(setup.dataset.units), name)


def _told(kind: type[Query], bias: FloatArray, asked: Mapping[str, Range], declared: Mapping[str, Range],
          priority: Sequence[int], units: Sequence[str] = (), name: Callable[[str], str] | None = None) -> str:
    """Return the largest on priority columns: of a table or mean in the data's units for one or two, else in percent.

    ``asked``: the ranges of the query's numbers; ``declared``: in the data's units. Without ``name`` always in percent.
    """
    if kind.is_kernel:
        return as_number(float(bias.max()))
    ends, own = (np.array([known[:2] for known in ranges.values()]) for ranges in (asked, declared))
    features = list(declared)
    kept = [k for k in priority if k < len(features)] or list(range(len(features)))
    if kind.degree != 1:
        largest = np.maximum(np.abs(ends).max(axis=1), np.finfo(float).tiny)
        block = np.ix_(*[[*kept, *range(len(features), len(largest))]] * 2)  # with the constant, where there is one
        return f"{as_number(100 * float((bias / np.outer(largest, largest))[block].max()))} % of full scale"
    parts, widths = bias[:, 0] / np.ptp(ends, axis=1), np.ptp(own, axis=1)
    if name is None or len(kept) > 2:
        return f"{as_number(100 * float(parts[kept].max()))} % of the range"
    return listed([f"{as_number(parts[k] * widths[k])}{f' {name(units[k])}' if units and units[k] else ''} "
                   f"on {name(features[k])}" for k in kept])


def link_words(scenario: Scenario) -> str:
    """Say what a link opens."""
    asks = " It asks for your file; a saved study keeps what you said of its columns." * scenario.is_upload
    return f"The link holds your choices, never your data.{asks}"
