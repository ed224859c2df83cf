"""Attributes that are built on demand, each once, also with concurrent threads."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Generic, TypeVar

R = TypeVar("R")

_LOCK = "_build_lock"


class shared_property(Generic[R]):  # noqa: N801 - used like `property`
    """An attribute that its first reader builds; it stays until `reset` drops it.

    All such attributes of one object are built under one reentrant lock: building one may need another, and two threads
    that use them in different orders neither deadlock nor build two of them. (`functools.cached_property` does the
    first up to Python 3.11, and the second from 3.12 on.)

    The object has a `threading.RLock` as `_build_lock`. `build`: builds it, as a method.
    """

    def __init__(self, build: Callable[[Any], R]) -> None:
        self._build = build
        self._name = build.__name__
        self.__doc__ = build.__doc__

    def __get__(self, owner: Any, _: type | None = None) -> R:
        """Build it, or wait for the thread that does; later readers find it in the object and do not get here."""
        with getattr(owner, _LOCK):
            attributes = vars(owner)
            if self._name not in attributes:
                attributes[self._name] = self._build(owner)
            found: R = attributes[self._name]
            return found


def is_built(owner: object, name: str) -> bool:
    """Return whether an attribute was built already."""
    return name in vars(owner)


def reset(owner: object, keep: Collection[str] = ()) -> None:
    """Drop an object's built attributes, except those to keep: the next reader builds each again."""
    with getattr(owner, _LOCK):
        for kind in type(owner).__mro__:
            for name, member in vars(kind).items():
                if isinstance(member, shared_property) and name not in keep:
                    vars(owner).pop(name, None)
