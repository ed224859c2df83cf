"""What the daemon does with the journals of projects: it indexes what was edited, and records sessions that stopped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cm_tui.daemon.dispatcher import Dispatcher
    from cm_tui.engine.memory.journal_consumer import JournalConsumer


class JournalWork:
    """Follows the journals, from when the daemon answers until it ends."""

    def __init__(self) -> None:
        self._consumer: JournalConsumer | None = None

    def start(self, dispatcher: Dispatcher) -> None:
        """Begin: the daemon answers from now on."""
        from cm_tui.engine.memory.journal_consumer import JournalConsumer

        self._consumer = JournalConsumer(lambda root, files, source: dispatcher.signal(root, source, files))

    def on_nudge(self, root: Path) -> None:
        """Note that the journal of the project at this root has news."""
        if self._consumer is not None:
            self._consumer.on_nudge(root)

    def close(self) -> None:
        """End: what is under way is finished."""
        if self._consumer is not None:
            self._consumer.close()
