"""Checks of a project's store: on disk, in itself, and against its sources."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pygit2

from cm_tui import paths
from cm_tui.counts import count
from cm_tui.engine.code.mainline import user_marks
from cm_tui.engine.code.scan.working_tree import printable
from cm_tui.engine.doctor import store_rows
from cm_tui.engine.doctor.installation import failed
from cm_tui.engine.platform.git.identity import identify
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.journal.event import Position
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.engine.platform.store import schema, seal
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.platform.store.failures import damaged
from cm_tui.engine.platform.store.generations import PASSAGE_GENERATION
from cm_tui.engine.search.embed.provider import model_name
from cm_tui.engine.search.vectors import by_source
from cm_tui.engine.search.vectors.array_file import UnusableFileError, load_arrays
from cm_tui.engine.search.vectors.by_source import ProjectVectors
from cm_tui.engine.search.vectors.lazy_graph import GRAPH, ROWS
from cm_tui.engine.search.vectors.snapshot import FILE as VECTORS
from cm_tui.engine.search.vectors.snapshot import FOLDERS
from cm_tui.errors import CmError, StoreDamagedError, UsageError
from cm_tui.files import read_regular
from cm_tui.model import Check
from cm_tui.model.dates import local_minute

_SHOWN = 3
_UNREADABLE = "git-objects-missing"
_FSCK = "Run `git fsck`: it names missing objects, which a fetch or another clone restores."


def examine_repository(
    root: Path, db: Database, repository: Callable[[], Repository], *, full: bool
) -> Iterator[Check]:
    """Check that git's data can be read, and that the store has the files of its commit.

    `repository`: opens it; `full`: read every file of HEAD.
    """
    try:
        opened = repository()
        head = opened.head()
        if not opened.git:
            yield Check("repository", "ok", opened.git_problem or "a project without git")
            return
        tree = opened.tree(head.sha)
        unread = _unreadable(opened, [entry.oid for entry in tree.values() if not entry.is_submodule]) if full else []
    except CmError as error:
        yield failed("repository", error, _FSCK)
        return
    if unread:
        said = f"{count(len(unread), 'file')} of HEAD cannot be read from git, {unread[0][:12]} among them."
        yield Check("repository", "failed", f"{said} They cannot be indexed again.", _FSCK, _UNREADABLE)
        return
    differing = _differing(db, root, opened)
    if differing:
        names = ", ".join(differing[:_SHOWN]) + (" and more" if len(differing) > _SHOWN else "")
        yield Check(
            "store", "failed",
            f"{count(len(differing), 'file')} of the index differ from its commit: {names}. "
            "Results for them are wrong or missing.",
            "Run `cm rebuild`: it rebuilds the index from the repository, and keeps the journal and your marks.",
            "rows-differ-from-git",
        )  # fmt: skip
        return
    yield Check(
        "repository",
        "ok",
        f"{count(len(tree), 'file')} at {head.branch or 'HEAD'} {(head.sha or 'without a commit')[:12]}",
    )


def _differing(db: Database, root: Path, repository: Repository) -> list[str]:
    """Return the paths in which the store's files of its commit are not that commit's."""
    commit = db.get_meta("indexed_head")
    if not commit or db.get_meta("root") != str(root):
        return []
    try:
        tree = repository.tree(commit)
    except CmError:
        # The commit is gone with its branch: there is nothing to compare with, and the next run uses another.
        return []
    stored = dict(db.rows("SELECT h.path, b.oid FROM head_file h JOIN blob b ON b.id = h.blob"))
    wrong = [path for path, oid in stored.items() if path not in tree or tree[path].oid != oid]
    known = {row[0] for row in db.rows("SELECT path FROM skipped UNION SELECT path FROM worktree")}
    files = {printable(path) for path, entry in tree.items() if not (entry.is_link or entry.is_submodule)}
    return sorted([*wrong, *(files - stored.keys() - known)])


def _unreadable(repository: Repository, oids: list[str]) -> list[str]:
    found = []
    for oid in dict.fromkeys(oids):
        try:
            if repository.read(oid) is None:
                found.append(oid)
        except (KeyError, ValueError, pygit2.GitError):
            found.append(oid)
    return found


def examine_journal_position(root: Path, db: Database) -> Iterator[Check]:
    """Check that the journal still has what the store read from it."""
    said = db.get_meta("episode_position")
    if said is None:
        return
    try:
        at = Position.parse(said)
        # The mark for reading from the beginning.
        if at <= Position(1, 1) or Journal.of(root).holds(at, db.get_meta("episode_event") or ""):
            return
    except UsageError:
        at = START
    except CmError:
        # The check of the journal reports it.
        return
    yield Check(
        "journal", "warning",
        "The journal is not the one that was indexed, or is shorter. Episodes missing from it are still found.",
        "Run `cm index`.", "journal-replaced",
    )  # fmt: skip


_LONGEST = 1_000_000
_SMALL = {
    seal.FILE: ("records whether changes were lost, which is unknown until it is rewritten", "Run `cm index`."),
    by_source.FILE: ("names the model that made the vectors, which is determined again", "Run `cm index`."),
    user_marks.FILE: ("records your last visit and where history was pruned; both are unknown until set again", ""),
}


def examine_vectors_files(db: Database) -> Iterator[Check]:
    """Check each file of vectors against its checksum, and its rows against their passages."""
    for folder in (db.folder / name for name in FOLDERS):
        yield from _examine_vectors_file(db, folder)


def _examine_vectors_file(db: Database, folder: Path) -> Iterator[Check]:
    try:
        header, arrays = load_arrays(folder / VECTORS)
        ids = set(arrays["ids"].tolist())
    except FileNotFoundError:
        return
    except KeyError as error:
        yield _damaged_vectors(folder, f"it lacks {error}")
        return
    except UnusableFileError as error:
        yield _damaged_vectors(folder, str(error))
        return
    if header.get("generation") == db.get_meta(PASSAGE_GENERATION):
        strays = ids - {row[0] for row in db.rows("SELECT id FROM passage")}
        if strays:
            yield _damaged_vectors(
                folder, f"{len(strays):,} of its vectors belong to passages that are not in the index"
            )


def _damaged_vectors(folder: Path, said: str) -> Check:
    consequence = "Answers are not affected: vectors are taken from the store, which takes longer to open."
    return Check(
        "vectors", "warning", f"{folder / VECTORS} is damaged: {said}. {consequence}", "Run `cm index`.",
        "vectors-damaged",
    )  # fmt: skip


def examine_graph_file(folder: Path) -> Iterator[Check]:
    """Check the graph over the vectors against its checksum."""
    try:
        header, _ = load_arrays(folder / ROWS)
        if zlib.crc32((folder / GRAPH).read_bytes()) == header.get("graph"):
            return
        said = "its checksum is wrong"
    except FileNotFoundError:
        return
    except (UnusableFileError, OSError) as error:
        said = str(error)
    consequence = "Answers are not affected: vectors are compared one by one, which takes longer."
    yield Check(
        "vector graph file", "warning", f"{folder / GRAPH} is damaged: {said}. {consequence}", "Run `cm index`.",
        "vector-graph-damaged",
    )  # fmt: skip


def examine_small_files(root: Path, db: Database) -> Iterator[Check]:
    """Check the small files: each is JSON, and the manifest names the right owner."""
    folder, identity, made_from = db.folder, identify(root), db.get_meta("root")
    if made_from is not None and folder == identity.folder and identity.has_other_manifest(made_from):
        yield Check(
            "store", "warning",
            f"{folder / paths.STORE_MANIFEST} does not name the owner of this store: lists of projects lack it, or name another.",
            "Run `cm index`.", "note-damaged",
        )  # fmt: skip
    for name, (use, mend) in _SMALL.items():
        file = folder / name
        data = read_regular(file, _LONGEST)
        if data is None and not file.exists():
            continue
        try:
            whole = data is not None and isinstance(json.loads(data), dict)
        except ValueError:
            whole = False
        if not whole:
            yield Check(
                "store", "warning", f"{file} cannot be read: it {use}.", mend or f"Run `rm -r -- {file}`.",
                "note-damaged",
            )  # fmt: skip


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
    """Read all of it from disk: DuckDB verifies a block's checksum when reading it."""
    db.release_blocks()
    if missing := schema.lacks(db.rows):
        raise damaged(db.file, "schema-incomplete", f"it lacks {', '.join(missing[:3])}")
    rows = store_rows.read_everything(db)
    contradictions = store_rows.contradictions(db, full=full)
    if contradictions:
        raise damaged(db.file, "rows-contradictory", "; ".join(contradictions))
    said = f"{db.folder}, schema {db.get_meta('schema')}, {count(rows, 'row')} read, no damage"
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
            "vectors", "warning", f"{'; '.join(found)} They were recreated from the store.", "Run `cm index`.",
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
            "embedding", "warning", now.note, "Fix the reported problem; `cm index` returns to the first choice."
        )
        return
    fallback = vectors.fallback_name
    if now.fingerprint.startswith("bundled/") and not fallback:
        # Nothing is configured, and the bundled model has a separate check.
        return
    other = f"; {model_name(fallback)} is used where it fails" if fallback else ""
    since = f", since {local_minute(now.since)}" if vectors.is_noted else ", from the next index run on"
    yield Check("embedding", "ok", f"{now.fingerprint}{since}, as the settings ask{other}")
