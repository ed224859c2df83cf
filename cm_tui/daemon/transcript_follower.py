"""What the daemon does with agents' transcripts: of projects that a person imported sessions into, it follows the next ones."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.clock import SYSTEM, Clock
from cm_tui.config import load_config
from cm_tui.daemon.project_follower import INTERVAL_S, ProjectFollower
from cm_tui.model import Cancel

if TYPE_CHECKING:
    from cm_tui.engine.memory.importers.run import Follower

_log = logging.getLogger(__name__)


class TranscriptFollower(ProjectFollower):
    """Follows the transcripts of projects.

    `interval_s`: seconds between two rounds; `clock`: measures them.
    """

    def __init__(self, interval_s: float = INTERVAL_S, clock: Clock = SYSTEM) -> None:
        super().__init__("following the sessions of", "cm-transcripts", interval_s, clock)
        self._followers: dict[Path, Follower] = {}
        self._cancel = Cancel()

    def forget(self, root: Path) -> None:
        """Drop what is known of a project that is no longer followed."""
        super().forget(root)
        self._followers.pop(root, None)

    def close(self) -> None:
        """End; what was not taken yet is taken by the next daemon, or the next import."""
        self._cancel.set()
        super().close()

    def visit(self, root: Path) -> None:
        """Record the new turns of a project's sessions."""
        if self._take(root):
            self.dispatcher.on_recorded(root)

    def _take(self, root: Path) -> bool:
        """Return whether anything was recorded."""
        from cm_tui.engine.memory.importers.run import Follower, is_wanted

        if not root.is_dir() or not is_wanted(root):
            self._followers.pop(root, None)
            return False
        config = load_config(root)
        if not (config.memory.follow_transcripts and config.agents.record):
            return False
        follower = self._followers.get(root)
        if follower is None:
            follower = self._followers[root] = Follower(root)
        summary = follower.look(self._cancel)
        for note in summary.notes if summary else ():
            _log.info("following the sessions of %s: %s", root, note)
        return summary is not None and summary.episodes > 0
