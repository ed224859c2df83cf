"""Undoing a change of several notes, by its event: all of them, or none."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from cm_tui.engine.memory.notes.hunks import lines_of, merge
from cm_tui.engine.memory.notes.note_file import refuse_locked, saved_file, writing
from cm_tui.engine.memory.notes.note_text import front_matter, headings
from cm_tui.engine.memory.notes.notes import Notes, text_of
from cm_tui.engine.memory.notes.topic_files import (
    CHANGED,
    REVERTED,
    FileChange,
    Now,
    TopicFiles,
    bytes_of,
    files_of,
    pool_of,
    shown,
)
from cm_tui.engine.platform.journal.event import Event
from cm_tui.errors import UsageError
from cm_tui.files import read_regular
from cm_tui.model import Conflict, Undone
from cm_tui.model.author import Author

_MOST_BYTES = 4_000_000
_LONG = 8_000
"""Lines of two texts from which on comparing them once more takes too long."""


class _Restored(NamedTuple):
    """Content to restore in a file.

    Attributes:
        text: redacted; None: remove the file.
        data: the exact bytes, if known.
    """

    text: str | None
    data: bytes | None = None


def undo_topic_change(notes: Notes, event: Event, *, dry_run: bool = False) -> Undone:
    """Undo a change of several notes; later changes of other lines stay.

    `event`: one of kind `topic.changed`; `dry_run`: only report what would be undone. Raises UsageError if the event is
    not such a change, or it cannot be undone; CmError if a note cannot be read or written.
    """
    told = files_of(event)
    if event.kind != CHANGED or not told:
        raise UsageError(f"The event {event.id} is not a change to topics.")
    ids = tuple(one.note for one in told)
    words = str(event.data.get("words") or f"changed {', '.join(ids)}")
    with writing():
        files = TopicFiles(notes)
        now = files.now_of(event)
        kept = [read_regular(saved_file(f"{event.id}-{place}"), _MOST_BYTES) for place in range(len(now))]
        moved = _moved(now)
        back = [moved.get(one.told.note) or _restored(one, data) for one, data in zip(now, kept, strict=True)]
        conflicts = tuple(_conflict(one) for one, to in zip(now, back, strict=True) if to is None)
        if conflicts:
            return Undone("", ids, words, conflicts)
        pool = pool_of(now, [text_of(data)[0] for data in kept if data is not None])
        pairs = [(one, to) for one, to in zip(now, back, strict=True) if to is not None and to.text != one.shown]
        changes = [FileChange(one.place, one.data, to.data or bytes_of(to.text, one, pool)) for one, to in pairs]
        for change in changes:
            refuse_locked(change.place)
        if not dry_run:
            # Even if nothing is to be written: a killed process recorded a change that must not be completed now.
            said = [{"note": one.told.note, "before": one.shown, "after": to.text} for one, to in pairs]
            files.write(_record_undo(files, event, said), changes)
            for number in range(len(told)):
                saved_file(f"{event.id}-{number}").unlink(missing_ok=True)
    return Undone("", ids, words)


def _record_undo(files: TopicFiles, event: Event, said: Sequence[dict[str, str | None]]) -> str:
    """Record that a change is undone; an event that would be too long only lists the notes."""
    data = {"undoes": event.id, "files": said}
    try:
        return files.record(REVERTED, data, Author())
    except UsageError:
        return files.record(REVERTED, {**data, "files": [{"note": one["note"]} for one in said]}, Author())


def _moved(now: Sequence[Now]) -> dict[str, _Restored]:
    """Return the restored files for moved and since edited ones: they are moved back with their edits."""
    found: dict[str, _Restored] = {}
    for old in now:
        for new in now:
            is_move = old.told.after is None and new.told.before is None and old.told.before == new.told.after
            if is_move and old.shown is None and new.shown not in (None, new.told.after):
                found |= {old.told.note: _Restored(new.shown, new.data), new.told.note: _Restored(None)}
    return found


def _restored(file: Now, kept: bytes | None) -> _Restored | None:
    """Return the content to restore; None: the same lines were changed since."""
    told, now = file.told, file.shown
    if now == told.before:
        return _Restored(now)
    if now == told.after:
        is_same = (
            kept is not None and told.before is not None and shown([kept.decode("utf-8", "replace")]) == [told.before]
        )
        return _Restored(told.before, kept if is_same else None)
    if told.before is None:
        return _Restored(None) if now is None or told.after is None else _without(told.after, now)
    if told.after is None or now is None:
        return None
    text = merged_undo(told.after, told.before, now)
    return None if text is None else _Restored(text)


def _without(made: str, now: str) -> _Restored | None:
    """Return a new and since edited file with only the later additions."""
    head = _head(made)
    text = merged_undo(made, head, now)
    if text is None:
        return None
    return _Restored(None if text.strip() == head.strip() else text)


def _head(text: str) -> str:
    """Return the front matter and the title of a note."""
    lines = text.split("\n")
    skipped = front_matter([line.removesuffix("\r").removeprefix("\ufeff") for line in lines]).lines
    first = next(headings(lines[skipped:]), None)
    stop = skipped + first.row + 1 if first is not None else skipped
    is_title = first is not None and not "".join(lines[skipped : skipped + first.row]).strip()
    return "\n".join([*lines[: stop if is_title else skipped], ""])


def merged_undo(made: str, before: str, now: str) -> str | None:
    """Return a text without a change, but with later changes; None: they are in the same lines.

    `made`: the text after the change.
    """
    end = "\n" if (before if now.endswith("\n") == made.endswith("\n") else now).endswith("\n") else ""
    texts = made.removesuffix("\n"), before.removesuffix("\n"), now.removesuffix("\n")
    merged = merge(*texts)
    text = _with_added(*map(lines_of, texts)) if merged.conflicts else merged.text
    return None if text is None else text + end


def _with_added(made: Sequence[str], before: Sequence[str], now: Sequence[str]) -> str | None:
    """Return the old text with later additions at their places; None: other lines were changed."""
    if len(made) + len(now) > _LONG:
        return None
    since = SequenceMatcher(None, made, now, autojunk=False).get_opcodes()
    if any(kind not in ("equal", "insert") for kind, *_ in since):
        return None
    lines = list(before)
    back = SequenceMatcher(None, made, before, autojunk=False).get_opcodes()
    # From the end: earlier lines keep their place.
    for _, at, _, start, stop in reversed([one for one in since if one[0] == "insert"]):
        kind, i1, _, j1, j2 = next((one for one in reversed(back) if one[1] <= at), ("insert", 0, 0, 0, 0))
        place = j1 + at - i1 if kind == "equal" else j2
        lines[place:place] = now[start:stop]
    return "\n".join(lines)


def _conflict(file: Now) -> Conflict:
    told = file.told
    return Conflict(told.note, told.note, told.before or "", file.shown or "", told.after or "")
