"""Validating an agent's proposal: one plain, redacted line, for an existing scope and topic.

An event is validated again when it is read: a journal may contain anyone's backup.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cm_tui.counts import count
from cm_tui.engine.memory.entries.entry_names import checked_scope
from cm_tui.engine.memory.entries.entry_record import TITLE_CHARACTERS, storable
from cm_tui.engine.memory.narrator.topic_names import topic_named
from cm_tui.engine.memory.notes.notes import Notes
from cm_tui.engine.memory.projection.narrated import STANDS_ON
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.errors import UsageError
from cm_tui.model.entry import REASON_CHARACTERS
from cm_tui.model.text import one_line, visible

LINE_CHARACTERS = 500
"""A longer text is not a line of a note."""
MOST_EPISODES = 50
_MARKS = re.compile(r"(?:(?:[-*+]|\d{1,9}[.)])(?:\s+|$))+")
"""List marks, which are added when the line is written."""
_COMMENT = re.compile(r"<!--|-->")
_BLOCK = re.compile(r"#{1,6}(?:\s|$)|```|~~~|>|\[[^\]]*\]:")
"""Markup beyond a list item: a heading, a fence, a quotation, a link's address."""
_NEEDLESS = re.compile(r"[\s.!?,;:]+$")


def line(text: str) -> str:
    """Return a text as one line of Markdown, without secrets.

    Raises UsageError if there is nothing, or more than a line.
    """
    plain = visible(text).strip()
    found = redact(plain[marks.end() :] if (marks := _MARKS.match(plain)) else plain).text
    hint = "Write one sentence about one thing."
    if not found:
        raise UsageError("There is nothing to propose.", hint=hint)
    if not found.isprintable():
        raise UsageError("A proposal is one line of plain text, without control characters.", hint=hint)
    if _COMMENT.search(found):
        raise UsageError("A proposal holds no comment of HTML.", hint="Leave out `<!--` and `-->`.")
    if _BLOCK.match(found):
        raise UsageError("A proposal is one line of a list: no heading, no fence, no quotation.", hint=hint)
    if len(found) > LINE_CHARACTERS:
        raise UsageError(
            f"A proposal takes at most {LINE_CHARACTERS:,} characters; this has {len(found):,}.",
            hint="Put longer texts into a file of the project, and name that.",
        )
    return found


def reason(text: str) -> str:
    """Return the reason for a proposal in one redacted line."""
    return redact(" ".join(one_line(visible(storable(text))).split())).text[:REASON_CHARACTERS]


def name(text: str) -> str:
    """Return the name of an agent, or of a session, without secrets."""
    return redact(" ".join(one_line(visible(storable(text))).split())).text[:TITLE_CHARACTERS]


def key_of(text: str) -> str:
    """Return the normal form of a text: its words, ignoring case and spacing."""
    return _NEEDLESS.sub("", " ".join(text.casefold().split()))


def scope_and_topic(root: Path, scope: str, topic: str) -> tuple[str, str]:
    """Return a scope, and the id of a topic of it; no id where none is named.

    Raises UsageError if there is no such scope, the topic is of the other one, or no topic at all; NotFoundError if
    there is no such topic; RefusedError if it lies outside the folders of topics.
    """
    found = checked_scope(scope) or "project"
    if not topic.strip():
        return found, ""
    place = topic_named(Notes(root), topic)
    if place.scope != found:
        raise UsageError(
            f"The topic {place.id} is of the scope {place.scope}, and this is for the scope {found}.",
            hint="Leave the topic out, or name one of that scope.",
        )
    return found, place.id


def check_count(names: Sequence[str]) -> None:
    """Check the number of named episodes. Raises UsageError if there are too many."""
    if len(names) > MOST_EPISODES:
        raise UsageError(
            f"{count(len(names), 'episode')} are named; {MOST_EPISODES} are the most.",
            hint="Name the most relevant ones.",
        )


def sound(data: Any) -> dict[str, Any] | None:
    """Return an event's proposal by the current rules; None: it would be rejected."""
    if not isinstance(data, Mapping):
        return None
    said = {key: data.get(key, "") for key in ("text", "why", "scope", "topic", "agent", "session")}
    ids = data.get(STANDS_ON, [])
    if not all(isinstance(one, str) for one in said.values()) or said["scope"] not in ("project", "user"):
        return None
    try:
        text = line(said["text"])
    except UsageError:
        return None
    known = [one for one in ids if isinstance(one, str)][:MOST_EPISODES] if isinstance(ids, list) else []
    return {
        **said, "text": text, "why": reason(said["why"]), "agent": name(said["agent"]), "session": name(said["session"]),
        STANDS_ON: known,
    }  # fmt: skip
