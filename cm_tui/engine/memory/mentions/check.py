"""Checking names: depends only on the names and the current store and git, not on earlier results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache, cached_property
from typing import NamedTuple

from cm_tui.engine.memory.mentions.commands import Defined, commands_of, definer_of
from cm_tui.engine.memory.mentions.paths import PathCheck
from cm_tui.engine.memory.mentions.report import EVER, SOON, Finding, Known, NameRange
from cm_tui.engine.memory.mentions.settings import Contents, File, SettingCheck
from cm_tui.engine.memory.mentions.symbols import SymbolCheck
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store.database import Database
from cm_tui.model.stale import MentionKind

_MOST_FILES = 60
"""Files that define commands, of one moment: the shallowest."""
_XTASK = "cargo xtask"


class CommandCheck:
    """Checks commands against the files that define them.

    `contents`: reads those files; `known`: the known part of history.
    """

    def __init__(self, contents: Contents, known: Known) -> None:
        self._contents = contents
        self._known = known
        self._read: dict[tuple[str, str], Defined] = {}
        self._files_at = cache(self._read_files)

    def check(self, wanted: Iterable[NameRange]) -> dict[NameRange, Finding]:
        """Return a finding for each command; one that was defined neither then nor now is omitted."""
        found = {one: self._check(one) for one in dict.fromkeys(wanted)}
        return {one: finding for one, finding in found.items() if finding is not None}

    def _check(self, wanted: NameRange) -> Finding | None:
        if wanted.name in self._now:
            return Finding("alive", self._now[wanted.name][0])
        if not self._known.first:
            return None
        since, until = self._known.stretch(wanted.since, wanted.until)
        for ordinal in dict.fromkeys((until, since)):
            for file in self._files_at(ordinal):
                defined = self._commands(file)
                if wanted.name in defined:
                    return self._removed(wanted.name, file, defined[wanted.name])
        return None

    @cached_property
    def _now(self) -> dict[str, tuple[str, str]]:
        """Current commands: the defining file of each, and what it does."""
        found: dict[str, tuple[str, str]] = {}
        files = self._contents.now()
        for file in _shallowest(files):
            for name, body in commands_of(file.path, self._contents.text_now(file)).items():
                found.setdefault(name, (file.path, body))
        if (task := _xtask(files)) is not None:
            found.setdefault(_XTASK, (task, ""))
        return found

    def _read_files(self, ordinal: int) -> list[File]:
        files = self._contents.at(ordinal)
        task = _xtask(files)
        return [*_shallowest(files), *([File(task, "", "")] if task else [])]

    def _commands(self, file: File) -> Defined:
        key = file.path, file.oid
        if key not in self._read:
            text = self._contents.then(file.oid) if file.oid else None
            self._read[key] = {_XTASK: ""} if not file.oid else commands_of(file.path, text or b"")
        return self._read[key]

    def _removed(self, name: str, file: File, body: str) -> Finding:
        """A removed command: the last version of its file that had it."""
        versions = self._contents.versions(file.path)
        having = [one for one in versions if name in self._commands(File(file.path, one.oid, ""))]
        last = having[-1] if having else None
        ordinal = (last.until or 0) if last is not None else 0
        if last is not None:
            body = self._commands(File(file.path, last.oid, ""))[name] or body
        same = [
            other for other, (_, does) in self._now.items() if body and does == body and _runner(other) == _runner(name)
        ]
        if len(same) == 1:
            return Finding("renamed", self._now[same[0]][0], 0, same[0], ordinal)
        return Finding("gone", file.path, 0, "", ordinal)


def _shallowest(files: Iterable[File]) -> list[File]:
    definers = [file for file in files if definer_of(file.path)]
    return sorted(definers, key=lambda file: (file.path.count("/"), file.path))[:_MOST_FILES]


def _xtask(files: Iterable[File]) -> str | None:
    return next((file.path for file in files if file.path.startswith("xtask/") and file.path.endswith("main.rs")), None)


def _runner(command: str) -> str:
    return command.rpartition(" ")[0]


NOWHERE = Finding("unknown", ordinal=0)
"""For a name that is not of this project, without a kind."""
_THERE = ("alive", "changed")


class NameQuery(NamedTuple):
    """A name to be looked up."""

    kinds: tuple[MentionKind, ...]
    text: str
    plain: bool
    at: int
    """Ordinal that its item counts as written at; -1: not known."""


class Answer(NamedTuple):
    """Kind of a name, and what became of it."""

    kind: MentionKind | None
    """None: not a known name of this project."""
    finding: Finding


class Checker:
    """Checks names against one state of a store.

    `read_now`: reads a current file by path and object id. `seconds`: time limit for reading earlier contents; names
    that need more are left for later.
    """

    def __init__(
        self, db: Database, repository: Repository, read_now: Callable[[str, str], str], seconds: float = 5.0
    ) -> None:
        self.known = Known.of(db)
        contents = Contents(db, repository, read_now, seconds)
        self._kinds = {
            "symbol": SymbolCheck(db, self.known).check,
            "path": PathCheck(db, repository, self.known).check,
            "command": CommandCheck(contents, self.known).check,
            "setting": SettingCheck(db, contents, self.known).check,
        }

    def check(self, asked: Collection[NameQuery]) -> dict[NameQuery, Answer]:
        """Return kind and result for each name."""
        wanted: dict[MentionKind, dict[NameQuery, NameRange]] = defaultdict(dict)
        for one in asked:
            for kind in one.kinds:
                wanted[kind][one] = _required_name(one)
        found: dict[MentionKind, Mapping[NameRange, Finding]] = {}
        for kind, names in wanted.items():
            # A word of code that is a symbol need not be looked for in all files.
            rest = [name for one, name in names.items() if kind != "setting" or name not in found.get("symbol", {})]
            found[kind] = self._kinds[kind](rest)
        return {one: self._answer(one, found) for one in asked}

    def _answer(self, one: NameQuery, found: Mapping[MentionKind, Mapping[NameRange, Finding]]) -> Answer:
        wanted = _required_name(one)
        answers = [Answer(kind, finding) for kind in one.kinds if (finding := found[kind].get(wanted)) is not None]
        there = next((answer for answer in answers if answer.finding.state in _THERE), None)
        told = next((answer for answer in answers if answer.finding.state != "unknown"), None)
        best = there or told or next(iter(answers), None)
        if best is not None:
            return best
        is_told = one.plain or self.known.tells(one.at)
        return Answer(None, NOWHERE) if is_told else Answer(one.kinds[0], NOWHERE)


def _required_name(one: NameQuery) -> NameRange:
    if one.at < 0:
        return NameRange(one.text, -1, EVER, one.plain)
    return NameRange(one.text, one.at, one.at + SOON, one.plain)
