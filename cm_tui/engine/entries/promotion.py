"""An entry made of an episode: what came of it, under what was asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cm_tui.engine.entries.entries import Entries
from cm_tui.engine.entries.entry_record import CONTENT_CHARACTERS, first_line
from cm_tui.errors import UsageError
from cm_tui.model import EPISODES, Entry, Episode, Scope
from cm_tui.model.author import Author


def promote(
    entries: Entries,
    episode: Episode,
    author: Author,
    *,
    content: str = "",
    category: str = "Experience",
    title: str = "",
    keywords: Iterable[str] = (),
    scope: Scope = "project",
) -> tuple[Entry, tuple[str, ...]]:
    """Write down what an episode taught; it says which one, and its session and commit.

    A Rule in the episode's own words is not approved by that: whoever wrote those may be anybody.

    Args:
        entries: the project's.
        episode: whole.
        author: who promotes it.
        content: what is to be remembered; empty: what came of the episode.
        category: of the entry.
        title: empty: what was asked.
        keywords: empty: taken from the text.
        scope: of the entry.

    Returns:
        The entry, and what has to be said.

    Raises:
        UsageError: nothing came of the episode, or a value cannot be.
        StoreError: it cannot be written.
    """
    own_words = not content.strip()
    text = (episode.verdict or episode.answer or "\n\n".join(episode.prompts)).strip() if own_words else content
    if not text:
        raise UsageError(f"The episode {episode.id} has no words.", hint="Say what is to be remembered: --content.")
    called = title or episode.title or first_line("\n".join(episode.prompts))
    draft = entries.draft(
        text[:CONTENT_CHARACTERS], author, category=category, title=called, keywords=keywords, scope=scope
    )
    new = replace(
        draft,
        actor=episode.actor if own_words else author.actor,
        agent=episode.agent,
        session=episode.session,
        commit=episode.sha or draft.commit,
        made_from=(f"{EPISODES}/{episode.id}",),
    )
    return entries.add_new(new, author, approves=not own_words)
