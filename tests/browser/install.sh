#!/bin/sh
# Makes sure that a Chromium is there for the browser tests: the system's, the system's
# package, or Playwright's own download, whichever is to be had first.
set -u
python=$1
for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null 2>&1 && exit 0
done
if command -v apt-get >/dev/null 2>&1; then
    run=""
    [ "$(id -u)" = 0 ] || run="sudo -n"
    $run apt-get update -qq && $run env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core nginx-light >/dev/null
    command -v chromium >/dev/null 2>&1 && exit 0
fi
"$python" -m playwright install chromium && exit 0
echo "No Chromium could be installed; install one by hand and run make test again." >&2
exit 1
