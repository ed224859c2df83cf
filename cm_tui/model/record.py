"""Frozen dataclasses with slots whose methods are shared: compiling six for each class took a tenth of every start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")
_MADE = object()
"""Default of a field whose value a function makes."""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Make a class a frozen dataclass with slots."""
    made: Any = dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    names = [one.name for one in fields(made)]
    key = _values_of([one.name for one in fields(made) if one.compare])
    hashed = _values_of([one.name for one in fields(made) if (one.compare if one.hash is None else one.hash)])

    def init(self: Any, *values: Any, **named: Any) -> None:
        # Most classes of an import are never used: the one that fills in the fields is compiled when it is needed.
        made.__init__ = _compiled_init(made)
        made.__init__(self, *values, **named)

    def equals(self: Any, other: object) -> bool:
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    def represent(self: Any) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({values})"

    def set_state(self: Any, state: Any) -> None:
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    methods: dict[str, Any] = {
        "__init__": init,
        "__eq__": equals,
        "__hash__": lambda self: hash(hashed(self)),
        "__repr__": represent,
        "__setattr__": _refuse_to_set,
        "__delattr__": _refuse_to_delete,
        # For copies and for other processes.
        "__getstate__": lambda self: [getattr(self, name) for name in names],
        "__setstate__": set_state,
    }
    for name, method in methods.items():
        if name not in cls.__dict__:
            setattr(made, name, method)
    return made  # type: ignore[no-any-return]


def _values_of(names: list[str]) -> Callable[[Any], Any]:
    return attrgetter(*names) if names else lambda _: None


def _refuse_to_set(_: object, name: str, _value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _compiled_init(cls: Any) -> Callable[..., None]:
    """Return what fills in the fields of a class, as a dataclass has it."""
    known: dict[str, Any] = {"set_field": object.__setattr__, "MADE": _MADE}
    parameters: dict[bool, list[str]] = {False: [], True: []}
    lines = []
    for one in fields(cls):
        name, value, default = one.name, one.name, ""
        if one.default is not MISSING:
            known[f"default_{name}"], default = one.default, f"=default_{name}"
        elif one.default_factory is not MISSING:
            known[f"make_{name}"], default = one.default_factory, "=MADE"
            value = f"make_{name}() if {name} is MADE else {name}"
        parameters[bool(one.kw_only)].append(f"{name}{default}")
        lines.append(f"    set_field(self, {name!r}, {value})")
    named = ["*", *parameters[True]] if parameters[True] else []
    head = f"def __init__(self, {', '.join([*parameters[False], *named])}):"
    exec("\n".join([head, *(lines or ["    pass"])]), known)  # noqa: S102 - the class's own names
    made: Callable[..., None] = known["__init__"]
    return made
