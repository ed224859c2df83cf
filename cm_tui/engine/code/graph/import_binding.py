"""Bindings of import statements: a name in a scope, and the file behind it."""

from __future__ import annotations

import posixpath
import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from cm_tui.engine.code.graph.language_facts import facts_of
from cm_tui.engine.code.graph.module_index import OUTSIDE, ModuleIndex, Target, folder_of
from cm_tui.engine.code.graph.modules_javascript import JavaScriptModules
from cm_tui.engine.code.graph.modules_other import OtherModules


class PythonModules:
    """Python's absolute and relative modules, packages with and without `__init__`, and source roots."""

    def __init__(self, modules: ModuleIndex) -> None:
        self._modules = modules
        self._roots: dict[str, list[str]] = defaultdict(list)
        self._cache: dict[tuple[str, str], Target] = {}
        for path, file in modules.by_path.items():
            if file.family == "python":
                self._index(path)

    def _index(self, path: str) -> None:
        """Record the import root for a file's top-level name."""
        folder = folder_of(path)
        stem = posixpath.basename(path).rsplit(".", 1)[0]
        if stem == "__init__":
            folder, stem = folder_of(folder), posixpath.basename(folder)
            if not stem:
                return
        while self._is_package(folder):
            folder, stem = folder_of(folder), posixpath.basename(folder)
        self._add(stem, folder)
        # Folders without __init__ are packages too.
        while folder:
            folder, stem = folder_of(folder), posixpath.basename(folder)
            self._add(stem, folder)

    def _add(self, name: str, root: str) -> None:
        roots = self._roots[name]
        if root not in roots:
            roots.append(root)

    def _is_package(self, folder: str) -> bool:
        return bool(folder) and any(f"{folder}/__init__{e}" in self._modules.by_path for e in (".py", ".pyi"))

    def resolve(self, importer: str, module: str) -> Target:
        """Return the file of a module as written in an importing file."""
        folder = folder_of(importer)
        key = (folder, module)
        found = self._cache.get(key)
        if found is None:
            found = self._cache[key] = self._resolve(folder, module)
        return found

    def _resolve(self, folder: str, module: str) -> Target:
        name = module.lstrip(".")
        dots = len(module) - len(name)
        if dots:
            for _ in range(dots - 1):
                folder = folder_of(folder)
            return Target(self.locate(posixpath.join(folder, *name.split(".")) if name else folder))
        parts = name.split(".")
        for root in self._ordered(parts[0], folder):
            found = self.locate(posixpath.join(root, *parts))
            if found is not None:
                return Target(found)
        return OUTSIDE

    def _ordered(self, top: str, folder: str) -> list[str]:
        """Roots with a top-level name, nearest to the importer first.

        A name of the standard library means the library unless the importer is below that root, and a bare folder
        elsewhere is not an import root.
        """
        roots = self._roots.get(top, [])
        above = [r for r in roots if r in {"", folder} or folder.startswith(r + "/")]
        if top in sys.stdlib_module_names:
            return sorted((r for r in above if self._own(r, top, folder)), key=len, reverse=True)
        elsewhere = [r for r in roots if r not in above and self._is_package(posixpath.join(r, top))]
        sources = [r for r in roots if r not in above and r not in elsewhere and r.rsplit("/", 1)[-1] in {"src", "lib"}]
        return sorted(above, key=len, reverse=True) + sorted(elsewhere, key=lambda r: (len(r), r)) + sorted(sources)

    def _own(self, root: str, top: str, folder: str) -> bool:
        """Whether a standard library's name is the importer's own package or is next to a script."""
        own = posixpath.join(root, top)
        return folder == own or folder.startswith(own + "/") or (folder == root and not self._is_package(folder))

    def locate(self, base: str) -> int | None:
        """Id of the module at a path without extension: a package, a file, or a folder of modules."""
        found = self._modules.first(f"{base}/__init__.py", f"{base}.py", f"{base}.pyi", f"{base}/__init__.pyi")
        if found is None and base and self._has_python(base):
            return self._modules.package("python", base)
        return found

    def _has_python(self, folder: str, depth: int = 3) -> bool:
        children = self._modules.children.get(folder, set())
        if any(c.endswith((".py", ".pyi")) for c in children):
            return True
        return depth > 0 and any(self._has_python(c, depth - 1) for c in children if c in self._modules.children)

    def submodules(self) -> Iterable[tuple[int, str, int]]:
        """(package, name, module) for every module in a package or a folder of modules."""
        packages = {folder_of(p): f.id for p, f in self._modules.by_path.items()
                    if posixpath.basename(p) in {"__init__.py", "__init__.pyi"}}  # fmt: skip
        # Folders are created by lookups, so those of folders come first.
        waiting = [(f.path, f.id) for f in self._modules.pseudo if f.family == "python"]
        done: set[str] = set()
        pairs = list(packages.items())
        while waiting or pairs:
            folder, number = pairs.pop() if pairs else waiting.pop()
            if folder in done:
                continue
            done.add(folder)
            for child in self._modules.children.get(folder, ()):
                name = posixpath.basename(child).rsplit(".", 1)[0]
                if name == "__init__":
                    continue
                found = self.locate(posixpath.join(folder, name))
                if found is not None:
                    yield number, name, found
                    if child in self._modules.children and child not in packages:
                        waiting.append((child, found))


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
        ways = {"python": self._bind_python, "javascript": self._bind_javascript}
        ways.get(facts_of(row.family).modules, self._bind_other)(row)

    def bind_modules(self) -> None:
        """Bind modules declared within modules without an import (Rust's `mod`)."""
        for package, name, module in self._other.rust_modules():
            self.bound.add(ImportRow(package, "", "rust", -package, "", None, None, False, 0), name, -module)

    def file_of(self, family: str, module: str) -> int | None:
        """Return the file of a module from the project's root."""
        match facts_of(family).modules:
            case "python":
                return self.python.resolve("", module).file
            case "javascript":
                return self._javascript.resolve("", module).file
            case _:
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
                if target is not None and row.name is None:
                    # Of a CommonJS module both are in use: its members, and what it is itself.
                    self.bound.add(row, row.alias, None, "default", node)
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
