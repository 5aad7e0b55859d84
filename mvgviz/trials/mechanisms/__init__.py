"""All mechanisms, by key. ``"mvg"`` is the scenario's own design, ``"iid"`` its budget spent evenly."""

from collections.abc import Callable, Iterable
from typing import Any

from mvgviz.errors import InputError
from mvgviz.trials.mechanisms.base import BOTH, EPSILON, LEVELS, Mechanism, Sampler
from mvgviz.trials.mechanisms.epsilon_alone import COLUMNS, COMPONENT, LAPLACE, LAPLACE_TRIANGLE, WHOLE
from mvgviz.trials.mechanisms.gaussian import ANALYTIC, CLASSIC, TRIANGLE, mvg
from mvgviz.trials.mechanisms.own import own_mechanism
from mvgviz.trials.mechanisms.reduced import REDUCED_GAUSSIAN, REDUCED_SKETCH
from mvgviz.trials.mechanisms.sketch import SKETCH
from mvgviz.trials.mechanisms.variance_aware import PLAN

MVG = mvg(None, key="mvg", label="Directional (MVG)")
IID = mvg(None, key="iid", label="MVG, equal noise", iid=True)
COMPARED = (
    mvg("exact", key="mvg-exact", label="MVG, exact"),
    mvg("theorem2", key="mvg-theorem2", label="MVG, Theorem 2",
        applies="positive semi-definite answers, noise on both sides"),
    mvg("theorem2-any", key="mvg-theorem2-any", label="MVG, Theorem 2's constant"),
    mvg("theorem1", key="mvg-theorem1", label="MVG, Theorem 1"),
    ANALYTIC, CLASSIC, TRIANGLE, PLAN, LAPLACE, LAPLACE_TRIANGLE, WHOLE, COLUMNS, COMPONENT, SKETCH, REDUCED_GAUSSIAN,
    REDUCED_SKETCH)
"""Every mechanism and guarantee that a comparison shows."""

MECHANISMS = {mechanism.key: mechanism for mechanism in (MVG, IID, *COMPARED)}

__all__ = ["BOTH", "COMPARED", "EPSILON", "IID", "LEVELS", "MECHANISMS", "MVG", "Mechanism", "Sampler", "mechanism",
           "mechanisms_of", "own_mechanism"]


def mechanism(key: str | Mechanism) -> Mechanism:
    """The mechanism of a key; one that is given as it is."""
    if isinstance(key, Mechanism):
        return key
    if not (isinstance(key, str) and key in MECHANISMS):
        raise InputError(f"mechanism must be one of {', '.join(MECHANISMS)}, got {key!r}"[:300])
    return MECHANISMS[key]


def mechanisms_of(chosen: Iterable[str | Mechanism | Callable[..., Any]]) -> tuple[str | Mechanism, ...]:
    """Keys as they are, functions as mechanisms; each of a name of its own."""
    if isinstance(chosen, str) or not isinstance(chosen, Iterable):
        raise InputError("mechanisms must be a sequence of keys or functions (rng, query)")
    found = tuple(each if isinstance(each, str | Mechanism) else own_mechanism(each) for each in chosen)
    keys = [each if isinstance(each, str) else each.key for each in found]
    twice = next((key for i, key in enumerate(keys) if key in keys[:i]), None)
    if twice is not None:
        raise InputError(f"mechanisms must have different names, got {twice[:60]!r} twice: own_mechanism gives names")
    return found
