"""Words of facts and written text for comparison: stems, and text in backticks."""

from __future__ import annotations

import re
from functools import lru_cache

from cm_tui.engine.memory.narrator.wording import normal

_CODE = re.compile(r"`([^`\n]{1,200})`")


def code_of(text: str) -> tuple[str, ...]:
    """Return texts in backticks, with single blanks."""
    return tuple(dict.fromkeys(" ".join(found.split()) for found in _CODE.findall(text) if found.strip()))


@lru_cache(maxsize=1 << 14)
def terms_of(text: str) -> frozenset[str]:
    """Return the words of a text for comparison."""
    code = code_of(text)
    # Polarity records denial: the denied statement has the same words.
    return frozenset((*normal(_CODE.sub(" ", text)), *(f"`{one}" for one in code)))
