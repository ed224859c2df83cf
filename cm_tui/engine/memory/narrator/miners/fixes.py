"""Fixes: commands run between a command's failure and its success.

A command fails, its output has a line with the cause (`error_signs.py`), up to three other commands are run, and the
same command succeeds: each of these is a claim about the error. If nothing was run and exactly one file was changed,
the change is. Each failure with that error is counted too, so that a command in between by chance (`support / (support
+ opposed)`) stays below.

Of the output only that line is used, shortened, and not if it reads like an order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cm_tui.engine.memory.narrator.changes import is_editor
from cm_tui.engine.memory.narrator.error_signs import Sign, sign_of
from cm_tui.engine.memory.narrator.runs import MOST_STEPS, Run
from cm_tui.engine.memory.narrator.turn import Observation, Turn

_BETWEEN = 3
_MOST = 20
_LONGEST = 290
_EDITED = 0.7
_PLAIN = frozenset(("own", "general", "inline"))


class Fixes:
    """Finds what mends an error."""

    name = "fixes"

    def look(self, turn: Turn) -> Iterable[Observation]:
        """Return the turn's fixes, and how they were done."""
        runs = turn.runs
        found = 0
        for number, run in enumerate(runs):
            if run.state not in ("failed", "missing") or run.command.text.startswith("[") or found >= _MOST:
                continue
            sign = sign_of(run.output)
            if sign is None:
                continue
            found += 1
            yield Observation("fix", sign.key, "", f"`{run.command.text}` fails", run.line, 0.0)
            yield from _mended(turn, runs, number, sign)


def _mended(turn: Turn, runs: Sequence[Run], number: int, sign: Sign) -> Iterator[Observation]:
    """Yield the steps between a failure and the next success of the same command."""
    failed = runs[number]
    done: list[Run] = []
    for run in runs[number + 1 : number + 12]:
        if run.command.text == failed.command.text:
            if run.state in ("ok", "unsure") and sign_of(run.output, hidden=True) is None:
                break
            if run.state == "unknown":
                return
            # The runs so far did not help.
            done.clear()
            failed = run
        elif run.state in ("ok", "unsure"):
            done.append(run)
    else:
        return
    edited = _edited(turn, failed.step, run.step)
    if edited or len(done) > _BETWEEN:
        if len(edited) == 1 and not done:
            yield from _fact(sign, failed, f"change `{edited[0]}`", f"change {edited[0]}", _EDITED)
        return
    for one in dict.fromkeys(done):
        if "`" not in one.command.text and one.command.text != failed.command.text:
            yield from _fact(sign, failed, f"run `{one.command.text}`", one.command.text, 1.0)


def _fact(sign: Sign, failed: Run, what: str, claim: str, weight: float) -> Iterator[Observation]:
    text = f'When `{failed.command.text}` fails with "{sign.words}", {what}'
    if "`" in failed.command.text or len(text) > _LONGEST:
        text = f'When "{sign.words}" comes up, {what}'
    if len(text) <= _LONGEST:
        yield Observation("fix", sign.key, claim, text, f"{failed.line} → {claim}"[:600], weight)


def _edited(turn: Turn, start: int, end: int) -> list[str]:
    """Return the files that were changed between two steps."""
    steps = turn.record.steps[:MOST_STEPS]
    found = [
        steps[number].path or "?"
        for number in range(max(0, start + 1), min(end, len(steps)))
        if is_editor(turn.record, number)
    ]
    return list(dict.fromkeys(found))
