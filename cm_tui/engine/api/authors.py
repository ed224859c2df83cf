"""Who wrote what is remembered: for wherever a passage of the memory is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cm_tui.engine.api.engine import Engine
from cm_tui.errors import NotFoundError, RefusedError, StoreError, UsageError
from cm_tui.model import ENTRIES, EPISODES, NOTES, Actor

_ASKED = 400
"""Characters of what was asked."""


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote a passage of the memory, and where.

    The texts are those of people and agents: they may hold control characters.
    """

    id: str
    """Of the entry, note or episode."""
    actor: Actor | Literal[""]
    """Empty: nobody knows, as with a file that any program may write."""
    agent: str = ""
    session: str = ""
    title: str = ""
    """Of the entry or note, or of the episode's session."""
    commit: str = ""
    changed_by: Actor | Literal[""] = ""
    """Who changed an entry last, where somebody else than its author did."""
    changed_agent: str = ""
    asked: str = ""
    """First line of what was asked in the episode; empty for an entry."""
    unapproved: bool = False
    """An entry is a Rule that no person approved."""


def author_of(engine: Engine, path: str) -> Author | None:
    """Return who wrote what stands at a path such as `episode/18a0…`; None where nothing of that name is remembered."""
    kind, _, name = path.partition("/")
    try:
        if kind == ENTRIES:
            entry = engine.entry(name)
            return Author(
                entry.id, entry.actor, entry.agent, entry.session, entry.title, entry.commit, entry.changed_by,
                entry.changed_agent, unapproved=entry.unapproved,
            )  # fmt: skip
        if kind == EPISODES:
            episode = engine.episode(name)
            asked = next((line.strip() for one in episode.prompts for line in one.splitlines() if line.strip()), "")
            return Author(
                episode.id, episode.actor, episode.agent, episode.session, episode.title, episode.sha,
                asked=asked[:_ASKED],
            )  # fmt: skip
        if kind == NOTES:
            note = engine.note(name, lines=1).note
            return Author(note.id, "", title=note.title)
    except (NotFoundError, UsageError, RefusedError, StoreError):
        # Forgotten a moment ago, or of an id that no path can hold.
        pass
    return None
