"""The change of one file of an agent."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from pathlib import Path

from cm_tui.integrations.agents.agent_files import What


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one file; None: it does not exist."""

    what: What
    path: Path
    before: bytes | None
    after: bytes | None
    dropped: tuple[str, ...] = ()
    """What a repository had added to our part, and is no longer there."""

    @property
    def done(self) -> str:
        """`created`, `changed`, `removed` or `unchanged`."""
        if self.before == self.after:
            return "unchanged"
        return "created" if self.before is None else "removed" if self.after is None else "changed"

    @property
    def would(self) -> str:
        """The same of what is only shown: `would create`, `would change`, `would remove` or `unchanged`."""
        return self.done if self.done == "unchanged" else f"would {self.done.removesuffix('d')}"

    @property
    def diff(self) -> str:
        """A unified diff; empty when nothing changes."""
        before, after = (_lines(side) for side in (self.before, self.after))
        old, new = (os.devnull if side is None else str(self.path) for side in (self.before, self.after))
        lines = difflib.unified_diff(before, after, old, new)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(content: bytes | None) -> list[str]:
    return (content or b"").decode("utf-8", "replace").splitlines(keepends=True)
