"""Memory references: `SCHEME://PATH?name=value`, as used by rules, routes and prompts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from urllib.parse import parse_qsl, unquote

from cm_tui.engine.context.definitions.lint import SCHEMES
from cm_tui.errors import UsageError

_LONGEST = 4_000
_MOST_PARAMETERS = 50


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to something remembered."""

    text: str
    """As it was written."""
    scheme: str
    path: str
    """Decoded part after `://`."""
    params: Mapping[str, str] = field(default_factory=dict)
    fragment: str = ""
    session: str = ""
    """Of the agent that is asking."""
    prompt: str = ""
    """The agent's task."""

    def param(self, name: str, default: str = "") -> str:
        """Return a parameter, or what holds without it."""
        return self.params.get(name, default)

    def number(self, name: str, default: float, least: float, most: float) -> float:
        """Return a numeric parameter.

        Raises:
            UsageError: it is not a number, or out of range.
        """
        text = self.params.get(name)
        if text is None:
            return default
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not least <= value <= most:
            raise UsageError(
                f"{self.text[:80]}: {name} is {text[:20]!r}.", hint=f"It is a number from {least:g} to {most:g}."
            )
        return value


def parse(text: str) -> Reference:
    """Parse a reference.

    Raises:
        UsageError: it is not a memory reference.
    """
    scheme, separator, rest = text.partition("://")
    if not separator or len(text) > _LONGEST or any(ord(letter) < 32 for letter in text):
        raise UsageError(
            f"{text[:80]!r} is no memory reference.", hint=f"It looks like {'://… , '.join(SCHEMES[2:5])}://…."
        )
    if scheme not in SCHEMES:
        near = get_close_matches(scheme, SCHEMES, 1)
        hint = f"Did you mean {near[0]}://?" if near else f"Use {', '.join(SCHEMES)}."
        raise UsageError(f"There is no memory {scheme[:40]!r}.", hint=hint)
    fragment = ""
    if scheme == "file":
        rest, _, fragment = rest.partition("#")
    path, _, query = rest.partition("?")
    try:
        params = dict(parse_qsl(query, keep_blank_values=True, max_num_fields=_MOST_PARAMETERS))
    except ValueError as error:
        raise UsageError(f"{text[:80]!r} has too many parameters.") from error
    return Reference(text, scheme, unquote(path), params, fragment)
