"""The daemon's work on journals of projects: indexing edited files and recording sessions that stopped."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.errors import CmError

if TYPE_CHECKING:
    from cm_tui.daemon.dispatcher import Dispatcher
    from cm_tui.engine.memory.projection.journal_consumer import JournalConsumer, Source

_LEAVE_S = 5.0
"""How long the end waits for what is being passed on."""
_log = logging.getLogger(__name__)


@dataclass
class _News:
    """What of a checkout is to be indexed, as far as it was not passed on yet."""

    files: dict[str, None] = field(default_factory=dict)
    everything: bool = False
    source: Source = "agent hooks"

    def add(self, files: Sequence[str], source: Source) -> None:
        """Add these files, or (there are none) everything that changed; of several sources it is git that asks for most."""
        self.files |= dict.fromkeys(files)
        self.everything = self.everything or not files
        self.source = source if source == "git hooks" else self.source


class JournalWork:
    """Follows the journals while the daemon runs.

    A nudge returns at once: each checkout has a thread that submits the index work, because it may have to wait for a
    store that another checkout uses.
    """

    def __init__(self) -> None:
        self._consumer: JournalConsumer | None = None
        self._dispatcher: Dispatcher | None = None
        self._lock = threading.Lock()
        self._news: dict[Path, _News] = {}
        self._threads: dict[Path, threading.Thread] = {}
        self._closed = False

    def start(self, dispatcher: Dispatcher) -> None:
        """Begin: the daemon answers from now on."""
        from cm_tui.engine.memory.importers.details import with_details
        from cm_tui.engine.memory.projection.journal_consumer import JournalConsumer

        self._dispatcher = dispatcher
        self._consumer = JournalConsumer(self._add, with_details)

    def on_nudge(self, root: Path) -> None:
        """Note that the journal of the project at this root has news."""
        if self._consumer is not None:
            self._consumer.on_nudge(root)

    def close(self) -> None:
        """End: what is under way is finished; what is not indexed yet is found again by the next check of the project."""
        with self._lock:
            self._closed = True
            threads = list(self._threads.values())
        if self._consumer is not None:
            self._consumer.close()
        for thread in threads:
            thread.join(_LEAVE_S)

    def _add(self, root: Path, files: Sequence[str], source: Source) -> None:
        with self._lock:
            if self._closed:
                return
            self._news.setdefault(root, _News()).add(files, source)
            if root not in self._threads:
                thread = threading.Thread(target=self._pass_on, args=(root,), name="cm-journal", daemon=True)
                self._threads[root] = thread
                thread.start()

    def _pass_on(self, root: Path) -> None:
        """Pass on the news of a checkout until there are none."""
        while True:
            with self._lock:
                news = self._news.pop(root, None)
                if news is None or self._closed:
                    del self._threads[root]
                    return
            assert self._dispatcher is not None
            try:
                self._dispatcher.signal(root, news.source, [] if news.everything else list(news.files))
            except CmError as error:
                _log.warning("indexing %s after a hook: %s", root, error.message)
            except Exception:  # noqa: BLE001 - kept in the log
                # The next edit is to have its run whatever became of this one.
                _log.exception("indexing %s after a hook", root)
