"""Git's conflict marks in a text: it must not be extended until the user has resolved them."""

from __future__ import annotations

import re

from cm_tui.model.text import fence_after

_OPENS, _CLOSES = re.compile(r"<{7}( |$)"), re.compile(r">{7}( |$)")


def conflict_line(text: str) -> int | None:
    """Return the line, from 1, at which a conflict begins, or ends without a beginning; None: no conflict.

    Marks quoted in a fenced block of Markdown are ignored.
    """
    fence = ""
    for number, line in enumerate(text.split("\n"), start=1):
        fence = fence_after(fence, line)
        if not fence and (_OPENS.match(line) or _CLOSES.match(line)):
            return number
    return None
