"""Arity: number of arguments of a call and of parameters of a definition."""

from __future__ import annotations

from tree_sitter import Node

from cm_tui.engine.code.parse.tree_query import Findings, text_of
from cm_tui.engine.code.scan.languages import Language

_IGNORED = ("comment", "attribute", "decorator", "annotation")


def argument_count(args: Node | None, found: Findings) -> int | None:
    """Count the arguments in a list; None: unknown because of a spread, or no list."""
    if args is None:
        return None
    at = args.start_byte
    if at in found.open_args:
        return None
    if at in found.single_args:
        return 1
    return args.named_child_count - found.extra_args.get(at, 0)


def parameter_range(params: Node | None, language: Language, *, in_class: bool) -> tuple[int | None, int | None]:
    """Return the minimum and maximum number of arguments for a parameter list.

    Returns (None, None): no list; a maximum of None with a minimum: any number.
    """
    if params is None:
        return None, None
    if text_of(params).replace(" ", "") == "(void)":
        return 0, 0
    low, high, open_end = 0, 0, False
    children = params.named_children if params.named_child_count or params.child_count else [params]
    for position, child in enumerate(children):
        role = _role(child, language)
        if position == 0 and in_class and language.self_names and _first_word(child) in language.self_names:
            continue
        if role == "skip":
            continue
        if role == "variadic":
            open_end = True
            continue
        if role in {"default", "spread"}:  # next to the parameter that it makes optional
            low -= 1
            open_end = open_end or role == "spread"
            continue
        count = max(1, len(child.children_by_field_name("name"))) if language.grouped_parameters else 1
        high += count
        low += count if role == "required" else 0
    return max(0, low), None if open_end else high


def _role(child: Node, language: Language) -> str:
    kind = child.type
    role = language.parameters.get(f">{kind}") or language.parameters.get(kind, language.parameters.get("*"))
    if role is not None and role != "inside":
        return role
    if kind.endswith(_IGNORED):
        return "skip"
    for field in language.optional_fields:
        if child.child_by_field_name(field) is not None:
            return "optional"
    for inner in child.children:
        role = language.parameters.get(inner.type)
        if role is not None:
            return role
    return "required"


def _first_word(child: Node) -> str:
    node: Node | None = child
    while node is not None and node.named_child_count:
        node = node.named_child(0)
    return text_of(node) if node is not None else ""
