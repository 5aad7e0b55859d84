"""``python -m mvgviz.paper``: the paper's three experiments as Markdown tables."""

import argparse
import os
import sys
from concurrent.futures import ThreadPoolExecutor

from mvgviz.data import sample
from mvgviz.errors import InputError
from mvgviz.paper import EXPERIMENTS, run
from mvgviz.paper.markdown import OPENING, report_markdown
from mvgviz.validation import count


def main(arguments: list[str] | None = None) -> int:
    """Print the tables (docs/experiments.md) to stdout and the progress to stderr."""
    parser = argparse.ArgumentParser(prog="python -m mvgviz.paper", description=__doc__)
    parser.add_argument("--trials", type=int, default=100, help="trials for each figure (100)")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers (0)")
    chosen = parser.parse_args(arguments)
    try:
        trials, seed = count("trials", chosen.trials), count("seed", chosen.seed, at_least=0)
    except InputError as error:
        parser.error(str(error))
    print(OPENING, flush=True)  # noqa: T201
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as workers:
        for experiment in EXPERIMENTS.values():
            print(f"Experiment {experiment.key} …", file=sys.stderr, flush=True)  # noqa: T201
            report = run(experiment, sample(experiment.scenario.data), trials=trials, seed=seed, executor=workers)
            print(report_markdown(report), flush=True)  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
