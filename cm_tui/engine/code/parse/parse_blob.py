"""Parse a blob: symbols, references, imports, bindings and chunks, by its language's query."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import blake2b
from typing import NamedTuple

from tree_sitter import Node, Tree

from cm_tui.engine.code.parse.c_heads import Head
from cm_tui.engine.code.parse.c_macros import name_of
from cm_tui.engine.code.parse.c_repair import repair
from cm_tui.engine.code.parse.c_structure import Range, blank
from cm_tui.engine.code.parse.chunks import chunk_lines, chunk_symbols
from cm_tui.engine.code.parse.headings import DOCUMENTS
from cm_tui.engine.code.parse.headings import headings as headings_by_lines
from cm_tui.engine.code.parse.markdown import headings, links, sections
from cm_tui.engine.code.parse.records import LocatedSymbol, ParsedBlob, ParsedSymbol
from cm_tui.engine.code.parse.references import extract_references
from cm_tui.engine.code.parse.symbol_tree import build_symbols
from cm_tui.engine.code.parse.tree_query import Findings, RawSymbol, UnreadableError, find, parse
from cm_tui.engine.code.scan.languages import LANGUAGES, Language
from cm_tui.engine.platform.git.encodings import decode

# --- definitions lost in an error of the grammar: text that begins one, without that name in the tree ---

_SHOWN = 5
"""Definitions to name in a message; further ones are counted."""
_NO_CODE = re.compile(r"string|comment|heredoc|template|quasi|char|regex|raw|text|doc|sigil|interpret")
_MOST_LINES = 20_000
"""Lines of a file that are looked at."""


class Lost(NamedTuple):
    """Definition that nothing was found of: its 1-based line, its keyword and name."""

    line: int
    what: str
    name: str


def without_known(openings: Iterable[Lost], located: Iterable[LocatedSymbol]) -> list[Lost]:
    """Return the openings that gave no symbol of their name on their line."""
    openings = list(openings)
    if not openings:
        return []
    known: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for item in located:
        known[item.row.name.strip("`")].append((item.row.start_line, item.row.end_line))
    return [one for one in openings if not any(first <= one.line <= last for first, last in known.get(one.name, ()))]


def in_words(lost: Sequence[Lost]) -> str:
    """Describe lost definitions: `read in part: line 12 (class Foo), line 40 (fun bar)`."""
    named = ", ".join(f"line {one.line} ({one.what} {one.name})" for one in lost[:_SHOWN])
    more = f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
    return f"read in part, the grammar lost {named}{more}"


@cache
def _opening(pattern: str) -> re.Pattern[str]:
    return re.compile(r"\s*" + pattern)


def openings_by_lines(language: Language, lines: Sequence[str], tree: Tree) -> Iterator[Lost]:
    """Yield the lines of a file with errors that begin a definition by their first word."""
    if not (language.opening and tree.root_node.has_error):
        return
    opening = _opening(language.opening)
    offset = 0
    for row, line in enumerate(lines[:_MOST_LINES]):
        match = opening.match(line[:400])
        if match is not None and _is_code(
            tree.root_node, offset + len(line[: match.start("what")].encode("utf-8", "replace"))
        ):
            yield Lost(row + 1, match["what"], match["name"])
        offset += len(line.encode("utf-8", "replace")) + 1


def _is_code(root: Node, at: int) -> bool:
    """Whether a byte is in no comment or string."""
    node = root.descendant_for_byte_range(at, at)
    while node is not None and node.parent is not None:
        if node.is_named and _NO_CODE.search(node.type):
            return False
        node = node.parent
    return True


def openings_of_heads(data: bytes, heads: Iterable[Head]) -> Iterator[Lost]:
    """Yield the heads of declarations that have a body and a name."""
    row, counted = 1, 0
    for head in heads:
        if head.what in {"type", "enum", "function"} and (name := name_of(head)) is not None:
            row += data.count(b"\n", counted, name.start)
            counted = name.start
            what = head.what if head.what == "function" else "type"
            yield Lost(row, what, name.text.decode("utf-8", "replace"))


# --- parse a blob ---

_BARE_MACRO = re.compile(rb"^[ \t]*[A-Z0-9_]*(?:BEGIN|END|OPEN|CLOSE|NAMESPACE)[A-Z0-9_]*[ \t]*\r?$", re.MULTILINE)
"""Line that is only a macro such as `LIB_NAMESPACE_BEGIN`: taken for a type, it would hide the definition after it."""
_EXPORTED = re.compile(
    rb"(?:class|struct|union|enum(?:[ \t]+(?:class|struct))?)[ \t]+([A-Z_][A-Z0-9_]+(?:\([^()\n]*\))?)\s+[A-Za-z_]\w*"
    rb"(?=\s*(?:final\s*)?(?:\{|:[^:;{}()=][^;{}()=]*\{))"
)
"""`class EXPORT Name {`: read as a function of that name, without an error."""
_ATTRIBUTE = re.compile(
    rb"\)\s*(?:(?:const|noexcept|override|final|&&?)\s*)*\b([A-Z_][A-Z0-9]*_[A-Z0-9_]+(?:\([^(){};\n]*\))?)(?=\s*\{)"
)
"""`int f() ATTRIBUTE {`: likewise."""
_STATEMENT = re.compile(rb"\b(?:if|for|while|switch|catch)\b")
_DEFINE = re.compile(rb"#[ \t]*define\b(?:\\\r?\n|[^\n])*")

_LINE_OF_MACRO = re.compile(rb"(?:(?!\\\r?\n)[^\n])+")
"""Line up to the sign after which the macro continues."""


def without_plain_macros(data: bytes) -> bytes:
    """Return C or C++ text without macros that a grammar misreads silently; positions are unchanged."""
    data = _BARE_MACRO.sub(lambda line: b" " * len(line[0]), data)
    ranges = [Range(*found.span(1)) for found in _EXPORTED.finditer(data)]
    for found in _ATTRIBUTE.finditer(data):
        line = data[data.rfind(b"\n", 0, found.start()) + 1 : found.start()][-200:]
        if _STATEMENT.search(line) is None:
            ranges.append(Range(*found.span(1)))
    if b"\\\n" in data or b"\\\r\n" in data:
        ranges += _comments_in_macros(data)
    return blank(data, ranges)


def _comments_in_macros(data: bytes) -> Iterator[Range]:
    """Yield comments between the lines of a macro: for the grammar it would end there."""
    for define in _DEFINE.finditer(data):
        text = define[0]
        last = max(text.rfind(b"\\\n"), text.rfind(b"\\\r\n"))
        at = text.find(b"/*", 0, max(0, last))
        while at >= 0:
            end = text.find(b"*/", at + 2)
            if end < 0:
                break
            for line in _LINE_OF_MACRO.finditer(text, at, end + 2):
                yield Range(define.start() + line.start(), define.start() + line.end())
            at = text.find(b"/*", end + 2, last)


_CLOSING = ("}", ")")


def recover_functions(found: Findings, pattern: str, lines: Sequence[str]) -> None:
    """Add the functions whose first line matches and that no definition begins on.

    A function ends on its first line when its bracket closes there, else on the first line with a closing bracket that
    is indented as it is. `found`: findings of the query; gets the functions. `pattern`: regular expression of a
    function's first line, its name in the group `name`.
    """
    opening = re.compile(pattern)
    known = {raw.first_row for raw in found.symbols.values() if raw.kind == "function"}
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line.encode("utf-8", "surrogateescape")) + 1)
    quoted = {row for span in found.comments for row in range(span.first_row, span.last_row + 1)}
    for row, line in enumerate(lines):
        match = opening.match(line)
        if match is None or row in known or row in quoted:
            continue
        last = _last_row(lines, row, line)
        at = offsets[row] + len(line[: match.start("name")].encode())
        start = offsets[row] + len(line) - len(line.lstrip())
        found.symbols[at] = RawSymbol(
            start, offsets[last + 1] - 1, start, row, last, "function", match["name"], at, None, None, None
        )


def _last_row(lines: Sequence[str], row: int, line: str) -> int:
    if line.rstrip().endswith((*_CLOSING, ";")) and not line.rstrip().endswith("()"):
        return row
    indent = len(line) - len(line.lstrip())
    for later in range(row + 1, len(lines)):
        text = lines[later]
        closes = text.lstrip().startswith(_CLOSING) and not text.rstrip().endswith("{")
        if closes and len(text) - len(text.lstrip()) == indent:
            return later
    return row


_HEAD = 2000
_GENERATED = re.compile(
    rb"@generated|code generated by [^\n]{0,200}do not edit|(?:auto-?\s?generated|automatically generated|generated "
    rb"(?:file|code|by|from)\b)[^\n]{0,120}(?:do not|don't|edit|modif|by )|do not (?:edit|modify)[^\n]{0,80}generated"
    rb"|<auto-?generated|is an amalgamation|amalgamated (?:source|header|file|from|by)",
    re.IGNORECASE,
)
_LONG_LINE = 5000
_ONE_LINE = 2
"""Signature, and its line."""


def parse_blob(oid: str, language: str, data: bytes, encoding: str = "") -> ParsedBlob:
    """Parse a blob; never fails on bad content.

    `oid`: git object id, passed through. `language`: a key of `LANGUAGES`; others are treated as text. `encoding`:
    declared for it elsewhere. Returns the rows; chunks of lines, with `error` set, when it could not be parsed.
    """
    size = len(data)
    text, problem = decode(data, encoding)
    # The query's predicates need text, and positions in it are those of the text.
    data = text.encode()
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    blob = ParsedBlob(oid, language, size, len(lines), generated=_generated(data))
    spec = LANGUAGES.get(language, LANGUAGES["text"])
    if language == "vbnet":
        _read_by_lines(blob, data, lines)
    elif language in DOCUMENTS:
        located = sections(headings_by_lines(language, lines), lines)
        blob.symbols, blob.chunks = [item.row for item in located], chunk_symbols(lines, located)
    elif not spec.grammar or not lines:
        blob.chunks = chunk_lines(lines)
    else:
        _read(blob, spec, data, lines)
    blob.symbols = _with_bodies(blob.symbols, lines)
    if problem:
        blob.error = f"{blob.error}; {problem}" if blob.error else problem
    return blob


def _with_bodies(symbols: list[ParsedSymbol], lines: Sequence[str]) -> list[ParsedSymbol]:
    """Return the symbols with a digest of their own lines, ignoring indentation and empty lines.

    The name is ignored, too, so that a body is recognised under another one; unless it is all on one line, as otherwise
    every constant would be the same as some other.
    """
    owner: list[int] = [-1] * len(lines)
    for index, symbol in enumerate(symbols):
        start, end = symbol.start_line - 1, min(symbol.end_line, len(lines))
        owner[start:end] = [index] * (end - start)
    own: list[list[str]] = [[symbol.signature] for symbol in symbols]
    for index, line in zip(owner, lines, strict=True):
        if index >= 0 and (plain := line.strip()):
            own[index].append(plain)
    texts = (
        _nameless("\n".join(text), symbol.name) if len(text) > _ONE_LINE else "\n".join(text)
        for symbol, text in zip(symbols, own, strict=True)
    )
    return [symbol._replace(body=_digest(text)) for symbol, text in zip(symbols, texts, strict=True)]


def _nameless(text: str, name: str) -> str:
    """Return a text with a zero in place of each word that is a name."""
    pieces, kept, at = [], 0, text.find(name) if name else -1
    while at >= 0:
        end = at + len(name)
        if not _in_word(text[at - 1 : at]) and not _in_word(text[end : end + 1]):
            pieces += [text[kept:at], "\0"]
            kept = end
        at = text.find(name, end)
    return "".join([*pieces, text[kept:]])


def _in_word(letter: str) -> bool:
    return letter == "_" or letter.isalnum()


def _digest(text: str) -> int:
    """Return 63 bits that name a text."""
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big") >> 1


def _read(blob: ParsedBlob, language: Language, data: bytes, lines: Sequence[str]) -> None:
    source = _source(language, data)
    try:
        heads: list[Head] = []
        tree = parse(language, source)
        if language.macros and tree.root_node.has_error:
            tree, heads = repair(language, source, tree)
        found = find(language, tree)
        if language.recovery and (language.recover_always or tree.root_node.has_error):
            recover_functions(found, language.recovery, lines)
    except UnreadableError as error:
        blob.error = str(error)
        blob.chunks = chunk_lines(lines)
        return
    if language.name == "markdown":
        located = sections(headings(found, lines), lines)
        blob.symbols = [item.row for item in located]
        blob.imports = links(found, lines, located)
        blob.chunks = chunk_symbols(lines, located)
        return
    # Blanked text is still part of a signature.
    located = build_symbols(found, language, source if language.name == "razor" else data, lines)
    openings = openings_of_heads(source, heads) if language.macros else openings_by_lines(language, lines, tree)
    if lost := without_known(openings, located):
        blob.error = in_words(lost)
    if language.name == "razor":
        located, found = _without_component(located, found)
    blob.symbols = [item.row for item in located]
    extract_references(blob, found, located, language)
    blob.chunks = chunk_symbols(lines, located)


def _source(language: Language, data: bytes) -> bytes:
    if language.macros:
        return without_plain_macros(data)
    if language.name == "razor":
        from cm_tui.engine.code.parse.razor_preprocessor import to_csharp

        return to_csharp(data.decode("utf-8", "replace")).encode()
    return data


def _without_component(located: list[LocatedSymbol], found: Findings) -> tuple[list[LocatedSymbol], Findings]:
    """Drop the class that wraps a Razor page's members, so that they are the page's own."""
    from cm_tui.engine.code.parse.razor_preprocessor import COMPONENT

    kept = [i for i, item in enumerate(located) if item.row.name not in {COMPONENT, "_"}]
    renumbered = {old: new for new, old in enumerate(kept)}
    members: list[LocatedSymbol] = []
    for index in kept:
        row = located[index].row
        parent = renumbered.get(row.parent) if row.parent is not None else None
        located[index].row = row._replace(parent=parent, qualname=row.qualname.removeprefix(f"{COMPONENT}."))
        members.append(located[index])
    return members, found


def _read_by_lines(blob: ParsedBlob, data: bytes, lines: Sequence[str]) -> None:
    from cm_tui.engine.code.parse.vbnet import read

    read(blob, data.decode("utf-8", "replace"))
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line.encode("utf-8", "replace")) + 1)
    located = [
        LocatedSymbol(row, offsets[row.start_line - 1], offsets[min(row.end_line, len(lines))], row.start_line - 1, 0)
        for row in blob.symbols
    ]
    blob.chunks = chunk_symbols(lines, located)


def _generated(data: bytes) -> bool:
    """Whether the content is marked as generated, or looks minified."""
    head = data[:_HEAD]
    # Each of the marks has one of these words, which are found much sooner.
    if any(word in head.lower() for word in (b"generated", b"amalgamat")) and _GENERATED.search(head):
        return True
    return len(data) > _LONG_LINE and len(data) / (data.count(b"\n") + 1) > 500
