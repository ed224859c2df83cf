"""The journal's record of an episode: its fields, and conversion to and from an event."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self, get_args

from cm_tui.engine.platform.journal.event import Event
from cm_tui.model import Actor, Episode, EpisodeType, Outcome, Step, StepKind

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


@dataclass(frozen=True, slots=True)
class EpisodeRecord:
    """The record of one turn of a session; its event has the id, the time and HEAD when it stopped."""

    type: EpisodeType = "task"
    agent: str = ""
    session: str = ""
    root: str = ""
    """Folder of the checkout that it worked in."""
    prompts: tuple[str, ...] = ()
    answer: str = ""
    files: tuple[str, ...] = ()
    base: str = ""
    """HEAD at its first prompt, which the patch starts from; empty: none was known."""
    patch: str = ""
    patch_digest: str = ""
    """Names the whole patch, so that a session's next turn does not repeat it."""
    patch_cut: bool = False
    redacted: int = 0
    note: str = ""
    stop: str = ""
    """Id of the event that ended the turn."""
    actor: Actor = "agent"
    at: float | None = None
    """When it ended, where that is not when it was written down: seconds since the epoch."""
    origin: str = ""
    """Digest that names the turn in the transcript that it was read from: the same one is not recorded twice."""
    title: str = ""
    parent: str = ""
    turn: int = 0
    plan: str = ""
    verdict: str = ""
    outcome: Outcome = ""
    steps: tuple[Step, ...] = ()
    step_count: int = 0
    tools: tuple[str, ...] = ()
    tokens: int = 0
    tags: tuple[str, ...] = ()

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
        data = event.data
        return cls(
            type=_one_of(data, "type", get_args(EpisodeType), "task"),
            agent=_text(data, "agent"),
            session=_text(data, "session"),
            root=_text(data, "root"),
            prompts=_texts(data, "prompts"),
            answer=_text(data, "answer"),
            files=_texts(data, "files"),
            base=_sha(data.get("base")),
            patch=_text(data, "patch"),
            patch_digest=_text(data, "patch_digest"),
            patch_cut=data.get("patch_cut") is True,
            redacted=_count(data, "redacted"),
            note=_text(data, "note"),
            stop=_text(data, "stop"),
            actor=_one_of(data, "actor", get_args(Actor), "agent"),
            at=_time(data.get("at")),
            origin=origin_of(event),
            title=_text(data, "title"),
            parent=_text(data, "parent"),
            turn=_count(data, "turn"),
            plan=_text(data, "plan"),
            verdict=_text(data, "verdict"),
            outcome=_one_of(data, "outcome", get_args(Outcome), ""),
            steps=tuple(_steps(data.get("steps"))),
            step_count=_count(data, "step_count"),
            tools=_texts(data, "tools"),
            tokens=_count(data, "tokens"),
            tags=_texts(data, "tags"),
        )


def origin_of(event: Event) -> str:
    """Return the digest of the turn in its transcript; empty: not from a transcript."""
    origin = _text(event.data, "origin")
    return origin if _DIGEST.fullmatch(origin) else ""


def read_episode(event: Event, *, patch: bool) -> Episode:
    """Return the episode of an event as recorded, not yet placed on the mainline.

    `event`: one of kind `episode`. `patch`: include its patch and its steps; the number of steps is always included.
    """
    record, head = EpisodeRecord.from_event(event), _sha(event.head)
    return Episode(
        id=event.id,
        time=event.time if record.at is None else record.at,
        agent=record.agent,
        session=record.session,
        prompts=record.prompts,
        answer=record.answer,
        files=record.files,
        root=record.root,
        sha=record.base or head,
        head=head,
        moment=None,
        why="",
        patch_lines=len(record.patch.splitlines()),
        patch=record.patch if patch else "",
        patch_cut=record.patch_cut,
        redacted=record.redacted,
        note=record.note,
        type=record.type,
        actor=record.actor,
        title=record.title,
        parent=record.parent,
        turn=record.turn,
        plan=record.plan,
        verdict=record.verdict,
        outcome=record.outcome,
        steps=record.steps if patch else (),
        step_count=max(record.step_count, len(record.steps)),
        tools=record.tools,
        tokens=record.tokens,
        tags=record.tags,
    )


def _step_data(step: Step) -> dict[str, Any]:
    return {field.name: value for field in fields(step) if (value := getattr(step, field.name)) != field.default}


def _steps(found: object) -> Iterator[Step]:
    for data in found if isinstance(found, list) else ():
        if isinstance(data, dict) and data.get("kind") in get_args(StepKind):
            yield Step(
                kind=data["kind"],
                text=_text(data, "text"),
                tool=_text(data, "tool"),
                result=_text(data, "result"),
                path=_text(data, "path"),
                failed=data.get("failed") is True,
            )


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    return value if isinstance(value, str) else ""


def _texts(data: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = data.get(name)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _one_of(data: Mapping[str, Any], name: str, known: tuple[Any, ...], otherwise: Any) -> Any:
    value = data.get(name)
    return value if isinstance(value, str) and value in known else otherwise


def _count(data: Mapping[str, Any], name: str) -> int:
    value = data.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST else 0


def _time(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) and 0 <= value < _LATEST else None


def _sha(value: object) -> str:
    return value if isinstance(value, str) and _SHA.fullmatch(value) else ""
