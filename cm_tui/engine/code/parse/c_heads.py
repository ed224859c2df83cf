"""Heads of declarations in C and C++, by their tokens alone: a second, forgiving parser next to the grammar.

It finds where a declaration begins and ends, even if unexpanded macros confuse the grammar; the content of functions
and initialisers is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from cm_tui.engine.code.parse.c_structure import COMMENT, QUOTED

_TOKEN = re.compile(
    rb"(?P<skip>\s+|" + COMMENT + rb"|#(?:\\\r?\n|[^\n])*|\\\r?\n)|(?P<s>" + QUOTED + rb")|(?P<w>[A-Za-z_$][\w$]*)"
    rb"|(?P<n>\.?[0-9][\w.']*)|(?P<sign>::|->|\.\.\.|&&|.)",
    re.DOTALL | re.MULTILINE,
)  # fmt: skip
_IN_ANGLES = re.compile(rb"[<>(){};]|" + COMMENT + rb"|" + QUOTED, re.DOTALL)
_LONGEST_ANGLES = 4_000
TYPE_WORDS = frozenset({b"class", b"struct", b"union", b"enum"})
_ACCESS = frozenset({b"public", b"private", b"protected", b"signals", b"slots", b"Q_SIGNALS", b"Q_SLOTS"})
_BASES = frozenset({b"public", b"protected", b"private", b"virtual"})
_AFTER_PARAMETERS = frozenset({b"const", b"noexcept", b"override", b"final", b"volatile", b"try", b"throw", b"mutable"})


class Token(NamedTuple):
    """Token of a head: a word, string, number, sign, or a bracketed group, which counts as one.

    `kind` is `w`, `s`, `n`, an opening bracket for a bracketed group, or the sign itself.
    """

    kind: str
    text: bytes
    """Of a word or sign; empty for the others."""
    start: int
    end: int
    new_line: bool
    """Whether a line ends between the token before it and itself."""


@dataclass(slots=True)
class Head:
    """Declaration up to its body or its end."""

    tokens: list[Token] = field(default_factory=list)
    ends_with: str = ""
    """`;`, `{` or, at the end of a block, `}`."""
    end: int = 0
    body_end: int = 0
    """Where the body of a function or enum ends, 0 for others."""
    what: str = ""
    """`type`, `enum`, `function` or `block` where a body follows; else empty."""


def read_heads(data: bytes, closing: dict[int, int]) -> Iterator[Head]:
    """Yield the heads at the level of a file, of namespaces and of types, in order.

    `data`: C or C++ text without branches of conditionals that contradict one another; `closing`: position of the
    closing bracket by that of the opening one.
    """
    return _Reader(data, closing).heads()


class _Reader:
    def __init__(self, data: bytes, closing: dict[int, int]) -> None:
        self._data = data
        self._closing = closing
        self._position = 0
        self._new_line = True
        self._no_angles_before = 0

    def heads(self) -> Iterator[Head]:
        head = Head()
        match = _TOKEN.match
        while (found := match(self._data, self._position)) is not None:
            self._position = found.end()
            kind = found.lastgroup
            if kind == "skip":
                self._new_line = self._new_line or b"\n" in found[0]
                continue
            sign = found[0] if kind == "sign" else b""
            if sign in {b"{", b";", b"}"}:
                if sign != b"{" or not self._continues(head, found.start()):
                    head.ends_with, head.end = sign.decode(), found.start()
                    yield head
                    head = Head()
                    self._new_line = True
                continue
            if sign == b":" and len(head.tokens) in {1, 2} and head.tokens[0].text in _ACCESS:
                head = Head()
                continue
            head.tokens.append(self._token(head, kind or "sign", found.start(), found[0]))
            self._new_line = False
        head.ends_with, head.end = "}", len(self._data)
        yield head

    def _token(self, head: Head, kind: str, start: int, text: bytes) -> Token:
        if kind != "sign":
            return Token(kind, text if kind == "w" else b"", start, self._position, self._new_line)
        if text in {b"(", b"["} and start in self._closing:
            self._position = self._closing[start] + 1
            return Token(text.decode(), b"", start, self._position, self._new_line)
        if text == b"<" and head.tokens and head.tokens[-1].kind == "w" and head.tokens[-1].text != b"operator":
            end = self._after_angles(start)
            if end:
                self._position = end
                return Token("<", b"", start, end, self._new_line)
        return Token(text.decode("latin-1"), text, start, self._position, self._new_line)

    def _after_angles(self, start: int) -> int:
        """Return the position after the bracket that closes template arguments; 0: not template arguments."""
        if start < self._no_angles_before:
            return 0
        depth, position = 0, start
        while (found := _IN_ANGLES.search(self._data, position, start + _LONGEST_ANGLES)) is not None:
            position = found.end()
            sign = found[0]
            if sign == b"<":
                depth += 1
            elif sign == b">" and self._data[found.start() - 1 : found.start()] != b"-":
                depth -= 1
                if depth == 0:
                    return position
            elif sign == b"(" and found.start() in self._closing:
                position = self._closing[found.start()] + 1
            elif sign in {b")", b";", b"{", b"}"}:
                break
        self._no_angles_before = position
        return 0

    def _continues(self, head: Head, at: int) -> bool:
        """Whether the declaration continues after the brace; else `head.what` is the kind of the braces."""
        end = self._closing.get(at)
        after = len(self._data) if end is None else end + 1
        tokens = head.tokens
        last = tokens[-1] if tokens else None
        if last is not None and _is_initialiser(tokens):
            self._position = after
            tokens.append(Token("{", b"", at, after, self._new_line))
            return True
        head.what = what = _what_it_opens(tokens)
        if what in {"function", "enum", ""} and end is not None:
            self._position = after
            head.body_end = end
        return False


def _is_initialiser(tokens: list[Token]) -> bool:
    """Whether a brace after these tokens opens a value, not a body."""
    signs = [token.kind for token in tokens]
    if "=" in signs and not any(token.text == b"operator" for token in tokens):
        return True
    if ":" in signs:
        # `Foo() : a{1}, b(2) {`: a brace after a name is a member's value, unless it opens a type with bases.
        at = signs.index(":")
        if any(kind == "(" for kind in signs[:at]) and not _is_type(tokens[:at]):
            bases = at + 1 < len(tokens) and tokens[at + 1].text in _BASES
            return tokens[-1].kind in {"w", "<"} and not bases
    return False


def _what_it_opens(tokens: list[Token]) -> str:
    words = {token.text for token in tokens if token.kind == "w"}
    if b"namespace" in words or (b"extern" in words and tokens[-1].kind == "s"):
        return "block"
    if _is_type(tokens):
        return "enum" if b"enum" in words else "type"
    return "function" if any(token.kind == "(" for token in tokens) else ""


def _is_type(tokens: list[Token]) -> bool:
    """Whether a body after these tokens is that of a class, struct, union or enum."""
    at = type_word(tokens)
    if at < 0:
        return False
    signs = [token.kind for token in tokens[at:]]
    until = at + signs.index(":") if ":" in signs else len(tokens)
    parens = [index for index in range(at, until) if tokens[index].kind == "("]
    if not parens:
        return not any(token.kind in "*&" for token in tokens[at:until])
    # `class EXPORT(x) Name {` against `struct name *f(int x) const {`.
    last = tokens[until - 1]
    after = parens[-1] + 1
    return last.kind in {"w", "<"} and after < until and tokens[after].text not in _AFTER_PARAMETERS and (
        not any(token.kind in "*&" for token in tokens[at:until])
    )  # fmt: skip


def type_word(tokens: list[Token]) -> int:
    """Return the index of the word that begins a type's definition, or -1; the words of a template header are ignored."""
    for index, token in enumerate(tokens):
        if token.text in TYPE_WORDS:
            if token.text == b"enum" and index + 1 < len(tokens) and tokens[index + 1].text in {b"class", b"struct"}:
                return index + 1
            return index
    return -1
