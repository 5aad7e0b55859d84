"""The pages, in the order and sections of the menu, and the menu itself."""

from dataclasses import dataclass

import streamlit as st


@dataclass(frozen=True)
class Page:
    """One page: its file, its place in the menu and the question it answers."""

    path: str
    section: str
    label: str
    symbol: str
    question: str

    @property
    def icon(self) -> str:
        return f":material/{self.symbol}:"


HOME = Page("views/home.py", "Learn", "Home", "home", "Where should the noise go?")
LESSON = Page("views/lesson.py", "Learn", "Lesson", "school", "How can noise have a direction?")
ATTACKER = Page("views/attacker.py", "Learn", "Play the attacker", "target", "Can you find Ann out?")
DATA = Page("views/data.py", "Explore", "Data & query", "table_chart", "What is asked, and what can one record change?")
SHAPE = Page("views/shape.py", "Explore", "Noise shape", "blur_on", "What does the noise look like?")
BUDGET = Page("views/budget.py", "Explore", "Precision budget", "pie_chart", "Who gains, who pays?")
BOUNDS = Page("views/bounds.py", "Explore", "Bounds", "vertical_align_top",
              "Theorem 1 or Theorem 2, and how far from the limit?")
PRIVACY = Page("views/privacy.py", "Explore", "Privacy spent", "lock_open", "What can an attacker still learn?")
UTILITY = Page("views/utility.py", "Decide", "Utility", "scatter_plot", "How good is the answer after the noise?")
COMPARE = Page("views/compare.py", "Decide", "Compare", "leaderboard", "Which mechanism, which query, which split?")
PLAN = Page("views/plan.py", "Decide", "Several questions", "call_split", "How far does one budget go?")
PAPER = Page("views/paper.py", "Decide", "Paper", "menu_book", "What did the paper print, and what comes out?")
RELEASE = Page("views/release.py", "Deliver", "Release & report", "outbox",
               "What leaves the house, and what does it cost?")
LESSON_NOTES = Page("views/lesson_notes.py", "For teachers", "Teacher's notes", "history_edu",
                    "How to teach this in 20 minutes?")
PRESENT = Page("views/present.py", "Deliver", "Presenter's view", "slideshow", "The scenario in a few pictures")
"""Outside the menu: a switch leads there."""

PAGES = (HOME, LESSON, ATTACKER, DATA, SHAPE, BUDGET, BOUNDS, PRIVACY, UTILITY, COMPARE, PLAN, PAPER, RELEASE,
         LESSON_NOTES)


def navigate() -> None:
    """Draw the menu, and run the page of this session."""
    menu: dict[str, list[st.Page]] = {}
    for page in (*PAGES, PRESENT):
        menu.setdefault(page.section, []).append(_page(page))
    st.navigation(menu, expanded=True).run()


def _page(page: Page) -> st.Page:
    return st.Page(page.path, title=page.label, icon=page.icon, default=page is HOME,
                   visibility="hidden" if page is PRESENT else "visible")
