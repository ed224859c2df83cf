"""The 150 cases: which past session answers a developer's question, beside plain text search."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean
from typing import Any

from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.search.ranking import tokens
from cm_tui.errors import NotFoundError
from tests.bench.conversations import Asked, Conversation, Turn
from tests.bench.remembering import remembering

_FILE = "memory_cases.txt"
_PLACES = (Path(__file__).parents[1] / "data" / "bench", Path(__file__).parents[2] / "tests" / "data" / "bench")
_FIRST_DAY = datetime(2026, 3, 1, 9, tzinfo=UTC)
_TOP = 5
HALVES = ("first", "second")


def read_cases(text: str) -> Conversation:
    """Read sessions and questions; the evidence of a question are all turns of its session."""
    turns: list[Turn] = []
    asked: list[tuple[str, str, str]] = []
    session, agent, day = "", "", 0
    for line in text.splitlines():
        mark, _, rest = line.partition(" ")
        if mark == "=":
            number, _, agent = rest.partition(" ")
            day, session = int(number), f"{len({turn.session for turn in turns}) + 1:032x}"
        elif mark == ">":
            turns.append(_turn(session, agent, day, len(turns), rest))
        elif mark == "<":
            turns[-1] = _answered(turns[-1], rest)
        elif mark == "?":
            kind, _, question = rest.partition(": ")
            asked.append((session, kind, question))
    return Conversation(
        tuple(turns),
        tuple(
            Asked(question, f"{kind}, {HALVES[int(session, 16) % 2 == 0]} half", _of(turns, session))
            for session, kind, question in asked
        ),
    )


def cases() -> Conversation:
    """Return the packaged cases.

    Raises:
        NotFoundError: they are not there.
    """
    for place in _PLACES:
        if (place / _FILE).is_file():
            return read_cases((place / _FILE).read_text(encoding="utf-8"))
    raise NotFoundError(f"{_FILE} is missing.", hint="Install cm again.")


def measure_cases() -> dict[str, Any]:
    """Ask each question, and return the share whose session is among the first five turns, by half and by kind."""
    conversation = cases()
    found: dict[str, dict[str, list[float]]] = {"recall": defaultdict(list), "plain text search": defaultdict(list)}
    with remembering(conversation) as (engine, turn_of):
        for asked in conversation.questions:
            hits = engine.recall(asked.question, limit=_TOP).hits
            _count(found["recall"], asked, [turn_of[hit.path] for hit in hits])
            _count(found["plain text search"], asked, plain_search(asked.question, conversation.turns)[:_TOP])
    ways = {way: {name: round(mean(values), 4) for name, values in row.items()} for way, row in found.items()}
    return {"turns": len(conversation.turns), "questions": len(conversation.questions), "ways": ways, "kinds": {}}


def plain_search(question: str, turns: Sequence[Turn]) -> list[str]:
    """Return turns as a search for words as they are written ranks them: those with most of them first, then the newest."""
    words = [word.lower() for word in tokens.content_words(question)]
    ranked: list[tuple[int, int, str]] = []
    for place, turn in enumerate(turns):
        text = turn.text.lower()
        if matching := sum(word in text for word in words):
            ranked.append((-matching, -place, turn.id))
    return [turn for _, _, turn in sorted(ranked)]


def _count(into: Mapping[str, list[float]], asked: Asked, found: Sequence[str]) -> None:
    hit = float(bool(set(found) & set(asked.evidence)))
    kind, half = asked.kind.split(", ")
    for name in ("all", half, kind):
        into[name].append(hit)


def _of(turns: Sequence[Turn], session: str) -> tuple[str, ...]:
    return tuple(turn.id for turn in turns if turn.session == session)


def _turn(session: str, agent: str, day: int, number: int, prompt: str) -> Turn:
    at = (_FIRST_DAY + timedelta(days=day - 1, minutes=number)).timestamp()
    record = EpisodeRecord(agent=agent, session=session, prompts=(prompt,), at=at, turn=number + 1, actor="import")
    return Turn(f"{session}:{number}", session, prompt, record)


def _answered(turn: Turn, answer: str) -> Turn:
    return replace(turn, text=f"{turn.text}\n{answer}", record=replace(turn.record, answer=answer))
