"""Reading the history as far back as a question needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine


def ensure_history(engine: Engine, revision: str) -> None:
    """Have the history read back to a revision, unless it is known or was pruned on purpose.

    Raises:
        NotFoundError: there is no such revision.
    """
    from cm_tui.cli.output import follow, narrate

    found = engine.resolve(revision)
    if found.known or not found.sha or engine.history().vacuumed:
        return
    narrate(f"reading history back to #{found.moment.ordinal} {found.moment.sha[:10]}")
    follow(engine.backfill(since=f"#{found.moment.ordinal}"))
