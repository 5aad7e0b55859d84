"""A bar that moves as work goes on."""

from collections.abc import Callable

from streamlit.delta_generator import DeltaGenerator


def show_progress(bar: DeltaGenerator, text: str) -> Callable[[float], None]:
    """Move a bar as work goes on, in steps large enough to be seen."""
    told = [0.0]

    def show(done: float) -> None:
        if done >= told[0] + 0.02:
            told[0] = done
            bar.progress(min(done, 1.0), text)

    return show
