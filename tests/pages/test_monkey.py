"""A monkey that moves every control there is, from a seed, and what must hold after each of its moves."""

import random
from urllib.parse import parse_qsl, urlencode

import pytest
from streamlit.runtime.caching import clear_session_resource_cache

from mvgviz import InputError, Scenario, build
from mvgviz.data import sample
from mvgviz.text import capitalised, in_markdown
from mvgviz.ui.cache import SERVER
from mvgviz.ui.menu import ATTACKER, LESSON, PAGES, PAPER, PLAN, RELEASE
from tests.pages.app import opened
from tests.pages.shown import link

KINDS = ("button", "checkbox", "toggle", "selectbox", "multiselect", "slider", "select_slider", "number_input",
         "button_group", "radio")
LEFT = {"w_present", "w_trials"}
"""Keys of controls that lead away or make each run long."""


DESERVED = {"plan_add": "There is no room for another question; unlock one that has some",
            "plan_remove": in_markdown("Unlock another question first: this one's share must go to one of them")}
"""What a click may get for an answer where everything else was locked before, by the start of its key."""
SOUND = (in_markdown("would get an epsilon below 0.001"), "cannot be drawn exactly, so it is only for trials",
         "Directions from a file")
"""What a plan says until its questions have more, a release of noise for trials alone, and a file that is not here."""


class Monkey:
    """One session; ``moves`` tells what was done, for whoever has to do it again."""

    def __init__(self, seed):
        self.rng, self.moves, self.refused = random.Random(seed), [], None
        self.page = self.rng.choice(PAGES)
        self.app = opened(self.page.path, everything=self.rng.random() < 0.7, trials="3",
                          data=self.rng.choice(("liver", "karate", "two_features")))

    def move(self):
        """Another page now and then; else a control that is there, to a value that it offers."""
        found = [] if self.rng.random() < 0.15 else self._controls()
        if self.refused:
            self.moves.append("back to the usual")
            self.app.button(key="w_reset").click().run()
        elif not found:
            self.page = self.rng.choice(PAGES)
            self.moves.append(self.page.label)
            self.app.switch_page(self.page.path).run()
        else:
            kind, control = self.rng.choice(found)
            value = self._value(kind, control)
            self.moves.append(f"{self.page.label}: {control.key} = {value!r}")
            (control.click() if kind == "button" else control.set_value(value)).run()

    def _controls(self):
        return [(kind, one) for kind in KINDS for one in self.app.get(kind)
                if one.key not in LEFT and not getattr(one, "disabled", False) and (
                    kind not in ("selectbox", "multiselect", "select_slider", "button_group", "radio") or one.options)]

    def _value(self, kind, one):
        rng = self.rng
        if kind in ("button", "checkbox", "toggle"):
            return rng.random() < 0.5
        if kind in ("slider", "number_input"):
            if isinstance(one.value, list | tuple):
                return one.value
            low, high = one.min, one.max
            low, high = (-5 if low is None else low), (50 if high is None else high)
            if isinstance(one.value, int) or (isinstance(low, int) and isinstance(one.step, int)):
                return rng.randint(int(low), int(min(high, low + 200)))
            return low + (one.step or 0.1) * rng.randint(0, min(int((high - low) / (one.step or 0.1)), 1_000))
        options = self._values_of(one)
        if kind == "multiselect" or (kind == "button_group" and isinstance(one.value, list)):
            return rng.sample(options, rng.randint(0, min(len(options), 4)))
        return rng.choice(options)

    def _values_of(self, one):
        """What a control may be set to: what it would give, not what it shows."""
        known = self.app.session_state._state._state._new_widget_state.widget_metadata[one.id]
        return list(getattr(known.serializer.__self__, "options", one.options))

    def assert_sound(self):
        """No exception, and a scenario that comes back from its link and its file."""
        assert not self.app.exception, self.story(self.app.exception[0].value)
        scenario = self.app.session_state["_scenario"]
        carried = dict(parse_qsl(urlencode(scenario.to_query()), keep_blank_values=True))
        assert Scenario.from_query(carried) == scenario, self.story()
        assert Scenario.from_json(scenario.to_json()) == scenario, self.story()
        self.refused = self._refusal()
        return [element.value for element in self.app.error
                if element.value != self.refused and not any(words in element.value for words in SOUND)
                and not any(f": {key}" in self.moves[-1] and words in element.value for key, words in DESERVED.items())]

    def _refusal(self):
        """What the engine says of choices that do not go together; the page has to say the same."""
        scenario = self.app.session_state["_scenario"]
        try:
            build(scenario, sample(scenario.data))
        except InputError as error:
            return in_markdown(capitalised(str(error)))
        return None

    def assert_cold_is_live(self):
        """The page opened by its link shows what this one does, its own tabs and switches being as they are."""
        if self.page in (PLAN, ATTACKER, LESSON, RELEASE, PAPER):  # they show what is the session's own, or goes on
            return
        state = self.app.session_state._state.filtered_state
        switches = {"_all", *(one.key for kind in ("checkbox", "toggle") for one in self.app.get(kind))}
        own = {key: value for key, value in state.items() if key in switches - {None} or (
            not key.startswith(("_", "w_", "$$")) and isinstance(value, str | int | float | list)
            and not isinstance(value, bool))}
        live = shown(self.app.run())  # what was said once is gone
        clear_session_resource_cache("test session id")
        SERVER.clear()
        cold = opened(self.page.path, state=own, **link(self.app))
        assert link(cold) == link(self.app), self.story()
        assert shown(cold) == live, self.story()

    def story(self, why=""):
        return f"{why}\n" + "\n".join(self.moves[-12:])


def shown(app):
    """Texts and pictures of the page, without the sidebar."""
    texts = [element.value for kind in ("markdown", "caption", "info", "error", "warning")
             for element in app.main.get(kind)]
    return texts, [element.proto.spec for element in app.main.get("plotly_chart")]


MOVES, LOOKS = 20, 10


def let_loose(seed):
    """A session of twenty moves; no sentence of refusal but the engine's own."""
    clear_session_resource_cache("test session id")
    monkey = Monkey(seed)
    for k in range(1, MOVES + 1):
        monkey.move()
        assert monkey.assert_sound() == [], monkey.story()
        if k % LOOKS == 0:
            monkey.assert_cold_is_live()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))  # the long run has a hundred and fifty
def test_a_monkey_finds_nothing_wrong(seed):
    let_loose(seed)


@pytest.mark.soak
@pytest.mark.parametrize("first", range(100, 250, 10))
def test_a_monkey_finds_nothing_wrong_in_three_thousand_moves(first):
    for seed in range(first, first + 10):
        let_loose(seed)
