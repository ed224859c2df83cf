"""The rows of an episode in the store, and both ways between them and the record."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from cm_tui.engine.platform.journal.event import Position
from cm_tui.model import Episode
from cm_tui.model.dates import day

PROMPT_CHARACTERS = 1_000
"""What lists show of all prompts together."""
ANSWER_CHARACTERS = 300
"""Characters of an answer, and of a verdict, in lists."""

_TITLE_CHARACTERS = 200
_SHOWN = (
    "id", "time", "agent", "session", "answer", "root", "sha", "head", "patch_lines", "patch_cut", "redacted", "note",
    "type", "actor", "title", "parent", "turn", "verdict", "outcome", "step_count", "tokens", "prompts", "files", "tools",
)  # fmt: skip
"""What lists show of an episode and no later event changes, in the order of its text; lists of texts come last."""
_LISTS = 3


def columns_of(seq: int, one: Episode, origin: str, at: Position, size: int) -> dict[str, Any]:
    """Return an episode's row.

    `seq`: its number; `origin`: digest of the turn that it was read from; `at`: end of the event in the journal.
    """
    tags = json.dumps(_clean(one.tags))
    row = {
        "seq": seq, "id": one.id, "time": one.time, "segment": at.segment, "place": at.offset, "type": one.type,
        "actor": one.actor, "agent": one.agent, "session": one.session, "parent": one.parent, "title": one.title,
        "prompt": first_line(_beginnings(one.prompts)), "root": one.root, "sha": one.sha, "outcome": one.outcome,
        "tokens": one.tokens, "origin": origin, "bytes": size, "own_tags": tags, "tags": tags, "pinned": False, "rating": 0,
        "guarded": one.actor == "person", "settled": False, "evidence": False, "state": "shown",
    }  # fmt: skip
    return {name: storable(value) if isinstance(value, str) else value for name, value in row.items()}


def shown_of(one: Episode) -> str:
    """Return as text what lists show of an episode and no later event changes."""
    texts = {"answer": one.answer[:ANSWER_CHARACTERS], "verdict": one.verdict[:ANSWER_CHARACTERS]}
    plain = [texts.get(name, getattr(one, name)) for name in _SHOWN[:-_LISTS]]
    row = [storable(value) if isinstance(value, str) else value for value in plain]
    return json.dumps(
        [*row, _clean(_beginnings(one.prompts)), _clean(one.files), _clean(one.tools)], ensure_ascii=False
    )


def words_of(one: Episode) -> str:
    """Return the words that an episode is found by, each once, a line each."""
    texts = (*one.prompts, one.answer, one.plan, one.verdict, one.title, one.agent, one.session, *one.files)
    return "\n".join(dict.fromkeys(storable("\n".join((*texts, day(one.time), one.sha, one.id))).lower().split()))


def storable(text: str) -> str:
    """Return a text that the store can hold: journals may have lone surrogates and zero bytes."""
    if text.isascii():
        return text.replace("\0", " ")
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")


def listed(shown: str, tags: Sequence[str], *, pinned: bool, rating: int, state: str) -> Episode:
    """Return an episode from the text of `shown_of`, not yet placed on the mainline.

    `tags`: the current ones, as are the following values; `pinned`: by the user; `rating`: by the user; `state`:
    visible, forgotten or archived.
    """
    values = json.loads(shown)
    found: dict[str, Any] = dict(zip(_SHOWN, [*values[:-_LISTS], *map(tuple, values[-_LISTS:])], strict=True))
    now: dict[str, Any] = {"tags": tuple(tags), "pinned": pinned, "rating": rating, "state": state}
    return Episode(**found, **now, moment=None, why="")


def first_line(prompts: Sequence[str]) -> str:
    """Return the first informative line of a prompt."""
    lines = (line.strip() for prompt in prompts for line in prompt.splitlines())
    return next((line for line in lines if line), "")[:_TITLE_CHARACTERS]


def _clean(texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(map(storable, texts)))


def _beginnings(prompts: Sequence[str]) -> list[str]:
    left, kept = PROMPT_CHARACTERS, []
    for prompt in prompts:
        if left <= 0:
            break
        kept.append(storable(prompt[:left]))
        left -= len(prompt)
    return kept
