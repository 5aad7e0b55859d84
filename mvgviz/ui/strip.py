"""The strip on every page: a hundred figures, and the few numbers that matter; the rest is one click away."""

import streamlit as st

from mvgviz.scenario.resolve import Setup
from mvgviz.text import in_html
from mvgviz.ui import session
from mvgviz.words.strip import FIGURES, Fact, attacker, facts


def draw_strip(setup: Setup) -> None:
    """Provenance and neighbours stand in front only where something is not private."""
    st.html(_strip(setup))


@session.remembered(12)
def _strip(setup: Setup) -> str:
    right, guess = attacker(setup)
    front, behind = facts(setup)
    front.insert(0, Fact("best attacker", guess))
    figures = "<i></i>" * right + "<u></u>" * (FIGURES - right)
    return (f'<div class="strip"><div class="meter" aria-hidden="true">{figures}</div>'
            f'<dl aria-label="What is asked and what is spent">{"".join(map(_cell, front))}</dl>'
            f'<details><summary>More</summary><dl>{"".join(map(_cell, behind))}</dl></details></div>')


def _cell(fact: Fact) -> str:
    return (f'<div><dt>{in_html(fact.name)}: </dt><dd class="{"care" if fact.care else ""}">{in_html(fact.text)}</dd>'
            "</div>")
