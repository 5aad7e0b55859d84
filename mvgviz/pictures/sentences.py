"""Sentences that several pictures and pages say: neighbours, designs, origins, clipping."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mvgviz.labels import ALLOCATIONS, BOUNDS, DIRECTIONS, GUARANTEES
from mvgviz.provenance import Origin, Range, weakest
from mvgviz.query.queries import REPLACED_RECORD, Query
from mvgviz.release.ledger import CAVEATS
from mvgviz.release.release import Release
from mvgviz.scenario.bound import clipping_of
from mvgviz.scenario.resolve import Setup
from mvgviz.scenario.scenario import Scenario
from mvgviz.text import as_number, listed
from mvgviz.trials.candidates import Candidate
from mvgviz.validation import FloatArray

EMPTY_PLACE = ("A place that is filled in one is empty in the other, and counts as the middle of every range there, in "
               "second moments as nothing; the number of places is public.")
HOW_MANY = "How many records each person has is not hidden."


def neighbour_words(rule: str, record: str = "record") -> str:
    """A sentence on which two datasets the promise is about."""
    if rule != REPLACED_RECORD:
        said = [f"Neighbours differ by {rule}.", EMPTY_PLACE * (rule.endswith("removed") and "record" in rule),
                HOW_MANY * (rule.endswith("replaced"))]
        return " ".join(filter(None, said))
    return (f"Neighbours have the same number of {record}s and differ in one: it is replaced by any other that the "
            "ranges allow, not left out.")


class DesignWords(NamedTuple):
    """What is asked, how it is calibrated, what records are kept in, where the budget goes, how the answer is used.

    Empty where there is nothing to say. Names are as in the file.
    """

    query: str
    guarantee: str
    bound: str
    split: str
    use: str

    def __str__(self) -> str:
        return ", ".join(filter(None, self))


def design_words(candidate: Candidate, names: Sequence[str]) -> DesignWords:
    """What a design is called; ``names``: of the features."""
    scenario, flag = candidate.scenario, "" if candidate.private else " (not private)"
    plain = "aware" in scenario.use.post and "aware" not in scenario.post
    split = split_words(scenario, names) if candidate.is_whole else _only(scenario, names)
    return DesignWords(scenario.kind.title, GUARANTEES[scenario.guarantee].name,
                       _bound_words(scenario, names) if candidate.is_whole else "", split + flag,
                       "noise not looked at" if plain else "")


def _only(scenario: Scenario, names: Sequence[str]) -> str:
    if scenario.needs_along == "features":
        return f"only {_named(scenario.needs, names)}"
    return f"{DIRECTIONS[scenario.directions][1].format(angle=scenario.angle)}, only {_favoured(scenario, names)}"


def _bound_words(scenario: Scenario, names: Sequence[str]) -> str:
    if scenario.bound == "none" or scenario.is_graph:
        return ""
    round_one = scenario.kind.is_kernel or (scenario.directions == "standard" and _is_equal(scenario, names))
    radius = f" × {scenario.radius:g}" if scenario.bound == "own" else ""
    found = ", length found privately" if scenario.bound == "private" else ""
    return f"{'round bound' if round_one else 'ellipse'}{radius}{found}"


def _is_equal(scenario: Scenario, names: Sequence[str]) -> bool:
    if scenario.allocation in ("binary", "least-error"):
        some = [k for k in scenario.favoured if scenario.kind.is_kernel or k < len(names)]
        return not 0 < len(some) < (math.inf if scenario.kind.is_kernel else len(names))
    return scenario.allocation == "uniform"


def split_words(scenario: Scenario, names: Sequence[str]) -> str:
    """How a scenario turns and divides its noise; ``names``: of the features."""
    turned = DIRECTIONS[scenario.directions][1].format(angle=scenario.angle)
    what = ALLOCATIONS["uniform" if _is_equal(scenario, names) else scenario.allocation].design
    what = what.format(percent=100 * scenario.share, favoured=_favoured(scenario, names))
    return ", ".join(filter(None, [turned, what]))


def _favoured(scenario: Scenario, names: Sequence[str]) -> str:
    if scenario.directions in ("private", "eigenvectors"):
        k = len(scenario.favoured)
        return "the strongest" if k == 1 else f"the {k} strongest"
    known = scenario.directions == "standard" and not scenario.kind.is_kernel
    return _named(scenario.favoured, names if known else ())


def _named(positions: Sequence[int], names: Sequence[str]) -> str:
    return listed([names[k] if k < len(names) else f"no. {k + 1}" for k in positions], most=3)


FIELDS = {
    "directions": "the kind of directions", "angle": "the angle", "plane": "the plane that is turned",
    "seed": "the seed of random directions",
    "allocation": "the kind of split", "favoured": "who matters", "share": "their share", "weights": "the parts",
    "importance": "how much each of the needed matters",
    "form": "the form of the paper's best split", "query": "the query", "scale": "the mapping of the ranges",
    "length": "the kernel's length", "group": "the groups of columns",
    "epsilon": "epsilon", "delta": "delta", "guarantee": "the guarantee",
    "tail": "the theorem's tail", "mode": "the sides of the noise",
    "private_share": "the directions' share of the budget", "bound": "the bound on the records",
    "radius": "the bound's length", "neighbours": "what neighbours differ by", "needed": "which columns have priority",
    "label": "the label", "task": "the task"}
"""A scenario's fields as a person calls them."""

ON_DATA, ON_SIMULATED = "Computed on the data itself: not private.", "Computed on simulated data."
"""Of numbers that depend on the records."""

SEEDED = " (here found by a known seed: not private)"
"""Of what a release pays for, as it is seen before."""


def thing(setup: Setup) -> str:
    """What neighbours differ by."""
    return "edge" if setup.query.is_graph else "record"

_FOR_REGRESSIONS = ("An ellipse made for regressions",
                    "clipped to an ellipse made for regressions: precise for the label, wider with more records")


def bound_choices(kind: type[Query]) -> dict[str, str]:
    """What a control offers; for joint moments the length follows from the number of records."""
    choices = {key: choice for key, (choice, _) in BOUNDS.items()}
    if kind.has_constant:
        del choices["private"]
        choices["even"] = _FOR_REGRESSIONS[0]
    return choices


def bound_words(scenario: Scenario) -> str:
    """What records are pulled into before anything is asked; without their name, for a list."""
    kept = "none" if scenario.is_graph else scenario.bound
    if kept == "even" and scenario.kind.has_constant:
        return _FOR_REGRESSIONS[1]
    return BOUNDS[kept][1].format(radius=scenario.radius).removeprefix("records ")


def chosen_on_data(scenario: Scenario) -> list[str]:
    """The choices that were made by looking at the data and matter here, in words."""
    return [FIELDS[name] for name in scenario.read_among(scenario.from_data)]


def seen_words(setup: Setup, part: str) -> str:
    """Where a part comes from; what is paid for in a release is, as long as it is looked at, drawn by a known seed."""
    origin = setup.origins[part]
    return origin.words + SEEDED * (setup.looked_at[part] is not origin)


def origin_items(setup: Setup) -> list[tuple[str, str, bool]]:
    """Name, origin and whether care is needed, of everything that the guarantee rests on."""
    origins = setup.origins
    items = [(part, seen_words(setup, part), not origins[part].is_covered)
             for part in ("directions", "split", "ranges") if part != "ranges" or not setup.query.is_graph]
    if "bound" in origins:
        items.append(("records", f"{bound_words(setup.scenario)}, {seen_words(setup, 'bound')}",
                      not origins["bound"].is_covered))
    if not origins["records"].is_covered:
        items.append(("number of records", "follows from which were left out: not private", True))
    chosen = chosen_on_data(setup.scenario)
    if chosen:
        items.append(("chosen on the data", listed(chosen), True))
    return items


def open_parts(setup: Setup) -> list[str]:
    """What no guarantee covers here, in words; empty where everything is covered."""
    return [words for key, words in CAVEATS.items()
            if key in setup.origins and not setup.origins[key].is_covered]


def noise_care(setup: Setup) -> str:
    """What to write behind numbers of the noise that leave the app; empty where they tell nothing."""
    if not weakest(setup.origins.values()).is_covered:
        return f" ({Origin.READ.words})"
    return "" if setup.looked_at == setup.origins else " (with what was learned by a known seed: not private)"


_NAMED = 2


def clipping_words(setup: Setup, *, on_data: bool = False, name: Callable[[str], str] = str) -> str:
    """How much clipping adds to the noise; ``on_data``: for the holder of the data, too. Empty where it adds nothing.

    ``name`` makes a name harmless.
    """
    amount, found = clipping_amount(setup, name=name), clipping_of(setup)
    if amount is None or found is None:
        return ""
    here = f" (on this data {_amount(setup, found.here, name)}: not private)" if on_data else ""
    return f"Noise alone: clipping adds a bias of {amount}{here}."


def clipping_amount(setup: Setup, *, name: Callable[[str], str] = str) -> str | None:
    """"at most 1.2 h on sleep", which is public; None where no record inside the ranges is clipped."""
    found = clipping_of(setup)
    return None if found is None else f"at most {_amount(setup, found.most, name)}"


def other_clipping(setup: Setup) -> str | None:
    """The same on the columns that are not needed, in percent."""
    found, needed = clipping_of(setup), setup.scenario.needed_features
    if found is None:
        return None
    others = [k for k in range(setup.dataset.n_features) if k not in needed]
    return f"at most {_told(type(setup.query), found.most, setup.table.ranges, setup.dataset.ranges, others)}"


def released_clipping(release: Release, name: Callable[[str], str] = str) -> str:
    """The same of a release, from what is public about it."""
    if release.bound is None:
        return ""
    if release.most_clipped is None:
        told = release.bound.origin.is_covered and release.ranges is not None
        return "" if told else "Noise alone: how much clipping adds is not told here."
    assert release.ranges is not None
    needed = () if release.scenario is None else release.scenario.needed_features
    declared = release.declared_ranges or release.ranges
    amount = _told(release.kind, release.most_clipped, release.ranges, declared, needed, (), name)
    return f"Noise alone: clipping adds a bias of at most {amount}."


def _amount(setup: Setup, bias: FloatArray, name: Callable[[str], str]) -> str:
    return _told(type(setup.query), bias, setup.table.ranges, setup.dataset.ranges, setup.scenario.needed_features,
                 setup.dataset.units, name)


def _told(kind: type[Query], bias: FloatArray, asked: Mapping[str, Range], declared: Mapping[str, Range],
          needed: Sequence[int], units: Sequence[str] = (), name: Callable[[str], str] | None = None) -> str:
    """The largest on what is needed: in the data's units for one or two features of a table or mean, else in percent.

    ``asked``: the ranges of the numbers that the query was asked of; ``declared``: in the units of the data. Without a
    way to write ``name``, always in percent.
    """
    if kind.is_kernel:
        return as_number(float(bias.max()))
    ends, own = (np.array([known[:2] for known in ranges.values()]) for ranges in (asked, declared))
    features = list(declared)
    kept = [k for k in needed if k < len(features)] or list(range(len(features)))
    if kind.degree != 1:
        largest = np.maximum(np.abs(ends).max(axis=1), np.finfo(float).tiny)
        block = np.ix_(*[[*kept, *range(len(features), len(largest))]] * 2)  # with the constant, where there is one
        return f"{as_number(100 * float((bias / np.outer(largest, largest))[block].max()))} % of full scale"
    parts, widths = bias[:, 0] / np.ptp(ends, axis=1), np.ptp(own, axis=1)
    if name is None or len(kept) > _NAMED:
        return f"{as_number(100 * float(parts[kept].max()))} % of a range"
    return listed([f"{as_number(parts[k] * widths[k])}{f' {name(units[k])}' if units and units[k] else ''} "
                   f"on {name(features[k])}" for k in kept])


def link_words(scenario: Scenario) -> str:
    """What whoever follows a link will see."""
    if scenario.is_upload:
        return ("Opens with these choices and asks for your file, which is not in it, nor is how the file was read. A "
                "saved study holds that, too.")
    return "Opens this very screen. The link holds your choices, never your data."
