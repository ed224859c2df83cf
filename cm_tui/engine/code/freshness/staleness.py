"""The check before a request: is the index behind HEAD or the working tree? It costs a few milliseconds at most.

It compares stamps of files and folders (mtime, size) with those at indexing. A large project is checked in turns, so
that a single check is short; the latest changes are checked first each time.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cm_tui.engine.code.freshness.scheduler import DECISIVE, EVERYTHING, NOTHING, Changes, PathFilter, is_git
from cm_tui.engine.code.scan.skip_rules import folders_of
from cm_tui.engine.platform.git.git_dir import GitFolders, git_folders, head_of

NAME = "guard"
"""Its layer's name, known to older versions; users see `staleness check`."""
BUDGET_S = 0.003
"""How long one check may look at files and folders."""
_BRIEF = 1 / 6
_HOT = 200
"""Files that changed last, looked at in every check."""
_BLOCK = 64
_COARSE_NS = 50_000_000
"""File times may lag behind the clock by so much."""

Mark = tuple[int, int, int] | None
"""Time of change, time of the entry's change and size; None: nothing there."""
_UNSURE: Mark = (0, 0, -1)
"""Equal to no mark: it changed during indexing, so the indexed state is unknown."""


@dataclass(frozen=True, slots=True)
class Staleness:
    """Known differences between index and disk."""

    changes: Changes
    why: str
    """In words; empty: none found."""

    def __bool__(self) -> bool:
        return bool(self.why)


_CURRENT = Staleness(NOTHING, "")


@dataclass(frozen=True, slots=True)
class RunStart:
    """What a project looked like before an index run."""

    head: str | None
    at_ns: int
    marks: dict[str, Mark]


class StalenessCheck:
    """Stores stamps of the indexed state; `begin` and `finish` are called around each index run.

    `make_filter`: makes the test whether a new path matters; `budget_s`: seconds that a check may take.
    """

    def __init__(self, root: Path, make_filter: Callable[[], PathFilter], *, budget_s: float = BUDGET_S) -> None:
        self._root = root.resolve()
        self._prefix = f"{self._root}{os.sep}"
        self._make_filter = make_filter
        self._accepts: PathFilter | None = None
        self._budget_s = budget_s
        self._git: GitFolders | None = None
        self._head: str | None = None
        self._marks: dict[str, Mark] = {}
        """Of files by path, and of folders by path with a slash at the end; the root is `/`."""
        # Folders may take half of the time: they are few, and reveal all additions and removals.
        self._rotations = (_Rotation(()), _Rotation(()))
        self._hot: deque[str] = deque(maxlen=_HOT)
        self._extra: set[str] = set()
        """Folders that came since, which may hold nothing that is indexed yet."""
        self._known = False
        self._lock = threading.Lock()

    @property
    def has_compared(self) -> bool:
        """Return whether the state of the index is known."""
        return self._known

    def begin(self) -> RunStart:
        """An index run is about to look at the project; `finish` is given what this returns."""
        head, at_ns = self._head_now(), time.time_ns()
        known = dict(self._marks)
        before = {path: self._look(path) for path in known}
        with self._lock:
            changed = [path for path, mark in before.items() if path.endswith("/") and mark != known[path]]
            new = [path for folder in changed for path in self._new_in(folder, forget=False)]
            before |= {path: self._look(path) for top in new for path in self._below(top)}
        return RunStart(head, at_ns, before)

    def finish(
        self, start: RunStart, files: Iterable[str], skipped: Iterable[str] = (), changes: Changes = EVERYTHING
    ) -> None:
        """End the run that began with `start`.

        `files`: every path that the index holds now. `skipped`: every path that was excluded. `changes`: what the run
        looked at; all else keeps its earlier state.
        """
        paths = {*files, *skipped, *DECISIVE}
        folders = {"/", *(f"{folder}/" for folder in folders_of(paths)), *self._remaining_folders(start)}
        covered = _covers(changes)
        marks = {
            path: self._certain_mark(path, start) if covered(path) else self._marks.get(path, _UNSURE)
            for path in (*folders, *paths)
        }
        with self._lock:
            for path, mark in marks.items():
                if not path.endswith("/") and path in self._marks and self._marks[path] != mark:
                    self._warm(path)
            self._marks = marks
            self._head = start.head if changes == EVERYTHING else self._head
            self._rotations = (
                _Rotation([path for path in marks if path.endswith("/")]),
                _Rotation([path for path in marks if not path.endswith("/")]),
            )
            self._extra.clear()
            self._accepts = None if changes == EVERYTHING else self._accepts
            self._known = True

    def check(self, *, thorough: bool = False, briefly: bool = False) -> Staleness:
        """Compare with the disk.

        `thorough`: look at everything at once, however long it takes; `briefly`: take a part of the usual time, unless
        that is enough for everything.
        """
        is_brief = briefly and not all(rotation.is_whole for rotation in self._rotations)
        budget_s = self._budget_s * (_BRIEF if is_brief else 1.0)
        if not self._known:
            return Staleness(EVERYTHING, "not compared with the files yet")
        try:
            if self._head_now() != self._head:
                return Staleness(EVERYTHING, "HEAD moved")
            with self._lock:
                changed = self._changed(None if thorough else budget_s)
        except OSError as error:
            return Staleness(EVERYTHING, f"the folder cannot be read: {error.strerror or error}")
        if not changed:
            return _CURRENT
        found = Changes.of(changed)
        return Staleness(found, f"changed: {found}")

    def head_moved(self) -> bool:
        """Return whether HEAD is another commit than the indexed one."""
        return not self._known or self._head_now() != self._head

    def is_current(self, changes: Changes) -> bool:
        """Return whether the index reflects the disk at these paths, so that a run would find nothing."""
        if changes.paths is None or self.head_moved():
            return not self.check(thorough=True)
        with self._lock:
            return all(self._is_same(path) for path in changes.paths)

    # --- comparing ---

    def _changed(self, budget: float | None) -> list[str]:
        changed = [path for path in self._hot if self._differs(path)]
        started = time.perf_counter()
        for rotation, share in zip(self._rotations, (0.5, 1.0), strict=True):
            for path in rotation.turn(started + budget * share if budget is not None else None):
                if self._differs(path):
                    changed += self._new_in(path) if path.endswith("/") else [path]
        for path in changed:
            self._warm(path)
        return changed

    def _is_same(self, path: str) -> bool:
        if path in self._marks:
            return not self._differs(path)
        folder = f"{path}/"
        if folder in self._marks:
            return not self._differs(folder) or not self._new_in(folder)
        return self._look(path) is None

    def _differs(self, path: str) -> bool:
        return path in self._marks and self._look(path) != self._marks[path]

    def _new_in(self, folder: str, *, forget: bool = True) -> list[str]:
        """Relevant new paths in a changed folder; if there are none, the change is dropped."""
        mark = self._look(folder)
        if mark is None:
            return [folder.rstrip("/")]
        prefix = "" if folder == "/" else folder
        if self._accepts is None:
            self._accepts = self._make_filter()
        names = [f"{prefix}{name}" for name in self._names(prefix)]
        new = [p for p in names if p not in self._marks and f"{p}/" not in self._marks and not is_git(p)]
        found = [path for path in new if self._accepts(path)]
        self._extra.update(f"{path}/" for path in found if (self._root / path).is_dir())
        if not found and forget:
            self._marks[folder] = mark
        return found

    def _below(self, path: str) -> Iterable[str]:
        """A new path, and when it is a folder all in it that matters."""
        assert self._accepts is not None
        yield path
        if not (self._root / path).is_dir() or (self._root / path).is_symlink():
            return
        yield f"{path}/"
        for name in self._names(path):
            if self._accepts(f"{path}/{name}"):
                yield from self._below(f"{path}/{name}")

    def _names(self, folder: str) -> list[str]:
        try:
            return os.listdir(f"{self._prefix}{folder}")  # noqa: PTH208 - a tenth of the time of `iterdir`
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _warm(self, path: str) -> None:
        if path not in self._hot:
            self._hot.appendleft(path)

    def _certain_mark(self, path: str, start: RunStart) -> Mark:
        """Return the current stamp, if the run has certainly seen that state."""
        mark = self._look(path)
        if path in start.marks and start.marks[path] == mark:
            return mark
        return mark if mark is None or max(mark[:2]) < start.at_ns - _COARSE_NS else _UNSURE

    def _remaining_folders(self, start: RunStart) -> Iterable[str]:
        """Folders that were known, may hold nothing that is indexed, and are still there."""
        return [path for path in {*start.marks, *self._extra} if path.endswith("/") and self._look(path) is not None]

    def _look(self, path: str) -> Mark:
        # Without a trailing slash, which would resolve a link.
        is_folder = path.endswith("/")
        try:
            found = os.lstat(self._prefix + (path[:-1] if is_folder else path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        if is_folder and path != "/" and not stat.S_ISDIR(found.st_mode):
            return None
        # A folder's size is no more informative than its time.
        return found.st_mtime_ns, found.st_ctime_ns, found.st_size

    def _head_now(self) -> str | None:
        self._git = self._git or git_folders(self._root)
        return head_of(self._git).sha if self._git else None


class _Rotation:
    """Paths that are looked at in turns."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._next = 0
        self.is_whole = True
        """Whether all were looked at in the last turn."""

    def turn(self, end: float | None) -> Iterator[str]:
        """The next paths, until it is so late, and each at most once; None: all."""
        looked = 0
        while looked < len(self._paths):
            block = self._paths[self._next : self._next + _BLOCK]
            looked += len(block)
            self._next = (self._next + len(block)) % len(self._paths)
            yield from block
            self.is_whole = looked >= len(self._paths)
            if end is not None and time.perf_counter() > end:
                return


def _covers(changes: Changes) -> Callable[[str], bool]:
    names = changes.paths
    if names is None:
        return lambda _: True
    below = tuple(f"{name}/" for name in names)
    return lambda path: path in names or path.startswith(below)
