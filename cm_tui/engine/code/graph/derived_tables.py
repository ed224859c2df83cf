"""Derived tables for the graph's queries: files, definitions, scopes, imports and class hierarchies.

Everything here is derived from the store and kept in memory next to it: built on demand, and again after the index has
changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any
from weakref import proxy

from cm_tui.engine.code.graph import language_facts
from cm_tui.engine.code.graph.import_binding import Binder, ImportRow
from cm_tui.engine.code.graph.language_facts import BUILTIN_SCOPE, FAMILIES, facts_of, sharing
from cm_tui.engine.code.graph.module_index import File, ModuleIndex
from cm_tui.engine.code.scan.content_reader import ChangedError
from cm_tui.engine.platform.store.bulk import transpose
from cm_tui.engine.platform.store.connection import Cursor
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.platform.store.generations import Generations

# --- a store as seen by graph queries: with an in-memory schema for derived tables ---

SCHEMA = "graph"
_SCHEMA = re.compile(r"\bgraph\.")
_IDS = ("scope", "node", "there", "target", "file", "id", "symbol")
_FAMILY_FLAGS = (
    "enclosing_visible", "guesses", "global_names", "counts_arguments", "module_classes", "qualified_members",
)  # fmt: skip
_FLAGS = ("implicit", "reexport", "by_namespace", *_FAMILY_FLAGS)


@cache
def script(name: str) -> str:
    """Text of one of this folder's SQL files."""
    return (resources.files(__package__) / "sql" / f"{name}.sql").read_text(encoding="utf-8")


class SchemaView:
    """View of a store with one set of derived tables: `graph.` in a query is the schema of that set."""

    def __init__(self, db: Database, schema: str) -> None:
        # The store is the key of the sets: a strong reference would keep it forever.
        self._db: Database = proxy(db)
        self.schema = schema

    @property
    def cursor(self) -> Cursor:
        """This thread's cursor."""
        return self._db.cursor

    @property
    def generations(self) -> Generations:
        """States of the store that questions are answered from."""
        return self._db.generations

    def sql(self, text: str) -> str:
        """Return a query with the set's own schema; call it before inserting values."""
        return text if self.schema == SCHEMA else _SCHEMA.sub(f"{self.schema}.", text)

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        return self._db.rows(self.sql(sql), parameters)

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """First column of the first row, or None."""
        return self._db.value(self.sql(sql), parameters)

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        """Run a statement without reading its rows."""
        self._db.execute(self.sql(sql), parameters)

    def run(self, sql: str) -> None:
        """Run a script."""
        self.cursor.execute(self.sql(sql))

    def fill(self, table: str, names: Sequence[str], rows: Iterable[tuple[Any, ...]], *, append: bool = False) -> None:
        """Fill a table of the set with rows of integers, strings and booleans.

        `table`: recreated unless `append` is set. `names`: of its columns; those of `segs` are split at dots. `rows`:
        values in that order. `append`: keep existing rows.
        """
        from arro3.core import Array, DataType, Table

        types = {
            **dict.fromkeys(_IDS, DataType.int64()), **dict.fromkeys(_FLAGS, DataType.bool()), "line": DataType.int32(),
        }  # fmt: skip
        columns = transpose(names, rows)
        arrow = Table.from_pydict({n: Array(v, type=types.get(n, DataType.string())) for n, v in columns.items()})
        # Lists travel as text: the Arrow library builds none.
        select = "* REPLACE (string_split(segs, '.') AS segs)" if "segs" in columns else "*"
        cursor = self._db.cursor
        cursor.register("incoming_rows", arrow)
        try:
            if append:
                self.run(f"INSERT INTO graph.{table} BY NAME SELECT {select} FROM incoming_rows")  # noqa: S608 - our own names
            else:
                self.run(f"CREATE OR REPLACE TABLE graph.{table} AS SELECT {select} FROM incoming_rows")  # noqa: S608 - likewise
        finally:
            cursor.unregister("incoming_rows")


# --- derived tables for the graph's queries ---

_HAS_PACKAGES = """
SELECT EXISTS (FROM graph.package) OR EXISTS (FROM graph.outer_member)
    OR EXISTS (FROM graph.file f JOIN graph.part_kind k ON k.language = f.language)
"""
_NO_PACKAGES = """
CREATE OR REPLACE TABLE graph.shared (def BIGINT, package BIGINT);
CREATE OR REPLACE TABLE graph.part (id BIGINT, is_container BOOLEAN, whole BIGINT);
"""
"""What `packages` leaves behind where nothing has a package, a member outside of its type, or parts."""
_NAMESPACES = """
SELECT DISTINCT family, replace(replace(qualname, '::', '.'), '\\', '.') FROM graph.def
WHERE kind = 'namespace' OR (is_class AND family IN (SELECT family FROM graph.family WHERE module_classes))
"""
_DEFINED_BY_PACKAGES = r"""
SELECT d.file, d.name FROM graph.def d JOIN graph.file f ON f.id = d.file
WHERE d.parent < 0 AND (f.path LIKE '%/\_\_init\_\_.py' ESCAPE '\' OR f.path = '__init__.py')
"""
_IMPORTS = """
SELECT DISTINCT f.id, f.path, f.family, coalesce(h.holder, -f.id), i.module, i.name, i.alias, i.reexport, i.line
FROM graph.file f JOIN "import" i ON i.blob = f.blob
LEFT JOIN graph.holder h ON h.id = f.id * 1000000 + i.symbol ORDER BY f.id, i.line
"""


def fill_import_tables(view: SchemaView, manifests: Mapping[str, str]) -> Binder:
    """Fill `env`, `star`, `import_target` and `package` from the files and definitions of a set of tables.

    `view`: the set; has `file`, `def` and `holder`. `manifests`: text of the files that define module names, by path.
    Returns the lookup of files by module name.
    """
    modules = ModuleIndex([File(*row) for row in view.rows("SELECT id, path, family FROM graph.file")], manifests)
    _add_namespaces(view, modules)
    for family, key in view.rows("SELECT DISTINCT family, key FROM graph.home ORDER BY ALL"):
        modules.package(family, key)
    binder = Binder(modules, {(file, name) for file, name in view.rows(_DEFINED_BY_PACKAGES)})
    for row in view.rows(_IMPORTS):
        binder.bind(ImportRow(*row))
    binder.bind_modules()
    _fill_names(view, binder, modules)
    _fill_stars(view, binder)
    _fill_targets(view, binder)
    view.fill("package", ("id", "key", "family"), [(p.id, p.path, p.family) for p in modules.pseudo])
    return binder


def _add_namespaces(view: SchemaView, modules: ModuleIndex) -> None:
    spanning = sharing("namespace")
    for family, name in view.rows(_NAMESPACES):
        if family in spanning or facts_of(family).modules == "namespace":
            modules.package(family, name)


def _fill_names(view: SchemaView, binder: Binder, modules: ModuleIndex) -> None:
    """Add what imports, submodules and the language itself name."""
    bound = binder.bound
    names = zip(bound.scope, bound.name, bound.node, bound.segs, bound.there, bound.line, strict=True)
    columns = ("scope", "name", "node", "segs", "there", "line", "via")
    view.fill("env", columns, ((*row, "import") for row in names), append=True)
    submodules = sorted(set(binder.python.submodules()))
    rows = [(-package, name, -module, "submodule") for package, name, module in submodules]
    rows += _namespace_tree(modules)
    view.fill("env", ("scope", "name", "node", "via"), rows, append=True)
    view.execute("UPDATE graph.env SET prio = CASE via WHEN 'import' THEN 1 ELSE 3 END WHERE prio IS NULL")
    view.execute(
        "INSERT INTO graph.env (scope, name, node, prio, line, via) "
        "SELECT scope, name, 0, 9, 0, 'builtin' FROM graph.builtin"
    )


def _namespace_tree(modules: ModuleIndex) -> Iterator[tuple[int, str, int, str]]:
    """Yield the parts of each namespace, where imports name namespaces, and the root.

    PHP's names begin at the file's own namespace, those of C# and Elixir at the root as well.
    """
    found = set()
    for number, (family, facts) in enumerate(sorted(FAMILIES.items())):
        keys = [one.path for one in modules.pseudo if one.family == family]
        if not keys or facts.modules != "namespace":
            continue
        anywhere = BUILTIN_SCOPE - number
        if facts.root:
            found.add((anywhere, facts.root, -modules.package(family, "")))
        for parts in (key.split(".") for key in keys if key):
            for size, name in enumerate(parts):
                outer, inner = (modules.package(family, ".".join(parts[:end])) for end in (size, size + 1))
                found.add((-outer, name, -inner))
                if not size and facts.separator == ".":
                    found.add((anywhere, name, -inner))
    return ((*row, "submodule") for row in sorted(found))


def _fill_stars(view: SchemaView, binder: Binder) -> None:
    view.fill("star", ("scope", "target"), sorted(binder.bound.stars))
    # A Lua file returns a table, whose members are the file's.
    view.execute(
        "INSERT INTO graph.star SELECT -file, canon FROM graph.def WHERE family = 'lua' AND kind = 'namespace'"
    )
    # So does a class of Java whose static members are all imported.
    view.execute(
        "INSERT INTO graph.star SELECT s.scope, d.canon FROM graph.star s JOIN graph.def d ON d.file = -s.target "
        "JOIN graph.file f ON f.id = d.file WHERE f.language = 'java' AND d.is_class AND d.parent < 0"
    )


def _fill_targets(view: SchemaView, binder: Binder) -> None:
    columns = ("file", "module", "name", "alias", "reexport", "line", "target")
    rows = ((r.file, r.module, r.name, r.alias, r.reexport, r.line, target) for r, target in binder.bound.targets)
    view.fill("import_target", columns, rows)


_MANIFESTS = re.compile(r"(^|/)((ts|js)config[^/]*\.json|package\.json|go\.mod|Cargo\.toml|pubspec\.yaml)$")


Read = Callable[[str, str], str]


class DerivedTables:
    """Derived tables of one snapshot of the project, in a separate schema.

    `snapshot`: a relation of (path, blob) for a FROM clause.
    """

    def __init__(self, db: Database, schema: str, snapshot: str) -> None:
        self.view = SchemaView(db, schema)
        self._db = self.view
        self._snapshot = snapshot
        self._binder: Binder | None = None

    def make(self, read: Read | None) -> None:
        """Build the tables.

        `read`: text of a file by path and object id; default: the passages' text.
        """
        self._prepare()
        self._db.run(script("derived_tables").replace("{snapshot}", self._snapshot))
        self._binder = fill_import_tables(self.view, self._manifests(read))
        self._db.run(script("packages") if self._db.value(_HAS_PACKAGES) else _NO_PACKAGES)
        self._db.run(script("star_imports"))
        self._hierarchy()

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

    def packages_of(self, files: set[int]) -> tuple[list[int], list[str]]:
        """Ids of the packages that files share their names with, and the names."""
        rows = self._db.rows(
            "SELECT DISTINCT s.package, d.name FROM graph.def d JOIN graph.shared s ON s.def = d.id "
            "WHERE d.file IN (SELECT unnest(?::BIGINT[]))",
            [sorted(files)],
        )
        return sorted({row[0] for row in rows}), sorted({row[1] for row in rows})

    def propagate(self) -> None:
        """Resolve the expressions in `seed` completely; the results are in `done`."""
        if self._db.value("SELECT count(*) FROM seed"):
            self._db.run(script("propagate"))
        else:
            # Planning that query takes longer than resolving the calls of a small project.
            self._db.run("CREATE OR REPLACE TEMP TABLE done AS FROM seed")

    def _prepare(self) -> None:
        schema = self.view.schema
        if self._db.value("SELECT count(*) FROM duckdb_databases() WHERE database_name = ?", [schema]) == 0:
            # READ_WRITE is explicit: a read-only store would make this read-only, too. Compressed, it takes a third.
            self._db.execute(f"ATTACH ':memory:' AS {schema} (READ_WRITE, COMPRESS)")
        self._db.run(script("macros"))
        families = sorted(language_facts.FAMILIES.values(), key=lambda family: family.name)
        self.view.fill("family", ("family", "shares", "exports", "by_namespace", *_FAMILY_FLAGS),
                        [(f.name, f.shares, f.exports, f.modules == "namespace", *(getattr(f, flag) for flag in _FAMILY_FLAGS))
                         for f in families])  # fmt: skip
        parts = ("language", "kind", "mark", "marked")
        self.view.fill("part_kind", parts, [tuple(one[name] for name in parts) for f in families for one in f.parts])
        self.view.fill("keyword", ("family", "name"), [(f.name, word) for f in families for word in f.keywords])
        self.view.fill("language", ("language", "family", "implicit"),
                        [(one, f.name, one in f.implicit) for f in families for one in f.languages])  # fmt: skip
        self.view.fill("self_word", ("family", "word", "role"),
                        [(f.name, word, role) for f in families for word, role in f.self_words.items()])  # fmt: skip
        scopes = {f.name: language_facts.BUILTIN_SCOPE - n for n, f in enumerate(families)}
        self.view.fill("builtin", ("family", "scope", "name"),
                        [(f.name, scopes[f.name], name) for f in families for name in ('"', *f.builtins)])  # fmt: skip
        self.view.fill("common", ("name",), [(name,) for name in language_facts.common_names()])

    def _hierarchy(self) -> None:
        sites = script("sites").replace("{wanted}", "r.kind = 'inherit' AND r.symbol IS NOT NULL")
        sites = sites.replace("{scope}", "(SELECT d.parent FROM graph.def d WHERE d.id = site.scope)")
        self._db.run(sites)
        self._db.run(script("scope_lookup"))
        self.propagate()
        self._db.run(script("hierarchy"))

    def _manifests(self, read: Read | None) -> dict[str, str]:
        """Text of the files that define module names, by path."""
        wanted = [path for (path,) in self._db.rows("SELECT path FROM graph.file") if _MANIFESTS.search(path)]
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
                    # Edited since it was indexed: its mappings are external until the next run has read it.
                    continue
        return texts
