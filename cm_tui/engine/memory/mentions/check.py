"""Checking names: depends only on the names and the current store and git, not on earlier results."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache, cached_property
from typing import NamedTuple

from cm_tui.engine.memory.mentions.commands import Defined, commands_of, definer_of
from cm_tui.engine.memory.mentions.report import EVER, UNCOMMITTED, Finding, Known, NameQuery
from cm_tui.engine.memory.mentions.settings import Contents, File, SettingCheck
from cm_tui.engine.memory.mentions.symbols import SymbolCheck
from cm_tui.engine.platform.git.commits import MissingError
from cm_tui.engine.platform.git.delta import Trees
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store.database import Database
from cm_tui.model.stale import MentionKind

# --- paths that texts mention: files and folders that existed when a text was written, compared with the current ones ---

_MOST_STEPS = 20
"""Renames of one file that are followed."""
_MOST_OF_FOLDER = 40
"""Files of a folder that are followed to see where it went."""
_SPANS = f"SELECT path, min(from_ord), max(coalesce(to_ord, {EVER})) FROM file_span GROUP BY path"  # noqa: S608 - a number
_SAME_CONTENT = """
WITH gone AS (SELECT path, blob FROM head_file WHERE path NOT IN (SELECT path FROM now_file))
SELECT n.path, (SELECT count(*) FROM gone g WHERE g.blob = n.blob) FROM now_file n
WHERE n.blob = (SELECT blob FROM gone WHERE path = ?) AND n.path NOT IN (SELECT path FROM head_file)
"""
"""New files on disk with the content of a removed one, and the number of removed ones with that content."""

_IMPORTED = """
SELECT DISTINCT i.module FROM import i JOIN now_file n ON n.blob = i.blob WHERE i.module NOT LIKE '.%'
"""
"""Modules that current files import by name, not by a path."""


class _Life(NamedTuple):
    """A path's first commit, and the last one that removed it."""

    since: int
    until: int


class _Lives:
    """The lives of files, or of folders."""

    def __init__(self, lives: dict[str, _Life]) -> None:
        self.of = lives
        self._by_last = _by_last(lives)

    def named(self, name: str, since: int, until: int, *, partly: bool = True) -> list[str]:
        """Return the paths that end in a name, and lived in a stretch of the mainline; not `partly`: only the whole one."""
        fitting = self._by_last.get(name.rpartition("/")[2], ())
        named = [path for path in fitting if path == name or (partly and path.endswith(f"/{name}"))]
        return [path for path in named if self.of[path].since <= until and self.of[path].until > since]


class PathCheck:
    """Checks paths against one store, and against git's trees for files that are not indexed.

    `known`: the known part of its history.
    """

    def __init__(self, db: Database, repository: Repository, known: Known) -> None:
        self._db = db
        self._repository = repository
        self._known = known
        self._trees = Trees(repository)
        self._renames = cache(self._read_renames)

    def check(self, wanted: Iterable[NameQuery]) -> dict[NameQuery, Finding]:
        """Return a finding for each path; one that exists neither in its commits nor now is omitted."""
        found = {one: self._check(one) for one in dict.fromkeys(wanted)}
        return {one: finding for one, finding in found.items() if finding is not None}

    def _check(self, wanted: NameQuery) -> Finding | None:
        name = wanted.text.rstrip("/")
        if self._is_there(name):
            return Finding("alive", name)
        since, until = self._known.stretch(wanted.at, wanted.until)
        then = self._files.named(name, since, until)
        then = [name] if name in then else then
        now = self._now_named(name)
        if now and (not then or now in then or "/" not in name):
            return Finding("alive", now)
        folders = [] if then else self._folders.named(name, since, until, partly="/" in name)
        if then:
            found = self._removed(then, now)
            return None if found.state == "gone" and self._is_library(name) else found
        if folders:
            return self._missing_folder(folders)
        return self._of_trees(name, since, until)

    # --- now ---

    def _is_there(self, path: str) -> bool:
        """Whether a file or folder is there, in the index or on disk."""
        if path in self._now or path in self._now_folders:
            return True
        return bool(path) and ".." not in path.split("/") and os.path.lexists(self._repository.root / path)

    def _now_named(self, name: str) -> str:
        """The current file or folder whose path ends in a name; the shortest of several."""
        by_last = self._now_by_last.get(name.rpartition("/")[2], ())
        fitting = [path for path in by_last if path == name or path.endswith(f"/{name}")]
        return min(fitting, key=lambda path: (len(path), path), default="")

    @cached_property
    def _now(self) -> set[str]:
        return {row[0] for row in self._db.rows("SELECT path FROM now_file")}

    @cached_property
    def _now_folders(self) -> set[str]:
        return {folder for path in self._now for folder in _folders(path)}

    @cached_property
    def _now_by_last(self) -> dict[str, list[str]]:
        return _by_last([*self._now, *self._now_folders])

    @cached_property
    def _committed(self) -> set[str]:
        return {row[0] for row in self._db.rows("SELECT path FROM head_file")}

    def _is_library(self, name: str) -> bool:
        """Whether code imports a library of that name: `p5.js` is `p5`, also where a copy of it was a file once."""
        return name.endswith(".js") and name.removesuffix(".js") in self._libraries

    @cached_property
    def _libraries(self) -> set[str]:
        return {str(row[0]).removesuffix(".js") for row in self._db.rows(_IMPORTED)}

    # --- then ---

    @cached_property
    def _files(self) -> _Lives:
        return _Lives({path: _Life(since, until) for path, since, until in self._db.rows(_SPANS)})

    @cached_property
    def _folders(self) -> _Lives:
        lives: dict[str, _Life] = {}
        for path, life in self._files.of.items():
            for folder in _folders(path):
                known = lives.get(folder, life)
                lives[folder] = _Life(min(known.since, life.since), max(known.until, life.until))
        return _Lives(lives)

    # --- removed paths ---

    def _removed(self, then: list[str], now: str) -> Finding:
        last = max(then, key=lambda path: (self._ended(path), path))
        ordinal = self._ended(last)
        there = self._followed(last) or self._renamed_on_disk(last) or now
        if there:
            return Finding("moved", there, 0, there, ordinal)
        return Finding("gone", last, 0, "", ordinal)

    def _ended(self, path: str) -> int:
        return self._known.gone_at(self._files.of[path].until, is_committed=path in self._committed)

    def _followed(self, path: str) -> str:
        """The current path of a removed file by git's renames; empty: none."""
        for _ in range(_MOST_STEPS):
            life = self._files.of.get(path)
            if life is None or life.until == EVER:
                break
            there = self._renames(life.until).get(path)
            if there is None:
                break
            if there in self._now:
                return there
            path = there
        return ""

    def _renamed_on_disk(self, path: str) -> str:
        """The only new file with the same content, if a path is missing only on disk; empty: none."""
        rows = self._db.rows(_SAME_CONTENT, [path]) if path in self._committed else []
        return str(rows[0][0]) if len(rows) == 1 and rows[0][1] == 1 else ""

    def _read_renames(self, ordinal: int) -> dict[str, str]:
        older, newer = self._sha(ordinal - 1), self._sha(ordinal)
        return self._repository.renames(older, newer) if older and newer else {}

    def _missing_folder(self, folders: list[str]) -> Finding:
        last = max(folders, key=lambda folder: (self._folders.of[folder].until, folder))
        end = self._folders.of[last].until
        prefix = f"{last}/"
        files = sorted(path for path in self._files.of if path.startswith(prefix))
        committed = any(path.startswith(prefix) for path in self._committed)
        ordinal = self._known.gone_at(end, is_committed=committed)
        newest = sorted(files, key=lambda path: -self._files.of[path].until)[:_MOST_OF_FOLDER]
        led = ((path, self._followed(path)) for path in newest)
        heads = Counter(
            there.removesuffix(path.removeprefix(last))
            for path, there in led
            if there.endswith(path.removeprefix(last))
        )
        best, count = next(iter(heads.most_common(1)), ("", 0))
        if best and 2 * count >= min(len(newest), len(files)):
            return Finding("moved", best, 0, f"{best}/", ordinal)
        return Finding("gone", last, 0, "", ordinal)

    # --- files that are not indexed ---

    def _of_trees(self, name: str, since: int, until: int) -> Finding | None:
        """A file that is not indexed, such as a picture: looked up in git's trees by its whole path."""
        if not self._known.first or not self._repository.git or "/" not in f"{name}/":
            return None
        start = next((ordinal for ordinal in {since, until} if self._in_tree(name, ordinal)), None)
        if start is None:
            return None
        low, high = start, self._known.head
        if self._in_tree(name, high):
            # HEAD has it, and it is not on disk.
            return Finding("gone", name, 0, "", UNCOMMITTED)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._in_tree(name, middle) else (low, middle)
        there = self._renames(high).get(name, "")
        return (
            Finding("moved", there, 0, there, high)
            if there and self._is_there(there)
            else Finding("gone", name, 0, "", high)
        )

    def _in_tree(self, path: str, ordinal: int) -> bool:
        sha = self._sha(ordinal)
        if not sha:
            return False
        folder, _, last = path.rpartition("/")
        try:
            tree: bytes | None = self._repository.tree_of(sha)
            tree = self._trees.folder(tree, folder) if folder and tree is not None else tree
            return tree is not None and last in self._trees.names(tree)
        except MissingError:
            return False

    def _sha(self, ordinal: int) -> str:
        return self._shas.get(ordinal, "")

    @cached_property
    def _shas(self) -> dict[int, str]:
        return dict(self._db.rows("SELECT ord, sha FROM line_commit"))


def _folders(path: str) -> Iterable[str]:
    at = path.find("/")
    while at > 0:
        yield path[:at]
        at = path.find("/", at + 1)


def _by_last(paths: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        found[path.rpartition("/")[2]].append(path)
    return found


# --- checking names: depends only on the names and the current store and git, not on earlier results ---

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

    def check(self, wanted: Iterable[NameQuery]) -> dict[NameQuery, Finding]:
        """Return a finding for each command; one that was defined neither then nor now is omitted."""
        found = {one: self._check(one) for one in dict.fromkeys(wanted)}
        return {one: finding for one, finding in found.items() if finding is not None}

    def _check(self, wanted: NameQuery) -> Finding | None:
        if wanted.text in self._now:
            return Finding("alive", self._now[wanted.text][0])
        if not self._known.first:
            return None
        since, until = self._known.stretch(wanted.at, wanted.until)
        for ordinal in dict.fromkeys((until, since)):
            for file in self._files_at(ordinal):
                defined = self._commands(file)
                if wanted.text in defined:
                    return self._removed(wanted.text, file, defined[wanted.text])
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
        self._kinds: dict[MentionKind, Callable[[Iterable[NameQuery]], Mapping[NameQuery, Finding]]] = {
            "symbol": SymbolCheck(db, self.known).check,
            "path": PathCheck(db, repository, self.known).check,
            "command": CommandCheck(contents, self.known).check,
            "setting": SettingCheck(db, contents, self.known).check,
        }

    def check(self, asked: Collection[NameQuery]) -> dict[NameQuery, Answer]:
        """Return kind and result for each name."""
        found: dict[MentionKind, Mapping[NameQuery, Finding]] = {}
        for kind, check in self._kinds.items():
            # A word of code that is a symbol need not be looked for in all files.
            known = found["symbol"] if kind == "setting" else {}
            names = [one for one in asked if kind in one.kinds and one not in known]
            found[kind] = check(names) if names else {}
        return {one: self._answer(one, found) for one in asked}

    def _answer(self, one: NameQuery, found: Mapping[MentionKind, Mapping[NameQuery, Finding]]) -> Answer:
        answers = [Answer(kind, finding) for kind in one.kinds if (finding := found[kind].get(one)) is not None]
        there = next((answer for answer in answers if answer.finding.state in _THERE), None)
        told = next((answer for answer in answers if answer.finding.state != "unknown"), None)
        best = there or told or next(iter(answers), None)
        if best is not None:
            return best
        is_told = one.plain or self.known.tells(one.at)
        return Answer(None, NOWHERE) if is_told else Answer(one.kinds[0], NOWHERE)
