"""The user's own text in a prompt of Claude Code, and the key of its turn."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from cm_tui.engine.memory.transcripts.lines import Line, as_record, as_text
from cm_tui.engine.memory.transcripts.transcript import texts_of

_RUN_HERE = ("<command-name>", "<bash-input>", "<user-memory-input>")
"""Beginnings of what Claude Code runs itself; a command with a prompt for the model begins with its message."""
INTERRUPTED = "[Request interrupted by user"
_LEFT_OUT = ("system-reminder", "user-prompt-submit-hook", "ide_opened_file", "ide_selection", "command-message")
_NOT_TYPED = (
    "<local-command-", "<bash-stdout>", "<bash-stderr>", "<task-notification>", "<command-contents>", "<teammate-message",
    "Caveat: The messages below were generated",
)  # fmt: skip


def prompt_of(text: str) -> str:
    """Return the user's text; empty if the text is the program's."""
    for tag in _LEFT_OUT:
        text = _without(text, tag)
    text = text.strip()
    if text.startswith(_NOT_TYPED):
        return ""
    command = _inside(text, "command-name")
    if command:
        return f"{command} {_inside(text, 'command-args')}".strip()
    shell = _inside(text, "bash-input")
    return f"! {shell}" if shell else text


def is_for_agent(text: str) -> bool:
    """Return whether a typed text goes to the model: `/clear`, `/exit` or `! ls` do not."""
    for tag in _LEFT_OUT[:-1]:
        text = _without(text, tag)
    return not text.strip().startswith(_RUN_HERE)


def key_of(line: Line, session: str) -> str:
    """Return the key of the turn that a record begins, the same for copies in other sessions' files."""
    record, stamp = line.record, as_text(line.record.get("timestamp"))
    asked = sha256(texts_of(as_record(record.get("message")).get("content")).encode()).hexdigest()[:32]
    if stamp:
        return f"{stamp} {asked}"
    # Copies without a time differ from a repeated prompt only by their place.
    return f"{as_text(record.get('uuid'))} {session} {line.start} {asked}"


def earlier_key_of(record: Mapping[str, Any]) -> str:
    """Return the turn's key in earlier versions, for recognising recorded turns."""
    stamp = as_text(record.get("timestamp"))
    # An older version gives copies new ids; no version changes their times.
    return (
        f"{stamp} {texts_of(as_record(record.get('message')).get('content'))[:500]}"
        if stamp
        else as_text(record.get("uuid"))
    )


def _inside(text: str, tag: str) -> str:
    start = text.find(f"<{tag}>")
    end = text.find(f"</{tag}>", start)
    return text[start + len(tag) + 2 : end].strip() if 0 <= start < end else ""


def _without(text: str, tag: str) -> str:
    """Return a text without everything between two tags of a name."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    kept: list[str] = []
    at = 0
    while (start := text.find(opening, at)) >= 0:
        end = text.find(closing, start)
        if end < 0:
            break
        kept.append(text[at:start])
        at = end + len(closing)
    return "".join((*kept, text[at:])) if kept or at else text
