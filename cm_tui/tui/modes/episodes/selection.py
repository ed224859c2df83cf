"""What is selected: episodes one by one, whole sessions, or everything that is listed."""

from __future__ import annotations

from cm_tui.errors import CmError
from cm_tui.model import Episode, EpisodeFilter
from cm_tui.tui.modes.episodes.edits import MOST, all_of, listed
from cm_tui.tui.modes.episodes.scope import BY_HAND, EVERY, of_key
from cm_tui.tui.modes.episodes.view import EpisodesView
from cm_tui.tui.widgets.text import count


def select(screen: EpisodesView) -> None:
    """Select what the cursor is on, a session or an episode, or not any more, and go on."""
    if screen.on_sessions:
        _flip_session(screen)
    else:
        _flip_episode(screen)


def _flip_episode(screen: EpisodesView) -> None:
    row = screen.turn_list.current
    if row is None:
        return
    if screen.selected.pop(row.id, None) is None:
        screen.selected[row.id] = row
    screen.show_selection()
    if screen.focused is screen.turn_list:
        screen.turn_list.cursor += 1


def _flip_session(screen: EpisodesView) -> None:
    row = screen.session_list.current
    if row is None or row.key is None:
        return
    if row.key == EVERY:
        select_all(screen)
    elif row.key in screen.session_list.selected:
        _drop(screen, row.key)
    else:
        _flip(screen, row.key, of_key(screen.where, row.key))
    if screen.focused is screen.session_list:
        screen.session_list.cursor += 1


def _drop(screen: EpisodesView, session: str) -> None:
    screen.selected = {id_: one for id_, one in screen.selected.items() if one.session != session}
    screen.show_selection()


def select_all(screen: EpisodesView) -> None:
    """Select everything that fits the filter, inside of a session its episodes; nothing where all of it is selected."""
    _flip(screen, EVERY, screen.where if screen.on_sessions else listed(screen))


def _flip(screen: EpisodesView, key: str, where: EpisodeFilter) -> None:
    """Select all that fits, also what was not read yet, or none of it where all of it is selected."""

    def got(rows: list[Episode]) -> None:
        screen.selecting.discard(key)
        known = screen.selected.keys() >= {row.id for row in rows}
        for row in rows:
            if known:
                del screen.selected[row.id]
            elif len(screen.selected) < MOST:
                screen.selected[row.id] = row
        if len(screen.selected) >= MOST:
            screen.cm.tell(f"{count(MOST, 'episode')} are selected: more are not changed at once.")
        screen.show_selection()

    def failed(error: CmError) -> None:
        screen.selecting.discard(key)
        screen.cm.tell_error(error)

    screen.selecting.add(key)
    topic = {EVERY: "all", BY_HAND: "select by hand"}.get(key, f"select {key}")
    screen.ask(topic, lambda engine: all_of(engine, where), got, failed)
