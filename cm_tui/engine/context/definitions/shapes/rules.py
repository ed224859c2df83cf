"""Rules: conditions, and actions on memory references."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from cm_tui.engine.context.definitions.shapes.base import Condition, File, Name, Shape, Text, Tokens
from cm_tui.model import Section

Reference = Annotated[str, Field(min_length=1, max_length=500)]
"""Such as `markdown://architecture-notes`; except in `include`, `*` and `?` match any characters."""
References = Reference | Annotated[tuple[Reference, ...], Field(min_length=1, max_length=1_000)]


class Action(Shape):
    """Actions on the named memory references; without names, on all that satisfy the conditions."""

    include: References | None = None
    """References to add to the active ones; a definition that is not enabled is run, too."""
    exclude: References | bool | None = None
    cap: Tokens | None = None
    """Tokens at most, of each of `for`."""
    priority: Annotated[int, Field(ge=-1_000, le=1_000)] | None = None
    section: Section | None = None
    for_: Annotated[References | None, Field(alias="for")] = None
    """References for `cap`, `priority` and `section`; default: those of `include`."""

    @model_validator(mode="after")
    def _does_something(self) -> Self:
        if all(one is None for one in (self.include, self.exclude, self.cap, self.priority, self.section)):
            raise ValueError("an action needs one of include, exclude, cap, priority and section")
        return self


class Rule(Shape):
    """Conditions that all have to hold, and actions."""

    name: Name = ""
    """Empty: that of its file, and its number there."""
    description: Text = ""
    enabled: bool = True
    condition: Condition | Annotated[tuple[Condition, ...], Field(max_length=50)] = ()
    """None: it always holds."""
    action: Action | Annotated[tuple[Action, ...], Field(min_length=1, max_length=50)]

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Return the conditions, however many were written."""
        return self.condition if isinstance(self.condition, tuple) else (self.condition,)

    @property
    def actions(self) -> tuple[Action, ...]:
        """Return the actions, however many were written."""
        return self.action if isinstance(self.action, tuple) else (self.action,)


class RuleFile(File):
    """Rules, in the order in which they count."""

    rules: Annotated[tuple[Rule, ...], Field(max_length=5_000)]


class SingleRule(File, Rule):
    """A file that is one rule."""
