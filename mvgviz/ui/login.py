"""Who may open the app: whoever logs in, where the server asks for that (``mvgviz --login``, docs/deployment.md)."""

import os
import re
from urllib.parse import quote, unquote, urlsplit

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

ENVIRONMENT = "MVGVIZ_LOGIN"
_COOKIE = "mvgviz_place"
_PLACE = re.compile(r"/(?!/)[\w\-./~%?&=+:,]*", re.ASCII)
"""A page of this server, and nothing that leads elsewhere."""


class KeepsPlace:
    """Middleware that leads a visitor back, after the provider's login, to the page where they asked to log in.

    Streamlit leads to the first page. The address waits in a cookie; it holds choices and no data.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_kept(message: Message) -> None:
            if message["type"] == "http.response.start":
                _keep_place(Request(scope), MutableHeaders(scope=message))
            await send(message)

        await self.app(scope, receive, send_kept if scope["type"] == "http" else send)


def _keep_place(request: Request, headers: MutableHeaders) -> None:
    if request.url.path.endswith("/auth/login"):
        left = urlsplit(request.headers.get("referer", ""))
        place = quote(f"{left.path}?{left.query}", safe="")
        headers.append("set-cookie", f"{_COOKIE}={place}; Max-Age=600; Path=/; HttpOnly; SameSite=Lax")
    elif request.url.path.endswith("/oauth2callback"):
        place = unquote(request.cookies.get(_COOKIE, ""))
        if _PLACE.fullmatch(place) and headers.get("location", "").endswith("/"):
            headers["location"] = place


def may_enter() -> bool:
    """Whether the visitor is logged in, or need not be."""
    return not os.environ.get(ENVIRONMENT) or bool(st.user.get("is_logged_in"))


def ask_who() -> None:
    """Draw the way in."""
    st.subheader("Who are you?", anchor=False)
    st.markdown("Log in to open this server's pages.")
    st.button("Log in", key="login", type="primary", icon=":material/login:", on_click=st.login)


def draw_logout() -> None:
    """Draw the way out, where one had to log in."""
    if os.environ.get(ENVIRONMENT):
        st.button("Log out", key="logout", icon=":material/logout:", on_click=st.logout, width="stretch")
