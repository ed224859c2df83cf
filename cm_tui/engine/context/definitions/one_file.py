"""One file of definitions: read, understood, and every mistake with its place."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from cm_tui.engine.context.definitions import lint
from cm_tui.engine.context.definitions.document import MAX_BYTES, Document, DocumentError
from cm_tui.engine.context.definitions.document import Path as DocumentPath
from cm_tui.engine.context.definitions.folder import DefinitionFile
from cm_tui.engine.context.definitions.loaded import Loaded, asked_by
from cm_tui.engine.context.definitions.parsing import parse
from cm_tui.engine.context.definitions.shapes.ingestion import Pipeline
from cm_tui.engine.context.definitions.shapes.retrieval import RetrievalDefinition
from cm_tui.engine.context.definitions.shapes.rules import Rule, SingleRule
from cm_tui.engine.context.definitions.validation import problem, validated
from cm_tui.model import DefinitionKind, DefinitionProblem

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
            why, hint = f"the file has more than {MAX_BYTES:,} bytes", "Part it into several files."
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
    return [] if is_broken else [Loaded(found, file, document.place(("name",)).line, digest, asked_by(found))], problems


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
        problems.append(problem(file, document, ("rules",), "rules: a list is expected"))
        return []
    return [("rules", number) for number in range(len(value["rules"]))]


def _linted(findings: Iterable[lint.Finding], document: Document, file: str) -> tuple[list[DefinitionProblem], bool]:
    """Return problems with their places, and whether any of them is an error."""
    problems = []
    for path, message, hint, is_warning in findings:
        where = document.place(path)
        problems.append(
            DefinitionProblem(file, where.line, where.column, message, hint, "warning" if is_warning else "error")
        )
    return problems, any(one.severity == "error" for one in problems)
