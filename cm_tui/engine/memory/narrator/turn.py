"""A turn of a session for miners: an episode, and the previous one in the same session.

Whether an agent's work was accepted: the turn was answered, did not fail, and the next prompt does not reject it.

Files changed or created by a turn, from its record and patch.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Literal, NamedTuple

from cm_tui.engine.memory.narrator.own_words import sentences_of
from cm_tui.engine.memory.narrator.runs import Run, runs_of
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.model import FactKind
from cm_tui.paths import PROJECT_FOLDER


@dataclass(frozen=True, slots=True)
class Observation:
    """One statement or habit in a turn."""

    kind: FactKind
    subject: str
    """Its subject, normalised: observations of one subject are compared with each other."""
    claim: str
    """Its claim on that, normalised: observations with the same subject and claim are the same fact."""
    text: str
    """The fact as it would be written: one line of Markdown."""
    quote: str
    """The words, or the command, as the turn has them."""
    weight: float = 1.0
    """Its plainness, from 0 to 1: higher for `always use X` than for a command that was run."""
    opposes: bool = False
    """It is evidence against the claim: the command failed, the person took it back."""
    terms: tuple[str, ...] = ()
    """Words that carry the meaning, stemmed; empty: claims are compared letter by letter, and nothing is clustered."""
    scope: Literal["user", "project"] = "project"
    speaker: str = ""
    """Its author, if several people work on the project; empty: unknown."""

    @property
    def fact(self) -> tuple[str, ...]:
        """Return what is stored of the wording: kind, subject, claim, text, terms, scope."""
        return (self.kind, self.subject, self.claim, self.text, " ".join(self.terms), self.scope)


@dataclass(frozen=True)
class Turn:
    """One episode, whole."""

    id: str
    time: float
    """When it ended: seconds since the epoch."""
    record: EpisodeRecord
    before: Turn | None = None
    """The one before in its session; it has none before itself."""

    @cached_property
    def statements(self) -> tuple[str, ...]:
        """Return the user's own sentences: nothing quoted, pasted, fenced, or from a tool."""
        return sentences_of(self.record)

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """Return the commands run in it, without those that only look around."""
        return runs_of(self.record)

    @cached_property
    def changes(self) -> Changes:
        """Return the files that it changed and made."""
        return changes_of(self.record, None if self.before is None else self.before.record)


Miner = Callable[[Turn], Iterable[Observation]]
"""Finds one kind of fact."""
_REJECTS = re.compile(
    r"\s*(?:(?:no|nope|nah|stop|wrong|wait)\b[\s,.!:;—-]|(?:please\s+)?(?:revert|undo|roll\s*(?:it|that|this)?\s*back|back\s+(?:it|that|this)\s+out|"
    r"take\s+(?:it|that|this)\s+back|drop\s+(?:that|this|it)\b|throw\s+(?:that|this|it)\s+away)|(?:that|this|it)(?:'s|\s+is|\s+was)\s+"
    r"(?:wrong|not\s+(?:what|right|how|it)|broken|bad)|(?:that|this|it)\s+(?:broke|breaks|does\s*n[o']?t\s+work)|not\s+what\s+i|"
    r"(?:you\s+)?(?:should\s*n[o']?t|must\s*n[o']?t)\s+have|why\s+(?:did|would)\s+you|i\s+(?:did\s*n[o']?t|never)\s+(?:ask|want|say))",
    re.IGNORECASE,
)


def is_accepted(record: EpisodeRecord) -> bool:
    """Return whether a turn ended well, by its record."""
    return record.outcome not in ("failed", "interrupted", "unanswered")


def rejects(turn: Turn) -> bool:
    """Return whether a turn begins with a rejection of the previous one's work."""
    if turn.before is None or not is_accepted(turn.before.record):
        return False
    first = turn.record.prompts[0][:200] if turn.record.prompts else ""
    return _REJECTS.match(first.replace("’", "'")) is not None


_PATCH = 200_000
"""Characters of a patch that are looked at."""
_SECTIONS = 300
_FILES = 300
_LONGEST = 200
_HEAD_LINES = 60
_FIRST = 6
_HEADER = "diff --git "
_TARGET = re.compile(r"^\+\+\+ b/([^\t\n]+)", re.MULTILINE)
_NAMES = re.compile(r"a/(.+) b/\1$")
_IS_NEW = re.compile(r"^(?:new file mode|--- /dev/null)", re.MULTILINE)
_ELSEWHERE = ("/", "~", f"{PROJECT_FOLDER}/")
_WORD = re.compile(r"\w{3}")
_ODD = re.compile(r"[`\n\r\t\"<>|*?\0]|^-|(?:^|/)\.\.(?:/|$)")


def takes_back(turn: Turn) -> bool:
    """Return whether a turn removes lines that the one before it in its session added."""
    if turn.before is None or not turn.record.patch or not turn.before.record.patch:
        return False
    is_imported = turn.record.actor == "import"
    before, after = _changed_lines(turn.before.record.patch), _changed_lines(turn.record.patch)
    for path in before.keys() & after.keys():
        (added, removed), (added_then, removed_then) = before[path], after[path]
        if added & removed_then:
            return True
        # What hooks recorded is all that is not committed, of both turns: unless there was a commit between them.
        is_since_same = not added.isdisjoint(added_then) or not removed.isdisjoint(removed_then)
        if not is_imported and is_since_same and added - added_then:
            return True
    return False


def _changed_lines(patch: str) -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """Return the added and the removed lines with words in them, by file."""
    found: dict[str, tuple[set[str], set[str]]] = {}
    for path, section in _sections(patch):
        added, removed = found.setdefault(path, (set(), set()))
        for line in section.text.split("\n"):
            if line[:1] in "+-" and not line.startswith(("+++ ", "--- ")) and _WORD.search(line):
                (added if line[0] == "+" else removed).add(line[1:].strip())
    return {path: (frozenset(added - removed), frozenset(removed - added)) for path, (added, removed) in found.items()}


class NewFile(NamedTuple):
    """A file that a turn made."""

    path: str
    lines: tuple[str, ...]
    """Its first lines that are not empty."""


class Changes(NamedTuple):
    """Changes of a turn."""

    files: tuple[str, ...] = ()
    new: tuple[NewFile, ...] = ()


class _Section(NamedTuple):
    digest: bytes
    is_new: bool
    lines: tuple[str, ...]
    text: str


def changes_of(record: EpisodeRecord, earlier: EpisodeRecord | None) -> Changes:
    """Return the changes of a turn, without earlier ones in the working tree.

    `earlier`: of the previous one in its session.
    """
    files = [path for name in record.files[:_FILES] if (path := _path(name, record.root))]
    if not files:
        return Changes()
    sections = dict(_sections(record.patch))
    known = frozenset(earlier.files) if earlier is not None else frozenset()
    of_before: dict[str, _Section] = {}
    if earlier is not None and not known.isdisjoint(record.files):
        of_before = dict(_sections(earlier.patch))
    is_imported = record.actor == "import"
    changed, new = [], []
    for path in dict.fromkeys(files):
        section, before = sections.get(path), of_before.get(path)
        if section is None:
            if path in known and not is_imported:
                continue
        elif before is not None and before.digest == section.digest:
            continue
        changed.append(path)
        if section is not None and section.is_new and section.lines and not (before is not None and before.is_new):
            new.append(NewFile(path, section.lines))
    return Changes(tuple(changed), tuple(new))


def _path(name: str, root: str) -> str:
    """Return a path below the checkout; empty where it is elsewhere, odd, or in the folder that cm itself writes."""
    if root and name.startswith(f"{root}/"):
        name = name[len(root) + 1 :]
    name = name.replace("\\", "/").removeprefix("./")
    return "" if not name or len(name) > _LONGEST or name.startswith(_ELSEWHERE) or _ODD.search(name) else name


def _sections(patch: str) -> Iterator[tuple[str, _Section]]:
    """Yield the files of a patch."""
    for text in f"\n{patch[:_PATCH]}".split(f"\n{_HEADER}")[1 : _SECTIONS + 1]:
        head = text[:2_000]
        named = _TARGET.search(head) or _NAMES.match(head.partition("\n")[0])
        if named is not None:
            is_new = _IS_NEW.search(head) is not None
            digest = blake2b(text.rstrip("\n").encode("utf-8", "replace"), digest_size=8).digest()
            yield named[1], _Section(digest, is_new, tuple(_first_lines(text)) if is_new else (), text)


def _first_lines(text: str) -> Iterator[str]:
    body = text.find("\n@@")
    if body < 0:
        return
    found = 0
    for line in text[body + 1 : body + 8_000].split("\n")[1:_HEAD_LINES]:
        if not line.startswith("+") or found >= _FIRST:
            return
        if line[1:].strip():
            found += 1
            yield line[1:].rstrip()


def is_editor(record: EpisodeRecord, number: int) -> bool:
    """Return whether a step changed a file."""
    step = record.steps[number]
    return step.kind == "tool" and (
        _EDITORS.fullmatch(step.tool) is not None or step.text.startswith("*** Begin Patch")
    )


_EDITORS = re.compile(
    r"(?:functions\.)?(?:edit|write|multiedit|notebookedit|apply_patch|patch|create_file|edit_file|write_file|write_to_file|replace|replace_in_file|"
    r"str_replace\w*|insert_edit_into_file|search_replace|update_file|multi_edit)",
    re.IGNORECASE,
)
