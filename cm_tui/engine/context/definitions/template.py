"""Templates: `{{field}}` in a text is replaced by the field's value; no code is run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from cm_tui.engine.context.definitions.lookup import MISSING, lookup

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


def plain(value: Any) -> str:
    """Return a value as text: text unchanged, None as empty, everything else as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)
