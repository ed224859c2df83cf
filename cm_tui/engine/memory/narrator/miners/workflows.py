"""Workflows: two to four different commands that are repeatedly run in the same order.

The commands of a turn are taken in the order of their last run, without those that `commands.py` would not name. Two
or more consecutive ones are a claim, and so are those with one other command between (with any, where a turn ran six
commands or fewer). Commands run to fix a failed command, and the one that then succeeds, are a fix and not a workflow.

Each command is counted, too: the share of turns with a command of the sequence that ran it in the sequence (on average
over its commands) measures how much they belong together (`support / (support + opposed)`). A linter and tests that are
run all the time, in either order, are not a workflow.

Longer sequences contain shorter ones: `overlaps.py` selects among them once all are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from cm_tui.engine.memory.narrator.miners.commands import bare, is_fact
from cm_tui.engine.memory.narrator.runs import Run
from cm_tui.engine.memory.narrator.turn import Observation, Turn

_MOST = 12
"""Different commands of a turn that are looked at: a turn with more did everything there is."""
_MOST_COUNTED = 40
_LENGTHS = (2, 3, 4)
_FEW = 6
_LONGEST = 280
_OWN = 2
"""Least number of the project's commands in it."""


def mine_workflows(turn: Turn) -> Iterable[Observation]:
    """Return the sequences that the turn ran."""
    runs = _in_order(turn.runs)
    for run in runs[:_MOST_COUNTED]:
        yield Observation("workflow", run.command.text, "", f"`{run.command.text}`", run.line, 0.0)
    if not 2 <= len(runs) <= _MOST:
        return
    quote = " → ".join(run.command.text for run in runs)[:400]
    for some in _sequences(runs):
        if sum(run.command.kind == "own" for run in some) < _OWN:
            continue
        texts = [run.command.text for run in some]
        text = ", then ".join(f"`{one}`" for one in texts)
        if len(text) <= _LONGEST:
            claim = "\n".join(texts)
            yield Observation("workflow", claim, claim, f"Run in this order: {text}", quote)


def _in_order(runs: Sequence[Run]) -> list[Run]:
    """Return the commands of a turn, each where it was run last and went well."""
    mending = _mending(runs)
    found: dict[str, Run] = {}
    for number, run in enumerate(runs):
        is_step = is_fact(run.command) or (run.command.kind == "general" and run.command.is_lasting)
        if not is_step or run.state not in ("ok", "unsure") or bare(run.command.words) != run.command.words:
            continue
        found.pop(run.command.text, None)
        if number not in mending:
            found[run.command.text] = run
    return list(found.values())


def _mending(runs: Sequence[Run]) -> set[int]:
    """Return the runs between a command's failure and its success, with the successful run."""
    found: set[int] = set()
    failed: dict[str, int] = {}
    for number, run in enumerate(runs):
        if run.state in ("failed", "missing"):
            failed[run.command.text] = number
        elif run.state in ("ok", "unsure") and run.command.text in failed:
            since = failed.pop(run.command.text)
            if since + 1 < number:
                found.update(range(since + 1, number + 1))
    return found


def _sequences(runs: Sequence[Run]) -> Iterator[tuple[Run, ...]]:
    """Yield runs in order: all of a few, or of many the consecutive ones, with one other in between at most."""
    if len(runs) <= _FEW:
        for length in _LENGTHS:
            yield from combinations(runs, length)
        return
    for start in range(len(runs)):
        for length in _LENGTHS:
            if start + length <= len(runs):
                yield tuple(runs[start : start + length])
            for left_out in range(1, length):
                if start + length < len(runs):
                    yield tuple(runs[start : start + left_out]) + tuple(runs[start + left_out + 1 : start + length + 1])
