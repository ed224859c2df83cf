"""The engines that an MCP server asks, each opened when it is first needed."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from cm_tui.daemon import bootstrap
from cm_tui.daemon.daemon_use import uses_daemon
from cm_tui.daemon.open_engine import open_engine, with_edits
from cm_tui.engine.api import projects
from cm_tui.engine.api.engine import Engine
from cm_tui.errors import CmError, RefusedError, StoreBusyError, UsageError
from cm_tui.mcp.access import Access


class EnginePool:
    """Open engines by project, through the daemon where one is used; only granted folders are opened.

    `default`: folder of the default project; None: each call has to name one. `access`: granted folders; by default the
    default's project.
    """

    def __init__(self, default: Path | None, access: Access | None = None) -> None:
        self._default = default.absolute() if default is not None else None
        self._access = access or Access.of_project(self._default or Path.cwd())
        self._open: dict[Path, tuple[Path, Engine]] = {}
        self._opening = threading.Lock()

    def __call__(self, project: str | None, client_folders: Sequence[Path] = ()) -> Engine:
        """The engine of the project around a folder.

        Args:
            project: the folder; None for the default, or for the client's only one.
            client_folders: what the client has open, where it tells: no other project is answered for.

        Raises:
            RefusedError: the project was not given to this server, or the client has others open.
            UsageError: none is named, and it is not clear which one is meant.
            StoreBusyError: another checkout of the same repository is open here, without a daemon to share its index.
            CmError: the project cannot be opened.
        """
        root = self._root(project, client_folders)
        with self._opening:
            if root not in self._open:
                store = projects.locate(root)[1]
                self._refuse_shared(root, store)
                self._open[root] = store, self._opened(root)
            return self._open[root][1]

    def warm_up(self) -> None:
        """Let the daemon prepare the default project for the first request, in the background.

        Without an index nothing is done. Errors are ignored: the request reports them.
        """
        if self._default is not None and uses_daemon():
            # Not a daemon thread: one that is inside a library while the process ends makes it abort.
            threading.Thread(target=self._announce, name="cm-warm-up").start()

    def _announce(self) -> None:
        with suppress(CmError, OSError):
            root = self._root(None, ())
            if projects.is_indexed(root):
                bootstrap.notify(self(None).root)

    def _root(self, project: str | None, client_folders: Sequence[Path]) -> Path:
        shared = self._shared(client_folders)
        if client_folders and not shared:
            raise self._access.refusal(client_folders[0])
        if project is not None:
            root = self._access.root_of(Path(project))
            if client_folders and projects.reach(root, shared) != "given":
                raise RefusedError(
                    f"{root} is not open in this client.", hint=f"It has {', '.join(map(str, shared))} open."
                )
            return root
        if len(shared) > 1:
            raise UsageError(
                "This client has several folders open: `project` is required.",
                hint=f"Use one of {', '.join(map(str, shared))}.",
            )
        if shared:
            return shared[0]
        if self._default is None:
            raise UsageError("`project` is required: this server serves several.", hint="Give it as an absolute path.")
        return self._access.root_of(self._default)

    def _shared(self, client_folders: Sequence[Path]) -> list[Path]:
        """What was given and the client has open too: the narrower one of both."""
        found: list[Path] = []
        for folder in client_folders:
            try:
                found.append(self._access.root_of(folder))
            except CmError:
                # The client's is the wider one, such as a folder of many projects.
                around = Path(os.path.realpath(folder))
                found += [one for one in self._access.folders if one.is_relative_to(around)]
        return list(dict.fromkeys(found))

    def _opened(self, root: Path) -> Engine:
        engine = open_engine(root, own_index=True)
        if engine.root != root:
            # The folder became part of another project since it was looked at.
            engine.close()
            raise self._access.refusal(root)
        return with_edits(engine, "codememory_ingest")

    def _refuse_shared(self, root: Path, store: Path) -> None:
        others = [other for other, (held, _) in self._open.items() if held == store]
        if others and not uses_daemon():
            raise StoreBusyError(
                f"{root} shares its index with {others[0]}, which is open here.",
                hint="Start another server in that folder.",
            )

    def close(self) -> None:
        """Close every project."""
        with self._opening:
            for _, engine in self._open.values():
                engine.close()
            self._open.clear()
