"""One look for all charts: colours that survive colour blindness, light and dark.

Colours are Okabe & Ito's (Color Universal Design, 2008), the blue lightened to be seen on
black; one stands for one thing on every page. Backgrounds are transparent so that the page's own theme shows through.
"""

import plotly.graph_objects as go

DIRECTIONAL = "#2B8CD6"
IID = "#D55E00"
EXACT = "#009E73"
THEOREM1 = "#CC79A7"
THEOREM2 = "#E69F00"
DATA = "#7F7F7F"
GUARANTEE_COLOURS = {"exact": EXACT, "theorem1": THEOREM1, "theorem2": THEOREM2, "theorem2-any": THEOREM2}
EDGE = {"width": 1.5, "color": "rgba(128,128,128,0.9)"}
"""The line around a bar's parts or a map's tiles."""


def styled(figure: go.Figure, *, height: int = 400, legend: bool = True, top: int = 10) -> go.Figure:
    """The figure with the common margins, legend and transparent background."""
    figure.update_layout(
        height=height, margin={"l": 10, "r": 10, "t": top, "b": 10}, hovermode="closest",
        paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)", showlegend=legend,
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
        xaxis={"exponentformat": "power"}, yaxis={"exponentformat": "power"},
    )
    return figure


def wash(colour: str, strength: float) -> str:
    """The colour, mostly transparent, so that it shows on light and dark."""
    red, green, blue = (int(colour[i:i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{strength:g})"
