"""What touches a project's store as a whole: checked, searched for secrets, erased from, removed, with all other work out of the way."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from cm_tui import paths
from cm_tui.config import load_config
from cm_tui.daemon.events import Events
from cm_tui.daemon.jobs import Jobs
from cm_tui.daemon.long_work import LongWork
from cm_tui.daemon.project_pool import ProjectPool
from cm_tui.daemon.rpc import ProjectRef
from cm_tui.daemon.sync_manager import SyncManager
from cm_tui.engine.api import projects, worktree_stores
from cm_tui.engine.api.engine import Engine
from cm_tui.errors import RefusedError
from cm_tui.model import Check, ErasureReport, PurgeReport, SecretsReport


class Upkeep:
    """Keeps the stores of all projects in order.

    `pool`: where engines are opened; `jobs`: long work, ended before its store goes; `events`: told what changed;
    `work`: reading of history, ended as well; `sync_manager`: following of changes, ended as well.
    """

    def __init__(
        self, pool: ProjectPool, jobs: Jobs, events: Events, work: LongWork, sync_manager: SyncManager
    ) -> None:
        self._pool = pool
        self._jobs = jobs
        self._events = events
        self._work = work
        self._sync_manager = sync_manager

    def examine(self, where: ProjectRef, *, full: bool = False) -> tuple[Check, ...]:
        """Check a project, also one that does not open. `full`: as for the engine's `doctor`."""
        where = replace(where, force=True)

        def check() -> tuple[Check, ...]:
            with self._pool.acquire(where) as project:
                return project.engine.doctor(full=full)

        return projects.examine(lambda: self._pool.locate(where)[0], check)

    def secrets(self, store: str) -> SecretsReport:
        """Look for secrets in what is stored of a project.

        `store`: name of its folders, as in `projects.all_names()`. Raises RefusedError if it is no such name; StoreError if
        something cannot be read.
        """
        folder = _store_of(store)
        for project in self._pool.opened():
            if project.store == folder:
                with self._pool.acquire(ProjectRef(str(project.root), force=True)) as same:
                    return same.engine.secrets()
        with self._pool.exclusive(folder):
            return projects.scan_store(store)

    def remove(self, store: str, *, drop_episodes: bool = False) -> None:
        """Remove a store, after ending what is done with it.

        `store`: name of its folder, as in `projects.all_stores()`; `drop_episodes`: also what agents' sessions recorded.
        Raises RefusedError if it is no name of a store.
        """
        folder = _store_of(store)
        with ExitStack() as stack:
            for one in (folder, *worktree_stores.copies_of(folder)):
                self._end_runs(one)
                self._work.end_history(one)
                stack.enter_context(self._pool.exclusive(one))
            if drop_episodes:
                projects.drop_episodes(store)
            projects.remove_store(folder)

    def _end_runs(self, store: Path) -> None:
        """End the index runs of a store, and the following of its files."""
        for job in self._jobs.of(store):
            job.cancel.set()
        self._sync_manager.drop(store)
        for job in self._jobs.of(store):
            job.cancel.set()
            job.join()

    def reset(self, where: ProjectRef, *, drop_episodes: bool = False) -> None:
        """Remove a project's store, and tell listeners. `drop_episodes`: as for `remove`."""
        root, store = self._pool.locate(where)
        self.remove(paths.project_store(store).name, drop_episodes=drop_episodes)
        self._events.publish("index", project=str(root))

    def erase(self, name: str, where: ProjectRef, values: dict[str, Any]) -> ErasureReport | PurgeReport:
        """Erase or purge with the store out of everybody's reach: what an open engine remembers goes with it.

        `name`: of the engine's method; `values`: arguments of the method.
        """
        root, store = self._pool.locate(where)
        store = paths.project_store(store)
        self._work.end_history(store)
        with ExitStack() as stack:
            stack.enter_context(self._pool.exclusive(store))
            for copy in worktree_stores.copies_of(store):
                self._end_runs(copy)
                self._work.end_history(copy)
                stack.enter_context(self._pool.exclusive(copy))
            engine = stack.enter_context(closing(Engine(root, store, load_config(root))))
            report: ErasureReport | PurgeReport = getattr(engine, name)(**values)
            wants_history = engine.wants_history()
        if wants_history:
            self._work.catch_up(where)
        self._events.publish("index", project=str(root))
        return report


def _store_of(name: str) -> Path:
    if Path(name).name != name or name in ("", ".", "..") or "\0" in name:
        raise RefusedError(f"{name!r} is not the name of an index folder.")
    return paths.data_dir() / "projects" / name


TASKS: dict[str, TypeAdapter[Any]] = {
    # Here, as the names of types in a signature are looked up where this is called.
    name: TypeAdapter(vars(Upkeep)[name])
    for name in ("examine", "secrets", "remove")
}
"""Methods that clients may call, which check the types of their arguments."""
