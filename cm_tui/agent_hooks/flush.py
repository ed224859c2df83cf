"""The reminder to write memory before a context is compacted: due when few tokens are left, once per compaction."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

_TAIL_BYTES = 1_000_000
"""Of a transcript: the last answer with its tokens stands at its end."""
REMINDER = (
    "Session nearing compaction: what is only in this conversation will be lost. Save what should last now, briefly: decisions, "
    "preferences and lessons with `remember`, and what is under way with its `note` today. Write nothing that is there already. "
    "Reply with NO_REPLY alone if there is nothing to write, or once it is written."
)


class Usage(NamedTuple):
    """How full a context is.

    Attributes:
        tokens: in it after the last answer.
        window: that it has room for; 0: the agent does not tell.
    """

    tokens: int
    window: int = 0


def is_due(usage: Usage, *, window: int, reserve: int, soft: int) -> bool:
    """Return whether so many tokens are in a context that it will soon be compacted.

    `window`: of the agent, where it does not tell; `reserve`: tokens that it keeps free; `soft`: tokens before that.
    """
    limit = (usage.window or window) - reserve - soft
    return usage.tokens >= limit > 0


def usage_of(transcript: str) -> Usage | None:
    """Return how full the context of a session is, by the end of its transcript; None where that is not told.

    `transcript`: the file, as the agent names it: anybody's.
    """
    try:
        lines = _tail(transcript).splitlines()
    except OSError:
        return None
    for line in reversed(lines):
        if b"compact_boundary" in line or b'"compacted"' in line:
            # What was counted before that is in the context no more.
            return None
        found = _usage(line) if b"token" in line else None
        if found is not None:
            return found
    return None


def _tail(transcript: str) -> bytes:
    """Return the end of a regular file; a pipe is not waited for."""
    descriptor = os.open(transcript, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            return b""
        file.seek(max(0, found.st_size - _TAIL_BYTES))
        return file.read(_TAIL_BYTES)


def _usage(line: bytes) -> Usage | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return next(_of_claude_code(record), None) or next(_of_codex(record), None)


def _of_claude_code(record: Any) -> Iterator[Usage]:
    """Yield what an answer of the main conversation says: what was read for it, and what it added."""
    message = _part(record, "message")
    usage = _part(message, "usage")
    if usage and record.get("isSidechain") is not True:
        names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
        total = sum(_count(usage.get(name)) for name in names)
        if total:
            yield Usage(total)


def _of_codex(record: Any) -> Iterator[Usage]:
    """Yield what an event of token counts says, with the window that Codex tells."""
    info = _part(_part(record, "payload"), "info")
    last = _part(info, "last_token_usage")
    if total := _count(last.get("total_tokens")):
        yield Usage(total, _count(info.get("model_context_window")))


def _part(record: Any, name: str) -> Mapping[str, Any]:
    found = record.get(name) if isinstance(record, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**40 else 0
