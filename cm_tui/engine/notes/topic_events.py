"""What events say of changes of several notes, and their files as they are now, secrets and all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cm_tui.engine.journal.event import Event
from cm_tui.engine.notes.hunks import with_kept_lines
from cm_tui.engine.notes.note_reader import text_of, written_like
from cm_tui.engine.notes.places import Found
from cm_tui.engine.redaction.marks import has_marks
from cm_tui.engine.redaction.records import redact_record
from cm_tui.errors import UsageError

CHANGED = "topic.changed"
"""Kind of the event that has what several notes said before and after."""
REVERTED = "topic.reverted"
"""Kind of the event that says the same of a change that was taken back: it is not itself taken back."""


class Told(NamedTuple):
    """What an event says of one file: its text to the letter, without what looks like a secret; None: there is none."""

    note: str
    before: str | None
    after: str | None


class Now(NamedTuple):
    """A file of a change, as it is now.

    Attributes:
        place: where it lies.
        told: what the event says of it.
        data: what it holds; None: there is none.
        shown: the same as text to the letter, without what looks like a secret.
    """

    place: Found
    told: Told
    data: bytes | None
    shown: str | None


class Pool(NamedTuple):
    """Lines of several files, as they are shown and as they are: what holds a secret is found again by what it shows."""

    shown: list[str]
    kept: list[str]


def files_of(event: Event) -> list[Told]:
    """Return what an event says of files; what is not as expected is left out."""
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
    """Return the lines of files, and of texts that are kept beside them."""
    texts = [text_of(one.data)[0] for one in files if one.data is not None] + list(kept)
    pairs = [
        pair
        for text, clean in zip(texts, shown(texts), strict=True)
        for pair in zip(clean.split("\n"), text.split("\n"), strict=True)
    ]
    return Pool([one for one, _ in pairs], [two for _, two in pairs])


def bytes_of(text: str | None, file: Now, pool: Pool) -> bytes | None:
    """Return a text of an event as a file is to hold it, with the secrets of lines that hold some.

    Args:
        text: as the event has it; None: there is to be no file.
        file: that it is written into.
        pool: lines in which secrets are found again.

    Raises:
        UsageError: a secret is found nowhere.
    """
    if text is None or not has_marks(text):
        return None if text is None else text.encode("utf-8")
    lines = text_of(text.encode("utf-8"))[0].split("\n")
    known = set(pool.shown)
    if any(has_marks(line) and line not in known for line in lines):
        raise UsageError(
            f"What looked like a secret stood in {file.place.id}, and no journal keeps that.",
            hint="Write these lines again: `cm notes edit`.",
        )
    return written_like(text.encode("utf-8"), "\n".join(with_kept_lines(pool.shown, pool.kept, lines)))


def as_text(place: Found, data: bytes | None) -> str | None:
    """Return what a file holds to the letter; None: there is no file.

    Raises:
        UsageError: it is no text.
    """
    try:
        return None if data is None else data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"The note {place.id} stays as it is: it is not UTF-8.", hint="Mend it in an editor first."
        ) from error
