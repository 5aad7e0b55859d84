"""Where the parts of a design come from, in words: the strip, the release and the report say the same."""

from mvgviz.labels import BOUNDS
from mvgviz.provenance import Origin, weakest
from mvgviz.release.ledger import CAVEATS
from mvgviz.scenario.resolve import Setup
from mvgviz.scenario.scenario import Scenario
from mvgviz.text import listed

FIELDS = {
    "directions": "the kind of directions", "angle": "the angle", "plane": "the plane that is turned",
    "allocation": "the kind of split", "favoured": "who matters", "share": "their share", "weights": "the parts",
    "importance": "how much each of the needed matters",
    "form": "the form of the paper's best split", "query": "the query", "scale": "the mapping of the ranges",
    "length": "the kernel's length", "epsilon": "epsilon", "delta": "delta", "guarantee": "the guarantee",
    "tail": "the theorem's tail", "mode": "the sides of the noise",
    "private_share": "the directions' share of the budget", "bound": "the bound on the records",
    "radius": "the bound's length"}
"""A scenario's fields as a person calls them."""

SEEDED = " (here found by a known seed: not private)"
"""Of what a release pays for, as it is seen before."""


def thing(setup: Setup) -> str:
    """What neighbours differ by."""
    return "edge" if setup.query.is_graph else "record"

_FOR_REGRESSIONS = ("An ellipse made for regressions",
                    "pulled into an ellipse made for regressions, nearer to the whole ranges with more records")


def bound_choices(query: str) -> dict[str, str]:
    """What a control offers; for joint moments the length follows from the number of records."""
    choices = {kind: choice for kind, (choice, _) in BOUNDS.items()}
    if query == "moments":
        del choices["private"]
        choices["even"] = _FOR_REGRESSIONS[0]
    return choices


def bound_words(scenario: Scenario) -> str:
    """What records are pulled into before anything is asked; without their name, for a list."""
    kept = "none" if scenario.is_graph else scenario.bound
    if kept == "even" and scenario.query == "moments":
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
