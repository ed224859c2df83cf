"""Reported tasks: prompt, plan, patch and verdict, each recorded once as an episode."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from cm_tui.engine.memory.entries.entry_record import storable
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
from cm_tui.engine.platform.git.git_dir import git_folders, head_of
from cm_tui.engine.platform.redaction.redact import BEYOND, redact
from cm_tui.errors import UsageError

_SHORT = 200
_FILES = 200
_TAGS = 50


def record(root: Path, episodes: Episodes, told: EpisodeRecord) -> str:
    """Write a task into the journal, and return the id of its episode.

    `told`: the report as received; a repeated one is recognised. Raises UsageError if the prompt is empty; StoreError
    if the journal cannot be read or written.
    """
    if not any(prompt.strip() for prompt in told.prompts):
        raise UsageError("There is nothing to record.", hint="Give the task in `prompt`.")
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
