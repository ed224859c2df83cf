"""Rooms of the door: made when first needed, each once, however many threads come at the same time."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Generic, TypeVar

R = TypeVar("R")

_LOCK = "_making"


class shared_property(Generic[R]):  # noqa: N801 - used like `property`
    """Makes an attribute with its first reader; it stays until it is let go with `forget`.

    All rooms of one object are made under one lock, which a thread may take again: a room may need another one while it is
    made, and two threads that come to them in different orders neither wait for each other for ever nor make two of
    them. (`functools.cached_property` does the first up to Python 3.11, and the second from 3.12 on.)

    The object keeps a `threading.RLock` as `_making`.

    Args:
        make: makes it, as a method.
    """

    def __init__(self, make: Callable[[Any], R]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    def __get__(self, owner: Any, _: type | None = None) -> R:
        """Make it, or wait for the thread that does; later readers find it in the object and do not come here."""
        with getattr(owner, _LOCK):
            attributes = vars(owner)
            if self._name not in attributes:
                attributes[self._name] = self._make(owner)
            found: R = attributes[self._name]
            return found


def is_built(owner: object, name: str) -> bool:
    """Whether a room was made already."""
    return name in vars(owner)


def reset(owner: object, keep: Collection[str] = ()) -> None:
    """Let go of an object's rooms, but for those to keep: the next reader makes each again."""
    with getattr(owner, _LOCK):
        for name, member in vars(type(owner)).items():
            if isinstance(member, shared_property) and name not in keep:
                vars(owner).pop(name, None)
