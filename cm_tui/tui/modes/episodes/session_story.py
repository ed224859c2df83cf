"""A session as a story: its turns in order, each with what was asked, what was answered and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cm_tui.model import Episode, Session
from cm_tui.tui.modes.episodes.marks import OUTCOMES, TYPES, clock, day_name, signs, weight
from cm_tui.tui.modes.episodes.story import Part
from cm_tui.tui.state.revision import headline
from cm_tui.tui.widgets.text import count, one_line

_ANSWER, _VERDICT = 3, 1
"""Most lines of each."""
_FILES = 3


def session_story(
    episodes: Sequence[Episode], children: Iterable[Session] = (), *, whose: bool = False
) -> tuple[Part, ...]:
    """Return the parts of a session, or of any list of episodes.

    Args:
        episodes: in display order.
        children: sessions of agents that it started.
        whose: name agent and session of each, where they are not those of one session.
    """
    parts: list[Part] = []
    day = ""
    for number, episode in enumerate(episodes, start=1):
        if (name := day_name(episode.time)) != day:
            day = name
            parts.append(Part(day, heading=True))
        parts += _turn(number, episode, whose=whose)
    for child in children:
        words = f"{count(child.episodes, 'turn')}, {one_line(child.agent) or 'an agent'}"
        parts.append(Part(child.title or child.id, "↳", "$secondary", words, goal=f"session:{child.id}"))
    return tuple(parts)


def _turn(number: int, episode: Episode, *, whose: bool) -> Iterator[Part]:
    mark, style, _ = OUTCOMES[episode.outcome]
    who = f"{one_line(episode.agent) or 'unknown'}: " if whose else f"{episode.turn or number:,}. "
    kind = "" if episode.type == "task" else f"{TYPES[episode.type][0]} "
    facts = " ".join(part for part in (signs(episode).plain, weight(episode), clock(episode.time)) if part)
    goal = f"episode:{episode.id}"
    yield Part(f"{who}{kind}{headline(episode)}", mark, style, facts, goal=goal)
    if (answer := episode.answer.strip()) and " ".join(answer.split()) != headline(episode):
        yield Part(body=_beginning(answer, _ANSWER), form="output", goal=goal)
    if episode.files:
        names = ", ".join(one_line(path) for path in episode.files[:_FILES])
        more = len(episode.files) - _FILES
        yield Part(body=f"± {names}{f' and {more:,} more' if more > 0 else ''}", form="output", goal=goal)
    if episode.verdict.strip():
        yield Part(body=f"→ {_beginning(episode.verdict, _VERDICT)}", form="output", goal=goal)


def _beginning(text: str, most: int) -> str:
    """Return the first lines that say something."""
    lines = [line for line in text[:600].splitlines() if line.strip()]
    return "\n".join(lines[:most]) + (" …" if len(lines) > most else "")
