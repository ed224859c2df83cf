"""Editing episodes: events that can be undone."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cm_tui.counts import count
from cm_tui.engine.memory.episodes import changes
from cm_tui.engine.memory.episodes.episodes import Episodes
from cm_tui.engine.memory.projection import episode_record
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.projection.visibility import FORGOTTEN, RESTORED
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import RefusedError, UsageError
from cm_tui.model import Actor, Edited, EpisodeEdit

# --- recording an episode by hand: a note, a command, a question and its answer ---


def record(journal: Journal, record: EpisodeRecord, *, head: str | None) -> str:
    """Write an episode into the journal, and return its id.

    `record`: the episode; without a session it belongs to that of the day. `head`: the commit that is checked out.
    Raises UsageError if it is empty or too long; StoreError if the journal cannot be written.
    """
    if not any(prompt.strip() for prompt in record.prompts):
        raise UsageError("There is nothing to record.", hint="Give a text.")
    if not record.session:
        who = record.agent or "notes"
        record = replace(record, session=f"{who}-{time.strftime('%Y-%m-%d')}")
    return journal.append(episode_record.KIND, record.to_event_data(), head=head).id


# --- editing episodes ---

IDS = 10_000
"""Ids that are put into one event, which has a limit."""
_RATINGS = (-1, 0, 1)


def edit_episodes(
    episodes: Episodes, names: Sequence[str], edit: EpisodeEdit, actor: Actor, *, agent: str = "", reason: str = ""
) -> Edited:
    """Change episodes, all of them or none.

    Args:
        episodes: of the project.
        names: ids, or unique prefixes; `last` is the newest.
        edit: the change.
        actor: who changes it.
        agent: name of the agent, if any.
        reason: why it is changed.

    Raises:
        NotFoundError: a name matches no episode.
        UsageError: a name is ambiguous, or there is nothing to change.
        RefusedError: the value is the user's, and the actor is not the user.
        StoreError: the journal cannot be written.
    """
    if not names:
        raise UsageError("No episode is named.", hint="`cm episodes` lists their ids.")
    if edit.rating is not None and edit.rating not in _RATINGS:
        raise UsageError(f"{edit.rating} is no rating.", hint="1: it was useful; -1: it misled; 0: not rated.")
    events = dict(_events(edit))
    if not events:
        raise UsageError(
            "There is nothing to change.", hint="Give tags, a rating, a pin, or whether they are forgotten."
        )
    ids = episodes.named_all(names, hidden=edit.forgotten is False)
    if actor != "person":
        _refuse(episodes, ids, forgets=edit.forgotten is not None)
    change, said = new_change(), {name: value for name, value in (("agent", agent), ("reason", reason)) if value}
    with episodes.journal.held():
        for kind, data in events.items():
            append_of_many(episodes.journal, kind, {"change": change, **data, "actor": actor, **said}, ids)
    episodes.index.follow()
    return Edited(change, ids, f"{words_of(edit)}: {count(len(ids), 'episode')}")


def new_change() -> str:
    """Return an id for a change."""
    return os.urandom(12).hex()


def append_of_many(journal: Journal, kind: str, data: Mapping[str, Any], ids: Sequence[str]) -> None:
    """Append the events that an edit of all ids takes; the caller holds the journal.

    Raises StoreError if it cannot be written.
    """
    for first in range(0, max(len(ids), 1), IDS):
        journal.append_held(kind, {**data, "ids": list(ids[first : first + IDS])})


def words_of(edit: EpisodeEdit) -> str:
    """Describe an edit: `tagged bug; pinned`."""
    said = []
    if added := changes.clean(edit.add_tags):
        said.append(f"tagged {', '.join(added)}")
    if removed := changes.clean(edit.remove_tags):
        said.append(f"no longer tagged {', '.join(removed)}")
    if edit.rating is not None:
        said.append({1: "rated useful", -1: "rated misleading", 0: "not rated any more"}.get(edit.rating, "rated"))
    if edit.pinned is not None:
        said.append("pinned" if edit.pinned else "no longer pinned")
    if edit.forgotten is not None:
        said.append("forgotten" if edit.forgotten else "shown again")
    return "; ".join(said)


def _events(edit: EpisodeEdit) -> Iterator[tuple[str, dict[str, Any]]]:
    if data := changes.data_of(edit):
        yield changes.EDITED, data
    if edit.forgotten is not None:
        yield FORGOTTEN if edit.forgotten else RESTORED, {}


def _refuse(episodes: Episodes, ids: Sequence[str], *, forgets: bool) -> None:
    """Refuse an agent what only the user may do. Raises RefusedError if it is that."""
    if held := _those(episodes, ids, "guarded"):
        raise RefusedError(
            f"The user wrote, pinned, rated or tagged {held}, or approved something based on it: only the user changes that.",
            hint="Tell the user what you would change, and why.",
        )
    if forgets and (held := _those(episodes, ids, "actor = 'import' OR pinned OR rating <> 0 OR evidence")):
        raise RefusedError(
            f"It was imported, pinned or rated, or something approved is based on it: only the user forgets {held}.",
            hint="Tell the user what you would forget, and why.",
        )


def _those(episodes: Episodes, ids: Sequence[str], what: str) -> str:
    """Name the episodes that match a condition; empty: none."""
    sql = f"SELECT id FROM episode WHERE ({what}) AND id IN (SELECT unnest(?)) ORDER BY id"  # noqa: S608 - our own words
    held = [row[0] for row in episodes.tables.rows(sql, [list(ids)])]
    return f"{held[0]} and {len(held) - 1:,} more" if len(held) > 1 else "".join(held)
