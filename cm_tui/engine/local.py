"""The engine: the only way into the engine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from cm_tui.config import Config, load_config
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.lazy import is_built, reset, shared_property
from cm_tui.engine.store import locations
from cm_tui.errors import CmError
from cm_tui.model import (
    Cancel,
    Candidates,
    Check,
    CommitPoint,
    Drift,
    Edge,
    Episode,
    FileEntry,
    Freshness,
    HistoryStatus,
    ImportEdge,
    IndexPlan,
    Mode,
    Pack,
    PackRequest,
    Page,
    Profile,
    Progress,
    ProjectStatus,
    PruneReport,
    ResolvedRevision,
    SearchResult,
    SkippedFile,
    Source,
    Symbol,
    SymbolChange,
    SymbolHistory,
    SymbolKey,
)

if TYPE_CHECKING:
    from cm_tui.engine.embed import Provider
    from cm_tui.engine.git.repository import Repository
    from cm_tui.engine.graph import Graph
    from cm_tui.engine.history.time_travel import HistoricalView
    from cm_tui.engine.index.indexer import Indexer
    from cm_tui.engine.memory.episodes import Episodes
    from cm_tui.engine.search.pipeline import Searcher
    from cm_tui.engine.store.database import Database
    from cm_tui.engine.vectors import VectorIndex

__all__ = ["Engine", "LocalEngine"]

T = TypeVar("T")


class LocalEngine:
    """The engine to one project on this machine; each method hands on to the room that knows.

    Args:
        root: the project's root folder.
        store: folder of its store.
        config: its settings.

    Raises:
        StoreBusyError: another process has the store.
        StoreError: it cannot be opened.
    """

    locate = staticmethod(locations.locate)
    store_of = staticmethod(locations.store_of)
    store_file = staticmethod(locations.store_file)
    is_indexed = staticmethod(locations.is_indexed)
    remove = staticmethod(locations.remove)
    clear = staticmethod(locations.clear)
    stores = staticmethod(locations.all_stores)

    def __init__(self, root: Path, store: Path, config: Config) -> None:
        from cm_tui.engine.store.database import Database

        self._root = root
        self.store = store
        self.config = config
        self._making = threading.RLock()
        self._is_new = not self.store_file(store).exists()
        self._closed = False
        self._db: Database = Database(store)

    @classmethod
    def open(cls, folder: Path | None = None, *, force: bool = False) -> Self:
        """Open the project around a folder (the current one when not given).

        Raises:
            RefusedError: the root is unsafe and `force` is not set.
            NotFoundError: there is no such folder.
            CmError: its store or settings cannot be read.
        """
        root, store = cls.locate(folder, force=force)
        return cls(root, store, load_config(root))

    @classmethod
    def open_empty(cls, folder: Path | None = None) -> Self:
        """Open the project with an empty store: what was there, whole or damaged, is thrown away."""
        root, store = cls.locate(folder)
        config = load_config(root)
        cls.clear(store)
        return cls(root, store, config)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the store; one that was made for questions alone and holds nothing leaves no trace."""
        if self._closed:
            return
        self._closed = True
        self._stop_reading()
        unused = (
            self._is_new and not self._db.value("SELECT count(*) FROM blob") and not self._db.get_meta("indexed_at")
        )
        self._db.close()
        if unused:
            self.clear(self.store)

    def _stop_reading(self) -> None:
        if is_built(self, "_searcher"):
            self._searcher.close()

    @property
    def root(self) -> Path:
        """The project's root folder."""
        return self._root

    # --- rooms, made when first needed ---

    @shared_property
    def _repository(self) -> Repository:
        from cm_tui.engine.git.repository import Repository

        return Repository(self._root, self.store / "shadow")

    @shared_property
    def _graph(self) -> Graph:
        from cm_tui.engine.graph import Graph
        from cm_tui.engine.scan.content_reader import ContentReader

        return Graph(self._db, ContentReader(self._repository).text)

    @shared_property
    def _past(self) -> HistoricalView:
        from cm_tui.engine.history.time_travel import HistoricalView

        return HistoricalView(self._db, self._repository, self.config)

    @shared_property
    def _episodes(self) -> Episodes:
        from cm_tui.engine.journal import Journal
        from cm_tui.engine.memory.episodes import Episodes

        return Episodes(Journal.of(self._root), self._past.revisions, self._repository)

    @shared_property
    def _provider(self) -> Provider:
        from cm_tui.engine.embed import provider_for

        return provider_for(self.config.embedding)

    @shared_property
    def _vectors(self) -> VectorIndex:
        from cm_tui.engine.vectors import VectorIndex

        return VectorIndex(self._db, self.store, self._provider, entries=self.config.embedding.cache_entries)

    @shared_property
    def _searcher(self) -> Searcher:
        from cm_tui.engine.search.pipeline import Searcher

        return Searcher(self._db, self._vectors, self.config, provider=self._provider, root=self._root)

    # --- the index ---

    def stale_reason(self) -> str:
        """Why the index does not reflect this checkout's HEAD, or nothing.

        Raises:
            NotIndexedError: there is no index yet.
        """
        from cm_tui.engine.status import stale_reason

        return stale_reason(self._db, self._root, self._repository)

    def indexed_checkout(self) -> str:
        """Root of the clone or worktree that the index reflects, when that is not this one."""
        from cm_tui.engine.status import indexed_checkout

        return indexed_checkout(self._db, self._root)

    def freshness(self) -> Freshness:
        """What is behind, as far as HEAD tells; without a daemon nothing watches."""
        from cm_tui.integrations.external_layers import unwatched

        return unwatched(self._root, self.stale_reason(), self._db.get_meta("indexed_at"))

    def status(self) -> ProjectStatus:
        """The project and its index at a glance."""
        from cm_tui.engine.status import status

        return status(self._db, self._root, self._repository, self._vectors, self._provider)

    def plan(self, *, full: bool = False, since: str | None = None) -> IndexPlan:
        """What `index` would do, without doing it."""
        return self._indexer().plan(full=full, since=since)

    def index(
        self, *, full: bool = False, since: str | None = None, paths: Sequence[str] = (), cancel: Cancel | None = None
    ) -> Iterator[Progress]:
        """Bring the index up to the working tree; `paths` alone when given. The last step carries the summary."""
        inside = [self._inside(path) for path in paths]
        yield from self._indexer().run(full=full, since=since, paths=inside, cancel=cancel)

    def rebuild(self, *, cancel: Cancel | None = None) -> Iterator[Progress]:
        """Throw the index away and make it again."""
        self._begin_anew(self.clear)
        yield from self._indexer().run(full=True, cancel=cancel)

    def reset(self) -> None:
        """Remove the project's index; the engine stays open on an empty one."""
        self._begin_anew(self.remove)

    def _begin_anew(self, remove: Callable[[Path], None]) -> None:
        from cm_tui.engine.store.database import Database

        self._stop_reading()
        self._db.close()
        reset(self, keep=("_provider",))
        remove(self.store)
        self._is_new = True
        self._db = Database(self.store)

    def doctor(self) -> tuple[Check, ...]:
        """Check model, extension, grammars, compiled parts, store and versions."""
        from cm_tui.engine.doctor import examine, examine_store

        return (*examine(self._root), *examine_store(self._db, self._vectors))

    @classmethod
    def examine(cls, folder: Path | None = None) -> tuple[Check, ...]:
        """The same for a project that may not open: what is wrong with its store is one of the findings."""
        root, _ = cls.locate(folder, force=True)
        try:
            with cls.open(folder, force=True) as engine:
                return engine.doctor()
        except CmError as error:
            return cls.checks_without_store(root, error)

    @staticmethod
    def checks_without_store(root: Path, error: CmError) -> tuple[Check, ...]:
        """What can be checked without the store of a root, and why that did not open."""
        from cm_tui.engine.doctor import examine

        return (*examine(root), Check("store", "failed", error.message, error.hint))

    # --- search ---

    def search(
        self, query: str, *, profile: str | Profile = "code", mode: Mode = "hybrid", limit: int | None = None
    ) -> SearchResult:
        """Retrieve and rank."""
        return self._searcher.search(query, profile=profile, mode=mode, limit=limit)

    def retrieve(self, query: str, *, profile: str | Profile = "code", mode: Mode = "hybrid") -> Candidates:
        """Only retrieve: the candidates of both sides with everything that ranking may ask for."""
        return self._searcher.retrieve(query, profile=profile, mode=mode)

    def rank(self, candidates: Candidates, profile: Profile, *, limit: int | None = None) -> SearchResult:
        """Only rank: no access to store or model."""
        return self._searcher.rank(candidates, profile, limit=limit)

    def profiles(self) -> Mapping[str, Profile]:
        """Every profile, with the user's and the project's changes."""
        return self._searcher.profiles()

    def save_profile(self, profile: Profile) -> Path:
        """Write a profile's changes to the project's configuration; returns the file."""
        return self._searcher.save_profile(profile)

    # --- code ---

    def _inside(self, path: str) -> str:
        from cm_tui.engine.index.files import relative

        return relative(self._root, path)

    def files(self, folder: str = "") -> Page[FileEntry]:
        """Files below a folder, all levels, sorted by path."""
        from cm_tui.engine.index import files

        return files.files(self._db, folder)

    def skipped(self) -> Page[SkippedFile]:
        """Files that the walk left out."""
        from cm_tui.engine.index import files

        return files.skipped(self._db)

    def symbols(
        self, *, file: str | None = None, kind: str | None = None, match: str | None = None, limit: int = 1000
    ) -> Page[Symbol]:
        """Symbols in order of path and line; `match` is fuzzy and orders by fit."""
        inside = self._inside(file) if file else None
        return self._graph.symbols(file=inside, kind=kind, match=match, limit=limit)

    def _asked(self, at: str | None, question: Callable[[Graph], Page[T]]) -> Page[T]:
        return question(self._graph) if at is None else self._past.ask(at, question)

    def definitions(self, name: str, *, at: str | None = None) -> Page[Symbol]:
        """Definitions of a name or of the end of a qualified name."""
        return self._asked(at, lambda graph: graph.definitions(name))

    def callers(self, name: str | SymbolKey, *, depth: int = 1, at: str | None = None) -> Page[Edge]:
        """Call sites of a symbol."""
        return self._asked(at, lambda graph: graph.callers(name, depth=depth))

    def callees(self, name: str | SymbolKey, *, depth: int = 1, at: str | None = None) -> Page[Edge]:
        """What a symbol calls."""
        return self._asked(at, lambda graph: graph.callees(name, depth=depth))

    def dependencies(self, path: str, *, at: str | None = None) -> Page[ImportEdge]:
        """What a file imports."""
        return self._asked(at, lambda graph: graph.dependencies(self._inside(path)))

    def importers(self, target: str, *, at: str | None = None) -> Page[ImportEdge]:
        """Who imports a module or a file."""
        return self._asked(at, lambda graph: graph.importers(target))

    def source(self, path: str, start_line: int = 1, end_line: int | None = None, *, at: str | None = None) -> Source:
        """Lines of a file."""
        from cm_tui.engine.index import files
        from cm_tui.engine.scan.content_reader import ContentReader

        if at is not None:
            return self._past.source(at, self._inside(path), start_line, end_line)
        # A reader of its own for each call: what it keeps must not outlive an edit.
        return files.source(self._db, ContentReader(self._repository), self._inside(path), start_line, end_line)

    # --- time ---

    def mainline(self, *, match: str = "", before: int | None = None, limit: int = 200) -> Page[CommitPoint]:
        """Commits of HEAD's first-parent line, newest first."""
        return self._past.commits.mainline(match, before, limit)

    def resolve(self, ref: str) -> ResolvedRevision:
        """The moment that a name stands for."""
        return self._past.revisions.resolve(ref)

    def history(self) -> HistoryStatus:
        """How much of the line is known."""
        return self._past.report.status()

    def backfill(
        self, *, depth: int | None = None, since: str | None = None, cancel: Cancel | None = None
    ) -> Iterator[Progress]:
        """Read the line's history, newest first; what is known answers meanwhile."""
        yield from self.read_back(cancel or Cancel(), depth=depth, since=since)

    def read_back(
        self, cancel: Cancel, *, depth: int | None = None, since: str | None = None
    ) -> Generator[Progress, None, None]:
        """The same, so that it can be closed between two steps."""
        return self._past.backfill(depth=depth, since=since, cancel=cancel)

    def wants_history(self) -> bool:
        """True when the configuration wants more of the past than is known."""
        return self._past.goal() is not None

    def catch_up(self, cancel: Cancel) -> Generator[Progress, None, None]:
        """Read that in the background, after an index run; nothing that was vacuumed is read again."""
        return self._past.catch_up(cancel)

    def symbols_at(
        self, ref: str, *, file: str | None = None, kind: str | None = None, match: str | None = None, limit: int = 1000
    ) -> Page[Symbol]:
        """Symbols alive at a moment."""
        inside = self._inside(file) if file else None
        return self._past.ask(ref, lambda graph: graph.symbols(file=inside, kind=kind, match=match, limit=limit))

    def files_at(self, ref: str, folder: str = "") -> Page[FileEntry]:
        """Files below a folder at a moment."""
        inside = self._inside(folder).removeprefix(".") if folder else ""
        return self._past.files(ref, inside)

    def changes(self, before: str, after: str, *, limit: int = 1000) -> Page[SymbolChange]:
        """What became of symbols between two moments."""
        return self._past.changes(before, after, limit)

    def symbol_history(self, name: str | SymbolKey, *, callers: bool = False, limit: int = 20) -> Page[SymbolHistory]:
        """The lives of the symbols that bear a name."""
        return self._past.symbol_histories(name, limit, callers=callers)

    def drift(self, since: str | None = None, *, looked: bool = False, limit: int = 1000) -> Drift:
        """Where the index and the checkout differ, symbol by symbol."""
        return self._past.drift(self.plan(), since, limit, looked=looked)

    def prune(
        self,
        *,
        before: str | None = None,
        older_than: str | None = None,
        everything: bool = False,
        dry_run: bool = False,
    ) -> PruneReport:
        """Drop the past before a moment, older than an age, or all of it."""
        return self._past.prune(before=before, older_than=older_than, everything=everything, dry_run=dry_run)

    # --- episodes ---

    def episodes(self, *, match: str = "", before: str | None = None, limit: int = 200) -> Page[Episode]:
        """What agents' sessions recorded, newest first, without patches."""
        return self._episodes.page(match, before, limit)

    def episode(self, name: str) -> Episode:
        """One of them, whole."""
        return self._episodes.one(name)

    def episode_moments(self) -> tuple[int, ...]:
        """Ordinals of the commits of the line that agents saw."""
        return self._episodes.ordinals()

    def _symbol_at(self, path: str, line: int) -> Symbol | None:
        from cm_tui.engine.index import files

        return files.symbol_at(self._db, path, line)

    def _uses(self, key: SymbolKey) -> Page[Edge]:
        """What a symbol calls, the types it names, and what it derives from."""
        return self._graph.callees(key, kinds=("call", "decorate", "type", "inherit"))

    # --- packs ---

    def pack(self, question: str, *, budget: int = 4000, neighbours: bool = True) -> Pack:
        """Choose what answers a question, within a budget of tokens."""
        from cm_tui.engine.context.from_query import auto_pack

        return auto_pack(
            question,
            budget,
            neighbours,
            search=self.search,
            source=self.source,
            symbol_at=self._symbol_at,
            callers=self.callers,
            callees=self._uses,
        )

    def pack_items(self, items: Sequence[PackRequest], *, budget: int = 4000, question: str = "") -> Pack:
        """Make a pack of what a person chose, in that order."""
        from cm_tui.engine.context.pack import manual_pack

        return manual_pack(items, budget, question, source=self.source, symbol_at=self._symbol_at)

    def neighbours(self, items: Sequence[PackRequest]) -> tuple[PackRequest, ...]:
        """Callers, callees and used types of what was chosen, nearest first."""
        from cm_tui.engine.context.neighbours import neighbours_of

        return neighbours_of(items, symbol_at=self._symbol_at, callers=self.callers, callees=self._uses)

    def _indexer(self) -> Indexer:
        from cm_tui.engine.index.indexer import Indexer

        return Indexer(self._db, self._root, self.config, self._vectors)
