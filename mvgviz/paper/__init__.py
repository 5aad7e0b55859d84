"""The paper's three experiments: what it printed, and what comes out.

``mvgviz experiments`` prints the tables. From Python:

>>> from mvgviz.data import sample
>>> from mvgviz.paper import EXPERIMENTS, run
>>> two = EXPERIMENTS["II"]
>>> report = run(two, sample(two.scenario.data), trials=10)
>>> [row.label for row in report.rows if row.printed][:2]
['MVG, Theorem 1', 'MVG, Theorem 2']
>>> report["theorem1"].printed.mean
0.2138
"""

from mvgviz.paper.runs import EPSILONS, SHARES, Cell, Curve, MeasuredRow, Report, direction_curves, run
from mvgviz.paper.tables import EXPERIMENTS, Experiment

__all__ = ["EPSILONS", "EXPERIMENTS", "SHARES", "Cell", "Curve", "Experiment", "MeasuredRow", "Report",
           "direction_curves", "run"]
