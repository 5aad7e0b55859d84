"""``mvgviz``: the app, served on this computer by Streamlit."""

import argparse
import contextlib
import importlib.util
import ipaddress
import os
import re
import socket
import sys
import tomllib
from pathlib import Path

from mvgviz.command import needed, read_bytes, say
from mvgviz.command.opening import file_beside
from mvgviz.errors import InputError, refuse
from mvgviz.release.ledger import ENVIRONMENT, ledger_from_environment, usual_place
from mvgviz.scenario.study import Study
from mvgviz.ui import door
from mvgviz.validation import count
from mvgviz.version import TOP, install_words

# How the app learns what it opens with.
_ENVIRONMENT = {"data": "MVGVIZ_DATA", "study": "MVGVIZ_STUDY", "login": "MVGVIZ_LOGIN", "browser": "MVGVIZ_BROWSER"}
_PORT = 8501  # the usual one


def app(chosen: argparse.Namespace) -> int:
    """Serve the app until Ctrl-C."""
    port = ready_to_open(chosen)
    here = "localhost" if chosen.host in door.EVERY_ADDRESS else chosen.host
    url = f"http://{f'[{here}]' if ':' in here else here}:{port}"
    if not chosen.no_browser and (sys.platform != "linux" or {"DISPLAY", "WAYLAND_DISPLAY"} & set(os.environ)):
        os.environ[_ENVIRONMENT["browser"]] = url
    # stdout: the servers behind nginx have only stderr.
    sys.stdout.write(f"mvgviz: {url} (Ctrl-C ends it)\n")
    sys.stdout.flush()
    return _serve(["--server.port", str(port), "--server.address", chosen.host, "--server.headless", "true",
                   "--logger.hideWelcomeMessage", "true"])  # some computers show an advertisement over the page


def ready_to_open(chosen: argparse.Namespace) -> int:
    """Check the options, export them as environment variables and return the port."""
    if chosen.demo or door.is_demo():
        for name in ("data", "study", "ledger"):
            refuse(getattr(chosen, name) is not None,
                   f"--demo shows only bundled data and releases nothing: leave out --{name}")
        os.environ[door.DEMO], chosen.no_ledger = "1", True
    for name in ("data", "study"):
        path: Path | None = getattr(chosen, name)
        if path is not None:
            refuse(not path.is_file(), f"--{name}: {path} is not a file")
            os.environ[_ENVIRONMENT[name]] = str(path.resolve())
    if chosen.study is not None:
        study = Study.from_json(read_bytes(chosen.study))
        if study.scenario.is_upload and chosen.data is None and (beside := file_beside(study, chosen.study.resolve())):
            os.environ[_ENVIRONMENT["data"]] = str(beside)
    if chosen.no_ledger:
        os.environ[ENVIRONMENT] = "none"
    elif chosen.ledger is not None or ENVIRONMENT not in os.environ:
        os.environ[ENVIRONMENT] = str((chosen.ledger or usual_place()).resolve())
    ledger = ledger_from_environment()  # fail now, before anybody relies on it
    if os.environ[ENVIRONMENT] != "none":
        say(f"ledger: {os.environ[ENVIRONMENT]} ({len(ledger.entries)} releases)")
    if chosen.login:
        _check_login()
        os.environ[_ENVIRONMENT["login"]] = "yes"
    is_address, is_here = door.is_address(chosen.host), chosen.host == "localhost"
    _allow_hosts([*chosen.allow_host, *([] if is_address or is_here else [chosen.host])])
    port = _free_port(chosen.host, chosen.port)
    if not (is_here or (is_address and ipaddress.ip_address(chosen.host).is_loopback)):
        say(f"mvgviz: warning: everyone who reaches {chosen.host} on port {port} can use this app"
            f"{' and see the file of --data' if chosen.data else ''}; put a server with encryption and a login in "
            "front (SECURITY.md)")
    return port


def _allow_hosts(names: list[str]) -> None:
    if (url := os.environ.get(door.PUBLIC_URL)) and not door.public_name():
        raise InputError(f"{door.PUBLIC_URL}: {url!r} is not an address like https://your.host")
    known = [name for name in door.allowed_names() if name != door.public_name()]
    for option, name in [*((door.ENVIRONMENT, name) for name in known), *(("--allow-host", name) for name in names)]:
        refuse(not re.fullmatch(door.NAME, name, re.ASCII),
               f"{option}: {name!r} is not a name like your.host; leave out scheme, port and path")
    os.environ[door.ENVIRONMENT] = " ".join(dict.fromkeys([*known, *names]))


def _check_login() -> None:
    """Raise `InputError` now for what would fail at the first login."""
    if importlib.util.find_spec("authlib") is None:
        raise InputError(f"--login needs authlib: {install_words('login')}")
    for file in (Path.cwd() / ".streamlit" / "secrets.toml", Path.home() / ".streamlit" / "secrets.toml"):
        try:
            if file.is_file() and "auth" in tomllib.loads(file.read_text(encoding="utf-8")):
                return
        except (OSError, ValueError):
            raise InputError(f"--login: {file} cannot be read as TOML") from None
    raise InputError("--login: name your identity provider in .streamlit/secrets.toml, under [auth] "
                     "(docs/deployment.md)")


def _serve(flags: list[str]) -> int:
    cli, click = (needed(module, "the app needs") for module in ("streamlit.web.cli", "click"))
    with contextlib.suppress(click.Abort):  # Ctrl-C, after the server has ended
        cli.main(["run", str(TOP / "app.py"), *flags], standalone_mode=False)
    return 0


def _free_port(host: str, wanted: int | None) -> int:
    """Return the wanted port, which must be free, or the first free one from the usual port on."""
    first = _PORT if wanted is None else count("port", wanted)
    if not first < 2**16:
        raise InputError(f"port must be below {2**16}, got {first}")
    try:
        socket.getaddrinfo(host, first)
    except OSError:
        raise InputError(f"--host: {host} is no address of this computer") from None
    for port in range(first, first + (100 if wanted is None else 1)):
        if not in_use(host, port):
            if port != first:
                say(f"mvgviz: port {first} is in use, so this app is on port {port}")
            return port
    raise InputError(f"port {first} is in use: is mvgviz open already? Choose another with --port")


def in_use(host: str, port: int) -> bool:
    """Return whether a server answers there."""
    try:
        with socket.create_connection(("localhost" if host in door.EVERY_ADDRESS else host, port), timeout=1):
            return True
    except OSError:
        return False
