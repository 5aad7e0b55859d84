"""What the pictures of the bounds share: ticks at powers of ten, a colour as a wash."""

from __future__ import annotations

import math
from typing import Any


def decades(low: float, high: float) -> dict[str, Any]:
    """Ticks for a log axis between two exponents: whole powers of ten, at most about eight."""
    if high - low < 2:
        return {"exponentformat": "power", "nticks": 8}
    return {"exponentformat": "power", "dtick": max(1, math.ceil((high - low) / 8))}


def wash(colour: str, strength: float) -> str:
    """The colour, mostly transparent, so that it shows on light and dark."""
    red, green, blue = (int(colour[i:i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{strength:g})"
