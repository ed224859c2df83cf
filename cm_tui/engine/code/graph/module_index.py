"""Index of a project's files and folders, by which the name of a module is found."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple


class File(NamedTuple):
    """File of the snapshot; pseudo files represent folders and packages."""

    id: int
    path: str
    family: str


@dataclass(frozen=True, slots=True)
class Target:
    """Meaning of an import's module.

    `file` is the id of the file or package; None: outside the project. `member` is the rest of the name after the
    module (`crate::a::Thing` → file of `a`, member `Thing`).
    """

    file: int | None
    member: str | None = None


OUTSIDE = Target(None)

folder_of = lru_cache(maxsize=1 << 16)(posixpath.dirname)
"""Folder of a path, cached: there are only a few thousand."""


class ModuleIndex:
    """Files by path and by folder; folders and packages get ids on demand.

    `files`: everything in the snapshot; `texts`: content of the manifests (`tsconfig.json`, `go.mod`, …) by path.
    """

    def __init__(self, files: Iterable[File], texts: Mapping[str, str]) -> None:
        self.texts = texts
        self.by_path: dict[str, File] = {}
        self.children: dict[str, set[str]] = defaultdict(set)
        self.pseudo: list[File] = []
        self._packages: dict[tuple[str, str], int] = {}
        for file in files:
            self.by_path[file.path] = file
            self._register(file.path)
        self._next = max((f.id for f in self.by_path.values()), default=0)

    def _register(self, path: str) -> None:
        while path:
            parent = folder_of(path)
            known = path in self.children[parent]
            self.children[parent].add(path)
            if known:
                return
            path = parent

    def id_of(self, path: str) -> int | None:
        """Id of a file, or None."""
        file = self.by_path.get(path)
        return None if file is None else file.id

    def first(self, *paths: str) -> int | None:
        """Id of the first of these that exists."""
        for path in paths:
            file = self.by_path.get(path)
            if file is not None:
                return file.id
        return None

    def package(self, family: str, key: str) -> int:
        """Id of the pseudo file for a folder or a named package, created on demand."""
        number = self._packages.get((family, key))
        if number is None:
            self._next += 1
            number = self._packages[family, key] = self._next
            self.pseudo.append(File(number, key, family))
        return number

    def has_package(self, family: str, key: str) -> bool:
        """Whether `package` created it before."""
        return (family, key) in self._packages

    def is_folder(self, path: str) -> bool:
        """Whether it contains a file."""
        return path in self.children
