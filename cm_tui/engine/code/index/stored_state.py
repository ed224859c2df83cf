"""State of the store before a run."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import NamedTuple

from cm_tui.config import IndexConfig
from cm_tui.engine.code.scan.skip_rules import RULES_VERSION, SkipRules, suffix_of
from cm_tui.engine.platform.store.database import Database

NEXT_BLOB = "next_blob"
"""Key in `meta`: the number of the next blob; numbers are never reused."""


class BlobAtPath(NamedTuple):
    """Blob at a path."""

    blob: int
    oid: str


class ContentKey(NamedTuple):
    """Key of a verdict on content: object id, suffix of the path, and whether the project includes it explicitly."""

    oid: str
    suffix: str
    included: bool


@dataclass(slots=True)
class StoredState:
    """State that the store has at the start of a run."""

    spans: dict[str, BlobAtPath] = field(default_factory=dict)
    """HEAD's files as of the last run."""
    overlay: dict[str, BlobAtPath | None] = field(default_factory=dict)
    """What differed from them on disk; None: deleted."""
    parsed: dict[tuple[str, str], int] = field(default_factory=dict)
    """Blobs that this extractor parsed, by object id and language."""
    current: frozenset[int] = frozenset()
    """Ids of the blobs that may be reused by their path alone."""
    sizes: dict[str, int] = field(default_factory=dict)
    """Bytes by object id."""
    rejected: dict[ContentKey, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    meta: dict[str, str] = field(default_factory=dict)
    next_id: int = 1

    def at(self, path: str) -> BlobAtPath | None:
        """Return the blob at a path."""
        return self.overlay[path] if path in self.overlay else self.spans.get(path)

    def rejection(self, path: str, oid: str, rules: SkipRules) -> str | None:
        """Return why a path's known content is excluded; None: it is not."""
        return rules.verdict(path, self.rejected.get(ContentKey(oid, suffix_of(path), rules.included(path))))

    def paths(self) -> set[str]:
        """Return every path that holds a blob."""
        return {path for path in {*self.spans, *self.overlay} if self.at(path) is not None}


def load(db: Database, extractor: str, rules: str) -> StoredState:
    """Read the state of the last run.

    `extractor`: version of the extractor; blobs of another one have to be parsed again. `rules`: digest of the rules;
    verdicts by other rules are dropped.
    """
    stored = StoredState(meta=dict(db.facts))
    stored.next_id = db.number(NEXT_BLOB, 1)
    for path, blob, oid in db.rows("SELECT h.path, b.id, b.oid FROM head_file h JOIN blob b ON b.id = h.blob"):
        stored.spans[path] = BlobAtPath(blob, oid)
    for path, blob, oid in db.rows("SELECT w.path, b.id, b.oid FROM worktree w LEFT JOIN blob b ON b.id = w.blob"):
        stored.overlay[path] = None if blob is None else BlobAtPath(blob, oid)
    for number, oid, language, size, version in db.rows(
        "SELECT id, oid, language, bytes, parsed_by FROM blob ORDER BY id"
    ):
        stored.sizes[oid] = size
        stored.next_id = max(stored.next_id, number + 1)
        if version == extractor:
            stored.parsed[oid, language] = number
    stored.current = frozenset(stored.parsed.values())
    stored.skipped = dict(db.rows("SELECT path, reason FROM skipped"))
    if stored.meta.get("rules") == rules:
        stored.rejected = {
            ContentKey(oid, suffix, included): reason
            for oid, suffix, included, reason in db.rows("SELECT oid, suffix, included, reason FROM rejected")
        }
    else:
        # Every verdict is renewed, so no blob may be reused by its path alone.
        stored.current = frozenset()
    return stored


def digest_of_rules(config: IndexConfig, extractor: str) -> str:
    """Return a digest of the rules for content, so that verdicts by other rules are not used."""
    patterns = (config.include, config.untrusted_include, config.exclude)
    parts = (RULES_VERSION, extractor, *map(repr, patterns), str(config.max_file_bytes))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
