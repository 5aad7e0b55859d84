"""The shape of the noise in sentences."""

from collections.abc import Iterable

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.figures.shared.rule_model import RuleModel
from mvgviz.scenario.names import names_of_coordinates
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_factor, as_number, in_markdown
from mvgviz.validation import FloatArray

ABOUT_ELLIPSE = ("Each outline holds 95 % of the noise; the points are the same random draws through both shapes. "
                 "Both give the same privacy.")
ABOUT_BOUND = ("Directional noise is added to records that were pulled into an ellipse first, equal noise to records "
               "as they are.")
ABOUT_ZERO = ("Components are about 0, not about the mean: where the mean is far from 0 the first mostly points there, "
              "and is not that of a usual principal component analysis.")


def coordinate_labels(setup: Setup) -> tuple[str, ...]:
    """What the axes of the answer are called where noise is drawn in a plane."""
    return names_of_coordinates(setup.query, setup.design.mode, setup.design.theta.size)


def plane_labels(noise: Setup | NoiseDesign, labels: tuple[str, ...], pair: tuple[int, int], *,
                 of_directions: bool = False) -> tuple[str, str]:
    """What is drawn across and up; with noise on both sides, entries of the column that is up."""
    across, up = (labels[k] for k in pair)
    design = noise if isinstance(noise, NoiseDesign) else noise.design
    if design.mode != "both" or of_directions:
        return across, up
    return f"{across} × {up}", f"{up} × {up}"


def needed_and_other(setup: Setup) -> tuple[int, int]:
    """The first coordinate that is needed, and one that is not."""
    needs, size = setup.scenario.needed_features, setup.design.theta.size - (setup.query.name == "moments")
    needed = next((k for k in needs if k < size), 0)
    others = (k for k in range(size) if k not in needs)
    return needed, next(others, 1) if needed in needs else 1


def ellipse_words(factors: Iterable[float], names: tuple[str, str]) -> str:
    """How much noise each of two coordinates (across and up) pays or gains, as multiples of equal noise."""
    up, down = factors
    if abs(up - 1) < 0.005 and abs(down - 1) < 0.005:
        return "**Equal shares:** directional noise and equal noise are the same circle."
    return (f"**Same privacy, other shape:** the noise is {as_factor(down)} equal noise on "
            f"{in_markdown(names[1])} and {as_factor(up)} on {in_markdown(names[0])}.")


def plane_words(model: RuleModel, iid: float, names: tuple[str, str], spread: float) -> str:
    """The noise along both axes of an ellipse against equal noise and, where there are data, their spread."""
    low, high = min(model.std), max(model.std)
    data = f" The noise is {as_factor(high / spread)} the data's own spread." if spread > 0 else ""
    return (f"**{as_factor(low / iid)} equal noise along the best axis, {as_factor(high / iid)} along the worst**, at "
            f"the same budget ({in_markdown(names[0])} against {in_markdown(names[1])}).{data}")


def entries_words(std: FloatArray, more: str) -> str:
    """How unequal the noise of the answer's entries is; ``more``: which entries, and what they are held against."""
    low, high = float(std.min()), float(std.max())
    verdict = ("Every entry has the same noise" if high <= low * (1 + 1e-9) else
               f"The noisiest entry has {as_factor(high / low)} the noise of the quietest")
    return f"**{verdict}.** Typical error from {as_number(low)} to {as_number(high)}{more}."


def mixing_words(side: str, *, mixes: bool) -> str:
    """What a covariance tells, with its name behind."""
    if mixes:
        return f"**The noise of several features moves together** ({side}: off the diagonal it is not 0)."
    return f"**Each has noise of its own, tied to no other** ({side}: diagonal)."


def drowned_words(ratio: float) -> str:
    """Whether an answer can be seen through noise that is ``ratio`` times as large."""
    if ratio > 1:
        return "The noise drowns the answer"
    return "The answer shows through the noise" if ratio > 0.3 else "The answer stands out clearly"


def overlap_words(overlap: FloatArray) -> str:
    """Whether a component survives, by its overlaps with the true one."""
    mean = float(overlap.mean())
    return f"The first component {'survives' if mean > 0.9 else 'is blurred' if mean > 0.6 else 'is lost'}"


def records_words(model: RuleModel) -> str:
    """What the ellipse of records has to do with that of the noise."""
    if model.records == 0:
        return ("Records are pulled into a ball before they are compared; the noise of a kernel matrix is over "
                "records, and has a shape of its own.")
    return (f"**One shape, two scales:** every record is kept inside the ellipse of records, and the noise has the "
            f"same shape; half an axis of the one is {as_number(model.records)} typical errors of the other. Drag "
            "either and both follow. Dashed rectangle: the ranges. A line leads from where a record was to where it "
            "is pulled (not private).")


def rule_words(model: RuleModel, size: int, record: str = "record") -> str:
    """What the picture shows: when noise is private. ``record``: what neighbours differ in."""
    if model.changes is None:
        return f"What one {record} can change has no simple outline in this plane, so only the noise is drawn."
    if model.kind == "theorem":
        return ("**Private = every change inside.** The noise of a theorem is far larger than it has to be: all that "
                "one record can change is lost in the ellipse at the scale of privacy.")
    if model.changes.axes:
        return ("**Private = every change inside.** Records and noise share one shape, so the ellipse at the scale of "
                "privacy is the edge of what one record can change, and no noise is wasted in any direction.")
    if model.changes.shadow:
        return ("**Private = every change inside.** The privacy is decided by all directions of the answer together; "
                "this is their shadow on a plane, where the changes need not reach the ellipse.")
    if size > 2:
        part = sum(model.theta) / (model.rest + sum(model.theta))
        return (f"**Private = every corner inside.** These two of {size} take {100 * part:.0f} % of the budget, so the "
                f"ellipse is drawn at √{part:.2f} of the whole μ = {as_number(model.mu)} typical errors, where it "
                "touches the corners.")
    return ("**Private = every corner inside.** Pull the ellipse in on one side and it must swell on the other, or a "
            f"corner would stick out; it is drawn at μ = {as_number(model.mu)} typical errors (standard deviations).")


def drag_words(model: RuleModel) -> str:
    """What can be moved, by mouse, finger and keys."""
    keys = "All handles take the focus, and arrow keys move them."
    line = "The green ring turns your use."
    if model.kind == "fixed":
        return f"These directions do not lie in this plane: what is shown is their shadow on it. {line} {keys}"
    pull = "Pull a round handle to change the split of the budget"
    return f"{pull}{', turn the ellipse by its diamond' if model.can_turn else ''}. {line} {keys}"
