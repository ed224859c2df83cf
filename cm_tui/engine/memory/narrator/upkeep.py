"""Proposals about existing text: lines that the code contradicts, and the lifecycle of topics."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cm_tui.engine.memory.narrator.parts import Parts
from cm_tui.errors import CmError
from cm_tui.model import NarratedProposal

if TYPE_CHECKING:
    from cm_tui.engine.memory.narrator.stale_facts import Code

_FRESH_S, _LOOK_S = 3_600.0, 60.0
_STATE = "SELECT segment, place, event, events FROM episode_position"


class Upkeep:
    """Proposals for the upkeep of existing notes and topics; computed again only after changes.

    `parts`: what the narrator is based on.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._stale: tuple[Any, list[NarratedProposal], str] | None = None
        self._topics: tuple[Any, list[NarratedProposal]] | None = None

    def code(self) -> Code | None:
        """Return the lookup for names of the code; None: the code is unknown."""
        try:
            return self._parts.code()
        except CmError:
            # Problems of the history are reported with the stale lines.
            return None

    def all(self, waiting: Sequence[NarratedProposal], sign: str) -> tuple[list[NarratedProposal], str]:
        """Return the proposals, and a message where some are missing.

        `waiting`: proposed facts; `sign`: change stamp of all notes and entries.
        """
        stale, note = self._of_code(sign)
        return [*stale, *self._of_topics(waiting, sign)], note

    # --- parts ---

    def _of_code(self, sign: str) -> tuple[list[NarratedProposal], str]:
        from cm_tui.engine.memory.narrator import stale_facts

        # The journal records what the user confirmed.
        state = self._parts.episodes.tables.rows(_STATE)
        key = (sign, self._parts.db.get_meta("indexed_at"), state, int(time.time() / _LOOK_S))
        if self._stale is None or self._stale[0] != key:
            found, note = list[NarratedProposal](), ""
            try:
                code = self._parts.code()
                found = [] if code is None else stale_facts.proposals(self._parts.root, code)
            except CmError as error:
                note = f"Lines of notes that the code contradicts were not looked for: {error.message}"
            self._stale = key, found, note
        return self._stale[1], self._stale[2]

    def _of_topics(self, waiting: Sequence[NarratedProposal], sign: str) -> list[NarratedProposal]:
        from cm_tui.engine.memory.narrator import lifecycle

        key = (sign, int(time.time() / _FRESH_S), tuple((one.id, one.text, one.target) for one in waiting))
        if self._topics is None or self._topics[0] != key:
            self._topics = key, lifecycle.proposals(self._parts.root, waiting)
        return self._topics[1]
