"""Features, a label, and the records on which predictions are measured."""

import math
from dataclasses import dataclass, field

import numpy as np

from mvgviz.errors import InputError
from mvgviz.trials.question import Problem
from mvgviz.validation import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Labelled:
    """``scale``: the largest declared value of each feature. The label is one of the rows of the table."""

    features: list[int]
    label: int
    lower: FloatArray = field(repr=False)
    upper: FloatArray = field(repr=False)
    test_features: FloatArray = field(repr=False)
    test_labels: FloatArray = field(repr=False)

    @property
    def scale(self) -> FloatArray:
        return np.maximum(np.abs(self.lower), np.abs(self.upper))

    @property
    def middle(self) -> float:
        """The middle of the label's declared range."""
        return float(self.lower[self.label] + self.upper[self.label]) / 2

    @property
    def middle_rmse(self) -> float:
        """Of always predicting the middle."""
        return float(self.rmse(np.full((1, self.test_labels.size), self.middle))[0])

    @property
    def blind_rmse(self) -> dict[str, float]:
        """Of predictions that ignore the data, by name: the middle of the range, the value in it nearest 0."""
        nearest = float(np.clip(0.0, self.lower[self.label], self.upper[self.label]))
        return {"the middle of the label's range": self.middle_rmse, "in the label's range the value nearest 0": float(
            self.rmse(np.full((1, self.test_labels.size), nearest))[0])}

    @property
    def random_rmse(self) -> float:
        """Of predicting uniformly in the label's range."""
        width = float(self.upper[self.label] - self.lower[self.label])
        return math.hypot(self.middle_rmse, width / math.sqrt(12))

    def rmse(self, predictions: FloatArray) -> FloatArray:
        """Root-mean-square error of each row of predictions."""
        return np.asarray(np.sqrt(np.square(predictions - self.test_labels).mean(axis=1)))


def labelled(problem: Problem) -> Labelled:
    """The labelled problem; refuses one without a label or without features."""
    table, held_out, label = problem.question.table, problem.question.held_out, problem.scenario.label
    if table is None or held_out is None:
        raise InputError("regression needs a table of records")
    if label is None:
        raise InputError("regression needs a label: choose the feature that is to be predicted")
    if label >= table.n_features:
        raise InputError(f"the label must be one of the {table.n_features} features, got position {label}")
    features = [k for k in range(table.n_features) if k != label]
    if not features:
        raise InputError("regression needs at least one feature besides the label")
    return Labelled(features=features, label=label, lower=table.lower, upper=table.upper,
                    test_features=held_out.matrix[features], test_labels=held_out.matrix[label])
