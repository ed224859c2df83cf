"""The filter line of a list: words, and fields such as `kind:rule,day`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


def pieces_of(text: str) -> list[str]:
    """Split a line at blanks that stand outside of double quotes."""
    pieces, piece, quoted = [], "", False
    for one in text:
        quoted ^= one == '"'
        if one.isspace() and not quoted:
            pieces.append(piece)
            piece = ""
        else:
            piece += one
    return [one for one in (*pieces, piece) if one]


def read_fields(
    text: str, known: Mapping[str, Collection[str]], many: Collection[str] = ()
) -> tuple[str, dict[str, tuple[str, ...]], str]:
    """Parse a line.

    Args:
        text: the line.
        known: the values of each field.
        many: fields that take several values, separated by commas.

    Returns:
        The words, the valid values of each field (the last one of a field of one value), and the problems.
    """
    found: dict[str, list[str]] = {field: [] for field in known}
    words, wrong = [], []
    for piece in pieces_of(text):
        field, colon, value = piece.partition(":")
        field = field.lower()
        if not colon or field not in known:
            words.append(piece.replace('"', ""))
            continue
        for one in value.lower().split(",") if field in many else [value.lower()]:
            if one in known[field]:
                found[field].append(one)
            elif one:
                wrong.append(f"{field}: unknown value {one[:40]!r}. Use one of {', '.join(known[field])}.")
    values = {field: tuple(dict.fromkeys(some if field in many else some[-1:])) for field, some in found.items()}
    return " ".join(words), values, " ".join(wrong)


def following(value: T, turn: Sequence[T]) -> T:
    """Return the value after one, in turn; the first one after any other."""
    return turn[(turn.index(value) + 1) % len(turn)] if value in turn else turn[0]


def one_of(values: Collection[str], default: str = "") -> str:
    """Return the value of a field that has at most one."""
    return next(iter(values), default)


def with_field(text: str, field: str, value: str) -> str:
    """Return a line in which a field has another value, or, where that is empty, none."""
    kept = [one for one in pieces_of(text) if not one.lower().startswith(f"{field}:")]
    return " ".join([*kept, f"{field}:{value}"] if value else kept)
