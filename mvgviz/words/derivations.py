"""Why a query's sensitivity is what it is: two lines of mathematics each, with this data's numbers."""

from mvgviz.query.queries import Query
from mvgviz.text import as_number

LINES = {
    "identity": (r"\|X-X'\|_F=\|x-x'\|_2,\quad |x_i-x'_i|\le r_i",
                 r"s_2=\sqrt{\textstyle\sum_i r_i^2},\quad \gamma=\sqrt{n\textstyle\sum_i c_i^2}"),
    "mean": (r"\|\bar x-\bar x'\|_2=\tfrac1n\|x-x'\|_2,\quad |x_i-x'_i|\le r_i",
             r"s_2=\tfrac1n\sqrt{\textstyle\sum_i r_i^2},\quad \gamma=\sqrt{\textstyle\sum_i c_i^2}"),
    "covariance": (r"\|xx^{\mathsf T}\!-x'x'^{\mathsf T}\|_F^2=|x|^4+|x'|^4-2(x\!\cdot\! x')^2",
                   r"s_2\le\tfrac{\sqrt2}{n}\textstyle\sum_i c_i^2,\quad \gamma=\textstyle\sum_i c_i^2"),
    "rbf kernel": (r"|k-k'|\le\kappa:=1-e^{-\sum r_i^2/2\ell^2}", r"s_2=\kappa\sqrt{2(n-1)},\quad \gamma=n"),
    "adjacency": (r"A-A'=\pm(e_ie_j^{\mathsf T}+e_je_i^{\mathsf T})", r"s_2=\sqrt2,\quad \gamma=\sqrt{N(N-1)}"),
    "laplacian": (r"L-L'=\pm(e_i-e_j)(e_i-e_j)^{\mathsf T}", r"s_2=2,\quad \gamma=N\sqrt{N-1}")}
"""By query, in LaTeX."""
WORDS = {
    "identity": "Only the column of the replaced record changes, by at most the width rᵢ of each range.",
    "mean": "One record of n moves the mean by an n-th of its own move.",
    "covariance": "Largest with one record at a corner of the ranges and the other on an edge; cᵢ is the largest size "
                  "in a range. The paper uses 2 in place of √2.",
    "rbf kernel": "One row and one column change; ℓ is the kernel length. The paper uses √(8n − 4).",
    "adjacency": "One edge changes two entries by 1; γ is that of the complete graph.",
    "laplacian": "One edge changes four entries by 1; γ is that of the complete graph."}
"""The same in a sentence."""


def facts(query: Query) -> str:
    """Size, sensitivities, largest norm and structure in one Markdown line."""
    same = abs(query.sensitivity - query.printed_sensitivity) <= 1e-12 * query.sensitivity
    printed = "the same in the paper" if same else f"the paper computes {as_number(query.printed_sensitivity)}"
    structure = "positive semi-definite" if query.psd else "symmetric" if query.symmetric else "no structure"
    return (f"Answer {query.rows:,} × {query.cols:,} · sensitivity s₂ = **{as_number(query.sensitivity)}** ({printed}) "
            f"· largest norm γ = **{as_number(query.gamma)}** · {structure} · neighbours: {query.neighbour_rule}")
