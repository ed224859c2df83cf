"""Transcript records of unknown kinds: stored unchanged in the journal, for a later version.

They are not episodes: they are neither listed nor searched.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from cm_tui.engine.code.scan.credential_files import is_credential_file
from cm_tui.engine.memory.importers.known import UNKNOWN, origin_of
from cm_tui.engine.memory.importers.state import TranscriptState
from cm_tui.engine.memory.transcripts.lines import as_text
from cm_tui.engine.memory.transcripts.transcript import Skipped, Transcript
from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.redaction.redact import BEYOND, redact, texts_of
from cm_tui.model import UnknownRecord

RECORD_CHARACTERS = 64_000
"""Most characters of a record."""
TRANSCRIPT_CHARACTERS = 2_000_000
"""Most characters of all records of one transcript."""
_EVENT = 300
"""Approximate size of an event without the record."""
_PATH = 1_000
_HIDDEN = "[omitted: it is about a file for credentials]"


def data_of(item: Skipped, transcript: Transcript, session: str, state: TranscriptState) -> tuple[str, dict[str, Any]]:
    """Return the digest of a record, and its event data, cut to the transcript's limit.

    `state`: with the size stored already. The data is empty beyond that limit.
    """
    whole = _written(item.record)
    origin = origin_of(transcript.agent, UNKNOWN, whole)
    size = min(len(whole), RECORD_CHARACTERS) + _EVENT
    if state.kept + size > TRANSCRIPT_CHARACTERS:
        return origin, {}
    state.kept += size
    raw = whole
    if _is_of_credentials(item.record):
        raw = _HIDDEN
    elif len(whole) > RECORD_CHARACTERS:
        # A shorter one is redacted when it is written.
        raw = redact(whole[: RECORD_CHARACTERS + BEYOND], RECORD_CHARACTERS).text
    data = {
        "agent": transcript.agent,
        "session": session,
        "transcript": transcript.name,
        "at": item.at,
        "record": item.kind,
        "written": item.time,
        "characters": len(whole),
        "raw": raw,
        "origin": origin,
    }
    return origin, data


def _written(record: Mapping[str, Any]) -> str:
    try:
        return as_text(json.dumps(record, ensure_ascii=False, separators=(",", ":")))
    except (TypeError, ValueError, RecursionError):
        # As deep as nothing that an agent means to be read.
        return ""


def _is_of_credentials(record: Mapping[str, Any]) -> bool:
    texts = (text for text in texts_of(record) if len(text) <= _PATH)
    return any(is_credential_file(text.replace(os.sep, "/")) for text in texts)


def unknown_in(journal: Journal) -> Iterator[UnknownRecord]:
    """Yield the stored records in order. Raises StoreError if the journal cannot be read."""
    for event in journal.read():
        if event.kind == UNKNOWN:
            yield _record(event)


def _record(event: Event) -> UnknownRecord:
    data, raw = event.data, event.text("raw")
    size, written = data.get("characters"), data.get("written")
    return UnknownRecord(
        id=event.id,
        time=float(written) if isinstance(written, int | float) and not isinstance(written, bool) else None,
        agent=event.text("agent"),
        session=event.text("session"),
        transcript=event.text("transcript"),
        kind=event.text("record"),
        raw=raw,
        cut=max(0, size - RECORD_CHARACTERS) if isinstance(size, int) else 0,
    )
