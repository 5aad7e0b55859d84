"""The shape of the noise in sentences."""

from mvgviz.figures.shape.model import ShapeModel
from mvgviz.figures.shared.noise_ellipse import EllipseNumbers
from mvgviz.scenario.resolve import Setup, names_of_coordinates
from mvgviz.text import as_factor, as_number, in_markdown

ABOUT_ELLIPSE = ("Each outline holds 95 % of the noise; the points are the same random draws through both shapes. "
                 "Both give the same privacy.")
ABOUT_BOUND = ("Directional noise is added to records that were pulled into an ellipse first, i.i.d. noise to records "
               "as they are.")


def coordinate_labels(setup: Setup) -> tuple[str, ...]:
    """What the axes of the answer are called where noise is drawn in a plane."""
    return names_of_coordinates(setup.query, setup.design.mode, setup.design.theta.size)


def needed_and_other(setup: Setup) -> tuple[int, int]:
    """The first favoured coordinate, and one beside it."""
    needed = next((k for k in setup.scenario.needs if k < setup.design.theta.size), 0)
    return needed, 1 if needed == 0 else 0


def ellipse_words(numbers: EllipseNumbers, labels: tuple[str, ...], needed: int, other: int) -> str:
    """How much noise each of two coordinates gains or pays."""
    up, down = numbers.factors
    if abs(up - 1) < 0.005 and abs(down - 1) < 0.005:
        return "**Equal shares:** directional noise and i.i.d. noise are the same circle."
    return (f"**Same privacy, other shape:** the noise is {as_factor(down)} the i.i.d. noise on "
            f"{in_markdown(labels[needed])} and {as_factor(up)} on {in_markdown(labels[other])}.")


def plane_words(model: ShapeModel, iid: float, names: tuple[str, str], spread: float) -> str:
    """The noise along both axes of an ellipse against i.i.d. noise and, where there are data, their spread."""
    low, high = min(model.std), max(model.std)
    data = f" The noise is {as_factor(high / spread)} the data's own spread." if spread > 0 else ""
    return (f"**{as_factor(low / iid)} to {as_factor(high / iid)} the i.i.d. noise**, at the same budget: "
            f"± {as_number(low)} along the best axis, ± {as_number(high)} along the worst "
            f"({in_markdown(names[0])} against {in_markdown(names[1])}).{data}")


def records_words(model: ShapeModel) -> str:
    """What the ellipse of records has to do with that of the noise."""
    if model.records == 0:
        return ("Records are pulled into a ball before they are compared; the noise of a kernel matrix is over "
                "records, and has a shape of its own.")
    return (f"**One shape, two scales:** every record is kept inside the ellipse of records, and the noise has the "
            f"same shape; half an axis of the one is {as_number(model.records)} standard deviations of the other. Drag "
            "either and both follow. Dashed rectangle: the ranges. A line leads from where a record was to where it "
            "is pulled (not private).")


def drag_words(model: ShapeModel) -> str:
    """What dragging does."""
    if model.kind == "fixed":
        return "These directions do not lie in this plane: what is shown is their shadow on it."
    if model.can_turn:
        return "Drag an end of an axis: pulling it changes the split of the budget, turning it the directions."
    return "Drag an end of an axis to change the split of the budget."
