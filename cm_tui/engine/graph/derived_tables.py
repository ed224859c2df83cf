"""What the graph's queries stand on: files, definitions, scopes, imports and class hierarchies of what is alive.

Everything here is derived from the store and kept in memory, beside it: made when first asked for, and again after
the index has changed.
"""

from __future__ import annotations

import posixpath
import re
import threading
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, proxy

from cm_tui.engine.graph import language_facts
from cm_tui.engine.graph.import_binding import Binder, ImportRow
from cm_tui.engine.graph.module_index import File, ModuleIndex
from cm_tui.engine.graph.modules_other import FOLDER_PACKAGES, NAMESPACES, PROJECT_WIDE
from cm_tui.engine.scan.content_reader import ChangedError
from cm_tui.engine.store.database import Database

if TYPE_CHECKING:
    import duckdb

_MANIFESTS = re.compile(r"(^|/)((ts|js)config[^/]*\.json|package\.json|go\.mod|Cargo\.toml|pubspec\.yaml)$")


SCHEMA = "graph"
_SCHEMA = re.compile(r"\bgraph\.")

Read = Callable[[str, str], str]

_SHARED: WeakKeyDictionary[Database, dict[str, DerivedTables]] = WeakKeyDictionary()
_SHARING = threading.Lock()


@cache
def script(name: str) -> str:
    """Text of one of this folder's SQL files."""
    return (resources.files(__package__) / "sql" / f"{name}.sql").read_text(encoding="utf-8")


class SchemaView:
    """A store as one set of derived tables is asked: `graph.` in a query is the schema of that set.

    Args:
        db: the store.
        schema: where the set lies.
    """

    def __init__(self, db: Database, schema: str) -> None:
        # The store is the key that sets of tables hang on: a strong reference would keep it for ever.
        self._db: Database = proxy(db)
        self.schema = schema

    @property
    def cursor(self) -> duckdb.DuckDBPyConnection:
        """This thread's cursor."""
        return self._db.cursor

    def sql(self, text: str) -> str:
        """A query with the set's own schema; to be asked for before values are put in."""
        return text if self.schema == SCHEMA else _SCHEMA.sub(f"{self.schema}.", text)

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        return self._db.rows(self.sql(sql), parameters)

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """First column of the first row, or None."""
        return self._db.value(self.sql(sql), parameters)

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        """Run a statement whose rows nobody needs."""
        self._db.execute(self.sql(sql), parameters)

    def run(self, sql: str) -> None:
        """Run a script."""
        self.cursor.execute(self.sql(sql))

    def get_meta(self, key: str) -> str | None:
        """A remembered fact about the store."""
        return self._db.get_meta(key)


class DerivedTables:
    """The derived tables of what is alive at one moment, in a schema of their own.

    Args:
        db: the store.
        schema: where they lie.
    """

    def __init__(self, db: Database, schema: str = SCHEMA) -> None:
        self.lock = threading.RLock()
        """To be held from `refresh` to the last read of the tables."""
        self.shelf = SchemaView(db, schema)
        self._db = self.shelf
        self._key: tuple[Any, ...] | None = None
        self._state = object()
        self._binder: Binder | None = None

    @classmethod
    def of(cls, db: Database, schema: str = SCHEMA) -> DerivedTables:
        """The one set of tables of that name that everyone who asks about a store shares."""
        with _SHARING:
            shared = _SHARED.setdefault(db, {})
            if schema not in shared:
                shared[schema] = cls(db, schema)
            return shared[schema]

    def refresh(self, alive: str, read: Read | None) -> object:
        """Make the tables again if they do not stand for what is alive.

        Args:
            alive: a relation of (path, blob) as it may stand after FROM.
            read: text of a file by path and object id; the passages' text when not given.

        Returns:
            What changes whenever the tables do.
        """
        if self._key is None:
            self._prepare()
        state = self._db.rows(f"SELECT count(*), sum(hash(path, blob)) FROM {alive}")[0]  # noqa: S608 - our own relation
        key = (alive, *state, self._db.get_meta("passage_generation"), read)
        if key == self._key:
            return self._state
        self._key = ("in progress",)
        self._db.run(script("derived_tables").replace("{alive}", alive))
        self._imports(read)
        self._packages()
        self._db.run(script("star_imports"))
        self._hierarchy()
        self._key = key
        self._state = object()
        return self._state

    def files_of(self, target: str) -> set[int]:
        """Ids of the files or packages that a path or a module's name means."""
        found = self._db.rows(
            "SELECT id FROM graph.file WHERE path = ? UNION SELECT id FROM graph.package WHERE key = ? AND key <> ''",
            [target, target],
        )
        if found or self._binder is None:
            return {row[0] for row in found}
        families = [row[0] for row in self._db.rows("SELECT DISTINCT family FROM graph.file")]
        return {f for f in (self._binder.file_of(family, target) for family in families) if f is not None}

    def propagate(self) -> None:
        """Read the expressions in `seed` to their end; what they mean is in `done`."""
        self._db.run(script("propagate"))

    def _prepare(self) -> None:
        schema = self.shelf.schema
        if self._db.value("SELECT count(*) FROM duckdb_databases() WHERE database_name = ?", [schema]) == 0:
            self._db.execute(f"ATTACH ':memory:' AS {schema}")
        self._db.run(script("macros"))
        families = sorted({family for family, _ in language_facts.FAMILIES.values()})
        self._load("language", {"language": list(language_facts.FAMILIES), "family": [f for f, _ in language_facts.FAMILIES.values()],
                                "implicit": [i for _, i in language_facts.FAMILIES.values()]})  # fmt: skip
        selves = [(f, w, r) for f, known in language_facts.SELF_WORDS.items() for w, r in known.items()]
        self._load(
            "self_word",
            {"family": [s[0] for s in selves], "word": [s[1] for s in selves], "role": [s[2] for s in selves]},
        )
        scopes = {family: language_facts.BUILTIN_SCOPE - n for n, family in enumerate(families)}
        brought = [(f, scopes[f], n) for f in families for n in ('"', *language_facts.BUILTINS.get(f, ()))]
        self._load(
            "builtin",
            {"family": [b[0] for b in brought], "scope": [b[1] for b in brought], "name": [b[2] for b in brought]},
        )
        self._load("common", {"name": language_facts.common_names()})

    def _load(self, table: str, columns: dict[str, list[Any]], *, append: bool = False) -> None:
        """Fill a derived table from columns of integers, strings, booleans or lists of strings."""
        from arro3.core import Array, DataType, Table

        types = {
            **dict.fromkeys(("scope", "node", "there", "target", "file", "id", "symbol"), DataType.int64()),
            **dict.fromkeys(("implicit", "reexport"), DataType.bool()),
            "line": DataType.int32(),
        }
        # Lists travel as text: the Arrow library builds none.
        select = "* REPLACE (string_split(segs, '.') AS segs)" if "segs" in columns else "*"
        arrow = Table.from_pydict({n: Array(v, type=types.get(n, DataType.string())) for n, v in columns.items()})
        cursor = self._db.cursor
        cursor.register("incoming_facts", arrow)
        try:
            if append:
                self._db.run(f"INSERT INTO graph.{table} BY NAME SELECT {select} FROM incoming_facts")  # noqa: S608 - our own names
            else:
                self._db.run(f"CREATE OR REPLACE TABLE graph.{table} AS SELECT {select} FROM incoming_facts")  # noqa: S608 - likewise
        finally:
            cursor.unregister("incoming_facts")

    def _imports(self, read: Read | None) -> None:
        rows = self._db.rows("SELECT id, path, family FROM graph.file")
        files = [File(*row) for row in rows]
        layout = ModuleIndex(files, self._manifests(files, read))
        for family, name in self._db.rows(
            "SELECT DISTINCT family, replace(replace(qualname, '::', '.'), '\\', '.') FROM graph.def "
            "WHERE kind = 'namespace'"
        ):
            if family in NAMESPACES:
                layout.package(family, name)
        defined = self._db.rows(
            "SELECT d.file, d.name FROM graph.def d JOIN graph.file f ON f.id = d.file "
            "WHERE d.parent < 0 AND (f.path LIKE '%/\\_\\_init\\_\\_.py' ESCAPE '\\' OR f.path = '__init__.py')"
        )
        binder = self._binder = Binder(layout, {(file, name) for file, name in defined})
        for row in self._db.rows(
            "SELECT DISTINCT f.id, f.path, f.family, coalesce(h.holder, -f.id), i.module, i.name, i.alias, i.reexport, "
            "i.line "
            'FROM graph.file f JOIN "import" i ON i.blob = f.blob '
            "LEFT JOIN graph.holder h ON h.id = f.id * 1000000 + i.symbol ORDER BY f.id, i.line"
        ):
            binder.bind(ImportRow(*row))
        self._store(binder, layout)

    def _store(self, binder: Binder, layout: ModuleIndex) -> None:
        bound = binder.bound
        binder.bind_modules()
        imported: dict[str, list[Any]] = {
            "scope": bound.scope, "name": bound.name, "node": bound.node, "segs": bound.segs, "there": bound.there,
            "line": bound.line, "via": ["import"] * len(bound.scope),
        }  # fmt: skip
        self._load("env", imported, append=True)
        parts = sorted(set(binder.python.submodules()))
        submodules: dict[str, list[Any]] = {
            "scope": [-p for p, _, _ in parts], "name": [n for _, n, _ in parts], "node": [-m for _, _, m in parts],
            "via": ["submodule"] * len(parts),
        }  # fmt: skip
        self._load("env", submodules, append=True)
        self._db.execute("UPDATE graph.env SET prio = CASE via WHEN 'import' THEN 1 ELSE 3 END WHERE prio IS NULL")
        self._db.execute("INSERT INTO graph.env (scope, name, node, prio, line, via) "
                         "SELECT scope, name, 0, 9, 0, 'builtin' FROM graph.builtin")  # fmt: skip
        stars = sorted(bound.stars)
        self._load("star", {"scope": [s for s, _ in stars], "target": [t for _, t in stars]})
        # What a Lua file gives back is a table: its members are what the file offers.
        self._db.execute(
            "INSERT INTO graph.star SELECT -file, canon FROM graph.def WHERE family = 'lua' AND kind = 'namespace'"
        )
        rows = [r for r, _ in bound.targets]
        self._load("import_target", {
            "file": [r.file for r in rows], "module": [r.module for r in rows],
            "name": [r.name for r in rows], "alias": [r.alias for r in rows], "reexport": [r.reexport for r in rows],
            "line": [r.line for r in rows], "target": [t for _, t in bound.targets]})  # fmt: skip
        for folder in sorted({posixpath.dirname(p) for p, f in layout.by_path.items() if f.family in FOLDER_PACKAGES}):
            for family in {
                layout.by_path[c].family for c in layout.children[folder] if c in layout.by_path
            } & FOLDER_PACKAGES:
                layout.package(family, folder)
        for family in PROJECT_WIDE:
            layout.package(family, "")
        pseudo = layout.pseudo
        self._load(
            "package",
            {"id": [p.id for p in pseudo], "key": [p.path for p in pseudo], "family": [p.family for p in pseudo]},
        )

    def _packages(self) -> None:
        self._db.run(script("packages"))

    def _hierarchy(self) -> None:
        sites = script("sites").replace("{wanted}", "r.kind = 'inherit' AND r.symbol IS NOT NULL")
        sites = sites.replace("{scope}", "(SELECT d.parent FROM graph.def d WHERE d.id = site.scope)")
        self._db.run(sites)
        self._db.run(script("scope_lookup"))
        self.propagate()
        self._db.run(script("hierarchy"))

    def _manifests(self, files: list[File], read: Read | None) -> dict[str, str]:
        """Text of the files that say how modules are named, by path."""
        wanted = [f.path for f in files if _MANIFESTS.search(f.path)]
        if not wanted:
            return {}
        lines: dict[str, list[str]] = {}
        for path, start, text in self._db.rows(
            "SELECT p.path, p.start_line, p.text FROM passage p "
            "JOIN graph.file f ON f.path = p.path AND f.blob = p.blob "
            "WHERE p.path IN (SELECT unnest(?::VARCHAR[])) ORDER BY p.path, p.start_line",
            [wanted],
        ):
            lines.setdefault(path, [])[start - 1 :] = text.split("\n")
        texts = {path: "\n".join(found) for path, found in lines.items()}
        missing = [path for path in wanted if path not in texts]
        if read is not None and missing:
            # A state of the past has no passages.
            oids = dict(self._db.rows("SELECT f.path, b.oid FROM graph.file f JOIN blob b ON b.id = f.blob"))
            for path in missing:
                try:
                    texts[path] = read(path, oids[path])
                except ChangedError:
                    # Edited since it was indexed: what it maps is external until the next run has read it.
                    continue
        return texts
