"""How much work something is, whatever the speed of the machine; what is awaited, whatever else runs."""

import asyncio
import cProfile
import pstats
from concurrent.futures import ThreadPoolExecutor


def calls_of(work):
    """The calls of functions that it takes."""
    with cProfile.Profile() as profile:
        work()
    return pstats.Stats(profile).total_calls


def awaited(work):
    """What a coroutine returns, also in a process whose browser keeps a loop running."""
    with ThreadPoolExecutor(1) as own:
        return own.submit(asyncio.run, work).result()
