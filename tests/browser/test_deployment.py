"""The example deployment: TLS, a content security policy that the app runs under, limits."""

import http.client
import shutil
import socket
import ssl
import subprocess
import sys
import time
from contextlib import closing, contextmanager

import pytest

from tests.browser.chromium import PICTURES, ROOT, at_rest, bring, fetched
from tests.browser.conftest import free_port, served
from tests.browser.provider import log_in, provider, write_secrets
from tests.doors import assert_guarded

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(
    not (NGINX and shutil.which("openssl")), reason="nginx and openssl make the example deployment")]


@contextmanager
def behind_nginx(app_port, port, folder):
    """The example with a certificate made here, on a port of this machine."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
                    "-keyout", folder / "key.pem", "-out", folder / "certificate.pem"], check=True, capture_output=True)
    text = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    for before, after in (("ssl_certificate CERTIFICATE", f"ssl_certificate {folder}/certificate.pem"),
                          ("KEY;", f"{folder}/key.pem;"), ("server_name your.host", "server_name localhost"),
                          ("listen 8443", f"listen 127.0.0.1:{port}"),
                          ("127.0.0.1:8501", f"127.0.0.1:{app_port}"), ("pid nginx.pid", f"pid {folder}/nginx.pid")):
        assert before in text
        text = text.replace(before, after)
    (folder / "nginx.conf").write_text(text, encoding="utf-8")
    with (folder / "said.txt").open("w") as said:
        front = subprocess.Popen([NGINX, "-p", folder, "-c", folder / "nginx.conf", "-g", "daemon off;"], stderr=said)
    try:
        while not answers(port):
            assert front.poll() is None, (folder / "said.txt").read_text()
            time.sleep(0.1)
        yield port
    finally:
        front.terminate()
        front.wait()


def answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_the_app_runs_behind_the_example_with_a_login_and_without_a_violation(browser, tmp_path):
    port, command = free_port(), (sys.executable, "-m", "mvgviz", "--login")
    with provider() as known:
        write_secrets(known, f"https://localhost:{port}", tmp_path)
        with served(command, cwd=tmp_path) as address, behind_nginx(int(address.rsplit(":", 1)[1]), port, tmp_path):
            walk(browser, port)


def walk(browser, port):
    """As somebody who was not there before; nothing before the login, everything after it."""
    context = browser.new_context(ignore_https_errors=True)
    tab, wrong = context.new_page(), []
    tab.on("console", lambda message: wrong.append(message.text) if "Content Security" in message.text else None)
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    log_in(tab, f"https://localhost:{port}")
    for path, waits_for in (("", PICTURES), ("shape", ".rule svg"), ("lesson", PICTURES),
                            ("privacy", ".js-plotly-plot .main-svg")):
        tab.goto(f"https://localhost:{port}/{path}")
        tab.wait_for_selector(waits_for)
        at_rest(tab)
    assert fetched(tab, tab.get_by_role("button", name="Save this chart as SVG").first)[1].endswith(".svg")
    tab.goto(f"https://localhost:{port}/data")
    bring(tab, "a,b\n" + "".join(f"{i % 9},{i % 5}\n" for i in range(60)))
    tab.get_by_text("2 features × 60 records").wait_for()
    tab.get_by_role("button", name="Log out").click()
    tab.get_by_role("button", name="Log in").wait_for()
    assert wrong == []
    context.close()

    assert_guarded(port, own=f"localhost:{port}", tls=True)
    assert_limited(port)


def assert_limited(port):
    """Headers and limits, as a program sees them."""
    with closing(http.client.HTTPSConnection("localhost", port, context=ssl._create_unverified_context())) as asked:
        asked.request("GET", "/", headers={"Accept-Encoding": "gzip"})
        answer = asked.getresponse()
        answer.read()
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers.get_all("X-Frame-Options") == ["SAMEORIGIN"]
        for closed in ("/_stcore/metrics", "/_stcore/agent/", "/_stcore/agent"):
            asked.request("GET", closed)
            refused = asked.getresponse()
            refused.read()
            assert refused.status == 404
        asked.request("PUT", "/_stcore/upload_file/x/y", headers={"Content-Length": str(201 * 2**20)})
        answer = asked.getresponse()
        answer.close()
        assert answer.status == 413
