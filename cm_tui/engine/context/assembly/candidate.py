"""Memory references that may be handed over, as conditions see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cm_tui.model import Section


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory reference that may be handed over."""

    id: str
    kind: str
    section: Section
    enabled: bool
    """Whether it is on by default."""

    @property
    def fields(self) -> dict[str, Any]:
        """Return what conditions may read of it."""
        scheme, _, name = self.id.partition("://")
        return {
            "reference.id": self.id, "reference.scheme": scheme, "reference.name": name, "reference.kind": self.kind,
            "reference.section": self.section, "reference.enabled": self.enabled,
        }  # fmt: skip
