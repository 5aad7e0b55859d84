"""``mvgviz serve``: several servers behind one address, where a person stays with one of them."""

import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from http.cookies import SimpleCookie

import psutil
import pytest

from mvgviz.command.main import main
from mvgviz.command.serve import _free_ports, nginx_configuration
from tests.doors import answer, assert_guarded

needs_nginx = pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")


def test_every_server_has_its_cookie_and_its_share_and_nothing_that_is_sent_is_written_to_a_file():
    made = nginx_configuration([5001, 5002, 5003], host="127.0.0.1", port=8501, folder="/tmp/x")
    for line in ("listen 127.0.0.1:8501;", "listen 127.0.0.1:8501 default_server;", "{ 33.33% 0; 33.33% 1; * 2; }",
                 '{ "0" 0; "1" 1; "2" 2; default $drawn; }',
                 "{ 0 127.0.0.1:5001; 1 127.0.0.1:5002; 2 127.0.0.1:5003; }",
                 "proxy_request_buffering off;", "proxy_buffering off;", "access_log off;"):
        assert line in made


def test_without_nginx_one_sentence(monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda *given, **more: None)
    assert main(["serve", "--workers", "2"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "apt install nginx-light" in said


@pytest.mark.parametrize("workers", ["0", "1000"])
def test_a_number_of_servers_that_makes_no_sense_is_refused(workers, capsys):
    assert main(["serve", "--workers", workers]) == 2
    assert "workers" in capsys.readouterr().err


@pytest.mark.slow
@needs_nginx
def test_a_visitor_stays_a_server_comes_back_and_all_end_together():
    port = _free_ports(1)[0]
    front = subprocess.Popen([sys.executable, "-m", "mvgviz", "serve", "--workers", "2", "--port", str(port),
                              "--no-ledger", "--allow-host", "class.example"], stderr=subprocess.PIPE,
                             env=os.environ | {"PYTHONPATH": "."})
    try:
        _wait_until(lambda: _asked(port)[0] == 200)
        drawn = {_asked(port)[1] for _ in range(40)}
        assert drawn == {"0", "1"}
        assert {_asked(port, cookie="1")[1] for _ in range(10)} == {"1"}
        assert _asked(port, cookie="7")[1] in drawn
        for own in (f"localhost:{port}", f"127.0.0.1:{port}", "class.example"):
            assert_guarded(port, own=own)
        for closed in ("metrics", "agent/"):
            assert answer(port, f"/_stcore/{closed}", host="localhost")[0] == 404
        begun = psutil.Process(front.pid).children(recursive=True)
        server = next(process for process in begun if "--no-browser" in process.cmdline())
        server.kill()
        _wait_until(lambda: all(_asked(port, cookie=number)[0] == 200 for number in "01"))
        begun += psutil.Process(front.pid).children(recursive=True)
    finally:
        front.send_signal(signal.SIGINT)
        front.communicate(timeout=300)
    assert front.returncode == 130
    assert not any(process.is_running() for process in begun)


def _asked(port: int, cookie: str | None = None) -> tuple[int, str]:
    """The status of an answer, and the server that it came from by its cookie."""
    request = urllib.request.Request(f"http://localhost:{port}/_stcore/health",
                                     headers={} if cookie is None else {"Cookie": f"mvgviz_worker={cookie}"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            given = SimpleCookie("; ".join(text.split(";")[0] for text in answer.headers.get_all("Set-Cookie", [])))
            return answer.status, given["mvgviz_worker"].value
    except OSError:
        return 0, ""


def _wait_until(is_so) -> None:
    end = time.monotonic() + 300
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.3)


def test_the_help_of_serve_says_what_each_option_means(capsys):
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    said = capsys.readouterr().out
    assert "same as" not in said
    assert "keep no ledger file" in said
