"""The door of the server: refuse names that it does not know, and pages of others.

A foreign page can point its own name at this computer (DNS rebinding) and would then read all that the app shows.
That needs a name: addresses in numbers and names of this computer pass, and names that the server was told.
"""

import ipaddress
import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

ENVIRONMENT, PUBLIC_URL = "MVGVIZ_ALLOW_HOSTS", "MVGVIZ_PUBLIC_URL"
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
        """Pass a request on, or refuse it in a sentence."""
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        hosts, origins = (_values(scope, name) for name in (b"host", b"origin"))
        if len(hosts) != 1 or not is_known(hosts[0]):
            return await _refuse(scope, send, 400)
        if not all(_is_own(origin, hosts[0]) for origin in origins):
            return await _refuse(scope, send, 403)

        async def send_guarded(message: "Message") -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *((n, v) for n, v in _HEADERS.items() if n not in present)]
            await send(message)

        return await self.app(scope, receive, send_guarded)


def is_known(host: str) -> bool:
    """Whether a Host header (a name or an address, with or without port) may be served."""
    name = _name(host)
    return name == "localhost" or name.endswith(".localhost") or is_address(name) or name in allowed_names()


def allowed_names() -> list[str]:
    """Return the names that the server was told, in lower case: by its variables, which ``--allow-host`` extends."""
    told = [*re.split(r"[\s,]+", os.environ.get(ENVIRONMENT, "")), public_name()]
    return [name.lower().rstrip(".") for name in told if name]


def public_name() -> str:
    """Return the host of the public URL, with or without scheme; nothing where it has none."""
    return _name(re.split("[/?#]", os.environ.get(PUBLIC_URL, "").rpartition("://")[2])[0])


def _is_own(origin: str, host: str) -> bool:
    """Whether a page belongs to this server: it comes from the same name and port, or from a name that was told."""
    scheme, _, place = origin.lower().partition("://")
    return scheme in ("http", "https") and (place == host.lower() or _name(place) in allowed_names())


def _name(host: str) -> str:
    """Return a Host header without port and last dot, in lower case; nothing where it is not one."""
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


async def _refuse(scope: "Scope", send: "Send", status: int) -> None:
    kind = "websocket.http.response" if scope["type"] == "websocket" else "http.response"
    headers = [(b"content-type", b"text/plain"), (b"content-length", str(len(REFUSAL) + 1).encode())]
    await send({"type": f"{kind}.start", "status": status, "headers": headers})
    await send({"type": f"{kind}.body", "body": f"{REFUSAL}\n".encode()})
