"""Commands that texts mention: those defined when a text was written, compared with the current ones."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from cm_tui.engine.memory.mentions.commands import Defined, commands_of, is_definer
from cm_tui.engine.memory.mentions.contents import Contents, File
from cm_tui.engine.memory.mentions.finding import Finding, Known, Wanted

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
        self._then: dict[int, list[File]] = {}

    def check(self, wanted: Iterable[Wanted]) -> dict[Wanted, Finding]:
        """Return a finding for each command; one that was defined neither then nor now is omitted."""
        found = {one: self._check(one) for one in dict.fromkeys(wanted)}
        return {one: finding for one, finding in found.items() if finding is not None}

    def _check(self, wanted: Wanted) -> Finding | None:
        if wanted.name in self._now:
            return Finding("alive", self._now[wanted.name][0])
        if not self._known.first:
            return None
        since, until = self._known.stretch(wanted.since, wanted.until)
        for ordinal in dict.fromkeys((until, since)):
            for file in self._files_at(ordinal):
                defined = self._commands(file)
                if wanted.name in defined:
                    return self._gone(wanted.name, file, defined[wanted.name])
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

    def _files_at(self, ordinal: int) -> list[File]:
        if ordinal not in self._then:
            files = self._contents.at(ordinal)
            task = _xtask(files)
            self._then[ordinal] = [*_shallowest(files), *([File(task, "", "")] if task else [])]
        return self._then[ordinal]

    def _commands(self, file: File) -> Defined:
        key = file.path, file.oid
        if key not in self._read:
            text = self._contents.then(file.oid) if file.oid else None
            self._read[key] = {_XTASK: ""} if not file.oid else commands_of(file.path, text or b"")
        return self._read[key]

    def _gone(self, name: str, file: File, body: str) -> Finding:
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
    definers = [file for file in files if is_definer(file.path)]
    return sorted(definers, key=lambda file: (file.path.count("/"), file.path))[:_MOST_FILES]


def _xtask(files: Iterable[File]) -> str | None:
    return next((file.path for file in files if file.path.startswith("xtask/") and file.path.endswith("main.rs")), None)


def _runner(command: str) -> str:
    return command.rpartition(" ")[0]
