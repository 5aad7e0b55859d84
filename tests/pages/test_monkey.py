"""A monkey over the pages: whatever the controls offer may be chosen, in any order."""

import pytest
from streamlit.runtime.caching import clear_session_resource_cache

from tests.pages.monkey import Monkey

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
