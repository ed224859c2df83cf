"""All definitions of a project: the built-in ones, and those in `.cm`."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from cm_tui.config import trusted_files
from cm_tui.counts import count
from cm_tui.engine.context.definitions import lint
from cm_tui.engine.context.definitions.folder import FOLDERS, MOST_FILES, DefinitionFile, Stamp, listed
from cm_tui.engine.context.definitions.loaded import SHIPPED, Loaded, T
from cm_tui.engine.context.definitions.one_file import FileContent, read_content, read_file
from cm_tui.engine.context.definitions.shapes.ingestion import Pipeline
from cm_tui.engine.context.definitions.shapes.retrieval import RetrievalDefinition
from cm_tui.engine.context.definitions.shapes.rules import Rule
from cm_tui.errors import NotFoundError, RefusedError, UsageError
from cm_tui.files import stamp_of
from cm_tui.lru import LRU
from cm_tui.model import DefinitionKind, DefinitionProblem

_SHIPPED_FILES: tuple[tuple[str, DefinitionKind], ...] = (("pack.yaml", "retrieval"), ("rules.yaml", "rule"))
_MOST_PROJECTS = 32


@dataclass(frozen=True, slots=True)
class Library:
    """All readable definitions, and the problems of the others."""

    retrieval: tuple[Loaded[RetrievalDefinition], ...]
    """Shipped ones first, then by file; of one name the project's own replaces the shipped one."""
    rules: tuple[Loaded[Rule], ...]
    """Files in alphabetical order, in each in its own order, shipped ones last: the first that matches wins, for each
    reference."""
    pipelines: tuple[Loaded[Pipeline], ...]
    problems: tuple[DefinitionProblem, ...]
    files: int = 0
    """Of the project."""

    def definition(self, name: str) -> Loaded[RetrievalDefinition] | None:
        """Return the retrieval definition of a name."""
        return next((one for one in self.retrieval if one.value.name == name), None)

    def pipeline(self, name: str) -> Loaded[Pipeline] | None:
        """Return the pipeline of a name."""
        return next((one for one in self.pipelines if one.value.name == name), None)

    def runnable(self, kind: Literal["retrieval", "ingestion"], name: str) -> Loaded[Any]:
        """Return a definition or pipeline that may be run by hand.

        Raises:
            NotFoundError: nothing has that name.
            UsageError: its file has an error.
            RefusedError: it is not trusted yet.
        """
        known: Sequence[Loaded[Any]] = self.retrieval if kind == "retrieval" else self.pipelines
        found = next((one for one in known if one.value.name == name), None)
        if found is None:
            here = f"/{FOLDERS[kind]}/{name}."
            for problem in self.problems:
                if problem.severity == "error" and here in problem.file:
                    raise UsageError(problem.text, hint="`cm context lint` lists every mistake.")
            near = get_close_matches(name, [one.value.name for one in known], 1)
            what = "definition" if kind == "retrieval" else "pipeline"
            hint = f"Did you mean {near[0]}?" if near else "`cm context definitions` lists them."
            raise NotFoundError(f"There is no {what} {name[:60]!r}.", hint=hint)
        if found.is_held:
            asks = ", ".join(found.asks)
            raise RefusedError(f"{found.file} waits for trust: it wants to {asks}.", hint="`cm trust` decides.")
        return found


@dataclass(slots=True)
class _Kept:
    contents: dict[str, tuple[Stamp, FileContent]]
    state: object = None
    library: Library | None = None


_kept: LRU[Path, _Kept] = LRU(_MOST_PROJECTS)
_lock = threading.Lock()


def load(root: Path) -> Library:
    """Return the current definitions of the project at a root; unchanged files are cached.

    Never raises for a file's content: that is a problem with its place.
    """
    found, is_cut = listed(root)
    state = (found, is_cut, stamp_of(trusted_files.file()))
    with _lock:
        kept = _kept.get(root) or _Kept({})
        _kept.put(root, kept)
        if kept.library is not None and kept.state == state:
            return kept.library
        contents: dict[str, tuple[Stamp, FileContent]] = {}
        for file in found:
            before = kept.contents.get(file.path)
            is_same = before is not None and before[0] == file.stamp
            contents[file.path] = before if before is not None and is_same else (file.stamp, read_file(root, file))
        library = _together(found, [contents[file.path][1] for file in found], trusted_files.trusted(root), is_cut)
        kept.contents, kept.state, kept.library = contents, state, library
        return library


def _together(
    found: Sequence[DefinitionFile], contents: Sequence[FileContent], trusted: frozenset[str], is_cut: bool
) -> Library:
    problems = [problem for content in contents for problem in content.problems]
    if is_cut:
        problems.append(
            DefinitionProblem(
                found[-1].path, 1, 1, f"there are more than {count(MOST_FILES, 'file')}", "The rest is not read."
            )
        )
    built_in: dict[DefinitionKind, list[Loaded[Any]]] = {one.kind: [*one.items] for one in _shipped()}

    def own(kind: DefinitionKind) -> list[Loaded[Any]]:
        found = (one for content in contents if content.kind == kind for one in content.items)
        return _unique([_loaded(one, trusted) for one in found], problems)

    retrieval = own("retrieval")
    names = {one.value.name for one in retrieval}
    retrieval = [*(one for one in built_in["retrieval"] if one.value.name not in names), *retrieval]
    retrieval = _without_cycles(retrieval, problems)
    rules, pipelines = own("rule") + built_in["rule"], own("ingestion")
    return Library(tuple(retrieval), tuple(rules), tuple(pipelines), tuple(problems), len(found))


def _loaded(one: Loaded[T], trusted: frozenset[str]) -> Loaded[T]:
    held = bool(one.asks) and one.digest not in trusted
    return Loaded(one.value, one.file, one.line, one.digest, one.asks, held)


def _unique(found: Sequence[Loaded[T]], problems: list[DefinitionProblem]) -> list[Loaded[T]]:
    """Drop and report definitions whose name is already taken further up."""
    first: dict[str, Loaded[T]] = {}
    for one in found:
        name = one.value.name
        if name in first:
            where = f"{first[name].file}:{first[name].line}"
            problems.append(
                DefinitionProblem(
                    one.file, one.line, 1, f"{name!r} is there already", f"It is in {where}; this one does not count."
                )
            )
        else:
            first[name] = one
    return list(first.values())


def _without_cycles(
    found: Sequence[Loaded[RetrievalDefinition]], problems: list[DefinitionProblem]
) -> list[Loaded[RetrievalDefinition]]:
    around = lint.cycles({one.value.name: one.value for one in found})
    problems += [
        DefinitionProblem(
            one.file, one.line, 1, f"these definitions ask each other in a circle: {' → '.join(around[one.value.name])}",
            "None of them counts.",
        )
        for one in found
        if one.value.name in around
    ]  # fmt: skip
    return [one for one in found if one.value.name not in around]


@cache
def _shipped() -> tuple[FileContent, ...]:
    folder = files("cm_tui.engine.context.definitions").joinpath("shipped")
    return tuple(
        read_content(folder.joinpath(name).read_bytes(), kind, f"{SHIPPED}{name}") for name, kind in _SHIPPED_FILES
    )
