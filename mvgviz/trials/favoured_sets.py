"""Which directions get more precision: sets to hold against each other, over epsilon (the paper's Figure 4).

>>> from mvgviz.trials.favoured_sets import starting_sets
>>> starting_sets((2, 5), 6)
[(2, 5), (2,), (5,), (0, 1, 3, 4)]
"""

from collections.abc import Iterable
from typing import Any

from mvgviz.errors import InputError
from mvgviz.scenario.scenario import Scenario

MOST_SETS = 8
MOST_POSITIONS = 10_000
_ALONE = 4
_EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)

Favoured = tuple[int, ...]


def epsilon_grid(own: float) -> list[float]:
    """Nine round epsilons from 0.05 to 20, and the scenario's own."""
    return sorted({*_EPSILONS, own})


def starting_sets(favoured: Iterable[int], size: int) -> list[Favoured]:
    """The set itself, up to four of its members alone, and all others (where a scenario can hold them).

    Without a set: the first two directions, each alone.
    """
    own = tuple(sorted(k for k in favoured if k < size))
    if not 0 < len(own) < size:
        return [(k,) for k in range(min(size - 1, 2))]
    sets = [own, *((k,) for k in own[:_ALONE])]
    if size - len(own) <= MOST_POSITIONS:
        inside = set(own)
        sets.append(tuple(k for k in range(size) if k not in inside))
    return list(dict.fromkeys(sets))


def with_set(sets: list[Favoured], new: Iterable[int], size: int) -> list[Favoured]:
    """The sets and one more; refuses none, all, one that is there, and too many."""
    added = tuple(sorted(new))
    if not added:
        raise InputError("a set needs at least one direction; equal noise is there already")
    if len(added) >= size:
        raise InputError("all directions together are no choice: leave at least one out")
    if added in sets:
        raise InputError("this set is there already")
    if len(sets) >= MOST_SETS:
        raise InputError(f"at most {MOST_SETS} sets are compared at once: remove one first")
    return [*sets, added]


def set_change(scenario: Scenario, favoured: Favoured) -> dict[str, Any]:
    """What of a scenario changes when these directions get its share; what is needed stays what it is."""
    kept = scenario.allocation in ("binary", "least-error")
    change = {"favoured": favoured, "allocation": scenario.allocation if kept else "binary"}
    if scenario.needs_along == "directions":  # every set would be judged by itself
        return change | {"judged": "everything"}
    return change | {"needed": () if favoured == scenario.needs else scenario.needs}
