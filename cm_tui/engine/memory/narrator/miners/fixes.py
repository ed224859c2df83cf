"""Fixes: commands run between a command's failure and its success.

A command fails, its output has a line with the cause (`error_signs.py`), up to three other commands are run, and the
same command succeeds: each of these is a claim about the error. If nothing was run and exactly one file was changed,
the change is. Each failure with that error is counted too, so that a command in between by chance (`support / (support
+ opposed)`) stays below.

Of the output only that line is used, shortened, and not if it reads like an order.

The line of a command's output with the cause of its failure, as text and as a key that equal errors share.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from cm_tui.engine.memory.narrator.lists import pattern
from cm_tui.engine.memory.narrator.runs import MOST_STEPS, Run
from cm_tui.engine.memory.narrator.turn import Observation, Turn, is_editor

_BETWEEN = 3
_MOST = 20
_LONGEST = 290
_EDITED = 0.7


def mine_fixes(turn: Turn) -> Iterable[Observation]:
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
        if len(edited) == 1 and edited[0] and not done:
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
    """Return the files that were changed between two steps; empty: one of unknown name."""
    steps = turn.record.steps[:MOST_STEPS]
    found = [
        steps[number].path
        for number in range(max(0, start + 1), min(end, len(steps)))
        if is_editor(turn.record, number)
    ]
    return list(dict.fromkeys(found))


_OUTPUT = 4_000
_LINES = 60
_LINE = 300
_WORDS = 110
"""Characters of a sign."""
_NAMED = pattern("fixes", "named", 0)
_STRONG = pattern("fixes", "strong")
_WEAK = pattern("fixes", "weak")
_HIDDEN = pattern("fixes", "hidden", re.IGNORECASE | re.MULTILINE)
_ORDER = pattern("fixes", "order")
_COMMON = pattern("fixes", "common")
"""Lines that report a failure without a cause."""
_TEST = re.compile(r"\bassert(?:ion)?\b|\bexpected\b|^(?:FAIL(?:ED)?|✗|×|✕|●|---? FAIL)\b", re.IGNORECASE)
"""Lines of failed tests: each is a separate error."""
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")
_STAMP = pattern("fixes", "stamp", 0)
_END = re.compile(r"(?<=[^.\d\s][^.\s])[.!?](?:\s|$)|; |\. |$")
_PATHLIKE = re.compile(r"(?:(?<=[\s'\"`(=:])|^)(?:~|\.{0,2})/[\w./@+-]+|[A-Za-z]:\\\S+|\b[\w.-]+(?:/[\w.-]+){2,}")
_QUOTED = re.compile(r"'([^']{0,120})'|\"([^\"]{0,120})\"|`([^`]{0,120})`")
_NAME = re.compile(r"[@A-Za-z_][\w.@/-]{0,40}")
_HEX = re.compile(r"\b0x[0-9a-f]+\b|\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b|\d+", re.IGNORECASE)
_BLANKS = re.compile(r"[\s.…:]+")


class Sign(NamedTuple):
    """Identity of an error."""

    words: str
    """As it was printed, its beginning, for people."""
    key: str
    """Without numbers, paths and values of a single run."""


def sign_of(output: str, *, hidden: bool = False) -> Sign | None:
    """Return the line that explains why a command failed; None: no such line.

    `output`: of the command, or its beginning; `hidden`: the failure is not known otherwise: only certain errors count.
    """
    if not output:
        return None
    if hidden and _HIDDEN.search(output[:_OUTPUT]) is None:
        return None
    return _sign(output[:_OUTPUT])


@lru_cache(maxsize=1_024)
def _sign(output: str) -> Sign | None:
    lines = [line[:_LINE].strip() for line in _ANSI.sub("", output).split("\n")[:_LINES]]
    lines = [line for line in lines if line and not _COMMON.fullmatch(line)]
    named = [line for line in lines if _NAMED.search(line)]
    strong = [line for line in lines if _STRONG.search(line)]
    weak = [line for line in lines if _WEAK.search(line)]
    for line in (*named[-1:], *strong[:2], *weak[:2], *lines[-1:]):
        if not _TEST.search(line) and (made := _sign_of(line)) is not None:
            return made
    return None


def _sign_of(line: str) -> Sign | None:
    text = _STAMP.sub("", line)
    text = " ".join(_PATHLIKE.sub("…", text).replace("`", "'").replace('"', "'").split())
    end = _END.search(text, 12)
    text = text[: end.start() if end is not None else len(text)].strip(" .:;,-")
    if len(text) > _WORDS:
        text = text[:_WORDS].rsplit(" ", 1)[0].rstrip(" .:;,-(")
    if (
        _ORDER.search(text)
        or _COMMON.fullmatch(text)
        or sum(map(str.isalpha, text)) < 6
        or "<" in text
        or "[redacted" in text
    ):
        return None
    key = _BLANKS.sub(" ", _HEX.sub("#", _QUOTED.sub(_stable_quote, text.lower()))).strip()
    return Sign(text, key) if len(key.split()) >= 2 or "error" in key or "exception" in key else None


def _stable_quote(match: re.Match[str]) -> str:
    """Return quoted text if it is a name: other texts vary between runs."""
    inside = next(filter(None, match.groups()), "")
    return inside if _NAME.fullmatch(inside) else "…"
