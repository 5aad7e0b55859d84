"""Ask the public database of vulnerabilities (OSV) about every version in locks/develop.txt; app.txt has no other.

    python tools/audit.py                  fails on a known vulnerability, and when the database cannot be asked
    python tools/audit.py --if-reachable   as CI does it: a database that cannot be asked is no failure

Names and versions of public packages are sent, nothing else. pip-audit ends with 1 for a vulnerability and for a
database out of reach alike, so that --if-reachable would take a program around it, and it adds 15 packages to the lock.
"""

import json
import pathlib
import re
import sys
import urllib.request

LOCK = pathlib.Path(__file__).parents[1] / "locks" / "develop.txt"
DATABASE = "https://api.osv.dev/v1/querybatch"
# What is known and does not concern mvgviz: the name of a vulnerability, and why.
ACCEPTED: dict[str, str] = {}


def locked(text):
    """The versions in a lock: (name, version) pairs."""
    return re.findall(r"^([a-z0-9-]+)==([^\s;]+)", text, re.MULTILINE)


def known(pairs, answer):
    """A line for each package with vulnerabilities that were not accepted, from the database's answer."""
    for (name, version), found in zip(pairs, answer["results"], strict=True):
        if names := sorted({one["id"] for one in found.get("vulns", [])} - set(ACCEPTED)):
            yield f"{name} {version}: {', '.join(names)}"


def ask(pairs):
    """The database's answer, in the order of the question."""
    queries = [{"package": {"name": name, "ecosystem": "PyPI"}, "version": version} for name, version in pairs]
    request = urllib.request.Request(DATABASE, json.dumps({"queries": queries}).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def main():
    """The exit code: 0 when nothing is known against any version."""
    pairs = locked(LOCK.read_text(encoding="utf-8"))
    try:
        lines = list(known(pairs, ask(pairs)))
    except (OSError, ValueError, KeyError) as error:
        print(f"The database of vulnerabilities could not be asked ({error}).")
        return 0 if "--if-reachable" in sys.argv else 1
    print("\n".join(lines) or f"No vulnerability is known in {len(pairs)} packages.")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
