"""The journal's record of an episode: its fields, and conversion to and from an event."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Self, get_args

from cm_tui.engine.platform.journal.event import Event
from cm_tui.model import Actor, Episode, EpisodeType, Outcome, Step, StepKind
from cm_tui.model.episode import EpisodeTexts

KIND = "episode"
"""Kind of the events that hold an episode."""
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_DIGEST = re.compile(r"[0-9a-f]{16,64}")
_LATEST = 2.0**40
"""Times beyond are invalid: a journal can be edited by hand, and a transcript may contain anything."""
_MOST = 2**53
"""Counts beyond are damage too."""
_FIRST_VERSION = (
    "type", "agent", "session", "root", "prompts", "answer", "files", "base", "patch", "patch_digest", "patch_cut",
    "redacted", "note", "stop",
)  # fmt: skip
"""Fields that are written even where they are empty."""
_STEP_KINDS = get_args(StepKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeRecord(EpisodeTexts):
    """The record of one turn of a session; its event has the id, the time and HEAD when it stopped."""

    base: str = ""
    """HEAD at its first prompt, which the patch starts from; empty: none was known."""
    patch_digest: str = ""
    """Names the whole patch, so that a session's next turn does not repeat it."""
    stop: str = ""
    """Id of the event that ended the turn."""
    at: float | None = None
    """When it ended, where that is not when it was written down: seconds since the epoch."""
    origin: str = ""
    """Digest that names the turn in the transcript that it was read from: the same one is not recorded twice."""

    @property
    def is_reported(self) -> bool:
        """Return whether an agent reported it by a tool: neither a hook nor a transcript shows who said it."""
        return self.actor == "agent" and bool(self.origin) and not self.stop

    def to_event_data(self) -> dict[str, Any]:
        """Return the event data as JSON values; empty fields of later versions are omitted."""
        data: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in _FIRST_VERSION or value != field.default:
                data[field.name] = list(value) if isinstance(value, tuple) else value
        if self.steps:
            data["steps"] = [_step_data(step) for step in self.steps]
        return {**data, "base": self.base or None}

    @classmethod
    def from_event(cls, event: Event) -> Self:
        """Read an event's data; unexpected values are skipped."""
        # Missing fields keep their defaults: most are missing in most events, and a pass reads all events.
        found = {name: read(event.data[name]) for name, read in _readers() if name in event.data}
        return cls(**found | {"base": _sha(event.data.get("base")), "origin": origin_of(event)})


@cache
def _readers() -> tuple[tuple[str, Callable[[object], Any]], ...]:
    """Return what reads each field, by its type."""
    return tuple((field.name, _BY_TYPE[str(field.type)]) for field in fields(EpisodeRecord))


def origin_of(event: Event) -> str:
    """Return the digest of the turn in its transcript; empty: not from a transcript."""
    origin = _text(event.data.get("origin"))
    return origin if _DIGEST.fullmatch(origin) else ""


def read_episode(event: Event, *, patch: bool) -> Episode:
    """Return the episode of an event as recorded, not yet placed on the mainline.

    `event`: one of kind `episode`. `patch`: include its patch and its steps; the number of steps is always included.
    """
    record, head = EpisodeRecord.from_event(event), _sha(event.head)
    found: dict[str, Any] = {one.name: getattr(record, one.name) for one in fields(EpisodeTexts)}
    if not patch:
        found |= {"patch": "", "steps": ()}
    return Episode(
        **found | {"step_count": max(record.step_count, len(record.steps))},
        id=event.id,
        time=event.time if record.at is None else record.at,
        sha=record.base or head,
        head=head,
        moment=None,
        why="",
        patch_lines=len(record.patch.splitlines()),
    )


def _step_data(step: Step) -> dict[str, Any]:
    return {field.name: value for field in fields(step) if (value := getattr(step, field.name)) != field.default}


def _steps(found: object) -> tuple[Step, ...]:
    return tuple(
        Step(
            data["kind"], _text(data.get("text")), _text(data.get("tool")), _text(data.get("result")),
            _text(data.get("path")), data.get("failed") is True,
        )
        for data in (found if isinstance(found, list) else ())
        if isinstance(data, dict) and data.get("kind") in _STEP_KINDS
    )  # fmt: skip


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _one_of(known: Any, otherwise: str) -> Callable[[object], Any]:
    values = get_args(known)
    return lambda value: value if isinstance(value, str) and value in values else otherwise


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST else 0


def _time(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) and 0 <= value < _LATEST else None


def _sha(value: object) -> str:
    return value if isinstance(value, str) and _SHA.fullmatch(value) else ""


_BY_TYPE: Mapping[str, Callable[[object], Any]] = {
    "str": _text, "tuple[str, ...]": _texts, "int": _count, "bool": lambda value: value is True, "float | None": _time,
    "tuple[Step, ...]": _steps, "EpisodeType": _one_of(EpisodeType, "task"), "Actor": _one_of(Actor, "agent"),
    "Outcome": _one_of(Outcome, ""),
}  # fmt: skip
"""What reads a field of a type."""
