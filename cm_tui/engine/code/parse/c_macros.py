"""Macros in the head of a declaration, by position, which have to be hidden from the grammar."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from cm_tui.engine.code.parse.c_heads import TYPE_WORDS, Head, Token, type_word
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


_TAKE_BRACKETS = frozenset(
    b"__declspec __attribute__ __attribute alignas _Alignas decltype typeof __typeof__ noexcept explicit requires asm "
    b"__asm __asm__ throw".split()
)
_NO_NAMES = _TAKE_BRACKETS | QUALIFIERS | TYPES
_AFTER = frozenset(
    b"const noexcept override final volatile try throw requires asm __asm __asm__ __attribute__ mutable".split()
)
_OPENS_DECLARATION = frozenset(b"template class namespace using typedef public private protected".split())
_CALLING = re.compile(rb"\(\s*((?!const\b)[A-Za-z_]\w*)\s*(?=\*\s*(?:const\s+)?\w*\s*\)\s*\()")
_BEFORE_PARAMETER = re.compile(
    rb"(?<=[(,])\s*(_*[A-Z][A-Z0-9_]+)\s+(?=[A-Za-z_][\w:]*(?:\s*<[^<>()]*>)?[\s*&]+[A-Za-z_])"
)
_AFTER_PARAMETER = re.compile(rb"(?<=[\w>*&]\s)\s*[a-z_]\w*\s+([A-Z][A-Z0-9_]+(?:\([^()]*\))?)(?=\s*[,)=])")
_AFTER_STAR = re.compile(
    rb"[*&]\s*(?!(?:const|volatile|restrict|__restrict)\b)([A-Za-z_]\w*)\s+(?=[A-Za-z_]\w*\s*[,)=\[])"
)
_CALLED = re.compile(rb"[A-Z_][A-Z0-9_]+\s?\(")
_SEPARATOR = re.compile(rb",")
_NESTED = 8
"""Calls of macros in one another that are looked at."""
_WRAPPED = re.compile(rb"\(\s*\w[\w:<>*&]*[\s*&]+(?:[\w:<>*&,]+[\s*&]+)*\w+\s*\([^{};]*\)\s*\)", re.DOTALL)
_AMONG_ENUMERATORS = re.compile(
    rb"^[ \t]*([A-Z_][A-Z0-9_]*\s?\([^()\n]*\)(?=[ \t]*(?:/[/*][^\n]*)?\r?$)|[A-Z_][A-Z0-9_]*(?=[ \t]*\r?\n\s*[A-Za-z_]))",
    re.MULTILINE,
)
_AFTER_ENUMERATOR = re.compile(rb"[{,\n][ \t]*[A-Za-z_]\w*[ \t]+([A-Z_][A-Z0-9_]*(?:\([^()\n]*\))?)(?=\s*[,=}])")
_CONSTANT = frozenset({b"const", b"volatile", b"unsigned", b"signed", b"struct", b"union", b"enum"})


def macros_of(head: Head, data: bytes, *, nameless: bool) -> Iterator[Range]:
    """Yield the parts of a head to blank so that a declaration remains.

    `head`: a head of `data`; `nameless`: the language has functions without a type (C++: constructors).
    """
    tokens = head.tokens
    count = _leading(head)
    for token in tokens[:count]:
        yield Range(token.start, token.end)
    tokens = _without_template(tokens[count:])
    if not tokens:
        return
    if (wrapped := _wrapped(tokens, head, data, nameless=nameless)) is not None:
        yield from wrapped
        return
    if head.what in {"type", "enum"}:
        yield from _in_type_head(tokens)
        if head.what == "enum":
            yield from _in_enum(head, data)
    elif head.what != "block":
        name = _name_index(tokens)
        if name >= 0:
            yield from _in_function_head(tokens, name, head, data)
        else:
            yield from _in_variable(tokens)


def _wrapped(tokens: list[Token], head: Head, data: bytes, *, nameless: bool) -> tuple[Range, ...] | None:
    """Return the text around a head inside a macro, `EXPORT(int f(void)) {`, or one that generates it, `TEST("it") {`."""
    if [token.kind for token in tokens] != ["w", "("] or not is_capitals(tokens[0].text) or head.what != "function":
        return None
    start, end = tokens[1].start + 1, tokens[1].end - 1
    if _WRAPPED.fullmatch(data, start - 1, end + 1) is not None:
        return Range(tokens[0].start, start), Range(end, end + 1)
    comma = start if nameless else data.find(b",", start, end)
    return () if comma < 0 else (Range(comma, end),)


def _in_enum(head: Head, data: bytes) -> Iterator[Range]:
    """Yield macros between enumerators, and behind them."""
    for pattern in (_AMONG_ENUMERATORS, _AFTER_ENUMERATOR):
        for found in pattern.finditer(data, head.end, head.body_end):
            yield Range(*found.span(1))


def macro_calls(data: bytes, closing: dict[int, int], errors: Sequence[Range]) -> Iterator[Range]:
    """Yield the first argument of macro calls with errors: a declaration in the place of a value.

    `closing`: position of the closing bracket by that of the opening one; `errors`: unparsed text, in order.
    """
    calls = [found.end() - 1 for found in _CALLED.finditer(data) if found.end() - 1 in closing]
    done = -1
    for error in errors:
        index = bisect_right(calls, error.start) - 1
        for at in reversed(calls[max(0, index - _NESTED) : index + 1]):
            if closing[at] >= error.start and at > done:
                first = _SEPARATOR.search(data, at + 1, closing[at])
                yield Range(at + 1, first.start() if first else closing[at])
                done = at
                break


def name_of(head: Head) -> Token | None:
    """Return the token with the name that a head defines; None: no plain name."""
    tokens = _without_template(head.tokens[_leading(head) :])
    if head.what == "function":
        at = _name_index(tokens)
        if at < 0 or tokens[at].text == b"operator" or (at and is_capitals(tokens[at].text)):
            return None
        return tokens[at] if at == 0 or tokens[at - 1].kind != "~" else None
    at = type_word(tokens)
    if at < 0:
        return None
    signs = [token.kind for token in tokens]
    inside = tokens[at + 1 : signs.index(":", at) if ":" in signs[at:] else len(tokens)]
    while inside and (inside[-1].kind != "w" or inside[-1].text == b"final"):
        inside.pop()
    return inside[-1] if inside else None


def _leading(head: Head) -> int:
    """Count the tokens of macros before the declaration, as separate statements."""
    tokens = head.tokens
    at = 0
    while at < len(tokens) and is_capitals(tokens[at].text):
        after = at + 1
        if after < len(tokens) and tokens[after].kind == "(":
            after += 1
        if not _stands_alone(head, at, after):
            break
        at = after
    return at


def _stands_alone(head: Head, at: int, after: int) -> bool:
    tokens, called = head.tokens, after > at + 1
    if after == len(tokens):
        return head.ends_with == "}" or (head.ends_with == ";" and called)
    following = tokens[after]
    if following.text in _OPENS_DECLARATION or (following.text == b"extern" and tokens[after + 1 :][:1] != []):
        return True
    if not following.new_line or following.kind not in {"w", "["}:
        return False
    # `BOOL` above `is_open(int door) {` is its return type.
    rest = tokens[after:]
    has_type = len(rest) > 1 and (rest[0].text in QUALIFIERS or rest[1].kind in {"w", "*", "&", "::", "<"})
    return has_type or called


def _without_template(tokens: list[Token]) -> list[Token]:
    at = 0
    while at + 1 < len(tokens) and (
        (tokens[at].text == b"template" and tokens[at + 1].kind == "<")
        or (tokens[at].text == b"extern" and tokens[at + 1].kind == "s")
    ):
        at += 2
    return tokens[at:]


def _in_type_head(tokens: list[Token]) -> Iterator[Range]:
    """Yield all words between `class` and the name."""
    at = type_word(tokens)
    yield from specifier_macros(tokens[: at - 1 if tokens[at - 1].text == b"enum" and at else at], typed=True)
    signs = [token.kind for token in tokens[at:]]
    until = at + signs.index(":") if ":" in signs else len(tokens)
    inside = tokens[at + 1 : until]
    while inside and inside[-1].text == b"final":
        inside.pop()
    name = _last_name(inside)
    index = 0
    while index < name:
        token = inside[index]
        called = index + 1 < name and inside[index + 1].kind == "("
        if token.kind == "w" and token.text not in QUALIFIERS:
            yield Range(token.start, inside[index + 1].end if called else token.end)
        index += 2 if called else 1
    yield from (Range(token.start, token.end) for token in inside[name + 1 :] if is_capitals(token.text))


def _last_name(tokens: list[Token]) -> int:
    """Return the index at which the last name begins, including its qualifiers: `a::B<c>::D`."""
    index = len(tokens) - 1
    while index > 0 and (tokens[index].kind != "w" or _is_trailing_macro(tokens, index)):
        index -= 1
    while index >= 2 and tokens[index - 1].kind == "::":
        index -= 3 if tokens[index - 2].kind == "<" and index >= 3 else 2
    return index


def _is_trailing_macro(tokens: list[Token], index: int) -> bool:
    """Whether a word after the name is one: `struct Foo FINAL {`."""
    before = tokens[index - 1]
    return is_capitals(tokens[index].text) and before.kind in {"w", "<"} and not is_capitals(before.text)


def _name_index(tokens: list[Token]) -> int:
    """Return the index of the word before a function's parameters, or -1."""
    stop = next((i for i, token in enumerate(tokens) if token.kind in {"=", ":", "{"} and i), len(tokens))
    calls = [
        index - 1
        for index in range(1, stop)
        if tokens[index].kind == "(" and tokens[index - 1].kind == "w" and tokens[index - 1].text not in _NO_NAMES
    ]
    operator = next((i for i, token in enumerate(tokens[:stop]) if token.text == b"operator"), -1)
    if operator >= 0:
        return operator
    lower = [index for index in calls if not is_capitals(tokens[index].text)]
    for index in lower:
        after = tokens[index + 2].text if index + 2 < stop else b""
        # A word that takes brackets, more of the declaration behind it: an attribute, if another one can be the name.
        if not after or after in _AFTER or is_capitals(after) or index == lower[-1]:
            return index
    return calls[-1] if calls and not lower else -1


def _in_function_head(tokens: list[Token], name: int, head: Head, data: bytes) -> Iterator[Range]:
    first = name
    while first >= 2 and tokens[first - 1].kind in {"::", "~"}:
        first -= 1 if tokens[first - 1].kind == "~" else 3 if tokens[first - 2].kind == "<" else 2
    before = tokens[: max(0, first)]
    if head.ends_with == ";" and is_capitals(tokens[name].text) and words_in(before) >= 2:
        # `int left GUARDED_BY(mutex);`
        yield Range(tokens[name].start, tokens[name + 1].end)
        return
    yield from specifier_macros(before, typed=False)
    at = next((i for i in range(name, len(tokens)) if tokens[i].kind == "("), len(tokens))
    if tokens[name].text == b"operator" and at + 1 < len(tokens) and tokens[at + 1].kind == "(":
        at += 1
    if at < len(tokens):
        yield from _in_parameters(tokens[at], data)
    index = at + 1
    while index < len(tokens) and tokens[index].kind not in {":", "->", "=", "{"}:
        token = tokens[index]
        called = index + 1 < len(tokens) and tokens[index + 1].kind == "("
        if token.kind == "w" and token.text not in _AFTER and (is_capitals(token.text) or _ends(tokens, index, called)):
            yield Range(token.start, tokens[index + 1].end if called else token.end)
        index += 2 if called else 1


def _ends(tokens: list[Token], index: int, called: bool) -> bool:
    """Whether a word is the last of a head: not an old-style parameter, which ends in its name."""
    return index + (2 if called else 1) == len(tokens)


def _in_parameters(group: Token, data: bytes) -> Iterator[Range]:
    text = data[group.start : group.end]
    for found in _BEFORE_PARAMETER.finditer(text):
        if text[found.end() :].split(None, 1)[0] not in _CONSTANT:
            yield Range(group.start + found.start(1), group.start + found.end(1))
    for pattern in (_AFTER_STAR, _AFTER_PARAMETER, _CALLING):
        for found in pattern.finditer(text):
            yield Range(group.start + found.start(1), group.start + found.end(1))


def _in_variable(tokens: list[Token]) -> Iterator[Range]:
    stop = next((i for i, token in enumerate(tokens) if token.kind in {"=", ",", "[", ":"}), len(tokens))
    words = tokens[:stop]
    if words and words[-1].kind == "w" and is_capitals(words[-1].text) and words_in(words[:-1]) >= 2:
        yield Range(words[-1].start, words[-1].end)
        words = words[:-1]
    yield from specifier_macros(words[:-1], typed=False)
