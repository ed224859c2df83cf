"""Fields by dotted names, for rules, filters and templates; ids by a prefix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from cm_tui.errors import NotFoundError, UsageError


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


def by_prefix(prefix: str, ids: Iterable[str], what: str, hint: str = "") -> str:
    """Return the id that a prefix of it names; `what` and `hint` are for the errors.

    Raises:
        NotFoundError: none begins with it.
        UsageError: several do.
    """
    found = [id_ for id_ in ids if prefix and id_.startswith(prefix)]
    if not found:
        raise NotFoundError(f"There is no {what} {prefix[:64]!r}.", hint=hint)
    if len(found) > 1:
        raise UsageError(f"{prefix} is ambiguous: {len(found)} {what}s begin with it.", hint="Give more of it.")
    return found[0]


def _dots(name: str) -> list[int]:
    """Return where the dots are, the last one first."""
    return [place for place in range(len(name) - 1, 0, -1) if name[place] == "."]
