"""Shared parts of the engine's methods: root, store and settings, and services built on demand.

The daemon's clients import the engine's methods only for their signatures: bodies import what they need, and create
records as `model.NAME`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from cm_tui import model
from cm_tui.engine.api import projects, worktree_stores
from cm_tui.engine.api.needs import in_process
from cm_tui.engine.platform.lazy import is_built, shared_property

if TYPE_CHECKING:
    from cm_tui.config import Config
    from cm_tui.engine.code.graph.graph import Graph
    from cm_tui.engine.code.history.time_travel import HistoricalView
    from cm_tui.engine.code.index.files import FileView
    from cm_tui.engine.context.assembly.snapshots import Snapshots
    from cm_tui.engine.context.definitions.library import Library
    from cm_tui.engine.memory.entries.entries import Entries
    from cm_tui.engine.memory.episodes.episodes import Episodes
    from cm_tui.engine.memory.mentions.mention_index import MentionIndex
    from cm_tui.engine.memory.mentions.report import StaleReport
    from cm_tui.engine.memory.recalls.recall_log import RecallLog
    from cm_tui.engine.platform.git.repository import Repository
    from cm_tui.engine.platform.journal.journal import Journal
    from cm_tui.engine.platform.store.database import Database
    from cm_tui.engine.search.embed.provider import Provider
    from cm_tui.engine.search.ranking.pipeline import Searcher
    from cm_tui.engine.search.ranking.stale import Flag
    from cm_tui.engine.search.tuning.mark_file import MarkFile
    from cm_tui.engine.search.vectors.by_source import ProjectVectors
    from cm_tui.model.freshness import LayerState


P = ParamSpec("P")
R = TypeVar("R")

_BESIDE_S = 30.0
"""Time that an index run or history import spends on names; the next one continues."""
_LONG_S = 1.0
"""A request that waits less leaves a long update to background work."""
_HAS_MEMORIES = "SELECT EXISTS (FROM passage WHERE source <> 'code') OR EXISTS (FROM mention_item)"

ExternalLayers = Callable[[Path], "Sequence[LayerState]"]


def of_one_generation(method: Callable[P, R]) -> Callable[P, R]:
    """Serve a request from one state of the index, and put its number into the response if it has a field for it.

    A request for an earlier revision reads git's history, which does not change.
    """

    @wraps(method)
    def ask(*args: P.args, **values: P.kwargs) -> R:
        if values.get("at") is not None:
            return method(*args, **values)
        rooms: Any = args[0]
        found: R = rooms._of_one_generation(lambda: method(*args, **values))  # noqa: SLF001 - our own class
        return found

    return ask


class EngineBase:
    """An open store and the services on it.

    Args:
        root: the project's root folder.
        store: folder of its store.
        config: its settings.
        external_layers: returns the state of what keeps a root fresh from outside, such as git hooks.
        reads_beside: a long journal is read in the background by a long-lived process; until then lists cover the
            newest episodes.

    Raises:
        StoreBusyError: another process has the store.
        StoreError: it cannot be opened.
    """

    def __init__(
        self,
        root: Path,
        store: Path,
        config: Config,
        external_layers: ExternalLayers = lambda _: (),
        *,
        reads_beside: bool = False,
    ) -> None:
        from cm_tui.engine.platform.store.database import Database

        self._root = root
        self.store = store
        self.config = config
        self._external_layers = external_layers
        self._reads_beside = reads_beside
        self._build_lock = threading.RLock()
        self._is_new = not projects.store_file(store).exists()
        self._closed = False
        self._db: Database = Database(store)
        self._empty_at: int | None = None
        """State of the store in which it had no memories."""
        worktree_stores.mark_used(store)

    @property
    def root(self) -> Path:
        """Return the project's root folder."""
        return self._root

    @property
    def generation(self) -> int:
        """Return the state of the index for a request made now."""
        return self._db.generations.current

    @property
    def read_only_note(self) -> str:
        """Return a note if the store is read-only; empty: it is writable."""
        if not self._db.is_read_only:
            return ""
        from cm_tui.engine.platform.store.failures import read_only

        return f"{read_only(self._db.file).message} It is used unchanged, and nothing is saved."

    @property
    def must_reopen(self) -> bool:
        """Return whether the store answers nothing until it is opened again, as after a write on a full disk."""
        return self._db.must_reopen

    @property
    def uses_daemon(self) -> bool:
        """Return False: this engine uses the store directly."""
        return False

    @property
    def own_jobs(self) -> set[str]:
        """Return nothing: without a daemon there are no jobs."""
        return set()

    @in_process
    def close(self) -> None:
        """Close the store; one that was created for requests alone and holds nothing is removed."""
        if self._closed:
            return
        self._closed = True
        self._close_parts()
        unused = (
            self._is_new
            and not (self._db.is_read_only or self._db.must_reopen)
            and not self._db.value("SELECT count(*) FROM blob")
            and not self._db.get_meta("indexed_at")
            and not self._db.value("SELECT count(*) FROM narrator_turn")
        )
        self._db.close()
        if unused:
            projects.clear_store(self.store)

    @in_process
    def settle(self) -> None:
        """Return to the system what the last requests took and no longer use; caches stay."""
        self._db.settle()

    @in_process
    def rest(self) -> None:
        """Release caches."""
        self._db.settle()
        self._db.shrink()
        self._db.release_blocks()

    def _of_one_generation(self, answer: Callable[[], R]) -> R:
        """Return a response read from one state of the index, with its number if it has a field for it."""
        with self._db.reading() as number:
            found: Any = answer()
        named: R = replace(found, generation=number) if hasattr(found, "generation") else found
        return named

    def _close_parts(self) -> None:
        """Stop background work."""
        if is_built(self, "_searcher"):
            self._searcher.close()
        if is_built(self, "_episodes"):
            self._episodes.close()

    @shared_property
    def _repository(self) -> Repository:
        from cm_tui.engine.platform.git.repository import Repository

        return Repository(self._root, self.store / "shadow")

    @shared_property
    def _graph(self) -> Graph:
        from cm_tui.engine.code.graph.graph import Graph
        from cm_tui.engine.code.scan.content_reader import ContentReader

        return Graph(self._db, ContentReader(self._repository).text)

    def _read_text(self, path: str, oid: str) -> str:
        from cm_tui.engine.code.scan.content_reader import ContentReader

        return ContentReader(self._repository).text(path, oid)

    def _file_view(self) -> FileView:
        """Files as one question sees them: the reader's cache must not outlive an edit."""
        from cm_tui.engine.code.index.files import FileView
        from cm_tui.engine.code.scan.content_reader import ContentReader

        return FileView(self._db, ContentReader(self._repository))

    @property
    def _library(self) -> Library:
        """The definitions, rules and pipelines of the project, as their files are now."""
        from cm_tui.engine.context.definitions.library import load

        return load(self._root)

    @property
    def _journal(self) -> Journal:
        from cm_tui.engine.platform.journal.journal import Journal

        return Journal.of(self._root)

    @shared_property
    def _snapshots(self) -> Snapshots:
        from cm_tui.engine.context.assembly.snapshots import Snapshots

        return Snapshots(self._root, self.config.context.snapshots)

    def _entries(self) -> Entries:
        from cm_tui.engine.memory.entries.entries import Entries

        return Entries(self._root)

    def _why_not_recorded(self, session: str = "") -> str:
        """Return why nothing of a session is recorded now; empty: it is."""
        from cm_tui.engine.memory.recording.gate import why_not

        return why_not(self._root, session)

    def _read_journal(self, wait: float | None = None) -> str:
        """Let searches see what was recorded; return a note where that takes longer than a query waits.

        `wait`: seconds; None: as long as queries do.
        """
        from cm_tui.engine.memory.projection import episode_sync

        wait = episode_sync.WAIT_S if wait is None else wait
        return episode_sync.sync_before_question(self._db, self._root, self._read_text, wait=wait)

    @shared_property
    def _history(self) -> HistoricalView:
        from cm_tui.engine.code.history.time_travel import HistoricalView

        return HistoricalView(self._db, self._repository, self.config)

    @shared_property
    def _episodes(self) -> Episodes:
        from cm_tui.engine.memory.episodes.episode_tables import EpisodeTables
        from cm_tui.engine.memory.episodes.episodes import Episodes

        tables, revisions = EpisodeTables.of(self._db), self._history.revisions
        return Episodes(self._journal, tables, revisions, self._repository, is_awaited=not self._reads_beside)

    @shared_property
    def _recall_log(self) -> RecallLog:
        from cm_tui.engine.memory.recalls.recall_log import RecallLog

        return RecallLog.of(self._root)

    @shared_property
    def _provider(self) -> Provider:
        from cm_tui.engine.search.embed.choice import provider_for

        return provider_for(self.config.embedding, is_allowed=self._is_still_chosen)

    def _is_still_chosen(self) -> bool:
        """Return whether the current settings still name this model: trust may have been revoked since."""
        from cm_tui.config import load_config

        return load_config(self._root).embedding == self.config.embedding

    @shared_property
    def _vectors(self) -> ProjectVectors:
        from cm_tui.engine.search.embed.choice import fallback_provider_for
        from cm_tui.engine.search.vectors.by_source import ProjectVectors

        fallback = fallback_provider_for(self.config.embedding, is_allowed=self._is_still_chosen)
        return ProjectVectors(self._db, self.store, self._provider, self.config.embedding, fallback=fallback)

    @shared_property
    def _searcher(self) -> Searcher:
        from cm_tui.engine.code.scan import languages
        from cm_tui.engine.search.ranking.pipeline import Searcher

        return Searcher(
            self._db, None, self.config, sides=self._vectors.of, root=self._root, languages=languages.called(),
            flags_of=self._flags_of, marks_of=self._mark_file.of,
        )  # fmt: skip

    def _flags_of(self, paths: Iterable[str]) -> Mapping[str, Flag]:
        return self._stale_report.flags(paths)

    @shared_property
    def _mark_file(self) -> MarkFile:
        from cm_tui.engine.search.tuning.mark_file import MarkFile

        return MarkFile(self._root)

    @shared_property
    def _stale_report(self) -> StaleReport:
        from cm_tui.engine.memory.mentions.report import StaleReport

        return StaleReport(self._db, self._history.commits)

    @shared_property
    def _mentions(self) -> MentionIndex:
        from cm_tui.engine.memory.mentions.mention_index import Confirmations, MentionIndex
        from cm_tui.engine.memory.mentions.mention_rows import WrittenCommits

        commits, confirmed = WrittenCommits(self._db, self._root), Confirmations(self._episodes)
        return MentionIndex(
            self._db, self._repository, self._history.revisions, self._read_text, commits.of, confirmed.all
        )

    def _follow_mentions(self, wait: float = 0.0) -> None:
        """Update mentions from the files, the history and the memory, unless another process writes.

        `wait`: seconds that it may take.
        """
        from cm_tui.engine.platform.store.writer_lock import WriterLock

        if self._mentions_are_due() and not (wait < _LONG_S and self._mentions.is_far_behind()):
            with WriterLock.of(self._db).question_within(wait) as is_held:
                if is_held:
                    self._mentions.sync(wait)

    def _follow_mentions_in_slices(self, cancel: model.Cancel | None) -> None:
        """Do the same for an index run or history import, in pieces between which others write."""
        pieces = self._mentions_in_pieces(cancel or model.Cancel())
        # Whether there are any is known once the journal was read, which may take longer than this.
        is_done, until = next(pieces, True), time.monotonic() + _BESIDE_S
        while not is_done and time.monotonic() < until:
            is_done = next(pieces, True)

    def _mentions_in_pieces(self, cancel: model.Cancel) -> Iterator[bool]:
        """Do the same for background work, a piece at a time; yield whether that was all."""
        from cm_tui.engine.platform.store.writer_lock import WriterLock

        is_whole = not self._mentions_are_due()
        yield is_whole
        while not is_whole:
            with WriterLock.of(self._db).batch(cancel, of_run=True):
                is_whole = self._mentions.sync_some()
            cancel.check()
            yield is_whole

    def _without_forgotten(self, result: model.SearchResult) -> model.SearchResult:
        """Remove episodes and entries from a response that were forgotten while passages could not be written."""
        from cm_tui.engine.memory.projection import entry_source, episode_source

        sources = {hit.source for hit in (*result.hits, *result.beside)}
        gone = (
            {episode_source.path_of(id_) for id_ in self._episodes.forgotten()} if model.EPISODES in sources else set()
        )
        every = self._entries().all().entries if model.ENTRIES in sources else ()
        recalled = {entry_source.path_of(one.id) for one in every if not (one.held or one.never_recall)}

        def is_known(hit: model.Hit) -> bool:
            return hit.path in recalled if hit.source == model.ENTRIES else hit.path not in gone

        hits, beside = (tuple(filter(is_known, found)) for found in (result.hits, result.beside))
        return replace(result, hits=hits, beside=beside)

    def _mentions_are_due(self) -> bool:
        db = self._db
        if db.is_read_only or not db.get_meta("indexed_at"):
            return False
        if is_built(self, "_mentions"):
            return self._mentions.has_changed()
        # Most projects begin without memories: the parts that compare them with the history are not loaded then.
        state = db.state
        if state is None or state != self._empty_at:
            if db.value(_HAS_MEMORIES):
                return self._mentions.has_changed()
            self._empty_at = state
        return False

    def _inside(self, path: str) -> str:
        """A path as the index has it: relative to the root."""
        from cm_tui.engine.code.index.files import relative

        return relative(self._root, path)
