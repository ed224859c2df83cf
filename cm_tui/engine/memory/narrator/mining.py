"""Mining episodes: selecting them, reading them from the journal, and observing them, in this process or in others."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from cm_tui.engine.memory.narrator.miners.cochange import mine_cochange
from cm_tui.engine.memory.narrator.miners.commands import mine_commands
from cm_tui.engine.memory.narrator.miners.conventions import mine_conventions
from cm_tui.engine.memory.narrator.miners.fixes import mine_fixes
from cm_tui.engine.memory.narrator.miners.statements import mine_statements
from cm_tui.engine.memory.narrator.miners.workflows import mine_workflows
from cm_tui.engine.memory.narrator.tables import VISIBLE, NarratorTables, number_of
from cm_tui.engine.memory.narrator.turn import Miner, Observation, Turn
from cm_tui.engine.memory.projection.episode_record import KIND, EpisodeRecord
from cm_tui.engine.platform.journal.archive import Archive
from cm_tui.engine.platform.journal.event import Event, Position, as_event, parse_line
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.redaction.kinds import has_marks
from cm_tui.errors import StoreError
from cm_tui.worker_process import Worker, WorkerPool, batches, serve

# --- selecting episodes to mine, and reading them from the journal, each with the previous one in its session ---

# The result of mining a turn only depends on the visible episodes: neither on their order of arrival nor on what was
# mined before.

OLD_S = 30 * 86_400.0
"""Episodes that are older and were not consolidated are looked at first."""
_KEY = "(md5_number_lower(CASE WHEN session = '' THEN id ELSE agent || '/' || session END) >> 1)::BIGINT"
_BEFORE = "coalesce(b.id, ''), coalesce(b.segment, 0), coalesce(b.place, 0), coalesce(b.bytes, 0)"
_DUE = f"""
WITH seen AS MATERIALIZED (SELECT seq, agent, session FROM episode WHERE {VISIBLE}),
gone AS MATERIALIZED (SELECT session FROM narrator_turn ANTI JOIN seen USING (seq)),
visible AS MATERIALIZED (
    SELECT seq, id, time, segment, place, bytes, settled, {_KEY} AS session FROM episode
    WHERE {VISIBLE} AND ((agent, session) IN (SELECT (agent, session) FROM seen ANTI JOIN narrator_turn USING (seq))
        OR (EXISTS (FROM gone) AND {_KEY} IN (FROM gone)))
),
changed AS (SELECT session FROM visible ANTI JOIN narrator_turn USING (seq) UNION FROM gone),
chain AS (
    SELECT v.*, coalesce(lag(seq) OVER (PARTITION BY session ORDER BY time, id), 0)::INTEGER AS earlier,
        min(time) OVER (PARTITION BY session) AS begun
    FROM visible v SEMI JOIN changed USING (session)
)
SELECT c.seq, c.session, c.time, c.earlier, c.id, c.segment, c.place, c.bytes, {_BEFORE}
FROM chain c LEFT JOIN narrator_turn t ON t.seq = c.seq LEFT JOIN visible b ON b.seq = c.earlier
WHERE t.seq IS NULL OR t.earlier <> c.earlier
ORDER BY c.settled OR c.time > ?, c.begun, c.session, c.time, c.id
"""  # noqa: S608 - our own words
_LOOKED_AT = f"""
SELECT t.seq, t.session, t.time, t.earlier, e.id, e.segment, e.place, e.bytes, {_BEFORE}
FROM narrator_turn t JOIN episode e ON e.seq = t.seq LEFT JOIN episode b ON b.seq = t.earlier
WHERE t.seq IN (SELECT unnest(?::INTEGER[])) AND e.state IN ('shown', 'archived')
"""  # noqa: S608 - our own words
_GONE = f"SELECT seq FROM narrator_turn ANTI JOIN (SELECT seq FROM episode WHERE {VISIBLE}) USING (seq)"  # noqa: S608 - our own words


class Place(NamedTuple):
    """Place of an episode."""

    id: str
    segment: int
    """File of the journal; 0 and below: of the archive."""
    place: int
    """In the file; in the archive: its line."""
    size: int


class Item(NamedTuple):
    """An episode to mine."""

    seq: int
    session: int
    time: float
    earlier: int
    """Seq of the one before it in its session; 0: none."""
    at: Place
    before: Place


def due(tables: NarratorTables, now: float) -> list[Item]:
    """Return visible episodes to mine, the oldest of those not consolidated first, session by session."""
    return list(map(_item, tables.rows(_DUE, [now - OLD_S])))


def invisible_episodes(tables: NarratorTables) -> list[int]:
    """Return the seq of mined episodes that are no longer visible."""
    return [row[0] for row in tables.rows(_GONE)]


def items_of(tables: NarratorTables, seqs: Sequence[int]) -> list[Item]:
    """Return mined episodes as they were; those that are no longer visible are omitted."""
    return list(map(_item, tables.rows(_LOOKED_AT, [list(seqs)])))


def turns(folder: Path, items: Sequence[Item]) -> Iterator[tuple[Item, Turn | None]]:
    """Yield episodes, each with the one before it in its session; None: not in the journal any more.

    Raises StoreError if the journal cannot be read.
    """
    with ExitStack() as files:
        reader = _Reader(folder, files)
        last: tuple[int, Turn | None] = 0, None
        for item in items:
            before = last[1] if item.earlier == last[0] else reader.turn(item.before)
            turn = reader.turn(item.at)
            last = item.seq, turn
            yield item, None if turn is None else Turn(turn.id, turn.time, turn.record, before)


class _Reader:
    """Reads episodes of a journal and its archive; those of one archived file in sequence. `files`: closes the open one."""

    def __init__(self, folder: Path, files: ExitStack) -> None:
        self._journal = Journal(folder)
        self._files = files
        self._open: tuple[int, BinaryIO] | None = None
        self._archive = Archive(self._journal)
        self._archived: tuple[int, Iterator[tuple[int, Event]], int] | None = None

    def turn(self, at: Place) -> Turn | None:
        event = self._event(at) if at.segment > 0 or not at.id else self._of_archive(at)
        if event is None or event.id != at.id or event.kind != KIND:
            return None
        record = EpisodeRecord.from_event(event)
        return Turn(event.id, event.time if record.at is None else record.at, record)

    def _event(self, at: Place) -> Event | None:
        if not at.id:
            return None
        try:
            if self._open is None or self._open[0] != at.segment:
                self._files.close()
                self._open = at.segment, self._files.enter_context(self._journal.file(at.segment).open("rb"))
            self._open[1].seek(at.place)
            fields = parse_line(self._open[1].read(at.size))
        except OSError as error:
            raise StoreError(
                f"The journal {self._journal.folder} cannot be read: {error}", hint="Check the disk and the folder."
            ) from error
        if isinstance(fields, dict) and fields["id"] == at.id:
            return as_event(fields, Position(at.segment, at.place + at.size))
        # There may be debris between two events, and an event may begin the next file.
        return next(self._journal.read(Position(at.segment, at.place)), None)

    def _of_archive(self, at: Place) -> Event | None:
        number = -at.segment
        if self._archived is None or self._archived[0] != number or self._archived[2] > at.place:
            self._archived = (number, self._archive.read(number), 0)
        _, lines, _ = self._archived
        for place, event in lines:
            if place >= at.place:
                self._archived = (number, lines, place + 1)
                return event if place == at.place else None
        self._archived = None
        return None


def _item(row: Sequence[Any]) -> Item:
    return Item(row[0], row[1], row[2], row[3], Place(*row[4:8]), Place(*row[8:]))


# --- mining episodes, in this process or in others: an episode that crashes a process is skipped, and only that ---

# Places of episodes go to a worker process, observations come back, as pickles on two pipes. They are exchanged only
# with a process that this program started itself.

MINERS: tuple[Miner, ...] = (
    mine_statements, mine_commands, mine_workflows, mine_fixes, mine_cochange, mine_conventions,
)  # fmt: skip
VERSION = 12
"""Increase it with each change of what miners find: episodes are mined again then."""
_CHARACTERS = 2_000
"""Longest text of a fact."""
_LONG_PROMPT = 300
"""From this length on no user types a prompt twice: repetitions are a text that is kept elsewhere."""
_MOST_WORKERS = 4
_NICENESS = 19
"""Answers, editors and index runs go first. Alone on a machine it costs nothing."""
_TASK_S = 30.0
"""CPU limit of a task in seconds: a hundred times the expected time."""
_TASK_ITEMS, _TASK_BYTES = 200, 1_000_000
_SMALL_BYTES = 400_000
"""Below this a process would take longer to start than it saves."""
_START = "import cm_tui.engine.memory.narrator.mining as mining; mining.main()"
_LOST = "episodes that could not be read"
_log = logging.getLogger(__name__)


@dataclass
class Observations:
    """Observations in some episodes."""

    items: list[Item] = field(default_factory=list)
    facts: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """The wordings of facts, by number."""
    rows: list[tuple[int, int, float, bool, str]] = field(default_factory=list)
    """Fact, seq, plainness, whether it opposes, and author; each fact once for and once against in an episode."""
    prompts: dict[int, int] = field(default_factory=dict)
    """Digests of long prompts, by seq; 0: it is a short one."""
    failed: Counter[str] = field(default_factory=Counter)
    """Number of errors by miner."""

    def add(self, other: Observations) -> None:
        """Add the observations of others."""
        self.items += other.items
        self.facts |= other.facts
        self.rows += other.rows
        self.prompts |= other.prompts
        self.failed += other.failed


def look(folder: Path, items: Sequence[Item]) -> Observations:
    """Read episodes and run all miners on them. Raises StoreError if the journal cannot be read."""
    seen, numbers = Observations(), dict[tuple[str, ...], int]()
    for item, turn in turns(folder, items):
        seen.items.append(item)
        if turn is None or turn.record.is_reported:
            continue
        prompts = turn.record.prompts
        seen.prompts[item.seq] = number_of(*prompts) if sum(map(len, prompts)) >= _LONG_PROMPT else 0
        best: dict[tuple[int, bool], tuple[float, str]] = {}
        for one in observations(turn, seen.failed):
            fact = one.fact
            if (number := numbers.get(fact, 0)) == 0:
                number = numbers[fact] = number_of(*fact)
                seen.facts[number] = fact
            key, weight = (number, one.opposes), max(0.0, min(1.0, one.weight))
            if key not in best or best[key][0] < weight:
                best[key] = weight, one.speaker
        seen.rows += [(number, item.seq, weight, against, who) for (number, against), (weight, who) in best.items()]
    return seen


def observations(turn: Turn, failed: Counter[str]) -> list[Observation]:
    """Return the observations of all miners in a turn; one that fails yields none, and the others go on."""
    found: list[Observation] = []
    for miner in MINERS:
        try:
            found += miner(turn)
        except Exception as error:  # noqa: BLE001 - an episode may hold anything, and must not end the pass
            what = f"{miner.__name__.removeprefix('mine_')}: {type(error).__name__}"
            failed[what] += 1
            _log.debug("%s at the episode %s", what, turn.id, exc_info=True)
    return [one for one in found if _may_be_mined(one)]


def quotes(folder: Path, items: Sequence[Item], facts: frozenset[int]) -> dict[int, str]:
    """Return the words of some facts as episodes have them now, by seq."""
    found: dict[int, str] = {}
    for item, turn in turns(folder, items):
        for one in () if turn is None else observations(turn, Counter()):
            if item.seq not in found and number_of(*one.fact) in facts:
                found[item.seq] = one.quote
    return found


def _may_be_mined(one: Observation) -> bool:
    if not one.text.strip() or max(len(one.text), len(one.claim), len(one.subject)) > _CHARACTERS:
        return False
    return not (has_marks(one.text) or has_marks(one.claim) or has_marks(one.quote))


# --- other processes ---


class Lookers(WorkerPool["_Worker"]):
    """Looks at episodes on several cores; this process does little work itself."""

    def __init__(self, folder: Path) -> None:
        super().__init__(min(_MOST_WORKERS, os.cpu_count() or 1), "cm-narrator", lambda: _Worker(folder))
        self._folder = folder

    def look(self, items: Iterable[Item]) -> Iterator[Observations]:
        """Yield the observations of episodes, a task at a time in order.

        Raises StoreError if the journal cannot be read.
        """
        tasks = batches(items, lambda item: item.at.size, _TASK_BYTES, _TASK_ITEMS)
        first = next(tasks, [])
        second = next(tasks, None)
        if second is not None or sum(item.at.size for item in first) >= _SMALL_BYTES:
            yield from self._spread(_Worker.look, chain([first], [second] if second else [], tasks))
        elif first:
            yield look(self._folder, first)


class _Worker(Worker):
    def __init__(self, folder: Path) -> None:
        super().__init__(_START, str(folder))
        self._folder = folder

    def look(self, items: list[Item]) -> Observations:
        """Mine episodes; if the process is lost, each half of the task is tried separately."""
        found = self._attempt(items) or self._attempt(items)
        if found is not None:
            return found
        if self._stopped:
            raise StoreError("The narrator's pass was stopped.", hint="Run `cm narrate` to continue.")
        if len(items) == 1:
            return Observations(items=items, failed=Counter({_LOST: 1}))
        half = len(items) // 2
        both = self.look(items[:half])
        both.add(self.look(items[half:]))
        return both

    def _attempt(self, items: list[Item]) -> Observations | None:
        """Return the observations; None: the process was lost."""
        try:
            answer = self.exchange(items)
        except BrokenPipeError:
            return None
        except OSError:
            # No way to have a process here, or no memory for it: this one can do it.
            return look(self._folder, items)
        if isinstance(answer, str):
            raise StoreError(answer, hint="Check the disk and the folder.")
        assert isinstance(answer, Observations)
        return answer


def main() -> None:
    """Serve tasks until the other end closes; the argument is the journal's folder."""
    folder = Path(sys.argv[1])
    with suppress(AttributeError, OSError):
        os.nice(_NICENESS)
    serve(partial(_answer, folder))


def _answer(folder: Path, items: Sequence[Item]) -> Observations | str:
    """Return the observations, or why the journal cannot be read."""
    _limit(_TASK_S)
    try:
        return look(folder, items)
    except StoreError as error:
        return error.message
    finally:
        _limit(0.0)


def _limit(seconds: float) -> None:
    """End this process once it has used so much more CPU; 0: no limit."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)
