"""A picture and what it says, as page, report, slides, notebook and gallery show it."""

from dataclasses import dataclass, field, replace

import plotly.graph_objects as go

from mvgviz.text import as_text


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure, its ``takeaway`` and what it shows (``about``), both Markdown; ``alt`` only where it says more."""

    figure: go.Figure = field(repr=False)
    takeaway: str
    about: str = ""
    alt: str = ""

    @property
    def text_alternative(self) -> str:
        """Return what is read aloud in place of the figure."""
        return self.alt or as_text(self.takeaway)

    def adding(self, sentence: str) -> "Picture":
        """Return the picture with one more sentence behind its takeaway."""
        return replace(self, takeaway=f"{self.takeaway} {sentence}".strip())
