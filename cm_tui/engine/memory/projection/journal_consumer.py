"""The daemon's processing of a journal: edits and git events start one index run, a stop becomes an episode."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from cm_tui import paths
from cm_tui.engine.memory.projection import episode_record
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.projection.recorder import record_turn
from cm_tui.engine.memory.projection.turns import Turn, Turns
from cm_tui.engine.memory.projection.visibility import ids_of
from cm_tui.engine.memory.recording.changes import settle_or_log
from cm_tui.engine.platform.journal.event import ERASURE, RESTORED, Event, Position
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.errors import CmError, StoreError, UsageError
from cm_tui.state_file import read_object, write_json

# --- a daemon's position in a journal, in a small file for the next daemon ---


class CursorPosition(NamedTuple):
    """Positions up to which a journal was followed."""

    start: Position = START
    """From here on it is read: sessions that are under way begin behind it."""
    settled: Position = START
    """Up to here every stop has its episode, or needs none."""
    past: Position = START
    """Up to here everything else was done."""
    patches: Mapping[tuple[str, str], str] = {}
    """Digests of the patches that were recorded last, by root and session."""
    event: str = ""
    """Id of the event that ends at `past`, which identifies the journal; empty: written by an earlier version."""


class JournalCursor:
    """The file of one journal."""

    def __init__(self, name: str) -> None:
        self._file = paths.state_dir() / "hook" / f"{name}.json"

    def read(self) -> CursorPosition:
        """Return the stored position; the beginning if the file is missing or damaged.

        Reading from the beginning costs an additional index run, and no stop is recorded twice.
        """
        try:
            kept = read_object(self._file)
            past = Position.parse(kept["position"])
            return CursorPosition(
                # An earlier version stored only that, and read everything again.
                Position.parse(kept.get("start", str(START))),
                Position.parse(kept.get("settled", str(past))),
                past,
                {(str(root), str(session)): str(digest) for root, session, digest in kept.get("patches", ())},
                str(kept.get("event", "")),
            )
        except (ValueError, KeyError, TypeError, AttributeError, UsageError):
            return CursorPosition()

    def write(self, kept: CursorPosition) -> None:
        """Store a position; on a full disk the previous one stays, and at worst something is done twice."""
        fields = {
            "position": str(kept.past),
            "event": kept.event,
            "settled": str(kept.settled),
            "start": str(kept.start),
            "patches": [[*who, digest] for who, digest in kept.patches.items()],
        }
        try:
            write_json(self._file, fields, durable=False)
        except StoreError as error:
            _log.warning("cannot remember a place in the journal: %s", error)


# --- the daemon's processing of a journal ---

LEAVE_SECONDS = 15.0
_SEVERAL = 500
"""More paths than this are not worth naming."""

_log = logging.getLogger(__name__)

_PASSED_ON = frozenset({"hook.edit", "hook.git", "hook.session-start"})
"""Kinds of events after which the index is updated."""

Source = Literal["agent hooks", "git hooks"]
"""Sender of the notice."""
Index = Callable[[Path, Sequence[str], Source], None]
"""Called to update a root's index: these paths, or all changes if empty."""


Detail = Callable[[EpisodeRecord], EpisodeRecord]
"""Adds to a turn what hooks did not see of it."""


class JournalConsumer:
    """Reads the journals of projects as they grow.

    `index`: called once per checkout; the scheduler behind it collects further calls. `detail`: called with each turn
    before it is recorded.
    """

    def __init__(self, index: Index, detail: Detail = lambda record: record) -> None:
        self._index = index
        self._detail = detail
        self._lock = threading.Lock()
        self._readers: dict[Path, _Reader] = {}
        self._closed = False

    def on_nudge(self, root: Path) -> None:
        """Read a project's new events, and request index updates.

        Raises CmError if the journal cannot be read.
        """
        with self._lock:
            if self._closed:
                return
            journal = Journal.of(root)
            reader = self._readers.setdefault(journal.folder, _Reader(journal, self._detail))
        # Before an agent goes on after a pause: separates changes made during it from the agent's own.
        settle_or_log(root)
        edited: dict[Path, dict[str, None]] = {}
        # Checkouts to look at as a whole; a git event covers all others.
        whole: dict[Path, Source] = {}
        for event, turn in reader.news():
            # Clones and worktrees share a journal: an event names its checkout.
            about = Path(str(event.data.get("root") or root))
            if event.kind == "hook.edit":
                edited.setdefault(about, {}).update(dict.fromkeys(map(str, event.data.get("paths", ()))))
            elif event.kind in {"hook.git", "hook.session-start"}:
                whole[about] = "git hooks" if event.kind == "hook.git" else whole.get(about, "agent hooks")
            elif turn is not None and not self._closed:
                reader.stopped(about, event, turn)
        for about in dict.fromkeys((*edited, *whole)):
            files = [] if about in whole or len(edited[about]) > _SEVERAL else list(edited[about])
            self._pass_on(about, files, whole.get(about, "agent hooks"))

    def close(self) -> None:
        """Finish running work; the project's next check finds what is not indexed yet."""
        with self._lock:
            self._closed = True
        for reader in self._readers.values():
            reader.close()

    def _pass_on(self, root: Path, files: Sequence[str], source: Source) -> None:
        if self._closed or not root.is_dir():
            return
        try:
            self._index(root, files, source)
        except CmError as error:
            _log.warning("indexing %s after a hook: %s", root, error.message)
        except Exception:  # noqa: BLE001 - logged
            # A failure must not block the runs of other checkouts.
            _log.exception("indexing %s after a hook", root)


class _Reader:
    """The daemon's position in one journal, on disk, so that nothing is processed twice.

    A stop counts as processed once its episode is written. If the daemon is killed before, the next one reads the stop
    and the session's earlier events again.
    """

    def __init__(self, journal: Journal, detail: Detail) -> None:
        self._journal = journal
        self._detail = detail
        self._lock = threading.Lock()
        self._cursor = JournalCursor(journal.folder.name)
        self._at: Position | None = None
        self._event = ""
        """Id of the event that ends at that place."""
        self._past = self._settled = START
        self._turns = Turns()
        self._stops: dict[str, tuple[Position, Turn]] = {}
        """Stops whose episode is not written yet: the place before each, and the turn that it ended."""
        self._recording: list[threading.Thread] = []

    def news(self) -> list[tuple[Event, Turn | None]]:
        """Return new events of hooks, which then count as read; a stop comes with the turn that it ended."""
        with self._lock:
            if self._at is not None and not self._journal.holds(self._at, self._event):
                # The journal was replaced: nothing that was read of the other one counts.
                self._at, self._stops = None, {}
            at = begun = self._begin() if self._at is None else self._at
            try:
                found = list(self._follow(at))
            except CmError:
                # Unfinished work: it is read again next time.
                self._at = None
                raise
            # The episode of a stop comes after it: only now are the existing ones known.
            news = [(event, None if self._turns.is_recorded(event) else turn, at) for event, turn, at in found]
            self._stops |= {event.id: (before, turn) for event, turn, before in news if turn is not None}
            if self._at != begun:
                self._keep()
        return [(event, turn) for event, turn, _ in news]

    def _follow(self, at: Position) -> Iterator[tuple[Event, Turn | None, Position]]:
        """Unprocessed data after a position: events, turns that they ended, and the position before each."""
        self._at = at
        for event in self._journal.read(at):
            before, self._at, self._event = self._at, event.position, event.id
            turn = self._turns.follow(event, before)
            if event.kind == ERASURE:
                for id_ in ids_of(event):
                    self._stops.pop(id_, None)
            if event.position <= self._settled or event.id in self._stops:
                turn = None
            if event.kind.startswith("hook.") and event.data.get(RESTORED) is True:
                # From another machine or time: its folder may be anything now.
                continue
            # Recorded turns are not passed on: all of a large import would be in memory at once.
            if (event.position > self._past and event.kind in _PASSED_ON) or turn is not None:
                yield event, turn, before

    def stopped(self, root: Path, stop: Event, turn: Turn) -> None:
        """Record an episode in a separate thread: git may be slow."""
        thread = threading.Thread(target=self._record, args=(root, stop, turn), name="cm-episode", daemon=True)
        self._recording = [*(one for one in self._recording if one.is_alive()), thread]
        thread.start()

    def close(self) -> None:
        """Wait for running recordings, longer than git's own time limit."""
        for thread in self._recording:
            thread.join(LEAVE_SECONDS)

    def _record(self, root: Path, stop: Event, turn: Turn) -> None:
        try:
            found = record_turn(root, turn, stop, now=time.time())
            if found is not None:
                # If the stop was erased meanwhile, the episode must not repeat it.
                self._append(found, stop)
        except UsageError as error:
            # It would be too long for the journal the next time too.
            _log.warning("recording a session of %s: %s", root, error)
        except (CmError, OSError) as error:
            _log.warning("recording a session of %s, tried again by the next daemon: %s", root, error)
            return
        with self._lock:
            self._stops.pop(stop.id, None)
            self._keep()

    def _append(self, found: EpisodeRecord, stop: Event) -> None:
        """Write an episode with its details; without them if they are unavailable, or make it too long."""
        try:
            data = self._detail(found).to_event_data()
            self._journal.append_after(stop, episode_record.KIND, data, head=stop.head)
        except (CmError, OSError) as error:
            if not isinstance(error, UsageError):
                raise
            _log.warning("recording a session without its details: %s", error)
        except Exception:  # noqa: BLE001 - logged
            _log.warning("recording a session without its details", exc_info=True)
        else:
            return
        self._journal.append_after(stop, episode_record.KIND, found.to_event_data(), head=stop.head)

    def _begin(self) -> Position:
        kept = self._cursor.read()
        self._turns = Turns(kept.patches)
        self._past = self._settled = START
        if not self._journal.holds(kept.past, kept.event):
            # The journal is another one than that.
            return START
        self._past, self._settled, self._event = kept.past, kept.settled, kept.event
        return kept.start

    def _keep(self) -> None:
        at = self._at or START
        begins = [turn.begin for _, turn in self._stops.values()]
        settled = min([at, *(before for before, _ in self._stops.values())])
        start = min([settled, self._turns.begin or at, *begins])
        self._cursor.write(CursorPosition(start, settled, at, self._turns.patches, self._event))
