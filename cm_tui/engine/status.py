"""A project and its index at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cm_tui.config import renamed_settings
from cm_tui.config.held import repository_trust
from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.mentions.report import count_stale
from cm_tui.engine.memory.notes import overwritten
from cm_tui.engine.platform.git.identity import Identity, earlier_memories, identify
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.journal import integrity as journal
from cm_tui.engine.platform.store import seal
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.embed.provider import Provider
from cm_tui.engine.search.vectors.by_source import ProjectVectors
from cm_tui.errors import CmError, ModelError
from cm_tui.model import ProjectStatus

_COUNTS = """
SELECT (SELECT count(*) FROM now_file),
    (SELECT count(*) FROM now_file f JOIN symbol s ON s.blob = f.blob),
    (SELECT count(*) FROM now_file f JOIN reference r ON r.blob = f.blob),
    (SELECT count(*) FROM passage),
    (SELECT count(*) FROM now_file f JOIN blob b ON b.id = f.blob WHERE b.error IS NOT NULL)
"""
_LANGUAGES = "SELECT b.language, count(*) FROM now_file f JOIN blob b ON b.id = f.blob GROUP BY 1 ORDER BY 2 DESC, 1"
_SKIPPED = "SELECT reason, count(*) FROM skipped GROUP BY 1 ORDER BY 2 DESC, 1"


def status(db: Database, root: Path, repository: Repository, vectors: ProjectVectors) -> ProjectStatus:
    """Count what there is. `vectors`: the vector index."""
    provider = vectors.provider
    head = repository.head()
    identity = identify(root)
    files, symbols, references, passages, errors = db.rows(_COUNTS)[0]
    embedded = vectors.coverage()[0]
    mode, why = _mode(embedded, provider)
    indexed_at = _indexed_at(db)
    return ProjectStatus(
        root=str(root),
        name=identity.name,
        identity=identity.text,
        store=str(db.folder),
        indexed=indexed_at is not None,
        git=repository.git,
        branch=head.branch,
        head=head.sha,
        indexed_head=db.get_meta("indexed_head") or None,
        files=files,
        languages=dict(db.rows(_LANGUAGES)),
        symbols=symbols,
        references=references,
        passages=passages,
        embedded=embedded,
        skipped=dict(db.rows(_SKIPPED)),
        errors=errors,
        model=provider.fingerprint,
        mode=mode,
        vectors=vectors.state,
        disk_bytes=sum(file.stat().st_size for file in db.folder.rglob("*") if file.is_file()),
        indexed_at=indexed_at,
        fallback=vectors.in_use.reason if vectors.is_fallback else "",
        notes=_notes(db, root, repository, vectors, identity, why),
        stale=count_stale(db),
        conflicts=overwritten.count_below(root),
        claims_other=bool(identity.claims),
    )


def _indexed_at(db: Database) -> float | None:
    text = db.get_meta("indexed_at")
    try:
        return float(text) if text else None
    except ValueError as error:
        raise db.unreadable("indexed_at", text) from error


def _notes(
    db: Database, root: Path, repository: Repository, vectors: ProjectVectors, identity: Identity, why: tuple[str, ...]
) -> tuple[str, ...]:
    """Return what is to be said of all that the status is made of.

    `vectors`: the vector index; `why`: what is said of the mode.
    """
    return (
        *_of_store(db),
        *why,
        *([repository.git_problem] if repository.git_problem else []),
        *vectors.notes,
        *_of_journal(root),
        *renamed_settings(root),
        *repository_trust(root).notes,
        *_of_entries(root),
        *_claimed(identity),
        *_earlier(root),
    )


def _of_store(db: Database) -> Sequence[str]:
    """Return what is to be said of the store itself."""
    lost = seal.lost(db)
    notes = [f"{lost}. `cm index` brings it up to date."] if lost else []
    if db.is_read_only:
        notes.append(f"{db.file} is read-only here: nothing is updated or saved.")
    return notes


def _claimed(identity: Identity) -> tuple[str, ...]:
    """Return that there is memory of what this checkout claims to be, which it is not given."""
    if not identity.claims:
        return ()
    # Without the name: agents read this too, and it may be that of a project they were not given.
    said = "This folder claims to be a project that already has memory (see `cm link --show`)."
    return (f"{said} It has its own memory until you link it: `cm link`.",)


def _earlier(root: Path) -> tuple[str, ...]:
    """Return that this checkout had another memory, which it lacks now."""
    if not earlier_memories(root):
        return ()
    return ("This checkout had another memory before (see `cm link --show`); `cm link` merges it.",)


def _mode(embedded: int, provider: Provider) -> tuple[str, tuple[str, ...]]:
    """Return what a search would use now, and why it is not more."""
    try:
        provider.check()
    except ModelError as error:
        return "keyword", (f"Keyword only: {error.message}",)
    return ("hybrid" if embedded else "keyword"), ()


def _of_entries(root: Path) -> tuple[str, ...]:
    """Return what of the entries waits for trust, or cannot be read."""
    try:
        return Entries(root).all().notes
    except CmError as error:
        return (error.message,)


def _of_journal(root: Path) -> tuple[str, ...]:
    """Return what of the journal cannot be read."""
    try:
        complaint = journal.check(root).complaint
    except CmError as error:
        complaint = error.message
    return (complaint,) if complaint else ()
