"""Which revision is shown: now, or one of the past, the same one in every mode that can show it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cm_tui.engine.api.engine import Engine
from cm_tui.model.dates import day
from cm_tui.tui.widgets.text import flat, one_line

if TYPE_CHECKING:
    from cm_tui.model import CommitPoint, Episode, FileEntry, Page, Symbol

SHORT_SHA = 8


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
        self.requested = ""
        """The commit that was asked for; empty: now."""

    @property
    def at(self) -> str | None:
        """The revision as the engine takes it; None: now."""
        return self.moment.sha if self.moment else None

    def go(
        self, moment: CommitPoint | None, note: str = "", episode: Episode | None = None, *, requested: str = ""
    ) -> None:
        """Show a revision, as an agent saw it where an episode is given; None: now."""
        self.requested = requested or (moment.sha if moment else "")
        if (moment, note, episode) != (self.moment, self.note, self.episode):
            self.moment, self.note, self.episode = moment, note, episode
            self._changed()


def name_of(moment: CommitPoint) -> str:
    """`#3,112 · 2021-03-04 · 1a2b3c4d`; off the mainline `1a2b3c4d 2021-03-04, off the mainline, 143 after #3112`.

    The latter is readable as a whole in the bar of the smallest screen.
    """
    if moment.ahead:
        near = f"{moment.ahead} after #{moment.ordinal}" if moment.ordinal else "no ancestor on it"
        return f"{moment.sha[:SHORT_SHA]} {day(moment.time)}, off the mainline, {near}"
    return f"#{moment.ordinal:,} · {day(moment.time)} · {moment.sha[:SHORT_SHA]}"


def reading(moment: CommitPoint | None) -> str:
    """What is said where the data of a revision is still on its way; None: now."""
    return f"Reading #{moment.ordinal:,}…" if moment else "Reading now…"


def agent_of(episode: Episode) -> str:
    """Who it was."""
    return one_line(episode.agent).strip() or "an agent"


def query_text(episode: Episode) -> str:
    """What it was asked first, in one line."""
    first = next((prompt for prompt in episode.prompts if prompt.strip()), "")
    return flat(first, None) or "(no prompt)"


def headline(episode: Episode) -> str:
    """Return what it was about, in one line: what was asked, else what was answered."""
    prompt = query_text(episode)
    if any(prompt.strip() for prompt in episode.prompts) or not episode.answer.strip():
        return prompt
    return flat(episode.answer)


def before(moment: CommitPoint) -> str:
    """The first parent of a commit, as the engine takes it; `BEFORE_FIRST` before the first of the mainline."""
    return f"{moment.sha}~1" if moment.ahead else f"#{moment.ordinal - 1}"


def short_name_of(moment: CommitPoint) -> str:
    """`#3,112`, or `1a2b3c4d` off the mainline."""
    return moment.sha[:SHORT_SHA] if moment.ahead else f"#{moment.ordinal:,}"


def files_of(engine: Engine, at: str | None) -> Page[FileEntry]:
    """Every file at a revision."""
    return engine.files() if at is None else engine.files_at(at)


def symbols_of(engine: Engine, at: str | None, **filters: Any) -> Page[Symbol]:
    """Symbols at a revision, chosen as `Engine.symbols` does."""
    return engine.symbols(**filters) if at is None else engine.symbols_at(at, **filters)
