"""Authors and titles of memories, for every list that shows one."""

from __future__ import annotations

from cm_tui.engine.api.authors import Author
from cm_tui.model import ENTRIES, EPISODES
from cm_tui.model.text import one_line
from cm_tui.tui.widgets.text import flat

_KINDS = (EPISODES, ENTRIES)


def who(author: Author | None) -> str:
    """Return who wrote it, in a word or two; empty while that is not known."""
    return who_is(author.actor, author.agent) if author is not None and author.actor else ""


def who_is(actor: str, agent: str) -> str:
    """Return who it was, in a word or two."""
    return {"person": "the user", "narrator": "the narrator"}.get(actor) or one_line(agent) or "an agent"


def title_of(author: Author | None) -> str:
    """Return what it is called: the first line of what was asked, or the title of the entry or session."""
    return flat(author.asked or author.title, None) if author is not None else ""


def is_remembered(path: str) -> bool:
    """Return whether the path of a piece is that of an episode or an entry."""
    kind, slash, name = path.partition("/")
    return kind in _KINDS and bool(slash and name) and "/" not in name and "." not in name
