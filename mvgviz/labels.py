"""What the choices of a scenario are called: each label once, a column for each place that needs other words."""

from typing import NamedTuple


class Guarantee(NamedTuple):
    """``name``: among others of its kind; ``in_sentence``: alone; ``in_chart``: where "as printed" matters."""

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
    """The side with directional noise; ``over`` and ``sides`` are empty where the query is to decide."""

    choice: str
    over: str
    sides: str


class Allocation(NamedTuple):
    """``design``: in the name of a design, which is told who is favoured where that matters."""

    name: str
    choice: str
    design: str


GUARANTEES = {
    "exact": Guarantee(
        name="exact", in_sentence="the exact guarantee", in_chart="exact limit", button="Exact",
        explained="The exact privacy of Gaussian noise: it spends what you ask, no more.",
        calibrated="exactly: the noise is made to spend what was asked, no more",
        source="calibrated exactly (Balle & Wang 2018 on the design's worst neighbours)"),
    "theorem1": Guarantee(
        name="Theorem 1", in_sentence="Theorem 1", in_chart="Theorem 1, as printed", button="Theorem 1",
        explained="The paper's general bound, as printed: any query.",
        calibrated="by the paper's Theorem 1 (general), as printed", source="the paper's Theorem 1 (general)"),
    "theorem2": Guarantee(
        name="Theorem 2", in_sentence="Theorem 2", in_chart="Theorem 2, as printed", button="Theorem 2",
        explained="The paper's bound for positive semi-definite queries, as printed.",
        calibrated="by the paper's Theorem 2 (positive semi-definite answers), as printed",
        source="the paper's Theorem 2 (PSD)"),
    "theorem2-any": Guarantee(
        name="Theorem 2's constant", in_sentence="Theorem 2's constant", in_chart="Theorem 2's constant, any query",
        button="2, any query",
        explained="Theorem 2's constant for any query: its proof needs no more. Ours, not the paper's.",
        calibrated="by Theorem 2's constant for any answer (its proof needs no more; not in the paper)",
        source="Theorem 2's constant, for any query (not in the paper)"),
}
TAILS = {
    "printed": Tail("as printed", "as printed", "the printed tail"),
    "laurent-massart": Tail("Laurent–Massart", "Laurent–Massart", "the Laurent–Massart tail"),
    "exact-chi": Tail("exact chi quantile", "exact chi", "the exact chi quantile as tail"),
}
MODES = {
    "auto": Mode("As the query suggests", "", ""),
    "rows": Mode("Rows (features)", "over the rows of the answer", "rows"),
    "columns": Mode("Columns (records)", "over its columns", "columns"),
    "both": Mode("Both sides alike", "over both sides alike", "both sides"),
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
    "binary": Allocation("a share for some", "A share for some", "{percent:.0f} % to {favoured}"),
    "manual": Allocation("by hand", "By hand", "shares by hand"),
    "max-pnr": Allocation("the paper's best split (max-PNR)", "The paper's best split (max-PNR)",
                          "paper's best split"),
    "least-error": Allocation("least error", "Least weighted error", "least error for {favoured}"),
}
FORMS = {  # of max-PNR: as the sidebar offers them, beside their picture, and in a list of splits
    "exact": ("", "Exact", "paper's best split, exact"),
    "relaxed": ("As in the paper (relaxed)", "Relaxed (paper)", "paper's best split, relaxed"),
    "unrelaxed": ("Under the theorem's own constraint", "Unrelaxed", "paper's best split, unrelaxed"),
}
SPLITS = ({key: allocation.name for key, allocation in ALLOCATIONS.items()}
          | {f"max-pnr {form}": name for form, (*_, name) in FORMS.items()})
BOUNDS = {  # what records are pulled into before anything is asked: as a control offers it, and in a sentence
    "none": ("No: the ranges alone", "records only inside their ranges"),
    "even": ("An ellipse as long as an evenly spread record", "records pulled into an ellipse as long as an evenly "
             "spread record"),
    "own": ("An ellipse of a length I choose", "records pulled into an ellipse {radius:g} times as long as an evenly "
            "spread record"),
    "private": ("An ellipse whose length is found privately", "records pulled into an ellipse whose length was found "
                "privately, for a tenth of the budget"),
}
JUDGED = {"everything": "everything", "needed": "what is needed", "rest": "the rest"}
REFERENCES = {"non_private": "without privacy", "private_mean": "private mean", "trivial": "answer without data",
              "random_guess": "random guess"}

