"""Reading of the past what a question needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine


def ensure_history(engine: Engine, revision: str) -> None:
    """Have the history read back to a revision, unless it is known or was pruned on purpose.

    The files of a commit off the mainline are read by the question itself: that is said.

    Raises:
        NotFoundError: there is no such revision.
    """
    from cm_tui.cli.output import follow, narrate

    found = engine.resolve(revision)
    if found.moment.ahead and not found.known:
        narrate(f"reading the files of {revision}: it is {found.moment.place}")
        return
    if found.known or not found.sha or engine.history().vacuumed:
        return
    narrate(f"reading history back to #{found.moment.ordinal} {found.moment.sha[:10]}")
    follow(engine.backfill(since=f"#{found.moment.ordinal}"))
