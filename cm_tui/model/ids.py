"""Ids as people and agents write them: whole or the beginning of one, with the kind before it or without."""

from __future__ import annotations

from collections.abc import Iterable

from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model.note import NOTES
from cm_tui.model.search import ENTRIES, EPISODES

SESSIONS = "session"
PROPOSALS = "proposal"
SHORTEST_NAME = 4
"""Letters that the beginning of an id has at least, to stand for it."""
_KINDS = (ENTRIES, EPISODES, NOTES, SESSIONS, PROPOSALS)


def kind_and_id(name: str) -> tuple[str, str]:
    """Return the kind that a name says and the id behind it: `episode/18ea…` is what recall prints.

    `name`: what was typed. Returns `entry`, `episode`, `note`, `session`, `proposal`, or nothing where it says none;
    and the rest.
    """
    name = name.strip()
    kind, slash, id_ = name.partition("/")
    return (kind.lower(), id_.strip()) if slash and kind.lower() in _KINDS else ("", name)


def plain_id(name: str) -> str:
    """Return an id without the kind before it."""
    return kind_and_id(name)[1]


def where_ids_are(name: str, listed: str) -> str:
    """Return what to do next about a name that is none: where ids are listed, and that a beginning may be too short.

    `name`: what was typed; `listed`: where ids are listed, as a sentence.
    """
    if 0 < len(plain_id(name)) < SHORTEST_NAME:
        return f"A prefix of an id has at least {SHORTEST_NAME} characters. {listed}"
    return listed


def id_named(name: str, ids: Iterable[str], what: str, listed: str, least: int = SHORTEST_NAME) -> str:
    """Return the id that a name means: the whole id, or the only one that begins with it.

    `what`: what ids are of; `listed`: where ids are listed, as a sentence; `least`: letters that a beginning has. Raises
    NotFoundError if no id has that name; UsageError if the name is ambiguous.
    """
    wanted, known = plain_id(name), list(ids)
    found = [one for one in known if len(wanted) >= least and one.startswith(wanted)]
    if wanted in known:
        return wanted
    if not found:
        hint = where_ids_are(wanted, listed) if least == SHORTEST_NAME else listed
        raise NotFoundError(f"{what.capitalize()} not found: {quoted(wanted)}.", hint=hint)
    if len(found) > 1:
        raise ambiguous(wanted, what, found, hint="Give more characters of the id.")
    return found[0]


def ambiguous(name: str, what: str, found: Iterable[str], hint: str = "Use one of these ids.") -> UsageError:
    """Return the error for a name that matches more than one item. `what`: kind of item; `found`: the matching ids."""
    return UsageError(f"Ambiguous {what} {quoted(name)}: {', '.join([*found][:5])}.", hint=hint)


def quoted(name: str, most: int = 40) -> str:
    """Return the beginning of a name that is none in quotes, in letters that every terminal shows."""
    return repr(name[:most].encode("ascii", "backslashreplace").decode())
