"""Unreadable transcripts, with the reason."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from itertools import islice

from cm_tui.counts import count
from cm_tui.engine.memory.transcripts.format import Format
from cm_tui.engine.memory.transcripts.lines import as_text, opened_text, read_lines
from cm_tui.engine.memory.transcripts.transcript import Transcript
from cm_tui.engine.memory.transcripts.turn import SessionFacts

_log = logging.getLogger(__name__)
_LINES = 200
"""Lines of a transcript by which it is seen why it names no session."""
_FIRST = 4_096
_BLANK = b" \t\r\n\0\xef\xbb\xbf\xff\xfe"
_NAMED = 3
"""Transcripts of one reason that are named."""
_REASON = 200


class Unread:
    """Collects the transcripts that cannot be read, with the reasons."""

    def __init__(self) -> None:
        self._reasons: dict[str, str] = {}
        self.silent: set[str] = set()
        """Transcripts that name no session and need not: they are empty, or hold nothing but titles and the like."""

    def facts(self, format_: Format, transcript: Transcript) -> SessionFacts | None:
        """Return the facts of a transcript; None: unreadable or without facts, with the reason stored."""
        self._reasons.pop(transcript.name, None)
        self.silent.discard(transcript.name)
        try:
            facts = format_.facts(transcript)
            facts = facts if facts is not None and facts.folder else None
            reason = "" if facts is not None else _why_silent(format_, transcript)
        except Exception as error:  # noqa: BLE001 - the reason is stored
            # A bad file must not hide the others.
            self.failed(transcript, error)
            return None
        if reason:
            self._reasons[transcript.name] = reason
        elif facts is None:
            self.silent.add(transcript.name)
        return facts

    def failed(self, transcript: Transcript, error: Exception) -> None:
        """Store why a transcript could not be read."""
        if isinstance(error, OSError):
            self._reasons[transcript.name] = (error.strerror or str(error))[:_REASON]
        else:
            _log.warning("looking at %s", transcript.name, exc_info=error)
            self._reasons[transcript.name] = f"{type(error).__name__} ({str(error)[:100]!r})"

    def reasons(self, formats: Iterable[Format]) -> dict[str, str]:
        """Return the reasons for unreadable files by name, including those that are not transcripts."""
        return {**{str(file): why for one in formats for file, why in one.unread.items()}, **self._reasons}

    def notes(self, formats: Iterable[Format]) -> Iterator[str]:
        """Yield a sentence for each reason."""
        by_reason: dict[str, list[str]] = {}
        for name, reason in self.reasons(formats).items():
            by_reason.setdefault(reason, []).append(name)
        for reason, names in by_reason.items():
            more = len(names) - _NAMED
            rest = f" and {count(more, 'other transcript')}" if more > 0 else ""
            yield f"{', '.join(names[:_NAMED])}{rest} could not be read: {reason}"


def _why_silent(format_: Format, transcript: Transcript) -> str:
    """Return why a transcript has no session; empty: its content needs none.

    Raises OSError if it cannot be read.
    """
    if transcript.session:
        return "its record of the session names no folder, or is damaged"
    with opened_text(transcript.file) as stream:
        first = stream.read(_FIRST).strip(_BLANK)
        lines = list(islice(read_lines(stream), _LINES))
    records = [line.record for line in lines if not line.problem]
    if not records:
        # The first line of a session that has just begun may have no end yet.
        is_begun = not lines and (not first or first.startswith(b"{"))
        return "" if is_begun else "it holds no JSON records in UTF-8 or UTF-16"
    if len(records) == len(lines) and all(as_text(record.get("type")) in format_.asides for record in records):
        return ""
    return "no record names its session and folder: it ended at once, is damaged, or of a format that is not known"
