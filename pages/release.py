"""Release & report: one noisy answer and its ledger; report, script, notebook, link."""

from mvgviz.scenario.resolve import Setup
from mvgviz.ui.frame import draw_open_tab, try_open_page
from mvgviz.ui.menu import RELEASE
from mvgviz.ui.release.exports import draw_exports
from mvgviz.ui.release.panels import draw_ledger, draw_release, draw_released


def draw_releases(setup: Setup | None) -> None:
    """What can be released of a scenario that works out; what was released, and the ledger."""
    if setup is not None:
        draw_release(setup)
    draw_released()
    draw_ledger()


setup = try_open_page(RELEASE)
if setup is None:
    draw_releases(None)
else:
    draw_open_tab({"Release": draw_releases, "Report, script, link": draw_exports}, setup, key="release_tab")
