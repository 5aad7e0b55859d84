"""Release & report: one noisy answer and its ledger; report, script, notebook, link."""

from collections.abc import Callable

from mvgviz.errors import InputError
from mvgviz.scenario.resolve import Setup
from mvgviz.ui.frame import draw_open_tab, show_error, try_open_page
from mvgviz.ui.menu import RELEASE
from mvgviz.ui.release.exports import draw_exports
from mvgviz.ui.release.ledger import draw_ledger
from mvgviz.ui.release.panels import draw_release, draw_released


def draw_releases(setup: Setup | None) -> None:
    """What can be released of a scenario that works out; what was released, and the ledger."""
    usable = setup is None or worked(lambda: draw_release(setup))
    draw_released()
    if usable:
        worked(draw_ledger)


def worked(draw: Callable[[], None]) -> bool:
    """Draw what asks the ledger; a sentence where that cannot be used, and nothing can be released."""
    try:
        draw()
    except InputError as error:
        show_error(error)
        return False
    return True


setup = try_open_page(RELEASE)
if setup is None:
    draw_releases(None)
else:
    draw_open_tab({"Release": draw_releases, "Report, script, link": draw_exports}, setup, key="release_tab")
