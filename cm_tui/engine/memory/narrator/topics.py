"""Topics of a project and its user as a map: size, tags, freshness, overlap, and lifecycle advice.

Topics whose tags overlap by more than 60 % (Jaccard similarity) are one subject; a note above 90 % of its size cap
should be compressed, one above the cap split; a topic that was neither changed nor recalled for 180 days should be
retired. If a topic has no tags, its headings and most frequent words replace them, which is reported.

Which notes came with a repository, so that a stranger may have written them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import pygit2

from cm_tui import paths
from cm_tui.engine.memory.entries.entry_record import keywords_of
from cm_tui.engine.memory.narrator.targets import PROJECT_NOTE, USER_NOTE, share_of, whole_keys
from cm_tui.engine.memory.notes.marked_lines import without_marks
from cm_tui.engine.memory.notes.note_text import headings
from cm_tui.engine.memory.notes.notes import Notes, ReadNote, read_note
from cm_tui.engine.memory.notes.places import Found
from cm_tui.engine.memory.notes.scan import scan_notes
from cm_tui.engine.memory.notes.topic_files import ArchivedTopics
from cm_tui.engine.memory.projection.note_source import path_of
from cm_tui.engine.memory.recalls.recall_log import RecallLog
from cm_tui.engine.platform.git.opening import repository_around
from cm_tui.engine.platform.git.reach import has_foreign_history
from cm_tui.engine.platform.redaction.redact import BEYOND, redact
from cm_tui.errors import CmError
from cm_tui.files import Stamp
from cm_tui.model import Topic, TopicMap, TopicOverlap

KB = 1024
TOPIC_BYTES, USER_BYTES, PROJECT_BYTES = 32 * KB, 64 * KB, 128 * KB
OVERLAP, NEARLY_FULL, UNUSED_DAYS = 0.6, 0.9, 180
DAY_S = 86_400.0
_MOST_OVERLAPS = 10
_MOST_COMPARED = 500
"""Most topics to compare with each other: the last changed ones."""
_MOST_TAGS = 8
_CAPPED = frozenset({"project", "user", "long-term"})
"""Kinds of notes, besides topics, with a size cap."""


class KnownTopic(NamedTuple):
    """A topic, or a note with a size cap, and its place."""

    topic: Topic
    place: Found
    read: ReadNote


Used = Callable[[Found], float | None]
"""Returns when a note was last recalled; None: never."""


def map_of(root: Path, retired: bool = False, now: float | None = None) -> TopicMap:
    """Return the topics of a project and of its user, the last changed first.

    `retired`: include retired ones. `now`: seconds since the epoch; None: the current time.
    """
    known = topics_with_lines(Notes(root), retired=retired, now=now)
    topics = tuple(one.topic for one in known if one.place.kind == "topic")
    return TopicMap(topics, tuple(one.topic for one in known if one.place.kind != "topic"))


def topics_with_lines(notes: Notes, *, retired: bool = False, now: float | None = None) -> list[KnownTopic]:
    """Return the same with their places and lines, followed by the notes with a size cap.

    `retired`: include retired ones. `now`: seconds since the epoch; None: the current time.
    """
    moment = time.time() if now is None else now
    came_along, used = origins_of(notes.root), last_use(notes.root)
    found = scan_notes(notes.places).found.values()
    there = [one for one in found if one[0].kind == "topic" and one[0].writable]
    gone = ArchivedTopics(notes.root).all() if retired else []
    topics = [_known(one, came_along, used, retired=False) for one in there]
    topics += [_known(one, came_along, used, retired=True) for one in gone]
    topics.sort(key=lambda one: (one.topic.retired, -one.topic.modified, one.topic.id))
    shared = _overlaps([one.topic for one in topics if not one.topic.retired][:_MOST_COMPARED])
    by_id = {one.topic.id: one.topic for one in topics}
    topics = [_advised(one, shared.get(one.topic.id, ()), by_id, moment) for one in topics]
    others = [
        _known(one, came_along, used, retired=False) for one in found if one[0].kind in _CAPPED and one[0].writable
    ]
    capped = [_advised(one, (), {}, moment) for one in others if _is_shown(one.topic)]
    return [*topics, *sorted(capped, key=lambda one: (-one.topic.modified, one.topic.id))]


def last_use(root: Path) -> Used:
    """Return the lookup of a note's last recall: for the user's own, in any project."""
    mine: Mapping[str, float] = {}
    with suppress(CmError):
        mine = _counts([RecallLog.of(root)])
    every: Mapping[str, float] | None = None

    def used(place: Found) -> float | None:
        nonlocal every
        if place.scope != "user":
            return mine.get(path_of(place.id))
        if every is None:
            logs = sorted((paths.data_dir() / "recalls").glob("*.jsonl"))
            every = _counts([RecallLog.named(one.stem) for one in logs])
        return every.get(path_of(place.id))

    return used


def cap_of(place: Found) -> int:
    """Return how many bytes a note may have."""
    if place.kind == "topic":
        return TOPIC_BYTES
    return USER_BYTES if place.scope == "user" else PROJECT_BYTES


def idle_days(topic: Topic, now: float) -> int:
    """Return for how many days a topic was neither changed nor recalled."""
    return int((now - max(topic.modified, topic.used or 0.0)) / DAY_S)


def may_be_one(one: Topic, two: Topic) -> bool:
    """Return whether two topics may be merged: same scope, and a stranger's text in neither or both."""
    return one.scope == two.scope and one.came_along == two.came_along and not (one.retired or two.retired)


def tags_of(read: ReadNote) -> tuple[tuple[str, ...], bool]:
    """Return the tags of a note, and whether they are derived from its headings and words."""
    if read.note.tags:
        return read.note.tags, False
    # Marks of proposals are no words of anybody. What is beyond the largest cap is to be split off anyway.
    text = "\n".join(map(without_marks, read.lines[read.skipped :]))[: PROJECT_BYTES + BEYOND]
    lines = redact(text, PROJECT_BYTES).text.split("\n")
    named = " ".join([read.note.title, *(one.name for one in headings(lines))])
    return keywords_of(named, "\n".join(lines))[:_MOST_TAGS], True


# --- parts ---


def _known(found: tuple[Found, Stamp], came_along: Origins, used: Used, *, retired: bool) -> KnownTopic:
    place, stamp = found
    read = read_note(place, stamp)
    tags, are_derived = tags_of(read)
    note = read.note
    topic = Topic(
        place.id, note.title, place.scope, tags, note.bytes, cap_of(place), note.lines, note.modified, retired,
        came_along(place), tags_derived=are_derived, used=used(place),
    )  # fmt: skip
    return KnownTopic(topic, place, read)


def _is_shown(topic: Topic) -> bool:
    return topic.id in (PROJECT_NOTE, USER_NOTE) or topic.bytes > NEARLY_FULL * topic.cap_bytes


def _overlaps(topics: Sequence[Topic]) -> dict[str, tuple[TopicOverlap, ...]]:
    found: dict[str, list[TopicOverlap]] = {}
    keyed = [(one, whole_keys(one.tags)) for one in topics]
    for number, (one, first) in enumerate(keyed):
        for two, second in keyed[number + 1 :]:
            if one.scope == two.scope and (share := share_of(first, second)):
                found.setdefault(one.id, []).append(TopicOverlap(two.id, share))
                found.setdefault(two.id, []).append(TopicOverlap(one.id, share))
    return {
        id_: tuple(sorted(each, key=lambda other: (-other.share, other.id))[:_MOST_OVERLAPS])
        for id_, each in found.items()
    }


def _advised(
    known: KnownTopic, overlaps: tuple[TopicOverlap, ...], topics: Mapping[str, Topic], now: float
) -> KnownTopic:
    """Return a topic with what its lifecycle suggests."""
    one = known.topic
    advice = (
        [] if one.retired else [*_of_overlap(one, overlaps, topics), *_of_size(one), *_of_use(one, known.place, now)]
    )
    if one.tags_derived and known.place.kind == "topic":
        advice.append("its tags are derived from headings and words: set tags in its front matter")
    if one.came_along:
        advice.append("it came with the repository: a stranger may have written it")
    if known.read.note.problem:
        advice.append(known.read.note.problem)
    return known._replace(topic=replace(one, overlaps=overlaps, advice=tuple(advice)))


def _of_overlap(one: Topic, overlaps: Iterable[TopicOverlap], topics: Mapping[str, Topic]) -> list[str]:
    same = [other for other in overlaps if other.share > OVERLAP]
    return [
        f"merge with {other.id}: {other.share:.0%} of their tags are the same"
        if may_be_one(one, topics[other.id])
        else f"{other.share:.0%} of its tags are those of {other.id}, which has another origin"
        for other in same
    ]


def _of_size(one: Topic) -> list[str]:
    if one.bytes > one.cap_bytes:
        return [f"split: {one.size}"]
    return [f"compress: {one.size}"] if one.bytes > NEARLY_FULL * one.cap_bytes else []


def _of_use(one: Topic, place: Found, now: float) -> list[str]:
    days = idle_days(one, now)
    return [f"retire: unused for {days} days"] if place.kind == "topic" and days > UNUSED_DAYS else []


def _counts(logs: Iterable[RecallLog]) -> dict[str, float]:
    """Return when each item was last recalled; empty if the log cannot be read."""
    found: dict[str, float] = {}
    for log in logs:
        with suppress(CmError):
            for path, recalls in log.counts().items():
                found[path] = max(found.get(path, 0.0), recalls.last or 0.0)
    return found


Origins = Callable[[Found], bool]
"""Returns whether a note came with the repository."""


def origins_of(root: Path) -> Origins:
    """Return a test whether notes of a project came with it: tracked by git, or unknown."""
    # Opened for the first note of the project.
    index_of = cache(_index)

    def came_along(place: Found) -> bool:
        if place.scope == "user":
            return False
        # A submodule's files are in its own index, and came with the repository all the same.
        folders, index = PurePosixPath(place.path).parents, index_of(root)
        return (
            index is None or place.path in index or any((root / one / ".git").exists() for one in folders if one.name)
        )

    return came_along


def _index(root: Path) -> pygit2.Index | None:
    """Return git's index; None: the folder has no repository of its own, or it cannot be read."""
    with suppress(CmError, ValueError, OSError, pygit2.GitError):
        found = repository_around(root)
        is_own = found is not None and found.workdir and Path(found.workdir).resolve() == root.resolve()
        return found.index if found is not None and is_own and not has_foreign_history(root) else None
    return None
