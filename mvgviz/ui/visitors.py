"""Who may come in: whoever logs in, where the server asks for that, and in a public demo so many at once.

The demo (docs/deployment.md) has bundled tables alone, no uploads, no releases and fewer trials. The pages say so; the
door and the callbacks see to it.
"""

import os
import re
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mvgviz.errors import refuse
from mvgviz.scenario.scenario import Scenario
from mvgviz.ui.door import is_demo
from mvgviz.ui.streamlit_internals import visitors

ENVIRONMENT = "MVGVIZ_LOGIN"
_COOKIE = "mvgviz_place"
_PLACE = re.compile(r"/(?!/)[\w\-./~%?&=+:,]*", re.ASCII)  # a page of this server, nothing that leads elsewhere


class KeepsPlace:
    """Middleware that leads back to the page of the login; its address, choices and no data, waits in a cookie."""

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


MOST_TRIALS, MOST_VISITORS = 200, 40  # in the demo: of a scenario, and at a time
_ADMITTED = "_demo_admitted"


def most_trials() -> int:
    """The most trials that a scenario may ask for here."""
    return MOST_TRIALS if is_demo() else 100_000


def held(scenario: Scenario) -> Scenario:
    """Return the scenario with no more trials than this server makes, and in the demo no directions from a file."""
    if not is_demo():
        return scenario
    filed = scenario.directions == "upload"
    return scenario.changed(trials=min(scenario.trials, MOST_TRIALS), **{"directions": "standard"} if filed else {})


def refuse_release() -> None:
    """Raise `InputError` in the demo: no answer of it may look like a release."""
    refuse(is_demo(), "this public demo releases nothing: install mvgviz to release an answer about your own data")


def choose_file(label: str, **options: Any) -> Any:
    """A box for a file; a sentence instead in the demo, whose door takes none."""
    if is_demo():
        st.caption("This public demo takes no files. Install mvgviz to open your own.")
        return None
    return st.file_uploader(label, **options)


def draw_badge() -> None:
    """Say on every page that this is the demo."""
    if is_demo():
        st.badge("Public demo", icon=":material/public:", color="blue", help="Bundled data only: no uploads, no "
                 f"releases, at most {MOST_TRIALS} trials. Install mvgviz to use your own data.")


def has_room() -> bool:
    """Whether this visitor may come in; one who is in stays."""
    if is_demo() and not st.session_state.get(_ADMITTED):
        st.session_state[_ADMITTED] = visitors() <= MOST_VISITORS
    return not is_demo() or bool(st.session_state[_ADMITTED])


def draw_full() -> None:
    """Say that all places are taken."""
    st.subheader("The demo is full", anchor=False)
    st.markdown(f"{MOST_VISITORS} visitors are here now. Load this page again in a few minutes.")
