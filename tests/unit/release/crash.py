"""Programs that release and come to grief: ``python -m tests.unit.release.crash WHAT FOLDER`` prints what is left.

Everything is imported once; each release is made in a child of its own, which is killed (SIGKILL) at a named step: a
statement that the ledger's database is about to run, the noise, the answer. No step waits for a clock.
"""

import importlib
import json
import os
import pathlib
import resource
import signal
import sys
from contextlib import contextmanager

from mvgviz import InputError, Ledger, Scenario, build, gaussian_epsilon, plan, release_setup
from tests.datasets import make_dataset

ledger_file, secure_noise = map(importlib.import_module, ("mvgviz.release.ledger_file", "mvgviz.release.secure_noise"))
SETUP = build(Scenario(query="mean"), make_dataset(3, 50))
PLANNED = plan(SETUP)
POPULATION = "patients of 2024"


def in_child(work):
    """What a child told before it ended, line by line."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            work(lambda line: os.write(writing, f"{line}\n".encode()))
        except Exception as error:  # noqa: BLE001 (told, not raised: the child ends here)
            os.write(writing, f"{type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(0)
    os.close(writing)
    return child, reading


def told(child, reading):
    with os.fdopen(reading) as lines:
        said = lines.read().splitlines()
    os.waitpid(child, 0)
    return said


def release_until(path, step, tell):
    """One release that is killed at its ``step``-th step."""
    steps = 0

    def at(name):
        nonlocal steps
        tell(name)
        steps += 1
        if steps > step:
            os.kill(os.getpid(), signal.SIGKILL)

    connect, add_noise = ledger_file._connect, secure_noise.add_noise

    @contextmanager
    def traced(place):
        with connect(place) as connection:
            connection.set_trace_callback(at)
            yield connection

    def noisy(*arguments, **options):
        at("noise begins")
        values = add_noise(*arguments, **options)
        at("noise drawn")
        return values

    ledger_file._connect, secure_noise.add_noise = traced, noisy
    release_setup(SETUP, ledger=Ledger(path), population=POPULATION)
    at("answer given")


def kill(folder):
    """For each step: what the killed child had told, what the ledger says, and whether one more release fits."""
    results = []
    while not results or results[-1]["told"][-1] != "answer given":
        step = len(results)
        path = folder / f"{step}.sqlite"
        said = told(*in_child(lambda tell, path=path, step=step: release_until(path, step, tell)))
        ledger = Ledger(path, cap=(PLANNED.epsilon, PLANNED.delta))
        states = [entry.state for entry in ledger.entries]
        again = told(*in_child(lambda tell, ledger=ledger: tell(
            release_setup(SETUP, ledger=ledger, population=POPULATION).query)))
        results.append({"told": said, "states": states, "again": again[0],
                        "total": ledger.total(POPULATION, delta=PLANNED.delta).epsilon})
    return results


def race(folder):
    """Four programs release until they are refused; the cap has room for seven."""
    path = folder / "race.sqlite"
    room = float(gaussian_epsilon(PLANNED.delta, PLANNED.mu * 7**0.5))
    waiting, start = os.pipe()

    def work(tell):
        os.close(start)
        os.read(waiting, 1)  # ends when the start is closed
        ledger = Ledger(path, cap=(room, PLANNED.delta))
        while True:
            release_setup(SETUP, ledger=ledger, population=POPULATION)
            tell("released")

    children = [in_child(work) for _ in range(4)]
    os.close(start)
    said = [told(*child) for child in children]
    return {"told": said, "states": [entry.state for entry in Ledger(path).entries]}


def full(folder):
    """The disk fills up before the reservation, then after it; files may not grow beyond what they are."""
    results = []
    for early in (True, False):
        path = folder / f"full-{early}.sqlite"
        Ledger(path).join("one", "other")

        def work(tell, early=early, path=path):
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            no_room = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))  # noqa: E731
            add_noise = secure_noise.add_noise

            def noisy(*arguments, **options):
                tell("noise")
                no_room()
                return add_noise(*arguments, **options)

            secure_noise.add_noise = noisy
            if early:
                no_room()
            release_setup(SETUP, ledger=Ledger(path), population=POPULATION)
            tell("answer given")

        said = told(*in_child(work))
        results.append({"told": said, "states": [entry.state for entry in Ledger(path).entries]})
    return results


def read_only(folder):
    """Somebody without the right to write: a file, a folder, a ledger that is not there yet."""
    secure_noise.hardening(entries=1, mu=1.0, sensitivity=1.0)  # whose library nobody may load
    folder.chmod(0o755)
    kept = folder / "kept.sqlite"
    Ledger(kept).enter(time="t", data="d", query="q", neighbour_rule="r", design="d", mu=0.1, delta=1e-5,
                       population=POPULATION)
    kept.chmod(0o444)
    folder.chmod(0o555)

    def nobody(tell, path):
        if os.getuid() == 0:
            os.setgroups([])
            os.setuid(65534)
        release_setup(SETUP, ledger=Ledger(path), population=POPULATION)
        tell("answer given")

    said = [told(*in_child(lambda tell, name=name: nobody(tell, folder / name)))
            for name in ("kept.sqlite", "new.sqlite")]
    folder.chmod(0o755)
    return {"told": said, "states": [entry.state for entry in Ledger(kept).entries]}


if __name__ == "__main__":
    try:
        print(json.dumps(globals()[sys.argv[1]](pathlib.Path(sys.argv[2]))))
    except InputError as error:
        sys.exit(str(error))
