"""The last session of a project's work with its turns: finished ones, and the current one."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from cm_tui.engine.memory.episodes.episode_names import LAST
from cm_tui.engine.memory.episodes.episodes import Episodes
from cm_tui.engine.memory.importers.details import with_details
from cm_tui.engine.memory.narrator.turn import Turn
from cm_tui.engine.memory.projection import turns as hook_turns
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.projection.journal_cursor import JournalCursor
from cm_tui.engine.platform.journal.event import RESTORED
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.errors import NotFoundError
from cm_tui.model import EpisodeFilter
from cm_tui.model.ids import SESSIONS, SHORTEST_NAME, kind_and_id
from cm_tui.model.search import EPISODES

RECENT_S = 7 * 86_400.0
"""A session that ended longer ago is not taken up by itself, only by its name."""
_MOST_TURNS = 40
_SESSIONS = 50


class UnderWay(NamedTuple):
    """A turn that has not ended yet, as hooks reported it."""

    agent: str
    turn: hook_turns.Turn


def turns_named(episodes: Episodes, root: Path, name: str) -> list[Turn]:
    """Return the newest turns of a session that the user names, the oldest first.

    `name`: the session's id or a prefix of it, or an episode of it; `last` is the last used one, at any time. Raises
    NotFoundError if nothing visible has that name; UsageError if the name is ambiguous; StoreError if the journal
    cannot be read.
    """
    open_turns = under_way(episodes.journal, root)
    session = _session_named(episodes, root, name, open_turns)
    found = _turns(episodes, root, session, open_turns)
    if not found:
        raise NotFoundError(
            f"The session {session[:80]!r} has no visible episodes.", hint="`cm episodes` lists episodes."
        )
    return found


def last_turns(episodes: Episodes, root: Path, session: str, now: float) -> list[Turn]:
    """Return the newest turns of a continuing session, else of the last used one; empty: no session.

    `root`: of the checkout; its own sessions come before those of other checkouts. `session`: a session whose context
    begins again; may be empty or unknown. `now`: seconds since the epoch. Raises StoreError if the journal cannot be
    read.
    """
    open_turns = under_way(episodes.journal, root)
    found = _turns(episodes, root, session, open_turns) if session else []
    if found:
        return found
    last = _last_session(episodes, root, now - RECENT_S, open_turns)
    return _turns(episodes, root, last, open_turns) if last else []


def _last_session(episodes: Episodes, root: Path, since: float, open_turns: dict[str, UnderWay]) -> str:
    """Return the last used session, of this checkout if there is one; empty: no session."""
    page = episodes.sessions(EpisodeFilter(since=since, by_hand=False), None, _SESSIONS)
    known = [one for one in page.rows if not one.parent]
    times = {one.id: one.ended for one in [one for one in known if one.root == str(root)] or known}
    for name, one in open_turns.items():
        if one.turn.last >= since:
            times[name] = max(one.turn.last, times.get(name, 0.0))
    return max(times, key=times.__getitem__, default="")


def under_way(journal: Journal, root: Path) -> dict[str, UnderWay]:
    """Return the current turns in a checkout by session; fast if the daemon follows the journal.

    Raises StoreError if the journal cannot be read.
    """
    kept = JournalCursor(journal.folder.name).read()
    at = kept.start if journal.holds(kept.past, kept.event) else START
    turns, agents = hook_turns.Turns(), dict[str, str]()
    for event in journal.read(at):
        if event.data.get("root") == str(root) and event.data.get(RESTORED) is not True:
            agents[str(event.data.get("session", ""))] = str(event.data.get("agent", ""))
            turns.follow(event, at)
    found = ((session, turns.of(str(root), session)) for session in agents if session)
    return {session: UnderWay(agents[session], turn) for session, turn in found if turn is not None and turn.prompts}


def _session_named(episodes: Episodes, root: Path, name: str, open_turns: dict[str, UnderWay]) -> str:
    kind, id_ = kind_and_id(name)
    if id_ == LAST and (last := _last_session(episodes, root, 0.0, open_turns)):
        return last
    if kind == EPISODES or id_ == LAST:
        return episodes.session_of(name)
    named = [one for one in open_turns if len(id_) >= SHORTEST_NAME and one.startswith(id_)]
    try:
        return episodes.session_named(id_)
    except NotFoundError:
        if len(named) == 1:
            return named[0]
        if kind == SESSIONS:
            raise
    try:
        return episodes.session_of(name)
    except NotFoundError as error:
        raise NotFoundError(f"There is no session or episode {name[:40]!r}.", hint=error.hint) from error


def _turns(episodes: Episodes, root: Path, session: str, open_turns: dict[str, UnderWay]) -> list[Turn]:
    found: list[Turn] = []
    for id_, time, record in episodes.newest_of(session, _MOST_TURNS):
        found.append(Turn(id_, time, record, _alone(found)))
    one = open_turns.get(session)
    if one is not None and (not found or one.turn.last > found[-1].time):
        record = EpisodeRecord(
            agent=one.agent,
            session=session,
            root=str(root),
            prompts=tuple(one.turn.prompts),
            files=tuple(one.turn.files),
        )
        found.append(Turn("", one.turn.last, with_details(record), _alone(found)))
    return found


def _alone(found: list[Turn]) -> Turn | None:
    """Return the last turn, without the one before it."""
    return Turn(found[-1].id, found[-1].time, found[-1].record) if found else None
