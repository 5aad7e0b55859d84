"""Why a query's sensitivity is what it is: two lines of mathematics each, with this data's numbers."""

from mvgviz.query.neighbours import ReplacedColumn, ReplacedOuterProduct
from mvgviz.query.queries import ADDED_RECORD, FLIPPED_EDGE, REPLACED_RECORD, Query
from mvgviz.text import as_number
from mvgviz.words.neighbours import neighbour_words

LINES = {
    "identity": (r"\|X-X'\|_F=\|x-x'\|_2,\quad |x_i-x'_i|\le r_i",
                 r"s_2=\sqrt{\textstyle\sum_i r_i^2},\quad \gamma=\sqrt{n\textstyle\sum_i c_i^2}"),
    "mean": (r"\|\bar x-\bar x'\|_2=\tfrac1n\|x-x'\|_2,\quad |x_i-x'_i|\le r_i",
             r"s_2=\tfrac1n\sqrt{\textstyle\sum_i r_i^2},\quad \gamma=\sqrt{\textstyle\sum_i c_i^2}"),
    "covariance": (r"\|xx^{\mathsf T}\!-x'x'^{\mathsf T}\|_F^2=|x|^4+|x'|^4-2(x\!\cdot\! x')^2",
                   r"s_2\le\tfrac{\sqrt2}{n}\textstyle\sum_i c_i^2,\quad \gamma=\textstyle\sum_i c_i^2"),
    "moments": (r"y=(x,1),\quad\|yy^{\mathsf T}\!-y'y'^{\mathsf T}\|_F^2=|y|^4+|y'|^4-2(y\!\cdot\! y')^2",
                r"s_2\le\tfrac{\sqrt2}{n}\bigl(1+\textstyle\sum_i c_i^2\bigr),\quad \gamma=1+\textstyle\sum_i c_i^2"),
    "rbf kernel": (r"|k-k'|\le\kappa:=1-e^{-\sum r_i^2/2\ell^2}", r"s_2=\kappa\sqrt{2(n-1)},\quad \gamma=n"),
    "adjacency": (r"A-A'=\pm(e_ie_j^{\mathsf T}+e_je_i^{\mathsf T})", r"s_2=\sqrt2,\quad \gamma=\sqrt{N(N-1)}"),
    "laplacian": (r"L-L'=\pm(e_i-e_j)(e_i-e_j)^{\mathsf T}", r"s_2=2,\quad \gamma=N\sqrt{N-1}")}
"""By query, in LaTeX."""
WORDS = {
    "identity": "Only the column of the replaced record changes, by at most the width rᵢ of each range.",
    "mean": "One record of n moves the mean by an n-th of its own move.",
    "covariance": "Largest with one record at a corner of the ranges and the other on an edge; cᵢ is the largest size "
                  "in a range. The paper uses 2 in place of √2.",
    "moments": "The constant 1 is joined to every record; the second moments of both hold the mean beside them.",
    "rbf kernel": "One row and one column change; ℓ is the kernel length. The paper uses √(8n − 4).",
    "adjacency": "One edge changes two entries by 1; γ is that of the complete graph.",
    "laplacian": "One edge changes four entries by 1; γ is that of the complete graph."}
"""The same in a sentence."""
_INSIDE = r"z=B(x-c),\quad \|z\|\le R\;\Rightarrow\;"
BOUNDED_LINES = {
    "identity": (_INSIDE + r"\|z-z'\|\le 2R", r"\text{noise }\sigma\text{ on every entry of }z:\quad\mu=2R/\sigma"),
    "mean": (_INSIDE + r"\|\bar z-\bar z'\|\le 2R/n",
             r"\text{noise }\sigma\text{ on every entry of }z:\quad\mu=2R/(n\sigma)"),
    "covariance": (r"z=Bx:\quad zz^{\mathsf T}\!-z'z'^{\mathsf T}\text{ of rank 2, within}\pm R^2",
                   r"\mu\le\tfrac{R^2}{n}\sqrt{q_1^2+q_2^2},\;\; q_k\text{ precisions in }z"),
    "rbf kernel": (_INSIDE + r"\|x-x'\|\le D=2R/s_{\min}(B)",
                   r"s_2=\kappa\sqrt{2(n-1)},\quad\kappa:=1-e^{-D^2/2\ell^2}")}
BOUNDED_LINES["moments"] = BOUNDED_LINES["covariance"]
"""By query, for records inside an ellipse: B is its matrix, c its centre, R its radius."""
BOUNDED_WORDS = {
    "identity": "Worst from one end of the ellipse to the other. The noise has the ellipse's own shape, so it is the "
                "same in every direction of z, and no private Gaussian noise has less anywhere.",
    "mean": "One record of n moves the mean by an n-th of its own move, from one end of the ellipse to the other. The "
            "noise has the ellipse's own shape: the same in every direction of z.",
    "covariance": "Worst from the end of one axis to that of another; q₁ ≥ q₂ are the largest. With the ellipse's own "
                  "shape q₁ = q₂ = 1/σ, so μ = √2 R²/(nσ). The ranges hold, too: where they allow less, the "
                  "smaller bound is used.",
    "moments": "As for second moments, of the record with its constant joined: both are scaled together, so pulling "
               "only lowers a record's weight.",
    "rbf kernel": "One row and one column change, as far as two records of the ellipse can be apart; ℓ is the kernel "
                  "length."}
"""The same in a sentence."""

ADDED_LINES = {
    "identity": (r"\|X-X'\|_F=\|x-m\|_2,\quad |x_i-m_i|\le r_i/2",
                 r"s_2=\tfrac12\sqrt{\textstyle\sum_i r_i^2},\quad \gamma=\sqrt{n\textstyle\sum_i c_i^2}"),
    "mean": (r"\|\bar x-\bar x'\|_2=\tfrac1n\|x-m\|_2,\quad |x_i-m_i|\le r_i/2",
             r"s_2=\tfrac1{2n}\sqrt{\textstyle\sum_i r_i^2},\quad \gamma=\sqrt{\textstyle\sum_i c_i^2}"),
    "covariance": (r"\|xx^{\mathsf T}\|_F=|x|^2", r"s_2=\tfrac1n\textstyle\sum_i c_i^2,\quad \gamma=\sum_i c_i^2"),
    "moments": (r"y=(x,1),\quad\|yy^{\mathsf T}\|_F=|y|^2",
                r"s_2=\tfrac1n\bigl(1+\textstyle\sum_i c_i^2\bigr),\quad \gamma=1+\textstyle\sum_i c_i^2")}
"""By query, where a record is added or removed: m is the middle of the ranges, n the public number of places."""
ADDED_BOUNDED_LINES = {
    name: (_INSIDE + r"\|z-0\|\le R", r"\text{noise }\sigma\text{ on every entry of }z:\quad\mu=" + mu)
    for name, mu in {"identity": r"R/\sigma", "mean": r"R/(n\sigma)", "covariance": r"R^2/(n\sigma)",
                     "moments": r"R^2/(n\sigma)"}.items()}


def derivation(query: Query) -> tuple[tuple[str, str], str]:
    """Two lines of LaTeX and a sentence."""
    if isinstance(body := query.neighbours, ReplacedColumn | ReplacedOuterProduct) and (
            query.neighbour_rule != REPLACED_RECORD or body.levels):
        return _other_neighbours(query, body)
    lines, said = (LINES, WORDS) if query.bound is None else (BOUNDED_LINES, BOUNDED_WORDS)
    return lines[query.name], said[query.name]


def _other_neighbours(query: Query, body: ReplacedColumn | ReplacedOuterProduct) -> tuple[tuple[str, str], str]:
    """The same where records are added or removed, a person has several, or features are levels of categories."""
    bounded = query.bound is not None
    lines = ((ADDED_BOUNDED_LINES if bounded else ADDED_LINES) if body.added else BOUNDED_LINES if bounded else LINES)
    several = query.neighbour_rule not in (REPLACED_RECORD, ADDED_RECORD)
    said = [neighbour_words(query.neighbour_rule)]
    if bounded and body.added:
        said.append("With a bound an empty place counts as its centre.")
    if several:
        said.append("The lines are for one of these records; all of them may change alike, so a mean or second moments "
                    "move that many times as far, and of a table that many columns change.")
    if body.levels:
        said.append("Of the levels of a category a record has one, so at most two of them change.")
    return lines[query.name], " ".join(said)


def facts(query: Query) -> str:
    """Size, sensitivities, largest norm and structure in one Markdown line."""
    same = abs(query.sensitivity - query.printed_sensitivity) <= 1e-12 * query.sensitivity
    as_in_paper = query.neighbour_rule in (REPLACED_RECORD, FLIPPED_EDGE)
    printed = "the same in the paper" if same else f"the paper computes {as_number(query.printed_sensitivity)}"
    if not as_in_paper:  # the paper's neighbours are others
        printed = f"the theorems are given {'the same' if same else as_number(query.printed_sensitivity)}"
    structure = "positive semi-definite" if query.psd else "symmetric" if query.symmetric else "no structure"
    return (f"Answer {query.rows:,} × {query.cols:,} · sensitivity s₂ = **{as_number(query.sensitivity)}** ({printed}) "
            f"· largest norm γ = **{as_number(query.gamma)}** · {structure} · neighbours: {query.neighbour_rule}")
