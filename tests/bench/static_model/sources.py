"""Files that pairs are made of: of a git repository's newest commit, or of a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

import pygit2

from cm_tui.engine.code.scan.languages import HEAD_BYTES, language_of
from cm_tui.engine.search.ranking import traits
from tests.bench.questions.snapshot import blobs

LARGEST = 200_000
"""Bytes of a file that is read; larger ones are data or generated."""


class SourceFile(NamedTuple):
    """A file of a project."""

    path: str
    language: str
    data: bytes


def opened(folder: Path) -> pygit2.Repository | None:
    """Return the git repository in a folder, or None."""
    try:
        return pygit2.Repository(str(folder))
    except pygit2.GitError:
        return None


def name_of(folder: Path) -> str:
    """Return a project's name: that of its folder, or of the one above a folder called `repo`."""
    return [part for part in folder.resolve().parts if part not in {"repo", ".git"}][-1]


def files_of(folder: Path, random: Random, most: int) -> Iterator[SourceFile]:
    """Read some of a project's files in a known language, neighbours in a folder after each other.

    Args:
        folder: a git repository, or a folder of sources.
        random: chooses.
        most: files.
    """
    repository = opened(folder)
    readable = _in_git(repository) if repository is not None else _in_folder(folder)
    paths = sorted(path for path in readable if "vendored" not in traits.roles(path))
    for path in sorted(random.sample(paths, min(most, len(paths)))):
        data = readable[path]()
        language = language_of(path, data[:HEAD_BYTES])
        if language and b"\0" not in data[:HEAD_BYTES]:
            yield SourceFile(path, language, data)


_Readable = dict[str, Callable[[], bytes]]
"""What reads a file, by its path."""


def _in_folder(folder: Path) -> _Readable:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink() and 0 < path.stat().st_size <= LARGEST and language_of(path.name)
    }


def _in_git(repository: pygit2.Repository) -> _Readable:
    try:
        tree = repository[repository.head.target].peel(pygit2.Commit).tree
    except (pygit2.GitError, KeyError):
        return {}
    return {
        path: partial(_content, blob)
        for path, blob in blobs(repository, tree)
        if language_of(path) and 0 < blob.size <= LARGEST
    }


def _content(blob: pygit2.Blob) -> bytes:
    data: bytes = blob.data
    return data
