"""The projects that the daemon has open: one engine per store, opened on request, closed when idle."""

from __future__ import annotations

import gc
import logging
import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from cm_tui import paths
from cm_tui.clock import SYSTEM, Clock
from cm_tui.config import load_config
from cm_tui.daemon.rpc import ProjectRef
from cm_tui.engine.api import projects, worktree_stores
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.platform.store import memory
from cm_tui.errors import CmError, NotFoundError, NotIndexedError, StoreBusyError
from cm_tui.lru import LRU
from cm_tui.model import Candidates

STORE_WAIT_S = 120.0
"""How long to wait for a store that another checkout of the same project is working with."""
_LOCATED_SECONDS = 5.0
_LOCATED = 256
_SETTLE_S = 2.0
_REST_S = 10.0
_CACHES_S = 60.0
"""After so long without a question, caches are emptied though projects are open: filling them takes 0.2 s."""
_SHARED_S = 30.0
"""How long a checkout shares its project's store before a copy is tried again."""
_CANDIDATES = 16
_MOST_OPEN = 3
"""Most unused projects that stay open; the least recently used are closed."""

_log = logging.getLogger(__name__)

Signature = tuple[object, ...]


@dataclass(eq=False)
class Project:
    """An open project and its engine."""

    root: Path
    store: Path
    engine: Engine
    signature: Signature
    users: int = 0
    runs: int = 0
    """How many of the users are long work."""
    used: float = 0.0
    """When it was asked last."""
    settled: float = 0.0
    """When it was used last before freed memory was returned to the system."""
    rested: float = 0.0
    """When it was used last before its caches were released as well."""
    _candidates: LRU[str, Candidates] = field(default_factory=lambda: LRU(_CANDIDATES))

    def keep(self, candidates: Candidates) -> str:
        """Keep candidates for ranking them again; the oldest are forgotten. Gives their id."""
        number = secrets.token_hex(8)
        self._candidates.put(number, candidates)
        return number

    def kept(self, number: str) -> Candidates | None:
        """Candidates by their id, unless they were forgotten."""
        return self._candidates.get(number)

    def is_current(self, signature: Signature) -> bool:
        """Return whether it can go on as it is, with what it stands on now."""
        return self.signature == signature and not self.engine.must_reopen

    def refresh_signature(self) -> None:
        """Take the settings and the store as they are now for the ones in use."""
        self.signature = _signature(self.root, self.store)


@dataclass(eq=False)
class _Ticket:
    """Someone who waits for a store, as a checkout."""

    root: Path


class ProjectPool:
    """Opens projects and hands them out.

    A store is used by any number of users at once, but only as one checkout: when another checkout of the same
    project asks, it waits until the first is free, and later requests queue behind it; only during long work of the first,
    which it has to wait for anyway, do others of the first go ahead. A project whose settings, store or folder were
    replaced on disk is reopened as soon as it is unused.

    `clock`: tells how long ago projects were used.
    """

    def __init__(self, clock: Clock = SYSTEM) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._open: dict[Path, Project] = {}
        self._taken: set[Path] = set()
        self._waiting: dict[Path, list[_Ticket]] = {}
        self._closed_at: float | None = clock.monotonic()
        """Time at which a project was closed whose memory was not released yet; at first, that of the start."""
        self._released = clock.monotonic()
        """Time at which freed memory was returned last."""
        self._emptied = 0.0
        """Time of the last use of a project before caches were emptied."""
        self._located: LRU[ProjectRef, tuple[float, Path, Path]] = LRU(_LOCATED)
        self._shares_until: dict[Path, float] = {}
        """Until when checkouts share their project's store, as no copy could be made."""

    def locate(self, where: ProjectRef) -> tuple[Path, Path]:
        """Root and store of the project that a request is about.

        Raises NotFoundError if there is no such folder; RefusedError if the root is unsafe.
        """
        folder = Path(where.folder)
        if not folder.is_absolute():
            raise NotFoundError(f"{where.folder} is not an absolute path.")
        now = self._clock.monotonic()
        known = self._located.get(where)
        if known is not None and now - known[0] < _LOCATED_SECONDS and known[1].is_dir() and folder.exists():
            return known[1], known[2]
        root, store = projects.locate(folder, force=where.force, around=where.around)
        other = worktree_stores.shared_with(root, store)
        if other is not None and now >= self._shares_until.get(root, now):
            store = self._own_store(root, store, other)
        if projects.has_store(store):
            # Without a store, the project may just be getting its first commit or remote, and with it another store.
            self._located.put(where, (now, root, store))
        return root, store

    def _own_store(self, root: Path, store: Path, other: Path) -> Path:
        """Return a checkout's own copy of its project's store, made in its turn; the project's where that cannot be.

        `other`: the checkout that the project's store reflects.
        """
        with self._changed:
            if not self._wait_for_turn(store, root, unused=True):
                return store
            self._taken.add(store)
        own = store
        try:
            # Each copy would have to read the rest of a history by itself.
            if not self._wants_history(store, other):
                self._close(store)
                own = worktree_stores.own_store(root, store, self._remove)
        except CmError as error:
            # The next user of the store reports it.
            _log.warning("%s has no store of its own: %s", root, error.message)
        finally:
            self._release(store)
        if own == store:
            self._shares_until[root] = self._clock.monotonic() + _SHARED_S
        return own

    def _wants_history(self, store: Path, root: Path) -> bool:
        """Return whether history is to be read into a checkout's store; the caller has taken it."""
        project = self._open.get(store)
        if project is not None and project.root == root:
            return project.engine.wants_history()
        self._close(store)
        with closing(Engine(root, store, load_config(root))) as engine:
            return engine.wants_history()

    def _remove(self, store: Path) -> None:
        """Remove a checkout's own store. Raises StoreBusyError while it is in use."""
        if self._users(store):
            raise StoreBusyError(f"The index in {store} is in use.", hint="Try again.")
        with self.exclusive(store):
            projects.remove_store(store)

    @contextmanager
    def acquire(self, where: ProjectRef, *, create: bool = True, run: bool = False) -> Iterator[Project]:
        """A project, open for as long as the block lasts.

        `create`: create a missing store; `run`: for long work. Raises NotIndexedError if there is no store, and
        `create` is not set; CmError if the project cannot be opened.
        """
        root, store = self.locate(where)
        project = self._acquire(root, store, create=create, run=run)
        try:
            yield project
        finally:
            with self._changed:
                project.users -= 1
                project.runs -= run
                project.used = self._clock.monotonic()
                self._changed.notify_all()

    def _acquire(self, root: Path, store: Path, *, create: bool, run: bool) -> Project:
        with self._changed:
            free = self._wait_for_turn(store, root)
            project = self._open.get(store)
            if not free:
                other = project.root if project else store
                raise StoreBusyError(
                    f"The index of {root} is in use for {other}, another checkout of the same project.",
                    hint="Wait until it has finished, then try again.",
                )
            # While others use it, settings that changed wait.
            if project and project.root == root and (project.users or project.is_current(_signature(root, store))):
                project.users += 1
                project.runs += run
                return project
            if not create and not projects.has_store(store):
                raise NotIndexedError(f"{root} has no index yet.", hint="Run `cm index` first.")
            self._taken.add(store)
        try:
            project = self._reopen(root, store)
            project.runs += run
            return project
        finally:
            self._release(store)

    def is_awaited(self, project: Project) -> bool:
        """Return whether another checkout waits for the store of a project."""
        with self._changed:
            return any(ticket.root != project.root for ticket in self._waiting.get(project.store, ()))

    def _wait_for_turn(self, store: Path, root: Path, *, unused: bool = False) -> bool:
        """Wait for a turn; False when it did not come. `unused`: until no one uses it, of the same checkout either."""
        queue = self._waiting.setdefault(store, [])
        ticket = _Ticket(root)
        queue.append(ticket)
        try:
            return self._changed.wait_for(
                lambda: self._is_free(store, ticket) and not (unused and self._users(store)), STORE_WAIT_S
            )
        finally:
            queue.remove(ticket)
            if not queue:
                self._waiting.pop(store, None)
            self._changed.notify_all()

    def _is_free(self, store: Path, ticket: _Ticket) -> bool:
        project = self._open.get(store)
        if store in self._taken:
            return False
        if project is not None and project.users:
            if project.root != ticket.root:
                return False
            if project.runs:
                return True
        queue = self._waiting[store]
        return all(other.root == ticket.root for other in queue[: queue.index(ticket)])

    def _reopen(self, root: Path, store: Path) -> Project:
        """Open a store exclusively, with one user."""
        self._close(store)
        if worktree_stores.is_removed(store):
            raise StoreBusyError(f"The index in {store} was removed meanwhile.", hint="Repeat the request.")
        signature = _signature(root, store)
        engine = Engine(root, store, load_config(root), reads_beside=True)
        project = Project(root, store, engine, signature, users=1, used=self._clock.monotonic())
        project.refresh_signature()
        with self._changed:
            self._open[store] = project
        _log.info("opened %s", root)
        return project

    def _close(self, store: Path) -> None:
        with self._changed:
            project = self._open.pop(store, None)
        if project is not None:
            project.engine.close()
            _log.info("closed %s", project.root)

    def _release(self, store: Path) -> None:
        with self._changed:
            self._taken.discard(store)
            # It may have been removed, and its checkout is located elsewhere then.
            self._located.clear()
            self._changed.notify_all()

    @contextmanager
    def exclusive(self, store: Path) -> Iterator[None]:
        """A store closed and out of everybody's reach, for as long as the block lasts.

        Raises StoreBusyError if it stays in use.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: store not in self._taken, STORE_WAIT_S):
                raise StoreBusyError(f"The index in {store} stays in use.", hint="Try again.")
            self._taken.add(store)
        try:
            with self._changed:
                if not self._changed.wait_for(lambda: not self._users(store), STORE_WAIT_S):
                    raise StoreBusyError(f"The index in {store} stays in use.", hint="Try again.")
            self._close(store)
            yield
        finally:
            self._release(store)

    def _users(self, store: Path) -> int:
        project = self._open.get(store)
        return project.users if project else 0

    def opened(self) -> list[Project]:
        """Those that are open now."""
        with self._changed:
            return list(self._open.values())

    def sweep(self, idle_seconds: float) -> list[Path]:
        """Close idle projects and those without a folder; return the roots of the latter.

        `idle_seconds`: of the project that was used last; others are closed when their caches would be released.
        """
        gone = []
        by_use = sorted(self.opened(), key=lambda project: project.used, reverse=True)
        for rank, project in enumerate(by_use):
            lost = not project.root.is_dir()
            # Opening one again takes 0.1 s; open, it takes 30 to 60 MB.
            waits = min(idle_seconds, _REST_S) if rank else idle_seconds
            if not lost and rank < _MOST_OPEN and self._clock.monotonic() - project.used < waits:
                continue
            with self._changed:
                if not self._take(project):
                    continue
            try:
                self._close(project.store)
                if lost and project.store != paths.project_store(project.store):
                    projects.remove_store(project.store)
            finally:
                self._release(project.store)
            self._closed_at = self._clock.monotonic()
            gone += [project.root] if lost else []
        return gone

    def rest(self) -> None:
        """Return freed memory of projects that are not asked now; of idle ones, release caches: the system has the files."""
        has_rested = False
        for project in self.opened():
            with self._changed:
                unused = self._clock.monotonic() - project.used
                settles = unused >= _SETTLE_S and project.settled < project.used
                rests = unused >= _REST_S and project.rested < project.used
                if not (settles or rests) or not self._take(project):
                    continue
            try:
                if rests:
                    project.engine.rest()
                    project.rested = project.used
                    has_rested = True
                else:
                    project.engine.settle()
                project.settled = project.used
            finally:
                self._release(project.store)
        now = self._clock.monotonic()
        # With many in turn, one is closed every second, and there is never a pause.
        is_due = self._closed_at is not None and now - self._released >= _REST_S
        if self._closed_at is not None and now - self._closed_at >= _REST_S:
            # Background work of a closed project has released it.
            self._closed_at = None
            has_rested = True
        used = [project.used for project in self.opened()]
        if (has_rested and not used) or self._may_empty_caches(used):
            # Half of what is left: nothing counts tokens or splits words until the next question.
            self._emptied, has_rested = max(used, default=0.0), True
            memory.release_caches()
        if has_rested or is_due:
            self._released = now
            # What a project worked with refers to itself, and is rarely collected otherwise.
            gc.collect()
            memory.release_memory()

    def _may_empty_caches(self, used: Sequence[float]) -> bool:
        """Return whether the open projects were not asked for long, such as one whose history is being read."""
        last = max(used, default=self._emptied)
        return last > self._emptied and self._clock.monotonic() - last >= _CACHES_S

    def _take(self, project: Project) -> bool:
        """Take an unused project out of the pool; the caller holds the lock."""
        if project.users or project.store in self._taken or self._open.get(project.store) is not project:
            return False
        self._taken.add(project.store)
        return True

    def close(self) -> None:
        """Close everything, as soon as it is free; what does not get free is left to the store's own log."""
        for project in self.opened():
            try:
                with self.exclusive(project.store):
                    continue
            except StoreBusyError as error:
                _log.warning("%s", error.message)


def _signature(root: Path, store: Path) -> Signature:
    """Return what an open project stands on; another one means to open it again."""
    return tuple(
        _stamp(path, whole=whole)
        for path, whole in (
            (root, False),
            (projects.store_file(store), False),
            (paths.config_file(), True),
            (paths.project_config_file(root), True),
            (paths.trust_file(), True),
        )
    )


def _stamp(path: Path, *, whole: bool) -> object:
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino, *((found.st_mtime_ns, found.st_size) if whole else ()))
