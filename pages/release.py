"""Release & report: one noisy answer and its ledger; report, script, notebook, link."""

import streamlit as st

from mvgviz.ui.frame import try_open_page
from mvgviz.ui.menu import RELEASE
from mvgviz.ui.release.exports import draw_exports, draw_scenario_upload
from mvgviz.ui.release.panels import draw_ledger, draw_release, draw_released

TABS = ("Release", "Report, script, link")

setup = try_open_page(RELEASE)
if setup is None:
    draw_scenario_upload()
    draw_released()
    draw_ledger()
    st.stop()
release, exports = st.tabs(TABS, key="release_tab", on_change="rerun")
if release.open:
    with release:
        draw_release(setup)
        draw_released()
        draw_ledger()
elif exports.open:
    with exports:
        draw_exports(setup)
