"""Brackets and conditionals of C and C++ text: matching brackets, and mutually exclusive branches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

QUOTED = (
    rb'(?<![A-Za-z0-9_]R)(?<=R)"(?P<delimiter>[^()\\\s]{0,16})\((?:.*?\)(?P=delimiter)"|.*)|"(?:[^"\\\n]|\\.)*"?'
    rb"|(?<=[0-9a-fA-F])\'(?=[0-9a-fA-F])|\'(?:[^\'\\\n]|\\.)*\'?"
)
COMMENT = rb"//[^\n]*|/\*(?:.*?\*/|.*)"
# One match covers plain text and one item after it; each ends at the end of the text at the latest. No group is
# repeated: a possessive group around a lazy part never terminates in Python 3.11.2.
_EVENT = re.compile(
    rb"[^(){}\[\]\"'/#]*(?:(?P<bracket>[(){}\[\]])|(?P<directive>#(?:\\\r?\n|[^\n])*)|"
    + COMMENT
    + rb"|"
    + QUOTED
    + rb"|/|\Z)",
    re.DOTALL,
)
_WORD_OF_DIRECTIVE = re.compile(rb"#[ \t]*([a-z]+)[ \t]*(.*)", re.DOTALL)
_NEVER = frozenset({b"0", b"false"})
_PAIRS = {ord("("): ord(")"), ord("["): ord("]"), ord("{"): ord("}")}
_LONGEST_BRANCH = 100
"""Longest branch that may be dropped, in lines."""
_BLANK = re.compile(rb"\s+|//[^\n]*|/\*.*?\*/", re.DOTALL)


_STEPS = {ord("{"): (True, 1), ord("}"): (True, -1), ord("("): (False, 1), ord(")"): (False, -1)}


class Range(NamedTuple):
    """Bytes from `start` up to, not with, `end`."""

    start: int
    end: int


@dataclass(slots=True)
class Structure:
    """Matching brackets, and ranges to blank so that one of several variants remains."""

    closing: dict[int, int]
    """Position of the closing bracket by that of the opening one, outside of blanked ranges."""
    variants: list[Range]


@dataclass(slots=True)
class _Balance:
    """How far brackets go up and down over a stretch of text."""

    net: int = 0
    lowest: int = 0

    def add(self, net: int, lowest: int) -> None:
        self.lowest = min(self.lowest, self.net + lowest)
        self.net += net

    @property
    def is_even(self) -> bool:
        return self.net == 0 and self.lowest == 0


@dataclass(slots=True)
class _Branch:
    start: int
    condition: bytes
    braces: _Balance = field(default_factory=_Balance)
    parens: _Balance = field(default_factory=_Balance)


@dataclass(slots=True)
class _Conditional:
    directives: list[Range]
    branches: list[_Branch]
    in_parens: bool


def read_structure(data: bytes) -> Structure:
    """Match the brackets of a text, with only one branch of conditionals whose branches do not balance.

    A conditional is kept when each branch closes what it opens, outside of parentheses, and is not the head of a
    definition whose body comes after it. Of the others the first branch counts, or the second after `#if 0`.
    """
    directives: list[tuple[Range, bytes, bytes]] = []
    order: list[int] = []  # a bracket's position, or the complement of a directive's index
    for event in _EVENT.finditer(data):
        if event.lastgroup == "bracket":
            order.append(event.end() - 1)
        elif event.lastgroup != "directive":
            continue
        elif (word := _WORD_OF_DIRECTIVE.match(event["directive"])) is not None:
            order.append(~len(directives))
            directives.append((Range(event.start("directive"), event.end()), word[1], word[2].strip()))
    variants = sorted(_variants(data, order, directives))
    brackets = [at for at in order if at >= 0]
    return Structure(_match(data, brackets, variants), variants)


def _variants(data: bytes, order: list[int], directives: list[tuple[Range, bytes, bytes]]) -> Iterator[Range]:
    if not directives:
        return
    stack: list[_Conditional] = []
    parens = 0
    for at in order:
        if at >= 0:
            parens = _count(data[at], parens, stack[-1].branches[-1] if stack else None)
            continue
        where, word, condition = directives[~at]
        if word in {b"if", b"ifdef", b"ifndef"}:
            stack.append(_Conditional([where], [_Branch(where.end, condition)], parens > 0))
        elif word in {b"else", b"elif", b"elifdef", b"elifndef"} and stack:
            stack[-1].directives.append(where)
            stack[-1].branches.append(_Branch(where.end, condition))
        elif word == b"endif" and stack:
            done = stack.pop()
            done.directives.append(where)
            kept = _kept(done)
            if stack:
                outer, inner = stack[-1].branches[-1], done.branches[kept]
                outer.braces.add(inner.braces.net, inner.braces.lowest)
                outer.parens.add(inner.parens.net, inner.parens.lowest)
            if _must_be_one(data, done):
                yield from _all_but(done, kept)


def _count(sign: int, parens: int, branch: _Branch | None) -> int:
    """Count a bracket; returns how many parentheses are open since the last brace."""
    counted = _STEPS.get(sign)
    if counted is None:
        return parens
    is_brace, step = counted
    if branch is not None:
        balance = branch.braces if is_brace else branch.parens
        balance.net += step
        balance.lowest = min(balance.lowest, balance.net)
    return 0 if is_brace else max(0, parens + step)


def _kept(conditional: _Conditional) -> int:
    never = conditional.branches[0].condition in _NEVER
    return 1 if never and len(conditional.branches) > 1 else 0


def _must_be_one(data: bytes, conditional: _Conditional) -> bool:
    """Whether the branches cannot be parsed in sequence; a long branch is never dropped for another."""
    if len(conditional.branches) > 1 and any(
        data.count(b"\n", directive.end, following.start) > _LONGEST_BRANCH
        for directive, following in pairwise(conditional.directives)
    ):
        return False
    if any(not (branch.braces.is_even and branch.parens.is_even) for branch in conditional.branches):
        return True
    if conditional.in_parens:
        return True
    last = conditional.directives[-1]
    first_end = conditional.directives[1].start
    ends = data[conditional.branches[0].start : first_end].rstrip()[-1:]
    if len(conditional.branches) == 1 or not (ends == b")" or ends.isalnum() or ends == b"_"):
        return False
    at = last.end
    while (blank := _BLANK.match(data, at)) is not None:
        at = blank.end()
    return data[at : at + 1] == b"{"


def _all_but(conditional: _Conditional, kept: int) -> Iterator[Range]:
    never = conditional.branches[kept].condition in _NEVER and kept == 0
    for index, (directive, branch) in enumerate(zip(conditional.directives, conditional.branches, strict=False)):
        yield directive
        if index != kept or never:
            yield Range(branch.start, conditional.directives[index + 1].start)
    yield conditional.directives[-1]


def _match(data: bytes, brackets: list[int], variants: list[Range]) -> dict[int, int]:
    """Match brackets by kind; a brace closes open parentheses in it."""
    closing: dict[int, int] = {}
    stack: list[int] = []
    braces = 0
    blanked = _Cursor(variants) if variants else None
    for at in brackets:
        if blanked is not None and blanked.covers(at):
            continue
        sign = data[at]
        if sign in _PAIRS:
            stack.append(at)
            braces += sign == ord("{")
            continue
        while stack and sign == ord("}") and braces and data[stack[-1]] != ord("{"):
            stack.pop()
        if stack and _PAIRS[data[stack[-1]]] == sign:
            closing[stack.pop()] = at
            braces -= sign == ord("}")
    return closing


class _Cursor:
    """Whether ascending positions are in one of some sorted ranges, which may overlap."""

    def __init__(self, ranges: list[Range]) -> None:
        self._ranges = ranges
        self._next = 0
        self._until = -1

    def covers(self, at: int) -> bool:
        while self._next < len(self._ranges) and self._ranges[self._next].start <= at:
            self._until = max(self._until, self._ranges[self._next].end)
            self._next += 1
        return at < self._until


def blank(data: bytes, ranges: list[Range]) -> bytes:
    """Return a text with spaces in place of some ranges; lines are unchanged."""
    if not ranges:
        return data
    text = bytearray(data)
    done = 0
    for begun, end in sorted(ranges):
        start = max(begun, done)
        if start < end:
            text[start:end] = _NOT_LINE_END.sub(b" ", data[start:end])
            done = end
    return bytes(text)


_NOT_LINE_END = re.compile(rb"[^\r\n]")
