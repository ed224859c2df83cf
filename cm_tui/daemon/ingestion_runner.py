"""What the daemon does for pipelines: soon after something happened in a project that has some, it runs them."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.clock import SYSTEM, Clock
from cm_tui.config import load_config
from cm_tui.daemon.project_follower import ProjectFollower
from cm_tui.daemon.rpc import ProjectRef
from cm_tui.engine.context.definitions.definition_files import has_files
from cm_tui.engine.platform.journal.journal import START, Journal

if TYPE_CHECKING:
    from cm_tui.engine.platform.journal.event import Position

INTERVAL_S = 3.0
"""Between two looks at whether something happened."""
QUIET_S = 120.0
"""After so long pipelines are run though nothing happened: sessions end by being quiet, too."""
_CLIENT = "ingestion"
_log = logging.getLogger(__name__)


class IngestionRunner(ProjectFollower):
    """Runs pipelines of projects. `interval_s`: seconds between two rounds; `clock`: measures them."""

    def __init__(self, interval_s: float = INTERVAL_S, clock: Clock = SYSTEM) -> None:
        super().__init__("running the pipelines of", "cm-ingestion", interval_s, clock)
        self._seen: dict[Path, tuple[Position | None, float]] = {}
        """How far each journal went when its project's pipelines ran last, and when that was."""

    def forget(self, root: Path) -> None:
        """Drop what is known of a project that is no longer followed."""
        super().forget(root)
        self._seen.pop(root, None)

    def visit(self, root: Path) -> None:
        """Run a project's pipelines if they are due."""
        if self._is_due(root):
            self._run(root)

    def _is_due(self, root: Path) -> bool:
        """Return whether a project has pipelines, and something happened, or long enough nothing did."""
        if not root.is_dir() or not _has_pipelines(root):
            return False
        end, last = Journal.of(root).end(), self._seen.get(root, (None, 0.0))
        if end == START or (end == last[0] and self._clock.monotonic() - last[1] < QUIET_S):
            return False
        return load_config(root).context.ingest

    def _run(self, root: Path) -> None:
        at = Journal.of(root).end()
        done = self.dispatcher.call("ingest_pending", ProjectRef(str(root), force=True), {}, client=_CLIENT)
        # What came meanwhile is looked at next time; what the pipelines wrote themselves is nothing new.
        self._seen[root] = at if not done else None, self._clock.monotonic()
        failed = sum(one["outcome"] == "failed" for one in done) if isinstance(done, list) else 0
        if done:
            _log.info("%s: pipelines ran %d times, %d failed", root, len(done), failed)


def _has_pipelines(root: Path) -> bool:
    """Return whether a project has pipelines that may run."""
    if not has_files(root, "ingestion"):
        return False
    # Most projects have none, and a daemon that starts has a prompt to answer first.
    from cm_tui.engine.context.definitions.library import load

    return any(one.value.enabled and not one.is_held for one in load(root).pipelines)
