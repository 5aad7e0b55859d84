"""``mvgviz``: the app, served on this computer by Streamlit."""

import argparse
import importlib.util
import ipaddress
import os
import pkgutil
import socket
import sys
import threading
import time
import tomllib
from pathlib import Path
from typing import Any

import mvgviz
from mvgviz.command.say import read_bytes, say
from mvgviz.errors import InputError
from mvgviz.release.ledger import ENVIRONMENT, ledger_from_environment, usual_place
from mvgviz.study.study import Study
from mvgviz.validation import count
from mvgviz.version import install_words

_ENVIRONMENT = {"data": "MVGVIZ_DATA", "study": "MVGVIZ_STUDY", "login": "MVGVIZ_LOGIN"}
"""How the app learns what it begins with."""
_MINUTE = 60.0
_ANY = ("0.0.0.0", "::")  # noqa: S104


def open_app(chosen: argparse.Namespace) -> int:
    """Serve the app until Ctrl-C."""
    port = ready_to_open(chosen)
    # On stdout, unlike what is wrong: the servers behind a front are heard on stderr alone.
    here = "localhost" if chosen.host in _ANY else chosen.host
    sys.stdout.write(f"mvgviz: http://{f'[{here}]' if ':' in here else here}:{port} (Ctrl-C ends it)\n")
    sys.stdout.flush()
    return _serve(["--server.port", str(port), "--server.address", chosen.host,
                   "--server.headless", str(chosen.no_browser).lower(),
                   "--logger.hideWelcomeMessage", "true"])  # on some computers with an advertisement over the page


def ready_to_open(chosen: argparse.Namespace) -> int:
    """The port, after everything that was chosen is looked at and told to the app by its environment."""
    port = count("port", chosen.port)
    if not port < 2**16:
        raise InputError(f"port must be below {2**16}, got {port}")
    for name in ("data", "study"):
        path: Path | None = getattr(chosen, name)
        if path is not None:
            if not path.is_file():
                raise InputError(f"--{name}: {path} is not a file")
            os.environ[_ENVIRONMENT[name]] = str(path.resolve())
    if chosen.study is not None:
        study = Study.from_json(read_bytes(chosen.study))
        beside = chosen.study.resolve().parent / Path(study.source.name).name
        if study.needs_file and chosen.data is None and beside.is_file():
            os.environ[_ENVIRONMENT["data"]] = str(beside)
            say(f"data: {beside}")
    _choose_ledger(chosen)
    if chosen.login:
        _check_login()
        os.environ[_ENVIRONMENT["login"]] = "yes"
    if not _is_loopback(chosen.host):
        say(f"mvgviz: warning: whoever reaches {chosen.host} on port {port} can use this app"
            f"{', and sees the file of --data' if chosen.data else ''}; put a server with encryption and a login in "
            "front of it (SECURITY.md)")
    try:
        socket.getaddrinfo(chosen.host, port)
    except OSError:
        raise InputError(f"--host: {chosen.host} is no address of this computer") from None
    _check_free(chosen.host, port)
    return port


def _choose_ledger(chosen: argparse.Namespace) -> None:
    """Where releases are counted: the file that was named, none that lasts, or the person's own."""
    if chosen.no_ledger:
        os.environ[ENVIRONMENT] = "none"
    elif chosen.ledger is not None or ENVIRONMENT not in os.environ:
        os.environ[ENVIRONMENT] = str((chosen.ledger or usual_place()).resolve())
    ledger = ledger_from_environment()  # one that cannot be used is said now, before anybody relies on it
    if os.environ[ENVIRONMENT] != "none":
        say(f"ledger: {os.environ[ENVIRONMENT]} ({len(ledger.entries)} releases)")


def _check_login() -> None:
    """Say now what would fail when the first person logs in."""
    if importlib.util.find_spec("authlib") is None:
        raise InputError(f"--login needs authlib: {install_words('login')}")
    for file in (Path.cwd() / ".streamlit" / "secrets.toml", Path.home() / ".streamlit" / "secrets.toml"):
        try:
            if file.is_file() and "auth" in tomllib.loads(file.read_text(encoding="utf-8")):
                return
        except (OSError, ValueError):
            raise InputError(f"--login: {file} cannot be read as TOML") from None
    raise InputError("--login: write who is asked for people's names into .streamlit/secrets.toml, under [auth] "
                     "(docs/deployment.md)")


def main_script() -> Path:
    """What Streamlit runs: in the package where it was installed, in the top folder of a checkout."""
    package = Path(mvgviz.__file__).parent
    return next(path for path in (package / "served" / "app.py", package.parent / "app.py") if path.is_file())


def _serve(flags: list[str]) -> int:
    try:
        from streamlit.web import cli
    except ModuleNotFoundError as error:
        raise InputError(f"the app needs {error.name}: {install_words('app')}") from None
    _send_at_once()
    threading.Thread(target=_warm, name="warm", daemon=True).start()
    cli.main(["run", str(main_script()), *flags], standalone_mode=False)
    return 0


def _warm() -> None:
    """Bring in what the pages need as soon as the server is there, before the first visitor waits for it."""
    from streamlit.runtime import Runtime

    while not Runtime.exists():  # where pictures of our own are announced
        time.sleep(0.05)
    from mvgviz import ui
    from mvgviz.ui import frame

    frame.warm()
    for module in pkgutil.walk_packages(ui.__path__, f"{ui.__name__}."):
        importlib.import_module(module.name)
    _forget()


def _forget() -> None:
    """Every minute: tables of visitors who left do not stay, even where nobody else comes."""
    from mvgviz.ui.server import freeze_imports, let_go

    freeze_imports()
    while True:
        time.sleep(_MINUTE)
        let_go()


def _send_at_once() -> None:
    """Small messages are sent without waiting for word that the last one arrived: up to 40 ms of every reply.

    asyncio sees to that for sockets that it opens itself; Streamlit opens its own, and what listens hands it on.
    """
    from streamlit.web.server.starlette import starlette_server as server

    bind = getattr(server, "_bind_socket", None)
    if bind is None:
        return

    def bound(*given: Any) -> socket.socket:
        listening: socket.socket = bind(*given)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening

    server._bind_socket = bound  # type: ignore[assignment]


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _check_free(host: str, port: int) -> None:
    """Say so at once where somebody else serves on the port."""
    try:
        with socket.create_connection(("localhost" if host in _ANY else host, port), timeout=1):
            raise InputError(f"port {port} is in use: is mvgviz open already? Choose another with --port")
    except OSError:
        return
