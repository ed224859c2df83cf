"""Which file or folder a Python module's name means."""

from __future__ import annotations

import posixpath
import sys
from collections import defaultdict
from collections.abc import Iterable

from cm_tui.engine.code.graph.module_index import OUTSIDE, ModuleIndex, Target, folder_of


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
