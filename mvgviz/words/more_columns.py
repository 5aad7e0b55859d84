"""Sentences on one needed column among more and more."""

from mvgviz.design.more_columns import Gain
from mvgviz.text import as_number


def gain_words(gain: Gain, epsilon: float) -> str:
    """What directional noise gains at this number of columns, and what equal noise would have to spend."""
    return (f"{gain.columns} columns, one needed: {as_number(gain.needed, 2)} of the noise on it. To be as precise "
            f"there, equal noise would need ε = {as_number(gain.equal_epsilon, 2)} instead of {epsilon:g}.")
