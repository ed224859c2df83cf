"""Validation of definitions: mistakes with their places and suggestions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from cm_tui.engine.context.definitions import shapes
from cm_tui.engine.context.definitions.parsing import Document, Path
from cm_tui.engine.context.definitions.shapes import FIELD, NAME, OPERATORS, spellings
from cm_tui.model import DefinitionProblem

S = TypeVar("S", bound=BaseModel)

MOST = 50
"""Most reported mistakes of one file."""
_SHOWN = 60
_MISMATCHES = frozenset({
    "model_type", "model_attributes_type", "dict_type", "tuple_type", "list_type", "string_type", "bool_type",
    "int_type", "float_type", "literal_error", "none_required", "too_short",
})  # fmt: skip
"""Messages on each other kind that a value could have been."""
_WORDS = {
    "string_type": "expected text",
    "bool_type": "expected true or false",
    "int_type": "expected a whole number",
    "int_from_float": "expected a whole number",
    "float_type": "expected a number",
    "tuple_type": "expected a list",
    "dict_type": "expected keys and values",
    "model_type": "expected keys and values",
    "none_required": "expected nothing",
    "too_short": "it is empty",
    "too_long": "it has too many items",
    "string_too_long": "this text is too long",
    "string_too_short": "it is empty",
}
_PATTERNS = {
    NAME: "expected letters, digits, - and _, at most 64",
    shapes.SINCE: "expected a time span, such as -7d, 3h or 2 weeks",
    shapes.DESTINATION: "expected a destination: graph://, vector://, kv://, log:// or blob://",
    FIELD: "expected the name of a field, such as task.text",
}


def validated(kind: type[S], document: Document, file: str) -> tuple[S | None, list[DefinitionProblem]]:
    """Validate a document against a shape; return it, or the problems.

    Args:
        kind: the shape.
        document: the parsed content.
        file: for the problems.
    """
    try:
        return kind.model_validate_json(json.dumps(document.value)), []
    except ValidationError as error:
        return None, list(_problems(error.errors(include_url=False), document, file))[:MOST]


def problem(
    file: str, document: Document, path: Sequence[str | int], message: str, hint: str = "", *, key: bool = False
) -> DefinitionProblem:
    """Return a mistake at the place of a value, or of its key."""
    place = document.key_place(path) if key else document.place(path)
    return DefinitionProblem(file, place.line, place.column, message, hint)


def _problems(errors: Sequence[ErrorDetails], document: Document, file: str) -> Iterator[DefinitionProblem]:
    located = [(_path(error, document), error) for error in errors]
    seen: set[tuple[Path, str]] = set()
    for path, error in located:
        # For a value that may be one or a list, only messages on the form used.
        if error["type"] in _MISMATCHES and any(
            other[: len(path)] == path
            and (len(other) > len(path) or found["type"] not in _MISMATCHES or _is_nearer(found, error))
            for other, found in located
            if found is not error
        ):
            continue
        said = _problem(path, error, document, file)
        if (path, said.message) not in seen:
            seen.add((path, said.message))
            yield said


def _is_nearer(one: ErrorDetails, other: ErrorDetails) -> bool:
    return one["type"] == "literal_error" and other["type"] != "literal_error"


def _path(error: ErrorDetails, document: Document) -> Path:
    """Return the document path of an error: names of shapes between are dropped."""
    path: list[str | int] = []
    value: Any = document.value
    loc = error["loc"]
    for number, part in enumerate(loc):
        if isinstance(value, Mapping):
            key = next((one for one in (str(part), *spellings(str(part))) if one in value), None)
            if key is not None:
                path.append(key)
                value = value[key]
            elif number == len(loc) - 1 and error["type"] in {"missing", "extra_forbidden"}:
                path.append(str(part))
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            path.append(part)
            value = value[part]
    return tuple(path)


def _problem(path: Path, error: ErrorDetails, document: Document, file: str) -> DefinitionProblem:
    kind, last = error["type"], str(path[-1]) if path else ""
    context: Mapping[str, Any] = error.get("ctx") or {}
    if kind == "missing":
        return problem(file, document, path[:-1], f"the key {last!r} is missing")
    if kind == "extra_forbidden":
        return _of_unknown_key(path, last, document, file)
    if kind == "union_tag_invalid":
        known = [one.strip().strip("'") for one in str(context.get("expected_tags", "")).split(",")]
        what = "processor" if "chunker" in known else "step"
        tag = str(context.get("tag", ""))
        hint = with_suggestions(tag, known, every=True)
        return problem(file, document, (*path, "type"), f"unknown {what} {tag[:_SHOWN]!r}", hint)
    if kind == "union_tag_not_found":
        return problem(file, document, path, "the key 'type' is missing")
    if kind == "literal_error":
        return _of_words(path, error, document, file)
    words = _WORDS.get(kind) or _plain(str(error["msg"]))
    if kind == "string_pattern_mismatch":
        words = _PATTERNS.get(str(context.get("pattern")), words)
    name = next((one for one in reversed(path) if isinstance(one, str)), "")
    if not name.isprintable() or len(name) > _SHOWN:
        name = repr(name[:_SHOWN])
    return problem(file, document, path, f"{name}: {words}" if name else words)


def _of_unknown_key(path: Path, last: str, document: Document, file: str) -> DefinitionProblem:
    around = document.at(path[:-1])
    twice = [one for one in spellings(last) if one != last and isinstance(around, Mapping) and one in around]
    if twice:
        message, hint = f"{last!r} and {twice[0]!r} are two spellings of one key", "Keep one of them."
    else:
        message, hint = f"unknown key {last[:_SHOWN]!r}", with_suggestions(last, _keys())
    return problem(file, document, path, message, hint, key=True)


def _of_words(path: Path, error: ErrorDetails, document: Document, file: str) -> DefinitionProblem:
    last = next((one for one in reversed(path) if isinstance(one, str)), "")
    given = str(error.get("input"))[:_SHOWN]
    if last == "op":
        hint = with_suggestions(given, list(OPERATORS), every=True)
        return problem(file, document, path, f"unknown operator {given!r}", hint)
    expected = str((error.get("ctx") or {}).get("expected", ""))
    known = [one.strip().strip("'") for one in expected.replace(" or ", ", ").split(",")]
    return problem(file, document, path, f"{last}: {given!r} is not valid", with_suggestions(given, known, every=True))


def with_suggestions(given: str, known: Sequence[str], *, every: bool = False) -> str:
    """Return a sentence with suggestions.

    Args:
        given: the written value.
        known: the valid values.
        every: list all of them if none is similar.
    """
    near = get_close_matches(given, known, 1, 0.6) or get_close_matches(given.lower(), known, 1, 0.6)
    if near:
        return f"Did you mean {near[0]!r}?"
    return f"Use {', '.join(known)}." if every and known else ""


def _plain(message: str) -> str:
    return message.removeprefix("Value error, ").removeprefix("Assertion failed, ")[:200]


@cache
def _keys() -> list[str]:
    """Return every key of every shape."""
    found: dict[str, None] = {}
    for shape in (shapes.RetrievalDefinition, shapes.RuleFile, shapes.SingleRule, shapes.Pipeline):
        schema = TypeAdapter(shape).json_schema(by_alias=True)
        for part in (schema, *schema.get("$defs", {}).values()):
            found |= dict.fromkeys(part.get("properties", {}))
    return list(found)
