"""Changes of episodes: of the one under the cursor, of those that are selected, or of a whole session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from cm_tui.model import Edited, Episode, EpisodeEdit, EpisodeFilter
from cm_tui.tui.modes.episodes.scope import BY_HAND, of_key
from cm_tui.tui.modes.episodes.view import EpisodesView
from cm_tui.tui.screens.question import Line, ask_line, confirm
from cm_tui.tui.screens.undo import do_undoable
from cm_tui.tui.state.revision import headline
from cm_tui.tui.widgets.text import count, elide_end, one_line

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

MOST = 5_000
"""Episodes that are changed at once."""
_PAGE = 1_000
_LONGEST = 60


def all_of(engine: Engine, where: EpisodeFilter) -> list[Episode]:
    """Return the episodes that fit, the newest first, `MOST` at most."""
    rows: list[Episode] = []
    before: str | None = None
    while len(rows) < MOST:
        page = engine.episodes(where=where, before=before, limit=_PAGE)
        rows += page.rows
        if len(rows) >= page.total or not page.rows:
            break
        before = page.rows[-1].id
    return rows[:MOST]


def listed(screen: EpisodesView) -> EpisodeFilter:
    """Return which episodes are listed: those of the session that fit."""
    return of_key(screen.where, screen.session_key)


def with_meant(screen: EpisodesView, then: Callable[[Sequence[Episode]], None]) -> None:
    """Find the episodes that are meant: the selected ones, else all of the session, else the one under the cursor."""
    if screen.selected:
        then(tuple(screen.selected.values()))
    elif screen.on_sessions and screen.session_key:
        where = listed(screen)
        screen.do(lambda engine: all_of(engine, where), lambda rows: then(rows) if rows else None)
    elif (episode := screen.episode) is not None:
        then((episode,))


def nothing_meant(screen: EpisodesView) -> str | None:
    """Say why there is nothing to change."""
    if screen.selecting:
        return "what you selected is still being read"
    if screen.selected or screen.episode is not None:
        return None
    if not screen.on_sessions or not screen.turns.rows:
        return "there is no episode"
    return None if screen.session_key else "choose a session, or select episodes with space"


def change(screen: EpisodesView, episodes: Sequence[Episode], edit: EpisodeEdit) -> None:
    """Change episodes, say what was done, and show it."""
    ids = [episode.id for episode in episodes]

    def done(edited: Edited) -> None:
        words = f"{one_line(edited.words)}; u undoes it."
        screen.cm.tell(words[:1].upper() + words[1:])
        screen.selected.clear()
        screen.reload()

    title = headline(episodes[0]) if len(episodes) == 1 else ""
    do_undoable(screen, lambda engine: engine.edit_episodes(ids, edit), done, title=title)


# --- pins, ratings, tags ---


def flip_pin(screen: EpisodesView) -> None:
    """Pin, or no more where all that is meant is pinned."""

    def found(episodes: Sequence[Episode]) -> None:
        change(screen, episodes, EpisodeEdit(pinned=not all(one.pinned for one in episodes)))

    with_meant(screen, found)


def rate(screen: EpisodesView, rating: int) -> None:
    """Rate, or take the same rating back."""

    def found(episodes: Sequence[Episode]) -> None:
        same = all(one.rating == rating for one in episodes)
        change(screen, episodes, EpisodeEdit(rating=0 if same else rating))

    with_meant(screen, found)


def ask_tags(screen: EpisodesView) -> None:
    """Ask for tags: those that all have stand there already."""
    with_meant(screen, partial(_ask_tags, screen))


def _ask_tags(screen: EpisodesView, episodes: Sequence[Episode]) -> None:
    common = [tag for tag in episodes[0].tags if all(tag in one.tags for one in episodes)]

    def answered(text: str) -> None:
        wanted = tags_in(text)
        add = tuple(tag for tag in wanted if any(tag not in one.tags for one in episodes))
        remove = tuple(tag for tag in common if tag not in wanted)
        if add or remove:
            change(screen, episodes, EpisodeEdit(add_tags=add, remove_tags=remove))

    used = [one_line(facet.value) for facet in (screen.totals.stats.tags[:8] if screen.totals else ())]
    hint = f"In use: {', '.join(used)}" if used else "With commas between them; what you take out is removed."
    what = count(len(episodes), "episode")
    there = "".join(f"{one_line(tag)}, " for tag in common)
    ask_line(screen, f"Tags of {what}", Line(answered, there, hint, adds=True))


def tags_in(text: str) -> list[str]:
    """Return the tags in a line: `big router, #bug` are two."""
    return list(dict.fromkeys(tag for word in text.split(",") if (tag := " ".join(word.split()).lstrip("#"))))


# --- forgetting ---


def forget(screen: EpisodesView) -> None:
    """Forget what is meant, or bring it back where all of it is forgotten."""

    def found(episodes: Sequence[Episode]) -> None:
        back = all(one.state == "forgotten" for one in episodes)
        edit = EpisodeEdit(forgotten=not back)
        if back or len(episodes) == 1 or screen.selected:
            change(screen, episodes, edit)
            return
        whole = screen.session
        title = f"the session “{elide_end(one_line(whole.title or whole.id), _LONGEST)}”" if whole else "this session"
        where = "all that was recorded by hand" if screen.session_key == BY_HAND else title
        words = f"Forget {count(len(episodes), 'episode')} of {where}?\n\nThey disappear from lists, search and agents. u undoes it."
        confirm(screen, words, "Forget", lambda: change(screen, episodes, edit))

    with_meant(screen, found)
