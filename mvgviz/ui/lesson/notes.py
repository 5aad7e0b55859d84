"""The teacher's notes: for each step what to show, what to ask, which mistakes to expect, and all right answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import streamlit as st

from mvgviz.figures.lesson.steps import plot_clock
from mvgviz.lesson.steps import STEPS, against_circle, against_circle_along, asking_less, liver_pay, turned
from mvgviz.text import as_factor, as_number, in_html
from mvgviz.ui.lesson.panels import SCENES
from mvgviz.ui.lesson.scene import Scene
from mvgviz.ui.menu import LESSON

_PRINT = """<style>
.key {border-collapse: collapse; font-size: .9rem; margin: .2rem 0;}
.key th, .key td {text-align: left; padding: .15rem .9rem .15rem 0; font-weight: 400; vertical-align: top;
                  border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent);}
.key td {font-weight: 600;}
@media print {
  [data-testid=stSidebar], [data-testid=stHeader], [data-testid=stToolbar], .st-key-lesson_links,
  [class*=st-key-lesson_open] {display: none !important;}
  .stApp, .stAppViewContainer, .stMain, .stMainBlockContainer, [data-testid=stAppViewContainer] {
    position: static !important; overflow: visible !important; height: auto !important; display: block !important;}
  .stMainBlockContainer {padding: 0 !important; max-width: none !important;}
  [class*=st-key-lesson_note] {break-inside: avoid;}
  body, .stApp, .stApp * {color: #000 !important;}
  .stApp {background: #fff !important;}
  .stApp svg text {fill: #000 !important;}
}
</style>"""


@dataclass(frozen=True, kw_only=True)
class Note:
    """What a teacher needs for one step; ``mistakes``: what pupils say, and what to answer."""

    show: str
    ask: str
    mistakes: tuple[tuple[str, str], ...]


@lru_cache(maxsize=len(STEPS))
def note_of(number: int) -> Note:
    """The note of one step; the last one waits for the trials."""
    return _before_trials()[number - 1] if number < len(STEPS) else _on_trials()


def _before_trials() -> tuple[Note, ...]:
    return (
        Note(show="Start at 0.04. Move the noise down to 0.02, then up to 1, and let the class say when Ann is safe.",
             ask="The attacker knows 99 of the 100. What can he do with the bare average? And with the noisy one?",
             mistakes=(("“Leaving out Ann's name is enough.”", "The average alone gives her away to someone who knows "
                                                               "the others: no name is needed."),
                       ("“With enough noise he is right 0 times.”", "A coin is right 50 times of 100. That is as low "
                                                                    "as it gets: he can always guess."))),
        Note(show="Start at ε = 1. Halve the budget, then double it: the dots stay in their places, only the scale "
                  "changes.",
             ask="Is any direction safer or more exact than another? Who can read how far the circle reaches?",
             mistakes=(("“A larger ε is more private.”", "ε is what may be learned: more ε, less noise, less privacy."),
                       ("“The circle is the largest possible error.”", "5 of 100 releases fall outside it."))),
        Note(show="Start at 80 %. Go back to 50 % (the circle), then up to 90 %.",
             ask="Before you move it: if sleep gets more, what must happen to mood? Who has learned more about Ann?",
             mistakes=(("“The narrow side is less private.”",
                        "The budget is kept as a whole: the attacker looks at both averages together."),
                       ("“What sleep gains, mood loses: the area stays.”",
                        "The area grows. In total, unequal shares cost more than they give."))),
        Note(show="Start at 0°. Let the class predict the angle with the shortest blue bar, then turn to 90°; stop at "
                  "45° and 75° on the way.",
             ask="Only mood matters now. Would you rather have the circle or the ellipse at 0°? At 75°?",
             mistakes=(("“Any ellipse is better than the circle.”",
                        f"At 30° its noise on mood is {as_factor(float(against_circle(turned(30))[1]))} the circle's."),
                       ("“Turned to 45° it helps the sum of both.”",
                        "It does not: one pupil can change both answers at once, and along the sum no shape beats the "
                        f"circle. There the ellipse's noise is {as_factor(against_circle_along(turned(45), (1, 1)))} "
                        "the circle's, along the difference "
                        f"{as_factor(against_circle_along(turned(45), (1, -1)))}."))),
        Note(show="Start with the pupils' own answers, then switch to how the questions go together.",
             ask="Why do all columns have size 1 in the first table? Which cell has the least noise in the second?",
             mistakes=(("“The sizes are added.”", "They are multiplied, as in a multiplication table."),
                       ("“These numbers are absurd on a scale from 0 to 10!”",
                        "Yes: to publish every pupil's own answers takes far more noise than to publish averages. That "
                        "is a reason to ask for less, not a mistake."))),
        Note(show="Start with Theorem 1, then Theorem 2, then the exact calculation. Watch the numbers on the axis.",
             ask="All three keep the promise. Which one would you use? What is wrong with too much noise?",
             mistakes=(("“Then the theorem is wrong.”", "It is true and safe. It promises less than it keeps, because "
                                                        "its proof rounds up at every turn."),
                       ("“Less spent is better.”", "Only if nobody needs the answer: the noise is the price."))),
    )


def _on_trials() -> Note:
    worse = as_number(abs(liver_pay("mcv, alkphos").gain), 2)
    whole, less = as_number(liver_pay("drinks").one_size, 2), as_number(asking_less().one_size, 2)
    return Note(
        show="Start with drinks. Let the class vote on each of the four choices before you click it.",
        ask="We chose the favourites without looking at the data. Why does that matter? (Favourites read from the data "
            "would give something away themselves.)",
        mistakes=(("“Directional noise always wins.”",
                   f"Favour cell size and another enzyme, and the error grows by {worse} half pints a day."),
                  ("“So the shape is what matters most.”",
                   "Asking for less matters more: from a noisy table of averages (6 × 6), with noise of one size, the "
                   f"error is {less} in place of {whole} half pints a day.")))


def draw_overview() -> None:
    """The clock, and how to use the notes."""
    st.html(_PRINT)
    minutes = [step.minutes for step in STEPS]
    st.plotly_chart(plot_clock([scene.title for scene in SCENES], minutes), key="lesson_clock",
                    alt=f"Seven steps in {sum(minutes)} minutes.", config={"displayModeBar": False})
    st.markdown(f"Seven steps, **{sum(minutes)} minutes**. In each: read the three sentences aloud, let the class "
                "guess, move the control, then answer the question together. Every answer below is computed, as on the "
                "page itself. To print these notes, use the browser's print command.")


def draw_note(scene: Scene) -> None:
    """One step."""
    number = scene.step.number
    note = note_of(number)
    begin = sum(step.minutes for step in STEPS[: number - 1])
    with st.container(border=True, key=f"lesson_note_{number}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"#### {number}. {scene.title}")
            st.markdown(f"minute {begin} to {begin + scene.step.minutes} · {scene.step.minutes} minutes")
            with st.container(key=f"lesson_open_{number}", width="content"):
                st.page_link(LESSON.path, label=f"Open step {number}", icon=LESSON.icon,
                             query_params={"step": str(number)})
        left, right = st.columns([3, 2], gap="large")
        with left:
            st.markdown(f"**Show.** {note.show}")
            st.markdown(f"**Ask.** {note.ask}")
            st.markdown("**Expect.**\n" + "\n".join(f"* {said} {reply}" for said, reply in note.mistakes))
        with right:
            st.markdown(f"**Right answers.** {scene.question(scene.step.start)}")
            st.html(_key(scene))


def _key(scene: Scene) -> str:
    """Every value of the control with its right answer, as a table."""
    lines = []
    for value in scene.step.values:
        answer = scene.step.answer(value)
        right = scene.option(answer.right) if answer.options else as_number(answer.value)
        lines.append(f'<tr><th scope="row">{in_html(scene.shown(value))}</th><td>{in_html(right)}</td></tr>')
    return (f'<table class="key"><thead><tr><th scope="col">{in_html(scene.control)}</th><th scope="col">right answer'
            f"</th></tr></thead><tbody>{''.join(lines)}</tbody></table>")
