"""What is wrong with settings, in words that name the file, the line, what is meant most likely, and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, get_args

from cm_tui.counts import count
from cm_tui.errors import ConfigError

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

_HINT = "The configuration guide lists every setting: cm_tui/docs/configuration.md."
_SECRET = frozenset({"api_key", "headers"})
_LONGEST = 60
"""Characters of a value that are shown."""
_LIMITS = {"greater_than": ("gt", "more than"), "greater_than_equal": ("ge", "at least"), "less_than": ("lt", "less than"),
           "less_than_equal": ("le", "at most")}  # fmt: skip
_KINDS = (
    ("int", "a whole number"), ("float", "a number"), ("bool", "true or false"), ("string", "text in quotes"),
    ("tuple", 'a list, such as ["a", "b"]'), ("list", 'a list, such as ["a", "b"]'), ("mapping", "a table of names and values"),
    ("dict", "a table of names and values"), ("model", "a section of settings"), ("missing", "given"),
)  # fmt: skip


@dataclass(frozen=True)
class Place:
    """Where settings stand."""

    name: str
    """A file's path, or words for what is no file."""
    content: Callable[[], bytes] | None = None
    """Reads the file, where it is one."""
    variables: bool = False
    """They are environment variables, each named after its setting."""

    def line_of(self, names: tuple[str, ...]) -> int:
        """Return the line that sets something, counted from 1; 0 where it cannot be found."""
        if self.content is None:
            return 0
        try:
            text = self.content().decode("utf-8")
        except (OSError, ValueError):
            return 0
        return line_of(text, names)


def line_of(text: str, names: tuple[str, ...]) -> int:
    """Return the line of a TOML text that sets a name, counted from 1; 0 where it is written in some other way."""
    section: tuple[str, ...] = ()
    opened = 0
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*\[+([^\[\]]+)\]+\s*(?:#.*)?$", line):
            section = _keys(header.group(1))
            if section == names:
                return number
            opened = number if section == names[: len(section)] else opened
        elif (setting := re.match(r"\s*+((?:[\w-]++|\"[^\"]*\"|'[^']*'|\s*+\.\s*+)+?)\s*=", line)) is not None:
            here = (*section, *_keys(setting.group(1)))
            if here[: len(names)] == names or names[: len(here)] == here:
                return number
    return opened


def _keys(text: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in re.findall(r"\"[^\"]*\"|'[^']*'|[^.]+", text) if part.strip())


def mistake(error: ValidationError, place: Place, model: type[BaseModel]) -> ConfigError:
    """Return what to say of settings that do not fit.

    `error`: what the validation found; `place`: where the settings stand; `model`: what they were to fit.
    """
    found = error.errors()
    # The one that a reader of the file meets first.
    line, first = min(((place.line_of(_names(one)), one) for one in found), key=lambda pair: pair[0])
    names = _names(first)
    variable = f" CM_{'__'.join(names[:2]).upper()}" if place.variables else ""
    where = f"{place.name}, line {line}" if line else f"{place.name}{variable}"
    more = f" ({count(len(found) - 1, 'more mistake')} there)" if len(found) > 1 else ""
    if first["type"] == "extra_forbidden":
        what, hint = _unknown(names, model)
    else:
        shown = "" if _SECRET & set(names) else f", not {_shown(first['input'])}"
        what, hint = f"{'.'.join(names)} must be {expectation(first)}{shown}.", "Fix it there."
    return ConfigError(f"{where}: {what}{more}", hint=f"{hint} {_HINT}".strip())


def _names(error: ErrorDetails) -> tuple[str, ...]:
    return tuple(str(part) for part in error["loc"])


def expectation(error: ErrorDetails) -> str:
    """Return what a value has to be: `a whole number`, `at least 1`, `'a' or 'b'`."""
    kind, context = error["type"], error.get("ctx", {})
    if kind in _LIMITS:
        key, words = _LIMITS[kind]
        return f"{words} {context[key]:,}"
    if kind == "literal_error":
        return f"one of {context['expected']}".replace(" or ", ", ")
    return next((words for start, words in _KINDS if kind.startswith(start)), error["msg"])


def _shown(value: Any) -> str:
    text = "nothing" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _unknown(names: tuple[str, ...], model: type[BaseModel]) -> tuple[str, str]:
    """Return what is said of a name that no setting has, and what may be meant."""
    known = {section: tuple(_fields(field.annotation)) for section, field in model.model_fields.items()}
    if len(names) == 1:
        near = nearest(names[0], known)
        return f"unknown section [{names[0]}].", f"Did you mean [{near}]?" if near else "Remove it."
    section, name = names[0], ".".join(names[1:])
    if len(names) > 2 and names[1] in known.get(section, ()):
        near = nearest(names[2], _fields(_inner(model, names[:2])))
        full = f"{section}.{names[1]}.{near}" if near else ""
    else:
        near = nearest(names[1], known.get(section, ()))
        full = f"{section}.{near}" if near else _elsewhere(names[1], known)
    return (
        f"unknown setting {section}.{name}.",
        f"Did you mean {full}?" if full else "Remove it or fix its name.",
    )


def _inner(model: type[BaseModel], names: tuple[str, ...]) -> Any:
    """Return what a table within a section has to be."""
    kind: Any = model
    for name in names:
        kind = kind.model_fields[name].annotation
    return kind


def _elsewhere(name: str, known: Mapping[str, tuple[str, ...]]) -> str:
    """Return a setting of the same or a similar name in another section, or an empty string."""
    by_name = {setting: section for section, settings in known.items() for setting in settings}
    near = nearest(name, by_name)
    return f"{by_name[near]}.{near}" if near else ""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the closest known name, or an empty string."""
    return next(iter(get_close_matches(name, list(known), n=1, cutoff=0.6)), "")


def _fields(annotation: Any) -> Iterable[str]:
    fields = getattr(annotation, "model_fields", None)
    if fields is not None:
        return tuple(fields)
    return tuple(name for inner in get_args(annotation) for name in getattr(inner, "model_fields", ()))
