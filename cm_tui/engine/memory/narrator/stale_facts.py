"""Lines of notes that the code contradicts because they name something removed or renamed, proposed for correction.

A bullet in a note of the project, of the user or of a topic counts when it names a symbol, a path, a setting or a
command that a commit removed, renamed or moved (according to the report of stale memory), or a command that the project
no longer has. If each of these names has exactly one new one, the line should be replaced, else removed. A line about
the past (`was removed`, `instead of`, `no longer`) is not contradicted, and neither is one that the user confirmed, nor
one whose names are only missing in the files on disk.

The confidence is the product of `history` (1 if the responsible commit is known, else 0.8) and `line` (1 if it names
nothing else, or all of the new names are known; else 0.7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from cm_tui.counts import count
from cm_tui.engine.memory.mentions.check import Checker
from cm_tui.engine.memory.mentions.mention_rows import WrittenAt
from cm_tui.engine.memory.mentions.recognise import named_in
from cm_tui.engine.memory.mentions.report import UNCOMMITTED, Finding, NameQuery, StaleReport, replaced, replacements
from cm_tui.engine.memory.narrator import note_blocks, topic_text
from cm_tui.engine.memory.narrator.confidence import Candidate
from cm_tui.engine.memory.narrator.lifecycle import claim_of
from cm_tui.engine.memory.narrator.lists import pattern
from cm_tui.engine.memory.narrator.tables import id_of
from cm_tui.engine.memory.narrator.topics import origins_of
from cm_tui.engine.memory.notes.notes import Notes, ReadNote, read_note
from cm_tui.engine.memory.notes.places import Found
from cm_tui.engine.memory.notes.scan import scan_notes
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.model import NOTES, CommitPoint, ConfidencePart, Mention, NarratedProposal
from cm_tui.model.history import SHORT_SHA

MOST = 50
"""Lines that are proposed for correction at once."""
_MOST_ITEMS = 500
_KINDS = frozenset({"project", "user", "topic", "long-term"})
_COMMANDS = frozenset({"commands", "workflows", "fixes"})
"""Sections whose code is commands."""
_OF_THE_PAST = pattern("stale_facts", "of_the_past")
_UNSURE_COMMIT, _MORE_NAMES = 0.8, 0.7


@dataclass(frozen=True)
class Code:
    """Looks up what became of names of the code.

    Args:
        report: on the memory's mentions.
        checker: makes the lookup in the current files and the history.
        written: makes the lookup of times on the mainline.
        commit: returns the commit of an ordinal.
        missing: returns the first command in backticks of a text that the project no longer has; empty: none.
    """

    report: StaleReport
    checker: Callable[[], Checker]
    written: Callable[[], WrittenAt]
    commit: Callable[[int], CommitPoint | None]
    missing: Callable[[str], str]

    def contradictions(self, facts: Sequence[Candidate]) -> list[str]:
        """Return the contradiction of each fact, as `names X, gone since …`; empty: none.

        A name counts in its state when the fact was first seen.
        """
        if not facts:
            return []
        written = self.written()
        names = [[] if _OF_THE_PAST.search(one.text) else named_in(one.text) for one in facts]
        asked = [
            [NameQuery(name.kinds, name.text, name.plain, written.ordinal("", int(one.tally.first))) for name in some]
            for one, some in zip(facts, names, strict=True)
        ]
        answers = self.checker().check(set(chain.from_iterable(asked)))
        return [
            next(filter(None, (self._contradiction(answers[each].finding, each) for each in some)), "")
            for some in asked
        ]

    def _contradiction(self, finding: Finding, asked: NameQuery) -> str:
        if finding.state not in ("gone", "renamed") or finding.ordinal == UNCOMMITTED:
            return ""
        mention = Mention(
            asked.kinds[0], asked.text, 1, finding.state, finding.path, finding.line, finding.became,
            self.commit(finding.ordinal) if finding.ordinal > 0 else None,
        )  # fmt: skip
        return mention.words


class _Line(NamedTuple):
    """A bullet with an outdated name."""

    place: Found
    heading: str
    bullet: str
    mentions: tuple[Mention, ...]
    lacks: str = ""
    """A command that the project no longer has."""


def proposals(root: Path, code: Code) -> list[NarratedProposal]:
    """Return the contradicted lines of notes, as proposals to replace or remove them.

    `code`: the lookup of names.
    """
    listed = sorted(scan_notes(Notes(root).places).found.values())
    places = [(place, stamp) for place, stamp in listed if place.kind in _KINDS and place.writable]
    if not places:
        return []
    page = code.report.items(("gone", "renamed", "moved"), (NOTES,), _MOST_ITEMS)
    stale = {item.id: tuple(filter(_counts, item.mentions)) for item in page.rows}
    came_along = origins_of(root)
    found: dict[str, NarratedProposal] = {}
    for place, stamp in places:
        for line in _lines(place, read_note(place, stamp), stale.get(place.id, ()), code.missing):
            one = _proposal(line, is_strange=came_along(place))
            found.setdefault(one.id, one)
    return list(found.values())[:MOST]


# --- parts ---


def _lines(place: Found, read: ReadNote, mentions: Sequence[Mention], missing: Callable[[str], str]) -> Iterator[_Line]:
    if read.note.problem:
        return
    for heading, bullet, _ in topic_text.bullets("\n".join(read.lines)):
        said = note_blocks.MARK.sub("", bullet)
        if _OF_THE_PAST.search(said) or redact(bullet).secrets:
            continue
        named = {(kind, name.text) for name in named_in(said) for kind in name.kinds}
        stale = tuple(one for one in mentions if (one.kind, one.text) in named)
        lacks = missing(said) if topic_text.plain(heading) in _COMMANDS else ""
        if stale or lacks:
            yield _Line(place, heading, bullet, stale, "" if stale else lacks)


def _proposal(line: _Line, *, is_strange: bool) -> NarratedProposal:
    place, said = line.place, note_blocks.MARK.sub("", line.bullet)
    names = replacements(line.mentions)
    is_whole = bool(line.mentions) and all(one.text in names for one in line.mentions)
    text = replaced(said, names) if is_whole else ""
    worst = line.mentions[0] if line.mentions else None
    fate = worst.words if worst is not None else f"names `{line.lacks}`, which the project no longer has"
    more = f" (and {count(len(line.mentions) - 1, 'more name')})" if len(line.mentions) > 1 else ""
    origin = "; it is in a note that came with the repository" if is_strange else ""
    parts = _parts(line, is_whole=is_whole)
    claim = claim_of("stale", place.id, said, fate)
    when = float(worst.commit.time) if worst is not None and worst.commit is not None else 0.0
    sure = 1.0
    for part in parts:
        sure *= part.value
    return NarratedProposal(
        id=id_of(int(claim, 16)), kind="stale", action="replace" if is_whole else "remove", text=text,
        why=f"It {fate}{more}{origin}.",
        scope="user" if place.scope == "user" else "topic" if place.kind == "topic" else "project",
        target=place.id, heading=line.heading, relation="contradicts", other=fate,
        other_place=_place_of(worst) if worst is not None else "", first=when, last=when,
        confidence=round(sure, 4), parts=parts, old=line.bullet,
        topics=(place.id,) if place.kind == "topic" else (), claims=(claim,),
    )  # fmt: skip


def _parts(line: _Line, *, is_whole: bool) -> tuple[ConfidencePart, ...]:
    is_known = all(one.commit is not None for one in line.mentions) and bool(line.mentions)
    commit = next((one.commit for one in line.mentions if one.commit is not None), None)
    words = (
        f"changed by commit {commit.sha[:SHORT_SHA]}" if is_known and commit is not None else "the commit is unknown"
    )
    named = {name.text for name in named_in(note_blocks.MARK.sub("", line.bullet))} - {
        one.text for one in line.mentions
    }
    is_alone = is_whole or not named
    said = (
        "the new names are known"
        if is_whole
        else "it mentions nothing else"
        if is_alone
        else f"it also mentions {count(len(named), 'other name')}"
    )
    return (
        ConfidencePart("history", 1.0 if is_known else _UNSURE_COMMIT, words),
        ConfidencePart("line", 1.0 if is_alone else _MORE_NAMES, said),
    )


def _counts(mention: Mention) -> bool:
    """Return whether a line with a name is contradicted by what became of it."""
    is_other = mention.state in ("gone", "renamed") or (mention.state == "moved" and mention.kind == "path")
    return is_other and not mention.confirmed and not mention.uncommitted


def _place_of(mention: Mention) -> str:
    if mention.state == "gone" or not mention.path:
        return ""
    return f"{mention.path}:{mention.start_line}" if mention.start_line else mention.path
