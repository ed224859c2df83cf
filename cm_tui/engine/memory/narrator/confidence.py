"""Confidence of a fact: the product of named parts, each from 0 to 1.

| part | what is said | what is shown |
|---|---|---|
| `plain` | how lasting its plainest wording sounds | the weight that its miner gives |
| `sessions` | 0.66, 0.80, 0.90, 0.96 for 1, 2, 3, 4 and more (those with the same long prompt count once) | by kind: below |
| `unopposed` | 1 where nothing says otherwise, or all of it was said before; 0.3 where both go on being said; 0.15 where the last word is otherwise | `support / (support + opposed)` |
| `one voice` | 0.4 where another person says otherwise, 0.9 where several people say so | 1 |
| `by itself` | 0.45 where it was said in one session, much like a fact said more often or plainly | 1 |
| `recent` | `0.5^(age / 4 years)`, at least 0.5 | `0.5^(age / 2 years)`, at least 0.4 |

Facts as sums of observations, before they are compared with known ones.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from cm_tui.counts import count
from cm_tui.engine.memory.narrator.tables import WORDED
from cm_tui.model import ConfidencePart, FactKind

_SAID = (0.66, 0.80, 0.90, 0.96)
"""By sessions, from one."""
_SHOWN: dict[FactKind, tuple[float, ...]] = {
    "command": (0.15, 0.4, 0.8, 0.9, 0.95, 1.0),
    "workflow": (0.1, 0.35, 0.8, 0.9, 0.95, 1.0),
    "fix": (0.2, 0.5, 0.8, 0.9, 0.95, 1.0),
    "cochange": (0.1, 0.3, 0.7, 0.85, 0.95, 1.0),
    "convention": (0.1, 0.3, 0.6, 0.8, 0.9, 1.0),
}
_DISPUTED, _OVERRULED, _OTHER_VOICE, _ALIKE = 0.3, 0.15, 0.4, 0.45
_VOICES = 0.9
"""Whether similar statements of several people mean the same is for the user to decide."""
_YEAR_S = 365.25 * 86_400


def of(kind: FactKind, tally: Tally, now: float) -> tuple[float, tuple[ConfidencePart, ...]]:
    """Return how sure a fact is, and the parts that it is the product of.

    `tally`: how often and by whom it was said or shown; `now`: seconds since the epoch.
    """
    parts = tuple(_statement_parts(tally, now) if kind in WORDED else _of_shown(kind, tally, now))
    return prod(part.value for part in parts), parts


def _statement_parts(tally: Tally, now: float) -> Iterator[ConfidencePart]:
    yield ConfidencePart("plain", tally.weight, f"the clearest of {count(tally.support, 'wording')}")
    times = tally.occasions or tally.sessions
    once = "; those with the same long prompt count once" if times < tally.sessions else ""
    yield ConfidencePart("sessions", _by_count(_SAID, times), f"said in {count(tally.sessions, 'session')}{once}")
    if tally.opposed:
        yield _opposition(tally)
    if tally.speakers_opposed:
        people = count(tally.speakers_opposed, "other person", "other people")
        yield ConfidencePart(
            "one voice", _OTHER_VOICE, f"{people} {'disagrees' if tally.speakers_opposed == 1 else 'disagree'}"
        )
    elif tally.speakers > 1:
        yield ConfidencePart("one voice", _VOICES, f"{tally.speakers:,} people agree, each in their own words")
    if tally.is_alike:
        yield ConfidencePart("by itself", _ALIKE, "similar to another fact: it may be the same in other words")
    yield _recent(tally, now, 4, 0.5)


def _opposition(tally: Tally) -> ConfidencePart:
    others = count(tally.opposed, "episode")
    if tally.last_opposed < tally.first:
        return ConfidencePart("unopposed", 1.0, f"it replaces what {others} said before")
    if tally.last_opposed < tally.last:
        return ConfidencePart("unopposed", _DISPUTED, f"{others} disagree, some of them later")
    return ConfidencePart("unopposed", _OVERRULED, f"contradicted last by {others}")


def _of_shown(kind: FactKind, tally: Tally, now: float) -> Iterator[ConfidencePart]:
    yield ConfidencePart("plain", tally.weight, "clarity")
    table = _SHOWN.get(kind, _SHOWN["command"])
    yield ConfidencePart("sessions", _by_count(table, tally.sessions), f"seen in {count(tally.sessions, 'session')}")
    if tally.opposed:
        share = tally.support / (tally.support + tally.opposed)
        yield ConfidencePart("unopposed", share, f"{tally.support:,} of {tally.support + tally.opposed:,} times")
    yield _recent(tally, now, 2, 0.4)


def _recent(tally: Tally, now: float, years: float, least: float) -> ConfidencePart:
    age = max(0.0, now - tally.last)
    days = int(age / 86_400)
    words = "today" if not days else f"{count(days, 'day')} ago"
    return ConfidencePart("recent", max(least, 0.5 ** (age / (years * _YEAR_S))), f"last {words}")


def day_of(time: float) -> str:
    """Return the day of a time, such as `2 Mar 2026`."""
    try:
        day = dt.datetime.fromtimestamp(time).astimezone()
    except (OverflowError, OSError, ValueError):
        return "an unknown day"
    return f"{day.day} {day:%b} {day.year}"


def _by_count(table: tuple[float, ...], times: int) -> float:
    return table[min(max(times, 1), len(table)) - 1]


@dataclass(frozen=True, slots=True)
class Tally:
    """How often and by whom something was said or shown."""

    support: int
    """Episodes."""
    sessions: int
    opposed: int
    """Contradicting episodes: of the same claim, or of another claim on the same subject."""
    first: float
    last: float
    last_opposed: float
    """Time of the last contradiction; 0: none."""
    weight: float
    """The plainest of them, from 0 to 1."""
    speakers: int = 1
    """Its authors."""
    speakers_opposed: int = 0
    is_alike: bool = False
    """It was said in one session, and is similar to another fact, of which it may be a wording."""
    occasions: int = 0
    """Sessions, counting those with the same long prompt once; 0: count all of them."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fact that may be proposed."""

    kind: FactKind
    subject: str
    claim: str
    """Of the observation that came first: names the fact, also after more of it was seen."""
    claims: tuple[str, ...]
    """Digests of all claims that are counted as this fact."""
    text: str
    terms: tuple[str, ...]
    scope: str
    tally: Tally
    episodes: tuple[str, ...]
    """Ids of all of them, the newest first, at most 200."""
