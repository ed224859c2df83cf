"""Which file a JavaScript or TypeScript module specifier means."""

from __future__ import annotations

import json
import posixpath
import re
from typing import Any

from cm_tui.engine.code.graph.language_facts import facts_of
from cm_tui.engine.code.graph.module_index import ModuleIndex, Target

_EXTENSIONS = (".ts", ".tsx", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs", ".vue", ".svelte", ".d.ts")
# TypeScript sources are imported by the names of their compiled files.
_COMPILED = {".js": (".ts", ".tsx", ".d.ts", ".jsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*(?:"|\\?\Z))|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")


class JavaScriptModules:
    """Relative files, `index` files, `tsconfig.json` paths and base URL, and the packages of a workspace."""

    def __init__(self, modules: ModuleIndex) -> None:
        self._modules = modules
        self._cache: dict[tuple[str, str], Target] = {}
        self._configs = _paths_by_folder(modules)
        self._packages = _workspace(modules)

    def resolve(self, importer: str, module: str) -> Target:
        """Return the file of a specifier as written in an importing file."""
        folder = posixpath.dirname(importer)
        key = (folder, module)
        found = self._cache.get(key)
        if found is None:
            found = self._cache[key] = Target(self._resolve(folder, module))
        return found

    def _resolve(self, folder: str, module: str) -> int | None:
        if module.startswith("."):
            return self._relative(posixpath.normpath(posixpath.join(folder, module)))
        for base in self._mapped(folder, module):
            found = self.locate(base)
            if found is not None:
                return found
        parts = module.split("/")
        size = 2 if module.startswith("@") else 1
        package = self._packages.get("/".join(parts[:size]))
        if package is None:
            return None
        return self._inside(package, "/".join(parts[size:]))

    def _relative(self, path: str) -> int | None:
        """Id of the file for a path; of a folder, first what its `package.json` names."""
        path = "" if path == "." else path
        package = next((one for one in self._packages.values() if one[0] == path), None)
        found = None if package is None else self._inside(package, "")
        return self.locate(path) if found is None else found

    def _mapped(self, folder: str, module: str) -> list[str]:
        """Paths of a specifier by the nearest `tsconfig.json` or `jsconfig.json`."""
        while True:
            config = self._configs.get(folder)
            if config is not None:
                return config.candidates(module)
            if not folder:
                return []
            folder = posixpath.dirname(folder)

    def _inside(self, package: tuple[str, dict[str, Any]], rest: str) -> int | None:
        folder, manifest = package
        if rest:
            return self._first_of(posixpath.join(folder, rest), posixpath.join(folder, "src", rest))
        named = [manifest.get(k) for k in ("source", "module", "main", "types")] + [_exported(manifest.get("exports"))]
        entries = [posixpath.normpath(posixpath.join(folder, n)) for n in named if isinstance(n, str)]
        # A package usually names a built file; its source is below src.
        sources = [re.sub(r"/(dist|lib|build|out)/", "/src/", e) for e in entries]
        return self._first_of(*entries, *sources, posixpath.join(folder, "src/index"), posixpath.join(folder, "index"))

    def _first_of(self, *bases: str) -> int | None:
        return next((f for f in map(self.locate, bases) if f is not None), None)

    def locate(self, base: str) -> int | None:
        """Id of the file for a path with or without extension, or of the folder's index."""
        base = "" if base == "." else base
        direct = self._modules.by_path.get(base)
        if direct is not None and facts_of(direct.family).modules == "javascript":
            return direct.id
        stem, extension = posixpath.splitext(base)
        swapped = [stem + e for e in _COMPILED.get(extension, ())]
        index = posixpath.join(base, "index")
        return self._modules.first(*(base + e for e in _EXTENSIONS), *swapped, *(index + e for e in _EXTENSIONS))


class _PathMap:
    """`paths` and `baseUrl` of one configuration file."""

    def __init__(self, base: str | None, patterns: dict[str, list[str]], origin: str) -> None:
        self._base = base
        self._origin = origin if base is None else base
        self._patterns = sorted(patterns.items(), key=lambda p: len(p[0].partition("*")[0]), reverse=True)

    def candidates(self, module: str) -> list[str]:
        """Project paths that a specifier may mean, best first."""
        for pattern, targets in self._patterns:
            head, star, tail = pattern.partition("*")
            if (star and module.startswith(head) and module.endswith(tail)) or module == pattern:
                middle = module[len(head) : len(module) - len(tail) or None] if star else ""
                return [posixpath.normpath(posixpath.join(self._origin, t.replace("*", middle))) for t in targets]
        return [] if self._base is None else [posixpath.normpath(posixpath.join(self._base, module))]


def _paths_by_folder(modules: ModuleIndex) -> dict[str, _PathMap]:
    result: dict[str, _PathMap] = {}
    for path in sorted(modules.texts):
        name = posixpath.basename(path)
        if re.fullmatch(r"(ts|js)config(\.base)?\.json", name):
            folder = posixpath.dirname(path)
            found = _read_config(modules, path, 0)
            if found is not None and (folder not in result or name == "tsconfig.json"):
                result[folder] = found
    return result


def _read_config(modules: ModuleIndex, path: str, depth: int) -> _PathMap | None:
    """Return the path map of a configuration, or of the one it extends."""
    values = loose_json(modules.texts.get(path, ""))
    options = values.get("compilerOptions")
    options = options if isinstance(options, dict) else {}
    folder = posixpath.dirname(path)
    base, paths = options.get("baseUrl"), options.get("paths")
    if isinstance(base, str) or isinstance(paths, dict):
        root = posixpath.normpath(posixpath.join(folder, base)) if isinstance(base, str) else None
        patterns = {k: [t for t in v if isinstance(t, str)] for k, v in (paths or {}).items() if isinstance(v, list)}
        return _PathMap("" if root == "." else root, patterns, folder)
    parent = values.get("extends")
    if isinstance(parent, str) and parent.startswith(".") and depth < 4:
        parent = posixpath.normpath(posixpath.join(folder, parent))
        return _read_config(modules, parent if parent.endswith(".json") else parent + ".json", depth + 1)
    return None


def _workspace(modules: ModuleIndex) -> dict[str, tuple[str, dict[str, Any]]]:
    result: dict[str, tuple[str, dict[str, Any]]] = {}
    for path, text in modules.texts.items():
        if posixpath.basename(path) == "package.json":
            values = loose_json(text)
            name = values.get("name")
            if isinstance(name, str):
                result.setdefault(name, (posixpath.dirname(path), values))
    return result


def _exported(exports: Any) -> str | None:
    """Return the entry of a package's `exports`, at any nesting."""
    while isinstance(exports, dict):
        exports = next(
            (exports[k] for k in (".", "source", "types", "import", "default", "require") if k in exports), None
        )
    return exports if isinstance(exports, str) else None


def loose_json(text: str) -> dict[str, Any]:
    """JSON with comments and trailing commas, as in configuration files; {} if invalid."""
    plain = _COMMENT.sub(lambda m: m[1] or "", text)
    try:
        values = json.loads(_TRAILING_COMMA.sub(r"\1", plain))
    except (ValueError, RecursionError):
        return {}  # An invalid manifest maps nothing; its specifiers stay external.
    return values if isinstance(values, dict) else {}
