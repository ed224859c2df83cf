"""The journal's record of an episode: its fields, and both ways between them and an event."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any, Self

from cm_tui.engine.journal import Event
from cm_tui.model import Episode

KIND = "episode"
"""Kind of the events that hold an episode."""
_TYPE = "task"
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class EpisodeRecord:
    """The record of one turn of a session; the event around it has its id, its time and HEAD when it stopped."""

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

    def to_event_data(self) -> dict[str, Any]:
        """Return the data of its event, which JSON can hold."""
        lists = {"prompts": list(self.prompts), "files": list(self.files)}
        return {"type": _TYPE, **asdict(self), **lists, "base": self.base or None}

    @classmethod
    def from_event(cls, event: Event) -> Self:
        """Read an event's data; what is not as expected is left out."""
        data = event.data
        return cls(
            agent=_text(data.get("agent")),
            session=_text(data.get("session")),
            root=_text(data.get("root")),
            prompts=_texts(data.get("prompts")),
            answer=_text(data.get("answer")),
            files=_texts(data.get("files")),
            base=_sha(data.get("base")),
            patch=_text(data.get("patch")),
            patch_digest=_text(data.get("patch_digest")),
            patch_cut=data.get("patch_cut") is True,
            redacted=data["redacted"] if isinstance(data.get("redacted"), int) else 0,
            note=_text(data.get("note")),
            stop=_text(data.get("stop")),
        )


def read_episode(event: Event, *, patch: bool) -> Episode:
    """Return the episode that an event holds, not yet laid on the mainline.

    Args:
        event: one of kind `episode`.
        patch: whether its patch comes along; its number of lines always does.
    """
    record, head = EpisodeRecord.from_event(event), _sha(event.head)
    return Episode(
        id=event.id,
        time=event.time,
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
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _sha(value: object) -> str:
    return value if isinstance(value, str) and _SHA.fullmatch(value) else ""
