"""From raw findings to rows of `reference`, `import` and `binding`, each in the symbol around it."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Sequence

from tree_sitter import Node

from cm_tui.engine.parse import normalise
from cm_tui.engine.parse.arity import argument_count
from cm_tui.engine.parse.records import ParsedBinding, ParsedBlob, ParsedImport, ParsedReference
from cm_tui.engine.parse.symbol_tree import CLASS_LIKE, FUNCTION_LIKE, VALUES, LocatedSymbol
from cm_tui.engine.parse.tree_query import Captures, Findings, RawReference, text_of
from cm_tui.engine.scan.languages import Language

_RANK = {"inherit": 0, "decorate": 1, "inject": 2, "call": 3, "type": 4, "types": 5}
_WORD = re.compile(r"[^\W\d][\w']*[?!]?")
_MAX_CHAIN = 5_000
"""Bytes of a receiver that are still read; each link of a chain holds all those before."""
_SCHEME = re.compile(r"[\w+-]+:")


def extract_references(blob: ParsedBlob, found: Findings, placed: Sequence[LocatedSymbol], language: Language) -> None:
    """Fill a blob's references, imports and bindings; its symbols are `placed`."""
    around = EnclosingSymbols(placed)
    names = set(found.symbols)
    blob.references = _references(found, around, names, language)
    blob.imports = _imports(found, around)
    blob.bindings = _bindings(found, around, placed, language, blob.imports)
    if attributes := [raw for raw in found.references if raw.kind == "inject" and "same" in raw.captures]:
        blob.references = sorted([*blob.references, *_injected(attributes, around, blob)], key=lambda row: row.line)


class EnclosingSymbols:
    """Answers which symbol is the innermost around a byte, in logarithmic time."""

    def __init__(self, placed: Sequence[LocatedSymbol]) -> None:
        self.placed = placed
        self._bounds: list[int] = [0]
        self._owner: list[int | None] = [None]
        stack: list[int] = []
        for index, item in enumerate(placed):
            while stack and placed[stack[-1]].end <= item.start:
                self._close(stack)
            stack.append(index)
            self._mark(item.start, index)
        while stack:
            self._close(stack)

    def _close(self, stack: list[int]) -> None:
        ended = self.placed[stack.pop()].end
        self._mark(ended, stack[-1] if stack else None)

    def _mark(self, position: int, owner: int | None) -> None:
        if position == self._bounds[-1]:
            self._owner[-1] = owner
        else:
            self._bounds.append(max(position, self._bounds[-1]))
            self._owner.append(owner)

    def __call__(self, position: int) -> int | None:
        """Return the index of the innermost symbol around a position."""
        return self._owner[bisect_right(self._bounds, position) - 1]

    def scope(self, position: int) -> int | None:
        """The innermost symbol that is no variable: where a name holds."""
        return self._scope(self(position))

    def outside(self, index: int) -> int | None:
        """The scope in which a symbol's own name holds."""
        return self._scope(self.placed[index].row.parent)

    def _scope(self, index: int | None) -> int | None:
        while index is not None and self.placed[index].row.kind in VALUES:
            index = self.placed[index].row.parent
        return index

    def class_of(self, index: int | None) -> int | None:
        """The class around a symbol, itself included."""
        for _ in range(200):
            if index is None or self.placed[index].row.kind in CLASS_LIKE:
                return index
            index = self.placed[index].row.parent
        return None


def _references(  # noqa: C901, PLR0912 - one case after the other, read from top to bottom
    found: Findings, around: EnclosingSymbols, names: set[int], language: Language
) -> list[ParsedReference]:
    best: dict[int, RawReference] = {}
    for raw in found.references:
        old = best.get(raw.position)
        if old is None or _weight(raw) < _weight(old):
            best[raw.position] = raw
    # `a.B` as a type holds `B`, which its grammar may call a type as well: only the whole counts.
    ending: dict[int, int] = {}
    for raw in found.references:
        if "name" not in raw.captures:
            end = raw.node.end_byte
            ending[end] = min(raw.position, ending.get(end, raw.position))
    rows: list[ParsedReference] = []
    builtin = language.builtin
    quiet = sorted(found.quiet)
    local = {(around(span.start), word) for span in found.locals for word in _WORD.findall(span.text)}
    for position in sorted(best):
        raw = best[position]
        if (position in names and raw.kind != "types") or "same" in raw.captures:
            continue
        symbol = around(position)
        captures = raw.captures
        if raw.kind == "type" and ending.get(raw.node.end_byte, position) < position:
            continue
        if raw.kind == "types":
            line = raw.node.start_point[0] + 1
            rows.extend(
                ParsedReference(symbol, "type", n, r, None, line)
                for n, r in normalise.type_names(text_of(raw.node), builtin)
            )
            continue
        named = captures.get("name")
        node = named[0] if named else raw.node
        if named:
            name = text_of(node)
            if not name.isidentifier():
                name = normalise.plain_name(name)
            received = captures.get("receiver")
            receiver = _receiver(received) if received else None
        else:
            name, receiver = normalise.split_dotted(text_of(node))
        if not name or (
            raw.kind in {"type", "inject"} and (name in builtin or (name == "Self" and language.name == "rust"))
        ):
            continue
        if raw.kind == "call" and ((receiver is None and (symbol, name) in local) or _within(quiet, position)):
            continue
        args = captures.get("args")
        arity = argument_count(args[0] if args else None, found)
        row = node.start_point[0] if named else node.end_point[0]
        rows.append(ParsedReference(symbol, raw.kind, name, receiver, arity, row + 1))
    return rows


def _receiver(nodes: Sequence[Node]) -> str:
    if nodes[-1].end_byte - nodes[0].start_byte > _MAX_CHAIN:
        return "…"
    return normalise.receiver_text("".join(map(text_of, nodes))).rstrip(".")


def _weight(raw: RawReference) -> tuple[int, bool]:
    """Of several readings of one name the smallest is the most specific; one that knows the receiver comes first."""
    return _RANK[raw.kind], "receiver" not in raw.captures


def _injected(attributes: Sequence[RawReference], around: EnclosingSymbols, blob: ParsedBlob) -> list[ParsedReference]:
    """Constructor parameters that name an attribute of the class (Dart's `this.x`) inject that attribute's type."""
    rows: list[ParsedReference] = []
    for raw in attributes:
        symbol = around(raw.node.start_byte)
        owner, name, line = around.class_of(symbol), text_of(raw.captures["same"][0]), raw.node.start_point[0] + 1
        for binding in blob.bindings:
            if (binding.scope, binding.kind, binding.name) == (owner, "attr", name) and ":" not in binding.type:
                receiver, _, type_name = binding.type.rpartition(".")
                rows.append(ParsedReference(symbol, "inject", type_name, receiver or None, None, line))
    return rows


def _within(spans: Sequence[tuple[int, int]], position: int) -> bool:
    index = bisect_right(spans, (position, sys.maxsize)) - 1
    return index >= 0 and spans[index][1] > position


def _imports(found: Findings, around: EnclosingSymbols) -> list[ParsedImport]:
    rows: list[ParsedImport] = []
    for kind, node, captures in found.imports:
        symbol, line = around(node.start_byte), _line(captures, node)
        reexport = "reexport" in captures
        if kind == "tree":
            rows.extend(
                ParsedImport(symbol, module or name, name if module else None, alias, reexport, line)
                for module, name, alias in normalise.multiply(text_of(node))
            )
            continue
        module = _module(captures)
        name = _unquoted(captures["name"][0]) if "name" in captures else "*" if "star" in captures else None
        name = "default" if "default" in captures else name
        alias = _unquoted(captures["alias"][0]) if "alias" in captures else None
        if kind == "path" and name is None:
            separator = next((s for s in ("\\", "::", ".", "/") if s in module), ".")
            module, _, name = module.rpartition(separator)
            module, name = (module, name) if module else (name, None)
        rows.append(ParsedImport(symbol, module, name, alias, reexport, line))
    passed_on = {row[:4] + row[5:] for row in rows if row.reexport}
    rows = [row._replace(reexport=True) if row[:4] + row[5:] in passed_on else row for row in rows]
    rows = list(dict.fromkeys(rows))
    # `x = require("y")` matches as an import that binds x and as a bare one.
    bound = {(row.module, row.line) for row in rows if row.name or row.alias}
    rows = [row for row in rows if row.name or row.alias or (row.module, row.line) not in bound]
    rows.sort(key=lambda row: row.line)
    return rows


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


def _bindings(
    found: Findings,
    around: EnclosingSymbols,
    placed: Sequence[LocatedSymbol],
    language: Language,
    blob_imports: Sequence[ParsedImport],
) -> list[ParsedBinding]:
    rows: dict[ParsedBinding, None] = {}
    known: dict[tuple[int | None, str], list[str]] = {}
    outer = {item.row.name for item in placed if item.row.parent is None}
    outer |= {row.alias or row.name or row.module.partition(".")[0] for row in blob_imports}
    order = sorted(
        found.bindings, key=lambda b: (b[0] == "attr", (b[1].get("name") or next(iter(b[1].values())))[0].start_byte)
    )
    for kind, captures in order:
        node = (captures.get("name") or captures.get("type") or next(iter(captures.values())))[0]
        scope = around.scope(node.start_byte)
        name = "" if kind == "return" else normalise.plain_name(text_of(node))
        line = node.start_point[0] + 1
        types = _types(captures, known, scope, language)
        if scope is not None and placed[scope].name_at == node.start_byte and kind == "var":
            scope = around.outside(scope)  # the name of a definition holds around it, not in it
        kind, scope = _settle(kind, scope, around)  # noqa: PLW2901 - settled for good
        if not kind or (scope is None and kind in {"param", "attr", "return"}):
            continue
        if not types and scope is not None and kind in {"var", "param"} and name in outer:
            # A local that hides a name of the module says so, although its type is not known.
            rows[ParsedBinding(scope, kind, name, "", line)] = None
        for found_type in types:
            rows[ParsedBinding(scope, kind, name, found_type, line)] = None
        if types and kind in {"var", "param"}:
            known.setdefault((scope, name), types)
        if kind == "return" and scope is not None and placed[scope].row.kind == "property":
            owner = around.class_of(scope)
            for found_type in types:
                rows[ParsedBinding(owner, "attr", placed[scope].row.name, found_type, line)] = None
    return sorted(rows, key=lambda row: (row.line, row.scope if row.scope is not None else -1, row.kind, row.name))


def _settle(kind: str, scope: int | None, around: EnclosingSymbols) -> tuple[str, int | None]:
    """The kind and scope under which a binding is stored: attributes belong to the class around. No kind: none is."""
    if kind == "attr":
        return kind, around.class_of(scope)
    if scope is not None and around.placed[scope].row.kind in CLASS_LIKE:
        return ("attr" if kind == "var" else "" if kind == "return" else kind), scope
    if kind == "return" and scope is not None and around.placed[scope].row.kind not in FUNCTION_LIKE:
        return "", None
    return kind, scope


def _types(
    captures: Captures, known: dict[tuple[int | None, str], list[str]], scope: int | None, language: Language
) -> list[str]:
    if "type" in captures:
        return normalise.bound_types(text_of(captures["type"][0]), language.transparent, language.builtin)
    if "call" in captures:
        callee = normalise.receiver_text(text_of(captures["call"][0]))
        return [f"call:{callee}"] if callee and callee[0] not in "\"'([{" else []
    if "same" in captures:
        name = normalise.receiver_text(text_of(captures["same"][0]))
        inner = known.get((scope, name))
        if inner is not None:
            return inner
        return [f"alias:{name}"] if re.fullmatch(r"[^\W\d][\w.$]*", name) else []
    return []
