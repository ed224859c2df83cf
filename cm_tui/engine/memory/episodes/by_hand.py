"""Recording an episode by hand: a note, a command, a question and its answer."""

from __future__ import annotations

import time
from dataclasses import replace

from cm_tui.engine.memory.projection import episode_record
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import UsageError


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
