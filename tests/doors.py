"""What a server answers to a request, or to a WebSocket's handshake, under any Host and Origin."""

import base64
import http.client
import ssl
from contextlib import closing

STREAM = "/_stcore/stream"
_UPGRADE = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": base64.b64encode(bytes(16)).decode(), "Sec-WebSocket-Protocol": "streamlit"}


def answer(port, path="/", *, host, origin=None, tls=False):
    """Status, headers and text; a path of the WebSocket is asked with a handshake."""
    context = {"context": ssl._create_unverified_context()} if tls else {}
    kind = http.client.HTTPSConnection if tls else http.client.HTTPConnection
    with closing(kind("localhost", port, timeout=300, **context)) as asked:
        headers = {"Host": host} | ({"Origin": origin} if origin else {}) | (_UPGRADE if path == STREAM else {})
        asked.request("GET", path, headers=headers)
        given = asked.getresponse()
        return given.status, given.headers, "" if given.status == 101 else given.read().decode()


def assert_guarded(port, *, own, foreign_host=400, tls=False):
    """Only ``own`` comes in; a foreign name, or a foreign page, reaches neither pages nor the WebSocket."""
    scheme = "https" if tls else "http"
    for path in ("/", "/_stcore/health", STREAM):
        passes = 101 if path == STREAM else 200
        assert answer(port, path, host=own, origin=f"{scheme}://{own}", tls=tls)[0] == passes
        assert answer(port, path, host=own, tls=tls)[0] == passes
        for foreign in ("evil.example", f"evil.example:{port}", "localhost.evil.example", "127.0.0.1.evil.example"):
            status, _, text = answer(port, path, host=foreign, origin=f"{scheme}://{foreign}", tls=tls)
            assert status == foreign_host, (path, foreign)
            assert "--allow-host" in text
        for origin in ("http://evil.example", "http://6.6.6.6", "http://localhost:9", "null"):
            assert answer(port, path, host=own, origin=origin, tls=tls)[0] == 403, (path, origin)
