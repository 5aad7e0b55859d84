"""The pages, in the order and sections of the menu."""

from dataclasses import dataclass


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


HOME = Page("app.py", "Learn", "Home", "home", "Where should the noise go?")
LESSON = Page("pages/lesson.py", "Learn", "Lesson", "school", "How can noise have a direction?")
ATTACKER = Page("pages/attacker.py", "Learn", "Play the attacker", "target", "Can you find Ann out?")
DATA = Page("pages/data.py", "Explore", "Data & query", "table_chart", "What is asked, and what can one record change?")
SHAPE = Page("pages/shape.py", "Explore", "Noise shape", "blur_on", "What does the noise look like?")
BUDGET = Page("pages/budget.py", "Explore", "Precision budget", "pie_chart", "Who gains, who pays?")
BOUNDS = Page("pages/bounds.py", "Explore", "Bounds", "vertical_align_top",
              "Theorem 1 or Theorem 2, and how far from the limit?")
PRIVACY = Page("pages/privacy.py", "Explore", "Privacy spent", "lock_open", "What can an attacker still learn?")
UTILITY = Page("pages/utility.py", "Decide", "Utility", "scatter_plot", "How good is the answer after the noise?")
COMPARE = Page("pages/compare.py", "Decide", "Compare", "leaderboard", "Which mechanism, which query, which split?")
PLAN = Page("pages/plan.py", "Decide", "Several questions", "call_split", "How far does one budget go?")
PAPER = Page("pages/paper.py", "Decide", "Paper", "menu_book", "What did the paper print, and what comes out?")
RELEASE = Page("pages/release.py", "Deliver", "Release & report", "outbox",
               "What leaves the house, and what does it cost?")
LESSON_NOTES = Page("pages/lesson_notes.py", "For teachers", "Teacher's notes", "history_edu",
                    "How to teach this in 20 minutes?")
PRESENT = Page("pages/present.py", "Deliver", "Presenter's view", "slideshow", "The scenario in a few pictures")
"""Outside the menu: a switch leads there."""

PAGES = (HOME, LESSON, ATTACKER, DATA, SHAPE, BUDGET, BOUNDS, PRIVACY, UTILITY, COMPARE, PLAN, PAPER, RELEASE,
         LESSON_NOTES)
