"""`parser`: parses code, JSON and Markdown into records."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from cm_tui.engine.code.parse.parse_blob import parse_blob
from cm_tui.engine.code.scan.languages import LANGUAGES, language_of
from cm_tui.engine.context.definitions.document import DocumentError
from cm_tui.engine.context.definitions.parsing import parse
from cm_tui.engine.context.definitions.shapes.ingestion import Parser
from cm_tui.engine.context.ingestion.batch import MOST_ITEMS, Batch, Item, Means, numbered
from cm_tui.errors import UsageError

_HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*$")
_FENCE = re.compile(r"^ {0,3}(```|~~~)")


def run(step: Parser, batch: Batch, _: Means) -> None:
    """Replace items by records."""
    records: list[Item] = []
    for item in batch.items:
        for record in _records(step, str(item.get("text", "")), item):
            records.append(numbered({**item, **record}, len(records)))
            if len(records) > MOST_ITEMS:
                raise UsageError(f"There are more than {MOST_ITEMS:,} records.", hint="Ingest it in parts.")
    batch.items = records
    batch.made["records"] = records


def _records(step: Parser, text: str, item: Item) -> Iterator[Item]:
    kind = _kind_of(text, item) if step.format == "auto" else step.format
    if kind == "json":
        yield from of_json(text)
    elif kind == "markdown":
        yield from of_markdown(text)
    else:
        yield from of_code(text, step.language, str(item.get("path", "")))


def _kind_of(text: str, item: Item) -> str:
    path = str(item.get("path", ""))
    if text.lstrip()[:1] in ("{", "["):
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            pass
        else:
            return "json"
    if path and language_of(path) in LANGUAGES and language_of(path) != "markdown":
        return "code"
    return "markdown"


def of_json(text: str) -> Iterator[Item]:
    """Yield the objects of a JSON list, or a single object.

    Raises:
        UsageError: it is not JSON; the message contains the position.
    """
    try:
        value = parse(text.encode("utf-8", "replace"), is_json=True).value
    except DocumentError as error:
        raise UsageError(f"Line {error.place.line}, column {error.place.column}: {error.message}.") from error
    for one in value if isinstance(value, list) else [value]:
        fields: dict[str, Any] = dict(one) if isinstance(one, dict) else {"value": one}
        yield {**fields, "text": json.dumps(one, ensure_ascii=False)}


def of_markdown(text: str) -> Iterator[Item]:
    """Yield the sections of a text, each with the path of its headings."""
    path: list[tuple[int, str]] = []
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        marked = _FENCE.match(line)
        if marked and (not fence or marked[1] == fence):
            fence = "" if fence else marked[1]
        found = None if fence else _HEADING.match(line)
        if found is None:
            lines.append(line)
            continue
        yield from _section(path, lines)
        level = len(found[1])
        path = [one for one in path if one[0] < level] + [(level, found[2])]
        lines = []
    yield from _section(path, lines)


def _section(path: list[tuple[int, str]], lines: list[str]) -> Iterator[Item]:
    text = "\n".join(lines).strip("\n")
    if text.strip() or path:
        names = [name for _, name in path]
        yield {
            "text": text,
            "title": names[-1] if names else "",
            "headings": " > ".join(names),
            "level": path[-1][0] if path else 0,
        }


def of_code(text: str, language: str, path: str) -> Iterator[Item]:
    """Yield the symbols of code, each with its lines.

    Raises:
        UsageError: the language is unknown.
    """
    known = language or (language_of(path) if path else "")
    if known not in LANGUAGES:
        raise UsageError("The language of this code is unknown.", hint="Give `language`, or a `path` with an ending.")
    lines = text.split("\n")
    symbols = parse_blob("", known, text.encode("utf-8", "replace")).symbols
    if not symbols:
        yield {"text": text, "language": known}
    for one in symbols:
        yield {
            "text": "\n".join(lines[one.start_line - 1 : one.end_line]), "name": one.qualname, "kind": one.kind,
            "language": known, "line": one.start_line,
        }  # fmt: skip
