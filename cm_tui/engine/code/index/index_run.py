"""One index run: scan, classify, parse, write, passages and keywords, vectors, in that order."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.config import Config
from cm_tui.counts import count, noun
from cm_tui.engine.code.index.stored_state import NEXT_BLOB, StoredState, digest_of_rules, load
from cm_tui.engine.code.index.target_state import (
    FileClassifier,
    TargetState,
    build_partial_state,
    build_state,
    is_stored,
    write,
)
from cm_tui.engine.code.mainline.commits import compare
from cm_tui.engine.code.parse import records
from cm_tui.engine.code.parse.pool import PARSE_SECONDS, Pool
from cm_tui.engine.code.scan.content_reader import ChangedError, ContentReader
from cm_tui.engine.code.scan.languages import EXTRACTOR_VERSION
from cm_tui.engine.code.scan.working_tree import WorkingTreeScan, path_filter
from cm_tui.engine.platform.git.identity import identify
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store import bulk, seal
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.platform.store.generations import GENERATION
from cm_tui.engine.platform.store.writer_lock import WriterLock
from cm_tui.engine.search.ranking.source import MakeSource, SourceContext
from cm_tui.errors import CmError, ModelError, NotIndexedError
from cm_tui.model import Cancel, IndexSummary, Progress

if TYPE_CHECKING:
    from cm_tui.engine.search.ranking.passages import PassageDelta
    from cm_tui.engine.search.vectors.by_source import ProjectVectors


# --- result of a run: counts for the user, and paths for keeping the index fresh ---


@dataclass(frozen=True, slots=True)
class IndexOutcome:
    """The end of a run: its summary, and the paths that it compared with the disk."""

    summary: IndexSummary
    files: Collection[str]
    """Every path that the index holds now."""
    skipped: Collection[str]
    """Every path that was excluded."""


def summarise(
    db: Database,
    state: TargetState,
    stored: StoredState,
    *,
    blobs: int,
    embedded: int,
    seconds: Mapping[str, float],
    mode: str,
    notes: Sequence[str],
) -> IndexSummary:
    """Count the content of the index, and the differences from before the run.

    `state`: the new state; `stored`: the previous state; `blobs`: number of parsed files; `embedded`: number of
    embedded passages; `seconds`: by stage; `mode`: the current search mode; `notes`: reasons for a lesser mode.
    """
    return IndexSummary(
        files=len(state.now()),
        blobs=blobs,
        symbols=db.value("SELECT count(*) FROM symbol JOIN now_file USING (blob)"),
        references=db.value("SELECT count(*) FROM reference JOIN now_file USING (blob)"),
        passages=db.value("SELECT count(*) FROM passage"),
        embedded=embedded,
        skipped=dict(sorted(Counter(state.skipped.values()).items())),
        seconds={stage: round(spent, 4) for stage, spent in seconds.items()},
        changed=_changed(db, state, stored),
        mode=mode,
        notes=tuple(notes),
    )


def _changed(db: Database, state: TargetState, stored: StoredState) -> int:
    """Return how many paths hold other content than before."""
    oids = dict(db.rows("SELECT id, oid FROM blob"))
    before = {path: held.oid for path in stored.paths() if (held := stored.at(path)) is not None}
    after = {path: oids[blob] for path, blob in state.now().items()}
    return sum(before.get(path) != after.get(path) for path in before.keys() | after.keys())


# --- one index run ---

PROSE_SECONDS = 10.0
"""Time limit for vectors of prose in a run for some paths; a full run makes all of them."""
_ROWS_A_COMMIT = 100_000
_ATTEMPTS = 20


class Run:
    """One run and its results so far.

    `root`: the checkout to index. `config`: what is indexed, and with which model. `open_vectors`: returns the vector
    index, if a model is configured. `cancel`: checked between steps. `with_prose`: also embed what people and agents
    said; False: another process does.
    """

    def __init__(
        self, db: Database, root: Path, config: Config, sources: Sequence[MakeSource],
        open_vectors: Callable[[], ProjectVectors], cancel: Cancel, *, with_prose: bool = True,
    ) -> None:  # fmt: skip
        self._with_prose = with_prose
        self._db = db
        self._root = root.resolve()
        self._config = config
        self._open_vectors = open_vectors
        self._sources = [make(SourceContext(self._root, self._read, self._check)) for make in sources]
        self._cancel = cancel
        self._seconds: dict[str, float] = {}
        self._notes: list[str] = []
        self._extractor = EXTRACTOR_VERSION
        self._digest = digest_of_rules(self._config.index, self._extractor)
        self._parsed = 0
        self._embedded = 0
        self._mode = "hybrid"

    def steps(self, *, full: bool, since: str | None, paths: Sequence[str]) -> Generator[Progress, None, IndexOutcome]:
        """Run it; arguments and errors as for `Indexer.run`."""
        yield Progress("scan", 0, 1, "Looking at files")
        # Memories can be written and found meanwhile.
        with WriterLock.of(self._db).letting_in():
            with self._timed("scan"):
                self._scan(full=full, since=since, paths=paths)
            found = len(self._tree.files.committed) + len(self._tree.files.disk)
            yield Progress("scan", found, found, f"{count(found, 'file')}")
            yield from self._parse()
        self._cancel.check()
        yield Progress("store", 0, 1, "Writing the index")
        state = self._store()
        # The rest allots no numbers to blobs, and may take long.
        WriterLock.of(self._db).end_numbering()
        yield Progress("store", 1, 1, "Keyword and symbol search are ready", searchable=True)
        yield from self._fill_vectors()
        summary = summarise(
            self._db, state, self._stored, blobs=self._parsed, embedded=self._embedded, seconds=self._seconds,
            mode=self._mode, notes=self._notes,
        )  # fmt: skip
        yield Progress("done", summary.files, summary.files, summary=summary, searchable=True)
        return IndexOutcome(summary, tuple(state.now()), tuple(state.skipped))

    def _scan(self, *, full: bool, since: str | None, paths: Sequence[str]) -> None:
        self._repository = Repository(self._root, self._db.folder / "shadow")
        if self._repository.git_problem:
            self._notes.append(self._repository.git_problem)
        self._contents = ContentReader(self._repository)
        base = None if since is None else self._repository.tree(self._repository.resolve(since))
        self._stored = load(self._db, self._extractor, self._digest)
        self._chosen: Callable[[str], bool] | None = None
        if paths:
            if "indexed_at" not in self._stored.meta:
                raise NotIndexedError("This project has no index yet.", hint="Run `cm index` first.")
            chosen = path_filter(self._root, paths)
            # Rows of another checkout or other rules cannot be mixed with these.
            meta = self._stored.meta
            if (meta.get("root"), meta.get("rules")) == (str(self._root), self._digest):
                self._chosen = chosen
        self._tree = WorkingTreeScan(
            self._repository, self._config.index, self._contents, self._stored.sizes, self._chosen
        )
        scan = self._tree.run()
        self._classifier = FileClassifier(scan, self._stored, self._contents, self._tree.rules, full=full)
        self._classifier.decide()
        if base is not None:
            now = {**scan.committed, **scan.disk}
            differing = sum(entry.oid != now.get(path, entry.oid) for path, entry in base.items())
            differing += sum(path not in base for path, oid in now.items() if oid is not None)
            self._notes.append(
                f"{count(differing, 'file')} {noun(differing, 'differs', 'differ')} from {since}; the index was compared as a whole."
            )

    def _parse(self) -> Iterator[Progress]:
        unread = self._classifier.unread
        if not unread:
            return
        with self._timed("parse"):
            yield Progress("parse", 0, len(unread))
            pool, parsed = Pool(self._config.index.workers, PARSE_SECONDS, self._db.folder / "parsing"), 0
            waiting: list[records.Batch] = []
            try:
                for batch in pool.parse(self._classifier.tasks(unread)):
                    waiting.append(batch)
                    if sum(map(records.size_of, waiting)) > _ROWS_A_COMMIT:
                        self._keep(waiting)
                    parsed += len(batch["blob"]["id"])
                    yield Progress("parse", parsed, len(unread))
                    self._cancel.check()
            finally:
                pool.close()
                self._keep(waiting)
        yield Progress("parse", len(unread), len(unread))

    def _keep(self, waiting: list[records.Batch]) -> None:
        """Commit parsed files, so that a killed run continues here."""
        if not waiting:
            return
        merged = records.merge(waiting)
        waiting.clear()
        ids = merged["blob"]["id"]
        if not ids:
            return
        self._parsed += len(ids)
        with self._db.transaction():
            bulk.insert_tables(self._db, merged)
            self._db.set_meta(NEXT_BLOB, str(max(ids) + 1))

    def _store(self) -> TargetState:
        for _ in range(_ATTEMPTS):
            try:
                return self._store_once()
            except ChangedError as changed:
                self._reread(changed.path)
        raise CmError(
            "Files change faster than they can be read.", hint="Run the command again when they no longer change."
        )

    def _reread(self, path: str) -> None:
        """Take a file as it is now that was edited between parsing and storing."""
        oid = self._tree.files.disk.get(path)
        if oid is None:
            return
        pool = Pool(1, PARSE_SECONDS, self._db.folder / "parsing")
        try:
            for batch in pool.parse(self._classifier.tasks([(path, oid, True)])):
                self._keep([batch])
        finally:
            pool.close()

    def _store_once(self) -> TargetState:
        from cm_tui.engine.search.ranking import passages

        with self._timed("store"):
            state = self._target_state()
            changed = not (is_stored(self._db, state, self._stored) and passages.is_current(self._db))
            sources = [source for source in self._sources if changed or source.has_changed(self._db)]
            if not sources:
                self._remember(state, changed=False)
                seal.write(self._db)
                return state
            with self._db.generations.changing(), self._db.transaction():
                if changed:
                    write(self._db, state)
                with self._timed("keywords"):
                    delta = passages.sync(self._db, sources, self._prepare, self._check)
                self._remember(state, changed=changed)
            seal.write(self._db)
            self._notes += delta.notes
            with self._timed("keywords"):
                self._read_on(delta)
        self._seconds["store"] -= self._seconds["keywords"]
        return state

    def _read_on(self, delta: PassageDelta) -> None:
        """Read the rest of long sources in further transactions, with the memory of one."""
        from cm_tui.engine.search.ranking import passages

        grows = delta.more
        while delta.more:
            self._check()
            growing = [source for source in self._sources if source.has_changed(self._db)]
            with self._db.generations.changing(), self._db.transaction():
                delta = passages.sync(self._db, growing, self._prepare, self._check)
            if delta.added:
                self._db.release_blocks()
            seal.write(self._db)
        if grows:
            # Otherwise the next small change rewrites all of it in memory.
            self._db.shrink()
            self._db.release_blocks()

    def _prepare(self, texts: list[str]) -> None:
        if self._config.embedding.provider != "none":
            self._open_vectors().prepare(texts)

    def _check(self) -> None:
        self._cancel.check()

    def _read(self, path: str, oid: str) -> str:
        self._check()
        return self._contents.text(path, oid)

    def _target_state(self) -> TargetState:
        scan = self._tree.files
        if self._chosen is not None:
            return build_partial_state(scan, self._classifier, self._stored, self._chosen)
        state = build_state(scan, self._classifier)
        state.head = scan.head.sha
        state.rules = self._digest
        state.line = compare(self._db, self._repository, scan.head.sha)
        return state

    def _remember(self, state: TargetState, *, changed: bool) -> None:
        meta = self._stored.meta
        identity = identify(self._root)
        facts = {"indexed_at": f"{time.time():.3f}", "root": str(self._root)}
        if state.whole:
            facts["indexed_head"] = state.head or ""
            facts["rules"] = self._digest
            facts["identity"] = identity.text
        if changed:
            facts[GENERATION] = str(self._db.number(GENERATION) + 1)
        self._db.set_facts({key: value for key, value in facts.items() if meta.get(key) != value})
        if self._db.folder == identity.folder:
            identity.write_manifest(self._root)

    def _fill_vectors(self) -> Iterator[Progress]:
        if self._config.embedding.provider == "none":
            self._mode = "keyword"
            self._notes.append("Keyword only: no embedding model is configured.")
            return
        with self._timed("vectors"):
            vectors = self._open_vectors()
            try:
                yield from self._embed(vectors)
                for done, total in vectors.build_graph(self._cancel):
                    yield Progress("graph", done, total, searchable=True)
            except ModelError as error:
                self._mode = "keyword"
                self._notes.append(f"Keyword only: {error.message}")
            finally:
                self._notes += vectors.take_news()

    def _embed(self, vectors: ProjectVectors) -> Iterator[Progress]:
        before = None
        # An edit does not wait for imported sessions.
        seconds = math.inf if self._chosen is None else PROSE_SECONDS
        seconds = seconds if self._with_prose else 0.0
        for done, total in vectors.fill(self._cancel, prose_seconds=seconds):
            before = done if before is None else before
            self._embedded = done - before
            yield Progress("vectors", done, total, searchable=True)

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[stage] = self._seconds.get(stage, 0.0) + time.perf_counter() - start
