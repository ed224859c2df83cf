"""Asking a project something before its agent does: the first question loads models and tables; hooks do not wait."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

from cm_tui.clock import SYSTEM, Clock
from cm_tui.config import load_config
from cm_tui.daemon.dispatcher import Dispatcher, engine_of
from cm_tui.daemon.rpc import ProjectRef
from cm_tui.engine.api.assembly import has_definitions
from cm_tui.errors import CmError

AGAIN_S = 600.0
"""A project that was asked so recently is not asked again."""
MOST = 100
_LEAVE_S = 2.0
_GIVE_WAY_S = 5.0
"""Longest wait for requests before what is not needed for a prompt."""
_QUESTION = "where does the program begin, and what does it call"
_BUDGET = 4_000
"""Tokens; with few of them there is no room for callers, and their tables would not be made."""
_log = logging.getLogger(__name__)


class WarmUp:
    """Warms the caches when a hook reports a project for the first time.

    First what a prompt asks for: a pack, or an assembly where files of the project define one. Then an assembly for
    agents that ask for it, once no request is worked on. `clock`: for the time since the last one.
    """

    def __init__(self, clock: Clock = SYSTEM) -> None:
        self._clock = clock
        self._dispatcher: Dispatcher | None = None
        self._lock = threading.Lock()
        self._asked: dict[Path, float] = {}
        self._thread: threading.Thread | None = None

    def start(self, dispatcher: Dispatcher) -> None:
        """Begin: the daemon answers from now on."""
        self._dispatcher = dispatcher

    def on_nudge(self, root: Path) -> None:
        """Note that agents work in the project at this root."""
        now = self._clock.monotonic()
        with self._lock:
            if self._dispatcher is None or now - self._asked.get(root, now - AGAIN_S) < AGAIN_S:
                return
            self._asked = dict(list(self._asked.items())[1 - MOST :]) | {root: now}
            # One at a time: other requests need the processor.
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._warm, args=(root,), name="cm-warm-up", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """End."""
        with self._lock:
            self._dispatcher, thread = None, self._thread
        if thread is not None:
            thread.join(_LEAVE_S)

    def _warm(self, root: Path) -> None:
        dispatcher, where = self._dispatcher, ProjectRef(str(root), own_index=True)
        if dispatcher is None:
            return
        engine = engine_of(dispatcher, where)
        try:
            config = load_config(root)
            if config.agents.budget:
                # Skip projects without an index.
                engine.stale_reason()
                # What is prepared next is that of the current files.
                engine.definitions("main")
                # A prompt that waited for the daemon's start is answered first.
                dispatcher.turns.give_way(_GIVE_WAY_S)
                with dispatcher.pool.acquire(where, create=False) as project:
                    project.engine.prepare_session()
                if config.context.model.enabled or not has_definitions(root):
                    # Its neighbours are read off what is being resolved.
                    engine.pack(_QUESTION, budget=_BUDGET, neighbours=False)
                    # The first prompts need no assembly.
                    dispatcher.turns.give_way(_GIVE_WAY_S)
                # A warm-up must not spend tokens of a language model.
                if not config.context.model.enabled:
                    engine.assemble(_QUESTION, budget=_BUDGET, keep=False)
        except (CmError, OSError) as error:
            _log.info("%s was not asked before its agent is: %s", root, error)
        except Exception:  # noqa: BLE001 - kept in the log
            _log.exception("asking %s before its agent does", root)
