"""All definitions of a project: the built-in ones and those in `.cm`, with place, permissions and state."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache, lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any, Generic, Literal, TypeVar

from cm_tui.config import trust
from cm_tui.counts import count
from cm_tui.engine.context.definitions import lint
from cm_tui.engine.context.definitions.definition_files import FOLDERS, MOST_FILES, DefinitionFile, listed
from cm_tui.engine.context.definitions.parsing import MAX_BYTES, Document, DocumentError, parse
from cm_tui.engine.context.definitions.parsing import Path as DocumentPath
from cm_tui.engine.context.definitions.shapes import (
    Action,
    Custom,
    DeriveQuery,
    LlmExtract,
    Pipeline,
    RetrievalDefinition,
    Rule,
    SingleRule,
    VectorEmbed,
)
from cm_tui.engine.context.definitions.validation import problem, validated
from cm_tui.errors import NotFoundError, RefusedError, UsageError
from cm_tui.files import stamp_of
from cm_tui.lru import LRU
from cm_tui.model import DefinitionInfo, DefinitionKind, DefinitionProblem, Definitions, DefinitionState
from cm_tui.model.definition import SCHEMES

# --- A definition with its place and the permissions that it requests ---

T = TypeVar("T", RetrievalDefinition, Rule, Pipeline)

SHIPPED = "shipped:"
"""Prefix of the names of files that come with cm."""


@dataclass(frozen=True, slots=True)
class Loaded(Generic[T]):
    """A definition, a rule or a pipeline, and where it was read."""

    value: T
    file: str
    """Relative to the root, with `/`; a shipped one begins with `shipped:`."""
    line: int
    digest: str
    """Of the file's content."""
    asks: tuple[str, ...] = ()
    """Permissions that need the user's trust: endings of a sentence that begins with `It wants to`."""
    is_held: bool = False
    """It requests permissions, and exactly this file is not trusted."""


def required_permissions(one: RetrievalDefinition | Pipeline) -> tuple[str, ...]:
    """Return the permissions that need the user's trust: to send data, run code, or write outside `.cm`."""
    return tuple(dict.fromkeys(_of_pipeline(one) if isinstance(one, Pipeline) else _of_retrieval(one)))


def _of_retrieval(one: RetrievalDefinition) -> Iterator[str]:
    if any(isinstance(step, DeriveQuery) and step.method == "llm_rephrase" for step in one.steps):
        yield "send prompts to the language model of your settings"


def _of_pipeline(pipeline: Pipeline) -> Iterator[str]:
    for processor in pipeline.processors:
        if isinstance(processor, LlmExtract):
            yield "send what it ingests to the language model of your settings"
        elif isinstance(processor, Custom):
            yield f"run the processor {processor.entry_point}"
        elif isinstance(processor, VectorEmbed):
            yield f"write into the memory of this project: vector://{processor.index}"
    for route in pipeline.routes:
        if not route.write_to.startswith("kv://"):
            yield f"write into the memory of this project: {route.write_to[:80]}"


# --- one file of definitions: read, understood, and every mistake with its place ---

S = TypeVar("S", RetrievalDefinition, Pipeline)
_Content = tuple[list[Loaded[Any]], list[DefinitionProblem]]


@dataclass(frozen=True, slots=True)
class FileContent:
    """Valid content of a file, and its problems."""

    kind: DefinitionKind
    items: tuple[Loaded[Any], ...] = ()
    problems: tuple[DefinitionProblem, ...] = ()


def read_file(root: Path, file: DefinitionFile) -> FileContent:
    """Return the content of a project's file; unreadable parts are problems."""
    try:
        content = file.read(root, MAX_BYTES)
    except OSError as error:
        if error.errno == errno.EFBIG:
            why, hint = f"the file has more than {MAX_BYTES:,} bytes", "Split it into several files."
        else:
            why, hint = f"it cannot be read: {error.strerror or error}", ""
        return FileContent(file.kind, problems=(DefinitionProblem(file.path, 1, 1, why, hint),))
    return read_content(content, file.kind, file.path)


def read_content(content: bytes, kind: DefinitionKind, file: str) -> FileContent:
    """Return the content of a file.

    Args:
        content: its bytes.
        kind: kind of its definitions.
        file: its path; the suffix decides whether it is JSON.
    """
    try:
        document = parse(content, is_json=file.endswith(".json"))
    except DocumentError as error:
        where = error.place
        message = DefinitionProblem(file, where.line, where.column, error.message, error.hint)
        return FileContent(kind, problems=(message,))
    digest = sha256(content).hexdigest()
    if kind == "rule":
        items, problems = _rules(document, file, digest)
    elif kind == "retrieval":
        items, problems = _single(RetrievalDefinition, lint.of_retrieval, document, file, digest)
    else:
        items, problems = _single(Pipeline, lint.of_pipeline, document, file, digest)
    return FileContent(kind, tuple(items), tuple(problems))


def _single(
    shape: type[S], lint_of: Callable[[S, Document], Iterable[lint.Finding]], document: Document, file: str, digest: str
) -> _Content:
    found, problems = validated(shape, document, file)
    if found is None:
        return [], problems
    problems, is_broken = _linted(lint_of(found, document), document, file)
    return [] if is_broken else [
        Loaded(found, file, document.place(("name",)).line, digest, required_permissions(found))
    ], problems


def _rules(document: Document, file: str, digest: str) -> _Content:
    """Read each rule separately: an invalid one does not affect the others."""
    rules: list[Loaded[Any]] = []
    problems: list[DefinitionProblem] = []
    parts = _rule_paths(document, file, problems)
    for path in parts:
        part = document.inner(path, document.at(path)) if path else document
        found, wrong = validated(Rule if path else SingleRule, part, file)
        if found is not None:
            wrong, is_broken = _linted(lint.of_rule(found, (), part), part, file)
            if not is_broken:
                named = found if found.name else found.model_copy(update={"name": _name_of(file, path)})
                rules.append(Loaded(named, file, part.place(("name",)).line, digest))
        problems += wrong
    return rules, problems


def _name_of(file: str, path: DocumentPath) -> str:
    """Return the name of a rule that has none."""
    stem = PurePosixPath(file).stem
    return f"{stem}-{int(path[-1]) + 1}" if path else stem


def _rule_paths(document: Document, file: str, problems: list[DefinitionProblem]) -> Sequence[DocumentPath]:
    """Return the places of a file's rules: one rule, a list of rules, or below `rules`."""
    value = document.value
    if isinstance(value, list):
        return [(number,) for number in range(len(value))]
    if not isinstance(value, dict) or "rules" not in value:
        return [()]
    problems += [
        problem(file, document, (key,), f"unknown key {key[:60]!r}", "A file of rules has `rules`.", key=True)
        for key in value
        if key not in ("rules", "$schema")
    ]
    if not isinstance(value["rules"], list):
        problems.append(problem(file, document, ("rules",), "rules: expected a list"))
        return []
    return [("rules", number) for number in range(len(value["rules"]))]


def _linted(findings: Iterable[lint.Finding], document: Document, file: str) -> tuple[list[DefinitionProblem], bool]:
    """Return problems with their places, and whether any of them is an error."""
    problems = [
        replace(problem(file, document, path, message, hint), severity="warning" if is_warning else "error")
        for path, message, hint, is_warning in findings
    ]
    return problems, any(one.severity == "error" for one in problems)


# --- all definitions of a project ---

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
            hint = f"Did you mean {near[0]}?" if near else "`cm context definitions` lists them."
            raise NotFoundError(f"Unknown {SCHEMES[kind]}: {name[:60]!r}.", hint=hint)
        if found.is_held:
            asks = ", ".join(found.asks)
            raise RefusedError(
                f"{found.file} is held until it is trusted: it wants to {asks}.", hint="Decide with `cm trust`."
            )
        return found


_kept: LRU[Path, tuple[object, Library]] = LRU(_MOST_PROJECTS)
_lock = threading.Lock()


def load(root: Path) -> Library:
    """Return the current definitions of the project at a root; unchanged files are cached.

    Never raises for a file's content: that is a problem with its place.
    """
    found, is_cut = listed(root)
    state = (found, is_cut, stamp_of(trust.file()))
    with _lock:
        kept = _kept.get(root)
        if kept is None or kept[0] != state:
            contents = [_read_once(root, file) for file in found]
            kept = state, _together(found, contents, trust.trusted(root), is_cut)
            _kept.put(root, kept)
        return kept[1]


@lru_cache(2 * MOST_FILES)
def _read_once(root: Path, file: DefinitionFile) -> FileContent:
    return read_file(root, file)


def _together(
    found: Sequence[DefinitionFile], contents: Sequence[FileContent], trusted: frozenset[str], is_cut: bool
) -> Library:
    problems = [problem for content in contents for problem in content.problems]
    if is_cut:
        problems.append(
            DefinitionProblem(found[-1].path, 1, 1, f"more than {count(MOST_FILES, 'file')}", "The rest is not read.")
        )
    built_in: dict[DefinitionKind, list[Loaded[Any]]] = {one.kind: [*one.items] for one in _shipped()}

    def own(kind: DefinitionKind) -> list[Loaded[Any]]:
        found = (one for content in contents if content.kind == kind for one in content.items)
        held = (replace(one, is_held=bool(one.asks) and one.digest not in trusted) for one in found)
        return _unique([*held], problems)

    retrieval = own("retrieval")
    names = {one.value.name for one in retrieval}
    retrieval = [*(one for one in built_in["retrieval"] if one.value.name not in names), *retrieval]
    retrieval = _without_cycles(retrieval, problems)
    rules, pipelines = own("rule") + built_in["rule"], own("ingestion")
    return Library(tuple(retrieval), tuple(rules), tuple(pipelines), tuple(problems), len(found))


def _unique(found: Sequence[Loaded[T]], problems: list[DefinitionProblem]) -> list[Loaded[T]]:
    """Drop and report definitions whose name is already taken further up."""
    first: dict[str, Loaded[T]] = {}
    for one in found:
        name = one.value.name
        if name in first:
            where = f"{first[name].file}:{first[name].line}"
            problems.append(
                DefinitionProblem(
                    one.file,
                    one.line,
                    1,
                    f"{name!r} is already defined",
                    f"It is defined in {where}; this one is ignored.",
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
            one.file, one.line, 1, f"these definitions refer to each other in a circle: {' → '.join(around[one.value.name])}",
            "All of them are ignored.",
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


# --- definitions for lists: kind, place, and state ---

_LONGEST = 200


def list_definitions(library: Library) -> Definitions:
    """Return all definitions of a project, and the problems of its files."""
    every: tuple[tuple[DefinitionKind, Sequence[Loaded[Any]]], ...] = (
        ("retrieval", library.retrieval), ("rule", library.rules), ("ingestion", library.pipelines),
    )  # fmt: skip
    items = [_info(one, kind) for kind, found in every for one in found]
    known = {item.file for item in items}
    broken = {one.file: one for one in library.problems if one.severity == "error" and one.file not in known}
    items += [
        DefinitionInfo(
            id=one.file, kind=_kind_of(one.file), name=one.file.rpartition("/")[2].rpartition(".")[0], file=one.file,
            line=one.line, state="broken", summary=f"{one.message} {one.hint}".strip(),
        )
        for one in broken.values()
    ]  # fmt: skip
    return Definitions(tuple(items), library.problems, library.files)


def _info(one: Loaded[Any], kind: DefinitionKind) -> DefinitionInfo:
    state: DefinitionState = "held" if one.is_held else "counts" if one.value.enabled else "off"
    summary = one.value.description or _description(one.value)
    return DefinitionInfo(
        id=f"{SCHEMES[kind]}://{one.value.name}", kind=kind, name=one.value.name, file=one.file, line=one.line,
        state=state, summary=" ".join(summary.split())[:_LONGEST], asks=one.asks, shipped=one.file.startswith(SHIPPED),
    )  # fmt: skip


def _description(value: RetrievalDefinition | Rule | Pipeline) -> str:
    if isinstance(value, RetrievalDefinition):
        return " → ".join(step.type for step in value.steps)
    if isinstance(value, Pipeline):
        triggers = ", ".join(str(getattr(trigger, "type", trigger)) for trigger in value.triggers)
        return f"{triggers} → {', '.join(route.write_to for route in value.routes)}"
    conditions = " and ".join(f"{one.field} {one.op} {one.value!r}" for one in value.conditions) or "always"
    return f"{conditions}: {'; '.join(map(_action, value.actions))}"


def _action(action: Action) -> str:
    names = ("include", "exclude", "cap", "priority", "section")
    parts = [f"{name} {_names(value)}" for name in names if (value := getattr(action, name)) is not None]
    return ", ".join(parts) + (f" for {_names(action.for_)}" if action.for_ is not None else "")


def _names(value: object) -> str:
    return (
        ", ".join(map(str, value)) if isinstance(value, tuple) else "what it is about" if value is True else str(value)
    )


def _kind_of(file: str) -> DefinitionKind:
    return "rule" if "/rules/" in file else "ingestion" if "/ingestion/" in file else "retrieval"
