"""The records that the engine and its front ends share."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, get_type_hints

import pytest
from pydantic import TypeAdapter

from cm_tui import model
from cm_tui.daemon.rpc import METHODS
from cm_tui.model.record import record


def test_every_name_comes_from_the_module_that_has_it():
    assert set(model._HOME_OF) == set(model.__all__)
    for name in model.__all__:
        assert getattr(model, name) is not None
    assert set(model.__all__) <= set(dir(model))


def test_a_name_that_is_none_is_told_as_any_module_would():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = model.Nothing


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_the_types_of_every_method_are_known(method):
    assert "return" in get_type_hints(method._function)


@record
class Point:
    """A record with each kind of field."""

    x: int
    tags: tuple[str, ...] = ()
    facts: dict[str, int] = field(default_factory=dict, hash=False)
    note: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Expected:
    """The same as a dataclass."""

    x: int
    tags: tuple[str, ...] = ()
    facts: dict[str, int] = field(default_factory=dict, hash=False)
    note: str = field(default="", compare=False)


@record
class Named(Point):
    """A record that has more than another."""

    name: str = field(default="n", kw_only=True)


def _done(work: Callable[[], object]) -> str:
    """What comes of it, in words that are the same for both classes."""
    try:
        return repr(work()).replace("Expected", "Point")
    except Exception as error:  # noqa: BLE001 - compared
        return f"{type(error).__name__}: {error}".replace("Expected", "Point").replace("Point.__init__()", "__init__()")


@pytest.mark.parametrize(
    "work",
    [
        lambda make: make(1),
        lambda make: make(1, ("a",), {"b": 2}, "note"),
        lambda make: make(note="n", x=2),
        lambda make: make(),
        lambda make: make(1, y=2),
        lambda make: make(1, (), {}, "", 5),
        lambda make: make(1) == make(1, note="other"),
        lambda make: make(1) == make(2),
        lambda make: make(1) != make(1),
        lambda make: make(1) == (1, (), {}, ""),
        lambda make: hash(make(1)) == hash(make(1, note="other")),
        lambda make: len({make(1), make(1, note="x"), make(2)}),
        lambda make: make(1).facts is make(1).facts,
        lambda make: setattr(make(1), "x", 2),
        lambda make: delattr(make(1), "x"),
        lambda make: hasattr(make(1), "__dict__"),
        lambda make: replace(make(1, ("a",)), x=2),
        lambda make: replace(make(1), unknown=2),
        lambda make: asdict(make(1, ("a",), {"b": 2})),
        lambda make: [one.name for one in fields(make)],
        lambda make: make.__match_args__,
        lambda make: copy.deepcopy(make(1, ("a",), {"b": 2}, "note")),
        lambda make: copy.copy(make(1, note="n")).note,
        lambda make: pickle.loads(pickle.dumps(make(1, ("a",), {"b": 2}, "note"))),
        lambda make: TypeAdapter(make).validate_python({"x": "3", "facts": {"b": 2}}),
        lambda make: TypeAdapter(make).dump_json(make(3, ("a",))),
        lambda make: (TypeAdapter(make).validate_python({"x": 3}) == make(3), setattr(TypeAdapter(make).validate_python({"x": 3}), "x", 1)),
    ],
)  # fmt: skip
def test_a_record_does_what_a_dataclass_does(work: Callable[[Any], object]):
    assert _done(lambda: work(Point)) == _done(lambda: work(Expected))


def test_a_record_takes_the_fields_of_another():
    one = Named(1, ("a",), name="b")
    assert (one.x, one.tags, one.facts, one.name) == (1, ("a",), {}, "b")
    assert repr(one) == "Named(x=1, tags=('a',), facts={}, note='', name='b')"
    assert one != Point(1, ("a",))
    with pytest.raises(TypeError):
        Named(1, (), {}, "", "b")  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(one)) == one
