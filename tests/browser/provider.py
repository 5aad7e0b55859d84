"""A provider of OpenID Connect on this machine, that knows one person and asks nothing; and a visitor who logs in."""

import json
import re
import secrets
import threading
import time
import urllib.parse
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.browser.chromium import PICTURES, ROOT, at_rest


class _Provider(BaseHTTPRequestHandler):
    key = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})
    asked: dict

    def do_GET(self):
        path, _, query = self.path.partition("?")
        home = f"http://{self.headers['Host']}"
        if path == "/.well-known/openid-configuration":
            self.say({"issuer": home, "authorization_endpoint": f"{home}/authorize", "token_endpoint": f"{home}/token",
                      "jwks_uri": f"{home}/keys", "id_token_signing_alg_values_supported": ["RS256"]})
        elif path == "/keys":
            self.say({"keys": [self.key.as_dict(private=False)]})
        elif path == "/authorize":
            asked = dict(urllib.parse.parse_qsl(query))
            self.server.asked = asked
            self.send_response(302)
            answer = urllib.parse.urlencode({"code": secrets.token_hex(8), "state": asked["state"]})
            self.send_header("Location", f"{asked['redirect_uri']}?{answer}")
            self.end_headers()

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        home, now = f"http://{self.headers['Host']}", int(time.time())
        claims = {"iss": home, "sub": "1", "aud": self.server.asked["client_id"], "iat": now, "exp": now + 600,
                  "nonce": self.server.asked.get("nonce"), "email": "teacher@school.example", "name": "A teacher"}
        token = jwt.encode({"alg": "RS256", "kid": "one"}, claims, self.key)
        self.say({"access_token": "a", "token_type": "Bearer", "expires_in": 600, "id_token": token})

    def say(self, what):
        body = json.dumps(what).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *given):
        """Nothing."""


@contextmanager
def provider():
    """Its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://localhost:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def write_secrets(provider, home, folder):
    """What docs/deployment.md says, for this provider and an app at ``home``."""
    (folder / ".streamlit").mkdir()
    page = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    [example] = re.findall(r"```toml\n(\[auth\].*?)```", page, re.DOTALL)
    for before, after in (("https://your.host", home), ("https://your.provider", provider)):
        assert before in example
        example = example.replace(before, after)
    (folder / ".streamlit" / "secrets.toml").write_text(example, encoding="utf-8")


def log_in(tab, home):
    """Follow a link to a page as the first request: nothing of it, nor a menu, before the login; the page after it."""
    tab.goto(f"{home}/shape?data=liver&epsilon=0.5")
    tab.get_by_role("button", name="Log in").wait_for()
    at_rest(tab)
    assert tab.locator(PICTURES).count() == 0
    assert tab.get_by_test_id("stSidebar").locator("a, button, input").count() == 0
    tab.get_by_role("button", name="Log in").click()
    tab.get_by_role("button", name="Log out").wait_for(state="attached")
    tab.wait_for_selector(".rule svg")
    address = urllib.parse.urlsplit(tab.url)
    kept = dict(urllib.parse.parse_qsl(address.query))
    assert (address.path, kept["data"], kept["epsilon"]) == ("/shape", "liver", "0.5")
