"""Mining episodes, in this process or in others: an episode that crashes a process is skipped, and only that.

Places of episodes go to a worker process, observations come back, as pickles on two pipes. They are exchanged only with
a process that this program started itself.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path

from cm_tui.engine.memory.narrator.miners.cochange import mine_cochange
from cm_tui.engine.memory.narrator.miners.commands import mine_commands
from cm_tui.engine.memory.narrator.miners.conventions import mine_conventions
from cm_tui.engine.memory.narrator.miners.fixes import mine_fixes
from cm_tui.engine.memory.narrator.miners.statements import mine_statements
from cm_tui.engine.memory.narrator.miners.workflows import mine_workflows
from cm_tui.engine.memory.narrator.reading import Item, turns
from cm_tui.engine.memory.narrator.tables import number_of
from cm_tui.engine.memory.narrator.turn import Miner, Observation, Turn
from cm_tui.engine.platform.redaction.kinds import has_marks
from cm_tui.errors import StoreError
from cm_tui.worker_process import Worker, WorkerPool, batches, serve

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
