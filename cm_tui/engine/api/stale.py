"""Whether what is remembered is still true of the code: the names that it says, and what became of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from cm_tui.engine.api.needs import needs

if TYPE_CHECKING:
    from cm_tui.model import Actor, MemoryChange, Page, StaleItem


class StaleApi(Protocol):
    """Names of the code in entries, notes and episodes."""

    @needs("checkout")
    def stale_items(self, *, kind: str = "", everything: bool = False, limit: int = 200) -> Page[StaleItem]:
        """Return what names something that is gone or renamed, the worst first.

        Args:
            kind: only `entry`, `note` or `episode`; entries and notes when not given.
            everything: also what was moved or changed, and what history does not tell of.
            limit: how many at most; the total counts all.

        Raises:
            UsageError: nothing of that kind is remembered.
        """

    @needs("checkout")
    def mentions_of(self, name: str) -> StaleItem:
        """Return all names of the project that one item says.

        Args:
            name: its id, as `k3m9x2a`, or its name among passages, as `note/topics/api`.

        Raises:
            NotFoundError: there is none.
            UsageError: there are several.
        """

    @needs("checkout", writes=("memory",))
    def fix_stale(self, name: str, *, dry_run: bool = False) -> MemoryChange:
        """Write the new name in the place of the old one into an entry, wherever there is exactly one.

        Args:
            name: id of the entry.
            dry_run: only say what it would be.

        Raises:
            NotFoundError: there is none of that name.
            UsageError: it is no entry, or there is no new name.
            StoreError: it cannot be written.
        """

    @needs("checkout", writes=("memory",))
    def confirm_stale(self, name: str, *, actor: Actor = "person") -> MemoryChange:
        """Note that what an item says is true all the same: it is told again once something further changes.

        Args:
            name: its id, or its name among passages.
            actor: who says so.

        Raises:
            NotFoundError: there is none of that name.
            UsageError: nothing of it is stale.
            RefusedError: an agent says so.
            StoreError: the journal cannot be written.
        """
