"""Declarations of the engine's methods: what a response must reflect, and what a call writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeVar

from cm_tui import model

Written = Literal["memory", "settings", "index", "marks", "definitions", "log"]
"""What a call can write: lists of episodes, entries, notes and values; settings and profiles; the index and its
history; marks of results; context definitions; and the private log of requests and responses."""

_DECLARED = "__declared__"
_IN_PROCESS = "__in_process__"
_REVISION = "at"
"""The argument with which a question is about an earlier revision."""
_DRY_RUN = "dry_run"
"""The argument with which nothing is written."""

F = TypeVar("F", bound=Callable[..., Any])


class Declaration(NamedTuple):
    """A method's declaration; the attributes are those of `needs`."""

    need: model.Need
    writes: tuple[Written, ...]
    shared: bool
    of_index: bool
    once: bool

    def need_of(self, arguments: Mapping[str, Any]) -> model.Need:
        """Return what one call needs: a query for an earlier revision does not depend on the files on disk."""
        return "head" if self.need == "files" and arguments.get(_REVISION) is not None else self.need

    def writes_of(self, arguments: Mapping[str, Any]) -> tuple[Written, ...]:
        """Return what one call writes: a dry run writes nothing."""
        return () if arguments.get(_DRY_RUN) else self.writes

    def is_once(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether one call must not be repeated when its response was lost."""
        return self.once and bool(self.writes_of(arguments))


def needs(
    need: model.Need,
    *,
    writes: tuple[Written, ...] = (),
    shared: bool = True,
    of_index: bool = False,
    once: bool = False,
) -> Callable[[F], F]:
    """Declare a method as a request: what the index must reflect first, and what the call writes.

    Args:
        need: one of `files`, `head`, `checkout` and `nothing`.
        writes: empty for a query. The daemon notifies other clients of writes.
        shared: identical requests for one generation share a response; False if it depends on more than the generation.
        of_index: needs nothing, but its response is about the index, which may be another checkout's.
        once: the same call does more when it is repeated: it is not when its response was lost.
    """

    def declared(method: F) -> F:
        setattr(method, _DECLARED, Declaration(need, writes, shared, of_index, once))
        return method

    return declared


def in_process(method: F) -> F:
    """Declare a public method as local: only the process that has the store open calls it."""
    setattr(method, _IN_PROCESS, True)
    return method


def is_request(method: Callable[..., Any]) -> bool:
    """Return whether a front end may call a method, straight or through the daemon."""
    return hasattr(method, _DECLARED)


def is_in_process(method: Callable[..., Any]) -> bool:
    """Return whether a method has declared that it is no request."""
    return hasattr(method, _IN_PROCESS)


def declaration_of(method: Callable[..., Any]) -> Declaration:
    """Return a method's declaration. Raises TypeError if it has no declaration."""
    declared: Declaration | None = getattr(method, _DECLARED, None)
    if declared is None:
        raise TypeError(f"{method.__qualname__} does not declare what it needs: decorate it with @needs.")
    return declared
