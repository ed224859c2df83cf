"""Ended turns without an episode so far, stored with the position in the journal."""

from __future__ import annotations

import json

from cm_tui.counts import count, noun
from cm_tui.engine.memory.projection.visibility import ids_of
from cm_tui.engine.platform.journal.event import ERASURE, Event

_SESSIONS = 500
_STOPS = 1_000


class WaitingTurns:
    """Sessions with a prompt that has no stop yet, and stops that have no episode.

    `text`: what `text` gave before.
    """

    def __init__(self, text: str = "{}") -> None:
        kept = json.loads(text)
        self._prompts: dict[str, list[str]] = kept.get("prompts", {})
        """Ids of the prompts of turns that are under way, by checkout and session."""
        self._stops: dict[str, None] = dict.fromkeys(kept.get("stops", ()))

    @property
    def text(self) -> str:
        """Return all of it as text."""
        return json.dumps({"prompts": self._prompts, "stops": list(self._stops)})

    @property
    def note(self) -> str:
        """Return a note on their number; empty: none."""
        waiting = len(self._stops)
        if not waiting:
            return ""
        return f"{count(waiting, 'turn of a session', 'turns of sessions')} {noun(waiting, 'waits', 'wait')} for the daemon, which records them."

    def follow(self, event: Event) -> None:
        """Take in an event."""
        session = json.dumps([str(event.data.get("root", "")), str(event.data.get("session", ""))])
        if event.kind == "hook.prompt":
            self._prompts[session] = [*self._prompts.pop(session, []), event.id]
            self._prompts = dict(list(self._prompts.items())[-_SESSIONS:])
        elif event.kind == "hook.stop":
            if self._prompts.pop(session, None):
                self._stops[event.id] = None
                self._stops = dict.fromkeys(list(self._stops)[-_STOPS:])
        elif event.kind == "episode":
            self._stops.pop(str(event.data.get("stop", "")), None)
        elif event.kind == ERASURE:
            gone = ids_of(event)
            self._stops = {stop: None for stop in self._stops if stop not in gone}
            self._prompts = {one: ids for one, ids in self._prompts.items() if gone.isdisjoint(ids)}
