"""Rebuilds a scenario of mvgviz: its noise, its trials and, if asked, one release.

    python program.py [data file] [--trials N] [--release out.csv]

Made with mvgviz VERSION. In a checkout of mvgviz: pip install ".[data,release]"; or the same of its wheel.
"""

# %% markdown
# # A scenario of mvgviz
#
# The noise of one private answer, its expected error and, if you ask for it, the answer itself. Made with mvgviz
# VERSION. In a checkout of mvgviz: `pip install ".[data,release]"`; or the same of its wheel.

# %% code
import argparse
import sys
from pathlib import Path

import mvgviz as mv

# %% template
# Runs as it stands. A program is exported with these decided, and without them.
FROM_FILE = WITH_DIRECTIONS = IN_NOTEBOOK = False
READING, USE = {}, {}

# %% markdown
# ## What was chosen

# %% code
SCENARIO = mv.Scenario(data="two_features")
if FROM_FILE:
    FILE = "table.csv"  # change it if yours lies elsewhere
    COLUMNS = None
    RANGES = None  # what is not here is read from the file, which is not private
if WITH_DIRECTIONS:
    DIRECTIONS = "directions.csv"  # an orthonormal matrix, one direction a column
    DIRECTIONS_ORIGIN = mv.Origin.DECLARED

# %% markdown
# ## The data

# %% code
if FROM_FILE:
    def load(file=FILE):
        """Return the table with the columns and ranges of the scenario; values outside are clipped."""
        table = mv.read_table(file, **READING)
        return mv.table_to_dataset(table, columns=COLUMNS, ranges=RANGES, **USE)
else:
    def load():
        """Return a sample that comes with mvgviz."""
        return mv.sample(SCENARIO.data)


if WITH_DIRECTIONS:
    def directions(file=DIRECTIONS):
        """Return the uploaded directions."""
        return mv.from_matrix(mv.read_table(file).values, origin=DIRECTIONS_ORIGIN)


if IN_NOTEBOOK:
    data = load()

# %% markdown
# ## The noise
#
# How much noise each direction gets, and what that spends.

# %% code
def show_design(setup):
    """Print what is asked and spent, and the noise along each direction (the first 20)."""
    design = setup.design
    at_most = "" if design.mu_is == "exact" else "at most "
    print(f"query: {setup.query.name}, {design.rows} x {design.cols}; neighbours: {setup.neighbour_rule}")
    if setup.query.bound is not None:
        origin = setup.looked_at["bound"].words
        print(f"records: clipped to an ellipse of radius {setup.query.bound.radius:g}, {origin}")
    print(f"epsilon asked: {SCENARIO.epsilon:.6g} at delta {setup.delta:.6g}")
    print(f"epsilon spent by the noise: {at_most}{setup.epsilon_spent:.6g}")
    print("; ".join(f"{what}: {origin.words}" for what, origin in setup.looked_at.items()))
    print("noise along each direction (standard deviation):")
    own, units = mv.along_directions(setup)
    for name, std, unit in list(zip(setup.direction_names, design.direction_std() * own, units, strict=True))[:20]:
        print(f"  {name!r}: {std:.6g} {unit}")
    clipping = mv.clipping_of(setup)
    if clipping is not None:
        print(f"clipping adds to a number at most {clipping.most.max():.6g}, on this data {clipping.here.max():.6g} "
              "(not private)")


if IN_NOTEBOOK:
    uploaded = directions() if WITH_DIRECTIONS else None
    setup = mv.build(SCENARIO, data, uploaded=uploaded)
    show_design(setup)

# %% markdown
# ## How good the answer will be
#
# Repeated trials, measured on the data itself: **not private**, for choosing only.

# %% code
def show_trials(data, trials, uploaded):
    """Print the mean error of directional and of equal noise, and the errors to beat."""
    results = mv.run_trials(SCENARIO, data, trials=trials, problem=mv.pose(SCENARIO, data, uploaded=uploaded))
    judged = "" if results.judged_on == "everything" else f" (of the answer: {results.judged_on})"
    print(f"{results.metric}{judged} in {trials} trials, measured on the data (not private):")
    for outcome in results.outcomes:
        low, high = outcome.interval
        print(f"  {outcome.mechanism.label}: {outcome.mean:.6g}, 95 % interval {low:.6g} to {high:.6g}")
    print(f"  no privacy: {results.references.non_private:.6g}")
    if SCENARIO.task.endswith("ridge"):
        print(f"  private mean of the label: {results.references.private_mean:.6g}")
    print(f"  no-data baseline: {results.references.trivial:.6g}")
    print(f"  random guess: {results.references.random_guess:.6g}")


if IN_NOTEBOOK:
    show_trials(data, SCENARIO.trials, uploaded)

# %% markdown
# ## One release
#
# Fresh noise, from the operating system: **every run of this cell with a file name spends the budget again**. What was
# read from the data must be accepted by name.

# %% code
def make_release(setup, data, out, accept=(), ledger=None, population=None):
    """Release one answer with fresh noise. Every call spends the budget again; a ledger counts it for a population."""
    about, intervals = out.with_suffix(".json"), out.with_name(f"{out.stem}_intervals.csv")
    if out == about or any(file.exists() for file in (out, about, intervals)) or not out.parent.is_dir():
        raise mv.InputError(f"{out} must be a new .csv file in an existing folder, without a .json or "
                            "_intervals.csv of its name")
    planned = mv.plan(setup)
    delta = "with delta = 0" if setup.design.is_pure else f"at delta {planned.delta:.6g}"
    print(f"a release spends epsilon {planned.epsilon:.6g} {delta}")
    symmetrise = setup.query.symmetric and "symmetrise" in SCENARIO.post
    given = mv.release_setup(setup, accept=accept, symmetrise=symmetrise, population=population,
                             ledger=mv.Ledger(ledger) if ledger else None)
    out.write_text(mv.to_csv(given), encoding="utf-8", newline="")
    about.write_text(mv.to_metadata_json(given), encoding="utf-8")
    if given.entry_noise is not None:  # the shape of the noise is public
        intervals.write_text(mv.to_intervals_csv(given), encoding="utf-8", newline="")
    print(f"released: {given.guarantee}")


if IN_NOTEBOOK:
    release_to = None  # for example "release.csv"
    accept = []
    ledger, population = None, None  # for example "ledger.sqlite", "patients of 2024"
    if release_to:
        make_release(setup, data, Path(release_to), accept, ledger, population)

# %% program
def main():
    """Print design and trials; make a release if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    if FROM_FILE:
        parser.add_argument("file", nargs="?", default=FILE, help="the table (%(default)r)")
    if WITH_DIRECTIONS:
        parser.add_argument("--directions", default=DIRECTIONS, help="a file of directions")
    parser.add_argument("--trials", type=int, default=SCENARIO.trials, help="how often to try (%(default)s; 0: never)")
    parser.add_argument("--release", type=Path, metavar="out.csv", help="draw a real release: spends the budget")
    parser.add_argument("--accept", nargs="*", default=[], metavar="PART",
                        help="ranges, records, bound, directions, split, choices: what no guarantee covers")
    parser.add_argument("--ledger", type=Path, metavar="FILE", help="the lasting ledger that counts the release")
    parser.add_argument("--population", metavar="NAME", help="who the records are about, for the ledger")
    options = parser.parse_args()
    sys.stdout.reconfigure(errors="backslashreplace")
    data = load(options.file) if FROM_FILE else load()
    uploaded = directions(options.directions) if WITH_DIRECTIONS else None
    setup = mv.build(SCENARIO, data, uploaded=uploaded)
    show_design(setup)
    if options.trials:
        show_trials(data, options.trials, uploaded)
    if options.release:
        make_release(setup, data, options.release, options.accept, options.ledger, options.population)


if __name__ == "__main__":
    try:
        main()
    except (mv.InputError, OSError) as error:
        sys.exit(str(error))
