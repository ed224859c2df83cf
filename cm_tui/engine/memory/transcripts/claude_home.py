"""Claude Code's other files: its retention of transcripts, and the prompts of all sessions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from cm_tui.engine.memory.transcripts.copies import copies_below
from cm_tui.engine.memory.transcripts.lines import Line, as_id, as_number, as_record, as_text, opened_text, read_lines
from cm_tui.engine.memory.transcripts.transcript import Item, Read, Transcript, parse_time
from cm_tui.engine.memory.transcripts.turn import SessionFacts, Turn
from cm_tui.files import read_regular

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


def prompt_of(record: Mapping[str, Any]) -> str:
    """Return the words of a prompt; an empty text for a command of Claude Code itself."""
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
            if prompt_of(line.record):
                yield Read(_turn_of(line, facts))


def _turn_of(line: Line, facts: SessionFacts) -> Turn:
    prompt = prompt_of(line.record)
    stamp, digest = line.record.get("timestamp"), sha256(prompt.encode()).hexdigest()[:32]
    turn = Turn(f"{facts.session} {stamp} {digest}", as_text(line.record.get("project")) or facts.folder)
    turn.ask(prompt)
    turn.at(parse_time(stamp))
    turn.verdict, turn.is_over = _LOST, True
    turn.damage()
    return turn
