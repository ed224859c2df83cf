"""Taking over the events of another journal."""

from __future__ import annotations

from cm_tui.engine.journal.archive import ARCHIVED, Archive
from cm_tui.engine.journal.event import MOVED, clean_line
from cm_tui.engine.journal.journal import START, Journal

_OF_AN_ARCHIVE = frozenset({MOVED, ARCHIVED})
"""Kinds of events that say where an archive has something."""


def take_over(source: Journal, target: Journal) -> int:
    """Copy the events of a journal that another one does not have, as they are; gives how many.

    Whoever is killed in between runs it again: what was copied is known by its id.

    Raises:
        StoreError: one of them cannot be read or written.
    """
    known = {event.id for event in target.read(START)}
    copied = 0
    archive = Archive(source)
    # What its archive holds comes back as what it was: the files of another archive bear the same numbers.
    archived = (
        one for number in archive.files() for episode, turn in archive.whole(number) for one in (*turn, episode)
    )
    for event in (*archived, *source.read(START)):
        if event.kind in _OF_AN_ARCHIVE:
            continue
        if event.id not in known:
            fields = {"id": event.id, "time": event.time, "kind": event.kind, "head": event.head, "data": event.data}
            target.append_line(clean_line(fields))
            known.add(event.id)
            copied += 1
    return copied
