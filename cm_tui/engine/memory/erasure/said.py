"""The text of events, for finding repetitions without ids."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from cm_tui.engine.platform.journal.erasure import Line
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.redaction.values import texts_of
from cm_tui.model import Episode

_TELLING = 24
"""Non-blank characters of a line that identify it: no other text repeats it by chance."""
_NOT_SAID = frozenset({"root", "session", "agent", "base", "stop", "patch", "patch_digest", "origin", "paths", "files"})
"""Fields of events without text, or with source code, which is in the project anyway."""


class Said(NamedTuple):
    """The text of events.

    Attributes:
        lines: the distinctive ones.
        prompts: with their sessions.
    """

    lines: frozenset[str]
    prompts: frozenset[tuple[str, str]]


def said_in(journal: Journal, lines: Iterable[Line]) -> Said:
    """Return the text of lines of a journal. Raises OSError if a file cannot be read."""
    said: set[str] = set()
    prompts: set[tuple[str, str]] = set()
    for line in lines:
        data = data_of(journal, line)
        if isinstance(data, str):
            said |= set(_telling(data))
            continue
        session = str(data.get("session", ""))
        prompts |= {(session, text) for text in texts_of([data.get("prompt"), data.get("prompts")]) if text.strip()}
        for text in texts_of([value for name, value in data.items() if name not in _NOT_SAID]):
            said |= set(_telling(text))
    return Said(frozenset(said), frozenset(prompts))


def said_by(episodes: Iterable[Episode]) -> Said:
    """Return the text of episodes."""
    said: set[str] = set()
    prompts: set[tuple[str, str]] = set()
    for one in episodes:
        prompts |= {(one.session, text) for text in one.prompts if text.strip()}
        for text in (*one.prompts, one.answer):
            said |= set(_telling(text))
    return Said(frozenset(said), frozenset(prompts))


def data_of(journal: Journal, line: Line) -> Mapping[str, Any] | str:
    """Return the data of an event, or the text of an invalid line.

    Raises OSError if the file cannot be read.
    """
    with journal.file(line.segment).open("rb") as file:
        file.seek(line.start)
        text = file.read(line.end - line.start).decode("utf-8", "replace")
    try:
        data = json.loads(text)["data"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return text
    return data if isinstance(data, Mapping) else text


def _telling(text: str) -> Iterator[str]:
    return (bare for line in text.splitlines() if len("".join((bare := line.strip()).split())) >= _TELLING)
