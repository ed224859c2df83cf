"""The reason for a proposal, in one sentence."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from cm_tui.counts import count
from cm_tui.engine.memory.narrator.candidate import Tally
from cm_tui.model import FactKind

_DONE: Mapping[FactKind, str] = {
    "command": "Run", "workflow": "Done in this order", "fix": "Helped", "statement": "Said", "decision": "Decided",
    "rejected": "Turned down", "correction": "Corrected", "cochange": "Changed together", "convention": "Done so",
}  # fmt: skip
_OTHERWISE: Mapping[FactKind, str] = {
    "command": "it failed in {}", "workflow": "one of them was run otherwise in {}", "fix": "the error came up otherwise in {}",
    "cochange": "one was changed without the others in {}", "convention": "it was done otherwise in {}",
}  # fmt: skip
"""Words for contradictions of a habit."""


def why(kind: FactKind, tally: Tally) -> str:
    """Return the evidence of a fact, such as `Said in 3 sessions between 2 Mar and 9 Apr 2026`."""
    done = _DONE.get(kind, "Seen")
    where = count(tally.sessions, "session")
    if tally.support > tally.sessions:
        where = f"{count(tally.support, 'episode')} of {where}"
    words = f"{done} in {where} {_when(tally.first, tally.last)}"
    if tally.opposed:
        episodes = count(tally.opposed, "episode")
        said = f"{episodes} {'says' if tally.opposed == 1 else 'say'} otherwise"
        words += f"; {_OTHERWISE[kind].format(episodes) if kind in _OTHERWISE else said}"
        words += f", the last on {_day(tally.last_opposed, year=True)}" if tally.last_opposed else ""
    return f"{words}."


def _when(first: float, last: float) -> str:
    begin, end = _day(first, year=True), _day(last, year=True)
    if begin == end:
        return f"on {end}"
    if begin[-4:] == end[-4:]:
        begin = begin[:-5]
    return f"between {begin} and {end}"


def _day(time: float, *, year: bool) -> str:
    try:
        day = dt.datetime.fromtimestamp(time).astimezone()
    except (OverflowError, OSError, ValueError):
        return "an unknown day"
    return f"{day.day} {day:%b}{f' {day.year}' if year else ''}"
