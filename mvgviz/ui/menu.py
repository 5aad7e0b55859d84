"""The pages, in the order and sections of the menu, and the menu itself."""

from dataclasses import dataclass

import streamlit as st

from mvgviz.version import TOP


@dataclass(frozen=True)
class Page:
    """One page: its file, its place in the menu and the question it answers."""

    name: str
    section: str
    label: str
    symbol: str
    question: str

    @property
    def path(self) -> str:
        return str(TOP / "pages" / f"{self.name}.py")

    @property
    def icon(self) -> str:
        return f":material/{self.symbol}:"


HOME = Page("home", "Learn", "Home", "home", "Where should the noise go?")
LESSON = Page("lesson", "Learn", "Lesson", "school", "How can noise have a direction?")
ATTACKER = Page("attacker", "Learn", "Play the attacker", "target", "Can you find Ann out?")
DATA = Page("data", "Explore", "Data & query", "table_chart", "What is asked, and what can one record change?")
SHAPE = Page("shape", "Explore", "Noise shape", "blur_on", "What does the noise look like?")
BUDGET = Page("budget", "Explore", "Precision budget", "pie_chart", "Who gains, who pays?")
BOUNDS = Page("bounds", "Explore", "Bounds", "vertical_align_top",
              "Theorem 1 or Theorem 2, and how far from the limit?")
PRIVACY = Page("privacy", "Explore", "Privacy spent", "lock_open", "What can an attacker still learn?")
UTILITY = Page("utility", "Decide", "Utility", "scatter_plot", "How good is the answer after the noise?")
COMPARE = Page("compare", "Decide", "Compare", "leaderboard", "Which mechanism, which query, which split?")
PLAN = Page("plan", "Decide", "Several questions", "call_split", "How far does one budget go?")
PAPER = Page("paper", "Decide", "Paper", "menu_book", "What did the paper print, and what comes out?")
RELEASE = Page("release", "Deliver", "Release & report", "outbox",
               "What leaves the house, and what does it cost?")
LESSON_NOTES = Page("lesson_notes", "For teachers", "Teacher's notes", "history_edu",
                    "How to teach this in 20 minutes?")
PRESENT = Page("present", "Deliver", "Presenter's view", "slideshow", "The scenario in a few pictures")
"""Outside the menu: a switch leads there."""

PAGES = (HOME, LESSON, ATTACKER, DATA, SHAPE, BUDGET, BOUNDS, PRIVACY, UTILITY, COMPARE, PLAN, PAPER, RELEASE,
         LESSON_NOTES)


def navigation(*, hidden: bool) -> st.Page:
    """Register the pages and return the one of this session's address; the menu is drawn unless it is hidden."""
    menu: dict[str, list[st.Page]] = {}
    for page in (*PAGES, PRESENT):
        menu.setdefault(page.section, []).append(st.Page(
            page.path, title=page.label, icon=page.icon, default=page is HOME,
            visibility="hidden" if page is PRESENT else "visible"))
    return st.navigation(menu, expanded=True, position="hidden" if hidden else "sidebar")
