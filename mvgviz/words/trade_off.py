"""What the needed gain, what the rest pay, and how far a design is from the least possible noise."""

from mvgviz.scenario.resolve import Setup
from mvgviz.scenario.trade_off import AgainstLeast, NeedsTradeOff, against_least
from mvgviz.text import as_factor, as_number
from mvgviz.words.budget import Names

ABOUT_TRADE_OFF = (
    "Across: noise on what is needed; up: noise on the rest; both in units of equal noise at the same privacy, "
    "root mean squares in units of what one record can move. The curve is every share of the budget for the needed. "
    "Dashed: release nothing but the needed. Dotted: no private Gaussian noise, of whatever shape, is left of it (for "
    "second moments it may lie too far left). In the corner: what the paper's theorems ask for with the same split.")

MOVE = "Drag the point along its curve, or move it with the arrow keys: the share of the budget follows."
STAY = "The curve is that of the exact guarantee; choose it in the sidebar to move along it."


def least_phrase(found: AgainstLeast) -> str:
    """"1.12 times the least possible"; "at most" where the least is only known to be no lower than a bound."""
    return f"{'' if found.least.exact else 'at most '}{as_number(found.ratio)} times the least possible"


def least_item(setup: Setup) -> tuple[str, str] | None:
    """For a line of facts: what the noise is on, and the phrase; None where the least is not known."""
    found = against_least(setup)
    return None if found is None else (f"noise on {_what(found)}", least_phrase(found))


def least_sentence(setup: Setup) -> str:
    """How far this design is from the least possible, with what that is; empty where it is not known."""
    found = against_least(setup)
    if found is None:
        return ""
    return (f"The noise on {_what(found)} is **{least_phrase(found)}** by private Gaussian noise of whatever "
            f"shape{_inside(setup)}.")


def trade_off_words(setup: Setup, found: NeedsTradeOff) -> str:
    """What the needed gain, what the rest pay, what equal noise would have to spend, and what is possible at all."""
    own, equal = found.curves.own, found.curves.own.equal
    asked, saved = setup.scenario.epsilon, own.epsilon_saved(found.design)
    said = [f"**{Names(setup).few(list(found.needed))}: {as_factor(found.design.needed / equal.needed)} equal "
            f"noise; the rest: {as_factor(found.design.rest / equal.rest)}.**"]
    if saved > asked * 1.005:
        said.append(f"Equal noise would have to spend ε = {as_number(saved, 2)} instead of {asked:g} to be as "
                    "precise there.")
    if found.least is not None:
        said.append(f"On the needed that is {least_phrase(found.least)}: no private Gaussian noise, of whatever shape, "
                    f"has less than {as_factor(found.least.least.noise / equal.needed)}{_inside(setup)}.")
    if may_pull(setup):
        said.append("This is noise alone: what it costs that records are pulled in is not in it, and stands on "
                    "Data & query.")
    return " ".join(said)


def may_pull(setup: Setup) -> bool:
    """Whether some record inside the ranges lies outside the bound."""
    bound = setup.query.bound
    return bound is not None and bound.ellipse(setup.table.n_features).longest(setup.table) > bound.radius * (1 + 1e-9)


def _what(found: AgainstLeast) -> str:
    return "what is needed" if found.named else "everything"


def _inside(setup: Setup) -> str:
    return "" if setup.query.bound is None else ", for records inside this ellipse"
