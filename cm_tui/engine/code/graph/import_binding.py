"""Bindings of import statements: a name in a scope, and the file behind it."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from typing import NamedTuple

from cm_tui.engine.code.graph.language_facts import facts_of
from cm_tui.engine.code.graph.module_index import ModuleIndex, Target
from cm_tui.engine.code.graph.modules_javascript import JavaScriptModules
from cm_tui.engine.code.graph.modules_other import OtherModules
from cm_tui.engine.code.graph.modules_python import PythonModules


class ImportRow(NamedTuple):
    """Import as stored, with its file."""

    file: int
    path: str
    family: str
    scope: int
    module: str
    name: str | None
    alias: str | None
    reexport: bool
    line: int


@dataclass(slots=True)
class Bound:
    """Columns of the tables `env` (imports only), `star` and `import_target`."""

    scope: list[int] = field(default_factory=list)
    name: list[str] = field(default_factory=list)
    node: list[int | None] = field(default_factory=list)
    segs: list[str | None] = field(default_factory=list)
    there: list[int | None] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    stars: set[tuple[int, int]] = field(default_factory=set)
    targets: list[tuple[ImportRow, int | None]] = field(default_factory=list)

    def add(
        self, row: ImportRow, local: str, node: int | None, segs: str | None = None, there: int | None = None
    ) -> None:
        """Bind a local name to a node, or to an expression in another scope."""
        self.scope.append(row.scope)
        self.name.append(local)
        self.node.append(node)
        self.segs.append(segs)
        self.there.append(there)
        self.line.append(row.line)


class Binder:
    """Turns import rows into bindings, language by language.

    `defined`: (file id, name) of what packages' `__init__` files define themselves.
    """

    def __init__(self, modules: ModuleIndex, defined: set[tuple[int, str]]) -> None:
        self._modules = modules
        self._defined = defined
        self.python = PythonModules(modules)
        self._javascript = JavaScriptModules(modules)
        self._other = OtherModules(modules)
        self._folders = {f.id: posixpath.dirname(p) for p, f in modules.by_path.items()
                         if posixpath.basename(p) in {"__init__.py", "__init__.pyi"}}  # fmt: skip
        self._java_files = {f.id: p for p, f in modules.by_path.items() if p.endswith(".java")}
        self.bound = Bound()

    def bind(self, row: ImportRow) -> None:
        """Add what one import row binds."""
        if row.family == "python":
            self._bind_python(row)
        elif row.family == "js":
            self._bind_javascript(row)
        else:
            self._bind_other(row)

    def bind_modules(self) -> None:
        """Bind modules declared within modules without an import (Rust's `mod`)."""
        for package, name, module in self._other.rust_modules():
            self.bound.add(ImportRow(package, "", "rust", -package, "", None, None, False, 0), name, -module)

    def file_of(self, family: str, module: str) -> int | None:
        """Return the file of a module from the project's root."""
        if family == "python":
            return self.python.resolve("", module).file
        if family == "js":
            return self._javascript.resolve("", module).file
        return self._other.resolve(family, "", module).file

    def _bind_python(self, row: ImportRow) -> None:
        target = self.python.resolve(row.path, row.module).file
        node = 0 if target is None else -target
        if row.name is None:
            self.bound.targets.append((row, target))
            if row.alias:
                self.bound.add(row, row.alias, node)
            else:
                top = self.python.resolve(row.path, row.module.partition(".")[0]).file
                self.bound.add(row, row.module.partition(".")[0], 0 if top is None else -top)
            return
        if row.name == "*":
            self.bound.targets.append((row, target))
            if target is not None:
                self.bound.stars.add((-row.file, node))
            return
        local = row.alias or row.name
        if target is None:
            self.bound.targets.append((row, None))
            self.bound.add(row, local, 0)
            return
        submodule = self._submodule(target, row.name)
        own = submodule is not None and (target, row.name) not in self._defined
        self.bound.targets.append((row, submodule if own else target))
        if submodule is not None and target == row.file:
            self.bound.add(row, local, -submodule)
        else:
            self.bound.add(row, local, None, row.name, node)

    def _submodule(self, package: int, name: str) -> int | None:
        folder = self._folders.get(package)
        if folder is None:
            folder = next((f.path for f in self._modules.pseudo if f.id == package), None)
        return None if folder is None else self.python.locate(posixpath.join(folder, name))

    def _bind_javascript(self, row: ImportRow) -> None:
        target = self._javascript.resolve(row.path, row.module).file
        self.bound.targets.append((row, target))
        node = 0 if target is None else -target
        if row.name == "*" or row.name is None:
            if row.alias:
                self.bound.add(row, row.alias, node)
            elif row.reexport and target is not None:
                self.bound.stars.add((-row.file, node))
            return
        local = row.alias or row.name
        if target is None:
            self.bound.add(row, local, 0)
        else:
            self.bound.add(row, local, None, row.name, node)

    def _bind_other(self, row: ImportRow) -> None:
        named = row.name not in (None, "*", "")
        separator = facts_of(row.family).separator
        full = f"{row.module}{separator}{row.name}" if named and row.module else row.name if named else row.module
        target = self._other.resolve(row.family, row.path, full or "")
        self.bound.targets.append((row, target.file))
        local = row.alias or (_last(full or "") if row.family != "go" else _go_name(full or ""))
        if target.file is None:
            if local and row.name != "*":
                self.bound.add(row, local, 0)
        elif row.name == "*" or (not named and not row.alias and self._takes_all(row.family, target)):
            self.bound.stars.add((-row.file, -target.file))
        elif target.member:
            self.bound.add(row, local, None, self._within_class(target.file, target.member), -target.file)
        elif row.family == "jvm":
            self.bound.add(row, local, None, _last(full or ""), -target.file)
        else:
            self.bound.add(row, local, -target.file)

    def _within_class(self, file: int, member: str) -> str:
        """Return a name as seen from the top of a file: a Java file's members are in its class."""
        path = self._java_files.get(file)
        return member if path is None else f"{posixpath.basename(path).removesuffix('.java')}.{member}"

    @staticmethod
    def _takes_all(family: str, target: Target) -> bool:
        """Whether an import without a name imports all definitions of the target."""
        return target.member is None and facts_of(family).takes_all


def _last(name: str) -> str:
    return re.split(r"[.:/\\]", name)[-1]


def _go_name(module: str) -> str:
    """Name of a Go package by its path, without a version such as `/v2`, and without `go-` or `.go`."""
    parts = [p for p in module.split("/") if not re.fullmatch(r"v\d+", p)] or [module]
    return parts[-1].removeprefix("go-").removesuffix("-go").split(".")[0].replace("-", "_")
