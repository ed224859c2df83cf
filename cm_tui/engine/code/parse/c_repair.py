"""C and C++ that a grammar cannot parse because of unexpanded macros: remove them, and parse again."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from tree_sitter import Node, Point, Tree

from cm_tui.engine.code.parse.c_heads import Head, read_heads
from cm_tui.engine.code.parse.c_macros import macro_calls, macros_of
from cm_tui.engine.code.parse.c_structure import Range, blank, read_structure
from cm_tui.engine.code.parse.tree_query import UnreadableError, reparse
from cm_tui.engine.code.scan.languages import Language

_ROUNDS = 3
_SWALLOWED = frozenset({"function_definition", "function_declarator", "template_declaration", "namespace_definition"})
"""Definitions that cannot be inside a function, unless the grammar missed its end."""
_SECONDS = 3.0
"""CPU limit for one attempt; beyond it the first result is used."""
_ERROR_BYTES = 16
"""Weight of an error in addition to its bytes."""


class Repaired(NamedTuple):
    """Tree, and the heads of all declarations in its text; empty if the errors cannot hide one."""

    tree: Tree
    heads: list[Head]


def repair(language: Language, data: bytes, tree: Tree) -> Repaired:
    """Return the tree of a text after blanking macros and contradicting branches where the grammar failed.

    Positions are unchanged. A tree is kept when it has fewer errors than the one before. `language`: C or C++; `data`:
    the parsed text.
    """
    errors, harmful = _errors(tree)
    if not harmful:
        return Repaired(tree, [])
    structure = read_structure(data)
    if structure.variants:
        data, tree, errors, _ = _attempt(language, data, tree, errors, structure.variants)
    if not errors:
        return Repaired(tree, [])
    heads = [head for head in read_heads(blank(data, structure.variants), structure.closing) if head.tokens]
    for _ in range(_ROUNDS):
        edits = _edits(language, heads, errors, data)
        if not edits:
            break
        data, tree, errors, better = _attempt(language, data, tree, errors, edits)
        if not better or not errors:
            break
    if errors and (calls := list(macro_calls(data, structure.closing, errors))):
        _, tree, errors, _ = _attempt(language, data, tree, errors, calls)
    return Repaired(tree, heads if errors else [])


class _Errors(NamedTuple):
    """Text that a grammar could not parse."""

    ranges: list[Range]
    """In order; a missing token is an empty one."""
    harmful: bool
    """Whether a definition may be lost: not all of them are inside of functions that are read as such."""


def errors_of(tree: Tree) -> list[Range]:
    """Return the ranges that no rule of the grammar covers, in order; a missing token is an empty one.

    In an error that spans half a file because of one bracket, correctly parsed parts do not count.
    """
    return _errors(tree).ranges


def _errors(tree: Tree) -> _Errors:
    found: list[Range] = []
    harmful = False
    stack: list[tuple[Node, bool, bool]] = [(tree.root_node, False, False)]
    while stack:
        node, in_error, in_body = stack.pop()
        if node.is_missing:
            found.append(Range(node.start_byte, node.end_byte))
            harmful = harmful or not in_body
        elif node.is_error or node.has_error:
            kind, is_error = node.type, node.is_error
            body = in_body or (kind == "compound_statement" and not in_error)
            children = node.children
            if is_error and not children:
                found.append(Range(node.start_byte, node.end_byte))
            harmful = harmful or (is_error and not in_body) or (in_body and kind in _SWALLOWED)
            if body and not harmful:
                harmful = any(
                    child.type in _SWALLOWED or (child.is_missing and child.type == "}") for child in children
                )
            stack.extend([(child, is_error, body) for child in reversed(children)])
        elif in_error and not node.is_extra and not node.child_count:
            found.append(Range(node.start_byte, node.end_byte))
    return _Errors(found, harmful)


def _attempt(
    language: Language, data: bytes, tree: Tree, errors: list[Range], edits: list[Range]
) -> tuple[bytes, Tree, list[Range], bool]:
    """Return text, tree and errors with some ranges blanked, or unchanged if that is no better."""
    spared = blank(data, edits)
    if spared == data:
        return data, tree, errors, False
    old = tree.copy()
    lines = _line_starts(data)
    for start, end in edits:
        ends = _point(lines, end)
        old.edit(start, end, end, _point(lines, start), ends, ends)
    try:
        again = reparse(language, spared, old, _SECONDS)
    except UnreadableError:
        return data, tree, errors, False
    left = errors_of(again)
    if _badness(left) >= _badness(errors):
        return data, tree, errors, False
    return spared, again, left, True


def _badness(errors: Sequence[Range]) -> int:
    """Return how much a grammar could not read."""
    return sum(end - start + _ERROR_BYTES for start, end in errors)


def _edits(language: Language, heads: Sequence[Head], errors: Sequence[Range], data: bytes) -> list[Range]:
    """Return what to blank in the heads that errors touch."""
    ends = [head.body_end if head.what == "enum" else head.end for head in heads]
    edits: list[Range] = []
    done = -1
    for start, end in errors:
        index = max(bisect_left(ends, start), done + 1)
        while index < len(heads) and heads[index].tokens[0].start <= end:
            edits += macros_of(heads[index], data, nameless=language.constructor_is_class_name)
            done = index
            index += 1
    return sorted(edits)


def _line_starts(data: bytes) -> list[int]:
    starts = [0]
    at = data.find(b"\n")
    while at >= 0:
        starts.append(at + 1)
        at = data.find(b"\n", at + 1)
    return starts


def _point(lines: Sequence[int], at: int) -> Point:
    row = bisect_left(lines, at + 1) - 1
    return Point(row, at - lines[row])
