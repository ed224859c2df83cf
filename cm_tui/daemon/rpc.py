"""What crosses the socket: the engine's methods as a table, records and errors as JSON, checked on both sides."""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python
from typing_extensions import TypedDict

from cm_tui import errors
from cm_tui.daemon import endpoint
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.api.needs import declaration_of, is_request
from cm_tui.errors import CmError, UsageError


@dataclass(frozen=True, slots=True)
class ProjectRef:
    """Which project a request is about."""

    folder: str
    """Absolute: the project's folder, or one in it."""
    around: bool = False
    """The folder is where someone stands, not one that they named."""
    force: bool = False
    """They insist on a root that is refused as unsafe."""
    own_index: bool = False
    """Nothing is answered from the index of another checkout that shares the store, not even with a note."""


class Method:
    """One method of the engine: its arguments and its result, as its annotations have them."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.name: str = function.__name__
        self._function = function
        self.declared = declaration_of(function)

    @cached_property
    def _signature(self) -> inspect.Signature:
        return inspect.signature(self._function)

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return typing.get_type_hints(self._function)

    @property
    def streams(self) -> bool:
        """Return whether it is long work that tells how far it is."""
        # Asked of every method when a client starts: a signature takes longer to make.
        return "cancel" in self._function.__annotations__

    @cached_property
    def _arguments(self) -> TypeAdapter[Any]:
        fields: dict[str, Any] = {
            name: self._hints[name] if parameter.default is parameter.empty else typing.NotRequired[self._hints[name]]
            for name, parameter in self._signature.parameters.items()
            if name not in ("self", "cancel")
        }
        make: Any = TypedDict  # made from annotations, so no type checker can follow
        shape = make(f"{self.name}_arguments", fields)
        shape.__pydantic_config__ = ConfigDict(extra="forbid")
        return TypeAdapter(shape)

    @cached_property
    def _result(self) -> TypeAdapter[Any]:
        if not self.streams:
            return TypeAdapter(self._hints["return"])
        from cm_tui.model import Progress  # what long work did has many kinds of records, which no question needs

        return TypeAdapter(Progress)

    def bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return a call's arguments by name. Raises TypeError if they do not fit the method."""
        bound = dict(self._signature.bind(None, *args, **kwargs).arguments)
        bound.pop("self")
        bound.pop("cancel", None)
        return bound

    def pack(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return a call's arguments as JSON types.

        Raises TypeError if they do not fit the method; UsageError if a value is of a wrong type.
        """
        bound = self.bound(args, kwargs)
        self.unpack(bound)
        return plain(bound)  # type: ignore[no-any-return]

    def unpack(self, arguments: Any) -> dict[str, Any]:
        """Arguments as the method takes them.

        Raises UsageError if one is unknown, missing or of a wrong type.
        """
        return checked(self._arguments, arguments, self.name)  # type: ignore[no-any-return]

    def result(self, value: Any) -> Any:
        """Return what came back, as the record that it is.

        Raises UsageError if it is not what the method returns.
        """
        return checked(self._result, value, f"the response to {self.name}")


METHODS: dict[str, Method] = {
    name: Method(member) for name, member in inspect.getmembers(Engine, inspect.isfunction) if is_request(member)
}
"""Every method of the engine, by name."""


def checked(adapter: TypeAdapter[Any], value: Any, what: str) -> Any:
    """A value as the type that it must be.

    Raises UsageError if it is not; the message names the first place that is wrong.
    """
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{what}: {place or 'value'}: {first['msg']}") from error


def plain(value: Any) -> Any:
    """A record as JSON types."""
    return to_jsonable_python(value, inf_nan_mode="constants")


def dump(value: Any) -> bytes:
    """A record as JSON."""
    try:
        return to_json(value, inf_nan_mode="constants")
    except PydanticSerializationError:
        # Halves of surrogate pairs, from names and arguments that are not UTF-8, pass as escapes.
        return json.dumps(plain(value)).encode()


def load(data: bytes) -> Any:
    """Return what JSON says. Raises UsageError if it is not JSON, or nested beyond reason."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UsageError("This is not JSON.") from error


# --- errors ---

_ERRORS: dict[str, type[CmError]] = {
    name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, CmError)
}


def error_record(error: Exception) -> dict[str, str]:
    """Return an error as JSON types; an unexpected one as type and message only."""
    if isinstance(error, CmError):
        kind = next(kind.__name__ for kind in type(error).__mro__ if kind.__name__ in _ERRORS)
        named = {"finding": error.finding} if error.finding else {}
        return {"class": kind, "message": error.message, "hint": error.hint, **named}
    if isinstance(error, UnicodeEncodeError) and error.reason == "surrogates not allowed":
        name = error.object.encode("utf-8", "backslashreplace").decode()
        hint = "Rename the folder: git's library and the store require UTF-8."
        return {"class": "UsageError", "message": f"{name} is not valid UTF-8.", "hint": hint}
    return {
        "class": "CmError",
        "message": f"Internal error: {type(error).__name__}: {error}",
        "hint": "The daemon's log has the details.",
    }


def parse_response(status: int, data: bytes) -> dict[str, Any]:
    """Return what the daemon answered.

    Raises CmError: the failure that the answer tells of; DaemonError if it has no time, or it is no answer of a
    daemon.
    """
    if status == endpoint.BUSY:
        raise endpoint.busy()
    try:
        record = load(data)
    except UsageError as error:
        raise endpoint.unexpected_peer() from error
    if not isinstance(record, dict):
        raise endpoint.unexpected_peer()
    if status != 200:
        raise error_of(record.get("error"))
    return record


def error_of(record: Any) -> CmError:
    """The failure that a record tells of, as the same class."""
    if not isinstance(record, Mapping):
        return CmError("The daemon answered with an invalid error.")
    kind = _ERRORS.get(str(record.get("class")), CmError)
    said = {name: str(record.get(name, "")) for name in ("message", "hint", "finding")}
    return kind(said.pop("message"), **said)
