"""Name the choices of a scenario: each label once, with one column for each place that needs other words."""

from typing import NamedTuple


class Guarantee(NamedTuple):
    """``name``: in a list of its kind; ``in_sentence``: alone; ``in_chart``: where "as printed" matters."""

    name: str
    in_sentence: str
    in_chart: str
    button: str
    explained: str
    calibrated: str
    source: str


class Tail(NamedTuple):
    """``short``: beside a curve; ``in_sentence``: with its article."""

    name: str
    short: str
    in_sentence: str


class Mode(NamedTuple):
    """The side with directional noise; ``sides`` is empty where the query decides."""

    choice: str
    sides: str


class Allocation(NamedTuple):
    """``design``: in the name of a design, with its priority directions where they matter."""

    name: str
    choice: str
    design: str


GUARANTEES = {
    "exact": Guarantee(
        name="exact", in_sentence="the exact guarantee", in_chart="exact limit", button="Exact",
        explained="The exact privacy of Gaussian noise. It spends what you ask, no more.",
        calibrated="exactly: the noise spends what was asked, no more",
        source="calibrated exactly (Balle & Wang 2018 on the design's worst neighbours)"),
    "theorem1": Guarantee(
        name="Theorem 1", in_sentence="Theorem 1", in_chart="Theorem 1, as printed", button="Theorem 1",
        explained="The paper's general bound, as printed, for any query.",
        calibrated="by the paper's Theorem 1 (general), as printed", source="the paper's Theorem 1 (general)"),
    "theorem2": Guarantee(
        name="Theorem 2", in_sentence="Theorem 2", in_chart="Theorem 2, as printed", button="Theorem 2",
        explained="The paper's bound for positive semi-definite queries, as printed.",
        calibrated="by the paper's Theorem 2 (positive semi-definite answers), as printed",
        source="the paper's Theorem 2 (PSD)"),
    "theorem2-any": Guarantee(
        name="Theorem 2's constant", in_sentence="Theorem 2's constant", in_chart="Theorem 2's constant, any query",
        button="2, any query",
        explained="Theorem 2's constant for any query. Its proof needs no more, but the paper does not say so.",
        calibrated="by Theorem 2's constant for any answer (its proof needs no more; not in the paper)",
        source="Theorem 2's constant, for any query (not in the paper)"),
}
TAILS = {
    "printed": Tail("as printed", "as printed", "the printed tail"),
    "laurent-massart": Tail("Laurent–Massart", "Laurent–Massart", "the Laurent–Massart tail"),
    "exact-chi": Tail("exact chi quantile", "exact chi", "the exact chi quantile as tail"),
}
MODES = {
    "auto": Mode("As the query suggests", ""),
    "rows": Mode("Rows (features)", "rows"),
    "columns": Mode("Columns (records)", "columns"),
    "both": Mode("Both sides alike", "both sides"),
}
SCALES = {"declared": "as declared", "symmetric": "mapped onto [-1, 1]", "unit": "mapped onto [0, 1]"}
DIRECTIONS = {  # as a control offers them, and in the name of a design
    "standard": ("The features themselves", ""),
    "rotation": ("Turned by an angle", "turned by {angle:g}°"),
    "eigenvectors": ("Eigenvectors of the data", "eigenvectors"),
    "private": ("Private eigenvectors", "private eigenvectors"),
    "random": ("Random rotation", "random directions"),
    "upload": ("From a file", "directions from a file"),
}
ALLOCATIONS = {
    "uniform": Allocation("equal shares", "Equal shares", "equal shares"),
    "binary": Allocation("a share for some", "A share for some", "{percent:.0f} % to {priority_directions}"),
    "manual": Allocation("by hand", "By hand", "shares by hand"),
    "max-pnr": Allocation("the paper's best split (max-PNR)", "The paper's best split (max-PNR)",
                          "paper's best split"),
    "least-error": Allocation("least error", "Least weighted error", "least error for {priority_directions}"),
}
FORMS = {  # of max-PNR: as the sidebar offers them, beside their picture, and in a list of splits
    "exact": ("", "Exact", "paper's best split, exact"),
    "relaxed": ("As in the paper (relaxed)", "Relaxed (paper)", "paper's best split, relaxed"),
    "unrelaxed": ("Under the theorem's own constraint", "Unrelaxed", "paper's best split, unrelaxed"),
}
SPLITS = ({key: allocation.name for key, allocation in ALLOCATIONS.items()}
          | {f"max-pnr {form}": name for form, (*_, name) in FORMS.items()})
BOUNDS = {  # how records are clipped before the query: as a control offers it, and in a sentence
    "none": ("No clipping, only ranges", "records only inside their ranges"),
    "even": ("Clip records to a typical-size ellipse", "records clipped to a typical-size ellipse"),
    "own": ("Clip records to an ellipse of my size", "records clipped to an ellipse {radius:g} times the typical size"),
    "private": ("Clip records to an ellipse of private size",
                "records clipped to an ellipse whose size was found privately, for a tenth of the budget"),
}
JUDGED = {"everything": "everything", "priority": "priority columns", "other": "other columns"}
GAPS = {  # what was done with them
    "middle": "filled with the middle of the range; a category's gap with equal parts of every level",
    "drop": "records with gaps were left out",
    "reject": "none allowed: a table with gaps is refused"}
REFERENCES = {"non_private": "no privacy", "private_mean": "private mean", "trivial": "no-data baseline",
              "random_guess": "random guess"}

