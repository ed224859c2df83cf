"""What was decided here since the application was started, the last first."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace


@dataclass(frozen=True, eq=False)
class Step:
    """Decisions that were made by one key."""

    ids: tuple[str, ...]
    """Of proposals of the narrator; none: it is taken back as the last change of the project."""


class UndoStack:
    """Steps that can be taken back one after the other."""

    def __init__(self) -> None:
        self._steps: list[Step] = []

    def push(self, step: Step) -> None:
        """Note what is being decided."""
        self._steps.append(step)

    def pop(self) -> Step | None:
        """Return the last step, which is one no more; None: there is none."""
        return self._steps.pop() if self._steps else None

    def remove(self, step: Step) -> None:
        """Forget a step: it was not done."""
        self._steps = [one for one in self._steps if one is not step]

    def drop(self, ids: Collection[str]) -> None:
        """Forget decisions: they were not made, or are taken back by now."""
        left = [replace(step, ids=tuple(one for one in step.ids if one not in ids)) for step in self._steps]
        self._steps = [step for step, before in zip(left, self._steps, strict=True) if step.ids or not before.ids]
