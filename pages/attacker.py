"""Play the attacker: what a budget means, felt in ten rounds."""

from typing import Any

import streamlit as st

from mvgviz.lesson.game import EPSILONS, GUESSES, MOST_SEED, ROUNDS, SHAPES, Game, game
from mvgviz.lesson.steps import CLASS, LEVEL, MOVES, PUPILS
from mvgviz.pictures.lesson import Plane, game_picture
from mvgviz.text import as_number
from mvgviz.ui import screen
from mvgviz.ui.frame import open_plain_page
from mvgviz.ui.menu import ATTACKER, LESSON

_TABLE, _PLAYED = "_game_table", "_game_played"
_BUDGETS = [f"{epsilon:g}" for epsilon in EPSILONS]
_START = {"game": "1", "shape": SHAPES[0], "budget": _BUDGETS[1]}
_LEAST, _MOST = (f"{hours:g} h, {points:g} points" for hours, points in (CLASS.lower, CLASS.upper))
NAMES = dict(zip(GUESSES, (f"Ann: {_LEAST}", f"Ann: {_MOST}"), strict=True))
_SHAPES = {"circle": "Equal noise (circle)", "ellipse": "Directional noise (ellipse)"}
_KEYS = dict(zip(GUESSES, ("1", "2"), strict=True))


def sit_down() -> dict[str, str]:
    """The game, the shape and the budget that a control asked for, else the address, else where one was."""
    table: dict[str, str] = st.session_state.setdefault(_TABLE, dict(_START))
    if asked := screen.adopt_place():
        table.update({name: asked.get(name, usual) for name, usual in _START.items()})
        if not _is_table(table):
            screen.say_ignored(f"games are 0 to {MOST_SEED}, shapes circle and ellipse, budgets {', '.join(_BUDGETS)}")
            table.update(_START)
    screen.write_place(**_place(table))
    return table


def draw_rules(table: dict[str, str]) -> None:
    """What is played, and with which noise."""
    st.markdown(
        f"The school publishes two averages of {PUPILS} pupils, **sleep** and **score**, with noise. You know all "
        f"pupils but Ann: she has nothing ({_LEAST}) or everything ({_MOST}), each as likely. A release falls: "
        "which is it?")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _choice("Noise", "shape", table, {shape: _SHAPES[shape] for shape in SHAPES})
        _choice("Privacy budget ε", "budget", table, dict(zip(_BUDGETS, _BUDGETS, strict=True)))
        screen.draw_screen_switch()
        screen.draw_class_link(**{"game": table["game"], **_place(table)})
        st.page_link(LESSON.path, label="Back to the lesson", icon=LESSON.icon)


def draw_round(table: dict[str, str]) -> None:
    """The release, two buttons, and after each guess who it was."""
    played = game(seed=int(table["game"]), shape=table["shape"], epsilon=float(table["budget"]))
    said = _said(table)
    over = len(said) == ROUNDS
    with st.container(key="game"):
        picture, desk = st.columns([2, 1], gap="large")
    with picture, st.container(key="lesson_picture"):
        _draw_picture(played, len(said))
    with desk:
        if said:
            truth = played.rounds[len(said) - 1].truth
            right = said[-1] == truth
            (st.success if right else st.warning)(f"{'Right' if right else 'Wrong'}: {NAMES[truth]}.")
        if over:
            _draw_end(played, table)
        else:
            st.markdown(f"#### Round {len(said) + 1} of {ROUNDS}")
            for guess, name in NAMES.items():
                st.button(name, key=f"game_{guess}", width="stretch", on_click=_say, args=(table, guess),
                          shortcut=_KEYS[guess])
            st.caption("By keyboard: 1 and 2.")
        hits = sum(guess == each.truth for guess, each in zip(said, played.rounds, strict=False))
        st.markdown(f"You: **{hits} of {len(said)}** right. In the long run the best attacker is right in "
                    f"**{as_number(100 * played.success, 2)} of 100** rounds, a coin in 50.")


def _draw_picture(played: Game, said: int) -> None:
    reach = 28 if float(played.covariance[1, 1]) ** 0.5 > 6 * float(MOVES[1]) else 9
    plane = Plane(names=("published average sleep (hours)", "published average score (points)"),
                  moves=(float(MOVES[0]), float(MOVES[1])), reach=reach)
    picture = game_picture(played, plane, said=said, level=LEVEL, names=NAMES)
    if screen.is_big():
        screen.enlarge(picture.figure)
    screen.draw_on_screen(picture, key="game_picture")


def _draw_end(played: Game, table: dict[str, str]) -> None:
    st.markdown(f"#### Ten rounds\nThe best guess, by the green line, was right in **{played.best_hits} of {ROUNDS}** "
                "of them, with the circle and with the ellipse alike: both met the same luck, and both have the same "
                "privacy.")
    other = next(shape for shape in SHAPES if shape != table["shape"])
    with st.container(horizontal=True):
        st.button(f"Now with the {other}", key="game_other", type="primary", on_click=_sit,
                  kwargs={"shape": other})
        st.button("Another game", key="game_again", icon=":material/casino:", on_click=_sit,
                  kwargs={"game": str((int(table["game"]) + 1) % (MOST_SEED + 1))})


def _choice(label: str, name: str, table: dict[str, str], options: dict[str, str]) -> None:
    key = f"game_{name}"
    st.session_state[key] = table[name]
    st.segmented_control(label, list(options), key=key, required=True, format_func=options.__getitem__,
                         on_change=lambda: _sit(**{name: st.session_state[key]}))


def _sit(**changes: str) -> None:
    st.session_state[_TABLE].update(changes)
    screen.moved()


def _say(table: dict[str, str], guess: str) -> None:
    _said(table).append(guess)
    screen.moved()


def _said(table: dict[str, str]) -> list[str]:
    """What was guessed in this game so far."""
    played: dict[Any, list[str]] = st.session_state.setdefault(_PLAYED, {})
    return played.setdefault(tuple(table.values()), [])


def _place(table: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in table.items() if text != _START[name]}


def _is_table(table: dict[str, str]) -> bool:
    seed = table["game"]
    return (seed.isdecimal() and seed.isascii() and int(seed) <= MOST_SEED and table["shape"] in SHAPES
            and table["budget"] in _BUDGETS)


open_plain_page(ATTACKER)
table = sit_down()
draw_rules(table)
draw_round(table)
