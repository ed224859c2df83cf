"""Names of episodes and sessions: a whole id, a unique prefix of it, or `last`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cm_tui.counts import count
from cm_tui.engine.memory.episodes.episode_rows import storable
from cm_tui.engine.memory.episodes.episode_tables import EpisodeTables
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model.ids import SHORTEST_NAME, plain_id, where_ids_are

LAST = "last"
"""Names the newest episode."""
ANY, HIDDEN, IN_SIGHT = "true", "state = 'forgotten'", "state <> 'forgotten'"
"""Which episodes a name may mean, as SQL."""
_TOLD = 5


class Named(NamedTuple):
    """An episode found by name."""

    id: str
    number: int
    segment: int
    """End of its event in the journal; 0 and below: in the archive."""
    place: int


def episode_named(tables: EpisodeTables, name: str, among: str = ANY) -> Named:
    """Return an episode by a prefix of its id, or `last`.

    `name`: what was typed; `among`: SQL condition on the candidates. Raises NotFoundError if no episode has that name;
    UsageError if the name is ambiguous.
    """
    name = storable(plain_id(name).lower())
    newest = f"SELECT id, seq, segment, place FROM episode WHERE {among}"  # noqa: S608 - our own words
    if name == LAST:
        # Archived ones are older than all others.
        found = tables.rows(f"{newest} AND state <> 'archived' ORDER BY time DESC, seq DESC LIMIT 1")
    else:
        found = tables.rows(f"{newest} AND id = ?", [name])
    if not found and len(name) >= SHORTEST_NAME:
        found = tables.rows(f"{newest} AND starts_with(id, ?)", [name])
    if not found:
        raise no_such(name)
    if len(found) > 1:
        some = ", ".join(sorted(row[0] for row in found)[:_TOLD])
        raise UsageError(f"{count(len(found), 'episode')} begin with {name!r}: {some}.", hint="Give more of the id.")
    return Named(*found[0])


def episodes_named(tables: EpisodeTables, names: Sequence[str], among: str) -> tuple[str, ...]:
    """Return the ids of episodes by their names, each once.

    `names`: as for `episode_named`; `among`: SQL condition on the candidates. Raises NotFoundError if a name matches no
    episode; UsageError if a name is ambiguous.
    """
    whole = [storable(plain_id(name).lower()) for name in names]
    sql = f"SELECT id FROM episode WHERE {among} AND id IN (SELECT unnest(?))"  # noqa: S608 - our own words
    known = {row[0] for row in tables.rows(sql, [whole])}
    return tuple(dict.fromkeys(name if name in known else episode_named(tables, name, among).id for name in whole))


def session_named(tables: EpisodeTables, name: str) -> str:
    """Return the id of a session by a prefix of it.

    Raises NotFoundError if no session has that name; UsageError if the name is ambiguous.
    """
    known = "SELECT DISTINCT session FROM episode WHERE"
    # A program's session names may look like a kind with an id.
    whole = list(dict.fromkeys((storable(name), storable(plain_id(name)))))
    found = tables.rows(f"{known} session IN (SELECT unnest(?)) LIMIT 1", [whole])
    if not found and len(whole[-1]) >= SHORTEST_NAME:
        found = tables.rows(f"{known} starts_with(session, ?) ORDER BY session LIMIT 50", [whole[-1]])
    if not found:
        raise no_such_session(name)
    first = found[0][0] if found else ""
    # Sessions of sub-agents have names below their parent's.
    if len(found) > 1 and not all(row[0].startswith(f"{first}/") for row in found[1:]):
        some = ", ".join(row[0][:80] for row in found[:_TOLD])
        raise UsageError(
            f"{count(len(found), 'session')} begin with {name[:40]!r}: {some}.", hint="Give more of the id."
        )
    return str(first)


def is_whole(tables: EpisodeTables, name: str) -> bool:
    """Return whether there is an episode of this whole id."""
    return bool(tables.rows("SELECT 1 FROM episode WHERE id = ?", [storable(name.strip().lower())]))


def no_such(name: str) -> NotFoundError:
    """Return the error for an unknown episode."""
    return NotFoundError(
        f"There is no episode {_shown(name)!r}.", hint=where_ids_are(name, "`cm episodes` lists them.")
    )


def no_such_session(name: str) -> NotFoundError:
    """Return the error for an unknown session."""
    hint = where_ids_are(name, "`cm episodes list --sessions` lists them.")
    return NotFoundError(f"There is no session {_shown(name)!r}.", hint=hint)


def _shown(name: str) -> str:
    return name[:40].encode("ascii", "backslashreplace").decode()
