"""Prompts of Claude Code: the user's own text, the key of a turn, those typed while it worked, and the list of all.

The list, `history.jsonl`, remains when Claude Code deletes transcripts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui.engine.memory.transcripts.copies import copies_below
from cm_tui.engine.memory.transcripts.lines import Line, as_id, as_number, as_record, as_text, opened_text, read_lines
from cm_tui.engine.memory.transcripts.transcript import Item, Read, Transcript, parse_time, texts_of
from cm_tui.engine.memory.transcripts.turn import SessionFacts, Turn
from cm_tui.files import read_regular

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


_MOST = 100


class _Queued(NamedTuple):
    text: str
    line: Line

    def turn(self, folder: str) -> Turn:
        """Return the prompt as a turn."""
        stamp = as_text(self.line.record.get("timestamp")) or str(self.line.start)
        turn = Turn(f"{stamp} queued {sha256(self.text.encode()).hexdigest()[:32]}", folder)
        turn.at(parse_time(stamp))
        turn.ask(self.text)
        return turn


class PromptQueue:
    """The prompts that wait, from the records of the program's queue."""

    def __init__(self) -> None:
        self._waiting: list[_Queued] = []
        self._given: list[_Queued] = []
        """Taken from the queue, but without the record of the delivery so far."""

    def follow(self, line: Line) -> None:
        """Take in a record of the queue."""
        operation, text = line.record.get("operation"), prompt_of(as_text(line.record.get("content")))
        if operation == "enqueue" and len(self._waiting) < _MOST:
            # Messages of the program itself wait in it too: they have no text here.
            self._waiting.append(_Queued(text, line))
        elif operation == "popAll":
            # They are back in the input line.
            self._waiting.clear()
        elif operation in ("dequeue", "remove") and text:
            self.take(text)
        elif operation in ("dequeue", "remove"):
            self._given = [*self._given, *self._waiting[:1]][-_MOST:]
            del self._waiting[:1]

    def take(self, text: str) -> list[str]:
        """Remove the prompts delivered in a text, and return their keys as turns without an answer.

        Several may be delivered at once, and only the text has pasted parts.
        """
        taken = [*self._given, *(one for one in self._waiting if one.text and one.text in text)]
        self._given, self._waiting = [], [one for one in self._waiting if one not in taken]
        return [key for one in taken for key in one.turn("").unanswered_keys]

    def end(self, under_way: Turn) -> None:
        """Add waiting prompts to the current turn: they may be delivered while the agent works."""
        if not under_way.is_over:
            for one in (*self._given, *self._waiting):
                under_way.ask(one.text)
            self._given, self._waiting = [], []

    def turns(self, folder: str) -> Iterator[Turn]:
        """Yield waiting prompts of an agent that has ended, each as a turn without an answer, and remove them.

        `folder`: the agent's working folder.
        """
        waiting = [*self._given, *self._waiting]
        self._given, self._waiting = [], []
        yield from (one.turn(folder) for one in waiting if one.text)


# --- the prompts of all sessions, and for how long transcripts are kept ---

PROMPTS = "history.jsonl"
"""Claude Code's file with the prompts of all sessions; it remains when transcripts are deleted."""
DAYS = 30
"""Days where nothing is set."""
SETTINGS_BYTES = 10_000_000
_SESSION = re.compile(r"[\w-]{8,100}")
_LOST = "only the prompt is known: Claude Code deleted the transcript"


def days_kept(home: Path) -> int:
    """Return after how many days without a change Claude Code deletes a transcript.

    `home`: Claude Code's folder, with its settings.
    """
    try:
        settings = json.loads(read_regular(home / "settings.json", SETTINGS_BYTES) or b"{}")
    except (ValueError, RecursionError):
        return DAYS
    days = as_number(as_record(settings).get("cleanupPeriodDays"))
    return int(days) if days is not None and days >= 0 else DAYS


def lost_prompts(agent: str, home: Path, present: set[str]) -> Iterator[Transcript]:
    """Yield the copies of prompts whose sessions have no transcript.

    `agent`: Claude Code's name.
    """
    file = home / PROMPTS
    for original, found in copies_below(agent, file, depth=1):
        session = original.name.partition(".")[0]
        if session not in present:
            name = f"{file}#{session}"
            yield Transcript(agent, name, found.path, found.size, found.changed, session, is_copy=True)


def session_of(record: Mapping[str, Any]) -> str:
    """Return the session of a prompt, if valid as a file name; else empty."""
    session = as_id(record.get("sessionId"))
    return session if _SESSION.fullmatch(session) else ""


def listed_prompt(record: Mapping[str, Any]) -> str:
    """Return the words of a prompt in that list; an empty text for a command of Claude Code itself."""
    words = as_text(record.get("display")).strip()
    return "" if words.startswith("/") else words


def facts_of(transcript: Transcript) -> SessionFacts | None:
    """Return whose the prompts of one session are. Raises OSError if the copy cannot be read."""
    with opened_text(transcript.file) as stream:
        for line in read_lines(stream):
            folder = as_text(line.record.get("project"))
            if folder:
                began = parse_time(line.record.get("timestamp"))
                return SessionFacts(transcript.agent, transcript.session, folder, began=began)
    return None


def turns_of(transcript: Transcript, facts: SessionFacts) -> Iterator[Item]:
    """Yield a turn for each prompt of one session. Raises OSError if the copy cannot be read."""
    with opened_text(transcript.file) as stream:
        for line in read_lines(stream):
            if listed_prompt(line.record):
                yield Read(_turn_of(line, facts))


def _turn_of(line: Line, facts: SessionFacts) -> Turn:
    prompt = listed_prompt(line.record)
    stamp, digest = line.record.get("timestamp"), sha256(prompt.encode()).hexdigest()[:32]
    turn = Turn(f"{facts.session} {stamp} {digest}", as_text(line.record.get("project")) or facts.folder)
    turn.ask(prompt)
    turn.at(parse_time(stamp))
    turn.verdict, turn.is_over = _LOST, True
    turn.damage()
    return turn
