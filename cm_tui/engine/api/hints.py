"""Types of the engine's methods; their records are imported on demand."""

from __future__ import annotations

import typing
from collections.abc import Callable
from typing import Any

from cm_tui import model


class _Records(dict[str, Any]):
    """Names in the annotations of this package: the records, each imported when looked up."""

    def __missing__(self, name: str) -> Any:
        if name not in model.__all__:
            raise KeyError(name)
        return getattr(model, name)


def hints_of(method: Callable[..., Any]) -> dict[str, Any]:
    """Return a method's types by the names of its arguments, and `return`."""
    return typing.get_type_hints(method, localns=_Records())
