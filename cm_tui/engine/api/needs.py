"""What an answer must reflect and what a call writes, declared with each method of the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

from cm_tui.model import Need

Written = Literal["memory", "settings", "index", "marks", "definitions", "log"]
"""What a call can write: what others list and find of episodes, entries, notes and values; settings and profiles; the
index and its history; marks of results; definitions of context; and the private log of what was asked and shown."""

_ATTRIBUTE = "__need__"
_WRITES = "__writes__"
_IN_PROCESS = "__in_process__"
_REVISION = "at"
"""The argument with which a question is about an earlier revision."""
_DRY_RUN = "dry_run"
"""The argument with which nothing is written."""

F = TypeVar("F", bound=Callable[..., Any])


def needs(need: Need, *, writes: tuple[Written, ...] = ()) -> Callable[[F], F]:
    """Declare what the index must reflect before a method is answered, and what the method writes.

    Args:
        need: one of `files`, `head`, `checkout` and `nothing`.
        writes: nothing for a question. The daemon tells other clients of what is written.
    """

    def declared(method: F) -> F:
        setattr(method, _ATTRIBUTE, need)
        setattr(method, _WRITES, writes)
        return method

    return declared


def in_process(method: F) -> F:
    """Declare that a public method is no request: only the process that has the store open calls it."""
    setattr(method, _IN_PROCESS, True)
    return method


def is_request(method: Callable[..., Any]) -> bool:
    """Return whether a front end may call a method, straight or through the daemon."""
    return hasattr(method, _ATTRIBUTE)


def is_in_process(method: Callable[..., Any]) -> bool:
    """Return whether a method has declared that it is no request."""
    return hasattr(method, _IN_PROCESS)


def need_of(method: Callable[..., Any]) -> Need:
    """Return what a method has declared.

    Raises:
        TypeError: it has declared nothing.
    """
    need: Need | None = getattr(method, _ATTRIBUTE, None)
    if need is None:
        raise TypeError(f"{method.__qualname__} does not declare what it needs: decorate it with @needs.")
    return need


def writes_of(method: Callable[..., Any]) -> tuple[Written, ...]:
    """Return what a method has declared to write; nothing for a question."""
    writes: tuple[Written, ...] = getattr(method, _WRITES, ())
    return writes


def writes_of_call(writes: tuple[Written, ...], arguments: Mapping[str, Any]) -> tuple[Written, ...]:
    """Return what one call writes: a dry run writes nothing."""
    return () if arguments.get(_DRY_RUN) else writes


def need_of_call(need: Need, arguments: Mapping[str, Any]) -> Need:
    """Return what one call needs: a question about an earlier revision does not depend on the files on disk."""
    return "head" if need == "files" and arguments.get(_REVISION) is not None else need
