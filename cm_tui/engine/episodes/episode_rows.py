"""The rows of an episode in the store, and both ways between them and the record."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from cm_tui.engine.journal.event import Position
from cm_tui.model import Episode
from cm_tui.model.dates import day

PROMPT_CHARACTERS = 1_000
"""What lists show of all prompts together."""
ANSWER_CHARACTERS = 300
"""What they show of an answer, and of a verdict."""

LISTED = (
    "id", "time", "agent", "session", "prompts", "answer", "root", "sha", "head", "patch_lines", "patch_cut", "redacted",
    "note", "type", "actor", "title", "parent", "turn", "verdict", "outcome", "steps", "tokens", "rating", "pinned", "state",
    "files", "tools", "tags",
)  # fmt: skip
"""Columns that a row of a list is made of, in the order of `listed`."""


def columns_of(seq: int, one: Episode, origin: str, at: Position, size: int) -> dict[str, Any]:
    """Return an episode's row.

    Args:
        seq: its number.
        one: the episode.
        origin: digest of the turn that it was read from.
        at: place in the journal that the event stands behind.
        size: of its line.
    """
    row = {
        "seq": seq, "id": one.id, "time": one.time, "segment": at.segment, "place": at.offset, "type": one.type,
        "actor": one.actor, "agent": one.agent, "session": one.session, "parent": one.parent, "turn": one.turn,
        "title": one.title, "root": one.root, "sha": one.sha, "head": one.head, "outcome": one.outcome,
        "tokens": one.tokens, "steps": one.step_count, "patch_lines": one.patch_lines, "patch_cut": one.patch_cut,
        "redacted": one.redacted, "note": one.note, "prompts": _json(_beginnings(one.prompts)),
        "files": _json(one.files), "tools": _json(one.tools), "tags": _json(one.tags), "answer": one.answer[:ANSWER_CHARACTERS], "verdict": one.verdict[:ANSWER_CHARACTERS], "origin": origin,
        "bytes": size, "own_tags": _json(one.tags), "pinned": False, "rating": 0, "guarded": one.actor == "person",
        "settled": False, "evidence": False, "state": "shown",
    }  # fmt: skip
    return {name: storable(value) if isinstance(value, str) else value for name, value in row.items()}


def words_of(one: Episode) -> str:
    """Return the words that an episode is found by, each once, a line each."""
    texts = (*one.prompts, one.answer, one.plan, one.verdict, one.title, one.agent, one.session, *one.files)
    return "\n".join(dict.fromkeys(storable("\n".join((*texts, day(one.time), one.sha, one.id))).lower().split()))


def storable(text: str) -> str:
    """Return a text without what the store cannot hold: journals may have lone surrogates and zero bytes."""
    if text.isascii():
        return text.replace("\0", " ")
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")


def listed(row: Sequence[Any]) -> Episode:
    """Return the episode of a row of `LISTED`, not yet laid on the mainline."""
    found: dict[str, Any] = dict(zip(LISTED, row, strict=True))
    lists: dict[str, Any] = {name: tuple(json.loads(found.pop(name))) for name in ("prompts", "files", "tools", "tags")}
    steps = found.pop("steps")
    return Episode(**found, **lists, step_count=steps, moment=None, why="")


def _json(texts: Sequence[str]) -> str:
    return json.dumps(list(dict.fromkeys(map(storable, texts)))) if texts else "[]"


def _beginnings(prompts: Sequence[str]) -> list[str]:
    left, kept = PROMPT_CHARACTERS, []
    for prompt in prompts:
        if left <= 0:
            break
        kept.append(storable(prompt[:left]))
        left -= len(prompt)
    return kept
