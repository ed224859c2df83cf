"""Operators of conditions, and compiled conditions."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from operator import ge, gt, le, lt
from typing import Any

from pydantic import ValidationError

from cm_tui.engine.context.definitions.shapes import Condition, When
from cm_tui.engine.context.definitions.template import MISSING, lookup

# --- conditions as one line, as routes and triggers write them: `score > 0.7` ---

_SIGNS = {">=": "gte", "<=": "lte", "==": "equals", "!=": "not_equals", ">": "gt", "<": "lt", "=": "equals"}
_PART = re.compile(
    r"^\s*(?P<field>[A-Za-z_][\w.-]*)\s*(?P<op>>=|<=|==|!=|>|<|=|\s[A-Za-z_]+)(?:\s*(?P<value>\S.*?))?\s*$", re.DOTALL
)
_AND = re.compile(r"\s+(?:and|&&)\s+")


def conditions_of(when: When | None) -> tuple[Condition, ...]:
    """Return the conditions that all have to hold, in whichever way they were written.

    Raises:
        ValueError: a line is no condition.
    """
    if when is None:
        return ()
    if isinstance(when, str):
        return tuple(map(_parsed, _AND.split(when)))
    return when if isinstance(when, tuple) else (when,)


def _parsed(text: str) -> Condition:
    found = _PART.match(text)
    if found is None:
        raise ValueError(f"not a condition: {text[:60]!r}. Example: `score > 0.7`")
    op = found["op"].strip()
    values = {"field": found["field"], "op": _SIGNS.get(op, op)}
    if found["value"] is not None:
        values["value"] = _value(found["value"])
    try:
        return Condition.model_validate_json(json.dumps(values))
    except ValidationError as error:
        raise ValueError(f"not a condition: {text[:60]!r}: {error.errors()[0]['msg']}") from error


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text[1:-1] if len(text) > 1 and text[0] == text[-1] == "'" else text


# --- operators of conditions, and compiled conditions ---

Check = Callable[[Any], bool]
"""Returns whether conditions hold in a scope."""

_ORDER: dict[str, Callable[[float, float], bool]] = {"gt": gt, "lt": lt, "gte": ge, "lte": le}
_NEGATED = {"not_contains": "contains", "not_equals": "equals", "not_in": "in"}
LONGEST_PATTERN = 1_000
"""Characters of a pattern."""
_MATCHED_CHARACTERS = 100_000
"""Of a field, that a pattern is tried on."""


def prepared(conditions: Iterable[Condition]) -> Check:
    """Compile conditions that all have to hold.

    A missing field makes every operator false except those that begin with `not_`, and `exists: false`.

    Raises:
        ValueError: a pattern is invalid, or a value does not fit its operator.
    """
    checks = [(one.field, _test(one.op, one.value)) for one in conditions]
    return lambda scope: all(test(lookup(scope, name)) for name, test in checks)


def tester(condition: Condition) -> Check:
    """Return the test of a field's value.

    Raises:
        ValueError: as `prepared`.
    """
    return _test(condition.op, condition.value)


def _test(op: str, value: Any) -> Check:
    if op in _NEGATED:
        positive = _test(_NEGATED[op], value)
        return lambda field: not positive(field)
    if op == "exists":
        wanted = value is None or value is True
        return lambda field: (field is not MISSING) == wanted
    if op == "equals":
        return lambda field: field is not MISSING and _same(field, value)
    if op == "in":
        return _among(value)
    if op in _ORDER:
        return _compared(op, value)
    if not isinstance(value, str):
        raise ValueError(f"{op} needs a text")  # noqa: TRY004 - of a condition, which callers ask about
    return _of_text(op, value)


def _among(value: Any) -> Check:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise ValueError("in needs a list of values")  # noqa: TRY004 - of a condition, which callers ask about
    if all(isinstance(one, str) for one in value):
        texts = frozenset(value)
        return lambda field: field in texts if isinstance(field, str) else not texts.isdisjoint(_texts(field))
    return lambda field: field is not MISSING and any(_same(one, each) for one in _each(field) for each in value)


def _compared(op: str, value: Any) -> Check:
    limit = number(value)
    if limit is None:
        raise ValueError(f"{op} needs a number")
    order = _ORDER[op]

    def test(field: Any) -> bool:
        found = number(field)
        return found is not None and order(found, limit)

    return test


def _of_text(op: str, value: str) -> Check:
    if op == "matches":
        found = pattern(value)
        return lambda field: any(found(text) for text in _texts(field))
    if op == "contains":
        # For a list: one of its items; for a text: a part of it.
        return lambda field: value in field if isinstance(field, str) else any(value == one for one in _texts(field))
    test = str.startswith if op == "startsWith" else str.endswith
    return lambda field: (
        test(field, value) if isinstance(field, str) else any(test(one, value) for one in _texts(field))
    )


def pattern(text: str) -> Callable[[str], bool]:
    """Return a search for a regular expression, in time linear in the text for any pattern.

    Raises:
        ValueError: it is not valid for RE2, or too long.
    """
    if len(text) > LONGEST_PATTERN:
        raise ValueError(f"a pattern has at most {LONGEST_PATTERN:,} characters")
    search = compiled(text).search
    # As bytes: half of a surrogate pair, as it comes from a terminal, is no text that could be searched.
    return lambda field: search(field[:_MATCHED_CHARACTERS].encode("utf-8", "replace")) is not None


def compiled(text: str) -> Any:
    """Return a regular expression of RE2, with bounded memory; raises ValueError as `pattern`."""
    # Late import: only users of patterns pay for the engine.
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = 8 << 20
    try:
        return re2.compile(text, options=options)
    except re2.error as error:
        said = error.args[0] if error.args else error
        why = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        raise ValueError(f"not a regular expression for RE2: {why}") from error


def number(value: Any) -> float | None:
    """Return a value as a number; None: not a number."""
    try:
        return None if isinstance(value, bool) else _number_of(value)
    except TypeError:
        return None


@lru_cache(maxsize=1 << 12)
def _number_of(value: Any) -> float | None:
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def _same(one: Any, other: Any) -> bool:
    # True equals 1 in Python, but not in a condition.
    return (type(one) is type(other) and one == other) or (
        not isinstance(one, bool | str) and not isinstance(other, bool | str) and one == other
    )


def _each(field: Any) -> Sequence[Any]:
    return field if isinstance(field, Sequence) and not isinstance(field, str) else (field,)


def _texts(field: Any) -> Sequence[str]:
    return [one for one in _each(field) if isinstance(one, str)]
