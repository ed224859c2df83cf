"""Whether memories still match the code: the names that they mention, and what became of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from cm_tui import model
from cm_tui.engine.api.engine_base import of_one_generation
from cm_tui.engine.api.entries import EntryMethods
from cm_tui.engine.api.needs import needs
from cm_tui.errors import RefusedError, UsageError

if TYPE_CHECKING:
    from cm_tui.model.entry import Remembered
    from cm_tui.model.stale import MentionState


_SOURCES = ("entry", "note")
"""Listed by default: an episode is a record of its day, and stays out."""
_KINDS = (*_SOURCES, "episode")
_WORST: tuple[MentionState, ...] = ("gone", "renamed")
_ALL: tuple[MentionState, ...] = ("gone", "renamed", "moved", "changed", "unknown")
_WAIT_S = 1.0
"""How long a request waits for updates of mentions."""


class StaleMethods(EntryMethods):
    """Names of the code in entries, notes and episodes."""

    @needs("checkout")
    def stale_items(self, *, kind: str = "", everything: bool = False, limit: int = 200) -> model.Page[model.StaleItem]:
        """Return items that name something gone or renamed, the worst first.

        `kind`: only `entry`, `note` or `episode`; default: entries and notes. `everything`: include moved and changed
        names, and unknown ones (before indexed history). `limit`: the most to return; the total counts all. Raises
        UsageError if there are no items of that kind.
        """
        if kind and kind not in _KINDS:
            raise UsageError(f"Unknown kind: {kind!r}.", hint=f"Use one of {', '.join(_KINDS)}.")
        self._update_mentions()
        kinds, states = (kind,) if kind else _SOURCES, _ALL if everything else _WORST
        return self._of_one_generation(lambda: self._stale_report.items(states, kinds, limit))

    @needs("checkout")
    def mentions_of(self, name: str) -> model.StaleItem:
        """Return all names of the project that one item mentions.

        `name`: its id, as `k3m9x2a`, or its name among passages, as `note/topics/api`. Raises NotFoundError if no item
        has that name; UsageError if the name is ambiguous.
        """
        self._update_mentions()
        return self._item(name)

    @needs("checkout", writes=("memory",))
    def fix_stale(self, name: str, *, dry_run: bool = False) -> model.MemoryChange:
        """Replace an old name by its new one in an entry, wherever there is exactly one.

        `dry_run`: only report the change. Raises NotFoundError if no entry has that name; UsageError if it is not an
        entry, or there is no new name; StoreError if it cannot be written.
        """
        from cm_tui.engine.memory.mentions.report import replaced, replacements

        self._update_mentions()
        item = self._item(name)
        if item.kind != model.ENTRIES:
            raise UsageError(
                f"{item.path} is your own file.", hint="Change it in your editor: `cm stale ID` shows the new names."
            )
        names = replacements(item.flagged)
        entry = self.entry(item.id)
        edit = model.EntryEdit(replaced(entry.content, names), replaced(entry.title, names))
        if (edit.content, edit.title) == (entry.content, entry.title):
            raise UsageError(
                f"No name in {item.path} has exactly one new name.",
                hint="`cm stale ID` shows the state of each.",
            )
        words = ", ".join(f"`{old}` is now `{new}`" for old, new in names.items())
        if dry_run:
            return model.MemoryChange(entry.id, "entry", f"would write: {words}", entry=entry)
        done = self.update_entry(entry.id, edit)
        self._sync_memory()
        return model.MemoryChange(entry.id, "entry", f"{done.words}: {words}", done.change, entry=done.entry)

    @needs("checkout", writes=("memory",))
    def confirm_stale(self, name: str, *, actor: model.Actor = "person") -> model.MemoryChange:
        """Confirm that an item is still true: it is reported again once something further changes.

        `name`: its id, or its name among passages; `actor`: who confirms it. Raises NotFoundError if no item has that
        name; UsageError if nothing of it is stale; RefusedError if the actor is an agent; StoreError if the journal
        cannot be written.
        """
        from cm_tui.engine.memory.entries.entry_writing import head_at
        from cm_tui.engine.memory.mentions.mention_index import Confirmations
        from cm_tui.engine.memory.mentions.report import fate_of

        if actor != "person":
            raise RefusedError(
                "Only the user confirms that something is still true.", hint="Run `cm stale confirm ID`."
            )
        self._update_mentions()
        item = self._item(name)
        if not item.flagged:
            raise UsageError(
                f"No name in {item.path} is gone, renamed or moved.", hint="`cm stale` lists what is stale."
            )
        fates = [fate_of(one) for one in item.flagged]
        change = Confirmations(self._episodes).add(item.path, fates, head_at(self._root))
        self._update_mentions()
        return model.MemoryChange(item.id, cast("Remembered", item.kind), f"still true: {item.path}", change)

    # --- parts ---

    def _update_mentions(self) -> None:
        """Read new memories and update mentions; a request for an item has just shown it."""
        self._read_journal(_WAIT_S)
        self._follow_mentions(_WAIT_S)

    @of_one_generation
    def _item(self, name: str) -> model.StaleItem:
        return self._stale_report.of(self._path_of(name.strip()))

    def _path_of(self, name: str) -> str:
        """The path of an item by its id, or a prefix of it."""
        rows = self._db.rows("SELECT path FROM mention_item WHERE contains(path, ?)", [model.plain_id(name)])
        paths = {path.partition("/")[2]: path for (path,) in rows}
        chosen: str = paths[model.id_named(name, paths, "memory", "`cm stale --all` lists them.")]
        return chosen
