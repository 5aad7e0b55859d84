"""How the rows of an answer count where it is judged: each by a factor of its own, or mixed.

>>> import numpy as np
>>> from mvgviz.query.weighing import Weighing
>>> Weighing(rows=[3.0, 1.0], both=False).of(np.array([[1.0, 2.0], [5.0, 6.0]])).tolist()
[[3.0, 6.0], [5.0, 6.0]]
"""

import hashlib
from dataclasses import dataclass, field

import numpy as np

from mvgviz.validation import FloatArray, frozen


@dataclass(frozen=True, kw_only=True, eq=False)
class Weighing:
    """``rows``: a factor for each row of an answer, or (k × rows) what is looked at as mixtures of them.

    ``both``: the columns are the same things as the rows, and count alike. ``unit``: that of the data which the length
    of what is judged is in, if any.
    """

    rows: FloatArray = field(repr=False)
    both: bool
    unit: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", frozen(np.array(self.rows, dtype=np.float64)))

    def of(self, answers: FloatArray) -> FloatArray:
        """Answers, … × rows × cols, as they are judged."""
        weighed = self._once(answers)
        return np.swapaxes(self._once(np.swapaxes(weighed, -1, -2)), -1, -2) if self.both else weighed

    def _once(self, answers: FloatArray) -> FloatArray:
        return np.asarray(self.rows[:, None] * answers if self.rows.ndim == 1 else self.rows @ answers)

    @property
    def matrix(self) -> FloatArray:
        """M, with ``M A`` (or ``M A Mᵀ``) what is judged of the answer A."""
        return np.diag(self.rows) if self.rows.ndim == 1 else self.rows

    @property
    def squares(self) -> FloatArray:
        """How much the square of an error in each row counts."""
        return np.asarray(self.rows**2 if self.rows.ndim == 1 else (self.rows**2).sum(axis=0))

    @property
    def key(self) -> str:
        """The same for the same weighing."""
        return f"{self.unit} {hashlib.sha256(self.rows.tobytes()).hexdigest()}"
