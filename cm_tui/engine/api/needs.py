"""What an answer must reflect and what a call writes, declared with each method of the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeVar

from cm_tui.model import Need

Written = Literal["memory", "settings", "index", "marks", "definitions", "log"]
"""What a call can write: what others list and find of episodes, entries, notes and values; settings and profiles; the
index and its history; marks of results; definitions of context; and the private log of what was asked and shown."""

_DECLARED = "__declared__"
_IN_PROCESS = "__in_process__"
_REVISION = "at"
"""The argument with which a question is about an earlier revision."""
_DRY_RUN = "dry_run"
"""The argument with which nothing is written."""

F = TypeVar("F", bound=Callable[..., Any])


class Declaration(NamedTuple):
    """What a request declares; the attributes are those of `needs`."""

    need: Need
    writes: tuple[Written, ...]
    shared: bool
    of_index: bool


def needs(
    need: Need, *, writes: tuple[Written, ...] = (), shared: bool = True, of_index: bool = False
) -> Callable[[F], F]:
    """Declare that a method is a request, what the index must reflect before it is answered, and what it writes.

    Args:
        need: one of `files`, `head`, `checkout` and `nothing`.
        writes: nothing for a question. The daemon tells other clients of what is written.
        shared: clients that ask the same of one generation get one answer; False where that reads what no generation names.
        of_index: it needs nothing, but its answer is about the index, which may be another checkout's.
    """

    def declared(method: F) -> F:
        setattr(method, _DECLARED, Declaration(need, writes, shared, of_index))
        return method

    return declared


def in_process(method: F) -> F:
    """Declare that a public method is no request: only the process that has the store open calls it."""
    setattr(method, _IN_PROCESS, True)
    return method


def is_request(method: Callable[..., Any]) -> bool:
    """Return whether a front end may call a method, straight or through the daemon."""
    return hasattr(method, _DECLARED)


def is_in_process(method: Callable[..., Any]) -> bool:
    """Return whether a method has declared that it is no request."""
    return hasattr(method, _IN_PROCESS)


def declaration_of(method: Callable[..., Any]) -> Declaration:
    """Return what a method has declared.

    Raises:
        TypeError: it has declared nothing.
    """
    declared: Declaration | None = getattr(method, _DECLARED, None)
    if declared is None:
        raise TypeError(f"{method.__qualname__} does not declare what it needs: decorate it with @needs.")
    return declared


def writes_of_call(writes: tuple[Written, ...], arguments: Mapping[str, Any]) -> tuple[Written, ...]:
    """Return what one call writes: a dry run writes nothing."""
    return () if arguments.get(_DRY_RUN) else writes


def need_of_call(need: Need, arguments: Mapping[str, Any]) -> Need:
    """Return what one call needs: a question about an earlier revision does not depend on the files on disk."""
    return "head" if need == "files" and arguments.get(_REVISION) is not None else need
