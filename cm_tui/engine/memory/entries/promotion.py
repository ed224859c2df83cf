"""Promoting an episode to an entry: its result, under its prompt."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.entries.entry_record import CONTENT_CHARACTERS, first_line
from cm_tui.engine.memory.entries.entry_text import Details
from cm_tui.errors import UsageError
from cm_tui.model import EPISODES, Entry, Episode
from cm_tui.model.author import Author


def promote(
    entries: Entries, episode: Episode, author: Author, *, content: str = "", **details: Unpack[Details]
) -> tuple[Entry, tuple[str, ...]]:
    """Save what an episode taught, with a reference to it, its session and commit.

    A Rule in the episode's own words is not approved by that: its author may be anyone.

    Args:
        entries: the project's.
        episode: with its full text.
        author: who promotes it.
        content: the text; empty: the episode's result.
        details: of the entry; without a title: the prompt.

    Returns:
        The entry, and messages for the user.

    Raises:
        UsageError: the episode has no result, or a value is invalid.
        StoreError: it cannot be written.
    """
    own_words = not content.strip()
    text = (episode.verdict or episode.answer or "\n\n".join(episode.prompts)).strip() if own_words else content
    if not text:
        raise UsageError(f"The episode {episode.id} has no text.", hint="Give the text with --content.")
    details["title"] = details.get("title") or episode.title or first_line("\n".join(episode.prompts))
    draft = entries.draft(text[:CONTENT_CHARACTERS], author, **details)
    new = replace(
        draft,
        actor=episode.actor if own_words else author.actor,
        agent=episode.agent,
        session=episode.session,
        commit=episode.sha or draft.commit,
        made_from=(f"{EPISODES}/{episode.id}",),
    )
    return entries.add_new(new, author, approves=not own_words)
