"""Words before a declaration's name: keywords, its type, and macros."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from cm_tui.engine.code.parse.c_heads import TYPE_WORDS, Token
from cm_tui.engine.code.parse.c_structure import Range

_CAPITALS = re.compile(rb"_*[A-Z][A-Z0-9_]+(?:_[a-z0-9]+)?")
QUALIFIERS = frozenset(
    b"static extern const inline virtual explicit friend constexpr consteval constinit volatile register typedef mutable "
    b"typename thread_local restrict __restrict __inline __inline__ __forceinline __extension__ _Noreturn _Thread_local "
    b"export asm __asm __asm__ __cdecl __stdcall __fastcall __thiscall __vectorcall __declspec __attribute__ "
    b"__attribute alignas _Alignas decltype typeof __typeof__ noexcept requires".split()
)
"""Words of the language, and of its compilers, that are neither a type nor a name."""
TYPES = frozenset(
    b"void int char short long float double signed unsigned bool auto wchar_t char8_t char16_t char32_t _Bool size_t "
    b"ssize_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t ptrdiff_t".split()
)
"""Words that are a type, or a part of one."""
_LEADING = frozenset(b"static extern inline virtual explicit friend constexpr consteval typedef".split())


def is_capitals(word: bytes) -> bool:
    """Whether a word is written like a macro."""
    return _CAPITALS.fullmatch(word) is not None


def words_in(tokens: list[Token]) -> int:
    """Count the words that may be a type or a name; a type's own words are one."""
    return sum(1 for built_in, _ in groupby(tokens, _part) if built_in)


def specifier_macros(tokens: list[Token], *, typed: bool) -> Iterator[Range]:
    """Yield the macros among the words before a name.

    `typed`: the type comes after them; so none of them is one.
    """
    names = _names(tokens)
    built_in = typed or any(token.text in TYPES or token.text in TYPE_WORDS for token in tokens)
    macros = [one for one in names if one.plain and (built_in or one.called or is_capitals(tokens[one.first].text))]
    star = next((i for i, token in enumerate(tokens) if token.kind in {"*", "&", "&&"}), len(tokens))
    if not built_in and len(macros) == len(names):
        kept = [one for one in macros if one.first < star and not one.called]
        # Of words that are all written alike the last one before the name is the type; a lone one always is.
        macros = [one for one in macros if not kept or one is not kept[-1]]
    if not built_in:
        # `MACRO explicit Name(int);`: before a keyword other than `const` there is no type.
        macros += [
            one for one in names if one.plain and one not in macros and _leads(tokens[one.after : one.after + 1])
        ]
        # `Mutex* nonnull lock()`: behind a star there is no type.
        macros += [one for one in names if one.plain and one.first > star and one not in macros]
    rest = [one for one in names if one not in macros]
    if not built_in:
        macros += [one for one in rest[:-1] if one.plain]
    for one in macros:
        yield Range(tokens[one.first].start, tokens[one.after - 1].end)


def _leads(following: list[Token]) -> bool:
    return bool(following) and following[0].text in _LEADING


class _Name(NamedTuple):
    """Names among the words before another: indexes from `first` up to, not including, `after`."""

    first: int
    after: int
    plain: bool
    """One word alone, and brackets if it is `called`."""
    called: bool


def _names(tokens: list[Token]) -> list[_Name]:
    """Return the names that are neither keywords nor after `struct`; a qualified or generic one is one."""
    names: list[_Name] = []
    index = 0
    while index < len(tokens):
        token, first = tokens[index], index
        index += 1
        if token.kind != "w" or token.text in QUALIFIERS or token.text in TYPES:
            continue
        if token.text in TYPE_WORDS:
            index += 1
            continue
        while index < len(tokens) and (tokens[index].kind in {"::", "<"} or tokens[index - 1].kind == "::"):
            index += 1
        plain = index == first + 1
        called = plain and index < len(tokens) and tokens[index].kind == "("
        index += called
        names.append(_Name(first, index, plain, called))
    return names


def _part(token: Token) -> object:
    """Return the key that adjacent words of one name share: the built-in type, or the word itself."""
    if token.kind != "w" or token.text in QUALIFIERS:
        return None
    return "type" if token.text in TYPES or token.text in TYPE_WORDS else token.start
