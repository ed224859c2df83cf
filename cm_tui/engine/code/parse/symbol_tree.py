"""From raw definitions to rows of `symbol`: nesting, qualified names, kinds, overloads, documentation."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from cm_tui.engine.code.parse import normalise
from cm_tui.engine.code.parse.arity import parameter_range
from cm_tui.engine.code.parse.records import LocatedSymbol, ParsedSymbol
from cm_tui.engine.code.parse.tree_query import Findings, RawSymbol, Span
from cm_tui.engine.code.scan.languages import Language

# --- extents of definitions: start and end beyond their own nodes ---


def apply_extents(found: Findings, lines: Sequence[str]) -> None:
    """Apply `@owner`, `@outer` and `@attribute` to the raw definitions, and trim them."""
    for at, owner in found.owners:
        if at in found.symbols:
            found.symbols[at].owner = owner
    for at, node in found.outers:
        raw = found.symbols.get(at)
        if raw is not None:
            raw.start, raw.end = min(raw.start, node.start_byte), max(raw.end, node.end_byte)
            raw.first_row = min(raw.first_row, node.start_point[0])
            raw.last_row = max(raw.last_row, node.end_point[0])
    _trim(found, lines)
    if found.attributes:
        _take_in_attributes(found, lines)


def _trim(found: Findings, lines: Sequence[str]) -> None:
    """Trim blank lines and comments at the end of definitions that extend to the next one (F#, Haskell)."""
    comments = {
        row for span in found.comments if begins_line(span, lines) for row in range(span.first_row, span.last_row + 1)
    }
    for raw in found.symbols.values():
        # In damaged text a grammar may end a definition behind the last line.
        raw.last_row = max(raw.first_row, min(raw.last_row, len(lines) - 1))
        while raw.last_row > raw.first_row and (raw.last_row in comments or not lines[raw.last_row].strip()):
            raw.last_row -= 1


def _take_in_attributes(found: Findings, lines: Sequence[str]) -> None:
    """Extend definitions to the attributes above them; comments may be in between."""
    # An attribute on the definition's own line is inside it already.
    ending = {
        span.last_row: span
        for span in found.attributes
        if lines[span.last_row].rstrip().endswith(span.text.rpartition("\n")[2].rstrip())
    }
    comments = {row for span in found.comments for row in range(span.first_row, span.last_row + 1)}
    for raw in found.symbols.values():
        row = raw.first_row - 1
        while row >= 0:
            if row in ending:
                raw.start, raw.first_row = ending[row].start, ending[row].first_row
                row = ending[row].first_row - 1
            elif row in comments and lines[row].strip():
                row -= 1
            else:
                break


def begins_line(comment: Span, lines: Sequence[str]) -> bool:
    """Whether a comment is the first text on its line."""
    return lines[comment.first_row].lstrip()[:1] == comment.text[:1]


# --- from raw definitions to rows of `symbol` ---

_ROWS_BETWEEN = 3
"""Rows that may lie between documentation and the definition it belongs to, such as its attributes."""


def document(located: Sequence[LocatedSymbol], found: Findings, lines: Sequence[str]) -> None:
    """Give each symbol its documentation; of several, the first in the order above."""
    first_on_row: dict[int, int] = {}
    for index, symbol in enumerate(located):
        first_on_row.setdefault(symbol.row.start_line - 1, index)
    docs = _inside(located, found.inside)
    for index, text in _before(found.before, first_on_row):
        docs.setdefault(index, text)
    comments = _comment_blocks(found.comments, lines)
    for row, index in first_on_row.items():
        above = comments.get(row - 1)
        if above is not None:
            located[index].lead = above.first_row
            docs.setdefault(index, normalise.clean_doc(above.text))
    for index, text in docs.items():
        located[index].row = located[index].row._replace(doc=text)


def _inside(located: Sequence[LocatedSymbol], spans: Sequence[Span]) -> dict[int, str]:
    docs: dict[int, str] = {}
    for span in spans:
        index = _innermost(located, span.start)
        if index is not None:
            docs.setdefault(index, normalise.clean_doc(span.text))
    return docs


def _before(spans: Sequence[Span], first_on_row: dict[int, int]) -> list[tuple[int, str]]:
    docs: list[tuple[int, str]] = []
    for span in spans:
        row = next(
            (row for row in range(span.first_row, span.last_row + 1 + _ROWS_BETWEEN) if row in first_on_row), None
        )
        if row is not None:
            docs.append((first_on_row[row], normalise.clean_doc(span.text)))
    return docs


def _innermost(located: Sequence[LocatedSymbol], position: int) -> int | None:
    """Return the innermost symbol around a byte, by search among the starts."""
    index = bisect_right(located, position, key=lambda p: p.start) - 1
    while index >= 0:
        if located[index].end > position:
            return index
        index -= 1
    return None


def _comment_blocks(comments: Sequence[Span], lines: Sequence[str]) -> dict[int, Span]:
    """Return blocks of comments on separate lines, by their last row."""
    blocks: dict[int, Span] = {}
    current: Span | None = None
    for span in comments:
        if not begins_line(span, lines):
            continue
        if current is not None and span.first_row == current.last_row + 1:
            blocks.pop(current.last_row, None)
            current = Span(current.start, span.end, current.first_row, span.last_row, f"{current.text}\n{span.text}")
        else:
            current = span
        blocks[current.last_row] = current
    return blocks


_MODIFIERS = re.compile(r"[\w\s()@.,\[\]\"'=:-]*")
_MAX_BYTES = 4 * normalise.MAX_SIGNATURE


class Signatures:
    """Signatures of one file's definitions.

    `language`: whether annotations are a part of a definition; `comments`: all of its comments.
    """

    def __init__(self, language: Language, data: bytes, comments: Sequence[Span]) -> None:
        self._language = language
        self._data = data
        self._comment_starts = sorted(span.start for span in comments)

    def of(self, raw: RawSymbol) -> str:
        """Return the signature of a definition, with the modifiers before it on its line."""
        head = self._head(raw)
        stop = min(self._stop(raw), head + _MAX_BYTES)
        signature = normalise.fold(self._data[head:stop].decode("utf-8", "ignore"), normalise.MAX_SIGNATURE)
        if self._language.annotations_inside:
            signature = normalise.without_annotations(signature)
        return (
            signature.rstrip("{ ").removesuffix("=>").removesuffix(":").rstrip("= ;,")
            if raw.body_at
            else signature.rstrip("{;,= ")
        )

    def _head(self, raw: RawSymbol) -> int:
        line_start = self._data.rfind(b"\n", 0, raw.head) + 1
        before = self._data[line_start : raw.head].decode("utf-8", "replace")
        leads = _MODIFIERS.fullmatch(before) and "=" not in before and before.count("(") == before.count(")")
        return line_start if leads else raw.head

    def _stop(self, raw: RawSymbol) -> int:
        if raw.body_at is not None and raw.body_at > raw.head:
            return self._before_body(raw, raw.body_at)
        stop = self._data.find(b"\n", raw.head, raw.end)
        if stop >= 0 and (raw.params is None or raw.params.end_byte <= stop):
            return stop
        if raw.params is None:
            return raw.end
        return max(raw.params.end_byte, raw.end if stop < 0 else 0)

    def _before_body(self, raw: RawSymbol, body_at: int) -> int:
        """Return the end of a definition's head: its body, or a comment before that."""
        after = raw.params.end_byte if raw.params is not None else raw.name_at
        index = bisect_left(self._comment_starts, after)
        if index == len(self._comment_starts) or after >= body_at:
            return body_at
        return min(body_at, self._comment_starts[index])


CLASS_LIKE = frozenset({"class", "struct", "interface", "trait", "enum"})
FUNCTION_LIKE = frozenset({"function", "method", "constructor", "property", "macro"})
VALUES = frozenset({"variable", "constant", "field"})

_OPERATOR = re.compile(r"\boperator\s*(\(\s*\)|\[\s*\]|\"\"\s*\w+|[^\w\s(\[:]+|[^(]+)")
_CALLED = re.compile(r"(?P<outer>\w+)\s*\(\s*(?:(?P<inner>[A-Za-z_]\w*)\s*\)|[^()]*\))")
"""`EXPORTED(name)`, `type(name)`: macros that generate or wrap a name."""
_CAPITALS = re.compile(r"_*[A-Z][A-Z0-9_]*")


@dataclass(slots=True)
class _Frame:
    end: int
    what: str
    """Kind of the symbol, `scope` or `within`."""
    index: int | None
    """Symbol; for others that of the symbol around it."""
    prefix: str


def build_symbols(found: Findings, language: Language, data: bytes, lines: Sequence[str]) -> list[LocatedSymbol]:
    """Nest the definitions by their bytes and make their rows, in order of appearance."""
    apply_extents(found, lines)
    entries: list[tuple[int, int, int, RawSymbol | str]] = [
        *((s.start, -s.end, s.name_at, s) for s in found.symbols.values()),
        *((n.start_byte, -n.end_byte, -1, "") for n in found.scopes),
        *((n.start_byte, -n.end_byte, -2, name) for n, name in found.withins),
    ]
    entries.sort(key=lambda e: e[:3])
    builder = _Builder(language, Signatures(language, data, found.comments))
    for start, end, order, what in entries:
        builder.add(start, -end, order, what)
    builder.attach_outside_members()
    document(builder.located, found, lines)
    return builder.located


class _Builder:
    def __init__(self, language: Language, signatures: Signatures) -> None:
        self.located: list[LocatedSymbol] = []
        self._language = language
        self._signatures = signatures
        self._stack: list[_Frame] = []
        self._overloads: Counter[tuple[str, str]] = Counter()
        self._values: set[str] = set()
        self._latest: dict[int | None, int] = {}
        """Last symbol directly in each parent."""
        self._prefixed: list[tuple[int, str]] = []

    def add(self, start: int, end: int, order: int, what: RawSymbol | str) -> None:
        """Take the next definition, scope or block in order of position."""
        while self._stack and (self._stack[-1].end <= start or self._twin(start, end, what)):
            self._stack.pop()
        top = self._stack[-1] if self._stack else _Frame(0, "", None, "")
        if isinstance(what, RawSymbol):
            self._define(what, top)
        elif order == -1:
            self._stack.append(_Frame(end, "scope", top.index, top.prefix))
        else:
            name, receiver = normalise.split_dotted(what)
            self._stack.append(_Frame(end, "within", top.index, _joined(top.prefix, receiver, name)))

    def _twin(self, start: int, end: int, what: RawSymbol | str) -> bool:
        """Whether a value is next to the one on top, in one declaration (`a, b int`), and not inside it."""
        top = self._stack[-1]
        return (
            isinstance(what, RawSymbol)
            and what.kind in VALUES
            and top.what in VALUES
            and top.end == end
            and top.index is not None
            and self.located[top.index].start == start
        )

    def _define(self, raw: RawSymbol, top: _Frame) -> None:
        name, prefix = _name_and_prefix(raw, top.prefix, self._language)
        if self._language.macros and (name in self._language.no_names or self._is_statement(raw, name, top)):
            return
        kind = self._kind(raw, name, top, prefix)
        qualname = f"{prefix}.{name}" if prefix else name
        if not name or (kind in VALUES and not self._is_new_value(qualname, top)):
            return
        index = len(self.located)
        low, high = parameter_range(raw.params, self._language, in_class=kind in {"method", "constructor", "property"})
        if self._language.clauses and self._is_clause(raw, top.index, qualname, kind, (low, high)):
            return
        row = ParsedSymbol(
            top.index, kind, name, qualname, self._overloads[qualname, kind], self._signatures.of(raw), "",
            raw.first_row + 1, raw.last_row + 1, low, high,
        )  # fmt: skip
        self._overloads[qualname, kind] += 1
        if prefix != (self.located[top.index].row.qualname if top.index is not None else ""):
            self._prefixed.append((index, prefix))
        self.located.append(LocatedSymbol(row, raw.start, raw.end, raw.first_row, raw.name_at))
        self._latest[top.index] = index
        self._stack.append(_Frame(raw.end, kind, index, qualname))

    def _is_statement(self, raw: RawSymbol, name: str, top: _Frame) -> bool:
        """Whether an apparent nested function is none: a macro with a block, `Lock lock(mutex);`."""
        if top.what not in FUNCTION_LIKE or raw.kind != "function":
            return False
        return bool(_CAPITALS.fullmatch(name)) or (raw.body_at is None and self._language.constructor_is_class_name)

    def _is_new_value(self, qualname: str, top: _Frame) -> bool:
        """Whether a value is a symbol: no local variable, and the first of that name."""
        if top.what in FUNCTION_LIKE or top.what == "scope" or qualname in self._values:
            return False
        self._values.add(qualname)
        return True

    def _is_clause(
        self, raw: RawSymbol, parent: int | None, qualname: str, kind: str, arity: tuple[int | None, int | None]
    ) -> bool:
        """Whether a definition continues the one before it (an equation, a signature's body), which is then extended."""
        index = self._latest.get(parent)
        if index is None or kind not in FUNCTION_LIKE:
            return False
        located = self.located[index]
        row, (low, high) = located.row, arity
        if (row.qualname, row.kind) != (qualname, kind):
            return False
        if row.min_args is not None and high is not None and not row.min_args <= high <= (row.max_args or 0):
            return False
        located.end = raw.end
        if row.min_args is None:
            row = row._replace(min_args=low, max_args=high)
        located.row = row._replace(end_line=raw.last_row + 1)
        self._stack.append(_Frame(raw.end, kind, index, qualname))
        return True

    def _kind(self, raw: RawSymbol, name: str, top: _Frame, prefix: str) -> str:
        kind = raw.kind
        member = top.what in CLASS_LIKE or top.what == "within"
        # `A::f` defined outside of its class; a function of a namespace is rarely defined that way.
        outside = self._language.constructor_is_class_name and prefix != top.prefix
        if kind == "function" and (member or raw.owner or outside):
            kind = "method"
        if kind == "method" and (
            name in self._language.constructors
            or (self._language.constructor_is_class_name and name == prefix.rpartition(".")[2] and (member or outside))
        ):
            return "constructor"
        if kind == "variable":
            return "constant" if _CAPITALS.fullmatch(name) else "field" if member else kind
        return kind

    def attach_outside_members(self) -> None:
        """Give members outside of their type (`impl`, receivers) that type as parent, if it is in the file."""
        types: dict[str, int] = {}
        for index, located in enumerate(self.located):
            if located.row.kind in CLASS_LIKE or located.row.kind in {"type", "namespace", "module"}:
                types.setdefault(located.row.qualname, index)
        for index, prefix in self._prefixed:
            parent = types.get(prefix)
            if parent is not None and parent != index:
                self.located[index].row = self.located[index].row._replace(parent=parent)


def _name_and_prefix(raw: RawSymbol, prefix: str, language: Language) -> tuple[str, str]:
    """Return a definition's own name, and the qualified name of its container."""
    if language.macros and (operator := _OPERATOR.search(raw.name)) is not None:
        before = normalise.plain_name(normalise.without_brackets(raw.name[: operator.start()], "<"))
        sign = "".join(operator[1].split()) if not operator[1][:1].isalpha() else normalise.fold(operator[1])
        space = " " if sign[:1].isalpha() or sign[:1] in {"_", ":"} else ""
        return f"operator{space}{sign}", _joined(prefix, before)
    if raw.owner:
        owner, receiver = normalise.split_dotted(raw.owner.strip("()"))
        prefix = _joined(prefix, receiver, owner)
    if language.macros and (called := _CALLED.fullmatch(raw.name)) is not None:
        return called["inner"] or called["outer"], prefix
    if raw.name[:1] in {'"', "'", "`"}:
        return normalise.fold(raw.name.strip("\"'`"), normalise.MAX_RECEIVER), prefix
    qualifier, _, name = normalise.plain_name(raw.name).rpartition(".")
    return name, _joined(prefix, qualifier)


def _joined(*parts: str | None) -> str:
    return ".".join(part for part in parts if part)
