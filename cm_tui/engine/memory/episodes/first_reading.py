"""Reading a long journal in the background: until it is done, lists show the newest episodes.

After a large import, reading takes minutes. The latest events are at the end of the journal, and so are all edits
since: tables in memory that begin there are right about the episodes that they have.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import NamedTuple

from cm_tui.engine.memory.episodes.episode_index import EpisodeIndex
from cm_tui.engine.memory.episodes.episode_lists import EpisodeLists, ShaOf
from cm_tui.engine.memory.episodes.episode_tables import EpisodeTables
from cm_tui.engine.platform.journal.journal import Journal, bytes_after, near_end
from cm_tui.errors import CmError

_AT_ONCE = 2_000_000
"""Bytes of the journal that a question reads before it is answered: less than half a second."""
_WORK_S, _REST_S = 0.02, 0.005
"""Pause after each stretch of work, so that requests soon get the interpreter."""
_LEAVE_S = 30.0
_log = logging.getLogger(__name__)


class Read(NamedTuple):
    """The part read so far."""

    tables: EpisodeTables
    lists: EpisodeLists
    note: str
    """A message for the user with a response from it."""
    is_part: bool = False


class FirstReading:
    """Updates the tables of a store from the journal.

    `index`: reads into the tables; `sha_of`: returns the mainline commit of an ordinal; `is_awaited`: whether a request
    waits until all is read, however long that takes.
    """

    def __init__(
        self, index: EpisodeIndex, tables: EpisodeTables, journal: Journal, sha_of: ShaOf, *, is_awaited: bool
    ) -> None:
        self._index = index
        self._tables = tables
        self._journal = journal
        self._sha_of = sha_of
        self._is_awaited = is_awaited
        self._all = EpisodeLists(tables, sha_of)
        self._newest: tuple[EpisodeIndex, EpisodeTables, EpisodeLists] | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._rested = 0.0

    def all(self) -> Read:
        """Read everything.

        Raises StoreError if the journal cannot be read, or the store cannot be written.
        """
        return Read(self._tables, self._all, self._index.follow().note)

    def now(self) -> Read:
        """Read what is quick to read; of more, the newest now and the rest in the background.

        Raises StoreError as `all`.
        """
        if self._is_awaited or not self._begin():
            return self.all()
        with self._lock:
            newest = self._newest
            if newest is None:
                begin = near_end(self._journal, _AT_ONCE)
                tables = EpisodeTables(None)
                index = EpisodeIndex(tables, self._journal, begin)
                newest = self._newest = (index, tables, EpisodeLists(tables, self._sha_of))
            index, tables, lists = newest
            index.follow()
        return Read(tables, lists, self._note(tables), is_part=True)

    def close(self) -> None:
        """Stop reading; the next reading continues there."""
        self._ending.set()
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(_LEAVE_S)

    def _begin(self) -> bool:
        """Return whether the background reads, which begins where there is much to read."""
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                return True
            if self._ending.is_set() or bytes_after(self._journal, self._index.read_to()) <= _AT_ONCE:
                self._newest = None
                return False
            self._thread = threading.Thread(target=self._read, name="cm-episodes", daemon=True)
            self._thread.start()
            return True

    def _read(self) -> None:
        try:
            self._index.follow(self._may_continue)
        except CmError as error:
            # The next request meets it too, and reports it.
            _log.warning("reading the journal: %s", error.message)
            self._is_awaited = True
        except Exception:  # noqa: BLE001 - logged
            _log.exception("reading the journal")
            self._is_awaited = True

    def _may_continue(self) -> bool:
        """Rest now and then; False once it is to end."""
        if time.thread_time() - self._rested > _WORK_S:
            time.sleep(_REST_S)
            self._rested = time.thread_time()
        return not self._ending.is_set()

    def _note(self, tables: EpisodeTables) -> str:
        whole, left = bytes_after(self._journal), bytes_after(self._journal, self._index.read_to())
        there = tables.row("SELECT count(*) FROM episode")[0]
        return (
            f"Still reading, {max(0, whole - left) / 1e6:,.0f} of {whole / 1e6:,.0f} MB: "
            f"only the newest {there:,} are listed and counted so far."
        )
