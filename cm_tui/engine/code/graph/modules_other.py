"""Which file or package an import means in every family but Python and JavaScript."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator

from cm_tui.engine.code.graph.language_facts import facts_of
from cm_tui.engine.code.graph.module_index import OUTSIDE, ModuleIndex, Target


class OtherModules:
    """Imports that name a path, a package or a type."""

    def __init__(self, modules: ModuleIndex) -> None:
        self._modules = modules
        self._cache: dict[tuple[str, str, str], Target] = {}
        self._by_stem: dict[str, list[str]] = defaultdict(list)
        for path in modules.by_path:
            self._by_stem[posixpath.basename(path).split(".", 1)[0]].append(path)
        self._go = list(self._named("go.mod", r"^module\s+\"?([^\s\"]+)"))
        crates = self._named("Cargo.toml", r'^\[package\][^\[]*?^name\s*=\s*"([^"]+)"')
        self._crates = {name.replace("-", "_"): folder for name, folder in crates}
        self._dart = dict(self._named("pubspec.yaml", r"^name:\s*['\"]?(\w+)"))

    def _named(self, manifest: str, pattern: str) -> Iterator[tuple[str, str]]:
        """(name, folder) of every manifest with a name."""
        for path, text in self._modules.texts.items():
            found = re.search(pattern, text, re.MULTILINE | re.DOTALL)
            if posixpath.basename(path) == manifest and found:
                yield found[1], posixpath.dirname(path)

    def resolve(self, family: str, importer: str, module: str) -> Target:
        """Return the file or package of a module, and the rest of the name."""
        key = (family, posixpath.dirname(importer) if family != "rust" else importer, module)
        found = self._cache.get(key)
        if found is None:
            found = self._cache[key] = self._resolve(family, importer, module)
        return found

    def _resolve(self, family: str, importer: str, module: str) -> Target:
        match facts_of(family).modules:
            case "go":
                return self._go_package(importer, module)
            case "rust":
                return self._rust_path(importer, module)
            case "dart":
                return self._dart_file(importer, module)
            case "dotted":
                return self._dotted(family, module)
            case "namespace" if not module.startswith("."):
                return self._namespaced(family, module)
            case _:
                return self._path(family, importer, module)

    def _go_package(self, importer: str, module: str) -> Target:
        for name, root in self._go:
            if module == name or module.startswith(name + "/"):
                folder = posixpath.normpath(posixpath.join(root, module[len(name) :].lstrip("/")))
                folder = "" if folder == "." else folder
                if folder == "" or self._modules.is_folder(folder):
                    return Target(self._modules.package("go", folder))
        if module.startswith("."):
            folder = posixpath.normpath(posixpath.join(posixpath.dirname(importer), module))
            return Target(self._modules.package("go", folder))
        return OUTSIDE

    def _rust_path(self, importer: str, module: str) -> Target:
        parts = module.split("::")
        root = self._crate_root(importer)
        here = _rust_module(importer, root)
        if parts[0] == "crate":
            at, rest = root, parts[1:]
        elif parts[0] in {"self", "super"}:
            at, rest = here, list(parts)
            while rest and rest[0] in {"self", "super"}:
                at = at if rest[0] == "self" else posixpath.dirname(at)
                rest = rest[1:]
        elif parts[0] in self._crates:
            at, rest = posixpath.join(self._crates[parts[0]], "src"), parts[1:]
        else:
            # A module declared next to the importer, as `use shapes::Circle` after `mod shapes`.
            at, rest = here, parts
            if self._rust_file(posixpath.join(at, parts[0])) is None:
                return OUTSIDE
        return self._rust_descend(at, rest)

    def _rust_descend(self, at: str, rest: list[str]) -> Target:
        found = self._rust_file(at)
        while rest:
            below = self._rust_file(posixpath.join(at, rest[0]))
            if below is None:
                break
            at, rest, found = posixpath.join(at, rest[0]), rest[1:], below
        return Target(found, ".".join(rest) or None)

    def _rust_file(self, at: str) -> int | None:
        return self._modules.first(f"{at}.rs", f"{at}/mod.rs", f"{at}/lib.rs", f"{at}/main.rs")

    def rust_modules(self) -> Iterator[tuple[int, str, int]]:
        """(file, name, file of the module) for every module in another's folder."""
        for path, file in self._modules.by_path.items():
            if file.family != "rust":
                continue
            folder = _rust_module(path, "")
            for child in self._modules.children.get(folder, ()):
                name = posixpath.basename(child).removesuffix(".rs")
                found = self._rust_file(posixpath.join(folder, name))
                if found is not None and found != file.id and name not in {"lib", "main", "mod"}:
                    yield file.id, name, found

    def _crate_root(self, importer: str) -> str:
        folder = posixpath.dirname(importer)
        while folder and self._modules.first(f"{folder}/lib.rs", f"{folder}/main.rs") is None:
            folder = posixpath.dirname(folder)
        return folder or posixpath.dirname(importer)

    def _dart_file(self, importer: str, module: str) -> Target:
        if module.startswith("package:"):
            name, _, rest = module[8:].partition("/")
            root = self._dart.get(name)
            return OUTSIDE if root is None else Target(self._modules.id_of(posixpath.join(root, "lib", rest)))
        return Target(self._modules.id_of(posixpath.normpath(posixpath.join(posixpath.dirname(importer), module))))

    def _dotted(self, family: str, module: str) -> Target:
        """Find a name whose last parts are a file below a folder of its package, or the folder itself."""
        parts = [p for p in re.split(r"[./]", module) if p]
        for size in range(len(parts), max(0, len(parts) - 3), -1):
            found = self._suffix(family, parts[:size])
            if found is not None:
                return Target(found, ".".join(parts[size:]) or None)
        for size in range(len(parts), 0, -1):
            package = ".".join(parts[:size])
            if self._modules.has_package(family, package):
                return Target(self._modules.package(family, package), ".".join(parts[size:]) or None)
        return OUTSIDE

    def _suffix(self, family: str, parts: list[str]) -> int | None:
        tail = "/" + "/".join(parts)
        fits = [p for p in self._by_stem.get(parts[-1], ())
                if p.endswith(facts_of(family).suffixes) and ("/" + p.rsplit(".", 1)[0]).endswith(tail)]  # fmt: skip
        return self._modules.id_of(min(fits, key=lambda p: (len(p), p))) if fits else None

    def _namespaced(self, family: str, module: str) -> Target:
        parts = [p for p in re.split(r"[.\\]", module) if p]
        for size in (len(parts), len(parts) - 1):
            name = ".".join(parts[:size])
            if name and self._modules.has_package(family, name):
                return Target(self._modules.package(family, name), ".".join(parts[size:]) or None)
        return OUTSIDE

    def _path(self, family: str, importer: str, module: str) -> Target:
        """Find a path of `#include` or `require_relative`: from the importer's folder, from the root, or anywhere."""
        if "::" in module or self._modules.has_package(family, module):
            return self._namespaced(family, module.replace("::", "."))
        extensions = ("", *facts_of(family).suffixes)
        if family == "c":
            # A quoted header that is not next to the file is below one of the compiler's include folders.
            module = module.removeprefix("./")
        near = posixpath.normpath(posixpath.join(posixpath.dirname(importer), module))
        found = self._modules.first(*(near + e for e in extensions), *(module + e for e in extensions))
        if found is None and not module.startswith("."):
            stem = posixpath.basename(module).split(".", 1)[0]
            fits = [p for p in self._by_stem.get(stem, ()) if any(p.endswith("/" + module + e) for e in extensions)]
            found = self._modules.id_of(fits[0]) if len(fits) == 1 else None
        return Target(found)


def _rust_module(importer: str, root: str) -> str:
    """Folder of a file's child modules."""
    folder, name = posixpath.split(importer)
    if name in {"lib.rs", "main.rs", "mod.rs"}:
        return folder
    return posixpath.join(folder, name.removesuffix(".rs")) if importer.startswith(root) else folder
