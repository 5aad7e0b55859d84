"""Data in: files that a user brings, and the samples that come with the package.

>>> from mvgviz.data import load_table
>>> data = load_table(b"age,dose\\n31,0.5\\n58,2.5\\n", ranges={"age": (0, 120), "dose": (0, 5)})
>>> data.features, data.n_records, data.ranges_origin.value
(('age', 'dose'), 2, 'declared')
"""

from typing import TYPE_CHECKING, Any

from mvgviz.data.conversion import propose_ranges, table_to_dataset
from mvgviz.data.samples import FeatureInfo, SampleInfo, describe, sample, samples
from mvgviz.data.table import Table

if TYPE_CHECKING:
    from mvgviz.data.readers import load_table, read_table

__all__ = ["FeatureInfo", "SampleInfo", "Table", "describe", "load_table", "propose_ranges", "read_table", "sample",
           "samples", "table_to_dataset"]


def __getattr__(name: str) -> Any:
    """What reads files is imported when it is first asked for: it brings large libraries along."""
    if name not in ("load_table", "read_table"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from mvgviz.data import readers

    return getattr(readers, name)
