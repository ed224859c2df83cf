"""A repository at one commit: its files and what each of them defines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import pygit2

from cm_tui.engine.code.parse.parse_blob import parse_blob
from cm_tui.engine.code.parse.records import ParsedBlob, ParsedSymbol
from cm_tui.engine.code.scan.languages import HEAD_BYTES, language_of
from cm_tui.engine.search.ranking import traits

_LARGEST = 300_000
"""Bytes of a file that is read; larger ones are data."""
CALLABLES = frozenset({"function", "method", "constructor"})
TYPES = frozenset({"class", "struct", "interface", "trait", "enum", "type", "module", "protocol", "object"})


class Defined(NamedTuple):
    """A symbol and the file that it stands in."""

    path: str
    number: int
    """Its position among the symbols of the file."""
    symbol: ParsedSymbol


@dataclass
class Snapshot:
    """Files of one commit."""

    files: dict[str, bytes]
    oids: dict[str, str]
    """Git's object ids by path, to tell whether a later commit found the file as it is here."""
    parsed: dict[str, ParsedBlob] = field(default_factory=dict)

    def lines(self, path: str) -> list[str]:
        """Return the lines of a file."""
        return self.files[path].decode("utf-8", "replace").split("\n")

    @cached_property
    def definitions(self) -> list[Defined]:
        """Return what is defined outside of tests, examples and copies of foreign code."""
        return [
            Defined(path, index, symbol)
            for path, blob in sorted(self.parsed.items())
            if is_source(path) and not blob.generated
            for index, symbol in enumerate(blob.symbols)
            if symbol.kind in CALLABLES or symbol.kind in TYPES
        ]

    @property
    def language(self) -> str:
        """Return the language that most of its code is in, by bytes."""
        sizes: dict[str, int] = {}
        for path, blob in self.parsed.items():
            if is_source(path) and any(symbol.kind in CALLABLES for symbol in blob.symbols):
                sizes[blob.language] = sizes.get(blob.language, 0) + blob.bytes
        return max(sorted(sizes), key=lambda name: sizes[name], default="")


def is_source(path: str) -> bool:
    """Return whether a path is that of a project's own code."""
    return not traits.roles(path) & {"tests", "examples", "docs", "vendored", "settings", "declarations"}


def snapshot(repository: pygit2.Repository, commit: pygit2.Commit) -> Snapshot:
    """Read and parse the files of a commit."""
    found = Snapshot({}, {})
    for path, blob in blobs(repository, commit.tree):
        data = blob.data
        if len(data) > _LARGEST or b"\0" in data[:HEAD_BYTES]:
            continue
        found.files[path], found.oids[path] = data, str(blob.id)
        found.parsed[path] = parse_blob(str(blob.id), language_of(path, data[:HEAD_BYTES]), data)
    return found


def blobs(repository: pygit2.Repository, tree: pygit2.Tree, prefix: str = "") -> Iterator[tuple[str, pygit2.Blob]]:
    """Yield path and content of the files below a tree that are there; links are none."""
    for entry in tree:
        path = f"{prefix}{entry.name}"
        if entry.id not in repository:
            continue  # a submodule, or left out of a partial clone
        if isinstance(entry, pygit2.Tree):
            yield from blobs(repository, entry, path + "/")
        elif isinstance(entry, pygit2.Blob) and entry.filemode != pygit2.enums.FileMode.LINK:
            yield path, entry


def write(snap: Snapshot, folder: Path) -> None:
    """Write the files of a snapshot below a folder."""
    for path, data in snap.files.items():
        target = folder / path
        if not target.resolve().is_relative_to(folder.resolve()):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
