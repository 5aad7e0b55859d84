"""An empty Debian with nothing but Python and make: the app opens there, and every test passes."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.browser.chromium import ROOT, checkout
from tests.browser.conftest import wait_until_healthy

pytestmark = [pytest.mark.debian, pytest.mark.skipif(
    not (shutil.which("debootstrap") and shutil.which("unshare") and os.geteuid() == 0),
    reason="only root can make a Debian with debootstrap, and open it with unshare")]
WITH = "python3,python3-venv,make,ca-certificates"
OPEN = ("mount -t proc proc /proc && mkdir -p /dev/shm && mount -t tmpfs tmpfs /dev/shm && cd /srv/mvgviz && "
        "unset PYTHONPATH VIRTUAL_ENV && HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin exec ")


@pytest.fixture(scope="module")
def debian(tmp_path_factory):
    """What opens it; ``MVGVIZ_DEBIAN`` names one that is there already, else debootstrap makes the current one."""
    if named := os.environ.get("MVGVIZ_DEBIAN"):
        root = Path(named)
    else:
        root = tmp_path_factory.mktemp("debian")
        subprocess.run(["debootstrap", "--variant=minbase", f"--include={WITH}", "stable", root], check=True)
    for name in checkout():
        (root / "srv" / "mvgviz" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / "srv" / "mvgviz" / name)
    # What is mounted and started in it ends with it.
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "chroot", root, "sh", "-ec"]


def test_make_app_opens_the_app(debian):
    with subprocess.Popen([*debian, f"{OPEN} make app"], stdout=subprocess.PIPE, text=True) as app:
        try:
            line = next(line for line in app.stdout if line.startswith("mvgviz: http"))
            assert wait_until_healthy(re.search(r":(\d+)", line)[1])
        finally:
            app.kill()


def test_make_test_passes(debian):
    subprocess.run([*debian, f"{OPEN} make test"], check=True)
