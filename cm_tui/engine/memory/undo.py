"""Taking back the last change that a person made in a project, of any kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cm_tui.counts import count
from cm_tui.engine.journal import Event, Journal, Position
from cm_tui.engine.memory import changes, episode_record
from cm_tui.engine.memory.edits import append_of_many, words_of
from cm_tui.engine.memory.episodes import Episodes
from cm_tui.engine.memory.visibility import FORGOTTEN, RESTORED, UNDONE, ids_of
from cm_tui.errors import NotFoundError
from cm_tui.model import Conflict, EpisodeEdit, Undone


class Asked(NamedTuple):
    """How a change is to be taken back."""

    root: Path
    """Of the checkout."""
    journal: Journal
    events: Sequence[Event]
    """The change, as the journal has it, in order."""
    dry_run: bool
    """Nothing is to be written."""
    theirs_too: bool
    """Also what somebody else changed since goes."""


class Taken(NamedTuple):
    """What became of it."""

    ids: tuple[str, ...]
    """What the change was about."""
    words: str
    """The change, for people."""
    conflicts: tuple[Conflict, ...] = ()
    """What changed since: left as it is where that was not to go too."""
    left: bool = False
    """Nothing could be taken back: the change stays."""


Undoer = Callable[[Asked], Taken]
"""Takes back a change of its kind. What an event says of episodes counts no longer once it is undone; whoever keeps
something else, such as a file, puts that back here. Killed in the middle, it is asked again."""


def _of_episodes(asked: Asked) -> Taken:
    ids = tuple(dict.fromkeys(id_ for event in asked.events for id_ in sorted(ids_of(event))))
    said = []
    for event in {event.kind: event for event in asked.events}.values():
        if event.kind == changes.EDITED:
            fields = {name: event.data.get(name) for name in ("rating", "pinned")}
            tags = {name: tuple(map(str, event.data.get(name) or ())) for name in ("add_tags", "remove_tags")}
            said.append(words_of(EpisodeEdit(**tags, **fields)))  # type: ignore[arg-type]  # a journal may say anything
        else:
            said.append(words_of(EpisodeEdit(forgotten=event.kind == FORGOTTEN)))
    return Taken(ids, f"{'; '.join(said)}: {count(len(ids), 'episode')}")


def _of_recording(asked: Asked) -> Taken:
    return Taken(tuple(event.id for event in asked.events), "recorded by hand: 1 episode")


UNDOERS: Mapping[str, Undoer] = {
    changes.EDITED: _of_episodes,
    FORGOTTEN: _of_episodes,
    RESTORED: _of_episodes,
    episode_record.KIND: _of_recording,
}
"""Who takes back which kind of event. To add one: its kind here, and in `changes.UNDOABLE`."""


def undo(episodes: Episodes, root: Path, *, dry_run: bool, theirs_too: bool) -> Undone:
    """Take back the last change of a person that was not taken back yet.

    Args:
        episodes: of the project.
        root: of the checkout.
        dry_run: only say what it would be.
        theirs_too: also where somebody changed the same since.

    Raises:
        NotFoundError: there is none.
        StoreError: the journal cannot be read or written.
    """
    episodes.index.follow()
    change, kind, events = _last(episodes)
    taken = UNDOERS[kind](Asked(root, episodes.journal, events, dry_run, theirs_too))
    if not dry_run and not taken.left:
        with episodes.journal.held():
            append_of_many(episodes.journal, UNDONE, {"change": change, "kind": kind, "actor": "person"}, taken.ids)
        episodes.index.follow()
    words = f"changed since, and left as it is: {taken.words}" if taken.left else f"taken back: {taken.words}"
    return Undone(change, taken.ids, words, taken.conflicts, dry_run)


def _last(episodes: Episodes) -> tuple[str, str, list[Event]]:
    tables, kinds = episodes.tables, list(UNDOERS)
    found = tables.rows(
        "SELECT change, kind FROM change WHERE NOT undone AND actor = 'person' AND kind IN (SELECT unnest(?)) "
        "ORDER BY event DESC LIMIT 1",
        [kinds],
    )
    if not found:
        raise NotFoundError("There is no change of yours to take back in this project.")
    change, kind = found[0]
    events = []
    places = "SELECT segment, place FROM change WHERE change = ? AND NOT undone ORDER BY event"
    for segment, place in tables.rows(places, [change]):
        event = next(episodes.journal.read(Position(segment, place)), None)
        if event is not None:
            events.append(event)
    return change, kind, events
