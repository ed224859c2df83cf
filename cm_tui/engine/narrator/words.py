"""The words of a fact and of what is written down, as they are compared: stems, and what stands in backticks."""

from __future__ import annotations

import re
from functools import lru_cache

from cm_tui.engine.narrator.wording import normal

_CODE = re.compile(r"`([^`\n]{1,200})`")


def code_of(text: str) -> tuple[str, ...]:
    """Return what stands in backticks, with single blanks."""
    return tuple(dict.fromkeys(" ".join(found.split()) for found in _CODE.findall(text) if found.strip()))


@lru_cache(maxsize=1 << 14)
def terms_of(text: str) -> frozenset[str]:
    """Return what a text is compared by."""
    code = code_of(text)
    # Whether something is denied is told by the polarity: what is denied is the same.
    return frozenset((*normal(_CODE.sub(" ", text)), *(f"`{one}" for one in code)))
