"""Which revision is shown: now, or one of the past, the same one in every mode that can show it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cm_tui.model import CommitPoint, Episode, FileEntry, Page, Symbol
from cm_tui.model.dates import day
from cm_tui.tui.widgets.text import one_line

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

SHORT_SHA = 8
NOTHING = "#0"
"""Before the first commit."""


class ShownRevision:
    """The revision that the application stands at.

    Args:
        changed: called when it is another one.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self.moment: CommitPoint | None = None
        """None: now."""
        self.note = ""
        """Why it is not exactly what was asked for."""
        self.episode: Episode | None = None
        """Who saw it, where that is why it is shown."""
        self.asked = ""
        """The commit that was asked for: another one than the revision's when it is not on the line."""

    @property
    def at(self) -> str | None:
        """The revision as the engine takes it; None: now."""
        return self.moment.sha if self.moment else None

    def go(
        self, moment: CommitPoint | None, note: str = "", episode: Episode | None = None, *, asked: str = ""
    ) -> None:
        """Stand at a revision, as an agent saw it where an episode is given; None: come back to now."""
        self.asked = asked or (moment.sha if moment else "")
        if (moment, note, episode) != (self.moment, self.note, self.episode):
            self.moment, self.note, self.episode = moment, note, episode
            self._changed()


def name_of(moment: CommitPoint) -> str:
    """`#3,112 · 2021-03-04 · 1a2b3c4d`."""
    return f"#{moment.ordinal:,} · {day(moment.time)} · {moment.sha[:SHORT_SHA]}"


def agent_of(episode: Episode) -> str:
    """Who it was."""
    return one_line(episode.agent).strip() or "an agent"


def asked_of(episode: Episode) -> str:
    """What it was asked first, in one line."""
    first = next((prompt for prompt in episode.prompts if prompt.strip()), "")
    return " ".join(one_line(first).split()) or "(no prompt)"


def before(moment: CommitPoint) -> str:
    """The commit before one on the line, as the engine takes it; `NOTHING` before the first."""
    return f"#{moment.ordinal - 1}"


def files_of(engine: Engine, at: str | None) -> Page[FileEntry]:
    """Every file at a revision."""
    return engine.files() if at is None else engine.files_at(at)


def symbols_of(engine: Engine, at: str | None, **filters: Any) -> Page[Symbol]:
    """Symbols at a revision, chosen as `Engine.symbols` does."""
    return engine.symbols(**filters) if at is None else engine.symbols_at(at, **filters)
