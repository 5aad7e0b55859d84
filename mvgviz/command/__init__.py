"""The command ``mvgviz``: the app, a study without it, the paper's experiments, an audit."""
