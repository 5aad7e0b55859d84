"""List the pages in menu order, and draw the menu."""

from dataclasses import dataclass

import streamlit as st

from mvgviz.ui.cache import cached, of_session
from mvgviz.version import TOP


@dataclass(frozen=True)
class Page:
    """One page: its file, its place in the menu and its question."""

    name: str
    section: str
    label: str
    symbol: str
    question: str
    strip: bool = True  # whether the strip of the session's scenario stands under its title
    charts: bool = True  # whether it opens with a chart by Plotly

    @property
    def path(self) -> str:
        return str(TOP / "pages" / f"{self.name}.py")

    @property
    def icon(self) -> str:
        return f":material/{self.symbol}:"


HOME = Page("home", "Learn", "Home", "home", "Where should the noise go?", charts=False)
LESSON = Page("lesson", "Learn", "Lesson", "school", "How can noise have a direction?")
ATTACKER = Page("attacker", "Learn", "Play the attacker", "target", "Can you find out Ann's secret?")
DATA = Page("data", "Explore", "Data & query", "table_chart", "What do you ask, and what can one record change?")
SHAPE = Page("shape", "Explore", "Noise shape", "blur_on", "What does the noise look like?", charts=False)
BUDGET = Page("budget", "Explore", "Precision budget", "pie_chart", "Who gains, who pays?")
BOUNDS = Page("bounds", "The paper", "Bounds", "vertical_align_top", "How much extra noise do the theorems add?")
FAMILIES = Page("families", "Explore", "Families of noise", "category", "Which noise suits your numbers?")
PRIVACY = Page("privacy", "Explore", "Privacy spent", "lock_open", "What can an attacker still learn?")
UTILITY = Page("utility", "Decide", "Utility", "scatter_plot", "How good is the answer after the noise?")
COMPARE = Page("compare", "Decide", "Compare", "leaderboard", "Which design has the lowest error?")
PLAN = Page("plan", "Decide", "Several questions", "call_split", "How far does one budget go?")
PAPER = Page("paper", "The paper", "Paper", "menu_book", "What did the paper print, and what comes out?", strip=False)
RELEASE = Page("release", "Deliver", "Release & report", "outbox", "What is published, and what does it cost?")
INFORMATION = Page("information", "The paper", "Information", "graphic_eq", "How much does the noise let through?")
LESSON_NOTES = Page("lesson_notes", "For teachers", "Teacher's notes", "history_edu",
                    "How do you teach it in 15 minutes?", charts=False)
PRESENT = Page("present", "Deliver", "Presenter's view", "slideshow", "The scenario in five slides",  # not in the menu
               charts=False)
PAGES = (HOME, LESSON, ATTACKER, DATA, SHAPE, BUDGET, FAMILIES, PRIVACY, UTILITY, COMPARE, PLAN, RELEASE, PAPER, BOUNDS,
         INFORMATION, LESSON_NOTES)


@cached(1, of_session)  # not of the server: a page knows whether its session may run it
def _menu() -> dict[str, list[st.Page]]:
    menu: dict[str, list[st.Page]] = {}
    for page in (*PAGES, PRESENT):
        menu.setdefault(page.section, []).append(st.Page(
            page.path, title=page.label, icon=page.icon, default=page is HOME,
            visibility="hidden" if page is PRESENT else "visible"))
    return menu


def navigation(*, hidden: bool) -> st.Page:
    """Register the pages, draw the menu unless hidden, and return the page of this session's address."""
    return st.navigation(_menu(), expanded=True, position="hidden" if hidden else "sidebar")
