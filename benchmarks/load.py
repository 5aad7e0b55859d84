"""Many people at once: sessions that move a slider, over Streamlit's own WebSocket messages, on this machine only.

    python benchmarks/load.py --pages "" shape lesson --sessions 30 --rate 1 --seconds 30
    python benchmarks/load.py --pages shape --sessions 30 --comparing 10
    python benchmarks/load.py --sessions 20 --half
    python benchmarks/load.py --coming-and-going --seconds 1200

Prints a line for each page: the median and the 95th percentile of the time from a move to the end of its reply, the
longest wait, the server's own time for a reply (which others on this machine hardly change), replies a second and
memory per session; as multiples of one session, and of a page with one slider and one chart under the same load in the
same run. Every session has an epsilon of its own and moves its slider through all its values, from a place of its own.
It sends the state of every control, as a browser does. Nothing here fails.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import math
import pathlib
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import DoubleArray, StringArray
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.Slider_pb2 import Slider
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from benchmarks.app import PLAIN_PAGE, ROOT, free_port, ready, started

MOST_SESSIONS, MOST_SECONDS, MOST_RATE = 200, 1_800, 10.0
COMPARING = {"data": "liver", "trials": "100"}
LEAST_VALUES = 40  # of a slider, or replies come from a cache
_STRIDE = 37  # between two values of a slider, and between two sessions
_HELD = 0.005
_FINISHED = ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY


@dataclass
class Session:
    """One visitor: the page it is on, its slider, what the last run left to be remembered.

    ``states``: of the controls on the page; ``seen``: those of messages that come as a hash the next time.
    """

    socket: ClientConnection
    page: str
    query: str
    slider: Slider | None = None
    fragment: str = ""
    states: dict[str, WidgetState] = field(default_factory=dict)
    seen: dict[str, WidgetState] = field(default_factory=dict)
    cached: set[str] = field(default_factory=set)
    waits: list[float] = field(default_factory=list)
    errors: int = 0
    at_work: bool = False
    finished: asyncio.Event = field(default_factory=asyncio.Event)
    moves: Iterator[int] = field(default_factory=itertools.count)

    async def listen(self) -> None:
        """Take every message in; a run that is finished answers all moves before it."""
        async for raw in self.socket:
            message = ForwardMsg()
            message.ParseFromString(raw if isinstance(raw, bytes) else raw.encode())
            if message.metadata.cacheable and message.WhichOneof("type") != "ref_hash":
                self.cached.add(message.hash)
            kind = message.WhichOneof("type")
            state = (_state(message.delta.new_element) if kind == "delta" else
                     self.seen.get(message.ref_hash) if kind == "ref_hash" else None)
            if state is not None:
                self.states[state.id] = state
                if message.hash:
                    self.seen[message.hash] = state
            if kind == "delta" and message.delta.new_element.WhichOneof("type") == "slider":
                found = message.delta.new_element.slider
                if self.slider is None or found.id == self.slider.id or "w_share" in found.id:
                    self.slider, self.fragment = found, message.delta.fragment_id
            elif kind == "delta" and message.delta.new_element.WhichOneof("type") == "exception":
                self.errors += 1
            elif kind == "delta" and message.delta.new_element.button.label == "Stop":
                self.at_work = True
            elif kind == "script_finished" and message.script_finished in _FINISHED:
                self.finished.set()

    async def run(self, *, move: bool) -> float:
        """Ask for a run and wait until one is finished; seconds."""
        back = BackMsg()
        state = back.rerun_script
        state.query_string, state.page_name = self.query, self.page
        state.cached_message_hashes.extend(self.cached)
        if move and self.slider is not None:
            values = self.values
            stride = next(n for n in itertools.count(_STRIDE) if math.gcd(n, len(values)) == 1)
            self.states[self.slider.id] = _of_slider(self.slider, [values[next(self.moves) * stride % len(values)]])
            state.fragment_id = self.fragment
        state.widget_states.widgets.extend(self.states.values())
        self.states = {} if not state.fragment_id else self.states
        self.finished.clear()
        self.at_work = False
        start = time.perf_counter()
        await self.socket.send(back.SerializeToString())
        await asyncio.wait_for(self.finished.wait(), 120)
        return time.perf_counter() - start


    @property
    def values(self) -> list[Any]:
        """All that the slider can be."""
        slider = self.slider
        assert slider is not None
        places = round((slider.max - slider.min) / (slider.step or 1)) + 1
        return list(slider.options) or [slider.min + slider.step * k for k in range(places)]


def _of_slider(slider: Slider, values: list[Any]) -> WidgetState:
    if slider.options:
        return WidgetState(id=slider.id, string_array_value=StringArray(data=values))
    return WidgetState(id=slider.id, double_array_value=DoubleArray(data=values))


def _state(element: Element) -> WidgetState | None:
    """What a browser keeps of a control and sends with every run."""
    kind = element.WhichOneof("type")
    if kind not in ("slider", "checkbox", "selectbox", "radio", "number_input", "text_input", "text_area"):
        return None
    control = getattr(element, kind)
    if kind == "slider":
        options = list(control.options)
        return _of_slider(control, list(control.raw_value if options else control.value) if control.set_value else
                          [options[int(k)] if options else k for k in control.default])
    if kind == "checkbox":
        return WidgetState(id=control.id, bool_value=control.value if control.set_value else control.default)
    if kind in ("selectbox", "radio"):
        given = control.raw_value if control.set_value else (
            control.options[control.default] if control.HasField("default") else "")
        return WidgetState(id=control.id, string_value=given) if given else None
    value = control.value if control.set_value else control.default
    return WidgetState(id=control.id, **{"double_value" if kind == "number_input" else "string_value": value})


@dataclass(frozen=True, kw_only=True)
class Load:
    """What the sessions of one page saw, in milliseconds; ``rate``: replies a second, ``work``: of processors each."""

    waits: list[float]
    rate: float
    errors: int
    opening: float
    memory: float
    work: float

    def quantile(self, share: float) -> float:
        """That many of the replies came sooner."""
        return sorted(self.waits)[min(int(share * len(self.waits)), len(self.waits) - 1)] if self.waits else 0.0


async def load(port: int, page: str, *, sessions: int, rate: float, seconds: float, comparing: int = 0,
               process: psutil.Process | None = None) -> Load:
    """Open the sessions, let each move its slider ``rate`` times a second; some may run trials on Compare meanwhile."""
    memory = process.memory_info().rss if process else 0
    opened = [await _open(port, "compare", COMPARING) for _ in range(comparing)]
    others = [await _open(port, page, {"epsilon": f"{0.5 + 0.013 * k:.3f}"}, first=k)
              for k in range(sessions - comparing)]
    listeners = [asyncio.create_task(one.listen()) for one in (*opened, *others)]
    start = time.perf_counter()
    await asyncio.gather(*(one.run(move=False) for one in others))
    opening = time.perf_counter() - start
    for few in {len(one.values) for one in others if len(one.values) < LEAST_VALUES}:
        print(f"{page or 'home'}: a slider has {few} values, so replies may come from a cache")
    grown = (process.memory_info().rss - memory) / sessions / 2**20 if process else 0.0
    working = [asyncio.create_task(_compare(one)) for one in opened]
    start, busy = time.perf_counter(), _busy(process)
    await asyncio.gather(*(_move(one, rate, seconds, k / max(len(others), 1) / rate) for k, one in enumerate(others)))
    taken, busy = time.perf_counter() - start, _busy(process) - busy
    for task in (*working, *listeners):
        task.cancel()
    await asyncio.gather(*working, *listeners, return_exceptions=True)
    for one in (*opened, *others):
        await one.socket.close()
    waits = [1000 * wait for one in others for wait in one.waits]
    return Load(waits=waits, rate=len(waits) / taken, errors=sum(one.errors for one in others), opening=opening,
                memory=grown, work=1000 * busy / max(len(waits), 1))


def _busy(process: psutil.Process | None) -> float:
    """Seconds of processors that the server and its workers have used."""
    if process is None:
        return 0.0
    return sum(sum(each.cpu_times()[:2]) for each in (process, *process.children(recursive=True)))


async def _open(port: int, page: str, query: dict[str, str], first: int = 0) -> Session:
    socket = await connect(f"ws://localhost:{port}/_stcore/stream", subprotocols=["streamlit"],
                           # type: ignore[list-item]
                           max_size=None, origin=f"http://localhost:{port}")  # type: ignore[arg-type]
    return Session(socket=socket, page=page, query=urlencode(query), moves=itertools.count(first))


async def _move(one: Session, rate: float, seconds: float, after: float) -> None:
    """Moves on time; one that comes due during a reply is made right after it, as a hand would."""
    await asyncio.sleep(after)
    begin = time.perf_counter()
    for k in range(int(rate * seconds)):
        await asyncio.sleep(max(begin + k / rate - time.perf_counter(), 0))
        one.waits.append(await one.run(move=True))


async def _compare(one: Session) -> None:
    """Runs one comparison after another: the page works in slices, and the browser asks for the next."""
    for seed in itertools.count():
        one.query = urlencode(COMPARING | {"seed": str(seed)})
        await one.run(move=False)
        while one.at_work:
            await asyncio.sleep(0.05)
            await one.run(move=False)
        await asyncio.sleep(0.05)


async def come_and_go(port: int, pages: list[str], process: psutil.Process, *, sessions: int, seconds: float) -> None:
    """Visitors who open a page, move its slider a few times and leave for the next; the server's memory as it goes."""
    begin = time.perf_counter()

    async def visit(number: int) -> None:
        for k in itertools.count(number):
            one = await _open(port, pages[k % len(pages)], {})
            listening = asyncio.create_task(one.listen())
            await one.run(move=False)
            await _move(one, 1.0, 4, 0)
            listening.cancel()
            await one.socket.close()
            visits.append(k)

    visits: list[int] = []
    visitors = [asyncio.create_task(visit(number)) for number in range(sessions)]
    print(f"{'seconds':>9}{'visits':>9}{'MB':>9}")
    while (passed := time.perf_counter() - begin) < seconds:
        print(f"{passed:9.0f}{len(visits):9}{process.memory_info().rss / 2**20:9.0f}", flush=True)
        await asyncio.sleep(min(15.0, seconds - passed))
    for task in visitors:
        task.cancel()
    await asyncio.gather(*visitors, return_exceptions=True)


@contextmanager
def held(process: psutil.Process, half: bool) -> Iterator[None]:
    """Stop the server for every other few milliseconds, if it is to have half a processor's speed."""
    ended = threading.Event()

    def hold() -> None:
        while not ended.is_set():
            process.suspend()
            time.sleep(_HELD)
            process.resume()
            time.sleep(_HELD)

    holding = threading.Thread(target=hold)
    if half:
        holding.start()
    try:
        yield
    finally:
        ended.set()
        if half:
            holding.join()


@contextmanager
def plain_server() -> Iterator[tuple[int, psutil.Process]]:
    """A page of one slider and one chart, with the same settings of the server."""
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / "plain.py"
        script.write_text(PLAIN_PAGE, encoding="utf-8")
        settings = pathlib.Path(folder) / ".streamlit"
        settings.mkdir()
        (settings / "config.toml").write_text((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
        port = free_port()
        with started([sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port),
                      "--server.headless", "true"], cwd=folder) as process:
            ready(port)
            yield port, psutil.Process(process.pid)


@contextmanager
def app_server() -> Iterator[tuple[int, psutil.Process]]:
    """The app as the command opens it."""
    port = free_port()
    with started([sys.executable, "-m", "mvgviz", "--no-ledger", "--no-browser", "--port", str(port)],
                 cwd=ROOT) as process:
        ready(port)
        yield port, psutil.Process(process.pid)


def main() -> None:
    """A table on stdout."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", nargs="+", default=["", "shape", "lesson"], help="by their addresses")
    parser.add_argument("--sessions", type=int, default=30)
    parser.add_argument("--rate", type=float, default=1.0, help="moves a second of each session")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--comparing", type=int, default=0, help="of the sessions: how many run trials instead")
    parser.add_argument("--coming-and-going", action="store_true", help="how memory grows when visitors come and leave")
    parser.add_argument("--half", action="store_true", help="hold the app to half a processor's speed")
    parser.add_argument("--port", type=int, help="of an app that is already served on this machine")
    chosen = parser.parse_args()
    for name, most in (("sessions", MOST_SESSIONS), ("seconds", MOST_SECONDS), ("rate", MOST_RATE)):
        if not 0 < getattr(chosen, name) <= most:
            parser.error(f"--{name} must be above 0 and at most {most:g}")
    if chosen.coming_and_going:
        with app_server() as (port, process):
            asyncio.run(come_and_go(port, chosen.pages, process, sessions=chosen.sessions, seconds=chosen.seconds))
        return
    print(f"{'page':12}{'sessions':>9}{'median ms':>11}{'p95 ms':>9}{'longest':>9}{'/one':>7}{'/plain':>8}"
          f"{'work ms':>9}{'replies/s':>11}{'MB each':>9}{'open s':>8}")
    options = {"rate": chosen.rate, "seconds": chosen.seconds}
    with plain_server() as (port, process):
        plain = asyncio.run(_both(port, "", chosen.sessions, 0, process, options))
    _line("one chart", chosen.sessions, *plain, plain[1])
    if chosen.port:
        _pages(chosen, chosen.port, None, options, plain[1])
        return
    with app_server() as (port, process), held(process, chosen.half):
        _pages(chosen, port, process, options, plain[1])


def _pages(chosen: argparse.Namespace, port: int, process: psutil.Process | None, options: dict[str, float],
           plain: Load) -> None:
    for page in chosen.pages:
        _line(page or "home", chosen.sessions,
              *asyncio.run(_both(port, page, chosen.sessions, chosen.comparing, process, options)), plain)


async def _both(port: int, page: str, sessions: int, comparing: int, process: psutil.Process | None,
                options: dict[str, float]) -> tuple[Load, Load]:
    """One session alone, then all of them."""
    alone = await load(port, page, sessions=1, rate=options["rate"] * 2, seconds=min(options["seconds"], 10) / 2,
                       process=process)
    return alone, await load(port, page, sessions=sessions, comparing=comparing, process=process, **options)


def _line(name: str, sessions: int, alone: Load, many: Load, plain: Load) -> None:
    median, one = many.quantile(0.5), statistics.median(alone.waits)
    failed = f"  {many.errors} errors" if many.errors else ""
    print(f"{name:12}{1:9}{one:11.0f}{alone.quantile(0.95):9.0f}{max(alone.waits):9.0f}{1:7.1f}{'':8}{alone.work:9.1f}")
    print(f"{name:12}{sessions:9}{median:11.0f}{many.quantile(0.95):9.0f}{max(many.waits):9.0f}{median / one:7.1f}"
          f"{median / plain.quantile(0.5):8.1f}{many.work:9.1f}{many.rate:11.1f}{many.memory:9.1f}"
          f"{many.opening:8.1f}{failed}", flush=True)


if __name__ == "__main__":
    main()
