"""Play the attacker: guess ten rounds to feel what a budget means."""

from typing import Any

import streamlit as st

from mvgviz.lesson.game import EPSILONS, GUESSES, MOST_SEED, ROUNDS, SHAPES, game
from mvgviz.pictures.lesson import GAME_RULES, GUESS_NAMES, SHAPE_NAMES, chance_words, end_words, game_picture
from mvgviz.ui import screen, session
from mvgviz.ui.frame import open_plain_page
from mvgviz.ui.menu import ATTACKER, LESSON

_TABLE, _PLAYED = "_game_table", "_game_played"
_BUDGETS = [f"{epsilon:g}" for epsilon in EPSILONS]
_START = {"game": "1", "shape": SHAPES[0], "budget": _BUDGETS[1]}


def sit_down() -> dict[str, str]:
    """Return the game, shape and budget that a control asked for, else the address, else the last ones."""
    table: dict[str, str] = st.session_state.setdefault(_TABLE, dict(_START))
    if asked := screen.adopt_place():
        table.update({name: asked.get(name, usual) for name, usual in _START.items()})
        seed = table["game"]
        if not (seed.isdecimal() and seed.isascii() and int(seed) <= MOST_SEED and table["shape"] in SHAPES
                and table["budget"] in _BUDGETS):
            screen.say_ignored(f"games are 0 to {MOST_SEED}, shapes {', '.join(SHAPES)}, budgets {', '.join(_BUDGETS)}")
            table.update(_START)
    screen.write_place(**_place(table))
    return table


def draw_round(table: dict[str, str]) -> None:
    played = game(seed=int(table["game"]), shape=table["shape"], epsilon=float(table["budget"]))
    said = _said(table)
    with st.container(key="game"):
        picture, desk = st.columns([2, 1], gap="large")
    with picture, st.container(key="lesson_picture"):
        shown = game_picture(played, said=len(said))
        if screen.is_big():
            screen.enlarge(shown.figure)
        screen.draw_on_screen(shown, key="game_picture")
    with desk:
        if said:
            truth = played.rounds[len(said) - 1].truth
            say, word = (st.success, "Right") if said[-1] == truth else (st.warning, "Wrong")
            say(f"{word}. {GUESS_NAMES[truth]}.")
        if len(said) == ROUNDS:
            st.markdown(f"#### Ten rounds\n{end_words(played, table['shape'])}")
            other = SHAPES[(SHAPES.index(table["shape"]) + 1) % len(SHAPES)]
            with st.container(horizontal=True):
                st.button(f"Now with the {other}", key="game_other", type="primary", on_click=_sit,
                          kwargs={"shape": other})
                st.button("Another game", key="game_again", icon=":material/casino:", on_click=_sit,
                          kwargs={"game": str((int(table["game"]) + 1) % (MOST_SEED + 1))})
        else:
            st.markdown(f"#### Round {len(said) + 1} of {ROUNDS}")
            for guess, name in GUESS_NAMES.items():
                st.button(name, key=f"game_{guess}", width="stretch", on_click=_say, args=(table, guess),
                          shortcut=str(GUESSES.index(guess) + 1))
        hits = sum(guess == each.truth for guess, each in zip(said, played.rounds, strict=False))
        st.markdown(f"You: **{hits} of {len(said)}** right. {chance_words(played)}")
        st.page_link(LESSON.path, label="Back to the lesson", icon=LESSON.icon)


def _choice(label: str, name: str, table: dict[str, str], options: dict[str, str]) -> None:
    st.segmented_control(label, list(options), required=True, wrap=True, format_func=options.__getitem__,
                         **session.control(f"game_{name}", table[name], lambda new: _sit(**{name: new})))


def _sit(**changes: str) -> None:
    st.session_state[_TABLE].update(changes)
    screen.moved()


def _say(table: dict[str, str], guess: str) -> None:
    _said(table).append(guess)
    screen.moved()


def _said(table: dict[str, str]) -> list[str]:
    played: dict[Any, list[str]] = st.session_state.setdefault(_PLAYED, {})
    return played.setdefault(tuple(table.values()), [])


def _place(table: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in table.items() if text != _START[name]}


open_plain_page(ATTACKER)
table = sit_down()
st.markdown(GAME_RULES)
with st.container(horizontal=True, vertical_alignment="bottom", key="game_bar"):
    _choice("Noise", "shape", table, SHAPE_NAMES)
    _choice("Privacy budget ε", "budget", table, dict(zip(_BUDGETS, _BUDGETS, strict=True)))
    screen.draw_screen_switch()
    screen.draw_class_link(**{"game": table["game"], **_place(table)})
draw_round(table)
