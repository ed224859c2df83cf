"""Recording episodes by hand or from a report, and editing them: events that can be undone."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from cm_tui.counts import count
from cm_tui.engine.memory.entries.entry_record import storable
from cm_tui.engine.memory.episodes import changes
from cm_tui.engine.memory.episodes.episodes import Episodes
from cm_tui.engine.memory.projection import episode_record
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.projection.recorder import (
    ANSWER_CHARACTERS,
    PATCH_BYTES,
    is_agent_settings,
    without_credentials,
)
from cm_tui.engine.memory.projection.turns import PROMPT_CHARACTERS
from cm_tui.engine.memory.projection.visibility import FORGOTTEN, RESTORED
from cm_tui.engine.platform.git.git_dir import git_folders, head_of
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.redaction.redact import BEYOND, redact
from cm_tui.errors import RefusedError, UsageError
from cm_tui.model import Actor, Edited, EpisodeEdit

# --- recording an episode by hand: a note, a command, a question and its answer ---


def record(journal: Journal, record: EpisodeRecord, *, head: str | None) -> str:
    """Write an episode into the journal, and return its id.

    `record`: the episode; without a session it belongs to that of the day. `head`: the commit that is checked out.
    Raises UsageError if it is empty or too long; StoreError if the journal cannot be written.
    """
    if not any(prompt.strip() for prompt in record.prompts):
        raise UsageError("Nothing to record.", hint="Give a text.")
    if not record.session:
        who = record.agent or "notes"
        record = replace(record, session=f"{who}-{time.strftime('%Y-%m-%d')}")
    return journal.append(episode_record.KIND, record.to_event_data(), head=head).id


# --- editing episodes ---

IDS = 10_000
"""Ids that are put into one event, which has a limit."""
_RATINGS = (-1, 0, 1)


def edit_episodes(
    episodes: Episodes, names: Sequence[str], edit: EpisodeEdit, actor: Actor, *, change: str = "", **said: str
) -> Edited:
    """Change episodes, all of them or none.

    Args:
        episodes: of the project.
        names: ids, or unique prefixes; `last` is the newest.
        edit: the change.
        actor: who changes it.
        change: id of an earlier change that it is part of.
        said: `agent`: its name, if any; `reason`: why it is changed.

    Raises:
        NotFoundError: a name matches no episode.
        UsageError: a name is ambiguous, or there is nothing to change.
        RefusedError: the value is the user's, and the actor is not the user.
        StoreError: the journal cannot be written.
    """
    if not names:
        raise UsageError("No episode given.", hint="`cm episodes` lists their ids.")
    if edit.rating is not None and edit.rating not in _RATINGS:
        raise UsageError(f"Invalid rating: {edit.rating}.", hint="Use 1 (useful), -1 (misleading) or 0 (not rated).")
    events = dict(_events(edit))
    if not events:
        raise UsageError("Nothing to change.", hint="Give tags, a rating, a pin, or forget or restore them.")
    ids = episodes.named_all(names, hidden=edit.forgotten is False)
    if actor != "person":
        _refuse(episodes, ids, forgets=edit.forgotten is not None)
    change, said = change or new_change(), {name: value for name, value in said.items() if value}
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
        said.append({1: "rated useful", -1: "rated misleading", 0: "no longer rated"}.get(edit.rating, "rated"))
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
            f"The user wrote, pinned, rated or tagged {held}, or approved something based on it, so only the user can change that.",
            hint="Tell the user what to change and why.",
        )
    if forgets and (held := _those(episodes, ids, "actor = 'import' OR pinned OR rating <> 0 OR evidence")):
        raise RefusedError(
            f"It was imported, pinned or rated, or something approved is based on it, so only the user can forget {held}.",
            hint="Tell the user what to forget and why.",
        )


def _those(episodes: Episodes, ids: Sequence[str], what: str) -> str:
    """Name the episodes that match a condition; empty: none."""
    sql = f"SELECT id FROM episode WHERE ({what}) AND id IN (SELECT unnest(?)) ORDER BY id"  # noqa: S608 - our own words
    held = [row[0] for row in episodes.tables.rows(sql, [list(ids)])]
    return f"{held[0]} and {len(held) - 1:,} more" if len(held) > 1 else "".join(held)


# --- reported tasks: prompt, plan, patch and verdict, each recorded once as an episode ---

_SHORT = 200
_FILES = 200
_TAGS = 50


def record_task(root: Path, episodes: Episodes, told: EpisodeRecord) -> str:
    """Write a task into the journal, and return the id of its episode.

    `told`: the report as received; a repeated one is recognised. Raises UsageError if the prompt is empty; StoreError
    if the journal cannot be read or written.
    """
    if not any(prompt.strip() for prompt in told.prompts):
        raise UsageError("Nothing to record.", hint="Give the task in `prompt`.")
    folders = git_folders(root)
    head = head_of(folders).sha if folders is not None else None
    clean = replace(_bounded(told), root=str(root), base=head or "")
    said = repr((clean.agent, clean.session, clean.prompts, clean.plan, clean.patch, clean.verdict, clean.outcome))
    clean = replace(clean, origin=blake2b(said.encode("utf-8", "replace"), digest_size=16).hexdigest())
    journal = episodes.journal
    end = journal.end()
    episodes.index.follow()
    known = episodes.tables.rows("SELECT id FROM episode WHERE origin = ? LIMIT 1", [clean.origin])
    if known:
        return str(known[0][0])
    with journal.held():
        late = (event for event in journal.read(end) if event.kind == episode_record.KIND)
        found = next((event.id for event in late if event.data.get("origin") == clean.origin), "")
        return found or journal.append_held(episode_record.KIND, clean.to_event_data(), head=head).id


def _bounded(told: EpisodeRecord) -> EpisodeRecord:
    """Return the recorded part with secrets redacted, including one at a cut."""
    patch = without_credentials(storable(told.patch))
    prompt = _cut(told.prompts[0], PROMPT_CHARACTERS)
    plan, verdict = _cut(told.plan, ANSWER_CHARACTERS), _cut(told.verdict, ANSWER_CHARACTERS)
    clean = redact(patch[: PATCH_BYTES + BEYOND], PATCH_BYTES)
    files = (path for path in told.files if not is_agent_settings(path))
    return replace(
        told,
        agent=_cut(told.agent, _SHORT),
        session=_cut(told.session, _SHORT),
        title=_cut(" ".join(told.title.split()), _SHORT),
        prompts=(prompt,),
        plan=plan,
        verdict=verdict,
        patch=clean.text[:PATCH_BYTES],
        patch_cut=len(patch) > PATCH_BYTES,
        redacted=clean.secrets,
        files=tuple(dict.fromkeys(files))[:_FILES],
        tags=tuple(dict.fromkeys(_cut(" ".join(one.split()), 80) for one in told.tags if one.strip()))[:_TAGS],
    )


def _cut(text: str, most: int) -> str:
    plain = storable(text)
    return redact(plain[: most + BEYOND], most).text[:most]
