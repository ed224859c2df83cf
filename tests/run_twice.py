"""Run pytest; run a few failed tests once more, alone, and list those that pass then as unsteady.

Usage: run_twice.py [PYTEST ARGUMENTS]. Exit 0: all passed, at once or the second time. An unsteady test is a defect to fix.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

MOST = 10  # more failures than this are no accident
FAILED_BEFORE = Path(".pytest_cache/v/cache/lastfailed")


def failed_tests() -> list[str]:
    """Return the ids of the tests that failed in the last run."""
    try:
        return sorted(json.loads(FAILED_BEFORE.read_text()))
    except (OSError, ValueError):
        return []


def main(arguments: list[str]) -> int:
    """Run twice at most."""
    FAILED_BEFORE.unlink(missing_ok=True)
    code = subprocess.run(["pytest", *arguments], check=False).returncode
    failed = failed_tests()
    if code != 1 or not 0 < len(failed) <= MOST:
        return code
    print(f"== second run of {len(failed)} failed tests, alone", flush=True)
    again = ["pytest", "-q", "-p", "no:xdist", "--last-failed", "--last-failed-no-failures", "none"]
    code = subprocess.run(again, check=False).returncode
    if code == 0:
        print(*(f"unsteady: {test}" for test in failed), sep="\n", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
