"""``python -m mvgviz``: the command ``mvgviz``."""

import sys

from mvgviz.command.main import main

if __name__ == "__main__":
    sys.exit(main())
