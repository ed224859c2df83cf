"""From raw definitions to rows of `symbol`: who holds whom, qualified names, kinds, overloads, documentation."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from cm_tui.engine.parse import normalise
from cm_tui.engine.parse.arity import parameter_range
from cm_tui.engine.parse.records import ParsedSymbol
from cm_tui.engine.parse.tree_query import Findings, RawSymbol, Span
from cm_tui.engine.scan.languages import Language

CLASS_LIKE = frozenset({"class", "struct", "interface", "trait", "enum"})
FUNCTION_LIKE = frozenset({"function", "method", "constructor", "property", "macro"})
VALUES = frozenset({"variable", "constant", "field"})

_CAPITALS = re.compile(r"_*[A-Z][A-Z0-9_]*")
_MODIFIERS = re.compile(r"[\w\s()@.,\[\]\"'=:-]*")


@dataclass(slots=True)
class LocatedSymbol:
    """A symbol with the bytes it covers; `lead` is the row at which its documentation begins."""

    row: ParsedSymbol
    start: int
    end: int
    lead: int
    name_at: int


@dataclass(slots=True)
class _Frame:
    end: int
    what: str
    """Kind of the symbol, `scope` or `within`."""
    index: int | None
    """The symbol; for others that of the symbol around it."""
    prefix: str


def build_symbols(found: Findings, language: Language, data: bytes, lines: Sequence[str]) -> list[LocatedSymbol]:
    """Nest the definitions by their bytes and make their rows, in order of appearance."""
    _widen(found, lines)
    entries: list[tuple[int, int, int, RawSymbol | str]] = [
        *((s.start, -s.end, s.name_at, s) for s in found.symbols.values()),
        *((n.start_byte, -n.end_byte, -1, "") for n in found.scopes),
        *((n.start_byte, -n.end_byte, -2, name) for n, name in found.withins),
    ]
    entries.sort(key=lambda e: e[:3])
    builder = _Builder(language, data, lines, found.comments)
    for start, end, order, what in entries:
        builder.add(start, -end, order, what)
    builder.adopt()
    builder.document(found)
    return builder.placed


class _Builder:
    def __init__(self, language: Language, data: bytes, lines: Sequence[str], comments: Sequence[Span]) -> None:
        self.placed: list[LocatedSymbol] = []
        self._language = language
        self._data = data
        self._lines = lines
        self._comments = _comment_blocks(comments, lines)
        self._comment_starts = sorted(span.start for span in comments)
        self._stack: list[_Frame] = []
        self._overloads: Counter[tuple[str, str]] = Counter()
        self._values: set[str] = set()
        self._latest: dict[int | None, int] = {}
        """The last symbol directly in each parent."""
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
            parts = (top.prefix, receiver, name)
            self._stack.append(_Frame(end, "within", top.index, ".".join(p for p in parts if p)))

    def _twin(self, start: int, end: int, what: RawSymbol | str) -> bool:
        """Whether a value stands beside the one on top, in one declaration (`a, b int`), and not inside it."""
        top = self._stack[-1]
        return (
            isinstance(what, RawSymbol)
            and what.kind in VALUES
            and top.what in VALUES
            and top.end == end
            and top.index is not None
            and self.placed[top.index].start == start
        )

    def _define(self, raw: RawSymbol, top: _Frame) -> None:
        quoted = raw.name[:1] in {'"', "'", "`"}
        name = (
            normalise.fold(raw.name.strip("\"'`"), normalise.MAX_RECEIVER) if quoted else normalise.plain_name(raw.name)
        )
        prefix = top.prefix
        if raw.owner:
            owner, receiver = normalise.split_dotted(raw.owner.strip("()"))
            prefix = ".".join(p for p in (prefix, receiver, owner) if p)
        if "." in name and not quoted:
            qualifier, _, name = name.rpartition(".")
            prefix = ".".join(p for p in (prefix, qualifier) if p)
        kind = self._kind(raw, name, top, prefix)
        if not name or (kind in VALUES and (top.what in FUNCTION_LIKE or top.what == "scope")):
            return
        qualname = f"{prefix}.{name}" if prefix else name
        if kind in VALUES:
            if qualname in self._values:
                return
            self._values.add(qualname)
        index = len(self.placed)
        low, high = parameter_range(raw.params, self._language, in_class=kind in {"method", "constructor", "property"})
        if self._language.clauses and self._is_clause(raw, top.index, qualname, kind, (low, high)):
            return
        row = ParsedSymbol(
            top.index, kind, name, qualname, self._overloads[qualname, kind], self._signature(raw), "",
            raw.first_row + 1, raw.last_row + 1, low, high,
        )  # fmt: skip
        self._overloads[qualname, kind] += 1
        if prefix != (self.placed[top.index].row.qualname if top.index is not None else ""):
            self._prefixed.append((index, prefix))
        self.placed.append(LocatedSymbol(row, raw.start, raw.end, raw.first_row, raw.name_at))
        self._latest[top.index] = index
        self._stack.append(_Frame(raw.end, kind, index, qualname))

    def _is_clause(
        self, raw: RawSymbol, parent: int | None, qualname: str, kind: str, arity: tuple[int | None, int | None]
    ) -> bool:
        """Whether a definition goes on with the one before it (an equation, a signature's body); that one then grows."""
        index = self._latest.get(parent)
        if index is None or kind not in FUNCTION_LIKE:
            return False
        placed = self.placed[index]
        row, (low, high) = placed.row, arity
        if (row.qualname, row.kind) != (qualname, kind):
            return False
        if row.min_args is not None and high is not None and not row.min_args <= high <= (row.max_args or 0):
            return False
        placed.end = raw.end
        if row.min_args is None:
            row = row._replace(min_args=low, max_args=high)
        placed.row = row._replace(end_line=raw.last_row + 1)
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

    def _signature(self, raw: RawSymbol) -> str:
        line_start = self._data.rfind(b"\n", 0, raw.head) + 1
        before = self._data[line_start : raw.head].decode("utf-8", "replace")
        lead = _MODIFIERS.fullmatch(before) and "=" not in before and before.count("(") == before.count(")")
        head = line_start if lead else raw.head
        if raw.body_at is not None and raw.body_at > raw.head:
            stop = self._before_comment(raw)
        else:
            stop = self._data.find(b"\n", raw.head, raw.end)
            if stop < 0 or (raw.params is not None and raw.params.end_byte > stop):
                stop = raw.end if raw.params is None else max(raw.params.end_byte, raw.end if stop < 0 else 0)
        if stop - head > 4 * normalise.MAX_SIGNATURE:
            stop = head + 4 * normalise.MAX_SIGNATURE
        signature = normalise.fold(self._data[head:stop].decode("utf-8", "ignore"), normalise.MAX_SIGNATURE)
        if self._language.annotations_inside:
            signature = normalise.without_annotations(signature)
        return (
            signature.rstrip("{ ").removesuffix("=>").removesuffix(":").rstrip("= ;,")
            if raw.body_at
            else signature.rstrip("{;,= ")
        )

    def _before_comment(self, raw: RawSymbol) -> int:
        """Where the head of a definition ends: at its body, or at a comment between the two."""
        assert raw.body_at is not None
        after = raw.params.end_byte if raw.params is not None else raw.name_at
        index = bisect_left(self._comment_starts, after)
        if index == len(self._comment_starts) or after >= raw.body_at:
            return raw.body_at
        return min(raw.body_at, self._comment_starts[index])

    def adopt(self) -> None:
        """Give members that stand outside of their type (`impl`, receivers) that type as parent, where it is in the file."""
        types: dict[str, int] = {}
        for index, placed in enumerate(self.placed):
            if placed.row.kind in CLASS_LIKE or placed.row.kind in {"type", "namespace", "module"}:
                types.setdefault(placed.row.qualname, index)
        for index, prefix in self._prefixed:
            parent = types.get(prefix)
            if parent is not None and parent != index:
                self.placed[index].row = self.placed[index].row._replace(parent=parent)

    def document(self, found: Findings) -> None:
        """Attach docstrings, documentation that stands before, and comment blocks directly above."""
        docs: dict[int, str] = {}
        for span in found.inside:
            index = innermost(self.placed, span.start)
            if index is not None:
                docs.setdefault(index, normalise.clean_doc(span.text))
        starts: dict[int, int] = {}
        for index, placed in enumerate(self.placed):
            starts.setdefault(placed.row.start_line - 1, index)
        for span in found.before:
            for row in range(span.first_row, span.last_row + 4):
                if row in starts:
                    docs.setdefault(starts[row], normalise.clean_doc(span.text))
                    break
        for index, placed in enumerate(self.placed):
            row = placed.row.start_line - 1
            above = self._above(row) if starts[row] == index else None
            if above is not None:
                placed.lead = above.first_row
                docs.setdefault(index, normalise.clean_doc(above.text))
            if index in docs:
                placed.row = placed.row._replace(doc=docs[index])

    def _above(self, row: int) -> Span | None:
        return self._comments.get(row - 1)


def innermost(placed: Sequence[LocatedSymbol], position: int) -> int | None:
    """The innermost symbol around a byte, by search among the starts."""
    index = bisect_right(placed, position, key=lambda p: p.start) - 1
    while index >= 0:
        if placed[index].end > position:
            return index
        index -= 1
    return None


def _widen(found: Findings, lines: Sequence[str]) -> None:
    """Apply `@owner`, `@outer` and `@attribute` to the raw definitions."""
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
    if not found.attributes:
        return
    # One that shares its last line with what it belongs to is inside it already.
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


def _trim(found: Findings, lines: Sequence[str]) -> None:
    """Take blank lines and comments off the end of definitions that go on to the next one (F#, Haskell)."""
    comments = {
        row
        for span in found.comments
        if lines[span.first_row].lstrip()[:1] == span.text[:1]
        for row in range(span.first_row, span.last_row + 1)
    }
    for raw in found.symbols.values():
        # In damaged text a grammar may end a definition behind the last line.
        raw.last_row = max(raw.first_row, min(raw.last_row, len(lines) - 1))
        while raw.last_row > raw.first_row and (raw.last_row in comments or not lines[raw.last_row].strip()):
            raw.last_row -= 1


def _comment_blocks(comments: Sequence[Span], lines: Sequence[str]) -> dict[int, Span]:
    """Blocks of comments that stand on lines of their own, by their last row."""
    blocks: dict[int, Span] = {}
    data_rows = [span for span in comments if lines[span.first_row].lstrip()[:1] == span.text[:1]]
    current: Span | None = None
    for span in data_rows:
        if current is not None and span.first_row == current.last_row + 1:
            blocks.pop(current.last_row, None)
            current = Span(current.start, span.end, current.first_row, span.last_row, f"{current.text}\n{span.text}")
        else:
            current = span
        blocks[current.last_row] = current
    return blocks
