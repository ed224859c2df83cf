"""From raw findings to rows of `reference`, `import` and `binding`, each in the symbol around it."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from tree_sitter import Node

from cm_tui.engine.code.parse import normalise
from cm_tui.engine.code.parse.arity import argument_count
from cm_tui.engine.code.parse.records import LocatedSymbol, ParsedBinding, ParsedBlob, ParsedImport, ParsedReference
from cm_tui.engine.code.parse.symbol_tree import CLASS_LIKE, FUNCTION_LIKE, VALUES
from cm_tui.engine.code.parse.tree_query import Captures, Findings, RawReference, text_of
from cm_tui.engine.code.scan.languages import Language

# --- which symbol is the innermost around a byte ---


class EnclosingSymbols:
    """Index of symbols by the bytes they cover; answers in logarithmic time.

    `located`: symbols in order of appearance.
    """

    def __init__(self, located: Sequence[LocatedSymbol]) -> None:
        self.located = located
        self._bounds: list[int] = [0]
        self._owner: list[int | None] = [None]
        stack: list[int] = []
        for index, item in enumerate(located):
            while stack and located[stack[-1]].end <= item.start:
                self._close(stack)
            stack.append(index)
            self._mark(item.start, index)
        while stack:
            self._close(stack)

    def _close(self, stack: list[int]) -> None:
        ended = self.located[stack.pop()].end
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
        """Return the innermost symbol that is no variable: where a name holds."""
        return self._scope(self(position))

    def outside(self, index: int) -> int | None:
        """Return the scope in which a symbol's own name holds."""
        return self._scope(self.located[index].row.parent)

    def _scope(self, index: int | None) -> int | None:
        while index is not None and self.located[index].row.kind in VALUES:
            index = self.located[index].row.parent
        return index

    def class_of(self, index: int | None) -> int | None:
        """Return the class around a symbol, itself included."""
        for _ in range(200):
            if index is None or self.located[index].row.kind in CLASS_LIKE:
                return index
            index = self.located[index].row.parent
        return None


# --- from raw findings to rows of `binding`: statements on the type of a name ---

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
    for name in names:
        if name in captures:
            return captures[name][0]
    return next(iter(captures.values()))[0]


# --- rows of `reference` and `import` ---

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


_RANK = {"inherit": 0, "decorate": 1, "inject": 2, "call": 3, "type": 4, "types": 5}
_WORD = re.compile(r"[^\W\d][\w']*[?!]?")
_MAX_CHAIN = 5_000
"""Most bytes of a receiver; each link of a chain contains all those before."""


def extract_references(blob: ParsedBlob, found: Findings, located: Sequence[LocatedSymbol], language: Language) -> None:
    """Fill a blob's references, imports and bindings; its symbols are `located`."""
    around = EnclosingSymbols(located)
    blob.references = list(_References(found, around, language).rows())
    blob.imports = extract_imports(found, around)
    blob.bindings = extract_bindings(found, around, language, blob.imports)
    if attributes := [raw for raw in found.references if raw.kind == "inject" and "same" in raw.captures]:
        blob.references = sorted([*blob.references, *_injected(attributes, around, blob)], key=lambda row: row.line)


class _References:
    """Rows of one file's references.

    `found`: the query's findings; `language`: with its built-in types, which are not references.
    """

    def __init__(self, found: Findings, around: EnclosingSymbols, language: Language) -> None:
        self._found = found
        self._around = around
        self._language = language
        self._no_types = language.builtin | {"Self"} if language.name == "rust" else language.builtin
        self._quiet = sorted(found.quiet)
        self._locals = {(around(span.start), word) for span in found.locals for word in _WORD.findall(span.text)}
        self._type_starts = _type_starts(found.references)

    def rows(self) -> Iterator[ParsedReference]:
        """Read the references in order of position, each in its most specific meaning."""
        for raw in _most_specific(self._found.references):
            if "same" in raw.captures:
                continue
            if raw.kind == "types":
                yield from self._type_names(raw)
            elif raw.position not in self._found.symbols and not self._is_part_of_type(raw):
                row = self._reference(raw)
                if row is not None:
                    yield row

    def _is_part_of_type(self, raw: RawReference) -> bool:
        end = raw.node.end_byte
        return raw.kind == "type" and self._type_starts.get(end, raw.position) < raw.position

    def _type_names(self, raw: RawReference) -> Iterator[ParsedReference]:
        """Read every name of a type expression."""
        symbol, line = self._around(raw.position), raw.node.start_point[0] + 1
        for name, receiver in normalise.type_names(text_of(raw.node), self._language.builtin):
            yield ParsedReference(symbol, "type", name, receiver, None, line)

    def _reference(self, raw: RawReference) -> ParsedReference | None:
        """Parse a name with its receiver; None: it refers to nothing that a project may define."""
        symbol = self._around(raw.position)
        name, receiver = _name_and_receiver(raw)
        if not name or (raw.kind in {"type", "inject"} and name in self._no_types):
            return None
        args = raw.captures.get("args")
        if raw.kind == "call" and self._is_local_call(raw.position, symbol, name, receiver):
            return None
        if self._language.macros and args and (name.startswith("~") or _is_declaration(args[0])):
            return None
        arity = argument_count(args[0] if args else None, self._found)
        named = raw.captures.get("name")
        row = named[0].start_point[0] if named else raw.node.end_point[0]
        return ParsedReference(symbol, raw.kind, name, receiver, arity, row + 1)

    def _is_local_call(self, position: int, symbol: int | None, name: str, receiver: str | None) -> bool:
        """Whether a call means a local variable, or is in a place without calls."""
        return (receiver is None and (symbol, name) in self._locals) or _within(self._quiet, position)


def _most_specific(references: Iterable[RawReference]) -> list[RawReference]:
    """Choose one of several readings of each name; in order of position."""
    best: dict[int, RawReference] = {}
    for raw in references:
        old = best.get(raw.position)
        if old is None or _weight(raw) < _weight(old):
            best[raw.position] = raw
    return [best[position] for position in sorted(best)]


def _weight(raw: RawReference) -> tuple[int, bool]:
    """Weigh one of several readings of a name: the lightest is the most specific; one with a receiver comes first."""
    return _RANK[raw.kind], "receiver" not in raw.captures


def _type_starts(references: Iterable[RawReference]) -> dict[int, int]:
    """Return the start of a node by its end: `a.B` as a type contains `B`, which the grammar may treat as a type as well.

    Only the whole counts.
    """
    starts: dict[int, int] = {}
    for raw in references:
        if "name" not in raw.captures:
            end = raw.node.end_byte
            starts[end] = min(raw.position, starts.get(end, raw.position))
    return starts


def _name_and_receiver(raw: RawReference) -> tuple[str, str | None]:
    named = raw.captures.get("name")
    if not named:
        return normalise.split_dotted(text_of(raw.node))
    name = text_of(named[0])
    if not name.isidentifier():
        name = normalise.plain_name(name)
    receiver = raw.captures.get("receiver")
    if receiver:
        return name, _receiver_text(receiver)
    qualifier, _, name = name.rpartition(".")
    return name, qualifier or None


def _receiver_text(nodes: Sequence[Node]) -> str:
    if nodes[-1].end_byte - nodes[0].start_byte > _MAX_CHAIN:
        return "…"
    return normalise.receiver_text("".join(map(text_of, nodes))).rstrip(".")


def _is_declaration(args: Node) -> bool:
    """Whether a call is none: a type precedes the name of each argument, or a colon follows it.

    Adjacent strings, one of them after a macro, are the only other cause of an error among arguments.
    """
    call = args.parent
    if call is not None and call.parent is not None:
        before = call.prev_sibling
        if call.parent.type in {"ERROR", "bitfield_clause"}:
            return True
        # What qualifies a name is no part of a call where the grammar is that of C.
        if before is not None and before.type == "ERROR" and text_of(before).endswith(":"):
            return True
    if not args.has_error:
        return False
    previous = ""
    for child in args.children:
        if child.type == "ERROR" and not previous.endswith("string_literal") and previous != "concatenated_string":
            return True
        previous = child.type
    return False


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
