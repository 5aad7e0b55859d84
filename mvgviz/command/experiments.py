"""``mvgviz experiments``: the paper's three experiments as Markdown tables (docs/experiments.md)."""

import argparse
import os
import sys
from concurrent.futures import ThreadPoolExecutor

from mvgviz.command import say
from mvgviz.data import sample
from mvgviz.paper import EXPERIMENTS, run
from mvgviz.paper.words import OPENING, report_markdown
from mvgviz.validation import count


def experiments(chosen: argparse.Namespace) -> int:
    """Print the tables."""
    trials, seed = count("trials", chosen.trials), count("seed", chosen.seed, at_least=0)
    _print(OPENING)
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as workers:
        for experiment in EXPERIMENTS.values():
            say(f"Experiment {experiment.key} …")
            _print(report_markdown(run(experiment, sample(experiment.scenario.data), trials=trials, seed=seed,
                                       executor=workers)))
    return 0


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
