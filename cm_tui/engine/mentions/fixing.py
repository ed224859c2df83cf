"""The new name in the place of an old one, in a text, wherever the old one stands by itself."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cm_tui.model.stale import Mention


def replacements(mentions: Iterable[Mention]) -> dict[str, str]:
    """Return the new name by the old one, for names that have exactly one new one."""
    found: dict[str, set[str]] = {}
    for one in mentions:
        if one.state in ("renamed", "moved") and one.became and (one.kind == "path" or one.state == "renamed"):
            found.setdefault(one.text, set()).add(one.became)
    return {old: next(iter(new)) for old, new in found.items() if len(new) == 1}


def replaced(text: str, names: dict[str, str]) -> str:
    """Return a text with old names replaced; where one is a part of another, the longer one goes first."""
    if not names:
        return text
    longest = sorted(names, key=len, reverse=True)
    pattern = re.compile(rf"(?<![\w/])(?:{'|'.join(map(re.escape, longest))})(?![\w])")
    return pattern.sub(lambda found: names[found[0]], text)
