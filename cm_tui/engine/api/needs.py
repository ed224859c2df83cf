"""What an answer must reflect, declared with each method of the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from cm_tui.model import Need

_ATTRIBUTE = "__need__"
_REVISION = "at"
"""The argument with which a question is about an earlier revision."""

F = TypeVar("F", bound=Callable[..., Any])


def needs(need: Need) -> Callable[[F], F]:
    """Declare what the index must reflect before a method is answered.

    Args:
        need: one of `files`, `head`, `checkout` and `nothing`.
    """

    def declared(method: F) -> F:
        setattr(method, _ATTRIBUTE, need)
        return method

    return declared


def need_of(method: Callable[..., Any]) -> Need:
    """Return what a method has declared.

    Raises:
        TypeError: it has declared nothing.
    """
    need: Need | None = getattr(method, _ATTRIBUTE, None)
    if need is None:
        raise TypeError(f"{method.__qualname__} does not declare what it needs: decorate it with @needs.")
    return need


def need_of_call(need: Need, arguments: Mapping[str, Any]) -> Need:
    """Return what one call needs: a question about an earlier revision does not depend on the files on disk."""
    return "head" if need == "files" and arguments.get(_REVISION) is not None else need
