"""Taking over the events of another journal."""

from __future__ import annotations

from cm_tui.engine.platform.journal.archive import ARCHIVED, Archive
from cm_tui.engine.platform.journal.event import MOVED, Position, clean_line
from cm_tui.engine.platform.journal.journal import START, Journal

_OF_AN_ARCHIVE = frozenset({MOVED, ARCHIVED})
"""Kinds of events with places in an archive."""


def take_over(source: Journal, target: Journal, after: Position = START) -> Position:
    """Copy the events of a journal that another one lacks, unchanged; return the place behind the last one.

    `after`: only events behind this place, written since the others were copied. After a crash, run it again: copied
    events are recognised by their ids. Raises StoreError if one of them cannot be read or written.
    """
    known = {event.id for event in target.read(START)} if after == START else set()
    archive = Archive(source)
    files = archive.files() if after == START else []
    # Archived events are restored in their original form: the numbers of another archive's files would clash.
    archived = (one for number in files for episode, turn in archive.whole(number) for one in (*turn, episode))
    end = after
    for event in (*archived, *source.read(after)):
        end = event.position
        if event.kind not in _OF_AN_ARCHIVE and event.id not in known:
            fields = {"id": event.id, "time": event.time, "kind": event.kind, "head": event.head, "data": event.data}
            target.append_line(clean_line(fields))
            known.add(event.id)
    return end
