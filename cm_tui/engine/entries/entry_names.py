"""What people and agents call entries: a whole id, or a beginning of one that no other has."""

from __future__ import annotations

from collections.abc import Sequence

from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import Entry
from cm_tui.model.ids import SHORTEST_NAME, plain_id, where_ids_are


def one_named(entries: Sequence[Entry], name: str) -> Entry:
    """Return the entry that is called so.

    Raises:
        NotFoundError: there is none.
        UsageError: there are several.
    """
    wanted = plain_id(name)
    found = [one for one in entries if one.id == wanted] or [one for one in entries if one.id == wanted.lower()]
    if not found and len(wanted) >= SHORTEST_NAME:
        found = [one for one in entries if one.id.startswith(wanted.lower())]
    if not found:
        shown = wanted[:40].encode("ascii", "backslashreplace").decode()
        raise NotFoundError(f"There is no entry {shown!r}.", hint=where_ids_are(wanted, "`cm remember` lists them."))
    if len(found) > 1:
        places = " and ".join(f"{one.id} ({one.scope})" for one in found[:4])
        raise UsageError(f"{wanted!r} is more than one entry: {places}.", hint="Give more of the id.")
    return found[0]
