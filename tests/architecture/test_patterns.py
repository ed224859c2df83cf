"""Regular expressions mean the same in every Python that is supported."""

from __future__ import annotations

import re
from pathlib import Path

import cm_tui

SOURCE = Path(cm_tui.__file__).parent
UNSAFE = re.compile(r"\)(?:[*+?]|\{+\d*,?\d*\}+)\+(?!\w)|\(\?>")
"""A possessive or an atomic group: before Python 3.11.5 what it took of a try that failed stays taken (gh-106052).

A group whose tries cannot overlap needs none; `(?=(?P<name>…))(?P=name)` is one in every version.
"""


def test_no_group_is_possessive_or_atomic():
    found = [
        f"{file.relative_to(SOURCE)}:{number}"
        for file in sorted(SOURCE.rglob("*.py"))
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if ('"' in line or "'" in line) and UNSAFE.search(line)
    ]
    assert found == []
