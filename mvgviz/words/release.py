"""A release in sentences: what it will spend, what is not covered, what was spent."""

from mvgviz.figures.release.budget import BudgetNumbers
from mvgviz.noise.accounting import compose_mu, gaussian_epsilon
from mvgviz.provenance import Origin
from mvgviz.query.dataset import Dataset
from mvgviz.release.ledger import CAVEATS, Total
from mvgviz.release.ready import design_words
from mvgviz.release.release import Plan, Release
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_number, at_most, delta_caution, delta_words, listed
from mvgviz.words.provenance import bound_words, thing

ACCEPT = {
    "ranges": "I accept that the **ranges were read from the data**. They size the noise, so the smallest and largest "
              "values show through it. No guarantee covers that.",
    "directions": "I accept that the **directions were read from the data** without noise. The shape of the noise "
                  "tells how the records lie. No guarantee covers that.",
    "split": "I accept that the **split of the budget was read from the data** without noise. Which direction got how "
             "much tells about the records. No guarantee covers that.",
    "records": "I accept that the **number of records follows from the data**: records were left out, for their gaps "
               "or as more than are kept of one person, and how many are left is published. No guarantee covers that.",
    "bound": "I accept that the **bound on the records was read from the data**. It sizes the noise, so the lengths of "
             "the records show through. Declare a bound instead.",
    "choices": "I accept that **choices were made by looking at the data**. What was chosen tells about the records. "
               "No guarantee covers that."}
"""What has to be ticked, by caveat."""
KEPT = "What was released stays as it is: a changed scenario, or this page drawn again, does not change it."


def spends(setup: Setup, planned: Plan) -> str:
    """ε = 1.00 at δ = 1e-6."""
    delta = delta_words(planned.delta, setup.dataset.n_records)
    return f"{at_most(setup.design.mu_is)}ε = {as_number(planned.epsilon)} at δ = {delta}"


def facts(setup: Setup, planned: Plan, so_far: Total | None, factor: float | None, off_by: str, *, lasts: bool
          ) -> list[tuple[str, str]]:
    """The summary before a release, as name and plain text.

    ``so_far``: what the same people's releases spent, None where it is not said who they are; ``off_by``: how far
    numbers lie from the answer; ``lasts``: whether the ledger does.
    """
    data = setup.dataset
    query, delta, table = setup.query, delta_words(planned.delta, data.n_records), setup.table
    graph, open_parts = query.is_graph, [CAVEATS[caveat] for caveat in planned.caveats]
    hardened = ("; what is learned privately is found anew" if factor is None else
                f": noise larger by a factor 1 + {as_number(factor - 1, 2)}")
    asked = "" if graph or setup.scenario.scale == "declared" else (
        f"; mapped onto {as_number(float(table.lower[0]))} to {as_number(float(table.upper[0]))}")
    return [
        ("leaves the house", f"{query.name}, {query.rows:,} × {query.cols:,} noisy numbers"),
        ("noise", design_words(setup.design)),
        ("a number is off by", off_by),
        ("spends", f"{spends(setup, planned)} (μ = {as_number(planned.mu)})"),
        ("these people, in all sessions" if lasts else "this data in this session",
         _so_far_words(planned, so_far, delta)),
        *(("caution", caution) for caution in [delta_caution(planned.delta, data.n_records, thing(setup))] if caution),
        ("neighbours", query.neighbour_rule),
        ("ranges", "none needed for a graph" if graph else f"{_ranges_words(data)}{asked}"),
        *([] if query.bound is None else [("records", f"{bound_words(setup.scenario)}, {query.bound.origin.words}")]),
        ("taken as known to everyone", f"{data.n_records:,} {'vertices' if graph else 'records'}, the names "
                                       "of the columns"),
        ("not covered", listed(open_parts) if open_parts else "nothing left out"),
        ("hardened", f"against floating-point attacks{hardened}")]


def _so_far_words(planned: Plan, so_far: Total | None, delta: str) -> str:
    """What was spent before this release, and after it."""
    if so_far is None:
        return "not known before it is said who they are"
    after = as_number(float(gaussian_epsilon(planned.delta, compose_mu([so_far.mu, planned.mu]))))
    before = f"nothing → ε = {after}" if so_far.mu == 0 else f"ε = {as_number(so_far.epsilon)} → {after}"
    return f"{before} at δ = {delta}"


def _ranges_words(data: Dataset) -> str:
    """All declared, all read, or how many."""
    read = sum(not origin.is_covered for origin in data.range_origins)
    if read in (0, data.n_features):
        return data.ranges_origin.words
    return f"{read:,} of {data.n_features:,} {Origin.READ.words}"


def budget_words(setup: Setup, numbers: BudgetNumbers, planned: Plan, *, lasts: bool, named: bool = True) -> str:
    """Takeaway of the budget's bar; ``lasts``: whether the ledger does; ``named``: whether these people are."""
    whom, first = ("about these people", "about these people in the ledger") if lasts else (
        "of this data", "of this data in this session")
    if not named:
        return (f"**This release spends {spends(setup, planned)}**, beside what was released about the same people "
                "before.")
    this = f"**{'Another' if numbers.before else 'This'} release spends {spends(setup, planned)}.**"
    then = (f"With what was released {whom} already (ε = {as_number(numbers.epsilon_before)}) the total becomes "
            f"ε = {as_number(numbers.epsilon_after)}." if numbers.before else
            f"It is the first {first}.")
    if numbers.more is None:
        return f"{this} {then}"
    room = {0: "**That is over the cap.**", 1: "The cap has room for this one and no other like it."}.get(
        numbers.more, f"The cap has room for {numbers.more:,} like it.")
    return f"{this} {then} {room}"


def released_words(release: Release, n_records: int) -> str:
    """Takeaway of a released answer."""
    rows, cols = release.noisy.shape
    open_parts = f" Not covered: {listed(list(release.not_covered))}." if release.caveats else ""
    return (f"**Released, {rows:,} × {cols:,}, noise included.** It spent {at_most(release.mu_is)}ε = "
            f"{as_number(release.epsilon)} at δ = {delta_words(release.delta, n_records)}.{open_parts}")


def ranges_table(data: Dataset) -> dict[str, list[object]]:
    """Every feature's range, as columns of a table."""
    return {"feature": list(data.features), "lowest": data.lower.tolist(), "highest": data.upper.tolist(),
            "origin": [origin.words for origin in data.range_origins]}
