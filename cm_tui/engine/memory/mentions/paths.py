"""Paths that texts mention: files and folders that existed when a text was written, compared with the current ones."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache, cached_property
from typing import NamedTuple

from cm_tui.engine.memory.mentions.report import EVER, UNCOMMITTED, Finding, Known, NameRange
from cm_tui.engine.platform.git.commits import MissingError
from cm_tui.engine.platform.git.delta import Trees
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store.database import Database

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

    def check(self, wanted: Iterable[NameRange]) -> dict[NameRange, Finding]:
        """Return a finding for each path; one that exists neither in its commits nor now is omitted."""
        found = {one: self._check(one) for one in dict.fromkeys(wanted)}
        return {one: finding for one, finding in found.items() if finding is not None}

    def _check(self, wanted: NameRange) -> Finding | None:
        name = wanted.name.rstrip("/")
        if self._is_there(name):
            return Finding("alive", name)
        since, until = self._known.stretch(wanted.since, wanted.until)
        then = self._files.named(name, since, until)
        then = [name] if name in then else then
        now = self._now_named(name)
        if now and (not then or now in then or "/" not in name):
            return Finding("alive", now)
        folders = [] if then else self._folders.named(name, since, until, partly="/" in name)
        if then:
            return self._removed(then, now)
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
