"""Details from an agent's transcript for a recorded turn: the steps in between, which no hook sees."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from cm_tui.config import load_config
from cm_tui.engine.memory.importers.known import origin_of_turn, words_of
from cm_tui.engine.memory.importers.project import FORMATS
from cm_tui.engine.memory.importers.record import Heads, Session, record_of
from cm_tui.engine.memory.importers.state import ImportState
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.recording import gate
from cm_tui.engine.memory.transcripts.format import Format
from cm_tui.engine.memory.transcripts.transcript import Named, Read, Resume, Transcript
from cm_tui.engine.memory.transcripts.turn import Turn
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import CmError
from cm_tui.paths import AGENT_VARIABLES

_SESSION = re.compile(r"[\w-]{4,100}")
_DETAILS = ("origin", "title", "parent", "plan", "verdict", "outcome", "steps", "step_count", "tools", "tokens")
"""Fields of a record that no hook knows."""
_MOST_BYTES = 20_000_000
"""More of a transcript is not read at the end of a turn."""


def with_details(record: EpisodeRecord) -> EpisodeRecord:
    """Return the record of a turn with details from the session's transcript, if there is one.

    `record`: as recorded by hooks.
    """
    if not (record.prompts and _SESSION.fullmatch(record.session)):
        return record
    root = Path(record.root)
    try:
        if not load_config(root).memory.follow_transcripts:
            return record
        state = ImportState(Journal.of(root))
        named, _ = state.environment()
        usual = {name: os.environ[name] for name in AGENT_VARIABLES if name in os.environ}
        found = _transcript_of(record, {**usual, **named})
        return _detailed(record, *found, state) if found else record
    except (CmError, OSError):
        # The turn is recorded without: an import finds nothing more of it either.
        return record


def _transcript_of(record: EpisodeRecord, environment: Mapping[str, str]) -> tuple[Format, Transcript] | None:
    for make in FORMATS:
        if make.agent != record.agent:
            continue
        format_ = make(environment)
        for transcript in format_.transcripts():
            if record.session in {transcript.session, transcript.file.stem[-len(record.session) :]}:
                return format_, transcript
    return None


def _detailed(record: EpisodeRecord, format_: Format, transcript: Transcript, state: ImportState) -> EpisodeRecord:
    facts = format_.facts(transcript)
    kept = state.load(transcript.name)
    if facts is None or transcript.size - kept.offset > _MOST_BYTES:
        return record
    title = facts.title
    asked = dict[str, Turn | None].fromkeys(map(words_of, record.prompts))
    for item in format_.read(transcript, facts, Resume(kept.offset, kept.turns, dict(kept.marks))):
        if isinstance(item, Named):
            title = item.title
        elif isinstance(item, Read) and not item.session and item.turn.prompts and not item.turn.is_empty:
            words = words_of(item.turn.prompts[0].text)
            # Of several with the same words the last one has just ended.
            asked |= {words: item.turn} if words in asked else {}
    found = [turn for turn in asked.values() if turn is not None]
    if not found:
        return record
    root = Path(record.root)
    session = Session(record.agent, record.session, facts.parent, title, root, root)
    heads, never = Heads(root), gate.patterns()
    origins = [origin_of_turn(record.agent, record.session, turn) for turn in found]
    parts = [
        record_of(turn, session, origin=origin, number=0, heads=heads, never=never)[0]
        for turn, origin in zip(found, origins, strict=True)
    ]
    more = parts[-1]
    if len(parts) > 1:
        # No hook reports that a turn was interrupted: the next one ends both.
        more = replace(
            more,
            steps=tuple(step for part in parts for step in part.steps),
            step_count=sum(part.step_count for part in parts),
            tools=tuple(dict.fromkeys(tool for part in parts for tool in part.tools)),
            tokens=sum(part.tokens for part in parts),
            redacted=sum(part.redacted for part in parts),
        )
    details = {name: getattr(more, name) for name in _DETAILS}
    # Not every version of an agent tells its hook what it answered.
    answer = record.answer or more.answer
    return replace(record, answer=answer, redacted=record.redacted + more.redacted, **details)
