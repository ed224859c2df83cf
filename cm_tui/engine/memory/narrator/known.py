"""Known facts in notes and entries, and their relation to a new fact.

A written sentence is compared with a fact by the words of both: `same = |both| / |either|`, and `held = |both| /
|fact's|`. From these follows, in this order, for the sentence with most in common:

| relation | is given when |
|---|---|
| contradicts | one affirms, the other denies, `held >= 0.7` without words of denial; or only text in backticks differs |
| redundant | `same >= 0.75`, or `held >= 0.9` in a sentence that is not much longer; or it has the same command |
| reinforces | `same >= 0.45`, or `held >= 0.9`, and nothing in backticks differs |
| new | otherwise |

Sentences are read from lists and paragraphs of Markdown; each line of code is one.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.narrator.confidence import Candidate
from cm_tui.engine.memory.narrator.wording import code_of, polarity, terms_of
from cm_tui.engine.memory.notes.notes import read_note
from cm_tui.engine.memory.notes.places import Found
from cm_tui.engine.memory.notes.scan import places_of, scan_notes
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.errors import CmError
from cm_tui.files import Stamp
from cm_tui.model import Relation

_NEAREST = 12
"""Sentences to compare with a fact: those with most of its words."""
_SHARE = 0.4
"""So many of a fact's words a sentence has to have, to be compared with it."""
_COMMON = 0.05
"""Share of sentences from which on a word is too common for finding one."""
_FEW = 2_000
"""Of so many sentences, no word is too common."""
_DENIED, _SAME, _HELD, _LIKE = 0.7, 0.75, 0.9, 0.45
_LONGER = 1.6
_COMMANDS = frozenset({"command", "workflow", "fix"})
"""Kinds for which the code is authoritative."""
_CHARACTERS = 600
"""Characters of a sentence; a longer one has more than one statement."""
_MOST_LINES = 5_000
"""Of one note."""
_LIST = re.compile(r"\s{0,12}(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_FENCE = re.compile(r"\s{0,12}(?:`{3,}|~{3,})")
_NO_TEXT = re.compile(r"\s*(?:#{1,6}[ \t]|>|\||<!--|-{3,}\s*\Z|={3,}\s*\Z|\Z)")
_COMMENT = re.compile(r"<!--.{0,200}?-->")
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(*_])")
_PROMPT = re.compile(r"\s*(?:\$|>|#|%)\s+(?=\S)")


class Line(NamedTuple):
    """One written statement, and where it is."""

    text: str
    place: str


class FactRelation(NamedTuple):
    """Relation of a fact to known ones."""

    relation: Relation = "new"
    other: str = ""
    place: str = ""


class _Index(NamedTuple):
    sign: tuple[str, str]
    lines: Sequence[Line]
    by_term: Mapping[str, Sequence[int]]
    standing: dict[tuple[str, str], FactRelation]


class ExistingFacts:
    """The sentences of a project's notes and entries, in memory: only changed files are read again."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._read: dict[str, tuple[object, list[Line]]] = {}
        self._index = _Index(("", ""), (), {}, {})

    def follow(self) -> tuple[str, str]:
        """Read changes; return a change stamp. Raises StoreError if a file of entries cannot be read."""
        entries, notes = Entries(self._root), scan_notes(places_of(self._root))
        sign = (notes.sign, entries.stamp())
        if sign == self._index.sign:
            return sign
        wanted: dict[str, tuple[object, Callable[[], list[Line]]]] = {
            id_: (stamp, partial(_of_note, id_, place, stamp)) for id_, (place, stamp) in notes.found.items()
        }
        for one in entries.all().shown:
            text, id_ = f"{one.title}\n\n{one.content}", f"entry/{one.id}"
            wanted[id_] = text, partial(_of_entry, id_, text)
        before = self._read
        self._read = {
            id_: before[id_] if id_ in before and before[id_][0] == stamp else (stamp, read())
            for id_, (stamp, read) in wanted.items()
        }
        lines = [line for _, some in self._read.values() for line in some]
        by_term: dict[str, list[int]] = defaultdict(list)
        for number, line in enumerate(lines):
            for term in terms_of(line.text):
                by_term[term].append(number)
        # Another thread goes on with the state that it has.
        self._index = _Index(sign, lines, by_term, {})
        return sign

    def relations(self, facts: Sequence[Candidate]) -> list[FactRelation]:
        """Return how facts stand to what is known, in their order."""
        index = self._index
        for one in facts:
            if (one.kind, one.text) not in index.standing:
                index.standing[one.kind, one.text] = _relation(one, _near(index, one.text))
        return [index.standing[one.kind, one.text] for one in facts]


def _near(index: _Index, text: str) -> list[Line]:
    """Return the sentences with most of the words of a text, the best first."""
    times = {term: len(index.by_term.get(term, ())) for term in terms_of(text)}
    rare = sorted(times, key=lambda term: (times[term], term))
    kept = [term for term in rare if times[term] <= max(_FEW, len(index.lines) * _COMMON)] or rare[:2]
    shared = Counter(chain.from_iterable(index.by_term.get(term, ()) for term in kept))
    near = sorted((-count, number) for number, count in shared.items() if count >= _SHARE * len(kept))
    return [index.lines[number] for _, number in near[:_NEAREST]]


def _relation(fact: Candidate, near: Sequence[Line]) -> FactRelation:
    ranks: dict[Relation, int] = {"contradicts": 0, "redundant": 1, "reinforces": 2, "new": 3}
    best, most = FactRelation(), (3, 0.0)
    for text, place in near:
        relation, common = compare(fact.kind, fact.text, text)
        if relation != "new" and (ranks[relation], -common) < most:
            best, most = FactRelation(relation, redact(text).text, place), (ranks[relation], -common)
    return best


def compare(kind: str, fact: str, known: str) -> tuple[Relation, float]:
    """Return the relation of a fact to a sentence, and how many words they have in common."""
    mine, theirs = terms_of(fact), terms_of(known)
    both, either = len(mine & theirs), len(mine | theirs)
    if not both:
        return "new", 0.0
    same, held = both / either, both / len(mine)
    code, known_code = set(code_of(fact)), set(code_of(known))
    if kind in _COMMANDS and code and code <= known_code:
        return "redundant", 1.0
    if polarity(fact) != polarity(known):
        return ("contradicts", same) if held >= _DENIED else ("new", same)
    if code and known_code and not code & known_code:
        plain, known_plain = (frozenset(one for one in terms if one[0] != "`") for terms in (mine, theirs))
        shared = len(plain & known_plain)
        # The statements are about different things; so are those on new files of different folders.
        is_of_files = kind == "convention" and fact.startswith("New ")
        return (
            ("contradicts", same)
            if not is_of_files and shared >= 2 and shared / len(plain | known_plain) >= _SAME
            else ("new", same)
        )
    if same >= _SAME or (held >= _HELD and len(theirs) <= _LONGER * len(mine)):
        return ("redundant", same) if code <= known_code or not code else ("reinforces", same)
    return ("reinforces" if same >= _LIKE or held >= _HELD else "new"), same


# --- sentences ---


def _of_note(id_: str, place: Found, stamp: Stamp) -> list[Line]:
    try:
        read = read_note(place, stamp)
    except CmError:
        # An unreadable note is reported where notes are listed.
        return []
    found = sentences(read.lines[read.skipped :], read.skipped)
    return [Line(text, f"{id_}:{row}") for row, text in found][:_MOST_LINES]


def _of_entry(id_: str, text: str) -> list[Line]:
    return [Line(said, id_) for _, said in sentences(text.split("\n"))]


def sentences(lines: Sequence[str], skipped: int = 0) -> Iterator[tuple[int, str]]:
    """Yield the sentences of Markdown, each with its line from 1."""
    fenced, begun, piece = False, 0, ""
    for number, line in enumerate((*lines, ""), skipped + 1):
        is_fence = _FENCE.match(line) is not None
        starts = _LIST.match(line)
        if fenced or is_fence or starts or _NO_TEXT.match(line):
            yield from _parts(begun, piece)
            begun, piece = number, line[starts.end() :] if starts and not fenced and not is_fence else ""
            if fenced and not is_fence and line.strip():
                yield from _parts(number, f"`{_PROMPT.sub('', line, count=1).strip().replace('`', '')}`")
            fenced ^= is_fence
            continue
        if not piece:
            begun = number
        piece = f"{piece} {line.strip()}" if piece else line.strip()


def _parts(line: int, text: str) -> Iterator[tuple[int, str]]:
    for part in _END.split(_COMMENT.sub("", text).strip()):
        if part and len(part) <= _CHARACTERS:
            yield line, part
