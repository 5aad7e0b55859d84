"""The version of the package, and how the parts of it that somebody lacks are installed."""

VERSION = "0.1.0"


def install_words(extra: str) -> str:
    """What to type: it works from a checkout today, and from the wheel that ``make dist`` builds."""
    wheel = f"mvgviz-{VERSION}-py3-none-any.whl"
    return f'pip install ".[{extra}]" in a checkout of mvgviz, or pip install "{wheel}[{extra}]"'
