"""The engines that an MCP server asks, each opened when it is first needed."""

from __future__ import annotations

import threading
from pathlib import Path

from cm_tui.daemon.open_engine import open_engine, uses_daemon
from cm_tui.engine.api import projects
from cm_tui.engine.api.engine import Engine
from cm_tui.errors import StoreBusyError


class EnginePool:
    """Engines by project, through the daemon where one is used.

    Args:
        default: folder of the project that is meant when a call names none; the current one when not given.
    """

    def __init__(self, default: Path | None = None) -> None:
        self._default = (default or Path.cwd()).absolute()
        self._open: dict[Path, tuple[Path, Engine]] = {}
        self._opening = threading.Lock()

    def __call__(self, project: str | None) -> Engine:
        """The engine of the project around a folder.

        Raises:
            StoreBusyError: another checkout of the same repository is open here, without a daemon to share its index.
            CmError: the project cannot be opened.
        """
        folder = Path(project) if project else self._default
        with self._opening:
            root, store = projects.locate(folder)
            if root not in self._open:
                self._refuse_shared(root, store)
                self._open[root] = store, open_engine(folder)
            return self._open[root][1]

    def _refuse_shared(self, root: Path, store: Path) -> None:
        others = [other for other, (held, _) in self._open.items() if held == store]
        if others and not uses_daemon():
            raise StoreBusyError(
                f"{root} shares its index with {others[0]}, which is open here.",
                hint="Start another server in that folder.",
            )

    def close(self) -> None:
        """Let go of every project."""
        with self._opening:
            for _, engine in self._open.values():
                engine.close()
            self._open.clear()
