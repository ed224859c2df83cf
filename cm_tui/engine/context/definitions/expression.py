"""Conditions as one line, as routes and triggers write them: `score > 0.7`."""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic import ValidationError

from cm_tui.engine.context.definitions.shapes.conditions import Condition
from cm_tui.engine.context.definitions.shapes.ingestion import When

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
        raise ValueError(f"{text[:60]!r} is no condition; one looks like `score > 0.7`")
    op = found["op"].strip()
    values = {"field": found["field"], "op": _SIGNS.get(op, op)}
    if found["value"] is not None:
        values["value"] = _value(found["value"])
    try:
        return Condition.model_validate_json(json.dumps(values))
    except ValidationError as error:
        raise ValueError(f"{text[:60]!r} is no condition: {error.errors()[0]['msg']}") from error


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text[1:-1] if len(text) > 1 and text[0] == text[-1] == "'" else text
