"""Entries for a prompt, in this process: what is read of them is kept until a file changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cm_tui.engine.local.rooms import LocalRooms
from cm_tui.model import Injection
from cm_tui.model.page import bounded

if TYPE_CHECKING:
    from cm_tui.engine.context.injection import InjectionTable


class LocalInjection(LocalRooms):
    """What an agent is given of entries."""

    _table: tuple[str, InjectionTable] | None = None

    def inject(
        self, *, budget: int = 2000, scope: str = "", category: str = "", prompt: str = "", files: Sequence[str] = ()
    ) -> Injection:
        """Return entries as text for a prompt."""
        from cm_tui.engine.context.injection import Wanted
        from cm_tui.engine.entries.entry_names import checked_scope
        from cm_tui.engine.entries.entry_record import checked_category

        inside = tuple(self._inside(path) for path in files)
        only = checked_category(category) if category else ""
        wanted = Wanted(bounded(budget), checked_scope(scope) or "", only, prompt, inside)
        return self._injection_table().inject(wanted, self._recall_log.totals())

    def _injection_table(self) -> InjectionTable:
        from cm_tui.engine.context.injection import InjectionTable
        from cm_tui.engine.entries.entries import Entries

        entries = Entries(self._root)
        # Taken before they are read: what changes meanwhile is read again next time.
        stamp = entries.stamp()
        if self._table is None or self._table[0] != stamp:
            found = entries.all()
            self._table = (stamp, InjectionTable(found.entries, found.notes))
        return self._table[1]
