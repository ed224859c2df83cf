"""A look at the transcripts on this machine: their sessions, and those that cannot be read, with the reasons."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from cm_tui.counts import count
from cm_tui.engine.memory.transcripts.format import Format
from cm_tui.engine.memory.transcripts.lines import as_text, opened_text, read_lines
from cm_tui.engine.memory.transcripts.transcript import Transcript
from cm_tui.engine.memory.transcripts.turn import SessionFacts
from cm_tui.model import TranscriptCounts

_log = logging.getLogger(__name__)
_LINES = 200
"""Lines of a transcript by which it is seen why it names no session."""
_FIRST = 4_096
_BLANK = b" \t\r\n\0\xef\xbb\xbf\xff\xfe"
_NAMED = 3
"""Transcripts of one reason that are named."""
_REASON = 200


class Survey:
    """The transcripts of some formats, counted by what was found out about them."""

    def __init__(self, formats: Sequence[Format]) -> None:
        self._formats = formats
        self.others = Counter[str]()
        """Transcripts of other projects, by the folder of their session or a reason."""
        self._reasons: dict[str, str] = {}
        self._silent: set[str] = set()
        """Transcripts that name no session and need not: they are empty, or hold nothing but titles and the like."""
        self._total = 0

    def transcripts(self) -> Iterator[tuple[Format, Transcript]]:
        """Yield all transcripts; the counts begin again."""
        self.others.clear()
        self._reasons.clear()
        self._silent.clear()
        self._total = 0
        for one in self._formats:
            for transcript in one.transcripts():
                self._total += 1
                yield one, transcript

    def facts(self, format_: Format, transcript: Transcript) -> SessionFacts | None:
        """Return the facts of a transcript; None: unreadable or without facts, with the reason stored."""
        self._reasons.pop(transcript.name, None)
        self._silent.discard(transcript.name)
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
            self._silent.add(transcript.name)
        return facts

    def failed(self, transcript: Transcript, error: Exception) -> None:
        """Store why a transcript could not be read."""
        if isinstance(error, OSError):
            self._reasons[transcript.name] = (error.strerror or str(error))[:_REASON]
        else:
            _log.warning("looking at %s", transcript.name, exc_info=error)
            self._reasons[transcript.name] = f"{type(error).__name__} ({str(error)[:100]!r})"

    @property
    def without_session(self) -> int:
        """Return the number of transcripts without facts."""
        return len(self._reasons) + len(self._silent)

    def counts(self) -> TranscriptCounts:
        """Return the number of transcripts, by result."""
        passed_over = sum(len(one.unread) for one in self._formats)
        others, silent, unread = self.others.total(), len(self._silent), len(self._reasons) + passed_over
        total = self._total + passed_over
        return TranscriptCounts(total, total - others - silent - unread, others, silent, unread)

    def notes(self) -> Iterator[str]:
        """Yield a sentence for each reason, and for each folder that was not searched completely."""
        by_reason: dict[str, list[str]] = {}
        passed_over = {str(file): why for one in self._formats for file, why in one.unread.items()}
        for name, reason in {**passed_over, **self._reasons}.items():
            by_reason.setdefault(reason, []).append(name)
        for reason, names in by_reason.items():
            more = len(names) - _NAMED
            rest = f" and {count(more, 'other transcript')}" if more > 0 else ""
            yield f"{', '.join(names[:_NAMED])}{rest} could not be read: {reason}"
        for folder in dict.fromkeys(folder for one in self._formats for folder in one.left_out):
            yield f"{folder} has so many files below it that not all were looked at for sessions"


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
