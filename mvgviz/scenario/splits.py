"""What each split of the budget lets through, under the printed theorem and under the exact limit.

The relaxed and unrelaxed forms of max-PNR solve a theorem's constraint, the exact form that
of the exact limit; each is compared with equal shares, binary and least error at the same
guarantee. The power-to-noise ratio reads the data's second moments: not private.
"""

from dataclasses import dataclass

from mvgviz.design.allocation import WaterFilling, manual
from mvgviz.design.noise_design import NoiseDesign, design_noise
from mvgviz.design.power_to_noise import has_measure, log_pnr
from mvgviz.errors import InputError
from mvgviz.provenance import Origin
from mvgviz.query.queries import Query
from mvgviz.scenario.resolve import Setup, build, favouring, filled, moments_along, released_spectrum, turned_moments
from mvgviz.scenario.scenario import Scenario
from mvgviz.validation import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class SplitScore:
    """What one split of the budget lets through under one guarantee."""

    split: str
    guarantee: str
    log_pnr: float
    is_current: bool

    @property
    def mutual_information(self) -> float:
        """``½ log PNR`` in nats, for Gaussian answers."""
        return self.log_pnr / 2


def pnr_refusal(setup: Setup) -> str | None:
    """Why the power-to-noise ratio cannot be compared here; None if it can."""
    query, mode = setup.query, setup.design.mode
    if query.bound is not None:
        return "every split would pull the records into another ellipse, so it would ask another question"
    if not query.of_all_features:
        return ("the power-to-noise ratio is defined for the table, the mean and the covariance, not for the "
                f"{query.name}")
    if mode == "columns":
        return ("the paper's best split (max-PNR) divides the budget over features, and here the noise is directional "
                "over records")
    if query.degree == 2 and mode != "both":
        return "for the covariance the power-to-noise ratio is defined with noise on both sides, not on one"
    return None


def printed_guarantee(setup: Setup) -> str:
    """The theorem to stand beside the exact limit: the scenario's own, else Theorem 2 where it applies, else 1."""
    if setup.scenario.guarantee != "exact":
        return setup.scenario.guarantee
    return "theorem2" if setup.query.psd and setup.design.mode == "both" else "theorem1"


def equal_design(setup: Setup, guarantee: str) -> NoiseDesign:
    """The scenario's noise with equal shares under a guarantee: where every water filling starts."""
    scenario = setup.scenario
    if scenario.directions == "private":  # what they spend, and so they themselves, depend on the guarantee
        same = scenario.changed(guarantee=guarantee, allocation="uniform")
        return build(same, setup.dataset, query=setup.query).design
    return design_noise(setup.query, epsilon=scenario.epsilon, delta=setup.delta, mode=setup.design.mode,
                        tail=scenario.tail, guarantee=guarantee, directions=setup.design.directional_side.directions)


def compare_splits(setup: Setup, moments: FloatArray) -> tuple[SplitScore, ...]:
    """``log PNR`` of every split, under the printed theorem and under the exact limit.

    Binary and least error are left out when no direction (or every direction) is favoured.
    """
    scenario, query = setup.scenario, setup.query
    scores = []
    for guarantee in (printed_guarantee(setup), "exact"):
        equal = equal_design(setup, guarantee)
        directions = equal.directional_side.directions
        thetas = {"uniform": equal.theta} | {kind: theta for kind in ("binary", "least-error")
                                             if (theta := favouring(kind, scenario, equal)) is not None}
        if scenario.allocation == "manual":
            thetas["manual"] = manual(scenario.weights)
        for form in ("exact",) if guarantee == "exact" else ("relaxed", "unrelaxed"):
            thetas[f"max-pnr {form}"] = fill(equal, query, moments, form).theta
        current = _current_split(scenario, "binary" in thetas) if guarantee == scenario.guarantee else None
        for split, theta in thetas.items():
            design = equal if split == "uniform" else design_noise(
                query, epsilon=equal.epsilon, delta=equal.delta, guarantee=guarantee, mode=equal.mode,
                tail=scenario.tail, directions=directions, theta=theta,
                cover_directions=guarantee == "exact" and directions.origin is Origin.PAID)
            scores.append(SplitScore(split=split, guarantee=guarantee, log_pnr=log_pnr(moments, design),
                                     is_current=split == current))
    return tuple(scores)


def _current_split(scenario: Scenario, favours: bool) -> str:
    """The name of the scenario's own split; equal shares where it would favour none or all directions."""
    if scenario.allocation == "max-pnr":
        return f"max-pnr {'exact' if scenario.guarantee == 'exact' else scenario.form}"
    return scenario.allocation if favours or scenario.allocation == "manual" else "uniform"


def fill(equal: NoiseDesign, query: Query, moments: FloatArray, form: str) -> WaterFilling:
    """The water filling behind max-PNR (its level None where there is none); ``equal`` has equal shares and a
    guarantee that fits the form.

    The spectrum is the private release's own where the directions came with one, else the
    data's second moment along each direction (not private).
    """
    if (form == "exact") != (equal.guarantee == "exact"):
        raise InputError(f"the {form} form does not belong to the guarantee {equal.guarantee}")
    directions = equal.directional_side.directions
    signal = released_spectrum(directions)
    if signal is None:
        along = turned_moments if form == "exact" and has_measure(equal) else moments_along
        signal = along(directions, moments)
    return filled(query, equal, signal, form)
