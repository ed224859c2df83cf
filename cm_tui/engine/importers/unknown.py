"""Records of transcripts that are not understood: kept in the journal as they were, for a later version to read.

They are no episodes: nothing lists or searches them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cm_tui.engine.importers.known import UNKNOWN, origin_of
from cm_tui.engine.importers.state import TranscriptState
from cm_tui.engine.journal.event import Event
from cm_tui.engine.journal.journal import Journal
from cm_tui.engine.recording.gate import PastGate
from cm_tui.engine.redaction.redact import BEYOND, redact
from cm_tui.engine.redaction.values import texts_of
from cm_tui.engine.scan.credential_files import is_credential_file
from cm_tui.engine.transcripts.lines import as_text
from cm_tui.engine.transcripts.transcript import Skipped, Transcript
from cm_tui.engine.transcripts.turn import SessionFacts
from cm_tui.model import UnknownRecord

RECORD_CHARACTERS = 64_000
"""What is kept of a record."""
TRANSCRIPT_CHARACTERS = 2_000_000
"""What is kept of all those of one transcript."""
_EVENT = 300
"""About what an event takes beside the record."""
_PATH = 1_000
_HIDDEN = "[left out: it is about a file for credentials]"


class Unknown:
    """Keeps what one transcript has of them.

    Args:
        transcript: the transcript.
        facts: whose it is.
        state: says how much of it is kept already.
    """

    def __init__(self, transcript: Transcript, facts: SessionFacts, state: TranscriptState) -> None:
        self._transcript = transcript
        self._facts = facts
        self._state = state

    def may_be_kept(self, item: Skipped, gate: PastGate, names: Sequence[str]) -> bool:
        """Return whether it may be recorded, by the rules for turns; of one without a time the session's time counts.

        Args:
            item: the record.
            gate: the rules.
            names: what its session is called.
        """
        facts = self._facts
        times = (item.time, item.time) if item.time is not None else (facts.began, self._transcript.stamp)
        folder = as_text(item.record.get("cwd")) or facts.folder
        return not any(gate.why_not(name, times, folder=folder) for name in names)

    def data_of(self, item: Skipped) -> tuple[str, dict[str, Any]]:
        """Return the digest that names a record, and the data of its event, cut, within the transcript's bound.

        The data is empty where the transcript has more of them than are kept.
        """
        whole = _written(item.record)
        origin = origin_of(self._transcript.agent, UNKNOWN, whole)
        size = min(len(whole), RECORD_CHARACTERS) + _EVENT
        if self._state.kept + size > TRANSCRIPT_CHARACTERS:
            return origin, {}
        self._state.kept += size
        raw = whole
        if _is_of_credentials(item.record):
            raw = _HIDDEN
        elif len(whole) > RECORD_CHARACTERS:
            # One that is shorter is redacted when it is written.
            raw = redact(whole[: RECORD_CHARACTERS + BEYOND], RECORD_CHARACTERS).text
        data = {
            "agent": self._transcript.agent,
            "session": self._facts.session,
            "transcript": self._transcript.name,
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
    """Yield the records that are kept, in the order in which they were.

    Raises:
        StoreError: the journal cannot be read.
    """
    for event in journal.read():
        if event.kind == UNKNOWN:
            yield _record(event)


def _record(event: Event) -> UnknownRecord:
    data, raw = event.data, _text(event, "raw")
    size, written = data.get("characters"), data.get("written")
    return UnknownRecord(
        id=event.id,
        time=float(written) if isinstance(written, int | float) and not isinstance(written, bool) else None,
        agent=_text(event, "agent"),
        session=_text(event, "session"),
        transcript=_text(event, "transcript"),
        kind=_text(event, "record"),
        raw=raw,
        cut=max(0, size - RECORD_CHARACTERS) if isinstance(size, int) else 0,
    )


def _text(event: Event, name: str) -> str:
    value = event.data.get(name)
    return value if isinstance(value, str) else ""
