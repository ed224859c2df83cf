"""Checks of a project's store: on disk, in itself, and against its sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cm_tui.counts import count
from cm_tui.engine.doctor import store_rows
from cm_tui.engine.doctor.beside_store import examine_graph_file, examine_small_files, examine_vectors_files
from cm_tui.engine.doctor.installation import failed
from cm_tui.engine.doctor.repository import examine_journal_position, examine_repository
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store import blocks, schema, seal
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.platform.store.failures import damaged
from cm_tui.engine.search.embed.provider import model_name
from cm_tui.engine.search.vectors.by_source import ProjectVectors
from cm_tui.errors import CmError, StoreDamagedError
from cm_tui.model import Check
from cm_tui.model.dates import local_minute


@dataclass(frozen=True, slots=True)
class StoreParts:
    """What of an open project is checked."""

    root: Path
    db: Database
    repository: Callable[[], Repository]
    """Opens the repository; an error is a finding."""
    vectors: Callable[[], ProjectVectors]
    """Opens the vectors, which repairs their file: called after the check of that."""
    with_vectors: bool
    """Whether the settings ask for vectors at all."""


def examine_store(parts: StoreParts, *, full: bool = False) -> Iterator[Check]:
    """Check a project's store, and the vectors, the repository and the journal against it.

    `parts`: the open project; `full`: also compare every vector, every word of the keyword index and every file of
    HEAD.
    """
    try:
        yield from _database(parts.db, full=full)
        yield from _log(parts.db)
        yield from _vectors(parts, full=full)
        yield from _embedding(parts)
        yield from examine_small_files(parts.root, parts.db)
        yield from examine_repository(parts.root, parts.db, parts.repository, full=full)
        yield from examine_journal_position(parts.root, parts.db)
    except StoreDamagedError as error:
        # Further checks would report the same file.
        yield failed("store", error)
    except CmError as error:
        yield failed("store", error)


def _database(db: Database, *, full: bool) -> Iterator[Check]:
    """Read all of it: from disk, and through DuckDB, which verifies a block's checksum when reading it."""
    try:
        on_disk = blocks.examine(db.file, db.read_at, db.rows)
    except OSError as error:
        yield Check("store", "failed", f"{db.file} cannot be read: {error.strerror or error}", "Check its permissions.")
        return
    if on_disk is not None:
        raise on_disk
    if missing := schema.lacks(db.rows):
        raise damaged(db.file, "schema-incomplete", f"it lacks {', '.join(missing[:3])}")
    rows = store_rows.read_everything(db)
    contradictions = store_rows.contradictions(db, full=full)
    if contradictions:
        raise damaged(db.file, "rows-contradictory", "; ".join(contradictions))
    said = f"{db.folder}, schema {db.get_meta('schema')}, {count(rows, 'row')} read, all whole"
    if db.is_read_only:
        yield Check(
            "store", "warning", f"{said}; it is read-only here: nothing is updated or saved",
            "Make it writable, or set CM_HOME to a folder you can write.", "store-read-only",
        )  # fmt: skip
    else:
        yield Check("store", "ok", said)


def _log(db: Database) -> Iterator[Check]:
    if lost := seal.lost(db):
        consequence = "The latest changes are missing from results until they are indexed again."
        yield Check("store log", "failed", f"{lost}. {consequence}", "Run `cm index`.", "store-log-missing")


def _vectors(parts: StoreParts, *, full: bool) -> Iterator[Check]:
    if not parts.with_vectors:
        yield Check("vectors", "ok", "none are configured: search is by keyword")
        return
    problems = [*examine_vectors_files(parts.db), *examine_graph_file(parts.db.folder)]
    yield from problems
    vectors = parts.vectors()
    embedded, passages = vectors.coverage()
    if full and (found := vectors.verify()):
        yield Check(
            "vectors", "warning", f"{'; '.join(found)} They were made again from the store.", "Run `cm index`.",
            "vectors-differ",
        )  # fmt: skip
    elif not problems:
        yield Check("vectors", "ok", f"{embedded:,} of {count(passages, 'passage')}, {vectors.state}")


def _embedding(parts: StoreParts) -> Iterator[Check]:
    """The model in use, since when, and why it is not the first choice."""
    if not parts.with_vectors:
        return
    vectors = parts.vectors()
    now = vectors.in_use
    if jobs := vectors.jobs_note:
        yield Check("embedding jobs", "warning", jobs, "Run `cm index` to fetch the results.")
    if now.instead_of:
        yield Check(
            "embedding", "warning", now.note, "Fix the reported problem; `cm index` goes back to the first choice."
        )
        return
    fallback = vectors.fallback_name
    if now.fingerprint.startswith("bundled/") and not fallback:
        # Nothing is configured, and the bundled model has a separate check.
        return
    other = f"; {model_name(fallback)} is used where it fails" if fallback else ""
    since = f", since {local_minute(now.since)}" if vectors.is_noted else ", from the next index run on"
    yield Check("embedding", "ok", f"{now.fingerprint}{since}, as the settings ask{other}")
