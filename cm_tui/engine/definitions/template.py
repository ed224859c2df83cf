"""Templates: `{{field}}` in a text becomes what the field is; nothing in them is run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from cm_tui.engine.definitions.lookup import MISSING, lookup

_VARIABLE = re.compile(r"\{\{\s*([A-Za-z_][\w.-]{0,199})\s*\}\}")


class Rendered(NamedTuple):
    """A template with its variables filled in.

    Attributes:
        text: what came of it; a field that is missing is nothing.
        missing: names of the fields that are missing, each once.
    """

    text: str
    missing: tuple[str, ...]


def variables(template: str) -> Iterator[tuple[str, int]]:
    """Yield the fields that a template names, with where each begins."""
    for found in _VARIABLE.finditer(template):
        yield found[1], found.start()


def render(template: str, scope: Any) -> Rendered:
    """Fill in the variables of a template.

    What is filled in is not looked at again: a value that looks like a variable stays as it is.

    Args:
        template: text with `{{field}}`.
        scope: what the fields are looked up in.
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
    """Return a value as it stands in a text: text as it is, nothing as nothing, everything else as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)
