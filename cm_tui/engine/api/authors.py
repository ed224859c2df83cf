"""Authors of remembered passages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cm_tui import model
from cm_tui.engine.api.engine import Engine
from cm_tui.errors import NotFoundError, RefusedError, StoreError, UsageError

_ASKED = 400
"""Characters of the prompt."""


@dataclass(frozen=True, slots=True)
class Author:
    """Author and place of a passage of the memory.

    The texts are people's and agents': they may contain control characters.
    """

    id: str
    """Of the entry, note or episode."""
    actor: model.Actor | Literal[""]
    """Empty: unknown, as with a file that any program may write."""
    agent: str = ""
    session: str = ""
    title: str = ""
    """Of the entry or note, or of the episode's session."""
    commit: str = ""
    changed_by: model.Actor | Literal[""] = ""
    """Last editor of an entry, unless that is its author."""
    changed_agent: str = ""
    asked: str = ""
    """First line of the episode's prompt; empty for an entry."""
    unapproved: bool = False
    """An entry is a Rule that no person approved."""


def author_of(engine: Engine, path: str) -> Author | None:
    """Return the author of the item at a path such as `episode/18a0…`; None: no such item."""
    kind, _, name = path.partition("/")
    try:
        if kind == model.ENTRIES:
            entry = engine.entry(name)
            return Author(
                entry.id, entry.actor, entry.agent, entry.session, entry.title, entry.commit, entry.changed_by,
                entry.changed_agent, unapproved=entry.unapproved,
            )  # fmt: skip
        if kind == model.EPISODES:
            episode = engine.episode(name)
            asked = next((line.strip() for one in episode.prompts for line in one.splitlines() if line.strip()), "")
            return Author(
                episode.id, episode.actor, episode.agent, episode.session, episode.title, episode.sha,
                asked=asked[:_ASKED],
            )  # fmt: skip
        if kind == model.NOTES:
            note = engine.note(name, lines=1).note
            return Author(note.id, "", title=note.title)
    except (NotFoundError, UsageError, RefusedError, StoreError):
        # Forgotten a moment ago, or of an id that no path can hold.
        pass
    return None
