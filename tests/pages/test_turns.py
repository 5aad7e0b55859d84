"""Sessions take turns: never more than allowed at once, in the order of coming, and nobody who left is waited for."""

import threading
import time

import pytest

from mvgviz.ui.turns import Turns


def test_all_get_the_same_share_and_never_more_work_than_may():
    turns, working, most, slices = Turns(2), [], [], dict.fromkeys(range(6), 0)
    end = time.monotonic() + 0.6

    def session(name: int) -> None:
        while time.monotonic() < end:
            if turns.take(5, lambda: None) == 0:
                working.append(name)
                most.append(len(working))
                time.sleep(0.01)
                working.remove(name)
                slices[name] += 1
                turns.give_back()

    threads = [threading.Thread(target=session, args=(name,)) for name in slices]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 2
    assert max(slices.values()) - min(slices.values()) <= 2


def test_without_a_turn_the_number_of_those_before_is_told():
    turns = Turns(1)
    assert turns.take(0, lambda: None) == 0
    assert turns.take(0, lambda: None) == 1
    turns.give_back()
    assert turns.take(0, lambda: None) == 0


def test_who_leaves_is_not_waited_for():
    turns = Turns(1)
    turns.take(0, lambda: None)

    def gone() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        turns.take(5, gone)
    turns.give_back()
    assert turns.take(0, lambda: None) == 0
