"""Names of entries: a whole id, or a unique prefix of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import Entry, Scope
from cm_tui.model.ids import SHORTEST_NAME, plain_id, where_ids_are
from cm_tui.model.text import one_line


def all_named(entries: Sequence[Entry], name: str) -> tuple[Entry, ...]:
    """Return the candidates: entries with the whole id, or else with that prefix."""
    wanted = plain_id(name)
    found = [one for one in entries if one.id == wanted] or [one for one in entries if one.id == wanted.lower()]
    if not found and len(wanted) >= SHORTEST_NAME:
        found = [one for one in entries if one.id.startswith(wanted.lower())]
    return tuple(found)


def one_named(entries: Sequence[Entry], name: str, scope: Scope | None = None) -> Entry:
    """Return the entry with a name.

    `name`: what was typed. `scope`: only this scope; None: either. Raises NotFoundError if no entry has that name;
    UsageError if the name is ambiguous.
    """
    wanted = plain_id(name)
    found = all_named([one for one in entries if scope in {None, one.scope}], name)
    if not found:
        shown = wanted[:40].encode("ascii", "backslashreplace").decode()
        of_scope = f" in the scope {scope}" if scope is not None else ""
        hint = _with_that_title(entries, wanted) or where_ids_are(wanted, "`cm entries list` lists them.")
        raise NotFoundError(f"There is no entry {shown!r}{of_scope}.", hint=hint)
    if len(found) > 1:
        places = " and ".join(f"{one.id} ({one.scope})" for one in found[:4])
        in_both = len({one.id for one in found}) == 1
        hint = "Give the scope: user or project." if in_both else "Give more of the id."
        raise UsageError(f"{wanted!r} is more than one entry: {places}.", hint=hint)
    return found[0]


def _with_that_title(entries: Sequence[Entry], words: str) -> str:
    """Return which entries have some words in their title, as a sentence; empty: none has."""
    shown = [one for one in entries if words.strip() and words.lower() in one.title.lower() and not one.held][:3]
    named = ", ".join(f"{one.id} “{' '.join(one_line(one.title).split())[:60]}”" for one in shown)
    return f"Entries with that in their title: {named}. `cm entries search WORDS` finds more." if named else ""


def checked_scope(text: str) -> Scope | None:
    """Return the scope of a name; None for an empty one. Raises UsageError: no such scope."""
    found = next((one for one in get_args(Scope) if one == text), None)
    if found is None and text:
        raise UsageError(f"There is no scope {text[:40]!r}.", hint="Use `user` or `project`.")
    return found
