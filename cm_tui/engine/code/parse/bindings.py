"""From raw findings to rows of `binding`: statements on the type of a name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from cm_tui.engine.code.parse import normalise
from cm_tui.engine.code.parse.enclosing_symbols import EnclosingSymbols
from cm_tui.engine.code.parse.records import ParsedBinding, ParsedImport
from cm_tui.engine.code.parse.symbol_tree import CLASS_LIKE, FUNCTION_LIKE
from cm_tui.engine.code.parse.tree_query import Captures, Findings, text_of
from cm_tui.engine.code.scan.languages import Language

_DOTTED = re.compile(r"[^\W\d][\w.$]*")
_LOCALS = frozenset({"var", "param"})


def extract_bindings(
    found: Findings, around: EnclosingSymbols, language: Language, imports: Sequence[ParsedImport]
) -> list[ParsedBinding]:
    """Return a file's statements on the types of its names, in order of line."""
    bindings = _Bindings(around, language, imports)
    # Attributes last: their sources are known by then.
    for kind, captures in sorted(found.bindings, key=lambda b: (b[0] == "attr", _first(b[1], "name").start_byte)):
        bindings.add(kind, captures)
    return sorted(
        bindings.rows, key=lambda row: (row.line, row.scope if row.scope is not None else -1, row.kind, row.name)
    )


class _Bindings:
    """Rows of one file's bindings. `language`: with its transparent and built-in types."""

    def __init__(self, around: EnclosingSymbols, language: Language, imports: Sequence[ParsedImport]) -> None:
        self.rows: dict[ParsedBinding, None] = {}
        self._around = around
        self._located = around.located
        self._language = language
        self._unbound = language.builtin - language.known_types
        self._types_of: dict[tuple[int | None, str], list[str]] = {}
        """Types of variables and parameters so far, by scope and name."""
        self._outer_names = {item.row.name for item in around.located if item.row.parent is None}
        self._outer_names |= {row.alias or row.name or row.module.partition(".")[0] for row in imports}

    def add(self, kind: str, captures: Captures) -> None:
        """Add the findings of one match."""
        node = _first(captures, "name", "type")
        line = node.start_point[0] + 1
        scope = self._around.scope(node.start_byte)
        name = "" if kind == "return" else normalise.plain_name(text_of(node))
        types = self._types(captures, scope)
        stored = self._kind_and_scope(kind, scope, node.start_byte)
        if stored is None:
            return
        kind, scope = stored
        if not types and scope is not None and kind in _LOCALS and name in self._outer_names:
            # A local that hides a name of the module is recorded, even if its type is unknown.
            types = [""]
        elif types and kind in _LOCALS:
            self._types_of.setdefault((scope, name), types)
        self._add_rows(scope, kind, name, types, line)
        if kind == "return" and scope is not None and self._located[scope].row.kind == "property":
            self._add_rows(self._around.class_of(scope), "attr", self._located[scope].row.name, types, line)

    def _add_rows(self, scope: int | None, kind: str, name: str, types: Sequence[str], line: int) -> None:
        for type_name in types:
            self.rows[ParsedBinding(scope, kind, name, type_name, line)] = None

    def _kind_and_scope(self, kind: str, scope: int | None, position: int) -> tuple[str, int | None] | None:
        """Return the scope of a binding: attributes belong to the class around. None: not stored."""
        if kind == "var" and scope is not None and self._located[scope].name_at == position:
            scope = self._around.outside(scope)  # the name of a definition holds around it, not in it
        if kind == "attr":
            scope = self._around.class_of(scope)
        if scope is None:
            return (kind, None) if kind == "var" else None
        if kind == "attr":
            return kind, scope
        outer = self._located[scope].row.kind
        if kind == "return":
            return (kind, scope) if outer in FUNCTION_LIKE else None
        return ("attr" if kind == "var" and outer in CLASS_LIKE else kind), scope

    def _types(self, captures: Captures, scope: int | None) -> list[str]:
        if "type" in captures:
            text = text_of(captures["type"][0])
            return normalise.bound_types(text, self._language.transparent, self._unbound)
        if "call" in captures:
            callee = normalise.receiver_text(text_of(captures["call"][0]))
            return [f"call:{callee}"] if callee and callee[0] not in "\"'([{" else []
        if "same" in captures:
            name = normalise.receiver_text(text_of(captures["same"][0]))
            inner = self._types_of.get((scope, name))
            if inner is not None:
                return inner
            return [f"alias:{name}"] if _DOTTED.fullmatch(name) else []
        return []


def _first(captures: Captures, *names: str) -> Node:
    """Return the first node of the first existing capture of these names, else of any."""
    return next((captures[name] for name in names if name in captures), next(iter(captures.values())))[0]
