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


_OUTPUT = 4_000
_LINES = 60
_LINE = 300
_WORDS = 110
"""Characters of a sign."""
_NAMED = re.compile(
    r"\b[A-Z]\w*(?:\w(?:Error|Exception|Warning|Fault|Failure)|Exit)\b\s*[:(]?|\b(?:Error|Exception)\b: "
)
_STRONG = re.compile(
    r"^\W{0,4}(?:\S{1,40}: )?(?:fatal|panic|error|err!|npm err!|e:|failure|failed|abort\w*|unhandled|uncaught|cannot|could ?n[o']?t|unable|undefined|unknown)\b"
    r"|\berror(?:\[\w+\]| \w*\d+)?:|\bERR_\w+|\b[A-Z]{2,}-?\d{3,}\b|\berr(?:no|or) ?\d+|\bpanicked\b|\baborted\b",
    re.IGNORECASE,
)
_WEAK = re.compile(
    r"\b(?:error|fail\w*|not found|no such|cannot|can't|could not|couldn't|unable|denied|refused|missing|invalid|expired|already|unknown|undefined|unresolved|"
    r"unsupported|incompatible|conflict\w*|mismatch\w*|timed? ?out|timeout|not (?:a|be|been|installed|allowed|part|up|yet|defined|set|supported|running|available)|no (?:\w+ ){1,3}(?:for|found|"
    r"available|matched|matching)|does(?: not|n't)|did(?: not|n't)|has(?: not|n't)|is(?: not|n't)|out of|too (?:many|large|old|new|long)|unexpected\w*|disappeared|"
    r"crash\w*|killed|corrupt\w*|stale|outdated|newer than|older than|requires?|exceeded|exhausted|locked|in use|unreachable|unauthori[sz]ed|forbidden|"
    r"violat\w*|duplicate\w*|broken|panic\w*|fatal|exception|segfault|overflow|leak\w*)\b",
    re.IGNORECASE,
)
_HIDDEN = re.compile(
    r"^\W{0,4}(?:\S{1,40}: )?(?:fatal|panic|error|err!|npm err!|make: \*\*\*|traceback|uncaught|failed|failures?:)\b(?! ?0\b)|\bpanicked at\b|^E  +\w|"
    r"\b[1-9]\d* (?:failed|errors?|failures?)\b|^FAIL(?:ED)?\b|\b\w+(?:Error|Exception): ",
    re.IGNORECASE | re.MULTILINE,
)
_ORDER = re.compile(
    r"https?://(?!srb\.help|localhost)|\b(?:ignore|disregard|forget|obey|you (?:must|should|have to|need to|are)|always|never|from now on|instructions?|"
    r"system prompt|assistant|language model|\bAI\b|agents?|please (?:do|send|run|use|delete|add|tell)|important|curl |wget |rm -|sudo |do not)\b",
    re.IGNORECASE,
)
_COMMON = re.compile(
    r"^\W*(?:(?:process |command |script |it )?(?:exited|exit|failed|terminated|returned)(?: with)?(?: exit)?(?: (?:code|status|error))?[ :]*\d*|errors?|failed|failures?|fail|"
    r"\d+ (?:failed|errors?|problems?|failures?)[^a-z]*(?:\d+ \w+[^a-z]*)*|build failed|tests? failed|failed tests?|make: \*\*\*.*error \d+|traceback.*|error: test failed.*|"
    r"npm err! (?:code|errno|lifecycle).*|found \d+ errors?.*|aborting due to.*|assertion ?error\w*:?|exit status \d+|"
    r"(?:error: )?process completed.*|command failed.*|elifecycle.*)\W*$",
    re.IGNORECASE,
)
"""Lines that report a failure without a cause."""
_TEST = re.compile(r"\bassert(?:ion)?\b|\bexpected\b|^(?:FAIL(?:ED)?|✗|×|✕|●|---? FAIL)\b", re.IGNORECASE)
"""Lines of failed tests: each is a separate error."""
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")
_STAMP = re.compile(
    r"^(?:\[?\d{4}-\d\d-\d\d[T ][\d:.,]+Z?\]?|\[?\d\d:\d\d:\d\d[.\d]*\]?|\[\w+\]|\w+\.\w+:\d+(?::\d+)?:|thread '[^']*' panicked(?: at [^:]*:\d+:\d+)?:)\s*"
)
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
