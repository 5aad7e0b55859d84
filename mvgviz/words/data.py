"""A bound on the records in sentences: whom it pulls in, what it saves, what it costs."""

from collections.abc import Sequence

from mvgviz.data.recognise import Identifier
from mvgviz.labels import BOUNDS
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_factor, as_number, in_markdown, listed
from mvgviz.trials.bound_cost import BoundCost

ABOUT_LENGTHS = (
    "How long each record is, measured from the middle of the ranges (from 0 for second moments) in the ellipse's own "
    "coordinates: a record spread evenly over its ranges has length 1. What is longer than the line is drawn towards "
    "the centre until the ellipse holds it, before anything is asked. One record then moves the answer less, so less "
    "noise is needed. The ellipse has the shape of the split, and so has the noise.")
_ANSWERS = {"identity": "the table", "mean": "a mean", "covariance": "second moments", "kernel": "a kernel matrix",
            "moments": "a mean and second moments"}
_FEW = 3


def identifier_words(found: Sequence[Identifier]) -> list[str]:
    """A sentence for each column that is no feature; what several records of a person do to the promise."""
    said = []
    for each in found:
        name = in_markdown(each.name)
        if each.numbers_records:
            said.append(f"**{name} numbers the records** and is no feature.")
        elif each.most <= 1:
            said.append(f"**{name} looks like an identifier**, which is no feature.")
        else:
            said.append(
                f"**{name} looks like an identifier, and one of its values occurs {each.most:,} times.** If it says "
                f"whose record it is, what hides one record does not hide that person: {each.most:,} records that "
                f"change together spend up to {each.most:,} times the μ. Keep one record of each, or let a program "
                "count them together (`Dataset.from_frame(…, person=…, at_most=…)`).")
    return said


def pulled_words(pulled: int, records: int, longest: float, *, chosen: bool, joined: bool = False) -> str:
    """Takeaway of the lengths; ``joined``: with a constant, which has a length of its own."""
    would = "are" if chosen else "would be"
    even = "The longest that the ranges allow has length" if joined else (
        "An evenly spread record has length 1; the longest that the ranges allow,")
    return f"**{pulled:,} of {records:,} records {would} pulled in.** {even} {as_number(longest)}."


def saved_words(setup: Setup, cost: BoundCost, *, chosen: bool) -> str:
    """The noise with the bound against the noise without."""
    names = [in_markdown(setup.direction_names[k]) for k in setup.scenario.needs if k < len(setup.direction_names)]
    on = listed(names, _FEW) if names and setup.scenario.directions == "standard" else "what is needed"
    offered = "" if chosen else f"With {BOUNDS['even'][0].lower()}: "
    return f"{offered}**Noise on {on}: {as_factor(cost.noise / cost.without)} what it is without the ellipse.**"


def pull_words(setup: Setup, cost: BoundCost, *, on_data: bool) -> str:
    """How far pulling moves the answer, on simulated data and, where it may be looked at, on the data."""
    one_sided = ", all on one side of the middle," if setup.query.name == "mean" else ""
    own = f"; on the data itself (not private) by {_both(cost, cost.data_pull)}" if on_data else ""
    return (f"Pulling records in moves the answer, too, and no noise hides that. In units of the noise without the "
            f"ellipse: on simulated records{one_sided} by {_both(cost, cost.pull)}{own}.")


def _both(cost: BoundCost, pull: float) -> str:
    return f"{as_factor(pull / cost.without)}, together with the noise left {as_factor(cost.together(pull))}"


def cost_warning(setup: Setup, cost: BoundCost) -> str | None:
    """Said plainly where the pull costs more than it saves; None where it does not."""
    on_both = [not cost.pays(cost.pull), not cost.pays(cost.data_pull)]
    if not any(on_both):
        return None
    if not cost.noise < cost.without:
        return "**The ellipse saves no noise on what is needed here.**"
    where = {(True, True): "", (True, False): " on simulated records",
             (False, True): " on the data itself (not private)"}[on_both[0], on_both[1]]
    weight = (" A regression from them is hardly touched: pulling only lowers a record's weight."
              if setup.query.name == "moments" else "")
    return (f"**For {_ANSWERS[setup.scenario.query]} of {setup.dataset.n_records:,} records the pull costs more than "
            f"the noise it saves{where}.** Noise shrinks with every further record, the pull does not.{weight}")
