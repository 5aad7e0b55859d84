"""The pages, in the order and sections of the menu."""

from __future__ import annotations

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
DATA = Page(path="pages/data.py", section="Explore", label="Data & query", icon=":material/table_chart:",
            question="What is asked, and what can one record change?")
PAGES = (HOME, DATA)
