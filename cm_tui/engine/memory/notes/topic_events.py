"""Events on changes of several notes, and the current files including secrets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cm_tui.engine.memory.notes.hunks import with_kept_lines
from cm_tui.engine.memory.notes.note_reader import text_of, written_like
from cm_tui.engine.memory.notes.places import Found
from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.redaction.kinds import has_marks
from cm_tui.engine.platform.redaction.records import redact_record
from cm_tui.errors import UsageError

CHANGED = "topic.changed"
"""Kind of the event with the text of several notes before and after."""
REVERTED = "topic.reverted"
"""Kind of the event that records an undone change; it cannot itself be undone."""


class Told(NamedTuple):
    """One file in an event: its exact text with secrets redacted; None: no file."""

    note: str
    before: str | None
    after: str | None


class Now(NamedTuple):
    """Current state of a file in a change.

    Attributes:
        place: its path.
        told: the file in the event.
        data: its content; None: no file.
        shown: the exact text with secrets redacted.
    """

    place: Found
    told: Told
    data: bytes | None
    shown: str | None


class Pool(NamedTuple):
    """Lines of several files, redacted and original, to find the original of a redacted line."""

    shown: list[str]
    kept: list[str]


def files_of(event: Event) -> list[Told]:
    """Return the files of an event; unexpected values are skipped."""
    files = event.data.get("files")
    found = [one for one in files if isinstance(one, Mapping)] if isinstance(files, list) else []
    return [
        Told(one["note"], one.get("before"), one.get("after"))
        for one in found
        if isinstance(one.get("note"), str)
        and all(one.get(name) is None or isinstance(one[name], str) for name in ("before", "after"))
    ]


def shown(texts: Sequence[str]) -> list[str]:
    """Return texts without what looks like a secret, as an event has them."""
    clean: list[str] = redact_record({"texts": list(texts)})[0]["texts"]
    return clean


def pool_of(files: Sequence[Now], kept: Sequence[str] = ()) -> Pool:
    """Return the lines of files, and of texts saved with them."""
    texts = [text_of(one.data)[0] for one in files if one.data is not None] + list(kept)
    pairs = [
        pair
        for text, clean in zip(texts, shown(texts), strict=True)
        for pair in zip(clean.split("\n"), text.split("\n"), strict=True)
    ]
    return Pool([one for one, _ in pairs], [two for _, two in pairs])


def bytes_of(text: str | None, file: Now, pool: Pool) -> bytes | None:
    """Return a text of an event for a file, with the secrets of its redacted lines.

    `text`: from the event; None: no file. `file`: the file to write. `pool`: lines for finding secrets. Raises
    UsageError if a secret is not found.
    """
    if text is None or not has_marks(text):
        return None if text is None else text.encode("utf-8")
    lines = text_of(text.encode("utf-8"))[0].split("\n")
    known = set(pool.shown)
    if any(has_marks(line) and line not in known for line in lines):
        raise UsageError(
            f"{file.place.id} contained a possible secret, and no journal stores that.",
            hint="Write these lines again: `cm notes edit`.",
        )
    return written_like(text.encode("utf-8"), "\n".join(with_kept_lines(pool.shown, pool.kept, lines)))


def as_text(place: Found, data: bytes | None) -> str | None:
    """Return the exact text of a file; None: no file. Raises UsageError if it is not text."""
    try:
        return None if data is None else data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"The note {place.id} stays as it is: it is not UTF-8.", hint="Save it as UTF-8 in an editor first."
        ) from error
