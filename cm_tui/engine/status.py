"""A project and its index at a glance, and why the index does not reflect the checkout."""

from __future__ import annotations

from pathlib import Path

from cm_tui.config import renamed_settings
from cm_tui.engine.embed import Provider
from cm_tui.engine.git.identity import identify
from cm_tui.engine.git.repository import Repository
from cm_tui.engine.journal import integrity as journal
from cm_tui.engine.store.database import Database
from cm_tui.engine.vectors import VectorIndex
from cm_tui.errors import CmError, ModelError, NotIndexedError
from cm_tui.model import ProjectStatus

_COUNTS = """
SELECT (SELECT count(*) FROM now_file),
    (SELECT count(*) FROM now_file f JOIN symbol s ON s.blob = f.blob),
    (SELECT count(*) FROM now_file f JOIN reference r ON r.blob = f.blob),
    (SELECT count(*) FROM passage),
    (SELECT count(*) FROM now_file f JOIN blob b ON b.id = f.blob WHERE b.error IS NOT NULL)
"""


def status(db: Database, root: Path, repository: Repository, vectors: VectorIndex, provider: Provider) -> ProjectStatus:
    """Count what there is.

    Args:
        db: the store.
        root: the project's root.
        repository: its checkout.
        vectors: the vector index.
        provider: the embedding model in use.
    """
    head = repository.head()
    identity = identify(root)
    counted = db.rows(_COUNTS)[0]
    embedded = vectors.coverage()[0]
    mode, notes = _mode(embedded, provider)
    indexed_at = db.get_meta("indexed_at")
    languages = db.rows(
        "SELECT b.language, count(*) FROM now_file f JOIN blob b ON b.id = f.blob GROUP BY 1 ORDER BY 2 DESC, 1"
    )
    skipped = db.rows("SELECT reason, count(*) FROM skipped GROUP BY 1 ORDER BY 2 DESC, 1")
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
        files=counted[0],
        languages=dict(languages),
        symbols=counted[1],
        references=counted[2],
        passages=counted[3],
        embedded=embedded,
        skipped=dict(skipped),
        errors=counted[4],
        model=provider.fingerprint,
        mode=mode,
        vectors=vectors.state,
        disk_bytes=sum(file.stat().st_size for file in db.folder.rglob("*") if file.is_file()),
        indexed_at=float(indexed_at) if indexed_at else None,
        notes=(*notes, *vectors.notes, *_of_journal(root), *renamed_settings(root)),
    )


def indexed_checkout(db: Database, root: Path) -> str:
    """Return the root of the checkout that the index reflects, when that is not this one; it may also reflect none yet."""
    reflected = db.get_meta("root")
    return reflected if reflected is not None and reflected != str(root) else ""


def stale_reason(db: Database, root: Path, repository: Repository) -> str:
    """Return why the index does not reflect a checkout's HEAD, or nothing.

    Raises:
        NotIndexedError: there is no index yet.
    """
    if db.get_meta("indexed_at") is None:
        raise NotIndexedError(f"{root} has no index yet.", hint="Run `cm index` first.")
    if other := indexed_checkout(db, root):
        return f"The index reflects another checkout, {other}"
    now, then = repository.head().sha or "", db.get_meta("indexed_head") or ""
    return f"HEAD moved from {then[:10] or 'nothing'} to {now[:10] or 'nothing'}" if now != then else ""


def _mode(embedded: int, provider: Provider) -> tuple[str, tuple[str, ...]]:
    """Return what a search would use now, and why it is not more."""
    try:
        provider.check()
    except ModelError as error:
        return "keyword", (f"Keyword only: {error.message}",)
    return ("hybrid" if embedded else "keyword"), ()


def _of_journal(root: Path) -> tuple[str, ...]:
    """Return what of the journal cannot be read."""
    try:
        complaint = journal.check(root).complaint
    except CmError as error:
        complaint = error.message
    return (complaint,) if complaint else ()
