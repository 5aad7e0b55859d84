"""``mvgviz serve --workers N``: several servers behind nginx, for more people than one can answer.

A cookie keeps each person on one server. nginx writes nothing that people send to a file.
"""

import argparse
import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mvgviz.command import say
from mvgviz.command.app import in_use, ready_to_open
from mvgviz.errors import InputError
from mvgviz.ui import door
from mvgviz.validation import count

_LOOK, _UP, _END = 0.25, 60.0, 5.0  # seconds: between two looks, for a server to answer, for it to end


def serve(chosen: argparse.Namespace) -> int:
    """Serve until Ctrl-C; restart a server that ends."""
    workers = count("workers", chosen.workers, at_most=64)
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    if nginx is None:
        raise InputError("nginx is not installed (on Debian: apt install nginx-light); install it, or run one server: "
                         "mvgviz --no-browser")
    port = ready_to_open(chosen)
    os.environ[door.FRONT] = chosen.host
    os.environ["STREAMLIT_SERVER_COOKIE_SECRET"] = secrets.token_hex(32)
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="mvgviz-") as folder:
        ports = _free_ports(workers)
        path = Path(folder) / "nginx.conf"
        path.write_text(nginx_configuration(ports, host=chosen.host, port=port, folder=Path(folder).as_posix()),
                        encoding="utf-8")
        running: dict[str, subprocess.Popen[bytes]] = {}
        commands = {f"server {k}": [sys.executable, "-m", "mvgviz", "--no-browser", "--port", str(own), "--host",
                                    "127.0.0.1"] for k, own in enumerate(ports, 1)}
        commands["nginx"] = [nginx, "-c", str(path), "-p", folder]
        try:
            for name, command in commands.items():
                if name == "nginx":
                    _wait_for(ports, running)
                running[name] = _start(command)
            say(f"mvgviz: {workers} servers behind http://{chosen.host}:{port}; Ctrl-C ends them")
            _keep_up(running, commands)
        finally:
            _end(running)
    return 0


def nginx_configuration(ports: list[int], *, host: str, port: int, folder: str) -> str:
    """Return a configuration that draws a server for each new visitor and keeps it."""
    *most, last = range(len(ports))
    shares = " ".join([*(f"{100 / len(ports):.2f}% {k};" for k in most), f"* {last};"])
    # nginx would listen only to the first address of a name.
    addresses = sorted({found[4][0] for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)})
    listened = [f"listen [{address}]:{port}" if ":" in str(address) else f"listen {address}:{port}"
                for address in addresses]
    return Path(__file__).with_name("nginx.conf").read_text(encoding="utf-8").format(
        folder=folder, shares=shares, listen=" ".join(f"{one};" for one in listened), refusal=door.REFUSAL,
        listen_first=" ".join(f"{one} default_server;" for one in listened), names=" ".join(door.allowed_names()),
        known=" ".join(f'"{k}" {k};' for k in range(len(ports))),
        servers=" ".join(f"{k} 127.0.0.1:{own};" for k, own in enumerate(ports)))


def _keep_up(running: dict[str, subprocess.Popen[bytes]], commands: dict[str, list[str]]) -> None:
    began = time.monotonic()
    while True:
        time.sleep(_LOOK)
        for name, process in running.items():
            if process.poll() is None:
                continue
            if name == "nginx" and time.monotonic() - began < _UP:
                raise InputError(f"nginx ended with code {process.returncode}: see its message above")
            say(f"mvgviz: {name} ended with code {process.returncode} and was restarted; its visitors begin again")
            running[name] = _start(commands[name])


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,  # noqa: S603
                            start_new_session=True)


def _wait_for(ports: list[int], running: dict[str, subprocess.Popen[bytes]]) -> None:
    end = time.monotonic() + _UP
    for port in ports:
        while not in_use("127.0.0.1", port):
            if any(process.poll() is not None for process in running.values()) or time.monotonic() > end:
                raise InputError("the servers did not start: see their messages above")
            time.sleep(_LOOK)


def _free_ports(number: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(number)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]


def _end(running: dict[str, subprocess.Popen[bytes]]) -> None:
    for process in running.values():
        process.terminate()
    end = time.monotonic() + _END
    for process in running.values():
        try:
            process.wait(max(end - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
