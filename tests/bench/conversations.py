"""Conversations with questions, from a file: sessions of turns, each as the episode that an import makes of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.errors import UsageError

_TIMES = ("%I:%M %p on %d %B, %Y", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d")
_USER, _ASSISTANT = "User: ", "\nAssistant: "


@dataclass(frozen=True)
class Turn:
    """One thing that was said, or one exchange with an agent."""

    id: str
    session: str
    text: str
    record: EpisodeRecord


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, with the turns that answer it or the answer itself."""

    question: str
    kind: str
    evidence: tuple[str, ...] = ()
    answer: str = ""


@dataclass(frozen=True)
class Conversation:
    """Sessions, and what is asked about them."""

    turns: tuple[Turn, ...]
    questions: tuple[Asked, ...]

    @cached_property
    def session_of(self) -> Mapping[str, str]:
        """Return the session of each turn."""
        return {turn.id: turn.session for turn in self.turns}


def read(file: Path) -> list[Conversation]:
    """Read conversations from a JSON file.

    Raises:
        UsageError: it cannot be read, or is of another form.
    """
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        return [
            Conversation(tuple(_turns(one["sessions"])), tuple(_asked(question) for question in one["questions"]))
            for one in (data if isinstance(data, list) else [data])
        ]
    except (OSError, UnicodeDecodeError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"{file} cannot be used: {type(error).__name__}: {error}",
            hint='The form is [{"sessions": [{"id", "time", "turns": [{"id", "speaker", "text"}]}], '
            '"questions": [{"question", "kind", "evidence" or "answer"}]}].',
        ) from error


def _turns(sessions: Sequence[Mapping[str, Any]]) -> Iterator[Turn]:
    for session in sessions:
        for place, turn in enumerate(session["turns"], start=1):
            at = _time(turn.get("time") or session.get("time", ""))
            text = f"{turn['speaker']}: {turn['text']}" if turn.get("speaker") else str(turn["text"])
            yield Turn(turn["id"], session["id"], text, _record(turn, session["id"], place, at))


def _record(turn: Mapping[str, Any], session: str, place: int, at: float | None) -> EpisodeRecord:
    known: dict[str, Any] = {"session": str(session), "turn": place, "at": at, "actor": "import"}
    text, speaker = str(turn["text"]), str(turn.get("speaker", ""))
    if speaker:
        return EpisodeRecord(type="response", agent=speaker, answer=text, **known)
    asked, _, answer = text.removeprefix(_USER).partition(_ASSISTANT)
    return EpisodeRecord(agent="Assistant", prompts=(asked,), answer=answer, **known)


def _asked(question: Mapping[str, Any]) -> Asked:
    evidence = tuple(str(turn) for turn in question.get("evidence", ()))
    return Asked(question["question"], str(question.get("kind", "")), evidence, str(question.get("answer", "")))


def _time(text: str) -> float | None:
    """Seconds since the epoch; None where the text says no time that is known."""
    for form in _TIMES:
        try:
            return datetime.strptime(text.strip(), form).replace(tzinfo=UTC).timestamp()
        except ValueError:
            continue
    return None
