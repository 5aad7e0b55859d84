"""Read data: your files, and the samples of the package.

>>> from mvgviz.data import load_table
>>> data = load_table(b"age,dose\\n31,0.5\\n58,2.5\\n", ranges={"age": (0, 120), "dose": (0, 5)})
>>> data.features, data.n_records, data.ranges_origin.value
(('age', 'dose'), 2, 'declared')
"""

from mvgviz.data.readers import load_table, read_table
from mvgviz.data.samples import FeatureInfo, SampleInfo, describe, sample, samples
from mvgviz.data.table import Table, propose_ranges, table_to_dataset

__all__ = ["FeatureInfo", "SampleInfo", "Table", "describe", "load_table", "propose_ranges", "read_table", "sample",
           "samples", "table_to_dataset"]
