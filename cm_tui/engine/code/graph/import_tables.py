"""Tables of names bound by imports, and of packages that share names without imports."""

from __future__ import annotations

from collections.abc import Mapping

from cm_tui.engine.code.graph.import_binding import Binder, ImportRow
from cm_tui.engine.code.graph.language_facts import sharing
from cm_tui.engine.code.graph.module_index import File, ModuleIndex
from cm_tui.engine.code.graph.schema_view import SchemaView

_NAMESPACES = """
SELECT DISTINCT family, replace(replace(qualname, '::', '.'), '\\', '.') FROM graph.def WHERE kind = 'namespace'
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
    _fill_names(view, binder)
    _fill_stars(view, binder)
    _fill_targets(view, binder)
    view.fill("package", ("id", "key", "family"), [(p.id, p.path, p.family) for p in modules.pseudo])
    return binder


def _add_namespaces(view: SchemaView, modules: ModuleIndex) -> None:
    spanning = sharing("namespace")
    for family, name in view.rows(_NAMESPACES):
        if family in spanning:
            modules.package(family, name)


def _fill_names(view: SchemaView, binder: Binder) -> None:
    """Add what imports, submodules and the language itself name."""
    bound = binder.bound
    names = zip(bound.scope, bound.name, bound.node, bound.segs, bound.there, bound.line, strict=True)
    columns = ("scope", "name", "node", "segs", "there", "line", "via")
    view.fill("env", columns, ((*row, "import") for row in names), append=True)
    submodules = sorted(set(binder.python.submodules()))
    rows = [(-package, name, -module, "submodule") for package, name, module in submodules]
    view.fill("env", ("scope", "name", "node", "via"), rows, append=True)
    view.execute("UPDATE graph.env SET prio = CASE via WHEN 'import' THEN 1 ELSE 3 END WHERE prio IS NULL")
    view.execute(
        "INSERT INTO graph.env (scope, name, node, prio, line, via) "
        "SELECT scope, name, 0, 9, 0, 'builtin' FROM graph.builtin"
    )


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
