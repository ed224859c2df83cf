"""Lifecycle proposals for topics: merge, split, compress, retire, and create one from lines with a common theme.

Two topics are merged when their tags overlap by more than 60 %; a note above 90 % of its size cap (user 64 KB, project
128 KB, topic 32 KB) is compressed if two of its lines are equivalent, one above the cap is split; a topic that was
neither changed nor recalled for 180 days is retired; five or more lines of the project's or the user's note with a
common theme get a topic of their own. Proposals do not count, as they would not be in it.

None of it is evidence beyond the files: it is computed again each time, with the same ids.

A theme is a word (of a line's subject, no filler and not in most lines) that at least five rules or decisions of one note
have; the word with the most lines comes first, and a line counts for only one theme. Its tags are that word and those in
at least 60 % of its lines.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from cm_tui.counts import count
from cm_tui.engine.memory.entries.entry_record import keywords_of
from cm_tui.engine.memory.narrator import topic_text
from cm_tui.engine.memory.narrator.confidence import day_of
from cm_tui.engine.memory.narrator.lists import words
from cm_tui.engine.memory.narrator.note_blocks import MARK
from cm_tui.engine.memory.narrator.tables import WORDED, id_of
from cm_tui.engine.memory.narrator.targets import HEADINGS, PROJECT_NOTE, USER_NOTE, key_of, whole_keys
from cm_tui.engine.memory.narrator.topic_changes import BETWEEN, preview
from cm_tui.engine.memory.narrator.topic_names import slug
from cm_tui.engine.memory.narrator.topics import (
    NEARLY_FULL,
    OVERLAP,
    TOPIC_BYTES,
    UNUSED_DAYS,
    KnownTopic,
    idle_days,
    may_be_one,
    topics_with_lines,
)
from cm_tui.engine.memory.notes.notes import Notes
from cm_tui.engine.memory.notes.places import USER
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.model import ConfidencePart, FactKind, NarratedAction, NarratedProposal, Topic

MOST = 20
"""Proposals of each action at once."""
_MOST_THEMES = 3
_SHOWN = 60


def proposals(root: Path, now: float | None = None) -> list[NarratedProposal]:
    """Return the current lifecycle proposals, without reading the journal or writing anything.

    `now`: seconds since the epoch; None: the current time.
    """
    moment = time.time() if now is None else now
    known = topics_with_lines(Notes(root), now=moment)
    topics = [one for one in known if one.place.kind == "topic"]
    merged = list(_merges(topics))[:MOST]
    busy = {id_ for one in merged for id_ in one.topics}
    retired = list(_retirements([one for one in topics if one.topic.id not in busy], moment))[:MOST]
    sized = [size for one in known if (size := _of_size(one)) is not None][:MOST]
    found = [*merged, *retired, *sized, *_creations(known)]
    looks = [preview(root, one) for one in found]
    return [replace(one, digest=look.digest, problem=look.problem) for one, look in zip(found, looks, strict=True)]


def claim_of(*parts: str) -> str:
    """Return what names a claim: once it was rejected, it is not made again."""
    return blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=8).hexdigest()


# --- merge ---


def _merges(topics: Sequence[KnownTopic]) -> Iterator[NarratedProposal]:
    """Yield merges of topics with one subject, the most similar first; each topic is in one of them."""
    by_id = {one.topic.id: one.topic for one in topics}
    pairs = sorted(
        (-other.share, one.topic.id, other.id)
        for one in topics
        for other in one.topic.overlaps
        if one.topic.id < other.id and other.share > OVERLAP and may_be_one(one.topic, by_id[other.id])
    )
    taken: set[str] = set()
    for share, *ids in pairs:
        if taken & set(ids):
            continue
        taken |= set(ids)
        # The longer one remains; of equally long ones the first by name.
        stays, goes = sorted((by_id[id_] for id_ in ids), key=lambda one: (-one.bytes, one.id))
        both = len(whole_keys(stays.tags) & whole_keys(goes.tags))
        either = len(whole_keys(stays.tags) | whole_keys(goes.tags))
        words = f"{both} of {count(either, 'tag')} {'is' if both == 1 else 'are'} those of both ({-share:.0%})"
        yield _proposal(
            "topic", "merge", f"Merge the topic {goes.id} into {stays.id}.",
            f"{words[0].upper()}{words[1:]}: they are about one subject{_derived(stays.tags_derived or goes.tags_derived)}{_origin(stays.came_along)}.",
            stays.id, ConfidencePart("overlap", -share, words), stays.scope == "user", last=max(stays.modified, goes.modified),
            topics=(stays.id, goes.id), tags=tuple(dict.fromkeys((*stays.tags, *goes.tags))), key=tuple(sorted(ids)),
        )  # fmt: skip


# --- retire ---


def _retirements(topics: Sequence[KnownTopic], now: float) -> Iterator[NarratedProposal]:
    """Yield unused topics, the ones unused for the longest time first."""
    for one in sorted((one.topic for one in topics), key=lambda one: (max(one.modified, one.used or 0.0), one.id)):
        days = idle_days(one, now)
        if days <= UNUSED_DAYS:
            return
        last = max(one.modified, one.used or 0.0)
        used = f"recalled last on {day_of(one.used)}" if one.used else "never recalled here"
        yield _proposal(
            "topic", "retire", f"Retire the topic {one.id}: it is kept, and no longer recalled.",
            f"Unused for {days} days: changed last on {day_of(one.modified)}, {used}{_origin(one.came_along)}.",
            one.id, ConfidencePart("unused", 1.0, f"{days} of {UNUSED_DAYS} days"), one.scope == "user", last=last,
            topics=(one.id,), tags=one.tags, key=(one.id, str(days // (UNUSED_DAYS + 1))),
        )  # fmt: skip


# --- compress, split ---


def _of_size(known: KnownTopic) -> NarratedProposal | None:
    """Return a proposal for a note that is near or above its cap; None: none is possible."""
    one = known.topic
    if one.bytes <= NEARLY_FULL * one.cap_bytes or known.read.note.problem:
        return None
    text = "\n".join(known.read.lines)
    has_secrets = redact(text).secrets > 0
    made, gone = topic_text.compress(text, keep=lambda line: has_secrets and redact(line).secrets > 0)
    saved = len(text.encode("utf-8", "replace")) - len(made.encode("utf-8", "replace"))
    # A note that compressing does not bring below the cap is split first.
    split = _split(known, text) if one.bytes - saved > one.cap_bytes else None
    return split or (_compression(known, gone, saved) if gone else None)


def _compression(known: KnownTopic, gone: int, saved: int) -> NarratedProposal:
    one = known.topic
    return _proposal(
        "size", "compress", f"Make {count(gone, 'repeated line')} of {one.id} one with others.",
        f"It has {one.size}; {count(gone, 'line')} repeated later ones ({saved:,} bytes){_origin(one.came_along)}.",
        one.id, ConfidencePart("size", 1.0, one.size), one.scope == "user", last=one.modified, topics=_topics_of(known),
        key=(one.id, str(one.bytes // one.cap_bytes), str(gone)),
    )  # fmt: skip


def _split(known: KnownTopic, text: str) -> NarratedProposal | None:
    one = known.topic
    # Moved lines of a stranger could not be distinguished from own ones.
    headings = _half(text) if not one.came_along else []
    if not headings:
        return None
    named = ", ".join(f"“{redact(name).text[:_SHOWN]}”" for name in headings[:3]) + (", …" if len(headings) > 3 else "")
    return _proposal(
        "size", "split", f"Split {one.id}: {named} {'goes' if len(headings) == 1 else 'go'} to a topic of its own.",
        f"It has {one.size}, above its cap.", one.id, ConfidencePart("size", 1.0, one.size), one.scope == "user",
        last=one.modified, topics=_topics_of(known), heading=BETWEEN.join(headings),
        key=(one.id, str(one.bytes // one.cap_bytes)),
    )  # fmt: skip


def _topics_of(known: KnownTopic) -> tuple[str, ...]:
    return (known.topic.id,) if known.place.kind == "topic" else ()


def _half(text: str) -> list[str]:
    """Return the headings of the last sections of a note with at most half of its size, and less than a full topic.

    If the last one alone is larger, it is that one; for fewer than two sections it is empty.
    """
    sections = topic_text.parse(text).content.inside
    names = [topic_text.plain(one.name) for one in sections]
    if len(sections) < 2:
        return []
    sizes = [sum(len(line) + 1 for line in one.lines()) for one in sections]
    chosen: list[str] = []
    total = 0
    for section, size in zip(reversed(sections), reversed(sizes), strict=True):
        if chosen and total + size > min(sum(sizes) / 2, NEARLY_FULL * TOPIC_BYTES):
            break
        chosen.insert(0, section.name)
        total += size
    # A repeated heading is ambiguous; only the user moves possible secrets.
    is_clear = all(names.count(topic_text.plain(name)) == 1 and not redact(name).secrets for name in chosen)
    return chosen if is_clear and len(chosen) < len(sections) else []


# --- create ---


def _creations(known: Sequence[KnownTopic]) -> Iterator[NarratedProposal]:
    """Yield topics to create from lines of the project's and the user's note."""
    notes = {one.topic.id: one for one in known}
    for one in (notes[name] for name in (PROJECT_NOTE, USER_NOTE) if name in notes):
        if one.topic.came_along or one.read.note.problem:
            continue
        # Only the user moves possible secrets.
        found = topic_text.bullets("\n".join(one.read.lines))
        said = (bullet for heading, bullet, _ in found if topic_text.plain(heading) not in _HABITS)
        lines = dict.fromkeys(bullet for bullet in said if not redact(bullet).secrets)
        for theme in themes(list(lines))[:_MOST_THEMES]:
            id_ = f"{USER if one.topic.id == USER_NOTE else '.cm/notes/'}topics/{slug(theme.word)}.md"
            if id_ not in notes:
                yield _creation(one.topic, id_, theme)


def _creation(one: Topic, id_: str, theme: Theme) -> NarratedProposal:
    many = count(len(theme.lines), "line")
    return _proposal(
        "topic", "create", f"Make the topic {id_} of {many} of {one.id}.",
        f"{many} share the theme “{theme.word}”, which no topic has.", one.id,
        ConfidencePart("facts", 1.0, f"{len(theme.lines)} of at least {LEAST_LINES} lines"), one.id == USER_NOTE, last=one.modified,
        topics=(id_,), tags=theme.tags, heading=theme.word, old=BETWEEN.join(theme.lines), key=(one.id, theme.word.casefold()),
    )  # fmt: skip


# --- parts ---


def _proposal(
    kind: FactKind, action: NarratedAction, text: str, why: str, target: str, part: ConfidencePart, is_users: bool, *,
    last: float, key: tuple[str, ...], topics: tuple[str, ...] = (), tags: tuple[str, ...] = (), heading: str = "",
    old: str = "",
) -> NarratedProposal:  # fmt: skip
    claim = claim_of(kind, action, *key)
    return NarratedProposal(
        id=id_of(int(claim, 16)), kind=kind, action=action, text=text, why=why,
        scope="user" if is_users else "project" if target == PROJECT_NOTE or not topics else "topic",
        target=target, heading=heading, first=last, last=last, confidence=round(part.value, 4), parts=(part,), old=old,
        topics=topics, tags=tags, claims=(claim,),
    )  # fmt: skip


def _derived(is_derived: bool) -> str:
    return " (tags derived from headings and words)" if is_derived else ""


def _origin(came_along: bool) -> str:
    return "; it came with the repository, so a stranger may have written it" if came_along else ""


LEAST_LINES = 5
_COMMON, _SHARED = 0.6, 0.6
"""Shares: of all lines, above which a word is too common; of a theme's lines, from which on it is a tag."""
_FEW = 10
"""Of so few lines none is too common."""
_MOST_TAGS = 5
_GENERIC = frozenset(map(key_of, words("instructing") | words("filling")))
_HABITS = frozenset(topic_text.plain(name) for kind, name in HEADINGS.items() if kind not in WORDED)
"""Sections of commands, files and conventions: what their lines share is a tool or a folder, and no subject."""


class Theme(NamedTuple):
    """A subject of several lines.

    Attributes:
        word: the common word, in its most frequent form.
        tags: that word, and others.
        lines: the lines.
    """

    word: str
    tags: tuple[str, ...]
    lines: tuple[str, ...]


def themes(lines: Sequence[str]) -> list[Theme]:
    """Return the themes of lines of one note, that of the most lines first."""
    about = [_words(line) for line in lines]
    left = set(range(len(lines)))
    most = len(lines) if len(lines) <= _FEW else _COMMON * len(lines)
    counts = Counter(key for words in about for key in words)
    usable = {key for key, times in counts.items() if LEAST_LINES <= times <= most}
    found: list[Theme] = []
    while True:
        there = Counter(key for number in left for key in about[number] if key in usable)
        # Of equally frequent ones the first of the alphabet: the same each time.
        key, times = max(there.items(), key=lambda one: (one[1], [-ord(letter) for letter in one[0]]), default=("", 0))
        if times < LEAST_LINES:
            return found
        mine = sorted(number for number in left if key in about[number])
        left -= set(mine)
        found.append(_theme(key, [lines[number] for number in mine], [about[number] for number in mine]))


def _theme(key: str, lines: Sequence[str], about: Sequence[dict[str, str]]) -> Theme:
    counts = Counter(other for words in about for other in words)
    written = {other: Counter(words[other] for words in about if other in words) for other in counts}
    shared = [other for other, times in counts.most_common() if times >= _SHARED * len(lines) and other != key]
    names = [
        written[other].most_common(1)[0][0] for other in (key, *sorted(shared, key=lambda one: (-counts[one], one)))
    ]
    return Theme(names[0], tuple(dict.fromkeys(names))[:_MOST_TAGS], tuple(lines))


def _words(line: str) -> dict[str, str]:
    """Return the subject of a line: keys, each as written."""
    text = MARK.sub("", line).replace("`", " ")
    return {
        key: word for word in keywords_of("", text) if (key := key_of(word)) and key not in _GENERIC and " " not in key
    }
