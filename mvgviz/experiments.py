"""``python -m mvgviz.experiments``: the tables of the paper's experiments, printed (see ``mvgviz.paper``)."""

import sys

from mvgviz.paper.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
