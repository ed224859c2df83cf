"""From raw definitions to rows of `symbol`: nesting, qualified names, kinds, overloads, documentation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from cm_tui.engine.code.parse import normalise
from cm_tui.engine.code.parse.arity import parameter_range
from cm_tui.engine.code.parse.documentation import document
from cm_tui.engine.code.parse.extents import apply_extents
from cm_tui.engine.code.parse.records import LocatedSymbol, ParsedSymbol
from cm_tui.engine.code.parse.signature import Signatures
from cm_tui.engine.code.parse.tree_query import Findings, RawSymbol
from cm_tui.engine.code.scan.languages import Language

CLASS_LIKE = frozenset({"class", "struct", "interface", "trait", "enum"})
FUNCTION_LIKE = frozenset({"function", "method", "constructor", "property", "macro"})
VALUES = frozenset({"variable", "constant", "field"})

_OPERATOR = re.compile(r"\boperator\s*(\(\s*\)|\[\s*\]|\"\"\s*\w+|[^\w\s(\[:]+|[^(]+)")
_CALLED = re.compile(r"(?P<outer>\w+)\s*\(\s*(?:(?P<inner>[A-Za-z_]\w*)\s*\)|[^()]*\))")
"""`EXPORTED(name)`, `type(name)`: macros that generate or wrap a name."""
_KEYWORDS = frozenset(
    [
        "if",
        "else",
        "while",
        "for",
        "do",
        "switch",
        "case",
        "default",
        "return",
        "sizeof",
        "goto",
        "break",
        "continue",
        "new",
        "delete",
        "throw",
        "catch",
        "try",
        "typedef",
        "struct",
        "class",
        "union",
        "enum",
        "namespace",
        "template",
        "using",
        "static",
        "const",
        "extern",
        "inline",
        "void",
        "operator",
        "alignas",
        "decltype",
        "static_assert",
        "public",
        "private",
        "protected",
        "defined",
        "__attribute__",
        "__declspec",
    ]
)
"""Words that are never names, even in an error of the grammar."""
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
        if self._language.macros and (name in _KEYWORDS or self._is_statement(raw, name, top)):
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
