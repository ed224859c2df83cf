"""Other episodes with lines of an erased one: a patch starts from HEAD, and repeats uncommitted changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from cm_tui.engine.memory.erasure.selection import Chosen
from cm_tui.engine.memory.projection import episode_record
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.platform.journal.event import Event, Position
from cm_tui.engine.platform.journal.journal import START, Journal

_ADDED, _SAID = 12, 24
"""Least non-blank characters of a distinctive line: in a patch, and in a prompt or an answer."""


def neighbours(journal: Journal, chosen: Sequence[Chosen]) -> tuple[str, ...]:
    """Return the ids of remaining episodes that share lines with an erased one of the same checkout.

    `journal`: read twice. Raises StoreError if the journal cannot be read.
    """
    going = {one.event.id: one.line for one in chosen if one.event and one.event.kind == episode_record.KIND}
    if not going:
        return ()
    first = min(going.values())
    lines: dict[str, set[str]] = defaultdict(set)
    left = len(going)
    for event in _episodes(journal, Position(first.segment, first.start)):
        if event.id in going:
            record = EpisodeRecord.from_event(event)
            lines[record.root].update(_lines(record))
            left -= 1
            if not left:
                break
    return tuple(
        event.id
        for event in _episodes(journal, START)
        if event.id not in going and _shares(EpisodeRecord.from_event(event), lines)
    )


def _shares(record: EpisodeRecord, lines: dict[str, set[str]]) -> bool:
    return record.root in lines and not lines[record.root].isdisjoint(_lines(record))


def _episodes(journal: Journal, start: Position) -> Iterator[Event]:
    return (found for found in journal.scan(start) if isinstance(found, Event) and found.kind == episode_record.KIND)


def _lines(record: EpisodeRecord) -> Iterator[str]:
    """Yield the distinctive lines of an episode, without blanks, as indentation may differ."""
    added = (line[1:] for line in record.patch.splitlines() if line.startswith("+") and not line.startswith("+++ "))
    yield from _long(added, _ADDED)
    for text in (*record.prompts, record.answer):
        yield from _long(text.splitlines(), _SAID)


def _long(lines: Iterable[str], shortest: int) -> Iterator[str]:
    return (bare for line in lines if len(bare := "".join(line.split())) >= shortest)
