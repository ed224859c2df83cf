"""The memory: what agents' sessions recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cm_tui.engine.api.needs import needs
from cm_tui.model import Episode, ErasureReport, Page, SecretsReport


class MemoryApi(Protocol):
    """Episodes of agents' sessions, by every checkout of the project."""

    @needs("head")
    def episodes(self, *, match: str = "", before: str | None = None, limit: int = 200) -> Page[Episode]:
        """Return what agents' sessions recorded, newest first, without patches.

        Args:
            match: only those that have these words in prompts, answer, agent, session, paths, day, sha or `#17`.
            before: the id of the last one of a page asks for the next page.
            limit: how many at most; the total counts all that match, whatever `before` is.
        """

    @needs("head")
    def episode(self, name: str) -> Episode:
        """Return one of them whole, with its patch and the revision that it can be replayed at.

        Args:
            name: its id, or a beginning that no other has; `last` is the newest.

        Raises:
            NotFoundError: there is none of that name.
            UsageError: there are several.
        """

    @needs("nothing")
    def episode_moments(self) -> tuple[int, ...]:
        """Return the ordinals of the mainline's commits that agents saw, in order."""

    @needs("nothing")
    def secrets(self) -> SecretsReport:
        """Return what looks like a secret, by today's patterns, in journal, index, logs and remembered choices.

        Raises:
            StoreError: one of them cannot be read.
        """

    @needs("nothing")
    def erase(
        self, names: Sequence[str] = (), *, found: bool = False, with_patches: bool = False, dry_run: bool = False
    ) -> ErasureReport:
        """Erase events of the journal and all that was made from them, for good.

        An event takes its turn along: its session's prompts, edits, stop and episode say the same.

        Args:
            names: ids of events or episodes, or beginnings that no other has, or SEGMENT:OFFSET as a scan tells them.
            found: also everything that `secrets` finds.
            with_patches: also the turns of other episodes that hold lines of one that goes.
            dry_run: only say what would go.

        Raises:
            NotFoundError: the journal has no event of that name.
            UsageError: it has several, or nothing is named.
            StoreBusyError: the index stays in use.
            StoreError: something cannot be written.
        """

    @needs("nothing")
    def forget(self, name: str, *, undo: bool = False) -> str:
        """Hide an episode, or show it again; returns its id. The journal keeps it.

        Args:
            name: its id, or a beginning that no other has.
            undo: show one that was hidden.

        Raises:
            NotFoundError: there is none of that name.
            UsageError: there are several.
            StoreError: the journal cannot be written.
        """
