"""All mechanisms, by key. ``"mvg"`` is the scenario's own design, ``"iid"`` equal noise with its budget."""

from collections.abc import Callable, Iterable
from typing import Any

from mvgviz.errors import InputError
from mvgviz.scenario.scenario import Scenario
from mvgviz.trials.mechanisms.base import BOTH, EPSILON, Mechanism, Sampler, own_mechanism
from mvgviz.trials.mechanisms.epsilon_alone import COLUMNS, COMPONENT, LAPLACE, LAPLACE_TRIANGLE, WHOLE
from mvgviz.trials.mechanisms.gaussian import ANALYTIC, CLASSIC, SEPARATE, TRIANGLE, mvg, of_family
from mvgviz.trials.mechanisms.reduced import REDUCED_GAUSSIAN, REDUCED_SKETCH, SKETCH
from mvgviz.trials.mechanisms.variance_aware import PLAN

MVG = mvg(None, key="mvg", label="Directional (MVG)")
IID = mvg(None, key="iid", label="MVG, equal noise", iid=True)
COMPARED = (
    mvg("exact", key="mvg-exact", label="MVG, exact"),
    mvg("theorem2", key="mvg-theorem2", label="MVG, Theorem 2",
        applies="positive semi-definite answers, noise on both sides"),
    mvg("theorem2-any", key="mvg-theorem2-any", label="MVG, Theorem 2's constant"),
    mvg("theorem1", key="mvg-theorem1", label="MVG, Theorem 1"),
    of_family("box", "Hardt & Talwar 2010, with epsilon divided like the shares"),
    of_family("box-ellipse", "Hardt & Talwar 2010; Joseph, Kulesza & Yu 2025"),
    of_family("ellipse", "Joseph, Kulesza & Yu 2025, with the directions and shares of the scenario"),
    of_family("laplace", "Dwork, McSherry, Nissim & Smith 2006, with epsilon divided like the shares"),
    ANALYTIC, CLASSIC, TRIANGLE, SEPARATE, PLAN, LAPLACE, LAPLACE_TRIANGLE, WHOLE, COLUMNS, COMPONENT, SKETCH,
    REDUCED_GAUSSIAN, REDUCED_SKETCH)

MECHANISMS = {mechanism.key: mechanism for mechanism in (MVG, IID, *COMPARED)}

__all__ = ["BOTH", "COMPARED", "EPSILON", "IID", "MECHANISMS", "MVG", "Mechanism", "Sampler", "mechanism",
           "mechanisms_of", "own_key", "own_mechanism"]


def own_key(scenario: Scenario) -> str:
    """The key, among those compared, of the scenario's own noise."""
    family = f"{scenario.noise_family}-noise"
    return family if family in MECHANISMS else f"mvg-{scenario.guarantee}"


def mechanism(key: str | Mechanism) -> Mechanism:
    """Return the mechanism of a key, or a mechanism unchanged."""
    if isinstance(key, Mechanism):
        return key
    if not (isinstance(key, str) and key in MECHANISMS):
        raise InputError(f"mechanism must be one of {', '.join(MECHANISMS)}, got {key!r}"[:300])
    return MECHANISMS[key]


def mechanisms_of(chosen: Iterable[str | Mechanism | Callable[..., Any]]) -> tuple[str | Mechanism, ...]:
    """Keys as they are, functions as mechanisms; raise `InputError` for a name that appears twice."""
    if isinstance(chosen, str) or not isinstance(chosen, Iterable):
        raise InputError("mechanisms must be a sequence of keys or functions (rng, query)")
    found = tuple(each if isinstance(each, str | Mechanism) else own_mechanism(each) for each in chosen)
    keys = [each if isinstance(each, str) else each.key for each in found]
    twice = next((key for i, key in enumerate(keys) if key in keys[:i]), None)
    if twice is not None:
        raise InputError(f"mechanisms must have different names, got {twice[:60]!r} twice: own_mechanism names them")
    return found
