"""Running the index in tests, and reading all of it in a form that two stores can be compared by."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from cm_tui.config import Config, EmbeddingConfig, IndexConfig
from cm_tui.engine.code.index.indexer import Indexer
from cm_tui.engine.platform.store.database import Database
from cm_tui.model import IndexSummary

QUIET = EmbeddingConfig(provider="none")

_BLOB = "(SELECT oid || ' ' || language FROM blob WHERE id = t.blob)"
TABLES = {
    "blob": "SELECT oid, language, bytes, lines, generated, parsed_by, error FROM blob",
    "symbol": f"SELECT {_BLOB}, t.* EXCLUDE (blob) FROM symbol t",
    "reference": f"SELECT {_BLOB}, t.* EXCLUDE (blob) FROM reference t",
    "import": f"SELECT {_BLOB}, t.* EXCLUDE (blob) FROM import t",
    "binding": f"SELECT {_BLOB}, t.* EXCLUDE (blob) FROM binding t",
    "chunk": f"SELECT {_BLOB}, t.* EXCLUDE (blob) FROM chunk t",
    "head_file": f"SELECT {_BLOB}, t.* EXCLUDE (blob) FROM head_file t",
    "file_span": f"SELECT {_BLOB}, t.* EXCLUDE (blob) FROM file_span t",
    "worktree": f"SELECT {_BLOB}, t.* EXCLUDE (blob) FROM worktree t",
    "line_commit": "SELECT * FROM line_commit",
    "skipped": "SELECT * FROM skipped",
    "rejected": "SELECT * FROM rejected",
    "meta": "SELECT * FROM meta WHERE key IN ('schema', 'root', 'rules', 'identity', 'indexed_head')",
    "passage": f"SELECT {_BLOB}, t.* EXCLUDE (id, blob) FROM passage t",
    "keywords": """
        SELECT p.path, p.start_line, p.end_line, p.symbol, d.len, x.fieldid, w.term, w.df, count(*)
        FROM fts_main_passage.docs d JOIN passage p ON p.id = d.name
        JOIN fts_main_passage.terms x ON x.docid = d.docid JOIN fts_main_passage.dict w ON w.termid = x.termid
        GROUP BY ALL""",
    "keyword words": "SELECT term, df FROM fts_main_passage.dict WHERE df > 0",
    "keyword numbers": "SELECT num_docs, round(avgdl, 6) FROM fts_main_passage.stats",
}


def configured(**settings: Any) -> Config:
    """A configuration without vectors."""
    return Config(index=IndexConfig(**{"workers": 1, **settings}), embedding=QUIET)


def index(db: Database, root: Path, config: Config | None = None, **how: Any) -> IndexSummary:
    """Run to the end."""
    summary = None
    for progress in Indexer(db, root, config or configured()).run(**how):
        summary = progress.summary
    assert summary is not None
    return summary


def canonical(db: Database) -> dict[str, list[tuple[Any, ...]]]:
    """Every table without the numbers that depend on what was done before, sorted."""
    return {name: sorted(db.rows(sql), key=repr) for name, sql in TABLES.items()}


def fresh(folder: Path, root: Path, config: Config | None = None) -> dict[str, list[tuple[Any, ...]]]:
    """What an index made from nothing holds."""
    with closing(Database(folder)) as db:
        index(db, root, config)
        return canonical(db)


def now(db: Database) -> dict[str, str]:
    """Language by path of everything indexed."""
    return dict(db.rows("SELECT n.path, b.language FROM now_file n JOIN blob b ON b.id = n.blob"))


def skipped(db: Database) -> dict[str, str]:
    """Reason by path."""
    return dict(db.rows("SELECT path, reason FROM skipped"))
