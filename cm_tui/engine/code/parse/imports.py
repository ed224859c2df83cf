"""From raw findings to rows of `import`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from cm_tui.engine.code.parse import normalise
from cm_tui.engine.code.parse.enclosing_symbols import EnclosingSymbols
from cm_tui.engine.code.parse.records import ParsedImport
from cm_tui.engine.code.parse.tree_query import Captures, Findings, text_of

_SCHEME = re.compile(r"[\w+-]+:")
_SEPARATORS = ("\\", "::", ".", "/")


def extract_imports(found: Findings, around: EnclosingSymbols) -> list[ParsedImport]:
    """Return a file's imports, each once and in order of line."""
    rows: list[ParsedImport] = []
    for kind, node, captures in found.imports:
        symbol = around(node.start_byte)
        if kind == "tree":
            rows.extend(_of_tree(symbol, node, captures))
        else:
            rows.append(_of_statement(symbol, kind, node, captures))
    rows = _without_bare_twins(list(dict.fromkeys(_passed_on(rows))))
    rows.sort(key=lambda row: row.line)
    return rows


def _of_tree(symbol: int | None, node: Node, captures: Captures) -> Iterator[ParsedImport]:
    """Read a tree of names (Rust's `use a::{b, c}`)."""
    line, reexport = _line(captures, node), "reexport" in captures
    for module, name, alias in normalise.multiply(text_of(node)):
        yield ParsedImport(symbol, module or name, name if module else None, alias, reexport, line)


def _of_statement(symbol: int | None, kind: str, node: Node, captures: Captures) -> ParsedImport:
    """Read one module, with the name that is taken from it if there is one."""
    module = _module(captures)
    name = _unquoted(captures["name"][0]) if "name" in captures else "*" if "star" in captures else None
    name = "default" if "default" in captures else name
    alias = _unquoted(captures["alias"][0]) if "alias" in captures else None
    if kind == "path" and name is None:
        separator = next((s for s in _SEPARATORS if s in module), ".")
        module, _, name = module.rpartition(separator)
        module, name = (module, name) if module else (name, None)
    return ParsedImport(symbol, module, name, alias, "reexport" in captures, _line(captures, node))


def _passed_on(rows: list[ParsedImport]) -> list[ParsedImport]:
    """Mark every row of an import that any pattern has seen as passed on."""
    passed_on = {row[:4] + row[5:] for row in rows if row.reexport}
    return [row._replace(reexport=True) if row[:4] + row[5:] in passed_on else row for row in rows]


def _without_bare_twins(rows: list[ParsedImport]) -> list[ParsedImport]:
    """Drop bare imports with a binding on the same line: `x = require("y")` matches as both."""
    bound = {(row.module, row.line) for row in rows if row.name or row.alias}
    return [row for row in rows if row.name or row.alias or (row.module, row.line) not in bound]


def _module(captures: Captures) -> str:
    module = "".join(_unquoted(captures["module"][0]).split()) if "module" in captures else ""
    if "tail" in captures:
        return f"./{module.lstrip('/')}"
    if "relative" in captures and not module.startswith((".", "/", "$", "~")) and not _SCHEME.match(module):
        return f"./{module}"
    return module


def _unquoted(node: Node) -> str:
    return text_of(node).strip().strip("\"'`<>")


def _line(captures: Captures, node: Node) -> int:
    return (captures.get("name") or captures.get("module") or [node])[0].start_point[0] + 1
