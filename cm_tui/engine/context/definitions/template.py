"""Templates: `{{field}}` in a text is replaced by the field's value; no code is run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

# --- fields by dotted names, for rules, filters and templates; ids by a prefix ---


class _Missing:
    def __repr__(self) -> str:
        return "missing"


MISSING: Final = _Missing()
"""Value of a missing field; an existing one may be None."""


def lookup(scope: Any, name: str) -> Any:
    """Return the field of that name, or MISSING.

    Args:
        scope: mappings in mappings; a list is counted from 0.
        name: such as `release.codename`; a key that has the dots in it counts before parts of it do.
    """
    if isinstance(scope, Mapping):
        if name in scope:
            return scope[name]
        # A key with dots, such as a path, may be at any level.
        for end in _dots(name):
            if name[:end] in scope:
                return lookup(scope[name[:end]], name[end + 1 :])
        return MISSING
    if isinstance(scope, Sequence) and not isinstance(scope, str | bytes):
        first, _, rest = name.partition(".")
        if not first.isascii() or not first.isdigit() or int(first) >= len(scope):
            return MISSING
        return lookup(scope[int(first)], rest) if rest else scope[int(first)]
    return MISSING


def _dots(name: str) -> list[int]:
    """Return where the dots are, the last one first."""
    return [place for place in range(len(name) - 1, 0, -1) if name[place] == "."]


# --- templates ---

_VARIABLE = re.compile(r"\{\{\s*([A-Za-z_][\w.-]{0,199})\s*\}\}")


class Rendered(NamedTuple):
    """A rendered template.

    Attributes:
        text: the result; a missing field is empty.
        missing: unique names of the missing fields.
    """

    text: str
    missing: tuple[str, ...]


def variables(template: str) -> Iterator[tuple[str, int]]:
    """Yield the fields that a template names, with where each begins."""
    for found in _VARIABLE.finditer(template):
        yield found[1], found.start()


def render(template: str, scope: Any) -> Rendered:
    """Render a template.

    Values are not rendered again: one that looks like a variable is unchanged.

    Args:
        template: text with `{{field}}`.
        scope: the fields.
    """
    missing: dict[str, None] = {}

    def filled(found: re.Match[str]) -> str:
        value = lookup(scope, found[1])
        if value is MISSING:
            missing[found[1]] = None
            return ""
        return plain(value)

    return Rendered(_VARIABLE.sub(filled, template), tuple(missing))


def parsed_value(text: str) -> Any:
    """Return the value of a JSON text; any other text is a value itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def plain(value: Any) -> str:
    """Return a value as text: text unchanged, None as empty, everything else as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)
