"""How much work something is, whatever the speed of the machine."""

import cProfile
import pstats


def calls_of(work):
    """The calls of functions that it takes."""
    with cProfile.Profile() as profile:
        work()
    return pstats.Stats(profile).total_calls
