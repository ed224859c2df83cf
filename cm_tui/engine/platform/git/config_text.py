"""Parsing git settings files as in git-config(1), without a program or library."""

from __future__ import annotations

import re
from collections.abc import Iterator

CONFIG_BYTES = 1_000_000
"""Longer is no settings file."""
_SECTION = re.compile(r'^\[\s*([\w.-]+)\s*("(?:[^"\\]|\\.)*"\s*)?\]')
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}


def settings_in(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield section, name and value of each setting with a value, in the order of the file.

    The section is in lower case; one with a subsection ends in a dot. The name is in lower case.
    """
    section = ""
    # A line that ends in a backslash continues.
    for line in text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\\\n", "").split("\n"):
        rest = line.strip()
        while (head := _SECTION.match(rest)) is not None:
            name, dot, _ = head[1].lower().partition(".")
            section = f"{name}." if head[2] or dot else name
            rest = rest[head.end() :].strip()
        key, equals, value = rest.partition("=")
        if equals:
            yield section, key.strip().lower(), _value(value)


def _value(text: str) -> str:
    """A value without its quotes, escapes and comment."""
    found: list[str] = []
    end = 0
    quoted = False
    letters = iter(text.strip())
    for letter in letters:
        if letter == '"':
            quoted = not quoted
        elif letter == "\\":
            escaped = next(letters, "")
            found += _ESCAPES.get(escaped, escaped)
        elif letter in "#;" and not quoted:
            break
        else:
            found += letter
        if quoted or not letter.isspace():
            end = len(found)
    return "".join(found[:end])
