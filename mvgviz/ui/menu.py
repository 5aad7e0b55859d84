"""The pages, in the order and sections of the menu."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Page:
    """One page: its file, its place in the menu and the question it answers."""

    path: str
    section: str
    label: str
    icon: str
    question: str


HOME = Page(path="app.py", section="Learn", label="Home", icon=":material/home:",
            question="Where should the noise go?")
LESSON = Page(path="pages/lesson.py", section="Learn", label="Lesson", icon=":material/school:",
              question="How can noise have a direction?")
LESSON_NOTES = Page(path="pages/lesson_notes.py", section="Learn", label="Teacher's notes",
                    icon=":material/history_edu:", question="How to teach this in 20 minutes?")
DATA = Page(path="pages/data.py", section="Explore", label="Data & query", icon=":material/table_chart:",
            question="What is asked, and what can one record change?")
SHAPE = Page(path="pages/shape.py", section="Explore", label="Noise shape", icon=":material/blur_on:",
             question="What does the noise look like?")
BUDGET = Page(path="pages/budget.py", section="Explore", label="Precision budget", icon=":material/pie_chart:",
              question="Who gains, who pays?")
BOUNDS = Page(path="pages/bounds.py", section="Explore", label="Bounds", icon=":material/vertical_align_top:",
              question="Theorem 1 or Theorem 2, and how far from the limit?")
PRIVACY = Page(path="pages/privacy.py", section="Explore", label="Privacy spent", icon=":material/lock_open:",
               question="What can an attacker still learn?")
UTILITY = Page(path="pages/utility.py", section="Decide", label="Utility", icon=":material/scatter_plot:",
               question="How good is the answer after the noise?")
COMPARE = Page(path="pages/compare.py", section="Decide", label="Compare", icon=":material/leaderboard:",
               question="Which mechanism, which query, which split?")
PAPER = Page(path="pages/paper.py", section="Decide", label="Paper", icon=":material/menu_book:",
             question="What did the paper print, and what comes out?")
RELEASE = Page(path="pages/release.py", section="Deliver", label="Release & report", icon=":material/outbox:",
               question="What leaves the house, and what does it cost?")
PRESENT = Page(path="pages/present.py", section="Deliver", label="Presenter's view", icon=":material/slideshow:",
               question="The scenario in a few pictures")
"""Outside the menu: a switch leads there."""

PAGES = (HOME, LESSON, LESSON_NOTES, DATA, SHAPE, BUDGET, BOUNDS, PRIVACY, UTILITY, COMPARE, PAPER, RELEASE)
