"""Plan of an index run, without running it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from cm_tui.config import IndexConfig
from cm_tui.engine.code.index.stored_state import StoredState, digest_of_rules, load
from cm_tui.engine.code.scan.content_reader import ContentReader
from cm_tui.engine.code.scan.languages import EXTRACTOR_VERSION, HEAD_BYTES, language_of
from cm_tui.engine.code.scan.skip_rules import SkipRules, suffix_of
from cm_tui.engine.code.scan.working_tree import UNREAD, ScannedFiles, WorkingTreeScan
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store.database import Database
from cm_tui.model import IndexPlan

_START_SECONDS = 0.3
_FILE_SECONDS = 0.0002
_BYTES_A_SECOND = 1_600_000
"""Parsing, storing and embedding together, measured on two cores."""


def make_plan(db: Database, root: Path, config: IndexConfig, *, full: bool, since: str | None) -> IndexPlan:
    """Compare the project with its index.

    `full`: count everything as work; `since`: compare with this commit instead of with the index. Raises NotFoundError
    if there is no such commit.
    """
    repository = Repository(root.resolve(), db.folder / "shadow")
    contents = ContentReader(repository)
    stored = load(db, EXTRACTOR_VERSION, digest_of_rules(config, EXTRACTOR_VERSION))
    # Before the first run there is nothing to compare.
    tree = WorkingTreeScan(repository, config, contents, stored.sizes, unread=not stored.sizes and since is None)
    scan = tree.run()
    skipped = dict(scan.skipped)
    now = _now(scan, stored, tree.rules, skipped)
    before = _before(stored, repository, tree.rules, since)
    added, modified, removed, renamed = _compare(before, now)
    work = now if full else {path: oid for path, oid in now.items() if oid not in stored.sizes}
    notes = () if stored.meta.get("rules") else ("Binary and minified files are only recognised when they are read.",)
    return IndexPlan(
        files=len(now),
        bytes=sum(scan.sizes.get(path, 0) for path in now),
        languages=_languages(now, contents),
        skipped=dict(sorted(Counter(skipped.values()).items())),
        added=tuple(added),
        modified=tuple(modified),
        removed=tuple(removed),
        renamed=tuple(renamed),
        estimated_seconds=_estimate([scan.sizes.get(path, 0) for path in work]),
        full=full or "indexed_at" not in stored.meta,
        notes=notes,
    )


def _now(scan: ScannedFiles, stored: StoredState, rules: SkipRules, skipped: dict[str, str]) -> dict[str, str]:
    """Object id by path; excluded files go to `skipped`."""
    merged: dict[str, str | None] = {**scan.committed, **scan.disk}
    now: dict[str, str] = {}
    for path, oid in merged.items():
        if oid is None:
            continue
        reason = stored.rejection(path, oid, rules)
        if reason is None:
            now[path] = oid
        else:
            skipped[path] = reason
    return now


def _before(stored: StoredState, repository: Repository, rules: SkipRules, since: str | None) -> dict[str, str]:
    if since is None:
        return {path: held.oid for path in stored.paths() if (held := stored.at(path)) is not None}
    tree = repository.tree(repository.resolve(since))
    return {
        path: entry.oid
        for path, entry in tree.items()
        if not (entry.is_link or entry.is_submodule)
        and rules.by_path(path) is None
        and stored.rejection(path, entry.oid, rules) is None
    }


def _compare(
    before: Mapping[str, str], now: Mapping[str, str]
) -> tuple[list[str], list[str], list[str], list[tuple[str, str]]]:
    """Added, modified, removed and renamed paths; a rename keeps its content."""
    added = sorted(now.keys() - before.keys())
    removed = sorted(before.keys() - now.keys())
    modified = sorted(path for path in now.keys() & before.keys() if now[path] != before[path])
    arrivals: defaultdict[str, list[str]] = defaultdict(list)
    for path in added:
        arrivals[now[path]].append(path)
    renamed = [(path, arrivals[before[path]].pop(0)) for path in removed if arrivals[before[path]]]
    moved = {path for pair in renamed for path in pair}
    return [p for p in added if p not in moved], modified, [p for p in removed if p not in moved], renamed


def _languages(now: Mapping[str, str], contents: ContentReader) -> dict[str, int]:
    """Files by language, most first. Only files without a suffix are read for it."""
    counts: Counter[str] = Counter()
    for path, oid in now.items():
        counts[language_of(path, b"" if suffix_of(path) else _head(path, oid, contents))] += 1
    return dict(counts.most_common())


def _head(path: str, oid: str, contents: ContentReader) -> bytes:
    try:
        data = contents.from_disk(path)[1] if oid.startswith(UNREAD) else contents.get(path, oid)
    except OSError:
        return b""
    return (data or b"")[:HEAD_BYTES]


def _estimate(sizes: Sequence[int]) -> float:
    return round(_START_SECONDS + len(sizes) * _FILE_SECONDS + sum(sizes) / _BYTES_A_SECOND, 1) if sizes else 0.1


# --- files edited since the last run, for a response that has to reflect them ---

MOST_FILES = 50_000
"""Files of a project up to which git compares it before a response: about half a second."""
_MOST_DIFFERING = 2_000
"""Files that differ from HEAD up to which they are read before a response; without git, all files do."""


def find_edits(db: Database, root: Path, config: IndexConfig) -> tuple[tuple[str, ...], int] | None:
    """Return the paths whose content on disk is not the indexed one, and its size; the index reflects HEAD.

    Files that git reports as equal to HEAD are not read. None: a response cannot wait for it, as there are too many, or
    other rules decided what is in the index.
    """
    if db.value("SELECT count(*) FROM head_file") > MOST_FILES:
        return None
    rules = digest_of_rules(config, EXTRACTOR_VERSION)
    if db.get_meta("rules") != rules:
        return None
    repository = Repository(root.resolve(), db.folder / "shadow")
    differing = {*repository.status(), *(path for (path,) in db.rows("SELECT path FROM worktree"))}
    if not differing or len(differing) > _MOST_DIFFERING:
        return None if differing else ((), 0)
    stored = load(db, EXTRACTOR_VERSION, rules)
    tree = WorkingTreeScan(repository, config, ContentReader(repository), stored.sizes, differing.__contains__)
    scan = tree.run()
    now = _now(scan, stored, tree.rules, {})
    indexed = {path: held.oid for path in differing if (held := stored.at(path)) is not None}
    paths = tuple(sorted(path for path in differing if now.get(path) != indexed.get(path)))
    return paths, sum(scan.sizes.get(path, 0) for path in paths)
