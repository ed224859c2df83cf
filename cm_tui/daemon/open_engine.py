"""Which engine to take: through the daemon, or straight to the store."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from cm_tui.daemon.daemon_use import Say, is_running, ready, tell, uses_daemon
from cm_tui.engine.api import projects
from cm_tui.engine.api.needs import declaration_of, is_request
from cm_tui.engine.code.freshness import policy
from cm_tui.errors import CmError, NotFoundError, NotIndexedError, StoreReadOnlyError, no_current_folder

if TYPE_CHECKING:
    from cm_tui.daemon.rpc import ProjectRef
    from cm_tui.engine.api.engine import Engine
    from cm_tui.model import LayerState, Need, Progress, SecretsReport


def open_engine(
    folder: Path | None = None,
    *,
    force: bool = False,
    create: bool = True,
    own_index: bool = False,
    say: Say = lambda _: None,
) -> Engine:
    """The engine of the project around a folder (the current one when not given).

    Args:
        folder: a folder or file of it.
        force: insist on a root that is refused as unsafe.
        create: create a missing store.
        own_index: nothing is answered from the index of another checkout that shares the store; without a daemon it is
            brought to this one first.
        say: told when the daemon is not used although it should be, or works with other settings.

    Raises:
        NotIndexedError: there is no index, and `create` is not set.
        RefusedError: the root is unsafe, or what listens in the daemon's place is foreign.
        CmError: the project cannot be opened.
    """
    if uses_daemon() and ready(say):
        from cm_tui.daemon.client import RemoteEngine

        where = replace(where_of(folder, force=force), own_index=own_index)
        return cast("Engine", RemoteEngine(where).open(create=create))
    engine = _open_here(folder, create=create, force=force)
    if engine.read_only_note:
        say(engine.read_only_note)
    if own_index:
        _index_this_checkout(engine)
    return engine


def open_fresh_engine(folder: Path | None = None, *, of_memory: bool = False, say: Say = lambda _: None) -> Engine:
    """Return the engine of the project around a folder, for questions: its index reflects HEAD.

    What needs the files on disk comes with a note on what is not indexed yet, with a daemon or without.

    Args:
        folder: as for `open_engine`.
        of_memory: what is asked is what people and agents left behind: that needs no index.
        say: told the same, and what was done to the index first.

    Raises:
        NotIndexedError: there is no index, nor anything that is remembered where that is asked.
        CmError: the project cannot be opened, or its index cannot be brought up to HEAD.
    """
    engine = open_engine(folder, create=of_memory and projects.has_memory(folder), say=say)
    try:
        if reason := engine.stale_reason():
            _bring_to_head(engine, reason, say)
    except NotIndexedError:
        if not of_memory:
            engine.close()
            raise
    except BaseException:
        engine.close()
        raise
    return with_edits(engine, "`cm index`")


def _bring_to_head(engine: Engine, reason: str, say: Say) -> None:
    say(f"{reason}; bringing the index up to date")
    try:
        for _ in engine.index():
            pass
    except StoreReadOnlyError:
        # That it can only be read was said when it was opened; what it holds is answered all the same.
        say("It could not be updated; results may be outdated.")


def with_edits(engine: Engine, command: str) -> Engine:
    """Return an engine whose responses reflect edited files where they need to, or have a note, as the daemon's do.

    `command`: brings the index up to date, for the note.
    """
    lock = threading.Lock()

    def follow(need: Need) -> str:
        with lock, suppress(NotIndexedError):
            if why := engine.stale_reason() or (engine.follow_edits() if need == "files" else ""):
                return f"The index is behind: {why}; {command} brings it up to date."
        return ""

    return with_check(engine, follow)


def with_check(engine: Engine, check: Callable[[Need], str]) -> Engine:
    """Return an engine that calls `check` before each request that needs HEAD or the files on disk.

    `check`: gets the need, and returns a note for the response. Not called for the daemon, which does that itself.
    """
    return engine if engine.uses_daemon else cast("Engine", _CheckedEngine(engine, check))


class _CheckedEngine:
    """An engine in this process, for `with_check`."""

    def __init__(self, engine: Engine, check: Callable[[Need], str]) -> None:
        self._engine, self._check = engine, check

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._engine, name)
        if not is_request(method) or (declared := declaration_of(method)).need not in ("files", "head"):
            return method

        def ask(*args: Any, **kwargs: Any) -> Any:
            note = self._check(declared.need_of(kwargs))
            try:
                result = method(*args, **kwargs)
            except NotFoundError as error:
                raise policy.noted(error, note) from error
            return policy.with_note(result, note) if note else result

        return ask


def _open_here(folder: Path | None, *, create: bool, force: bool) -> Engine:
    from cm_tui.engine.api.engine import Engine

    if not create and not projects.is_indexed(folder):
        raise NotIndexedError(f"{folder or Path.cwd()} has no index yet.", hint="Run `cm index` first.")
    return Engine.open(folder, force=force, external_layers=_external_layers)


def _external_layers(root: Path) -> tuple[LayerState, ...]:
    from cm_tui.integrations.external_layers import outside_layers

    return outside_layers(root)


def _index_this_checkout(engine: Engine) -> None:
    """Update an index of another checkout to this one; the open store excludes others meanwhile."""
    try:
        if engine.indexed_checkout():
            for _ in engine.index():
                pass
    except BaseException:
        engine.close()
        raise


def rebuild(folder: Path | None = None, *, say: Say = lambda _: None) -> Iterator[Progress]:
    """Throw a project's index away, whole or damaged, and make it again."""
    if uses_daemon() and ready(say):
        from cm_tui.daemon.client import RemoteEngine

        with RemoteEngine(where_of(folder)) as engine:
            yield from cast("Engine", engine).rebuild()
        return
    from cm_tui.engine.api.engine import Engine

    with Engine.open_empty(folder) as engine:
        yield from engine.index(full=True)


def remove(store: Path, *, drop_episodes: bool = False) -> None:
    """Remove a project's store: by the daemon where one runs, which may have it open.

    `store`: its folder, which need not be there; `drop_episodes`: also what agents' sessions recorded of the project.
    Raises StoreBusyError if another process has it; StoreError if it cannot be removed.
    """
    if is_running():
        tell("/v1/upkeep/remove", {"store": store.name, "drop_episodes": drop_episodes}, None)
        return
    if drop_episodes:
        projects.drop_episodes(store.name)
    projects.remove_store(store)


def secrets_of(folder: Path | None, *, say: Say = lambda _: None) -> SecretsReport:
    """Return what looks like a secret in what is stored of a project, including the indexes of its other worktrees.

    Arguments and errors as for `open_engine`; an index of another worktree that cannot be read is noted.
    """
    with closing(open_engine(folder, say=say)) as engine:
        report, root = engine.secrets(), engine.root
    return _with_stores(report, projects.names_beside(root))


def secrets_of_all() -> SecretsReport:
    """Return what looks like a secret in what is stored of all projects; what cannot be looked at is noted."""
    return _with_stores(projects.scan_files(), projects.all_names())


def _with_stores(report: SecretsReport, names: Sequence[str]) -> SecretsReport:
    """Return a report with what is found in the journals and stores of some names."""
    from cm_tui.model import SecretsReport

    reports, notes = [report], []
    through_daemon = is_running()
    for name in names:
        try:
            asked = {"store": name}
            reports.append(
                tell("/v1/upkeep/secrets", asked, SecretsReport) if through_daemon else projects.scan_store(name)
            )
        except CmError as error:
            notes.append(f"{name} could not be read: {error.message}")
    return SecretsReport(
        # Each of them has looked at the files that they share.
        tuple(dict.fromkeys(one for report in reports for one in report.findings)),
        sum(report.in_source for report in reports),
        tuple(dict.fromkeys([*(note for report in reports for note in report.notes), *notes])),
        any(report.interrupted for report in reports),
    )


def where_of(folder: Path | None, *, force: bool = False) -> ProjectRef:
    """Return the reference to a project for the daemon; no folder: the project of the current folder."""
    from cm_tui.daemon.rpc import ProjectRef

    if folder is not None:
        return ProjectRef(str(folder.expanduser().absolute()), force=force)
    try:
        return ProjectRef(str(Path.cwd()), around=True, force=force)
    except OSError as error:
        raise no_current_folder(error) from error
