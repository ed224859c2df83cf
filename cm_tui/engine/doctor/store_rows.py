"""The rows of a store: read to the last one, and compared with each other."""

from __future__ import annotations

from cm_tui.counts import count
from cm_tui.engine.platform.store.database import Database

_OF_BLOBS = ("symbol", "reference", "import", "binding", "chunk", "head_file", "worktree", "file_span")
"""Tables whose rows name a blob."""

_CONTRADICTIONS = (
    ("blobs share a number", "SELECT count(*) - count(DISTINCT id) FROM blob"),
    ("passages share a number", "SELECT count(*) - count(DISTINCT id) FROM passage"),
    ("paths are listed twice", "SELECT count(*) - count(DISTINCT path) FROM head_file"),
    (
        "passages belong to removed files",
        "SELECT count(*) FROM passage WHERE blob IS NOT NULL AND blob NOT IN (SELECT id FROM blob)",
    ),
    (
        "passages are not in the keyword index",
        "SELECT count(*) FROM passage p ANTI JOIN fts_main_passage.docs d ON d.docid = p.id",
    ),
    (
        "texts of the keyword index belong to removed passages",
        "SELECT count(*) FROM fts_main_passage.docs d ANTI JOIN passage p ON d.docid = p.id",
    ),
    (
        "texts have wrong counts in the keyword index",
        "SELECT abs(s.num_docs - (SELECT count(*) FROM fts_main_passage.docs)) FROM fts_main_passage.stats s",
    ),
)
_WRONG_WORDS = """
SELECT count(*) FROM fts_main_passage.dict d
FULL JOIN (SELECT termid, count(DISTINCT docid) AS df FROM fts_main_passage.terms GROUP BY termid) t ON t.termid = d.termid
WHERE d.df IS DISTINCT FROM t.df
"""
_WRONG_LENGTHS = """
SELECT count(*) FROM fts_main_passage.docs d
LEFT JOIN (SELECT docid, count(*) AS len FROM fts_main_passage.terms GROUP BY docid) t ON t.docid = d.docid
WHERE d.len <> coalesce(t.len, 0)
"""
_KEYWORDS = (
    ("words of the keyword index have wrong counts", _WRONG_WORDS),
    ("texts of the keyword index have a wrong length", _WRONG_LENGTHS),
)


def read_everything(db: Database) -> int:
    """Read every value of every table.

    Returns how many rows there are. Raises StoreDamagedError if some of it cannot be read.
    """
    total = 0
    columns: dict[tuple[str, str], list[str]] = {}
    for schema, table, column in db.rows(
        "SELECT schema_name, table_name, column_name FROM duckdb_columns() "
        "WHERE NOT internal AND database_name = current_database()"
    ):
        columns.setdefault((schema, table), []).append(column)
    tables = set(db.rows("SELECT schema_name, table_name FROM duckdb_tables()"))
    for (schema, table), names in columns.items():
        if (schema, table) in tables:
            # A digest of each column: nothing less makes DuckDB unpack all of it.
            digests = ", ".join(f'bit_xor(hash("{name}"))' for name in names)
            total += db.rows(f'SELECT count(*), {digests} FROM "{schema}"."{table}"')[0][0]  # noqa: S608 - its own names
    return total


def contradictions(db: Database, *, full: bool = False) -> list[str]:
    """Return contradictions between rows, in words.

    `full`: also count the words of the keyword index. Raises StoreDamagedError if they cannot be read.
    """
    found = []
    for table in _OF_BLOBS:
        sql = f"SELECT count(*) FROM {table} t ANTI JOIN blob b ON b.id = t.blob WHERE t.blob IS NOT NULL"  # noqa: S608 - constants
        if rows := db.value(sql):
            found.append(f"{count(rows, f'row of {table} is', f'rows of {table} are')} of files that are gone")
    for words, sql in (*_CONTRADICTIONS, *(_KEYWORDS if full else ())):
        if wrong := db.value(sql):
            found.append(f"{int(wrong):,} {words}")
    return found
