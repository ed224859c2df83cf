"""Replacing old names by new ones in a text, wherever an old one is a separate word."""

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
    """Return a text with old names replaced; longer names come first, as they may contain shorter ones."""
    if not names:
        return text
    longest = sorted(names, key=len, reverse=True)
    pattern = re.compile(rf"(?<![\w/])(?:{'|'.join(map(re.escape, longest))})(?![\w])")
    return pattern.sub(lambda found: names[found[0]], text)
