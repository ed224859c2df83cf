"""Run a language's query over a tree and return raw findings, in the vocabulary of `queries/README.md`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from ctypes import py_object, pythonapi
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Query, QueryCursor, Tree
from tree_sitter_language_pack import get_language

from cm_tui.engine.code.scan.languages import Language

PARSE_SECONDS = 10.0
"""CPU limit that no normal file reaches; parsing of hostile input stops here."""
MAX_DEPTH = 1_500
"""More brackets open than this is no code that anybody reads."""
MAX_WEIGHT = 200_000_000
"""Nodes times mean depth that a query processes in a few seconds."""
_SMALL = 20_000
"""Size of a file that is never too deep, whatever its content."""
_LEAST_SECONDS = 2.0
"""For a small file, which takes milliseconds. F# is lost for minutes in two kilobytes from whose middle twenty bytes are missing."""
_BYTES_PER_SECOND = 100_000
"""What a larger file adds to that limit; normal files are read five times as fast or more. A `/*` that is never closed is
followed to the end of the file, and so is each further one."""
_PIECE = 65_536
"""Bytes that the parser is given at a time."""
_LEVELS = 150
_SAMPLES = 100
_NO_BRACKETS = bytes(set(range(256)) - set(b"()[]{}"))
_ROLES = frozenset({"outer", "within", "scope", "attribute", "comment", "import", "owner", "local", "quiet"})
_PREFIXES = ("def.", "ref.", "bind.", "import.", "doc.", "args.")

Captures = dict[str, list[Node]]


class UnreadableError(Exception):
    """Error: parsing a file is too expensive; the message gives the reason."""


class RawReference(NamedTuple):
    """Reference before its symbol is determined."""

    position: int
    kind: str
    node: Node
    captures: Captures


@dataclass(slots=True)
class RawSymbol:
    """Definition before nesting; bytes, and 0-based rows."""

    start: int
    end: int
    head: int
    """Byte at which the definition itself begins, after decorators."""
    first_row: int
    last_row: int
    kind: str
    name: str
    name_at: int
    body_at: int | None
    params: Node | None
    owner: str | None


class Span(NamedTuple):
    """Stretch of bytes and rows with its text."""

    start: int
    end: int
    first_row: int
    last_row: int
    text: str


@dataclass(slots=True)
class Findings:
    """Raw findings of a query, in order of the matches."""

    symbols: dict[int, RawSymbol] = field(default_factory=dict)
    """By the byte of the name."""
    outers: list[tuple[int, Node]] = field(default_factory=list)
    withins: list[tuple[Node, str]] = field(default_factory=list)
    scopes: list[Node] = field(default_factory=list)
    locals: list[Span] = field(default_factory=list)
    quiet: list[tuple[int, int]] = field(default_factory=list)
    attributes: list[Span] = field(default_factory=list)
    comments: list[Span] = field(default_factory=list)
    inside: list[Span] = field(default_factory=list)
    before: list[Span] = field(default_factory=list)
    references: list[RawReference] = field(default_factory=list)
    imports: list[tuple[str, Node, Captures]] = field(default_factory=list)
    bindings: list[tuple[str, Captures]] = field(default_factory=list)
    open_args: set[int] = field(default_factory=set)
    single_args: set[int] = field(default_factory=set)
    extra_args: dict[int, int] = field(default_factory=dict)
    owners: list[tuple[int, str]] = field(default_factory=list)


@cache
def query_of(language: Language) -> Query:
    """Return a language's query, compiled once a process."""
    folder = files("cm_tui.engine.code.parse").joinpath("queries")
    source = "\n".join(folder.joinpath(f"{name}.scm").read_text("utf-8") for name in language.queries)
    return Query(get_language(language.grammar), source)  # type: ignore[arg-type]


def parse(language: Language, data: bytes) -> Tree:
    """Parse a file.

    Raises UnreadableError if it took much longer than a normal file of its size, or is nested too deeply.
    """
    if _open_brackets(data) > MAX_DEPTH:
        raise UnreadableError("nested too deeply")
    return reparse(language, data, None)


def reparse(language: Language, data: bytes, old: Tree | None, seconds: float = PARSE_SECONDS) -> Tree:
    """Parse a file incrementally from an older tree and its edits, within a CPU limit in seconds.

    Raises UnreadableError as for `parse`.
    """
    # Its own one: threads that parse at the same time take turns within a file, and a parser is made in a microsecond.
    parser = Parser(get_language(language.grammar))  # type: ignore[arg-type]
    is_small = len(data) < _SMALL
    try:
        tree = _parse_within(parser, data, old, min(seconds, _LEAST_SECONDS + len(data) / _BYTES_PER_SECOND))
    except ValueError as error:
        raise UnreadableError("parsing took too long") from error
    if not is_small and _weight(tree) > MAX_WEIGHT:
        raise UnreadableError("nested too deeply")
    # Nothing has changed, so this is fast; a tree with its bytes returns a node's text twenty times faster.
    return parser.parse(data, old_tree=tree)


def _parse_within(parser: Parser, data: bytes, old: Tree | None, seconds: float) -> Tree:
    pieces: list[bytes] = []
    cpu_deadline, deadline = time.thread_time() + seconds, time.monotonic() + seconds

    def read(offset: int, _point: object) -> bytes:
        # A copy, to which nothing else refers.
        piece = bytes(memoryview(data)[offset : offset + _PIECE])
        if len(piece) > 1:
            pieces.append(piece)
        return piece

    def is_late(_offset: int, _error: bool) -> bool:
        # The clock is read without a call of the system, unlike the thread's time, which cannot be ahead of it.
        return time.monotonic() > deadline and time.thread_time() > cpu_deadline  # true stops it

    try:
        if old is None:
            return parser.parse(read, progress_callback=is_late)
        return parser.parse(read, old_tree=old, progress_callback=is_late)
    finally:
        if parser.language is not None and _keeps_pieces(parser.language):
            for piece in pieces:
                pythonapi.Py_DecRef(py_object(piece))


@cache
def _keeps_pieces(grammar: Grammar) -> bool:
    """Return whether tree-sitter keeps a reference to each piece that its callback returns: 0.26 never drops it."""
    piece, calls = bytes(bytearray(b"[]")), 0

    def read(offset: int, _point: object) -> bytes:
        nonlocal calls
        calls += offset == 0
        return b"" if offset else piece

    before = sys.getrefcount(piece)
    Parser(grammar).parse(read)
    return sys.getrefcount(piece) - before == calls > 0


def _open_brackets(data: bytes) -> int:
    """Open brackets after removing pairs from the inside, level by level: a lower bound of the depth."""
    brackets = data.translate(None, _NO_BRACKETS)
    for _ in range(_LEVELS):
        size = len(brackets)
        brackets = brackets.replace(b"()", b"").replace(b"[]", b"").replace(b"{}", b"")
        if len(brackets) == size:
            break
    return sum(map(brackets.count, (b"(", b"[", b"{")))


def _weight(tree: Tree) -> float:
    """Nodes times their mean depth, by a sample: the cost of a query that looks up from every node."""
    count = tree.root_node.descendant_count
    cursor = tree.walk()
    depth = 0
    for sample in range(_SAMPLES):
        cursor.goto_descendant(count * sample // _SAMPLES)
        depth += cursor.depth
    return count * depth / _SAMPLES


def find(language: Language, tree: Tree) -> Findings:
    """Run the query and sort its matches by role."""
    found = Findings()
    definitions: list[tuple[int, str, Node, Captures]] = []
    for pattern, (role, family, kind), captures in _matches(language, tree):
        node = captures[role][0]
        if family == "ref":
            name = captures.get("name")
            found.references.append(RawReference((name[0] if name else node).start_byte, kind, node, captures))
        elif family == "def":
            definitions.append((pattern, kind, node, captures))
        elif family == "bind":
            found.bindings.append((kind, captures))
        elif family == "import":
            found.imports.append((kind, node, captures))
        elif role in _RECORDERS:
            _RECORDERS[role](found, node, captures)
        else:
            raise ValueError(f"unknown capture @{role}")
    # Matches come by position; of several patterns for one name the later one in the file has the last word.
    for _, kind, node, captures in sorted(definitions, key=lambda d: d[0]):
        _define(found, kind, node, captures)
    return found


def _matches(language: Language, tree: Tree) -> Iterator[tuple[int, Role, Captures]]:
    query = query_of(language)
    cursor = QueryCursor(query, match_limit=65_536)
    roles = _roles(language)
    # A progress callback would crash here (tree-sitter 0.26 segfaults); the match limit bounds the work.
    for pattern, captures in cursor.matches(tree.root_node):
        own = roles.get(pattern)
        if own is None:
            names = [n for n in captures if n in _ROLES or n.startswith(_PREFIXES)]
            # With a definition the owner is a part of it; alone it refers to a definition found elsewhere.
            names = names if names == ["owner"] else [n for n in names if n != "owner"]
            own = roles[pattern] = tuple(Role(n, *n.partition(".")[::2]) for n in names)
        for role in own:
            if role.name in captures:
                yield pattern, role, captures


class Role(NamedTuple):
    """A capture with a meaning, such as `def.class`."""

    name: str
    family: str
    kind: str


@cache
def _roles(language: Language) -> dict[int, tuple[Role, ...]]:
    """Roles by pattern, filled as patterns match; roles of one pattern are never optional."""
    del language
    return {}


def _define(found: Findings, kind: str, node: Node, captures: Captures) -> None:
    name = captures["name"][0]
    at = name.start_byte
    body = captures.get("body")
    params = captures.get("params")
    owner = captures.get("owner")
    raw = RawSymbol(
        node.start_byte, node.end_byte, node.start_byte, node.start_point[0], _last_row(node), kind, text_of(name), at,
        body[0].start_byte if body else None, params[0] if params else None, text_of(owner[0]) if owner else None,
    )  # fmt: skip
    old = found.symbols.get(at)
    if old is not None:
        raw.start, raw.end = min(raw.start, old.start), max(raw.end, old.end)
        raw.first_row, raw.last_row = min(raw.first_row, old.first_row), max(raw.last_row, old.last_row)
        raw.head = max(raw.head, old.head)
        raw.body_at = old.body_at if raw.body_at is None else raw.body_at
        raw.params, raw.owner = raw.params or old.params, raw.owner or old.owner
    found.symbols[at] = raw


_RECORDERS: dict[str, Callable[[Findings, Node, Captures], None]] = {
    "outer": lambda found, node, captures: found.outers.append((_name_at(captures), node)),
    "within": lambda found, node, captures: found.withins.append((node, text_of(captures["name"][0]))),
    "owner": lambda found, node, captures: found.owners.append((_name_at(captures), text_of(node))),
    "scope": lambda found, node, _: found.scopes.append(node),
    "local": lambda found, node, _: found.locals.append(_span(node)),
    "quiet": lambda found, node, _: found.quiet.append((node.start_byte, node.end_byte)),
    "attribute": lambda found, node, _: found.attributes.append(_span(node)),
    "comment": lambda found, node, _: found.comments.append(_span(node)),
    "doc.inside": lambda found, node, _: found.inside.append(_span(node)),
    "doc.before": lambda found, node, _: found.before.append(_span(node)),
    "args.open": lambda found, node, _: found.open_args.add(node.start_byte),
    "args.single": lambda found, node, _: found.single_args.add(node.start_byte),
    "args.extra": lambda found, _, captures: _count_extra(found, captures["args"][0], 1),
    "args.piped": lambda found, node, _: _count_extra(found, node, -1),
}
"""Recorders of independent roles."""


def _count_extra(found: Findings, args: Node, more: int) -> None:
    found.extra_args[args.start_byte] = found.extra_args.get(args.start_byte, 0) + more


def _name_at(captures: Captures) -> int:
    return captures["name"][0].start_byte


def text_of(node: Node) -> str:
    """Return the text that a node covers, invalid bytes replaced."""
    text = node.text
    return text.decode("utf-8", "replace") if text is not None else ""


def _last_row(node: Node) -> int:
    """Row of the last character other than white space; some grammars end a node where the next one begins."""
    text = node.text or b""
    return node.end_point[0] - text.count(b"\n", len(text.rstrip()))


def _span(node: Node) -> Span:
    text = text_of(node).rstrip()
    row = node.start_point[0]
    return Span(node.start_byte, node.end_byte, row, row + text.count("\n"), text)
