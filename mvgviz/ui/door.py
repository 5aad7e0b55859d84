"""The door of the server: refuse names that it does not know, and pages of others.

A foreign page can point its own name at this computer (DNS rebinding) and would then read all that the app shows.
That needs a name: numeric addresses, names of this computer and allowed names pass.
"""

import ipaddress
import os
import re
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

ENVIRONMENT, PUBLIC_URL, DEMO = "MVGVIZ_ALLOW_HOSTS", "MVGVIZ_PUBLIC_URL", "MVGVIZ_DEMO"
FRONT = "MVGVIZ_FRONT"  # by which several servers learn the host of the front before them
EVERY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104
REFUSAL = (f"mvgviz does not know this address: start it with --allow-host NAME, or set {ENVIRONMENT}=NAME "
           "(docs/deployment.md).")
NAME = r"[\w-]+(?:\.[\w-]+)*"
_HOST = re.compile(rf"(?:\[([\da-f:.]+)\]|({NAME})\.?)(?::\d*)?", re.ASCII | re.IGNORECASE)
_HEADERS = {b"x-frame-options": b"SAMEORIGIN", b"x-content-type-options": b"nosniff",
            b"referrer-policy": b"same-origin"}


class Door:
    """Middleware that refuses a foreign Host or Origin, on HTTP and WebSocket, and adds security headers."""

    def __init__(self, app: "ASGIApp") -> None:
        self.app = app

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        hosts, origins = (_values(scope, name) for name in (b"host", b"origin"))
        if len(hosts) != 1 or not is_known(hosts[0]):
            return await _refuse(scope, send, 400)
        if not all(_is_own(origin, hosts[0]) for origin in origins):
            return await _refuse(scope, send, 403)
        if is_demo() and scope.get("method", "GET") not in ("GET", "HEAD"):  # uploads are PUT and POST
            return await _refuse(scope, send, 403, "This public demo takes no files.")

        async def send_guarded(message: "Message") -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *((n, v) for n, v in _HEADERS.items() if n not in present)]
            await send(message)

        return await self.app(scope, receive, send_guarded)


def is_demo() -> bool:
    """Whether this server is a public demo (mvgviz/ui/visitors.py)."""
    return os.environ.get(DEMO, "") not in ("", "0")


def is_known(host: str) -> bool:
    """Whether a Host header (a name or an address, with or without port) may be served."""
    name = _name(host)
    return name == "localhost" or name.endswith(".localhost") or is_address(name) or name in allowed_names()


def allowed_names() -> list[str]:
    """Return the names that the server's variables allow (``--allow-host`` extends them), in lower case."""
    names = [*re.split(r"[\s,]+", os.environ.get(ENVIRONMENT, "")), public_name()]
    return [name.lower().rstrip(".") for name in names if name]


def public_name() -> str:
    """Return the host of the public URL, with or without scheme; nothing where it has none."""
    return _name(re.split("[/?#]", os.environ.get(PUBLIC_URL, "").rpartition("://")[2])[0])


def for_others(url: str, listens: str) -> str | None:
    """Return a page's ``url`` as other devices can open it, None where they cannot; ``listens``: the server's host."""
    scheme, _, rest = url.partition("://")
    place, _, path = rest.partition("/")
    if name := os.environ.get(PUBLIC_URL):
        return f"{name if '://' in name else f'{scheme}://{name}'}".rstrip("/") + f"/{path.rpartition('/')[2]}"
    if not _is_here(_name(place)):
        return url
    host = os.environ.get(FRONT, listens)
    if host in EVERY_ADDRESS:
        host = _own_address()
    if _is_here(host):
        return None
    port = place.rpartition("]")[2].partition(":")[2]
    return f"{scheme}://{f'[{host}]' if ':' in host else host}{port and f':{port}'}/{path}"


def _is_here(name: str) -> bool:
    return name in ("", "localhost") or name.endswith(".localhost") or (
        is_address(name) and ipaddress.ip_address(name).is_loopback)


def _own_address() -> str:
    """Return this computer's address in its network, if it has one; send nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address for documents: the way there begins at our own
        except OSError:
            return ""
        return str(probe.getsockname()[0])


def _is_own(origin: str, host: str) -> bool:
    """Whether a page comes from this server's name and port, or from an allowed name."""
    scheme, _, place = origin.lower().partition("://")
    return scheme in ("http", "https") and (place == host.lower() or _name(place) in allowed_names())


def _name(host: str) -> str:
    """Return a Host header without port and last dot, in lower case; empty where it is none."""
    found = _HOST.fullmatch(host)
    return (found[1] or found[2]).lower() if found else ""


def is_address(name: str) -> bool:
    """Whether a host is an address in numbers."""
    try:
        return bool(ipaddress.ip_address(name))
    except ValueError:
        return False


def _values(scope: "Scope", header: bytes) -> list[str]:
    return [value.decode("latin-1") for name, value in scope["headers"] if name == header]


async def _refuse(scope: "Scope", send: "Send", status: int, words: str = REFUSAL) -> None:
    kind = "websocket.http.response" if scope["type"] == "websocket" else "http.response"
    headers = [(b"content-type", b"text/plain"), (b"content-length", str(len(words) + 1).encode())]
    await send({"type": f"{kind}.start", "status": status, "headers": headers})
    await send({"type": f"{kind}.body", "body": f"{words}\n".encode()})
